//! Test signals and measurements.

use std::f64::consts::TAU;

/// Returns a generator of white noise, uniform in -1..1. Equal seeds give equal noise.
pub fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        // xorshift64* by Vigna.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Returns `seconds` of white noise with a peak of -6 dB full scale.
pub fn white(seconds: f64, rate: f64) -> Vec<f32> {
    let mut noise = noise(1);
    (0..(seconds * rate) as usize).map(|_| (0.5 * noise()) as f32).collect()
}

/// Returns `seconds` of a sine of `frequency` Hz and `amplitude`.
pub fn sine(frequency: f64, amplitude: f64, seconds: f64, rate: f64) -> Vec<f32> {
    (0..(seconds * rate) as usize)
        .map(|t| (amplitude * (TAU * frequency * t as f64 / rate).sin()) as f32)
        .collect()
}

/// Returns `seconds` of a tone whose pitch changes. Partial `n` of its `partials` has the amplitude `0.2 / n`, or 0 above 0.45
/// times the sample rate. `pitch` maps the time in seconds to a fractional MIDI note.
pub fn bent(partials: u32, seconds: f64, rate: f64, pitch: impl Fn(f64) -> f64) -> Vec<f32> {
    let mut phase = 0.0;
    (0..(seconds * rate) as usize)
        .map(|t| {
            let f = 440.0 * ((pitch(t as f64 / rate) - 69.0) / 12.0).exp2();
            phase += TAU * f / rate;
            let partials = (1..=partials).map(f64::from).filter(|n| n * f < 0.45 * rate);
            (0.2 * partials.map(|n| (n * phase).sin() / n).sum::<f64>()) as f32
        })
        .collect()
}

/// Returns a `pitch` for [`bent`]: a vibrato at 6 Hz, up to 40 cents above and below `note`.
pub fn vibrato(note: f64) -> impl Fn(f64) -> f64 + Copy {
    move |t| note + 0.4 * (TAU * 6.0 * t).sin()
}

/// Returns a `pitch` for [`bent`]: `note`, then from 0.6 s on a glissando up four semitones, at six semitones per second.
pub fn glissando(note: f64) -> impl Fn(f64) -> f64 + Copy {
    move |t| note + (6.0 * (t - 0.6)).clamp(0.0, 4.0)
}

/// Returns `seconds` of a chord of five notes (A3 C#4 E4 A4 C#5) with two partials each, in white noise.
pub fn noisy_chord(seconds: f64, rate: f64) -> Vec<f32> {
    let mut noise = noise(2);
    let notes = [0.0, 4.0, 7.0, 12.0, 16.0].map(|n: f64| 220.0 * (n / 12.0).exp2());
    (0..(seconds * rate) as usize)
        .map(|t| {
            let t = t as f64 / rate;
            let tone = |f: f64| (TAU * f * t).sin() + 0.5 * (TAU * 2.0 * f * t).sin();
            (0.08 * notes.map(tone).iter().sum::<f64>() + 0.05 * noise()) as f32
        })
        .collect()
}

/// Returns the signal-to-noise ratio of `signal` in dB. The noise is the difference between `signal` and `truth`.
pub fn snr(truth: &[f64], signal: &[f32]) -> f64 {
    assert_eq!(truth.len(), signal.len());
    assert!(signal.iter().all(|s| s.is_finite()));
    let power = truth.iter().map(|t| t * t).sum::<f64>();
    let error = truth.iter().zip(signal).map(|(t, &s)| (t - f64::from(s)).powi(2)).sum::<f64>();
    assert!(power > 0.0, "there must be a signal to compare with");
    10.0 * (power / error).log10()
}
