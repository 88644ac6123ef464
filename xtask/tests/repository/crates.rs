//! Tests of the workspace's crates: allowed dependencies, and no avoidable duplicates among built crates.

use cargo_metadata::{CargoOpt, DependencyKind, Metadata, MetadataCommand, Package};
use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};
use tone_filter_manual::root;

const DSP: &str = "tone-filter-dsp";
const FOURIER: &str = "tone-filter-fourier";
const MANUAL: &str = "tone-filter-manual";
const OFFLINE: &str = "tone-filter-offline";
const PLOT: &str = "tone-filter-plot";
const PRESETS: &str = "tone-filter-presets";
const REFERENCE: &str = "tone-filter-reference";
const SONG: &str = "tone-filter-song";
const TESTKIT: &str = "tone-filter-testkit";

/// Our crates: name, allowed dependencies on our crates, and further dev-dependencies. Crates in `patches` have none.
const CRATES: [(&str, &[&str], &[&str]); 26] = [
    ("tone-filter-reference", &[], &[DSP, PRESETS, TESTKIT]),
    ("tone-filter-simd", &[], &[REFERENCE]),
    ("tone-filter-listener", &["tone-filter-simd"], &[REFERENCE, TESTKIT]),
    (DSP, &["tone-filter-listener", "tone-filter-simd"], &[REFERENCE, TESTKIT]),
    (PRESETS, &[DSP], &[TESTKIT]),
    ("tone-filter-midi", &[DSP], &[]),
    (FOURIER, &[], &[]),
    (PLOT, &[DSP], &[]),
    (SONG, &[DSP], &[]),
    (OFFLINE, &[DSP, "tone-filter-midi", SONG], &[REFERENCE, TESTKIT]),
    (TESTKIT, &[DSP, FOURIER, PLOT, PRESETS, REFERENCE], &[]),
    (MANUAL, &[DSP, PRESETS, TESTKIT], &[]),
    ("tone-filter-kira", &[DSP], &[]),
    ("tone-filter-firewheel", &[DSP], &["tone-filter-kira", PRESETS, TESTKIT]),
    ("tone-filter-capi", &[DSP, PRESETS], &[MANUAL, TESTKIT]),
    ("tone-filter-lv2", &[DSP, PRESETS], &[TESTKIT]),
    ("tone-filter-unity", &[DSP, PRESETS], &[TESTKIT]),
    ("tone-filter-web", &[DSP], &[PRESETS, TESTKIT]),
    ("tone-filter-web-song", &[DSP, PRESETS, SONG], &[TESTKIT]),
    ("tone-filter-python", &[DSP, OFFLINE, PRESETS], &[]),
    ("plugin-guard", &[], &[TESTKIT]),
    ("tone-filter", &["plugin-guard", DSP, FOURIER, "tone-filter-midi", PRESETS, SONG], &[TESTKIT]),
    ("tone-filter-cli", &["tone-filter", DSP, OFFLINE, PLOT, PRESETS], &[MANUAL, TESTKIT]),
    ("tone-filter-hosts", &[DSP, PRESETS, TESTKIT], &[]),
    ("xtask", &[], &[MANUAL]),
    (
        "tone-filter-benches",
        &[],
        &["tone-filter", DSP, "tone-filter-listener", "tone-filter-simd", TESTKIT],
    ),
];

/// Crates that are built more than once for the tests, and the reason.
///
/// A crate is built once for each version, and once for each set of features: dependencies of build scripts and of macros have
/// features of their own.
const TWICE: [(&str, &str); 11] = [
    ("bitflags", "ebur128 needs version 1"),
    ("fastrand", "phf_generator, in a macro, needs no features"),
    ("fearless_simd", "vello_cpu, which draws the window in tests, needs version 0.4"),
    ("hashbrown", "toml_edit, in a macro, needs no features"),
    ("miniz_oxide", "png needs version 0.8"),
    ("phf_shared", "phf_macros needs no features"),
    ("serde", "zvariant, in a macro, needs fewer features"),
    ("serde_core", "zvariant, in a macro, needs fewer features"),
    ("syn", "nice-plug-derive needs version 1, other macros version 2 or 3"),
    ("toml_datetime", "toml_edit, in a macro, needs other features"),
    ("toml_parser", "toml_edit, in a macro, needs more features"),
];

fn metadata() -> Metadata {
    let mut command = MetadataCommand::new();
    let command = command.manifest_path(root().join("Cargo.toml"));
    command.features(CargoOpt::AllFeatures).exec().unwrap()
}

/// Returns the crates that `cargo tree` with `arguments` lists.
fn tree(arguments: &str) -> BTreeSet<String> {
    let mut tree = Command::new("cargo");
    tree.args(["tree", "--locked", "--prefix=none", "--no-dedupe"]);
    let output = tree.args(arguments.split(' ')).current_dir(root()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let lines = str::from_utf8(&output.stdout).unwrap().lines();
    lines.map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

#[test]
fn a_crate_depends_on_those_below_it_only() {
    let metadata = metadata();
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
            let only_tests = dependency.kind == DependencyKind::Development;
            let may = all.contains(&other) || only_tests && tests.contains(&other);
            assert!(may || !names.contains(&other), "{name} must not depend on {other}");
        }
    }
}

#[test]
fn the_list_of_dependencies_is_that_of_the_manifests() {
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
fn the_filter_needs_at_most_eleven_crates() {
    let mut names = tree("--package=tone-filter-dsp --edges=normal,build --format={lib}");
    assert!(names.remove("tone_filter_dsp"));
    assert!(names.len() <= 11, "{names:?}");
}

#[test]
fn all_crates_ask_for_one_set_of_features() {
    let mut sets: BTreeMap<_, BTreeMap<_, Vec<_>>> = BTreeMap::new();
    for package in metadata().workspace_packages() {
        for dependency in package.dependencies.iter().filter(|own| own.path.is_none()) {
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
fn nothing_is_built_twice_that_need_not_be() {
    let edges = "--edges=normal,build,dev --target=x86_64-unknown-linux-gnu --format={p}|{f}";
    let rows = tree(&format!(
        "--workspace {} {edges}",
        ["kira", "firewheel", "benches"]
            .map(|name| format!("--exclude=tone-filter-{name}"))
            .join(" ")
    ));
    let mut builds: BTreeMap<_, Vec<_>> = BTreeMap::new();
    // Rows without a version are headings.
    for (name, build) in rows.iter().filter_map(|row| row.split_once(" v")) {
        builds.entry(name).or_default().push(build);
    }
    builds.retain(|_, builds| builds.len() > 1);
    let twice: BTreeSet<_> = builds.keys().copied().collect();
    let known: BTreeSet<_> = TWICE.into_iter().map(|(name, _)| name).collect();
    assert_eq!(twice, known, "{builds:#?}");
}

#[test]
fn packages_for_other_languages_have_the_version_of_the_project() {
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
