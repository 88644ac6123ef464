//! The plugin, linked and loaded.

use crate::hosting::library;
use xtask::host::Library;

/// The plugin linked into the test, with the assertions of the compiler and of nice-plug, and the bundle that was built last.
pub fn builds() -> [(&'static str, Library); 2] {
    let linked = Library::linked(&tone_filter::clap_entry).unwrap();
    [("linked", linked), ("bundle", library().0)]
}
