//! Parser of the project's Markdown pages, for tests and generators.

use crate::root;
use anyhow::{Context, Result};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};
use walkdir::WalkDir;

/// Folders to skip: build products, and files of other projects.
const OTHERS: [&str; 5] = ["target", "node_modules", "dist", "patches", "corpus"];

/// Parsed Markdown page.
#[derive(Debug, Clone)]
pub struct Page {
    /// Path relative to the repository's root.
    pub path: PathBuf,
    /// Fenced code blocks: language and text.
    pub blocks: Vec<(String, String)>,
    /// Targets of links and pictures.
    pub links: Vec<String>,
    /// Anchors of the headings, as GitHub generates them.
    pub anchors: BTreeSet<String>,
}

/// Reads every page of the project.
pub fn all() -> Result<Vec<Page>> {
    let mut paths = Vec::new();
    let is_ours = |entry: &walkdir::DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0 || !(name.starts_with('.') || OTHERS.contains(&&*name))
    };
    for entry in WalkDir::new(root()).sort_by_file_name().into_iter().filter_entry(is_ours) {
        let path = entry?.into_path();
        if path.extension().is_some_and(|end| end == "md") {
            paths.push(path.strip_prefix(root())?.to_owned());
        }
    }
    paths.iter().map(|path| Page::read(path)).collect()
}

impl Page {
    /// Reads the page at `path`, relative to the root.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(root().join(path))
            .with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Self::parse(path, &text))
    }

    /// Parses `text`, the page at `path`.
    pub fn parse(path: &Path, text: &str) -> Self {
        let (mut blocks, mut links) = (Vec::new(), Vec::new());
        let (mut anchors, mut repeated) = (BTreeSet::new(), BTreeMap::new());
        let (mut heading, mut in_block) = (None::<String>, false);
        for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                    blocks.push((language.to_string(), String::new()));
                    in_block = true;
                }
                Event::End(TagEnd::CodeBlock) => in_block = false,
                Event::Text(text) if in_block => {
                    blocks.last_mut().expect("a block has begun").1.push_str(&text);
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    links.push(dest_url.to_string());
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let anchor = anchor(&heading.take().unwrap_or_default());
                    let count = repeated.entry(anchor.clone()).or_insert(0);
                    let again = if *count > 0 { format!("-{count}") } else { String::new() };
                    anchors.insert(anchor + &again);
                    *count += 1;
                }
                Event::Text(text) | Event::Code(text) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&text);
                    }
                }
                _ => {}
            }
        }
        Self { path: path.to_owned(), blocks, links, anchors }
    }

    /// Returns the lines of each shell block. A line that ends in a backslash is joined with the next line.
    pub fn shell(&self) -> Vec<Vec<String>> {
        let shell = self.blocks.iter().filter(|(language, _)| language == "sh");
        let lines = shell.map(|(_, text)| text.replace("\\\n", " "));
        lines.map(|text| text.lines().map(str::to_owned).collect()).collect()
    }
}

/// Returns whether a shell line runs the command `tone-filter`, at its start or after a pipe.
pub fn runs_tone_filter(line: &str) -> bool {
    line.split('|').any(|part| part.trim_start().starts_with("tone-filter "))
}

/// Returns a heading's anchor as GitHub generates it: lower case, spaces as `-`, and no punctuation except `-` and `_`.
pub fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_links_anchors_and_shell_blocks() {
        let text = "# C and C++\n\n## Two\n## Two\n[a](b.md#c) ![d](e.png)\n\n```sh\none \\\n  two\nthree\n```\n\n```c\nfour\n```\n";
        let page = Page::parse(Path::new("a.md"), text);
        assert_eq!(page.anchors, ["c-and-c", "two", "two-1"].map(String::from).into());
        assert_eq!(page.links, ["b.md#c", "e.png"]);
        assert_eq!(page.shell(), [["one    two", "three"]]);
        assert_eq!(page.blocks[1], ("c".into(), "four\n".into()));
    }

    #[test]
    fn a_line_runs_its_first_and_piped_commands() {
        for line in ["tone-filter bench", "cat a.wav | tone-filter render - -o - | play -"] {
            assert!(runs_tone_filter(line), "{line}");
        }
        assert!(!runs_tone_filter("pip install tone-filter  # or tone-filter "));
    }
}
