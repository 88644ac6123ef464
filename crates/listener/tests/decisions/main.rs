//! Decisions, pitches and beats of a whole listener.

use std::f64::consts::TAU;
use tone_filter_listener::{
    BLOCK, Decisions, Deviation, FRAME, LOWEST_NOTE, Listener, Model, NOTES, frame, measure,
};
use tone_filter_simd::{Kernel, denormals::with_flush_to_zero};
use tone_filter_testkit::{
    heap,
    sweep::{part, tenth},
};

mod accuracy;
mod beats;
mod pitch;
mod robustness;
mod sounds;
mod tuning;
mod weights;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

const RATES: [f64; 9] =
    [8000.0, 11_025.0, 22_050.0, 44_100.0, 48_000.0, 88_200.0, 96_000.0, 192_000.0, 768_000.0];

/// Returns a source of white noise, uniform in -1..1.
fn noise() -> impl FnMut() -> f64 {
    tone_filter_testkit::signals::noise(1)
}

fn hertz(note: f64) -> f64 {
    440.0 * ((note - 69.0) / 12.0).exp2()
}

/// Returns a tone of `f` Hz with harmonics below 16 kHz and below 0.45 `rate`. Harmonic `k` has `amplitude(k)`.
fn tone(f: f64, seconds: f64, rate: f64, amplitude: impl Fn(u32) -> f64) -> Vec<f32> {
    let highest = 16_000f64.min(0.45 * rate);
    let partials: Vec<f64> =
        (1..).take_while(|k| f64::from(*k) * f < highest).map(amplitude).collect();
    let sample = |t: usize| {
        // sin((k + 1) x) = 2 cos(x) sin(k x) - sin((k - 1) x)
        let (sin, cos) = (TAU * f * t as f64 / rate).sin_cos();
        let (mut sum, mut last, mut partial) = (0.0, 0.0, sin);
        for amplitude in &partials {
            sum += amplitude * partial;
            (last, partial) = (partial, 2.0 * cos * partial - last);
        }
        sum as f32
    };
    (0..(seconds * rate) as usize).map(sample).collect()
}

fn sine(f: f64, amplitude: f64, seconds: f64, rate: f64) -> Vec<f32> {
    tone(f, seconds, rate, |k| if k == 1 { amplitude } else { 0.0 })
}

/// Returns chords of decaying tones with overtones, a new chord every 0.4 s, with drum hits of noise between them.
fn music(seconds: f64, rate: f64) -> Vec<f32> {
    let chords =
        [[0, 4, 7, 12], [5, 9, 12, 24], [-5, 7, 11, 31], [2, 14, 17, 33], [-12, 3, 10, 40]];
    let mut noise = noise();
    (0..(seconds * rate) as usize)
        .map(|t| {
            let t = t as f64 / rate;
            let (beat, since) = ((t / 0.4) as usize, t % 0.4);
            let tone = |note: i32| -> f64 {
                let f = 440.0 * (f64::from(note - 5) / 12.0).exp2();
                let partials = (1..=6).filter(|n| f64::from(*n) * f < 0.45 * rate);
                let sum: f64 =
                    partials.map(|n| (TAU * f64::from(n) * f * t).sin() / f64::from(n)).sum();
                sum * (-since * (2.0 + f / 400.0)).exp()
            };
            let chord: f64 = chords[beat % chords.len()].map(tone).iter().sum();
            let drum = (-((t + 0.2) % 0.4) * 60.0).exp() * noise();
            (0.2 * chord + 0.2 * drum) as f32
        })
        .collect()
}

/// Returns all decisions of a listener on one or two channels.
fn listen(listener: &mut Listener, kernel: Kernel, channels: &[&[f32]]) -> Vec<Decisions> {
    let mut decisions = Vec::new();
    with_flush_to_zero(&mut || {
        for (index, left) in channels[0].as_chunks().0.iter().enumerate() {
            let right = channels.get(1).map(|right| &right.as_chunks().0[index]);
            decisions.extend(listener.push(kernel, left, right).cloned());
        }
    });
    decisions
}

/// Returns the decisions of a new listener on a mono signal at 44.1 kHz.
fn heard(model: Model, lookahead: bool, signal: &[f32]) -> Vec<Decisions> {
    listen(&mut Listener::new(44_100.0, lookahead, model), Kernel::best(), &[signal])
}

/// Counts the decisions, one for each note and frame: how many differ, and how many are on in at least one list.
fn differences(some: &[Decisions], others: &[Decisions]) -> (usize, usize) {
    assert_eq!(some.len(), others.len());
    let pairs = some.iter().zip(others).flat_map(|(a, b)| a.on.into_iter().zip(b.on));
    pairs.fold((0, 0), |(unlike, lit), (a, b)| {
        (unlike + usize::from(a != b), lit + usize::from(a || b))
    })
}

/// Returns the MIDI notes that are on after `skipped` frames, each with the fraction of frames in which it is on.
fn lit(decisions: &[Decisions], skipped: usize) -> Vec<(usize, f64)> {
    let steady = &decisions[skipped..];
    let share =
        |note: usize| steady.iter().filter(|d| d.on[note]).count() as f64 / steady.len() as f64;
    let shares = (0..NOTES).map(|note| (LOWEST_NOTE + note, share(note)));
    shares.filter(|(_, share)| *share > 0.0).collect()
}
