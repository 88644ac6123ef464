//! The output is what the filter makes of the input, with the settings that were asked for.

use crate::{
    Folder,
    common::{noisy_chord, white},
    float_wav,
};
use std::fs;
use tone_filter::{
    dsp::{BandMask, PitchClass, PitchClasses, SPECS, Scale, Settings, Stereo, ToneFilter},
    presets::{self, Preset},
};

const RATE: u32 = 44_100;

fn filtered(settings: &Settings, channels: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let mut channels = channels.to_vec();
    let mut filter = ToneFilter::new(f64::from(RATE), settings).unwrap();
    filter.process(&mut channels.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
    channels
}

/// Two unlike channels of half a second.
fn music() -> Vec<Vec<f32>> {
    let chord = noisy_chord(0.5, f64::from(RATE));
    let noise = white(0.5, f64::from(RATE));
    let right = chord.iter().zip(noise).map(|(c, n)| 0.7 * c + 0.1 * n).collect();
    vec![chord, right]
}

#[test]
fn a_file_longer_than_a_block_is_what_the_filter_makes_of_it_at_once() {
    for count in [1, 2, 6] {
        let source = white(1.0, f64::from(RATE));
        let channels: Vec<Vec<f32>> =
            (1..=count).map(|c| source.iter().map(|s| s / c as f32).collect()).collect();
        let folder = Folder::with(&float_wav(RATE, &channels));
        let said = folder.run("render in.wav -o out.wav --mix 100");
        let settings = Settings { mix: 100.0, ..Settings::default() };
        assert!(folder.floats("out.wav") == filtered(&settings, &channels), "{count} channels");
        for word in ["in.wav -> out.wav", "1.00 s", "times real time", "M samples/s"] {
            assert!(said.contains(word), "{said}");
        }
    }
}

#[test]
fn every_setting_has_a_flag_that_reaches_the_filter() {
    let music = music();
    let folder = Folder::with(&float_wav(RATE, &music));
    // With the default floor, which is absolute, the threshold is not heard.
    let base = Settings { floor: -80.0, ..Settings::default() };
    fs::write(folder.path("base.json"), Preset::new("Base", base).to_json()).unwrap();
    let plain = filtered(&base, &music);
    let check = |flag: &str, settings: &Settings| {
        folder.run(&format!("render in.wav -o out.wav --force --preset base.json {flag}"));
        let out = folder.floats("out.wav");
        assert!(out == filtered(settings, &music), "{flag}");
        assert!(out != plain, "{flag} must be heard");
    };
    for spec in &SPECS {
        for place in [0.15, 0.7] {
            let mut settings = base;
            let value = spec.min + place * (spec.max - spec.min);
            spec.set(&mut settings, value);
            check(&format!("--{} {value}", spec.id), &settings);
        }
    }
    check("--stereo stereo", &Settings { stereo: Stereo::Stereo, ..base });
    check("--bypass", &Settings { bypass: true, ..base });
    check("--bypass=on", &Settings { bypass: true, ..base });
    let dorian = Settings { scale: Scale::Dorian, root: PitchClass::new(5), ..base };
    check("--scale dorian --root d", &dorian);
    check("--scale Dorian --root D", &dorian);
    let flat = Settings { scale: Scale::MajorPentatonic, root: PitchClass::new(1), ..base };
    check("--scale=Major-Pentatonic --root Bb", &flat);
    let a_and_e = PitchClasses::NONE.with(0, true).with(7, true);
    check(
        "--scale custom --custom 100000010000",
        &Settings { scale: Scale::Custom, custom: a_and_e, ..base },
    );
    let only_a4 = BandMask::NONE.with(12, true);
    check(
        "--bands 000000000000100000000000000000000000000000000000",
        &Settings { bands: only_a4, ..base },
    );
}

#[test]
fn values_may_have_units_and_signs() {
    let music = music();
    let folder = Folder::with(&float_wav(RATE, &music));
    folder.run(
        "render in.wav -o out.wav --threshold -45dB --tone 8kHz --release=0.1s --transpose -50ct \
         --output +3 --stereo mono --bypass=off",
    );
    let settings = Settings {
        threshold: -45.0,
        tone: 8000.0,
        release: 100.0,
        transpose: -0.5,
        output: 3.0,
        ..Settings::default()
    };
    assert!(folder.floats("out.wav") == filtered(&settings, &music));
}

#[test]
fn presets_set_everything_and_flags_win() {
    let music = music();
    let folder = Folder::with(&float_wav(RATE, &music));
    let mine = Settings { drive: 7.0, bypass: true, stereo: Stereo::Stereo, ..Settings::default() };
    fs::write(folder.path("mine.json"), Preset::new("Mine", mine).to_json()).unwrap();

    for id in presets::ids() {
        folder.run(&format!("render in.wav -o out.wav --force --preset {id}"));
        let settings = Preset::factory(id).unwrap().settings;
        assert!(folder.floats("out.wav") == filtered(&settings, &music), "{id}");
    }
    let check = |flags: &str, settings: Settings| {
        folder.run(&format!("render in.wav -o out.wav --force {flags}"));
        assert!(folder.floats("out.wav") == filtered(&settings, &music), "{flags}");
    };
    check("--preset mine.json", mine);
    check("--preset ./mine.json --bypass=off", Settings { bypass: false, ..mine });
    check(
        "--drive 90 --bypass=off --stereo mono --preset mine.json",
        Settings { drive: 90.0, ..Settings::default() },
    );
    let chord_pad = Preset::factory("chord-pad").unwrap().settings;
    check("--preset chord-pad --mix 10", Settings { mix: 10.0, ..chord_pad });
}

#[test]
fn the_reference_sound_is_the_default() {
    let music = music();
    let folder = Folder::with(&float_wav(RATE, &music));
    folder.run("render in.wav -o out.wav");
    assert!(folder.floats("out.wav") == filtered(&Settings::default(), &music));
}

#[test]
fn help_names_every_setting_with_its_range_and_every_preset() {
    let folder = Folder::new();
    let output = folder.command("render --help").env("COLUMNS", "1000").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let help = String::from_utf8(output.stdout).unwrap();
    for spec in &SPECS {
        assert!(help.contains(&format!("--{} <{}>", spec.id, spec.unit)), "{}", spec.id);
        assert!(help.contains(&format!("[{} to {} {}, default", spec.min, spec.max, spec.unit)));
        assert!(help.contains(spec.help), "{}", spec.id);
    }
    for word in presets::ids().chain([
        "--stereo",
        "--bypass",
        "--bands",
        "--root",
        "--scale",
        "--custom",
        "Examples:",
    ]) {
        assert!(help.contains(word), "{word}");
    }
}
