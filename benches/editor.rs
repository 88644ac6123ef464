//! What a frame of the editor costs before OpenGL gets it, and what an open editor costs the audio thread.
//!
//! The first line of the output is the one to read for the audio thread: watched and not, in turns, in one run.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{noisy_chord, white};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::{
    hint::black_box,
    time::{Duration, Instant},
};
use tone_filter::{
    Rehearsal,
    dsp::{Band, BandState, Bands, Settings, ToneFilter, notes},
    meters::{MeterInput, meters},
};

const RATE: f64 = 48_000.0;
/// Samples between two frames of a display.
const FRAME: usize = 800;

/// Every band lit, each at a place of its wave that `time` (in seconds) tells.
fn all_lit(time: f64) -> Bands {
    let bands = std::array::from_fn(|tone| {
        let turns = std::f64::consts::TAU * notes::frequency(tone, 440.0, 0.0);
        let (sine, cosine) = (turns * time).sin_cos();
        // Levels that move, each in its own time.
        let ratio = (0.05 + 0.04 * (time * (1.0 + tone as f64)).sin()) as f32;
        Band {
            power: 0.1 * ratio,
            ratio,
            state: [BandState::Sounding, BandState::Saturated][tone % 2],
            angular_frequency: turns as f32,
            phasor: [0.1 * sine as f32, 0.1 * cosine as f32],
            drive: 40.0,
        }
    });
    Bands { bands, total_power: 0.1 }
}

fn frames(c: &mut Criterion) {
    let mut group = c.benchmark_group("frame");
    let size = [1000.0, 640.0];

    let (mut idle, _input) = Rehearsal::new(size);
    group.bench_function("idle", |b| b.iter(|| black_box(idle.frame())));

    let (mut lit, mut input) = Rehearsal::new(size);
    let mut time = 0.0;
    group.bench_function("all 48 lit", |b| {
        b.iter(|| {
            time += 1.0 / 60.0;
            input.advance(usize::MAX, || all_lit(time));
            black_box(lit.frame())
        });
    });

    let (mut music, mut input) = Rehearsal::new(size);
    input.set_sample_rate(RATE);
    let mut sound = noisy_chord(20.0, RATE).into_iter().cycle();
    group.bench_function("all 48 lit and the spectrum", |b| {
        b.iter(|| {
            time += 1.0 / 60.0;
            let mut block: Vec<f32> = sound.by_ref().take(FRAME).collect();
            input.measure(&mut [&mut block], |_| ());
            input.advance(usize::MAX, || all_lit(time));
            black_box(music.frame())
        });
    });
    group.finish();
}

/// Stereo music through a filter and its meters, in blocks of `size`.
fn play(input: &mut MeterInput, filter: &mut ToneFilter, signal: &[f32], size: usize) {
    let (mut left, mut right) = (vec![0.0; size], vec![0.0; size]);
    for block in signal.chunks_exact(size) {
        left.copy_from_slice(block);
        right.copy_from_slice(block);
        input.measure(&mut [&mut left, &mut right], |channels| filter.process(channels));
        black_box(input.advance(size, || filter.bands()));
    }
}

fn audio_thread(c: &mut Criterion) {
    let signal = white(0.5, RATE);
    let mut group = c.benchmark_group("audio");
    for size in [64, 512] {
        let mut filter =
            ToneFilter::new(RATE, &Settings::default()).expect("the defaults are in range");
        let (mut input, connection) = meters();
        input.set_sample_rate(RATE);
        // The fastest turn of each counts, so that other work on the machine does not.
        let mut fastest = [Duration::MAX; 2];
        for _ in 0..200 {
            for (watched, fastest) in fastest.iter_mut().enumerate() {
                let mut viewer = (watched == 1).then(|| connection.open());
                let begun = Instant::now();
                play(&mut input, &mut filter, &signal, size);
                *fastest = begun.elapsed().min(*fastest);
                black_box(viewer.as_mut().map(|viewer| viewer.samples()));
            }
        }
        let [closed, open] = fastest.map(|time| time.as_secs_f64());
        let percent = 100.0 * (open / closed - 1.0);
        println!("audio thread, blocks of {size}: an open editor costs {percent:.2} % more");
        group.bench_function(BenchmarkId::new("closed", size), |b| {
            b.iter(|| play(&mut input, &mut filter, &signal, size));
        });
        let mut viewer = connection.open();
        group.bench_function(BenchmarkId::new("open", size), |b| {
            b.iter(|| {
                play(&mut input, &mut filter, &signal, size);
                black_box(viewer.samples());
            });
        });
    }
    group.finish();
}

criterion_group!(benches, audio_thread, frames);
criterion_main!(benches);
