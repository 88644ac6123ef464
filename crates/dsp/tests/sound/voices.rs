//! The voices against theory: harmonics and other components, loudness, and notes at one pitch.

use crate::filtered;
use std::f64::consts::{FRAC_PI_2, PI, TAU};
use tone_filter_dsp::{BandMask, BandRange, Map, Settings, Targets, ToneFilter, Voice, notes};
use tone_filter_testkit::{
    spectrum::{Complex64, plan},
    sweep,
};

/// Returns settings for the bands of `tones` and the voice alone: no listener, no auto level, no dry signal.
fn alone(tones: &[usize], voice: Voice, octave: f32) -> Settings {
    Settings {
        voice,
        octave,
        range: BandRange::Whole,
        bands: tones.iter().fold(BandMask::NONE, |mask, tone| mask.with(*tone, true)),
        mix: 100.0,
        tone: 20_000.0,
        ring: 0.2,
        release: 20.0,
        ..Settings::REFERENCE
    }
}

fn frequency(tone: usize, cents: f64) -> f64 {
    notes::frequency(tone, 440.0, cents / 100.0)
}

/// Returns notes with this number of `partials`, whose amplitudes are in inverse proportion to their numbers.
fn chord(hertz: &[f64], partials: u32, amplitude: f64, rate: f64, seconds: f64) -> Vec<f32> {
    let sample = |t: usize| -> f64 {
        let note = |hertz: &f64| {
            let w = TAU * hertz / rate * t as f64;
            let partials = (1..=partials).map(f64::from);
            amplitude * partials.map(|n| (n * w).sin() / n).sum::<f64>()
        };
        hertz.iter().map(note).sum()
    };
    (0..(seconds * rate) as usize).map(|t| sample(t) as f32).collect()
}

fn rendered(settings: &Settings, rate: f64, input: &[f32]) -> Vec<f32> {
    filtered(&mut ToneFilter::new(rate, settings).unwrap(), input)
}

fn rms(signal: &[f32]) -> f64 {
    (signal.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / signal.len() as f64).sqrt()
}

fn db(ratio: f64) -> f64 {
    20.0 * ratio.log10()
}

/// Returns the spectrum of `signal` through the four-term Blackman-Harris window, whose side lobes are 92 dB down.
fn spectrum(signal: &[f32]) -> Vec<Complex64> {
    let fft = plan(signal.len());
    let (mut input, mut output) = (fft.make_input_vec(), fft.make_output_vec());
    let terms = [0.358_75, -0.488_29, 0.141_28, -0.011_68];
    for (t, (to, from)) in input.iter_mut().zip(signal).enumerate() {
        let x = TAU * t as f64 / signal.len() as f64;
        let window: f64 = (0..).zip(terms).map(|(n, term)| term * (f64::from(n) * x).cos()).sum();
        *to = window * f64::from(*from);
    }
    fft.process(&mut input, &mut output).unwrap();
    output
}

/// Bins of a harmonic's main lobe on each side of its middle.
const LOBE: usize = 4;

/// Returns the powers of the harmonics of each of `notes` up to half the sample rate, and the power of everything else except DC.
fn harmonics(signal: &[f32], notes: &[f64], rate: f64) -> (Vec<f64>, f64) {
    let mut bins: Vec<f64> = spectrum(signal).iter().map(Complex64::norm_sqr).collect();
    bins[..=LOBE].fill(0.0);
    let mut powers = Vec::new();
    for hertz in notes {
        for n in 1..=(0.5 * rate / hertz) as usize {
            let middle = (n as f64 * hertz * signal.len() as f64 / rate).round() as usize;
            let last = (middle + LOBE).min(bins.len() - 1);
            let lobe = &mut bins[middle - LOBE..=last];
            powers.push(lobe.iter().sum());
            lobe.fill(0.0);
        }
    }
    (powers, bins.iter().sum())
}

/// Returns the amplitude of the `n`th harmonic relative to the first, by the textbook and independently of the filter's code.
fn ideal(voice: Voice, n: usize) -> f64 {
    let own = |n: f64| match voice {
        Voice::Sine if n == 1.0 => 1.0,
        Voice::Sine => 0.0,
        Voice::Square => (n * FRAC_PI_2).sin() / n,
        Voice::Pulse25 => (n * PI / 4.0).sin() / n,
        Voice::Pulse12 => (n * PI / 8.0).sin() / n,
        Voice::Triangle => (n * FRAC_PI_2).sin().powi(2) / (n * n),
        Voice::Saw => 1.0 / n,
        _ => unreachable!("it has more than one waveform"),
    };
    (own(n as f64) / own(1.0)).abs()
}

/// A note and the voice that plays it.
#[derive(Debug, Clone, Copy)]
struct Case {
    voice: Voice,
    tone: usize,
    /// Distance of the note from the band.
    cents: f64,
    octave: f32,
    rate: f64,
    partials: u32,
}

impl Case {
    /// Checks that the harmonics up to 0.4 of the sample rate match the textbook, and that there is little else. A note with
    /// overtones may disturb its oscillator a little.
    fn check(self) {
        let Self { voice, tone, cents, octave, rate, partials } = self;
        let pure = partials == 1;
        let (most, within, missing, beside) =
            if pure { (300, 1.0, -70.0, -70.0) } else { (150, 1.5, -50.0, -60.0) };
        // By this time the longest ring has settled.
        let settled = if tone < notes::PUBLISHED { 0.5 } else { 2.0 };
        let amplitude = if pure { 0.3 } else { 0.2 };
        let input = chord(&[frequency(tone, cents)], partials, amplitude, rate, settled + 1.0);
        let output = rendered(&alone(&[tone], voice, octave), rate, &input);
        let hertz = frequency(tone, cents) * f64::from(octave).exp2();
        let (powers, rest) = harmonics(&output[(settled * rate) as usize..], &[hertz], rate);
        for n in (1..=powers.len().min(most)).take_while(|&n| n as f64 * hertz < 0.4 * rate) {
            let (expected, level) = (ideal(voice, n), db((powers[n - 1] / powers[0]).sqrt()));
            if expected < 1e-6 {
                assert!(level < missing, "{self:?}: harmonic {n} at {level:.1} dB");
            } else {
                let error = level - db(expected);
                assert!(error.abs() < within, "{self:?}: harmonic {n} is {error:+.2} dB off");
            }
        }
        let own = if pure { powers[0] } else { powers.iter().sum() };
        let rest = db((rest / own).sqrt());
        assert!(rest < beside, "{self:?}: {rest:.1} dB are no harmonics");
    }
}

#[test]
fn every_waveform_has_its_harmonics_and_little_else() {
    let mut cases = Vec::new();
    for voice in Voice::WAVEFORMS {
        let mut case = |tone: usize, cents: f64, octave: f32, rate: f64| {
            cases.push(Case { voice, tone, cents, octave, rate, partials: 1 });
        };
        // A period at 48 kHz has as many samples as one 1.5 semitones lower at 44.1 kHz, so a few tones suffice.
        for (rate, tones) in [(44_100.0, notes::TONES), (48_000.0, 0), (96_000.0, notes::TONES)] {
            (0..tones).for_each(|tone| case(tone, 0.0, (tone % 2) as f32, rate));
            for tone in [0, 11, 24, 35, 47] {
                case(tone, 0.0, ((tone + 1) % 2) as f32, rate);
                case(tone, 30.0, 0.0, rate);
                case(tone, -30.0, 1.0, rate);
            }
        }
        case(24, 0.0, -1.0, 48_000.0);
        case(24, 0.0, -2.0, 48_000.0);
        for tone in notes::by_pitch().step_by(4).filter(|_| voice != Voice::Sine) {
            let (cents, octave, rate) = (0.0, 0.0, 44_100.0);
            cases.push(Case { voice, tone, cents, octave, rate, partials: 6 });
        }
    }
    sweep::part(50, cases).into_iter().for_each(Case::check);
}

#[test]
fn a_triad_of_sines_is_three_notes() {
    let rate = 44_100.0;
    // Measures the sound between the notes' harmonics, in major and minor triads from A4 up.
    for root in sweep::part(3, [12, 19, 24]) {
        for third in [3, 4] {
            let tones = [root, root + third, root + 7];
            let pitches = tones.map(|tone| frequency(tone, 0.0));
            let input = chord(&pitches, 1, 0.15, rate, 3.0);
            for voice in [Voice::Sine, Voice::Square] {
                let output = rendered(&alone(&tones, voice, 0.0), rate, &input);
                let (powers, rest) = harmonics(&output[output.len() - 65_536..], &pitches, rate);
                let rest = 10.0 * (rest / (powers.iter().sum::<f64>() + rest)).log10();
                assert!(rest < -50.0, "{voice:?} {root} + {third}: {rest:.1} dB");
            }
        }
    }
}

#[test]
fn all_voices_are_equally_loud() {
    let rate = 48_000.0;
    for tone in [0, 12, 30, 47] {
        let input = chord(&[frequency(tone, 0.0)], 1, 0.3, rate, 1.0);
        let level = |voice| rms(&rendered(&alone(&[tone], voice, 0.0), rate, &input)[24_000..]);
        let soft = level(Voice::Soft);
        for voice in Voice::WAVEFORMS.into_iter().chain([Voice::SoftClean]) {
            let change = db(level(voice) / soft);
            assert!(change.abs() < 1.0, "{voice:?} {}: {change:+.2} dB", notes::name(tone));
        }
    }
}

/// G#4, A4 and A#4 sound at once, all at A4. They must make a steady tone with the power of all three.
#[test]
fn notes_at_one_pitch_do_not_beat() {
    let targets: Targets = "A A B C C# D D# E F F# G A".parse().unwrap();
    let tones = [11, 12, 13];
    for rate in [44_100.0, 96_000.0] {
        let input = chord(&tones.map(|tone| frequency(tone, 0.0)), 1, 0.3, rate, 5.0);
        let settings = Settings {
            map: Map::Custom,
            targets,
            vibrato: 0.0,
            ring: 2.0,
            release: 500.0,
            ..alone(&tones, Voice::Sine, 0.0)
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
    let input = chord(&[frequency(12, 70.0)], 1, 0.3, 48_000.0, 1.0);
    let settings = alone(&[12, 13, 14, 15], Voice::Saw, 0.0);
    let expected = rendered(&settings, 48_000.0, &input);
    for map in [Map::Custom, Map::Snap] {
        assert_eq!(rendered(&Settings { map, ..settings }, 48_000.0, &input), expected);
    }
}
