//! Reasons why no note sounds, as rendering and analysing report them. The test also applies the remedy of each reason, which
//! must work.

use crate::{Folder, float_wav, silence};
use std::sync::Arc;
use tone_filter_dsp::{BandRange, Kernel, Scale, Settings, Stereo};
use tone_filter_offline::{Input, analyse::analyse, options::Options, silence_reasons::Cause};
use tone_filter_testkit::signals;

const RATE: f64 = 44_100.0;

fn with(channels: &[Vec<f32>]) -> Folder {
    Folder::with(&float_wav(RATE as u32, channels))
}

/// Returns a folder with a chord of `keys` in `in.wav`: tones with overtones, `cents` sharp. In tune, it lasts 1 s; otherwise 2
/// s, because the tuning takes time to be detected.
fn chord(keys: &[u8], amplitude: f32, cents: f64) -> Folder {
    let seconds = if cents == 0.0 { 1.0 } else { 2.0 };
    let mut sum = vec![0.0; (seconds * RATE) as usize];
    for key in keys {
        let tone = signals::bent(6, seconds, RATE, |_| f64::from(*key) + cents / 100.0);
        sum.iter_mut().zip(tone).for_each(|(sum, tone)| *sum += tone * amplitude / 0.2);
    }
    with(&[sum])
}

fn c_major(amplitude: f32) -> Folder {
    chord(&[60, 64, 67], amplitude, 0.0)
}

/// Returns a folder with C major, 50 cents sharp.
fn quarter_tone() -> Folder {
    chord(&[60, 64, 67], 0.1, 50.0)
}

/// Returns the reason that rendering `in.wav` gives, and the one that analysing it gives; empty if notes sound. Lookahead is as
/// in the command.
fn causes(folder: &Folder, settings: Settings) -> [String; 2] {
    let ahead = Settings { lookahead: settings.focus > 0.0, ..settings };
    let options = Options { settings: ahead, explain: true, ..Options::default() };
    let rendered = folder.render("in.wav", "out.wav", &options).unheard;
    let input = Input::new(&folder.path("in.wav")).unwrap();
    let ahead = Settings { lookahead: true, ..settings };
    let sound = (&ahead, None);
    let analysed = analyse(&input, sound, Kernel::best(), 0.01, |_| (), |_, _| Ok(()), |_| ());
    let words = |cause: Option<Cause>| cause.map_or(String::new(), |cause| cause.to_string());
    [rendered, analysed.unwrap().unheard].map(words)
}

fn assert_causes(folder: &Folder, settings: Settings, words: &str) {
    for cause in causes(folder, settings) {
        assert!(cause.contains(words), "{cause:?} is not {words}");
    }
}

#[test]
fn each_reason_is_found_and_its_remedy_works() {
    let (default, reference) = (Settings::default(), Settings::REFERENCE);
    let custom = |notes: &str| {
        let custom = notes.parse().unwrap();
        Settings { scale: Scale::Custom, custom, ..Settings::default() }
    };
    let bands = |bands: String| {
        let bands = bands.parse().unwrap();
        Settings { bands, ..Settings::default() }
    };
    let range = |range| Settings { range, ..Settings::default() };
    let muted = |flag, note| format!("{flag} mutes all that were detected, like {note}; ");
    let opposite = |error: f32| {
        let left = signals::noisy_chord(1.0, RATE);
        let right = left.iter().enumerate().map(|(t, x)| (t % 3) as f32 * error - x).collect();
        with(&[left, right])
    };
    let frozen = "frozen in the silence before the file; add --freeze=off";
    let quiet = "dB and --floor at -37 dB; add --auto, which adapts to any level, or lower --floor";
    let weak = "no note was strong enough; add --auto, which adapts to any level, or lower";
    let off_tune = "between the notes of --tuning 440; add --auto-tuning, or";
    let cancelled =
        "left and right are of opposite polarity and cancel in their mean, which the bands";
    let stereo = Settings { stereo: Stereo::Stereo, ..default };
    let (major, low) = (c_major(0.1), chord(&[43], 0.2, 0.0));
    for (folder, wrong, words, mended) in [
        (&major, Settings { freeze: true, ..default }, frozen, default),
        (&major, custom("010000000000"), &*muted("--scale", "C4"), custom("000100000000")),
        (&major, bands("0".repeat(47) + "1"), &muted("--bands", "C4"), bands("1".repeat(48))),
        (&low, range(BandRange::Published), &muted("--range", "G2"), range(BandRange::Whole)),
        (&c_major(0.0005), reference, quiet, Settings { auto: true, ..reference }),
        // -33 dB together, and -39 dB each.
        (&c_major(0.015), reference, weak, Settings { auto: true, ..reference }),
        (&quarter_tone(), reference, off_tune, Settings { auto_tuning: true, ..reference }),
        // Left and right cancel exactly, and then up to the rounding of 24 bits.
        (&opposite(0.0), default, cancelled, stereo),
        (&opposite(1.2e-7), default, cancelled, stereo),
    ] {
        assert_causes(folder, wrong, words);
        assert_eq!(causes(folder, mended), ["", ""], "{words}");
    }
    let settings = Settings { mix: 100.0, ..default };
    let peak = Options { settings, normalize: Some(-1.0), ..Options::default() };
    let error = opposite(1.2e-7).try_render("in.wav", "out.wav", &peak).unwrap_err().to_string();
    assert!(error.contains("in.wav: the output is silent"), "{error}");
}

#[test]
fn levels_and_tunings_in_reasons_are_those_of_the_sound() {
    let number = |text: &str, before: &str| -> f64 {
        let rest = text.split(before).last().unwrap();
        rest.split(' ').next().unwrap().parse().expect(text)
    };
    for cause in causes(&c_major(0.0005), Settings::REFERENCE) {
        // Three notes with six partials have the level 10 log10(3 * 0.0005^2 / 2 * 1.491) = -62.5 dB.
        assert!((number(&cause, "the sound is at ") + 62.5).abs() <= 1.5, "{cause}");
    }
    let between = quarter_tone();
    for cause in causes(&between, Settings::REFERENCE) {
        let a4 = number(&cause, "--tuning ");
        // A quarter tone above 440 Hz is 452.9 Hz, and a quarter tone below is 427.5 Hz.
        assert!([452.9, 427.5].iter().any(|hertz| (hertz - a4).abs() < 0.5), "{cause}");
        let tuned = Settings { tuning: a4 as f32, ..Settings::REFERENCE };
        assert_eq!(causes(&between, tuned), ["", ""], "{a4}");
    }
}

#[test]
fn sound_without_notes_has_its_reasons() {
    let noise = signals::white(1.0, RATE);
    let hit = |at: usize| (-60.0 * (at % 22_050) as f64 / RATE).exp() as f32;
    let drums = noise.iter().enumerate().map(|(at, sample)| sample * hit(at)).collect();
    let unpitched = "as in drums, noise and speech; ";
    for sound in [&noise, &drums] {
        let raise = format!("{unpitched}raise --sensitivity, or render with --focus 0");
        assert_causes(&with(std::slice::from_ref(sound)), Settings::default(), &raise);
    }
    let auto = Settings { auto: true, ..Settings::REFERENCE };
    assert_causes(&with(&[noise]), auto, &format!("{unpitched}lower --threshold"));
    let silent = Folder::with(&silence().bytes());
    for settings in [
        Settings::default(),
        Settings::REFERENCE,
        Settings { freeze: true, focus: 0.0, ..Settings::default() },
    ] {
        assert_causes(&silent, settings, "as the input is silent; check the recording");
    }
    let score = Some(Arc::new("tone-filter-score 1\n100 101 69\n".parse().unwrap()));
    let options = Options { score, ..Options::default() };
    let cause = c_major(0.1).render("in.wav", "out.wav", &options).unheard.unwrap();
    assert_eq!(cause, Cause::Score);
}
