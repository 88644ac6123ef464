//! Map, glide and vibrato against mathematics: measures the sounding frequency by the phase of its fundamental.

use std::f64::consts::TAU;
use tone_filter_dsp::{
    BandMask, BandRange, KeyEvent, Keys, Map, PitchClass, Scale, Settings, Stereo, Targets,
    ToneFilter, Voice, notes,
};

const RATES: [f64; 2] = [44_100.0, 96_000.0];

/// Returns settings for some bands and the voice alone: no listener, no auto level, no dry signal.
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

fn frequency(tone: usize, semitones: f64) -> f64 {
    notes::frequency(tone, 440.0, semitones)
}

/// Returns a sine whose frequency in Hz is `hertz` of the time in seconds.
fn tone(hertz: impl Fn(f64) -> f64, rate: f64, seconds: f64) -> Vec<f32> {
    let mut phase = 0.0f64;
    let sample = |t| {
        phase += TAU * hertz(t as f64 / rate) / rate;
        (0.3 * phase.sin()) as f32
    };
    (0..(seconds * rate) as usize).map(sample).collect()
}

fn filtered(settings: &Settings, rate: f64, input: &[f32]) -> Vec<f32> {
    let mut output = input.to_vec();
    ToneFilter::new(rate, settings).unwrap().process(&mut [&mut output]);
    output
}

/// Returns amplitude and phase of `hertz` in `signal`, through a Hann window.
fn wave(signal: &[f32], hertz: f64, rate: f64) -> (f64, f64) {
    let count = signal.len() as f64;
    let (mut re, mut im) = (0.0, 0.0);
    for (t, x) in signal.iter().enumerate() {
        let window = 1.0 - (TAU * (t as f64 + 0.5) / count).cos();
        let (sin, cos) = (TAU * hertz * t as f64 / rate).sin_cos();
        re += window * f64::from(*x) * cos;
        im -= window * f64::from(*x) * sin;
    }
    (re.hypot(im) * 2.0 / count, im.atan2(re))
}

/// Returns the frequency near `hertz` in `signal`, by the phases of two overlapping parts.
fn measured(signal: &[f32], hertz: f64, rate: f64) -> f64 {
    let half = signal.len() / 2;
    let hop = (rate / hertz / 4.0) as usize;
    let (_, first) = wave(&signal[..half], hertz, rate);
    let (_, second) = wave(&signal[hop..half + hop], hertz, rate);
    // The turn of the phase beyond that of the frequency `hertz`.
    let turn = second - first - TAU * hertz * hop as f64 / rate;
    let turn = turn - TAU * (turn / TAU).round();
    hertz + turn / TAU * rate / hop as f64
}

fn cents(a: f64, b: f64) -> f64 {
    1200.0 * (a / b).log2()
}

const OSCILLATORS: [Voice; 8] = [
    Voice::Sine,
    Voice::Square,
    Voice::Pulse25,
    Voice::Pulse12,
    Voice::Triangle,
    Voice::Saw,
    Voice::Chip,
    Voice::SoftClean,
];

/// A note 20 cents sharp must sound 20 cents above its target, with every voice.
#[test]
fn every_voice_sounds_at_the_target() {
    let targets: Targets = "A A# B C C# D D# E F F# G A#".parse().unwrap();
    for rate in RATES {
        // From G#4 to A#4.
        let input = tone(|_| frequency(11, 0.2), rate, 1.5);
        for voice in OSCILLATORS {
            let settings = Settings { map: Map::Custom, targets, ..alone(&[11], voice) };
            let output = filtered(&settings, rate, &input);
            let expected = frequency(13, 0.2);
            let found = measured(&output[rate as usize..], expected, rate);
            assert!(
                cents(found, expected).abs() < 0.5,
                "{voice:?} {rate}: {found}, not {expected}"
            );
        }
        let soft = Settings { map: Map::Custom, targets, ..alone(&[11], Voice::Soft) };
        let mute = Settings { map: Map::Mute, ..soft };
        assert_eq!(filtered(&soft, rate, &input), filtered(&mute, rate, &input));
    }
}

#[test]
fn notes_go_to_the_scale_of_two_the_lower() {
    let snapped = |scale, tone: usize| {
        let settings = Settings {
            map: Map::Snap,
            scale,
            root: PitchClass::new(3),
            ..alone(&[tone], Voice::Sine)
        };
        assert!(settings.sounding_bands().contains(tone));
        settings.offsets(0)[tone]
    };
    // C#4 lies between C and D and moves to C; D is in the scale. In C minor pentatonic, D# is the note nearest to E.
    assert_eq!([snapped(Scale::Major, 4), snapped(Scale::Major, 5)], [-1, 0]);
    assert_eq!(snapped(Scale::MinorPentatonic, 7), -1);
    assert_eq!(snapped(Scale::MajorPentatonic, 9), 1, "F# to G");
    for rate in RATES {
        let settings = Settings {
            map: Map::Snap,
            scale: Scale::Major,
            root: PitchClass::new(3),
            ..alone(&[16], Voice::Triangle)
        };
        let output = filtered(&settings, rate, &tone(|_| frequency(16, -0.1), rate, 1.5));
        let found = measured(&output[rate as usize..], frequency(15, -0.1), rate);
        assert!(cents(found, frequency(15, -0.1)).abs() < 0.5, "{found}");
    }
}

#[test]
fn notes_go_to_the_keys_that_are_held() {
    // The note is A4. The key is F5, or F2 in any octave, of which F4 is nearest.
    for (keys, key, expected) in [(Keys::Hold, 77, 8.0), (Keys::HoldAny, 41, -4.0)] {
        for rate in RATES {
            let settings = Settings { map: Map::Snap, keys, ..alone(&[12], Voice::Saw) };
            let mut filter = ToneFilter::new(rate, &settings).unwrap();
            let mut output = tone(|_| 440.0, rate, 1.5);
            let mut silent = output[..4096].to_vec();
            filter.process(&mut [&mut silent]);
            assert!(silent.iter().all(|x| *x == 0.0), "no key");
            filter.play(KeyEvent::Key(key, 1.0));
            filter.process(&mut [&mut output]);
            let expected = frequency(12, expected);
            let found = measured(&output[rate as usize..], expected, rate);
            assert!(cents(found, expected).abs() < 0.5, "{keys:?} {rate}: {found}");
        }
    }
}

/// G#4, A4 and A#4 sound at once, all at A4: as a steady tone with the power of all three.
#[test]
fn notes_at_one_pitch_do_not_beat() {
    let targets: Targets = "A A B C C# D D# E F F# G A".parse().unwrap();
    for rate in RATES {
        let parts = [11, 12, 13].map(|band| tone(|_| frequency(band, 0.0), rate, 5.0));
        let input: Vec<f32> =
            (0..parts[0].len()).map(|t| parts.iter().map(|p| p[t]).sum()).collect();
        let settings = Settings {
            map: Map::Custom,
            targets,
            vibrato: 0.0,
            ring: 2.0,
            release: 500.0,
            ..alone(&[11, 12, 13], Voice::Sine)
        };
        let output = filtered(&settings, rate, &input);
        let window = (0.02 * rate) as usize;
        let levels: Vec<f64> = output[4 * rate as usize..]
            .chunks_exact(window)
            .map(|part| wave(part, 440.0, rate).0)
            .collect();
        let (least, most) =
            levels.iter().fold((f64::MAX, 0f64), |(a, b), x| (a.min(*x), b.max(*x)));
        assert!(most < 1.01 * least, "{rate}: {least} to {most}");
        let found = measured(&output[4 * rate as usize..], 440.0, rate);
        assert!(cents(found, 440.0).abs() < 0.1, "{rate}: {found}");
    }
}

/// Glides from A4 to E5 in 400 ms, which must be a straight line in semitones, and measures after 100, 200 and 300 ms.
#[test]
fn a_glide_is_linear_in_semitones() {
    for rate in RATES {
        let input = tone(|t| frequency(if t < 1.0 { 12 } else { 19 }, 0.0), rate, 2.5);
        let steady = Settings { vibrato: 0.0, ..alone(&[12, 19], Voice::Sine) };
        let settings = Settings { glide: 400.0, ..steady };
        let output = filtered(&settings, rate, &input);
        let place = |seconds: f64| {
            let part = |at: f64| (at * rate) as usize;
            let output = &output[part(seconds - 0.02)..part(seconds + 0.02)];
            // The frequency by interpolated zero crossings.
            let zeros: Vec<f64> = (1..output.len())
                .filter(|&t| output[t - 1] < 0.0 && output[t] >= 0.0)
                .map(|t| t as f64 - f64::from(output[t] / (output[t] - output[t - 1])))
                .collect();
            let periods = (zeros.len() - 1) as f64;
            let hertz = periods * rate / (zeros[zeros.len() - 1] - zeros[0]);
            12.0 * (hertz / 440.0).log2()
        };
        let at = [1.1, 1.2, 1.3].map(place);
        for pair in at.windows(2) {
            assert!((pair[1] - pair[0] - 7.0 / 4.0).abs() < 0.1, "{rate}: {at:?}");
        }
        // The glide begins with the note, some milliseconds after the input.
        assert!((0.7..1.8).contains(&at[0]), "{rate}: {at:?}");
        assert!((place(1.6) - 7.0).abs() < 0.01 && place(0.9).abs() < 0.01);
    }
}

#[test]
fn vibrato_is_scaled() {
    for rate in RATES {
        let input = tone(|t| frequency(24, 0.3 * (TAU * 5.0 * t).sin()), rate, 2.0);
        let spread = |vibrato: f32| {
            let settings = Settings { vibrato, ..alone(&[24], Voice::Sine) };
            let output = filtered(&settings, rate, &input);
            let part = (0.025 * rate) as usize;
            let pitches: Vec<f64> = output[rate as usize..]
                .chunks_exact(part)
                .map(|part| cents(measured(part, 880.0, rate), 880.0))
                .collect();
            pitches.iter().fold(0f64, |most, x| most.max(x.abs()))
        };
        let [none, half, all] = [0.0, 50.0, 100.0].map(spread);
        assert!(none < 0.1, "{rate}: {none}");
        assert!(all > 15.0 && (half / all - 0.5).abs() < 0.05, "{rate}: {half} of {all}");
    }
}

/// Where no note moves, the sound must be that of the default, bit for bit.
#[test]
fn what_moves_nothing_changes_no_bit() {
    let input = tone(|t| frequency(12, 3.0 * t), 48_000.0, 1.0);
    let settings = Settings { stereo: Stereo::Mono, ..alone(&[12, 13, 14, 15], Voice::Saw) };
    let expected = filtered(&settings, 48_000.0, &input);
    let same = Settings { map: Map::Custom, ..settings };
    assert_eq!(filtered(&same, 48_000.0, &input), expected);
    let chromatic = Settings { map: Map::Snap, ..settings };
    assert_eq!(filtered(&chromatic, 48_000.0, &input), expected);
}

/// While the map changes to and fro, neighbouring samples of a sine must not differ by more than its frequency allows.
#[test]
fn a_map_that_changes_does_not_click() {
    for rate in RATES {
        let settings = alone(&[12], Voice::Sine);
        let up = "A# A# B C C# D D# E F F# G G#".parse().unwrap();
        let mut filter = ToneFilter::new(rate, &settings).unwrap();
        let mut output = tone(|_| 440.0, rate, 2.0);
        let part = output.len() / 20;
        for (index, part) in output.chunks_mut(part).enumerate() {
            let map = if index % 2 == 0 { Map::Mute } else { Map::Custom };
            filter.set_settings(&Settings { map, targets: up, ..settings }).unwrap();
            filter.process(&mut [part]);
        }
        let settled = &output[output.len() / 2..];
        let peak = settled.iter().fold(0f32, |peak, x| peak.max(x.abs()));
        let step = settled.windows(2).fold(0f32, |step, x| step.max((x[1] - x[0]).abs()));
        let steepest = peak * (TAU * frequency(13, 0.0) / rate) as f32;
        assert!(step < 1.05 * steepest, "{rate}: {step}, not {steepest}");
    }
}
