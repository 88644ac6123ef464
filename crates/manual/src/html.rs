//! The manual as HTML, for the folder of the web page.

use crate::{
    FOLDER,
    pages::{self, Page},
    root,
};
use anyhow::Result;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};
use std::{fs, path::Path};
use walkdir::WalkDir;

/// Relative path from the manual's folder to `assets`, some of whose pictures the manual shows.
const PICTURES: &str = "../../assets/";

/// Writes the manual as HTML into the folder `manual` inside `page`, the folder of the web page.
pub fn write(page: &Path) -> Result<()> {
    let (from, to) = (root().join(FOLDER), page.join("manual"));
    for entry in WalkDir::new(&from) {
        let path = entry?.into_path();
        let out = to.join(path.strip_prefix(&from)?);
        if path.is_dir() {
            fs::create_dir_all(out)?;
        } else if path.extension().is_some_and(|end| end == "md") {
            let markdown = fs::read_to_string(&path)?;
            let links = Page::parse(&path, &markdown).links;
            for picture in links.iter().filter_map(|link| link.strip_prefix(PICTURES)) {
                fs::copy(root().join("assets").join(picture), to.join(picture))?;
            }
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            fs::write(to.join(html_name(&name)), html(&markdown))?;
        } else {
            fs::copy(&path, out)?;
        }
    }
    Ok(())
}

/// Returns the HTML file's name for a Markdown file; `name` has no extension.
fn html_name(name: &str) -> String {
    format!("{}.html", if name == "README" { "index" } else { name })
}

/// Converts a Markdown file to a complete HTML page.
fn html(markdown: &str) -> String {
    let parser = Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    let mut events: Vec<_> = parser.collect();
    let mut title = None;
    for start in 0..events.len() {
        if !matches!(events[start], Event::Start(Tag::Heading { .. })) {
            continue;
        }
        let end = |event: &Event| matches!(event, Event::End(TagEnd::Heading(_)));
        let text: String =
            events[start..].iter().take_while(|event| !end(event)).map(plain).collect();
        if let Event::Start(Tag::Heading { id, .. }) = &mut events[start] {
            *id = Some(pages::anchor(&text).into());
        }
        title.get_or_insert(text);
    }
    let mut body = String::new();
    let mut out = false;
    html::push_html(&mut body, events.into_iter().filter_map(|event| linked(event, &mut out)));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"dark\">\n<title>{} · Tone Filter</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"../style.css\">\n</head>\n\
         <body class=\"manual\">\n<nav aria-label=\"Manual\"><a href=\"../\">Tone Filter</a>\
         <a href=\"index.html\">Manual</a></nav>\n<main>\n{body}</main>\n</body>\n</html>\n",
        title.unwrap_or_default()
    )
}

fn plain<'a>(event: &'a Event) -> &'a str {
    match event {
        Event::Text(text) | Event::Code(text) => text,
        _ => "",
    }
}

/// Rewrites links and pictures for the HTML. Returns `None` to drop the event.
///
/// Links to pages of the manual become links to their HTML. Links to files outside the manual are reduced to their text, as the
/// web page lacks these files. `out` is kept between calls: whether the last link that began leads to such a file.
fn linked<'a>(mut event: Event<'a>, out: &mut bool) -> Option<Event<'a>> {
    match &mut event {
        Event::Start(Tag::Link { dest_url, .. }) => {
            *out = dest_url.starts_with("..");
            if *out {
                return None;
            }
            *dest_url = page(dest_url);
        }
        Event::Start(Tag::Image { dest_url, .. }) => {
            *dest_url = dest_url.strip_prefix(PICTURES).unwrap_or(dest_url).to_owned().into();
        }
        Event::End(TagEnd::Link) if std::mem::take(out) => return None,
        _ => {}
    }
    Some(event)
}

/// Converts the address of a Markdown file to that of its HTML page. Returns other addresses unchanged.
fn page<'a>(address: &str) -> CowStr<'a> {
    let (file, anchor) = address.split_at(address.find('#').unwrap_or(address.len()));
    match file.strip_suffix(".md") {
        Some(name) if !file.contains("://") => format!("{}{anchor}", html_name(name)).into(),
        _ => address.to_owned().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_existing_pages_and_headings() {
        let page = html(
            "# The `Mix`, and more\n[a](web.md#a-link) [b](https://c.md) [in **the** source](../cli.md) [d](README.md) [e](#f) ![g](../../assets/g.webp)",
        );
        for expected in [
            "<title>The Mix, and more · Tone Filter</title>",
            "<h1 id=\"the-mix-and-more\">",
            "<a href=\"web.html#a-link\">a</a>",
            "<a href=\"https://c.md\">b</a>",
            "</a> in <strong>the</strong> source <a",
            "<a href=\"index.html\">d</a>",
            "<a href=\"#f\">e</a>",
            "<img src=\"g.webp\" alt=\"g\"",
        ] {
            assert!(page.contains(expected), "{expected} is not in {page}");
        }
    }

    #[test]
    fn every_page_is_written() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path()).unwrap();
        let count = |folder: &Path, end: &str| {
            let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            paths.filter(|path| path.extension().is_some_and(|extension| extension == end)).count()
        };
        let written = folder.path().join("manual");
        assert_eq!(count(&written, "html"), count(&root().join(FOLDER), "md"));
        assert_eq!(count(&written, "md"), 0);
    }
}
