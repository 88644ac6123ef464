//! Spectra of waveforms: measured, and by the textbook.

use std::f64::consts::{FRAC_PI_2, PI, TAU};
use tone_filter_dsp::Voice;
use tone_filter_testkit::spectrum::{Complex64, plan};

/// Returns the spectrum of `signal` through the four-term Blackman-Harris window, whose side lobes are 92 dB down.
pub fn spectrum(signal: &[f32]) -> Vec<Complex64> {
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

/// Returns the power of each of the first `count` harmonics of `hertz`, and the power of everything else except DC.
pub fn harmonics(signal: &[f32], hertz: f64, rate: f64, count: usize) -> (Vec<f64>, f64) {
    let mut bins: Vec<f64> = spectrum(signal).iter().map(Complex64::norm_sqr).collect();
    bins[..=LOBE].fill(0.0);
    let take = |n: usize| {
        let middle = (n as f64 * hertz * signal.len() as f64 / rate).round() as usize;
        let last = (middle + LOBE).min(bins.len() - 1);
        let lobe = &mut bins[middle - LOBE..=last];
        let power = lobe.iter().sum();
        lobe.fill(0.0);
        power
    };
    let harmonics = (1..=count).map(take).collect();
    (harmonics, bins.iter().sum())
}

/// Returns the amplitude of the `n`th harmonic relative to the first, by the textbook and independently of the filter's code.
pub fn ideal(voice: Voice, n: usize) -> f64 {
    let own = |n: f64| match voice {
        Voice::Sine => {
            if n == 1.0 {
                1.0
            } else {
                0.0
            }
        }
        Voice::Square => (n * FRAC_PI_2).sin() / n,
        Voice::Pulse25 => (n * PI / 4.0).sin() / n,
        Voice::Pulse12 => (n * PI / 8.0).sin() / n,
        Voice::Triangle => (n * FRAC_PI_2).sin().powi(2) / (n * n),
        Voice::Saw => 1.0 / n,
        Voice::Soft | Voice::SoftClean | Voice::Chip => {
            unreachable!("they have more than one waveform")
        }
    };
    (own(n as f64) / own(1.0)).abs()
}
