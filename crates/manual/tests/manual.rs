//! The generated pages of the manual are up to date, and its pictures and sounds stay small.

use std::{collections::BTreeSet, fs, path::Path};
use tone_filter_manual::{FOLDER, made, pages::Page, root};

#[test]
fn the_pages_are_those_of_the_tables() {
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
    for (kind, most) in [("pictures", 3_000_000), ("sounds", 2_000_000)] {
        let mut size = 0;
        for entry in fs::read_dir(folder.join(kind)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{kind}/{}", entry.file_name().to_str().unwrap());
            assert!(shown.contains(name.as_str()), "{name} is on no page");
            size += entry.metadata().unwrap().len();
        }
        assert!(size <= most, "{kind}: {size} bytes of {most}");
    }
}
