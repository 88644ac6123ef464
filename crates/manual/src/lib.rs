//! The project's pages in Markdown: what tests need of them, the pages of the manual that are made of the tables, and the manual as HTML.
//!
//! Pages that list are made: settings and presets from the tables, `docs/cli.md` from the command's parser, pictures and sounds
//! from the demo tune. Tests compare them, follow every link and run every command of every page.

mod html;
pub mod pages;
mod presets;
mod settings;
pub mod shown;

pub use html::write as write_html;

use anyhow::{Context, Result};
use std::{fs, path::Path};

/// The folder of the manual.
pub const FOLDER: &str = "docs/manual";

/// The first line of a page that is made.
const MADE: &str = "<!-- Made by `cargo xtask manual`; edit the tables instead. -->\n\n";

/// The repository's root.
///
/// # Panics
/// Never: this crate is two folders below it.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a crate of the workspace")
}

/// The pages that are made of the tables: their names and contents.
pub fn made() -> [(&'static str, String); 2] {
    [("settings.md", settings::page()), ("presets.md", presets::page())]
}

/// Writes the pages that are made of the tables.
///
/// # Errors
/// When a file cannot be written.
pub fn write() -> Result<()> {
    for (name, text) in made() {
        let path = root().join(FOLDER).join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
