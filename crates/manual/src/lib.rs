//! The project's pages in Markdown: a parser for tests, generators of some pages of the manual, and the manual as HTML.
//!
//! This crate generates the pages of settings and presets from the tables, and pictures and sounds from the demo tune. The
//! command's tests generate `docs/cli.md`. Tests compare the pages with their sources, follow every link and run every command.
//!
//! Functions return an error if a file cannot be read or written.

mod html;
pub mod pages;
mod presets;
mod settings;
pub mod shown;

pub use html::write as write_html;

use anyhow::{Context, Result};
use std::{fs, path::Path};

/// Folder of the manual, relative to the repository's root.
pub const FOLDER: &str = "docs/manual";

/// First line of a generated page.
const MADE: &str = "<!-- Made by `cargo xtask manual`; edit the tables instead. -->\n\n";

/// Returns the repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a crate of the workspace")
}

/// Returns the generated pages of the manual: file name and Markdown.
pub fn made() -> [(&'static str, String); 2] {
    [("settings.md", settings::page()), ("presets.md", presets::page())]
}

/// Writes the generated pages into [`FOLDER`].
pub fn write() -> Result<()> {
    for (name, text) in made() {
        let path = root().join(FOLDER).join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{FOLDER, made, pages::Page, root};
    use std::{collections::BTreeSet, fs, path::Path};

    #[test]
    fn the_pages_match_the_tables() {
        for (name, made) in made() {
            let path = root().join(FOLDER).join(name);
            let committed = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
            assert!(committed == made, "{name}: write it with `cargo xtask manual`");
        }
    }

    #[test]
    fn pictures_and_sounds_are_small_and_each_is_shown() {
        let folder = root().join(FOLDER);
        let pages = made().map(|(name, text)| Page::parse(Path::new(name), &text));
        let shown: BTreeSet<_> =
            pages.iter().flat_map(|page| &page.links).map(String::as_str).collect();
        for (kind, limit) in [("pictures", 3_000_000), ("sounds", 2_000_000)] {
            let mut size = 0;
            for entry in fs::read_dir(folder.join(kind)).unwrap() {
                let entry = entry.unwrap();
                let name = format!("{kind}/{}", entry.file_name().to_str().unwrap());
                assert!(shown.contains(name.as_str()), "{name} is on no page");
                size += entry.metadata().unwrap().len();
            }
            assert!(size <= limit, "{kind}: {size} bytes of {limit}");
        }
    }
}
