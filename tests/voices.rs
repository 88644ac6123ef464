//! The voices against mathematics: harmonics, what is none, pitch, level and time.

use std::f64::consts::{PI, TAU};
use tone_filter::dsp::{Settings, ToneFilter, Voice, notes};

/// The voice alone, with nothing after it, whatever is loud or soft.
fn alone(voice: Voice) -> Settings {
    Settings { voice, mix: 100.0, tone: 20_000.0, ring: 0.2, release: 20.0, ..Settings::REFERENCE }
}

fn sine(hertz: f64, amplitude: f64, rate: f64, seconds: f64) -> Vec<f32> {
    let w = TAU * hertz / rate;
    (0..(seconds * rate) as usize).map(|t| (amplitude * (w * t as f64).sin()) as f32).collect()
}

fn filtered(settings: &Settings, rate: f64, input: &[f32]) -> Vec<f32> {
    let mut output = input.to_vec();
    ToneFilter::new(rate, settings).unwrap().process(&mut [&mut output]);
    output
}

/// Amplitudes of the first `count` harmonics of `hertz` in `signal`, and the effective value of all else.
fn harmonics(signal: &[f32], hertz: f64, rate: f64, count: usize) -> (Vec<f64>, f64) {
    let length = signal.len() as f64;
    // Blackman and Harris: what is next to a harmonic is 92 dB down.
    let window = |t: usize| {
        let x = TAU * t as f64 / length;
        0.35875 - 0.48829 * x.cos() + 0.14128 * (2.0 * x).cos() - 0.01168 * (3.0 * x).cos()
    };
    let mut rest: Vec<f64> = signal.iter().copied().map(f64::from).collect();
    let mut amplitudes = Vec::new();
    for n in 1..=count {
        let w = TAU * hertz * n as f64 / rate;
        let (mut re, mut im) = (0.0, 0.0);
        for (t, x) in signal.iter().enumerate() {
            let (sine, cosine) = (w * t as f64).sin_cos();
            let x = window(t) * f64::from(*x);
            (re, im) = (re + x * cosine, im + x * sine);
        }
        let scale = 2.0 / (0.35875 * length);
        let (re, im) = (scale * re, scale * im);
        amplitudes.push(re.hypot(im));
        for (t, rest) in rest.iter_mut().enumerate() {
            let (sine, cosine) = (w * t as f64).sin_cos();
            *rest -= re * cosine + im * sine;
        }
    }
    let mean = rest.iter().sum::<f64>() / length;
    let power = rest.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / length;
    (amplitudes, power.sqrt())
}

#[test]
fn probe() {
    for voice in
        [Voice::Sine, Voice::Square, Voice::Pulse25, Voice::Pulse12, Voice::Triangle, Voice::Saw]
    {
        for (tone, cents) in [(0, 0.0), (12, 0.0), (12, 30.0), (30, -30.0), (47, 0.0)] {
            let rate = 44_100.0;
            let f = notes::frequency(tone, 440.0, 0.0) * 2f64.powf(cents / 1200.0);
            let one = |voice| Settings {
                bands: tone_filter::dsp::BandMask::NONE.with(tone, true),
                ..alone(voice)
            };
            let output = filtered(&one(voice), rate, &sine(f, 0.3, rate, 2.0));
            let soft = filtered(&one(Voice::Soft), rate, &sine(f, 0.3, rate, 2.0));
            let rms = |x: &[f32]| {
                (x[44100..].iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / 44100.0).sqrt()
            };
            let (own, rest) = harmonics(&output[44_100..], f, rate, (0.5 * rate / f) as usize);
            println!(
                "{voice:?} {tone} {cents}: a1 {:.4} a2 {:.4} a3 {:.4} rest {:.1} dB, rms against soft {:.2} dB",
                own[0],
                own.get(1).unwrap_or(&0.0) / own[0],
                own.get(2).unwrap_or(&0.0) / own[0],
                20.0 * (rest / own[0] * 2f64.sqrt()).log10(),
                20.0 * (rms(&output) / rms(&soft)).log10()
            );
        }
    }
    let _ = PI;
}
