//! Checks the properties of the fuzz targets for their seeds: inputs that have failed, and small inputs with a high coverage.

#[path = "../../fuzz/src/preset.rs"]
mod preset;
#[path = "../../fuzz/src/state.rs"]
mod state;

use std::fs;
use tone_filter_hosts::settings;
use tone_filter_testkit::{
    Draws, controls,
    plugin::{instance, library, set_controls},
    sweep::tenth,
};

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
    let check = |bytes: &[u8]| state::check(bytes, library);
    seeds("state", check);
    let draws = &mut Draws::seeded(9);
    let mut instance = instance();
    set_controls(&mut instance, &controls(draws));
    let (full, header) = (instance.save().unwrap(), size_of::<u64>());
    for length in tenth(0..full.len()) {
        check(&full[..length]);
        check(&full[header.min(length)..length]);
    }
    for _ in tenth(0..500) {
        let mut bytes = full.clone();
        for _ in 0..=draws.below(3) {
            let index = header + draws.below(bytes.len() - header);
            bytes[index] = draws.pick(b"0123456789{}[]\",:.-eaz \\\xFF");
        }
        check(&bytes);
    }
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
