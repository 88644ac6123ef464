//! Tests of the project's pages: links lead to files and headings, and commands exist.

use cargo_metadata::MetadataCommand;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};
use tone_filter_manual::{
    pages::{self, Page},
    root,
};

#[test]
fn links_lead_to_files_and_anchors_to_headings() {
    let pages = pages::all().unwrap();
    let full = |page: &Page| root().join(&page.path).canonicalize().unwrap();
    let by_path: BTreeMap<PathBuf, &Page> = pages.iter().map(|page| (full(page), page)).collect();
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for page in &pages {
        for link in page.links.iter().filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { full(page) } else { full(page).with_file_name(file) };
            let has_anchor =
                |path| by_path.get(&path).is_some_and(|page| page.anchors.contains(anchor));
            if !target.canonicalize().is_ok_and(|path| anchor.is_empty() || has_anchor(path)) {
                wrong.push(format!("{}: {link}", page.path.display()));
            }
            checked += 1;
        }
    }
    assert!(checked > 100, "only {checked} links found");
    assert!(wrong.is_empty(), "links that lead nowhere:\n{}", wrong.join("\n"));
}

#[test]
fn the_workflow_installs_what_the_tests_need() {
    let workflow = std::fs::read_to_string(root().join(".github/workflows/ci.yml")).unwrap();
    let installs: Vec<_> =
        workflow.lines().filter_map(|line| line.split_once("apt-get install ")).collect();
    let [(_, packages)] = installs[..] else { panic!("{installs:?}") };
    assert_eq!(packages, "-y --no-install-recommends $(cargo xtask packages)");
    let printed = String::from_utf8(crate::xtask(&["packages"]).stdout).unwrap();
    for package in ["dbus-daemon", "at-spi2-core", "python3-pyatspi", "python3-venv"] {
        assert!(printed.split_whitespace().any(|name| name == package), "{package}: {printed}");
    }
}

#[test]
fn every_page_of_the_manual_is_in_its_summary() {
    let folder = Path::new("docs/manual");
    let summary = Page::read(&folder.join("SUMMARY.md")).unwrap();
    let listed: Vec<_> = summary.links.iter().map(|link| folder.join(link)).collect();
    let pages = pages::all().unwrap();
    let manual = pages.iter().filter(|page| page.path.starts_with(folder));
    let missing: Vec<_> = manual
        .map(|page| &page.path)
        .filter(|path| **path != summary.path && !listed.contains(path))
        .collect();
    assert!(missing.is_empty(), "not in SUMMARY.md: {missing:?}");
}

#[test]
fn every_cargo_command_names_existing_things() {
    let known = known();
    let mut checked = 0;
    for page in pages::all().unwrap().iter().filter(|page| !page.path.ends_with("CHANGELOG.md")) {
        for line in page.shell().into_iter().flatten().chain(inline(page)) {
            let words: Vec<_> = line.split_whitespace().take_while(|word| *word != "#").collect();
            let Some(start) = words.iter().position(|word| *word == "cargo") else { continue };
            let outcome = check(&words[start + 1..], &known);
            let place = || format!("{}: {line}", page.path.display());
            outcome.unwrap_or_else(|reason| panic!("{}: {reason}", place()));
            checked += 1;
        }
    }
    assert!(checked > 40, "only {checked} commands found");
}

/// Returns the cargo commands in backticks in the text of a page.
fn inline(page: &Page) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(&page.path)).unwrap();
    let spans = text.split('`').skip(1).step_by(2);
    // `cargo` may follow environment variables.
    let is_command = |span: &&str| {
        span.split_whitespace().find(|word| !word.contains('=')) == Some("cargo")
            && span.contains("cargo ")
    };
    spans.filter(is_command).map(|span| span.replace('\n', " ")).collect()
}

/// Returns the values that may follow a word of a cargo command: after `xtask` the verbs, after options such as `--package` the
/// names in the workspace.
fn known() -> BTreeMap<&'static str, BTreeSet<String>> {
    let usage = String::from_utf8(crate::xtask(&["help"]).stdout).unwrap();
    let verbs = usage.lines().filter_map(|line| line.trim_start().split(' ').next());
    let mut known = BTreeMap::from([("xtask", verbs.map(str::to_owned).collect())]);
    let mut add =
        |word, name: &str| known.entry(word).or_insert_with(BTreeSet::new).insert(name.to_owned());
    let mut metadata = MetadataCommand::new();
    let metadata = metadata.manifest_path(root().join("Cargo.toml")).no_deps().exec().unwrap();
    for package in metadata.packages {
        for word in ["-p", "--package"] {
            add(word, &package.name);
        }
        for feature in package.features.keys() {
            add("--features", feature);
        }
        for target in package.targets {
            for word in ["--test", "--bench", "--example", "--bin"] {
                if word.ends_with(&target.kind[0].to_string()) {
                    add(word, &target.name);
                }
            }
        }
    }
    known
}

/// Checks the arguments `words` of a cargo command: values must be in `known`, and folders must have a crate.
fn check(words: &[&str], known: &BTreeMap<&str, BTreeSet<String>>) -> Result<(), String> {
    let words: Vec<_> = words.iter().flat_map(|word| word.splitn(2, '=')).collect();
    for pair in words.windows(2) {
        let [word, values] = pair else { continue };
        if *word == "--path" && !root().join(values).join("Cargo.toml").exists() {
            return Err(format!("there is no crate in {values}"));
        }
        for value in values.split(',') {
            let value = value.rsplit('/').next().unwrap_or(value);
            if known.get(word).is_some_and(|names| !names.contains(value)) {
                return Err(format!("{word}: there is no {value}"));
            }
        }
    }
    Ok(())
}
