//! Tests of the workspace's crates: allowed dependencies and their features, licences and versions.

use cargo_metadata::{CargoOpt, DependencyKind, Metadata, MetadataCommand, Package};
use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};
use tone_filter_manual::root;

/// A line for each of our crates, without the prefix `tone-filter-`: name, crates of ours that the crate may use, and after `+`
/// those that its tests alone may use. Crates in `patches` may depend on none.
const CRATES: &str = "
    reference: + dsp presets testkit
    simd: + reference
    listener: simd + reference testkit
    dsp: listener simd + reference testkit
    presets: dsp + testkit
    midi: dsp
    fourier:
    plot: dsp
    song: dsp
    offline: dsp midi song + reference testkit
    testkit: dsp fourier plot presets reference
    manual: dsp presets testkit
    kira: dsp
    firewheel: dsp + kira presets testkit
    capi: dsp presets + manual testkit
    lv2: dsp presets + testkit
    unity: dsp presets + testkit
    web: dsp + presets testkit
    web-song: dsp presets song
    python: dsp offline presets
    plugin-guard: + testkit
    tone-filter: plugin-guard dsp fourier midi presets song + testkit
    cli: tone-filter dsp offline plot presets + manual testkit
    hosts: dsp presets testkit
    xtask: + manual
    benches: + tone-filter dsp listener simd testkit";

fn metadata() -> Metadata {
    let mut command = MetadataCommand::new();
    let command = command.manifest_path(root().join("Cargo.toml"));
    command.features(CargoOpt::AllFeatures).exec().unwrap()
}

#[test]
fn a_crate_depends_on_those_below_it_only() {
    let short = |name: &str| name.strip_prefix("tone-filter-").unwrap_or(name).to_owned();
    let rows = CRATES.lines().filter_map(|row| row.trim().split_once(':'));
    let allowed: BTreeMap<_, _> =
        rows.map(|(name, all)| (name, all.split_once('+').unwrap_or((all, "")))).collect();
    let metadata = metadata();
    for package in metadata.workspace_packages() {
        let name = short(&package.name);
        let is_patch = package.manifest_path.starts_with(root().join("patches"));
        assert!(is_patch != allowed.contains_key(&*name), "{name} has no place in CRATES");
        let (all, tests) = allowed.get(&*name).copied().unwrap_or_default();
        for dependency in &package.dependencies {
            let other = short(&dependency.name);
            let lists = |names: &str| names.split(' ').any(|name| name == other);
            let only_tests = dependency.kind == DependencyKind::Development;
            let may = lists(all) || only_tests && lists(tests);
            let is_ours = dependency.path.is_some() && allowed.contains_key(&*other);
            assert!(may || !is_ours, "{name} must not depend on {other}");
        }
    }
}

#[test]
fn the_page_of_dependencies_matches_the_manifests() {
    let metadata = metadata();
    let direct = metadata.workspace_packages();
    let direct = direct.iter().flat_map(|package| &package.dependencies);
    let expected: BTreeSet<String> = direct
        .filter(|dependency| dependency.path.is_none())
        .map(|dependency| {
            let (name, version) = (&dependency.name, &dependency.req);
            let fits = |package: &&Package| {
                package.name.as_str() == name && version.matches(&package.version)
            };
            let package = metadata.packages.iter().find(fits).unwrap();
            let licence = package.license.as_deref().unwrap();
            let version = version.to_string();
            format!("| `{name}` | {} | {licence}", version.trim_start_matches('^'))
        })
        .collect();
    let page = std::fs::read_to_string(root().join("docs/dependencies.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let listed: BTreeSet<String> =
        rows.map(|row| row.split(" | ").take(3).collect::<Vec<_>>().join(" | ")).collect();
    assert_eq!(listed, expected);
}

#[test]
fn the_filter_needs_four_crates() {
    let mut tree = Command::new("cargo");
    tree.args(["tree", "--locked", "--prefix=none", "--no-dedupe", "--format={lib}"]);
    tree.args(["--package=tone-filter-dsp", "--edges=normal,build"]).current_dir(root());
    let output = String::from_utf8(tree.output().unwrap().stdout).unwrap();
    let mut names: BTreeSet<_> = output.lines().collect();
    assert!(names.remove("tone_filter_dsp"));
    assert_eq!(names.len(), 4, "{names:?}");
}

#[test]
fn all_crates_ask_for_one_set_of_features() {
    let mut sets: BTreeMap<_, BTreeMap<_, Vec<_>>> = BTreeMap::new();
    for package in metadata().workspace_packages() {
        for dependency in package.dependencies.iter().filter(|dependency| dependency.path.is_none())
        {
            let features: BTreeSet<_> = dependency.features.iter().cloned().collect();
            let set = (features, dependency.uses_default_features);
            let askers = sets.entry(dependency.name.clone()).or_default().entry(set).or_default();
            askers.push(package.name.to_string());
        }
    }
    for (name, sets) in sets {
        assert!(
            sets.len() == 1,
            "{name}: set the features in the workspace's Cargo.toml: {sets:?}"
        );
    }
}

#[test]
fn packages_of_all_languages_have_one_version() {
    let metadata = metadata();
    let version = &metadata.root_package().unwrap().version;
    for (folder, name) in [("web", "tone-filter"), ("unity", "com.tone-filter.effect")] {
        let path = root().join("bindings").join(folder).join("package/package.json");
        let manifest = std::fs::read_to_string(path).unwrap();
        for line in [format!("\"name\": \"{name}\""), format!("\"version\": \"{version}\"")] {
            assert!(manifest.contains(&line), "{folder}: no {line}");
        }
    }
}
