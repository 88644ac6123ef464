//! The walls of the workspace: which crate may import which, which part of the filter may import which, and how long a
//! file may be.

use std::{
    fs,
    path::{Path, PathBuf},
};
use xtask::root;

/// Every crate, the crates of ours that it may depend on, and those that only its tests may. What stands in for others'
/// crates, in `patches`, depends on none.
const CRATES: [(&str, &[&str], &[&str]); 20] = [
    ("tone-filter-reference", &[], &[]),
    ("tone-filter-spectrum", &[], &[]),
    ("tone-filter-simd", &[], &["tone-filter-reference"]),
    ("tone-filter-listener", &["tone-filter-simd"], &["tone-filter-reference"]),
    (
        "tone-filter-dsp",
        &["tone-filter-listener", "tone-filter-simd"],
        &["tone-filter-reference", "tone-filter-spectrum", "tone-filter-testkit"],
    ),
    ("tone-filter-testkit", &["tone-filter-dsp"], &[]),
    ("tone-filter-presets", &["tone-filter-dsp"], &[]),
    ("tone-filter-midi", &["tone-filter-dsp"], &[]),
    ("tone-filter-offline", &["tone-filter-dsp", "tone-filter-midi"], &["tone-filter-reference"]),
    ("tone-filter-kira", &["tone-filter-dsp"], &[]),
    ("tone-filter-firewheel", &["tone-filter-dsp"], &["tone-filter-kira", "tone-filter-presets"]),
    ("tone-filter-capi", &["tone-filter-dsp", "tone-filter-presets"], &[]),
    ("tone-filter-lv2", &["tone-filter-dsp", "tone-filter-presets"], &[]),
    ("tone-filter-unity", &["tone-filter-dsp", "tone-filter-presets"], &[]),
    ("tone-filter-web", &["tone-filter-dsp"], &[]),
    ("tone-filter-python", &["tone-filter-dsp", "tone-filter-offline", "tone-filter-presets"], &[]),
    ("plugin-guard", &[], &[]),
    (
        "tone-filter",
        &[
            "plugin-guard",
            "tone-filter-dsp",
            "tone-filter-midi",
            "tone-filter-presets",
            "tone-filter-spectrum",
        ],
        &["tone-filter-offline", "tone-filter-reference", "xtask"],
    ),
    (
        "tone-filter-cli",
        &["tone-filter", "tone-filter-dsp", "tone-filter-offline", "tone-filter-presets"],
        &["xtask"],
    ),
    (
        "xtask",
        &["tone-filter-dsp", "tone-filter-lv2", "tone-filter-offline", "tone-filter-presets"],
        &[],
    ),
];

/// The parts of the filter. Each may import those before it only.
const PARTS: [&str; 20] = [
    "notes",
    "score",
    "lanes",
    "settings",
    "constants",
    "delay",
    "downmix",
    "bank",
    "voice",
    "plan",
    "analysis",
    "synthesis",
    "output",
    "view",
    "lib",
    "player",
    "following",
    "process",
    "scout",
    "sent_notes",
];

/// The parts of the plugin. Each may import those before it only.
const PLUGIN: [&str; 6] = ["params", "meters", "session", "editor", "plugin", "lib"];

/// The parts of the plugin that have no window.
const WINDOWLESS: [&str; 3] = ["params", "meters", "session"];

/// Lines of a file.
const MOST_LINES: usize = 400;

/// Folders with what is written by hand, and those in them with what is not.
const SOURCES: [&str; 14] = [
    "benches", "capi", "crates", "examples", "fuzz", "lv2", "patches", "python", "src", "tests",
    "tools", "unity", "web", "xtask",
];
const OTHERS: [&str; 3] = ["include", "node_modules", "target"];
const LANGUAGES: [&str; 8] = ["c", "cpp", "cs", "css", "js", "mjs", "py", "rs"];

#[test]
fn a_crate_depends_on_those_below_it_only() {
    let mut command = cargo_metadata::MetadataCommand::new();
    let metadata = command.manifest_path(root().join("Cargo.toml")).no_deps().exec().unwrap();
    let patches = root().join("patches");
    let (patches, ours): (Vec<_>, Vec<_>) = metadata
        .workspace_packages()
        .into_iter()
        .partition(|package| package.manifest_path.starts_with(&patches));
    let names: Vec<_> = ours.iter().map(|package| package.name.as_str()).collect();
    for package in patches.iter().chain(&ours) {
        let name = package.name.as_str();
        let known = CRATES.into_iter().find(|(known, ..)| *known == name);
        assert!(known.is_some() || !names.contains(&name), "{name} has no place in CRATES");
        let (_, all, tests) = known.unwrap_or_default();
        for dependency in &package.dependencies {
            let other = dependency.name.as_str();
            let only_tests = dependency.kind == cargo_metadata::DependencyKind::Development;
            let may = all.contains(&other) || only_tests && tests.contains(&other);
            assert!(may || !names.contains(&other), "{name} must not depend on {other}");
        }
    }
}

#[test]
fn a_part_imports_those_before_it_only() {
    for (folder, parts) in [("crates/dsp/src", &PARTS[..]), ("src", &PLUGIN)] {
        assert_in_order(&root().join(folder), parts);
    }
}

#[test]
fn a_part_without_a_window_does_not_import_egui() {
    let folder = root().join("src");
    let part = |path: &PathBuf| {
        let path = path.strip_prefix(&folder).unwrap().with_extension("");
        WINDOWLESS.contains(&path.iter().next().unwrap().to_str().unwrap())
    };
    let files: Vec<_> = files(&folder).into_iter().filter(part).collect();
    assert!(files.len() > 10, "only {} files found", files.len());
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains("egui"), "{} must not import egui", file.display());
    }
}

/// Asserts that each of `parts` in `folder` imports those before it only.
fn assert_in_order(folder: &Path, parts: &[&str]) {
    let place = |part: &str| parts.iter().position(|known| *known == part);
    let mut imports = 0;
    for file in files(folder) {
        let path = file.strip_prefix(folder).unwrap().with_extension("");
        let path: Vec<_> = path.iter().map(|part| part.to_str().unwrap()).collect();
        if path == ["lib"] || path.contains(&"tests") {
            continue;
        }
        let own = place(path[0]).unwrap_or_else(|| panic!("{} has no place in PARTS", path[0]));
        let depth = path.len() - usize::from(path.ends_with(&["mod"]));
        for name in imported(&fs::read_to_string(&file).unwrap(), depth) {
            // What is no part is an item of the library's root.
            let other = place(&name).or(place("lib")).unwrap();
            assert!(other <= own, "{} must not import {name}", file.display());
            imports += usize::from(other < own);
        }
    }
    assert!(imports > 20, "only {imports} imports found in {}", folder.display());
}

/// The first names of all paths from the library's root in a file that lies `depth` modules below it, without its tests.
fn imported(text: &str, depth: usize) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap().lines();
    let code: Vec<_> = code.filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n").replace(&"super::".repeat(depth), "crate::");
    let name = |path: &str| {
        path.trim().split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap().to_owned()
    };
    let names = code.split("crate::").skip(1).flat_map(|path| match path.strip_prefix('{') {
        Some(list) => outermost(list).split(',').map(name).collect(),
        None => vec![name(path)],
    });
    names.filter(|name| !name.is_empty()).collect()
}

/// What stands before the brace that closes a list, without the lists within it.
fn outermost(list: &str) -> String {
    let mut depth = 0;
    let mut text = String::new();
    for c in list.chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        match depth {
            -1 => break,
            0 if c != '}' => text.push(c),
            _ => {}
        }
    }
    text
}

#[test]
fn a_path_is_found_by_its_first_name() {
    let text = "use crate::{a::{b, c::{d}}, e, F};\nuse super::super::g::h;\nuse super::i;\n// crate::j\nfn k(_: crate::l) {}\n#[cfg(test)]\nmod tests { use crate::m; }";
    assert_eq!(imported(text, 2), ["a", "e", "F", "g", "l"]);
}

#[test]
fn no_file_is_longer_than_a_reader_has_patience_for() {
    let folders = SOURCES.into_iter().map(|folder| root().join(folder));
    let sources: Vec<_> = folders.flat_map(|folder| files(&folder)).collect();
    assert!(sources.len() > 300, "only {} files found", sources.len());
    for file in sources {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= MOST_LINES, "{} has {lines} lines", file.display());
    }
}

/// The files in a folder and those below it that are written by hand.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| match path.is_dir() {
        true if OTHERS.contains(&path.file_name().unwrap().to_str().unwrap()) => Vec::new(),
        true => files(&path),
        false => vec![path],
    });
    files
        .filter(|path| {
            path.extension().is_some_and(|end| LANGUAGES.contains(&end.to_str().unwrap()))
        })
        .collect()
}
