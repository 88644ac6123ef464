//! Stereo `place`: one bank, whose notes sound at their stereo positions in the input.

use std::f64::consts::TAU;
use tone_filter_dsp::{Kernel, Settings, Stereo, ToneFilter, Voice, notes};

const RATE: f64 = 44_100.0;

/// Returns the default sound, fully wet and without auto level.
fn settings(voice: Voice, stereo: Stereo) -> Settings {
    Settings { voice, stereo, mix: 100.0, auto: false, tone: 20_000.0, ..Settings::default() }
}

/// Returns notes of four overtones; `notes` has the tone of each, and its amplitudes left and right.
fn chord(notes: &[(usize, [f64; 2])], seconds: f64) -> [Vec<f32>; 2] {
    [0, 1].map(|channel| {
        let sample = |t: usize| -> f64 {
            let note = |(tone, amplitudes): &(usize, [f64; 2])| {
                let w = TAU * notes::frequency(*tone, 440.0, 0.0) / RATE * t as f64;
                let sum: f64 = (1..=4).map(|n| (f64::from(n) * w).sin() / f64::from(n * n)).sum();
                amplitudes[channel] * sum
            };
            notes.iter().map(note).sum()
        };
        (0..(seconds * RATE) as usize).map(|t| sample(t) as f32).collect()
    })
}

fn filtered(settings: &Settings, kernel: Kernel, input: &[Vec<f32>; 2]) -> [Vec<f32>; 2] {
    let mut output = input.clone();
    let mut channels = output.each_mut().map(Vec::as_mut_slice);
    ToneFilter::new(RATE, settings).unwrap().with_kernel(kernel).process(&mut channels);
    output
}

/// Returns the level in dB of the fundamental of `tone` in a channel, from 1 s to 2 s.
fn level(channel: &[f32], tone: usize) -> f64 {
    let w = TAU * notes::frequency(tone, 440.0, 0.0) / RATE;
    let part = channel[44_100..88_200].iter().enumerate();
    let (re, im) = part.fold((0.0, 0.0), |(re, im), (t, x)| {
        let hann = 1.0 - (TAU * t as f64 / 44_100.0).cos();
        let (sin, cos) = (w * t as f64).sin_cos();
        (re + hann * f64::from(*x) * cos, im + hann * f64::from(*x) * sin)
    });
    20.0 * (f64::hypot(re, im) / 44_100.0).log10()
}

#[test]
fn notes_keep_their_place_with_every_kernel() {
    let (middle, left, right) = (3, 16, 24);
    let input = chord(&[(middle, [0.1, 0.1]), (left, [0.1, 0.005]), (right, [0.05, 0.1])], 2.0);
    for voice in [Voice::Soft, Voice::Square, Voice::SoftClean] {
        for kernel in Kernel::available() {
            let output = filtered(&settings(voice, Stereo::Place), kernel, &input);
            let sides = |tone: usize| {
                let [own, wet] =
                    [&input, &output].map(|sound| level(&sound[0], tone) - level(&sound[1], tone));
                println!("{kernel:?} {voice:?} {}: {own:.1}, now {wet:.1} dB", notes::name(tone));
                (own, wet)
            };
            let (own, wet) = sides(middle);
            assert!((own - wet).abs() < 1.0, "{kernel:?} {voice:?}: {own:.1}, now {wet:.1} dB");
            let (own, wet) = sides(right);
            assert!((own - wet).abs() < 1.5, "{kernel:?} {voice:?}: {own:.1}, now {wet:.1} dB");
            let (own, wet) = sides(left);
            assert!(own > 25.0 && wet > 15.0, "{kernel:?} {voice:?}: {own:.1}, now {wet:.1} dB");
            let mono = filtered(&settings(voice, Stereo::Mono), kernel, &input);
            assert!(mono[0] == mono[1] && output[0] != output[1]);
        }
    }
}

#[test]
fn equal_channels_stay_equal_and_sound_like_mono() {
    let input = chord(&[(3, [0.1; 2]), (15, [0.1; 2])], 2.0);
    for voice in [Voice::Soft, Voice::Saw] {
        let kernel = Kernel::best();
        let [left, right] = filtered(&settings(voice, Stereo::Place), kernel, &input);
        let [mono, _] = filtered(&settings(voice, Stereo::Mono), kernel, &input);
        assert!(left == right, "{voice:?}");
        let error = left.iter().zip(&mono).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
        let power = mono.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
        let error = 10.0 * (error / power).log10();
        assert!(error < -90.0, "{voice:?}: {error:.1} dB");
    }
}
