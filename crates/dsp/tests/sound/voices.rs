//! Loudness of the voices, and notes at one pitch.

use crate::filtered;
use std::f64::consts::TAU;
use tone_filter_dsp::{
    BandMask, BandRange, Duty, Map, Settings, Targets, ToneFilter, Voice, notes,
};

/// Returns settings for the bands of `tones` and the voice alone: no listener, no auto level, no dry signal.
fn alone(tones: &[usize], voice: Voice) -> Settings {
    Settings {
        voice,
        range: BandRange::Whole,
        bands: tones.iter().fold(BandMask::NONE, |mask, tone| mask.with(*tone, true)),
        mix: 100.0,
        tone: 20_000.0,
        ring: 0.2,
        release: 20.0,
        ..Settings::REFERENCE
    }
}

/// Returns sines of the `tones`, each `cents` sharp.
fn chord(tones: &[usize], cents: f64, rate: f64, seconds: f64) -> Vec<f32> {
    let sample = |t: usize| -> f64 {
        let hertz = tones.iter().map(|tone| notes::frequency(*tone, 440.0, cents / 100.0));
        hertz.map(|hertz| 0.3 * (TAU * hertz / rate * t as f64).sin()).sum()
    };
    (0..(seconds * rate) as usize).map(|t| sample(t) as f32).collect()
}

fn rendered(settings: &Settings, rate: f64, input: &[f32]) -> Vec<f32> {
    filtered(&mut ToneFilter::new(rate, settings).unwrap(), input)
}

fn rms(signal: &[f32]) -> f64 {
    (signal.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / signal.len() as f64).sqrt()
}

#[test]
fn all_voices_are_equally_loud() {
    let rate = 48_000.0;
    for tone in [0, 12, 30, 47] {
        let input = chord(&[tone], 0.0, rate, 1.0);
        let level = |voice| rms(&rendered(&alone(&[tone], voice), rate, &input)[24_000..]);
        let soft = level(Voice::Soft);
        for voice in Voice::WAVEFORMS.into_iter().chain([Voice::SoftClean]) {
            let change = 20.0 * (level(voice) / soft).log10();
            assert!(change.abs() < 1.0, "{voice:?} {}: {change:+.2} dB", notes::name(tone));
        }
    }
}

#[test]
fn bass_and_lead_of_the_chip_have_waveforms_of_their_own() {
    let (rate, [bass, middle, lead]) = (48_000.0, [0, 16, 31]);
    let settings = Settings { duty: Duty::Eighth, ..alone(&[bass, middle, lead], Voice::Chip) };
    let mut filter = ToneFilter::new(rate, &settings).unwrap();
    filtered(&mut filter, &chord(&[bass, middle, lead], 0.0, rate, 1.0));
    let shown = filter.bands().bands;
    let expected = [(bass, Voice::Chip), (middle, Voice::Square), (lead, Duty::Eighth.voice())];
    for (tone, voice) in expected {
        assert_eq!(shown[tone].voice, voice, "{}", notes::name(tone));
    }
}

/// G#4, A4 and A#4 sound at once, all at A4. They must make a steady tone with the power of all three.
#[test]
fn notes_at_one_pitch_do_not_beat() {
    let targets: Targets = "A A B C C# D D# E F F# G A".parse().unwrap();
    let tones = [11, 12, 13];
    for rate in [44_100.0, 96_000.0] {
        let input = chord(&tones, 0.0, rate, 5.0);
        let settings = Settings {
            map: Map::Custom,
            targets,
            vibrato: 0.0,
            ring: 2.0,
            release: 500.0,
            ..alone(&tones, Voice::Sine)
        };
        let output = rendered(&settings, rate, &input);
        // Windows of 22 periods.
        let levels = output[4 * rate as usize..].chunks_exact((0.05 * rate) as usize).map(rms);
        let [least, most] =
            levels.fold([f64::MAX, 0.0], |[least, most], x| [least.min(x), most.max(x)]);
        assert!(most < 1.01 * least, "{rate}: {least} to {most}");
    }
}

/// If no note moves, the sound must be that of the default, bit for bit.
#[test]
fn a_map_that_moves_nothing_changes_no_bit() {
    let input = chord(&[12], 70.0, 48_000.0, 1.0);
    let settings = alone(&[12, 13, 14, 15], Voice::Saw);
    let expected = rendered(&settings, 48_000.0, &input);
    for map in [Map::Custom, Map::Snap] {
        assert_eq!(rendered(&Settings { map, ..settings }, 48_000.0, &input), expected);
    }
}
