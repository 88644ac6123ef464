//! Sound flags: the output equals that of the library's filter with the same settings, and flags without an effect are named.

use crate::{
    Folder, float_wav,
    signals::{noisy_chord, white},
};
use std::fs;
use tone_filter_dsp::{Settings, Stereo, ToneFilter};
use tone_filter_presets::{self as presets, Preset};
use tone_filter_testkit::sweep;

const RATE: u32 = 44_100;

/// Returns the filter's output for `channels`, aligned with the input. Unless the focus is 0 %, the filter has lookahead.
fn filtered(settings: &Settings, channels: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let settings = Settings { lookahead: settings.focus > 0.0, ..*settings };
    let filter = ToneFilter::new(f64::from(RATE), &settings).unwrap();
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
fn flags_without_an_effect_are_warned_of() {
    let folder = Folder::with(&crate::silence());
    let warned = |line: &str| {
        let said = folder.run(&format!("{line} --force"));
        let warnings = said.lines().filter_map(|line| line.strip_prefix("warning: --"));
        warnings.map(str::to_owned).collect::<Vec<_>>()
    };
    for (flags, warning) in [
        ("--duty 50", "duty has no effect: it shapes the voice Chip only"),
        ("--scale auto --root C", "root has no effect: the scale Auto finds the root in the music"),
        ("--focus 0 --sensitivity 80", "sensitivity has no effect: Focus is at 0 %"),
    ] {
        assert_eq!(warned(&format!("render in.wav -o out.wav {flags}")), [warning], "{flags}");
    }
    // `bands` shows the detected notes at any focus.
    assert!(warned("bands in.wav --csv out.csv --focus 0 --sensitivity 80").is_empty());
    assert!(warned("render in.wav -o out.wav --root C --scale minor").is_empty());
    assert!(warned("render in.wav -o out.wav --duty 50 --quiet").is_empty());
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
            folder.bytes(name)
        };
        let scalar = made("--kernel scalar", "portable");
        assert!(scalar == made("", "scalar"), "{line}");
        // The kernels differ in the last bits. A table (`k.csv`) does not show these.
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
    check("", Settings::default());
    check("--preset ./mine.json --bypass=off", mine);
    check(
        "--drive 90 --bypass=off --stereo mono --preset mine.json",
        Settings { drive: 90.0, stereo: Stereo::Mono, ..Settings::default() },
    );
    folder.run("render in.wav -o out.wav --force --preset mine.json --bypass");
    assert!(folder.floats("out.wav") == music);
    let chord_pad = Preset::factory("chord-pad").unwrap().settings;
    check("--preset chord-pad --mix 10", Settings { mix: 10.0, ..chord_pad });
}
