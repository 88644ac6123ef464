//! The output equals the filter's own output with the requested settings.

use crate::{
    Folder, float_wav,
    signals::{noisy_chord, white},
};
use std::fs;
use tone_filter_dsp::{
    BandMask, Duty, Map, PitchClass, PitchClasses, SPECS, Scale, Settings, Stereo, ToneFilter,
    Voice,
};
use tone_filter_presets::{self as presets, Preset};
use tone_filter_testkit::sweep;

const RATE: u32 = 44_100;

/// Returns the filter's output for `channels`, aligned with the input; with lookahead if there is focus.
fn filtered(settings: &Settings, channels: &[Vec<f32>]) -> Vec<Vec<f32>> {
    in_time(&Settings { lookahead: settings.focus > 0.0, ..*settings }, channels)
}

/// Returns the filter's output for `channels`, aligned with the input.
fn in_time(settings: &Settings, channels: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let rate = f64::from(RATE);
    let filter = ToneFilter::new(rate, settings).unwrap();
    let mut filter = filter.with_channels(channels.len());
    let mut channels = channels.to_vec();
    let latency = filter.latency();
    channels.iter_mut().for_each(|channel| channel.extend(vec![0.0; latency]));
    filter.process(&mut channels.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
    channels.iter_mut().for_each(|channel| drop(channel.drain(..latency)));
    channels
}

/// Returns two different channels of 0.5 s, with a chord that moves up by two semitones in the middle.
fn music() -> Vec<Vec<f32>> {
    let low = noisy_chord(0.5, f64::from(RATE));
    let middle = low.len() / 2;
    let chord: Vec<f32> = (0..low.len())
        .map(|t| if t < middle { low[t] } else { low[(t - middle) * 9 / 8] })
        .collect();
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
    // The published floor is absolute and would hide the threshold; full focus would let only the played notes sound.
    let base = Settings { floor: -80.0, focus: 50.0, ..Settings::REFERENCE };
    fs::write(folder.path("base.json"), Preset::new("Base", base).to_json()).unwrap();
    let plain = filtered(&base, &music);
    let differs = |flag: &str, settings: &Settings, plain: &[Vec<f32>]| {
        folder.run(&format!("render in.wav -o out.wav --force --preset base.json {flag}"));
        let out = folder.floats("out.wav");
        assert!(out == filtered(settings, &music), "{flag}");
        assert!(out != plain, "{flag} must be heard");
    };
    let check = |flag: &str, settings: &Settings| differs(flag, settings, &plain);
    for (spec, place) in sweep::tenth(SPECS.iter().flat_map(|spec| [(spec, 0.15), (spec, 0.7)])) {
        let mut settings = base;
        let value = spec.min + place * (spec.max - spec.min);
        spec.set(&mut settings, value);
        let mut flags = format!("--{} {value}", spec.id);
        match spec.id {
            // These settings have no effect on the voice Soft, whose notes are the resonators' own oscillation, at the
            // detected pitch.
            "octave" | "glide" | "vibrato" => {
                settings.voice = Voice::Square;
                flags += " --voice square";
            }
            // Only the voice Chip has envelopes.
            "attack" | "decay" => {
                settings.voice = Voice::Chip;
                flags += " --voice chip";
            }
            _ => {}
        }
        let voice = Settings { voice: settings.voice, ..base };
        if voice == base {
            check(&flags, &settings);
        } else {
            differs(&flags, &settings, &filtered(&voice, &music));
        }
    }
    check("--stereo stereo", &Settings { stereo: Stereo::Stereo, ..base });
    check("--stereo place", &Settings { stereo: Stereo::Place, ..base });
    check("--voice pulse12", &Settings { voice: Voice::Pulse12, ..base });
    check("--auto", &Settings { auto: true, ..base });
    folder.run("render in.wav -o out.wav --force --preset base.json --lookahead=off");
    assert!(folder.floats("out.wav") == in_time(&base, &music) && in_time(&base, &music) != plain);
    for flag in ["--bypass", "--bypass=on"] {
        folder.run(&format!("render in.wav -o out.wav --force --preset base.json {flag}"));
        assert!(folder.floats("out.wav") == music, "{flag}");
    }
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
    let saw = Settings { voice: Voice::Saw, scale: Scale::Dorian, ..base };
    let muted = filtered(&saw, &music);
    let snap = Settings { map: Map::Snap, ..saw };
    differs("--voice saw --scale dorian --map snap", &snap, &muted);
    let targets = "C C C C C C E E E E E Bb";
    let line =
        "render in.wav -o out.wav --force --preset base.json --voice saw --map custom --targets";
    assert!(folder.command(line).arg(targets).output().unwrap().status.success());
    let mapped = Settings { map: Map::Custom, targets: targets.parse().unwrap(), ..base };
    let mapped = filtered(&Settings { voice: Voice::Saw, ..mapped }, &music);
    assert!(folder.floats("out.wav") == mapped && mapped != muted);
    let only_a4 = BandMask::NONE.with(12, true);
    check(
        "--bands 000000000000100000000000000000000000000000000000",
        &Settings { bands: only_a4, ..base },
    );
}

#[test]
fn values_are_read_as_people_type_them() {
    let music = music();
    let folder = Folder::with(&float_wav(RATE, &music));
    folder.run(
        "render in.wav -o out.wav --threshold -INF --tone 8,5kHz --release=0,1s --transpose -50ct \
         --output -6,5 --stereo MONO --bypass=off --voice Chip --duty 50% --scale minor --root Bb",
    );
    let settings = Settings {
        threshold: -60.0,
        tone: 8500.0,
        release: 100.0,
        transpose: -0.5,
        output: -6.5,
        stereo: Stereo::Mono,
        voice: Voice::Chip,
        duty: Duty::Half,
        scale: Scale::NaturalMinor,
        root: PitchClass::new(1),
        ..Settings::default()
    };
    assert!(folder.floats("out.wav") == filtered(&settings, &music));
}

#[test]
fn flags_without_an_effect_are_warned_of() {
    let folder = Folder::with(&float_wav(RATE, &music()));
    let warned = |line: &str| {
        let said = folder.run(&format!("{line} --force"));
        let warnings = said.lines().filter_map(|line| line.strip_prefix("warning: --"));
        warnings.map(str::to_owned).collect::<Vec<_>>()
    };
    for (flags, warning) in [
        ("--root C", "root has no effect: the scale Chromatic has all notes, whatever its root"),
        ("--scale auto --root C", "root has no effect: the scale Auto finds the root in the music"),
        (
            "--voice saw --map snap",
            "map has no effect: the scale has all notes, so none has to move; choose another Scale",
        ),
        (
            "--voice saw --map custom",
            "map has no effect: every note is its own target; choose other targets",
        ),
        ("--focus 0 --sensitivity 80", "sensitivity has no effect: Focus is at 0 %"),
        ("--focus 0 --listener light", "listener has no effect: Focus is at 0 %"),
        (
            "--focus 0 --lookahead",
            "lookahead has no effect: it only delays the sound while Focus is at 0 %",
        ),
    ] {
        assert_eq!(warned(&format!("render in.wav -o out.wav {flags}")), [warning], "{flags}");
    }
    for line in [
        "render in.wav -o out.wav --root C --scale minor",
        "render in.wav -o out.wav --voice saw --scale minor --map snap",
        "bands in.wav --csv out.csv --focus 0 --sensitivity 80 --listener light",
    ] {
        assert!(warned(line).is_empty(), "{line}");
    }
}

#[test]
fn quantities_that_are_no_settings_may_have_units_too() {
    let folder = Folder::with(&float_wav(RATE, &music()));
    for (name, flags) in [
        ("plain.wav", "--sample-rate 22050 --tail 0.25 --normalize-peak -6"),
        ("units.wav", "--sample-rate 22,05kHz --tail 250ms --normalize-peak -6DB"),
    ] {
        folder.run(&format!("render in.wav -o {name} {flags}"));
    }
    let bytes = |name| fs::read(folder.path(name)).unwrap();
    assert!(bytes("plain.wav") == bytes("units.wav"));
}

#[test]
fn a_flag_or_the_environment_names_the_kernel() {
    let folder = Folder::with(&float_wav(RATE, &[noisy_chord(0.2, f64::from(RATE))]));
    for (line, name) in [
        ("render in.wav -o k.wav --preset reference", "k.wav"),
        ("bands in.wav --csv k.csv", "k.csv"),
    ] {
        let made = |flags: &str, variable: &str| {
            let mut command = folder.command(&format!("{line} --force {flags}"));
            let output = command.env("TONE_FILTER_KERNEL", variable).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            fs::read(folder.path(name)).unwrap()
        };
        let scalar = made("--kernel scalar", "portable");
        assert!(scalar == made("", "scalar"), "{line}");
        // Kernels differ in the last bits, which a table does not show.
        assert!(scalar != made("", "portable") || name == "k.csv");
    }
}

#[test]
fn presets_set_everything_and_flags_win() {
    let music = music();
    let folder = Folder::with(&float_wav(RATE, &music));
    let mine = Settings { drive: 7.0, stereo: Stereo::Stereo, ..Settings::default() };
    fs::write(folder.path("mine.json"), Preset::new("Mine", mine).to_json()).unwrap();

    for id in sweep::tenth(presets::ids()) {
        folder.run(&format!("render in.wav -o out.wav --force --preset {id}"));
        let settings = Preset::factory(id).unwrap().settings;
        assert!(folder.floats("out.wav") == filtered(&settings, &music), "{id}");
    }
    let check = |flags: &str, settings: Settings| {
        folder.run(&format!("render in.wav -o out.wav --force {flags}"));
        assert!(folder.floats("out.wav") == filtered(&settings, &music), "{flags}");
    };
    check("--preset mine.json", mine);
    check("--preset ./mine.json --bypass=off", mine);
    check(
        "--drive 90 --bypass=off --stereo mono --preset mine.json",
        Settings { drive: 90.0, stereo: Stereo::Mono, ..Settings::default() },
    );
    let chord_pad = Preset::factory("chord-pad").unwrap().settings;
    check("--preset chord-pad --mix 10", Settings { mix: 10.0, ..chord_pad });
}

#[test]
fn without_a_flag_it_is_the_sound_of_a_new_instance() {
    let music = music();
    let folder = Folder::with(&float_wav(RATE, &music));
    folder.run("render in.wav -o out.wav");
    assert!(folder.floats("out.wav") == filtered(&Settings::default(), &music));
}
