//! The walls of the workspace: which crate may import which, and how long a file may be.

use std::{
    fs,
    path::{Path, PathBuf},
};
use xtask::root;

/// Every crate, the crates of ours that it may depend on, and those that only its tests may. What stands in for others'
/// crates, in `patches`, depends on none.
const CRATES: [(&str, &[&str], &[&str]); 20] = [
    (
        "tone-filter-reference",
        &[],
        &["tone-filter-dsp", "tone-filter-presets", "tone-filter-testkit"],
    ),
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
    (
        "tone-filter-firewheel",
        &["tone-filter-dsp"],
        &["tone-filter-kira", "tone-filter-presets", "tone-filter-testkit"],
    ),
    ("tone-filter-capi", &["tone-filter-dsp", "tone-filter-presets"], &["tone-filter-testkit"]),
    ("tone-filter-lv2", &["tone-filter-dsp", "tone-filter-presets"], &["tone-filter-testkit"]),
    ("tone-filter-unity", &["tone-filter-dsp", "tone-filter-presets"], &["tone-filter-testkit"]),
    ("tone-filter-web", &["tone-filter-dsp"], &["tone-filter-testkit"]),
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
        &["tone-filter-offline", "tone-filter-reference", "tone-filter-testkit", "xtask"],
    ),
    (
        "tone-filter-cli",
        &["tone-filter", "tone-filter-dsp", "tone-filter-offline", "tone-filter-presets"],
        &["xtask"],
    ),
    (
        "xtask",
        &[
            "tone-filter-dsp",
            "tone-filter-lv2",
            "tone-filter-offline",
            "tone-filter-presets",
            "tone-filter-testkit",
        ],
        &[],
    ),
];

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
