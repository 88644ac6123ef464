//! The chip against its formulas and the spectra of its waveforms.

use super::super::PITCHES;
use super::*;
use crate::{notes::to_listener, settings::Settings};
use std::f64::consts::TAU;
use tone_filter_testkit::spectrum::{Complex64, plan};

#[test]
fn the_parts_effective_values_are_those_of_their_series() {
    for Sound { voice, mean, rms } in Duty::ALL.into_iter().flat_map(Sound::of_parts) {
        let power: f64 = (1..20_000)
            .map(|n| {
                super::super::waveform::harmonic(voice, n).map(|x| x * x).iter().sum::<f64>() / 2.0
            })
            .sum();
        assert!((power - 1.0).abs() < 1e-4, "{voice:?}: {power}");
        if mean > 0.0 {
            assert!((rms - (mean * (1.0 - mean)).sqrt()).abs() < 1e-15, "{voice:?}");
        }
    }
    let squares: f64 = (0..16).map(|step| (f64::from(step) - 7.5).powi(2)).sum();
    assert!((STEPS_RMS - (squares / 16.0).sqrt()).abs() < 1e-12);
}

#[test]
fn the_mixer_is_the_chips() {
    // The formula of the chip for two inputs, and the difference of its outputs.
    let pulses = |sum: f64| if sum > 0.0 { 95.88 / (8128.0 / sum + 100.0) } else { 0.0 };
    for (mean, low) in [(7.5, 7.5), (3.75, -3.75), (15.0, 12.0), (0.0, 30.0)] {
        let expected = pulses(mean + low) - pulses(mean);
        let bent = f64::from(PULSES.apply(mean as f32, low as f32, 0.0));
        assert!((bent - expected).abs() < 1e-6, "{mean} {low}: {bent} {expected}");
    }
    let rest = |t: f64, n: f64| 159.79 / (1.0 / (t / 8227.0 + n / 12_241.0) + 100.0);
    let [triangle, noise] = SHARES;
    let expected = rest(15.0, 15.0) - rest(7.5, 7.5);
    let (mean, low) = (7.5 * (triangle + noise), 7.5 * (triangle + noise));
    let bent = f64::from(REST.apply(mean as f32, low as f32, 0.0));
    assert!((bent - expected).abs() < 1e-6, "{bent} {expected}");
}

/// Creates a timbre with the voice Chip, and without tables.
fn timbre(octave: i32) -> Timbre {
    let levels = [[None; PITCHES]; 2];
    Timbre { voice: Voice::Chip, octave, levels, duty: Duty::Quarter }
}

/// Begins a block with the notes of `oscillators`, without noise.
fn begin_block(chip: &mut Chip, oscillators: &Oscillators) {
    chip.begin_block(ChipInput {
        oscillators,
        angles: &Lanes::ZERO,
        high: 1.0,
        timbre: &timbre(0),
        arrangement: &Arrangement::of(&Settings::REFERENCE),
    });
}

#[test]
fn volumes_change_at_ticks_and_what_falls_silent_is_silent_at_once() {
    let mut chip = Chip::new(48_000.0);
    let mut oscillators = Oscillators::new(48_000.0);
    let mut begin_block = |amplitudes: &Lanes| {
        oscillators.sound(*amplitudes);
        begin_block(&mut chip, &oscillators);
        chip.volumes.map(|volume| volume.to)
    };
    let mut amplitudes = Lanes::ZERO;
    for (tone, amplitude) in [(3, 0.1), (10, 0.5), (20, 1.0), (30, 0.8), (40, 0.02)] {
        amplitudes.0[tone] = amplitude;
    }
    let volumes = begin_block(&amplitudes);
    assert_eq!(volumes[BASS].0[3], 15.0, "the triangle has no volume");
    assert_eq!(volumes[LEAD].0[30], 12.0, "the highest but for 2 dB");
    assert_eq!([10, 20, 40].map(|tone| volumes[OTHERS].0[tone]), [8.0, 15.0, 0.0]);
    assert_eq!(volumes.iter().flat_map(|part| part.0).sum::<f32>(), 15.0 + 12.0 + 8.0 + 15.0);

    amplitudes.0[10] = 0.1;
    for block in 0..13 {
        let expected = if block < 12 { 8.0 } else { 2.0 };
        assert_eq!(begin_block(&amplitudes)[OTHERS].0[10], expected, "block {block}");
    }
    amplitudes.0[30] = 0.0;
    assert_eq!(begin_block(&amplitudes)[LEAD].0[30], 0.0);
}

#[test]
fn ticks_come_60_times_a_second_at_any_rate() {
    let oscillators = Oscillators::new(48_000.0);
    for rate in [8000, 11_025, 27_001, 44_100] {
        let mut chip = Chip::new(f64::from(rate));
        for block in 0..2000 {
            begin_block(&mut chip, &oscillators);
            let expected = 1 + block * BLOCK as u64 * 60 / rate as u64;
            assert_eq!(chip.latest().number, expected, "block {block} at {rate} Hz");
        }
    }
}

/// Returns the power spectrum of two seconds of a lead of 880 Hz and a square of 1320 Hz over a bass of 220 Hz.
fn spectrum(sample_rate: f64, octave: i32) -> Vec<f64> {
    let mut chip = Chip::new(sample_rate);
    let mut oscillators = Oscillators::new(sample_rate);
    let level =
        |hertz: f64, rate| Waveforms::shared().level(hertz * f64::from(octave).exp2(), rate);
    let mut timbre = timbre(octave);
    let mut volumes = [Lanes::ZERO; 3];
    for (role, tone, hertz) in [(BASS, 0, 220.0), (LEAD, 24, 880.0), (OTHERS, 31, 1320.0)] {
        volumes[role].0[tone] = LOUDEST;
        oscillators.play(tone, hertz / sample_rate);
        let pitch = to_listener(tone);
        timbre.levels[0][pitch] = level(hertz, sample_rate);
        timbre.levels[1][pitch] = level(hertz, 0.5 * sample_rate);
    }
    (chip.volumes, chip.unit) = (volumes.map(Ramp::rest), Ramp::rest(1.0));
    let mut signal = vec![0.0; (2.0 * sample_rate) as usize / BLOCK * BLOCK];
    for samples in signal.chunks_exact_mut(BLOCK) {
        chip.mix(Kernel::best(), &oscillators, &timbre, Ramp::rest(1.0), 0, samples);
        oscillators.advance();
    }
    let fft = plan(signal.len());
    let mut bins = fft.make_output_vec();
    let terms = [0.358_75, -0.488_29, 0.141_28, -0.011_68];
    let window = |t: usize| -> f64 {
        let x = TAU * t as f64 / signal.len() as f64;
        (0..).zip(terms).map(|(n, term)| term * (f64::from(n) * x).cos()).sum()
    };
    let mut input: Vec<f64> =
        signal.iter().enumerate().map(|(t, x)| window(t) * f64::from(*x)).collect();
    fft.process(&mut input, &mut bins).unwrap();
    bins.iter().map(Complex64::norm_sqr).collect()
}

/// All mixer products of these notes are multiples of 220 Hz; aliases are not.
#[test]
fn nothing_that_is_mixed_aliases() {
    for sample_rate in [44_100.0, 48_000.0, 96_000.0] {
        for octave in [0, 1] {
            let bins = spectrum(sample_rate, octave);
            let spacing = 220.0 * f64::from(octave).exp2() * 2.0 * bins.len() as f64 / sample_rate;
            let away = |bin: usize| {
                let n = bin as f64 / spacing;
                ((n - n.round()) * spacing).abs()
            };
            let all: f64 = bins.iter().sum();
            let rest: f64 =
                (0..bins.len()).filter(|bin| away(*bin) > 5.0).map(|bin| bins[bin]).sum();
            let rest = 10.0 * (rest / all).log10();
            assert!(rest < -70.0, "{sample_rate} Hz, octave {octave}: {rest:.1} dB");
            // A product that only the mixer makes: 880 Hz + 1320 Hz.
            let level = |n: f64| 10.0 * (bins[(n * spacing).round() as usize] / all).log10();
            assert!((-40.0..-15.0).contains(&level(10.0)), "{:.1} dB", level(10.0));
        }
    }
}
