//! The oscillator voices with notes that have overtones, with chords and with vibrato: the output must be the textbook's waveform
//! at the pitch of the input, and little else.

use crate::spectrum::{harmonics, ideal, spectrum};
use std::f64::consts::{PI, TAU};
use tone_filter_dsp::{BandMask, BandRange, Settings, ToneFilter, Voice, notes};
use tone_filter_testkit::spectrum::Complex64;

const RATE: f64 = 44_100.0;

fn frequency(tone: usize) -> f64 {
    notes::frequency(tone, 440.0, 0.0)
}

/// Returns settings for the bands of `tones` and the voice alone: no listener, no auto level, no dry signal.
fn alone(tones: &[usize], voice: Voice) -> Settings {
    let bands = tones.iter().fold(BandMask::NONE, |bands, tone| bands.with(*tone, true));
    Settings {
        voice,
        bands,
        range: BandRange::Whole,
        mix: 100.0,
        tone: 20_000.0,
        ring: 0.2,
        release: 20.0,
        ..Settings::REFERENCE
    }
}

fn filtered(settings: &Settings, input: &[f32]) -> Vec<f32> {
    let mut output = input.to_vec();
    ToneFilter::new(RATE, settings).unwrap().process(&mut [&mut output]);
    output
}

fn db(ratio: f64) -> f64 {
    20.0 * ratio.log10()
}

/// Returns a note of six harmonics, whose amplitudes are in inverse proportion to their numbers.
fn note(hertz: f64, seconds: f64) -> Vec<f32> {
    let sample = |t: usize| -> f64 {
        let w = TAU * hertz / RATE * t as f64;
        (1..=6).map(|n| 0.2 / f64::from(n) * (f64::from(n) * w).sin()).sum()
    };
    (0..(seconds * RATE) as usize).map(|t| sample(t) as f32).collect()
}

/// Checks that the first 150 harmonics up to 0.4 of the rate are the textbook's within 1.5 dB, that missing harmonics are below
/// -50 dB, and everything else is below -60 dB.
fn check(place: &str, voice: Voice, hertz: f64, output: &[f32]) {
    let count = (0.5 * RATE / hertz) as usize;
    let (powers, rest) = harmonics(output, hertz, RATE, count);
    let rest = 10.0 * (rest / powers.iter().sum::<f64>()).log10();
    println!("{place}: {rest:.1} dB");
    for n in (1..=count.min(150)).take_while(|&n| n as f64 * hertz < 0.4 * RATE) {
        let (expected, level) = (ideal(voice, n), db((powers[n - 1] / powers[0]).sqrt()));
        if expected < 1e-6 {
            assert!(level < -50.0, "{place}: harmonic {n} at {level:.1} dB");
        } else {
            let error = level - db(expected);
            assert!(error.abs() < 1.5, "{place}: harmonic {n} is {error:+.2} dB off");
        }
    }
    assert!(rest < -60.0, "{place}: {rest:.1} dB are no harmonics");
}

const WAVEFORMS: [Voice; 5] =
    [Voice::Square, Voice::Pulse25, Voice::Pulse12, Voice::Triangle, Voice::Saw];

#[test]
fn a_note_with_overtones_has_the_harmonics_of_the_voice() {
    for tone in notes::by_pitch().step_by(4) {
        // By this time the longest ring has settled.
        let settled = if tone < notes::PUBLISHED { 0.5 } else { 2.0 };
        let input = note(frequency(tone), settled + 1.0);
        for voice in WAVEFORMS {
            let output = filtered(&alone(&[tone], voice), &input);
            let output = &output[(settled * RATE) as usize..];
            check(&format!("{voice:?} {}", notes::name(tone)), voice, frequency(tone), output);
        }
    }
}

#[test]
fn a_triad_of_sines_is_three_notes() {
    // Major and minor triads from A4 up, with what lies between the notes' harmonics.
    for root in [12, 19, 24] {
        for third in [3, 4] {
            let tones = [root, root + third, root + 7];
            let part = |t: usize| {
                let sine = |tone: &usize| (TAU * frequency(*tone) / RATE * t as f64).sin();
                tones.iter().map(sine).sum::<f64>()
            };
            let input: Vec<f32> = (0..132_300).map(|t| (0.15 * part(t)) as f32).collect();
            for voice in [Voice::Sine, Voice::Square] {
                let output = filtered(&alone(&tones, voice), &input);
                let start = output.len() - 65_536;
                let mut bins: Vec<f64> =
                    spectrum(&output[start..]).iter().map(Complex64::norm_sqr).collect();
                bins[..5].fill(0.0);
                let all: f64 = bins.iter().sum();
                for hertz in tones.map(frequency) {
                    for n in 1..=(0.5 * RATE / hertz) as usize {
                        let middle = (n as f64 * hertz * 65_536.0 / RATE).round() as usize;
                        let last = (middle + 4).min(bins.len() - 1);
                        bins[middle - 4..=last].fill(0.0);
                    }
                }
                let rest = 10.0 * (bins.iter().sum::<f64>() / all).log10();
                assert!(rest < -50.0, "{voice:?} {root} + {third}: {rest:.1} dB");
            }
        }
    }
}

/// Returns the instantaneous frequency of `signal` in cents from `hertz`, each millisecond: by the turn of the fundamental's
/// phase in 5 ms. Hann windows remove the overtones.
fn cents(signal: &[f32], hertz: f64) -> Vec<f64> {
    let length = (8.0 * RATE / hertz) as usize;
    let phases: Vec<f64> = (0..signal.len() - length)
        .step_by(44)
        .map(|start| {
            let sum: Complex64 = (0..length)
                .map(|t| {
                    let window = 1.0 - (TAU * (t as f64 + 0.5) / length as f64).cos();
                    let angle = -TAU * hertz * (start + t) as f64 / RATE;
                    Complex64::from_polar(window * f64::from(signal[start + t]), angle)
                })
                .sum();
            sum.arg()
        })
        .collect();
    let turn = |pair: &[f64]| (pair[5] - pair[0] + PI).rem_euclid(TAU) - PI;
    let turned = phases.windows(6).map(turn);
    turned.map(|turn| 1200.0 * (1.0 + turn / (TAU * 220.0 / RATE) / hertz).log2()).collect()
}

#[test]
fn vibrato_is_followed_after_the_delay_of_the_loop() {
    // The resonator delays the modulation by its time constant, the loop by the rest.
    let ring = 0.05f32;
    let delay = f64::from(ring) / 1000f64.ln() + DELAY;
    for tone in [12, 24] {
        let hertz = frequency(tone);
        let pitch = |time: f64| 40.0 * (TAU * 6.0 * time).sin();
        let mut phase = 0.0;
        let input: Vec<f32> = (0..88_200)
            .map(|t| {
                phase += TAU * hertz / RATE * (pitch(f64::from(t) / RATE) / 1200.0).exp2();
                (0.3 * phase.sin()) as f32
            })
            .collect();
        let output = filtered(&Settings { ring, ..alone(&[tone], Voice::Sine) }, &input);
        let late = (delay * 1000.0 * 44.1 / 44.0).round() as usize;
        let (played, heard) = (cents(&input, hertz), cents(&output, hertz));
        let pairs = played[500..1400].iter().zip(&heard[500 + late..]);
        let error = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        println!("{}: {error:.1} cents", notes::name(tone));
        assert!(error < 5.0, "{}: {error:.1} cents off", notes::name(tone));
    }
}

/// Delay of the loop in seconds, including the averaging of phase measurements within a block.
const DELAY: f64 = 0.022;

#[test]
fn the_clean_soft_voice_has_the_harmonics_of_soft_and_no_aliases() {
    // At the lowest and the highest of these notes, the aliases of Soft are at -40 and -17 dB.
    for (tone, drive) in [(0, 40.0), (0, 1.0), (12, 7.0), (30, 400.0), (47, 40.0), (47, 400.0)] {
        let hertz = frequency(tone);
        let w = TAU * hertz / RATE;
        let sine: Vec<f32> =
            (0..88_200).map(|t| (0.25 * (w * f64::from(t)).sin()) as f32).collect();
        let settings = Settings { drive, ..alone(&[tone], Voice::SoftClean) };
        let output = filtered(&settings, &sine);
        let count = (0.5 * RATE / hertz) as usize;
        let (powers, rest) = harmonics(&output[44_100..], hertz, RATE, count);
        let all: f64 = powers.iter().sum();
        let place = format!("{} at a drive of {drive}", notes::name(tone));
        let aliases = 10.0 * (rest / all).log10();
        println!("{place}: aliases {aliases:.1} dB");
        assert!(aliases < -75.0, "{place}: {aliases:.1} dB");
        // The integral of the clipped sine over a quarter of a period, by the midpoint rule.
        let harmonic = |n: usize| -> f64 {
            let part = |step: usize| {
                let t = PI / 2.0 * (step as f64 + 0.5) / 200_000.0;
                let driven = 2f64.sqrt() * f64::from(drive) * t.cos();
                driven / (1.0 + driven) * (n as f64 * t).cos()
            };
            (0..200_000).map(part).sum()
        };
        let first = harmonic(1);
        for n in (3..=count.min(9)).step_by(2) {
            let expected = 20.0 * (harmonic(n) / first).abs().log10();
            let own = 10.0 * (powers[n - 1] / powers[0]).log10();
            // There is a table for each factor of 2.7 of the drive, and drives between two tables are interpolated.
            assert!(
                expected < -50.0 || (own - expected).abs() < 1.7,
                "{place}, {n}: {own:.1}, {expected:.1} dB"
            );
        }
    }
}

#[test]
fn only_the_strongest_notes_sound() {
    let tones = [3, 15, 27];
    let input: Vec<f32> = (0..66_150)
        .map(|t| {
            let sum = |(index, &tone): (usize, &usize)| {
                let amplitude = 0.1 * 2f64.powi(index as i32);
                amplitude * (TAU * frequency(tone) * t as f64 / RATE).sin()
            };
            tones.iter().enumerate().map(sum).sum::<f64>() as f32
        })
        .collect();
    for voice in [Voice::Soft, Voice::Sine] {
        let settings = Settings {
            voice,
            voices: 2.0,
            drive: 1.0,
            mix: 100.0,
            ceiling: 0.0,
            ..Settings::REFERENCE
        };
        let output = filtered(&settings, &input);
        let bins = spectrum(&output[22_050..]);
        let level = |tone: usize| bins[frequency(tone).round() as usize].norm();
        assert!(db(level(3) / level(27)) < -40.0, "{voice:?}: the weakest still sounds");
        assert!(db(level(15) / level(27)) > -12.0, "{voice:?}: the second is gone");
    }
}
