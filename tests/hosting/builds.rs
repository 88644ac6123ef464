//! Both builds of the plugin.

use crate::hosting::library;
use xtask::host::Library;

/// The plugin as a debug build, with the assertions of the compiler and of nice-plug, and as the release bundle.
pub fn builds() -> [(&'static str, Library); 2] {
    let debug = Library::linked(&tone_filter::clap_entry).unwrap();
    [("debug", debug), ("release", library().0)]
}
