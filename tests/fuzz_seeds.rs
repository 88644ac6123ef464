//! Runs the seeds of the fuzz targets: inputs that fuzzing has found, and small inputs with a high coverage.

#[path = "../fuzz/src/preset.rs"]
mod preset;
#[path = "../fuzz/src/settings.rs"]
mod settings;
#[path = "../fuzz/src/state.rs"]
mod state;

use std::fs;

/// Runs `check` on every seed of a target.
fn seeds(target: &str, check: fn(&[u8])) {
    let folder = tone_filter_testkit::root().join("fuzz/seeds").join(target);
    let mut count = 0;
    for file in fs::read_dir(&folder).unwrap() {
        let path = file.unwrap().path();
        println!("{}", path.display());
        check(&fs::read(path).unwrap());
        count += 1;
    }
    assert!(count >= 10, "the seeds in {} are gone", folder.display());
}

#[test]
fn a_state_is_loaded_whole_or_refused() {
    seeds("state", state::check);
}

#[test]
fn a_preset_is_in_range_or_refused() {
    seeds("preset", preset::check);
}

#[test]
fn no_settings_and_signals_leave_the_bounds() {
    seeds("settings", settings::check);
}
