//! The project's pages in Markdown: a parser for tests, generators of some pages of the manual, and the manual as HTML.
//!
//! Lists are generated: settings and presets from the tables, `docs/cli.md` from the command's parser, pictures and sounds from
//! the demo tune. Tests compare the pages with their sources, follow every link and run every command.

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

/// First line of a generated page.
const MADE: &str = "<!-- Made by `cargo xtask manual`; edit the tables instead. -->\n\n";

/// Returns the repository's root.
///
/// # Panics
/// Never: this crate lies two folders below the root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a crate of the workspace")
}

/// Returns the names and contents of the generated pages.
pub fn made() -> [(&'static str, String); 2] {
    [("settings.md", settings::page()), ("presets.md", presets::page())]
}

/// Writes the generated pages.
///
/// # Errors
/// If a file cannot be written.
pub fn write() -> Result<()> {
    for (name, text) in made() {
        let path = root().join(FOLDER).join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
