//! Writes the bundle into a folder: the plugin's library and the files that describe it.

use std::{env, fs, io, path::PathBuf};
use tone_filter_lv2::turtle;

fn main() -> io::Result<()> {
    let mut paths = env::args_os().skip(1).map(PathBuf::from);
    let mut path = || paths.next().expect("usage: describe LIBRARY BUNDLE");
    let (library, bundle) = (path(), path());
    fs::copy(library, bundle.join(turtle::LIBRARY))?;
    turtle::files().into_iter().try_for_each(|(name, text)| fs::write(bundle.join(name), text))
}
