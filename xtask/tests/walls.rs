//! Test of the workspace's walls: which crate may depend on which.

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

/// Our crates: name, allowed dependencies on our crates, and further dependencies for tests only. Crates in `patches` may not
/// depend on any of our crates.
const CRATES: [(&str, &[&str], &[&str]); 25] = [
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
    (MANUAL, &[DSP, OFFLINE, PRESETS, TESTKIT], &[]),
    ("tone-filter-kira", &[DSP], &[]),
    ("tone-filter-firewheel", &[DSP], &["tone-filter-kira", PRESETS, TESTKIT]),
    ("tone-filter-capi", &[DSP, PRESETS], &[MANUAL, TESTKIT]),
    ("tone-filter-lv2", &[DSP, PRESETS], &[TESTKIT]),
    ("tone-filter-unity", &[DSP, PRESETS], &[TESTKIT]),
    ("tone-filter-web", &[DSP], &[PRESETS, TESTKIT]),
    ("tone-filter-web-song", &[DSP, PRESETS, SONG], &[OFFLINE, TESTKIT]),
    ("tone-filter-python", &[DSP, OFFLINE, PRESETS], &[]),
    ("plugin-guard", &[], &[TESTKIT]),
    ("tone-filter", &["plugin-guard", DSP, FOURIER, "tone-filter-midi", PRESETS], &[TESTKIT]),
    ("tone-filter-cli", &["tone-filter", DSP, OFFLINE, PLOT, PRESETS], &[MANUAL, TESTKIT]),
    ("tone-filter-hosts", &[DSP, PRESETS, TESTKIT], &[]),
    ("xtask", &[], &[MANUAL]),
];

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
