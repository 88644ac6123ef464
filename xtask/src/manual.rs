//! `cargo xtask manual`: the pages of the manual that are made of the tables, one on the settings and one on the presets.

mod presets;
mod settings;
pub mod shown;

use crate::root;
use anyhow::{Context, Result};
use std::fs;

/// The folder of the manual.
pub const FOLDER: &str = "docs/manual";

/// The pages: their names and contents.
pub fn pages() -> [(&'static str, String); 2] {
    [("settings.md", settings::page()), ("presets.md", presets::page())]
}

/// Writes them.
///
/// # Errors
/// When a file cannot be written.
pub fn write() -> Result<()> {
    for (name, text) in pages() {
        let path = root().join(FOLDER).join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// The first line of a page that is made.
const MADE: &str = "<!-- Made by `cargo xtask manual`; edit the tables instead. -->\n\n";
