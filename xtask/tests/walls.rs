//! The walls of the workspace: which crate may import which.

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
    (
        "tone-filter-listener",
        &["tone-filter-simd"],
        &["tone-filter-reference", "tone-filter-testkit"],
    ),
    (
        "tone-filter-dsp",
        &["tone-filter-listener", "tone-filter-simd"],
        &["tone-filter-reference", "tone-filter-spectrum", "tone-filter-testkit"],
    ),
    ("tone-filter-testkit", &["tone-filter-dsp"], &[]),
    ("tone-filter-presets", &["tone-filter-dsp"], &["tone-filter-testkit"]),
    ("tone-filter-midi", &["tone-filter-dsp"], &[]),
    (
        "tone-filter-offline",
        &["tone-filter-dsp", "tone-filter-midi"],
        &["tone-filter-reference", "tone-filter-testkit"],
    ),
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
        &["tone-filter-testkit", "xtask"],
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
