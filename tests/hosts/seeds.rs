//! Checks the properties of the fuzz targets for their seeds: inputs that have failed, and small inputs with a high coverage.

#[path = "../../fuzz/src/preset.rs"]
mod preset;
#[path = "../../fuzz/src/state.rs"]
mod state;

use std::fs;
use tone_filter_hosts::settings;
use tone_filter_testkit::{Draws, plugin::library, sweep::tenth};

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

pub fn check_state(bytes: &[u8]) {
    state::check(bytes, || library().0);
}

#[test]
fn a_state_is_loaded_whole_or_refused() {
    seeds("state", check_state);
}

#[test]
fn a_preset_is_in_range_or_refused() {
    seeds("preset", preset::check);
}

#[test]
fn no_settings_and_signals_leave_the_bounds() {
    seeds("settings", settings::check);
    let draws = &mut Draws::seeded(2);
    for _ in tenth(0..50) {
        settings::check(&(0..2000).map(|_| draws.below(256) as u8).collect::<Vec<_>>());
    }
}
