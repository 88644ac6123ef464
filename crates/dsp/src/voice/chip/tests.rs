//! The chip against its formulas.

use super::super::PITCHES;
use super::*;
use crate::settings::Settings;

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
fn timbre() -> Timbre {
    let levels = [[None; PITCHES]; 2];
    Timbre { voice: Voice::Chip, octave: 0, levels, duty: Duty::Quarter }
}

/// Begins a block with the notes of `oscillators`, without noise.
fn begin_block(chip: &mut Chip, oscillators: &Oscillators) {
    chip.begin_block(ChipInput {
        oscillators,
        angles: &Lanes::ZERO,
        high: 1.0,
        timbre: &timbre(),
        arrangement: &Arrangement::of(&Settings::REFERENCE),
    });
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
