//! The voices against mathematics: harmonics and other components, pitch, loudness, timing, and changes of the voice.

use crate::spectrum::{harmonics, ideal, spectrum};
use std::f64::consts::{PI, TAU};
use tone_filter_dsp::{Arp, BandMask, BandRange, Duty, Kernel, Settings, ToneFilter, Voice, notes};
use tone_filter_testkit::{
    reference,
    signals::{noise, snr},
    spectrum::Complex64,
};

/// Returns settings for one band and the voice alone: no listener, no auto level, no dry signal.
fn alone(tone: usize, voice: Voice, octave: f32) -> Settings {
    Settings {
        voice,
        octave,
        range: BandRange::Whole,
        bands: BandMask::NONE.with(tone, true),
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

fn sine(hertz: f64, rate: f64, seconds: f64) -> Vec<f32> {
    let w = TAU * hertz / rate;
    (0..(seconds * rate) as usize).map(|t| (0.3 * (w * t as f64).sin()) as f32).collect()
}

fn filtered(settings: &Settings, rate: f64, input: &[f32]) -> Vec<f32> {
    let mut output = input.to_vec();
    ToneFilter::new(rate, settings).unwrap().process(&mut [&mut output]);
    output
}

fn rms(signal: &[f32]) -> f64 {
    (signal.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / signal.len() as f64).sqrt()
}

fn db(ratio: f64) -> f64 {
    20.0 * ratio.log10()
}

/// Checks the harmonics for an input `cents` away from the band. The first 300 harmonics up to 0.4 of the rate must be the
/// textbook's within 1 dB; everything else must be below -70 dB.
fn check(voice: Voice, tone: usize, cents: f64, octave: f32, rate: f64) {
    let place =
        format!("{voice:?} {} {cents:+} cents, octave {octave}, {rate} Hz", notes::name(tone));
    // By this time the longest ring has settled.
    let settled = if tone < notes::PUBLISHED { 0.5 } else { 2.0 };
    let input = sine(frequency(tone, cents), rate, settled + 1.0);
    let output = filtered(&alone(tone, voice, octave), rate, &input);
    let hertz = frequency(tone, cents) * f64::from(octave).exp2();
    let count = (0.5 * rate / hertz) as usize;
    let (powers, rest) = harmonics(&output[(settled * rate) as usize..], hertz, rate, count);
    for n in (1..=count.min(300)).take_while(|&n| n as f64 * hertz < 0.4 * rate) {
        let expected = ideal(voice, n);
        let level = db((powers[n - 1] / powers[0]).sqrt());
        if expected < 1e-6 {
            assert!(level < -70.0, "{place}: harmonic {n} at {level:.1} dB");
        } else {
            let error = level - db(expected);
            assert!(error.abs() < 1.0, "{place}: harmonic {n} is {error:+.2} dB off");
        }
    }
    let rest = db((rest / powers[0]).sqrt());
    assert!(rest < -70.0, "{place}: {rest:.1} dB are no harmonics");
}

macro_rules! waveforms {
    ($($name:ident: $voice:ident,)*) => {$(
        #[test]
        fn $name() {
            // At 48 kHz, periods have as many samples as 1.5 semitones lower at 44.1 kHz: a few tones suffice.
            for (rate, tones) in [(44_100.0, notes::TONES), (48_000.0, 0), (96_000.0, notes::TONES)] {
                for tone in 0..tones {
                    check(Voice::$voice, tone, 0.0, (tone % 2) as f32, rate);
                }
                for tone in [0, 11, 24, 35, 47] {
                    check(Voice::$voice, tone, 0.0, ((tone + 1) % 2) as f32, rate);
                    check(Voice::$voice, tone, 30.0, 0.0, rate);
                    check(Voice::$voice, tone, -30.0, 1.0, rate);
                }
            }
            check(Voice::$voice, 24, 0.0, -1.0, 48_000.0);
            check(Voice::$voice, 24, 0.0, -2.0, 48_000.0);
        }
    )*};
}

waveforms! {
    a_sine_is_one: Sine,
    a_square_has_the_harmonics_of_a_square: Square,
    a_pulse_of_25_percent_has_its_harmonics: Pulse25,
    a_pulse_of_12_percent_has_its_harmonics: Pulse12,
    a_triangle_has_the_harmonics_of_a_triangle: Triangle,
    a_saw_has_the_harmonics_of_a_saw: Saw,
}

#[test]
fn the_pitch_is_the_input_s_to_a_cent() {
    let rate = 44_100.0;
    for tone in [0, 12, 47] {
        for cents in [-30.0, 7.0, 30.0] {
            let hertz = frequency(tone, cents);
            let output = filtered(&alone(tone, Voice::Saw, 0.0), rate, &sine(hertz, rate, 2.0));
            // Returns the phase of the fundamental in half a second from `start` on.
            let phase = |start: usize| {
                let w = TAU * hertz / rate;
                let part = output[start..start + 22_050].iter().enumerate();
                let sum: Complex64 = part
                    .map(|(t, x)| Complex64::from_polar(f64::from(*x), -w * (start + t) as f64))
                    .sum();
                sum.arg()
            };
            let turned = (phase(66_150) - phase(44_100) + PI).rem_euclid(TAU) - PI;
            let error = 1200.0 * (1.0 + turned / (TAU * 0.5) / hertz).log2();
            assert!(error.abs() < 0.1, "{tone} {cents:+}: {error:.3} cents off");
        }
    }
}

#[test]
fn a_change_of_the_voice_is_one_of_colour() {
    let rate = 48_000.0;
    for tone in [0, 12, 30, 47] {
        let input = sine(frequency(tone, 0.0), rate, 1.0);
        let level = |voice| rms(&filtered(&alone(tone, voice, 0.0), rate, &input)[24_000..]);
        let soft = level(Voice::Soft);
        for voice in Voice::WAVEFORMS.into_iter().chain([Voice::SoftClean]) {
            let change = db(level(voice) / soft);
            assert!(change.abs() < 1.0, "{voice:?} {}: {change:+.2} dB", notes::name(tone));
        }
    }
}

/// Returns a note with overtones from `start` to `end` in seconds, and drums beside it: a burst of noise every half second.
fn note_and_drums(tone: usize, start: f64, end: f64, seconds: f64, rate: f64) -> Vec<f32> {
    let mut noise = noise(tone as u64);
    let w = TAU * frequency(tone, 0.0) / rate;
    (0..(seconds * rate) as usize)
        .map(|t| {
            let time = t as f64 / rate;
            let drum = 0.02 * (-40.0 * (time % 0.5)).exp() * noise();
            let sounds = (start..end).contains(&time);
            let overtones = (1..=6).map(|n| (f64::from(n) * w * t as f64).sin() / f64::from(n * n));
            let played: f64 = if sounds { 0.2 * overtones.sum::<f64>() } else { 0.0 };
            (played + drum) as f32
        })
        .collect()
}

#[test]
fn notes_come_and_go_in_time_whatever_the_ring() {
    let rate = 48_000.0;
    let (start, end) = (0.8, 1.6);
    for tone in [0, 5, 12, 20, 30] {
        for (voice, ring, lookahead) in [
            (Voice::Square, 0.2, false),
            (Voice::Square, 0.2, true),
            (Voice::Square, 1.566_306, false),
            (Voice::Square, 1.566_306, true),
            (Voice::Chip, 0.2, false),
            (Voice::Chip, 1.566_306, true),
        ] {
            let settings = Settings { ring, lookahead, ..alone(tone, voice, 0.0) };
            let settings = Settings { focus: 100.0, ..settings };
            let filter = ToneFilter::new(rate, &settings).unwrap();
            let late = filter.latency() as f64 / rate;
            let input = note_and_drums(tone, start, end, 2.2, rate);
            let output = filtered(&settings, rate, &input);
            let level = |from: f64, to: f64| {
                let place = |time: f64| ((time + late) * rate) as usize;
                rms(&output[place(from)..place(to)])
            };
            let steady = level(1.3, 1.5);
            let soon = if tone >= 12 { 0.06 } else { 0.1 };
            let risen = db(level(start + soon, start + soon + 0.01) / steady);
            let fallen = db(level(end + 0.12, end + 0.13) / steady);
            let place =
                format!("{voice:?} {} ring {ring} lookahead {lookahead}", notes::name(tone));
            assert!(risen > -3.0, "{place}: {risen:.1} dB after {soon} s");
            assert!(fallen < -20.0, "{place}: {fallen:.1} dB after the end");
        }
    }
}

/// Returns the greatest power above 16 kHz in 10 ms of `signal`, but at least -80 dB relative to the loudest 10 ms.
fn top(signal: &[f32], rate: f64) -> f64 {
    let length = (0.01 * rate) as usize;
    let parts = (0..signal.len() - length).step_by(length / 4);
    let power = |start: usize| {
        let spectrum = spectrum(&signal[start..start + length]);
        let first = (16_000.0 * length as f64 / rate) as usize;
        let power = |bins: &[Complex64]| bins.iter().map(Complex64::norm_sqr).sum::<f64>();
        [power(&spectrum[first..]), power(&spectrum)]
    };
    let powers: Vec<_> = parts.map(power).collect();
    let loudest = powers.iter().fold(0.0, |loudest: f64, power| loudest.max(power[1]));
    powers.iter().fold(1e-8 * loudest, |top, power| top.max(power[0]))
}

/// Returns the voices that oscillators play.
fn voices() -> impl Iterator<Item = Voice> {
    Voice::ALL.into_iter().filter(|voice| *voice != Voice::Soft)
}

#[test]
fn the_chip_plays_strokes_as_noise_and_steady_sounds_as_notes() {
    let rate = 48_000.0;
    let settings = Settings { ring: 0.2, release: 20.0, voice: Voice::Chip, ..Settings::REFERENCE };
    let settings = Settings { mix: 100.0, focus: 100.0, ..settings };
    let mut noise = noise(5);
    let stroke = |t: usize| if t % 24_000 < 4_800 { 0.5 } else { 0.0 };
    let w = TAU * frequency(20, 0.0) / rate;
    let play = |loud: f64, noise: &mut dyn FnMut() -> f64| -> Vec<f32> {
        let sample = |t: usize| {
            let note: f64 =
                (1..=8).map(|n| (f64::from(n) * w * t as f64).sin() / f64::from(n)).sum();
            (0.2 * note + loud * stroke(t) * noise()) as f32
        };
        let input: Vec<f32> = (0..144_000).map(sample).collect();
        filtered(&settings, rate, &input)
    };
    // Returns the level in dB of all but the note's harmonics, relative to the total, in 4096 samples from `start` on.
    let other = |output: &[f32], start: usize| {
        let part = &output[start..start + 4_096];
        let bins: Vec<f64> = spectrum(part).iter().map(Complex64::norm_sqr).collect();
        let spacing = frequency(20, 0.0) * 4_096.0 / rate;
        let is_harmonic = |bin: usize| {
            let n = bin as f64 / spacing;
            ((n - n.round()) * spacing).abs() < 6.0
        };
        let rest: f64 = (1..bins.len()).filter(|bin| !is_harmonic(*bin)).map(|bin| bins[bin]).sum();
        10.0 * (rest / bins.iter().sum::<f64>()).log10()
    };
    let quiet = play(0.0, &mut noise);
    assert!(other(&quiet, 120_500) < -50.0, "{:.1} dB", other(&quiet, 120_500));
    let struck = play(1.0, &mut noise);
    let [during, between] = [120_500, 135_000].map(|start| other(&struck, start));
    assert!(during > -15.0 && between < -40.0, "{during:.1} dB and {between:.1} dB");
}

#[test]
fn nothing_clicks() {
    let rate = 48_000.0;
    let tone = 12;
    let input = sine(frequency(tone, 0.0), rate, 1.5);
    let whole = |settings: &Settings| top(&filtered(settings, rate, &input)[24_000..], rate);
    for voice in voices() {
        let steady = whole(&alone(tone, voice, 0.0));
        let changes: [(&str, Settings); 4] = [
            ("voice", alone(tone, Voice::Square, 0.0)),
            ("octave", alone(tone, voice, 1.0)),
            ("soft", alone(tone, Voice::Soft, 0.0)),
            ("off", Settings { bands: BandMask::NONE, ..alone(tone, voice, 0.0) }),
        ];
        for (change, to) in changes {
            let from = alone(tone, voice, 0.0);
            let mut filter = ToneFilter::new(rate, &from).unwrap();
            let mut output = input.clone();
            let (before, rest) = output.split_at_mut(40_000);
            let (during, after) = rest.split_at_mut(10_000);
            filter.process(&mut [before]);
            filter.set_settings(&to).unwrap();
            filter.process(&mut [during]);
            filter.set_settings(&from).unwrap();
            filter.process(&mut [after]);
            let allowed = steady.max(whole(&to));
            let change_db = 10.0 * (top(&output[30_000..], rate) / allowed).log10();
            assert!(change_db < 6.0, "{voice:?} {change}: {change_db:+.1} dB");
        }
        // Vibrato of 15 cents to either side, and the start and end of a note.
        let glide: Vec<f32> = {
            let mut phase = 0.0;
            (0..72_000)
                .map(|t| {
                    let cents = 15.0 * (TAU * 2.0 * f64::from(t) / rate).sin();
                    phase += TAU * frequency(tone, cents) / rate;
                    (0.3 * phase.sin()) as f32
                })
                .collect()
        };
        let glided = filtered(&alone(tone, voice, 0.0), rate, &glide);
        let glided = 10.0 * (top(&glided[24_000..], rate) / steady).log10();
        assert!(glided < 6.0, "{voice:?} glide: {glided:+.1} dB");
    }
}

#[test]
fn every_kernel_has_the_same_voices_however_the_signal_is_cut() {
    let rate = 44_100.0;
    let input = note_and_drums(14, 0.1, 0.9, 1.2, rate);
    for voice in voices() {
        for focus in [0.0, 100.0] {
            let settings = Settings { voice, focus, ring: 0.2, mix: 100.0, ..Settings::REFERENCE };
            let play = |kernel: Kernel, length: usize| {
                let mut filter = ToneFilter::new(rate, &settings).unwrap().with_kernel(kernel);
                let mut output = input.clone();
                output.chunks_mut(length).for_each(|part| filter.process(&mut [part]));
                output
            };
            let scalar = play("scalar".parse().unwrap(), 4096);
            for kernel in Kernel::available() {
                let output = play(kernel, 4096);
                assert!(output == play(kernel, 37), "{kernel:?} {voice:?}: another cut");
                let error: Vec<f32> = scalar.iter().zip(&output).map(|(a, b)| a - b).collect();
                let error = db(rms(&error) / rms(&scalar));
                assert!(error < -80.0, "{kernel:?} {voice:?} {focus}: {error:.1} dB");
            }
        }
    }
}

#[test]
fn every_kernel_has_the_voices_of_the_reference() {
    let rate = 44_100.0;
    for voice in voices() {
        for (tone, octave, cents) in [(12, 0.0, 0.0), (24, -1.0, 20.0), (40, 1.0, -30.0)] {
            let settings = alone(tone, voice, octave);
            let input = sine(frequency(tone, cents), rate, 0.8);
            let truth = reference::process(&reference::sound(&settings), rate, &[&input]).remove(0);
            for kernel in Kernel::available() {
                let mut output = input.clone();
                let filter = ToneFilter::new(rate, &settings).unwrap();
                filter.with_kernel(kernel).process(&mut [&mut output]);
                // Only the settled sound: a beginning depends on how the phase of a band that just starts is read.
                let db = snr(&truth[17_640..], &output[17_640..]);
                println!("{kernel:?} {voice:?} {tone}: {db:.1} dB");
                assert!(db > 90.0, "{kernel:?} {voice:?} {tone}: {db:.1} dB");
            }
        }
    }
}

#[test]
fn every_kernel_has_the_chip_of_the_reference_with_all_its_parts() {
    let rate = 44_100.0;
    let bands = [2, 14, 23, 30].iter().fold(BandMask::NONE, |on, tone| on.with(*tone, true));
    let settings = Settings { bands, ..alone(0, Voice::Chip, 0.0) };
    let mut noise = noise(9);
    let tones = [(2, 0.2), (14, 0.1), (23, 0.16), (30, 0.09)];
    let sample = |t: usize| {
        let part = |(tone, amplitude): &(usize, f64)| {
            amplitude * (TAU * frequency(*tone, 0.0) / rate * t as f64).sin()
        };
        let stroke = 0.2 * (-((t % 11_025) as f64) / 1500.0).exp() * noise();
        (tones.iter().map(part).sum::<f64>() + stroke) as f32
    };
    let input: Vec<f32> = (0..52_920).map(sample).collect();
    let arranged = Settings {
        arp: Arp::Up,
        duty: Duty::Eighth,
        attack: 2.0,
        decay: 40.0,
        voices: 3.0,
        ..settings
    };
    for settings in [settings, arranged] {
        let truth = reference::process(&reference::sound(&settings), rate, &[&input]).remove(0);
        for kernel in Kernel::available() {
            let mut output = input.clone();
            let filter = ToneFilter::new(rate, &settings).unwrap();
            filter.with_kernel(kernel).process(&mut [&mut output]);
            let db = snr(&truth[17_640..], &output[17_640..]);
            println!("{kernel:?}, chip: {db:.1} dB");
            assert!(db > 90.0, "{kernel:?}, {:?}: {db:.1} dB", settings.arp);
        }
    }
}
