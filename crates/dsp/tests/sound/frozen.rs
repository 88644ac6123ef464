//! Frozen bands keep their pitches and levels.

use crate::{
    filtered,
    laws::hearing::{RATE, level},
};
use std::f64::consts::TAU;
use tone_filter_dsp::{BandMask, Kernel, Settings, ToneFilter, Voice, notes};
use tone_filter_testkit::{
    signals::{noise, sine},
    sweep,
};

fn wet(voice: Voice) -> Settings {
    Settings { mix: 100.0, voice, ..Settings::default() }
}

/// Returns frequency in Hz and level in dB of the component of `signal` near `hertz`. The frequency follows from the phases of
/// both halves; the level is that of the first half.
fn tone(signal: &[f32], hertz: f64) -> (f64, f64) {
    let half = signal.len() / 2;
    let [(decibels, one), (_, other)] =
        [&signal[..half], &signal[half..]].map(|part| level(part, hertz));
    let turned = other - one - TAU * hertz * half as f64 / RATE;
    let error = turned - TAU * (turned / TAU).round();
    (hertz + error / TAU * RATE / half as f64, decibels)
}

#[test]
fn frozen_bands_keep_pitch_and_level_for_minutes() {
    let [low, high] = [440.0, 1318.51].map(|hertz| sine(hertz, 0.3, 1.0, RATE));
    let chord: Vec<f32> = low.iter().zip(high).map(|(a, b)| a + b).collect();
    // The other cases drift no faster than the one with the shortest ring.
    let scalar = "scalar".parse().unwrap();
    let (longest, others) = if sweep::all() { (10, 3) } else { (1, 1) };
    let cases = [(Voice::Soft, 0.05, longest), (Voice::Soft, 1.0, 1), (Voice::Triangle, 0.2, 1)];
    std::thread::scope(|threads| {
        for (voice, ring, minutes) in cases.into_iter().take(others) {
            for (kernel, minutes) in sweep::part(2, [(Kernel::best(), minutes), (scalar, 1)]) {
                let chord = &chord;
                threads.spawn(move || assert_frozen(kernel, voice, ring, minutes, chord));
            }
        }
    });
}

fn assert_frozen(kernel: Kernel, voice: Voice, ring: f32, minutes: usize, chord: &[f32]) {
    // A mask instead of the listener, which takes far longer than the filter with the scalar kernel.
    let bands = BandMask::NONE.with(notes::A4, true).with(notes::A4 + 19, true);
    let settings = Settings { ring, focus: 0.0, bands, ..wet(voice) };
    let mut filter = ToneFilter::new(RATE, &settings).unwrap().with_kernel(kernel);
    filtered(&mut filter, chord);
    filter.set_settings(&Settings { freeze: true, ..settings }).unwrap();
    let mut noise = noise(1);
    let noise: Vec<f32> = (0..48_000).map(|_| noise() as f32).collect();
    let first = filtered(&mut filter, &noise);
    let at_start = tone(&first, 440.0);
    assert!(at_start.1 > -26.0, "{voice:?}: it sounds, {at_start:?}");
    assert!(1200.0 * (at_start.0 / 440.0).log2().abs() < 3.0, "{voice:?} {ring}: {at_start:?}");
    for _ in 0..minutes * 60 - 2 {
        filtered(&mut filter, &noise);
    }
    let at_end = tone(&filtered(&mut filter, &noise), 440.0);
    let change = at_end.1 - at_start.1;
    let cents = 1200.0 * (at_end.0 / at_start.0).log2();
    assert!(change.abs() < 0.1, "{voice:?}, {ring} s: {change:.3} dB");
    assert!(cents.abs() < 0.1, "{voice:?}, {ring} s: {cents:.3} cents");
}

#[test]
fn frozen_bands_keep_their_level_when_transposed() {
    let settings = Settings { focus: 0.0, auto: false, ..wet(Voice::Soft) };
    let mut filter = ToneFilter::new(RATE, &settings).unwrap();
    filtered(&mut filter, &sine(440.0, 0.3, 1.0, RATE));
    let mut before = None;
    for transpose in [0.0, 7.0, -12.0, 24.0, 0.0] {
        filter.set_settings(&Settings { freeze: true, transpose, ..settings }).unwrap();
        filtered(&mut filter, &[0.0; 19_200]);
        let [now, earlier] = filter.bands().bands[notes::A4].phasor;
        let amplitude = f64::from(now.hypot(earlier));
        let change = 20.0 * (amplitude / *before.get_or_insert(amplitude)).log10();
        assert!(amplitude > 0.05, "{transpose} semitones: it sounds, {amplitude}");
        assert!(change.abs() < 0.01, "{transpose} semitones: {change:.3} dB");
    }
}
