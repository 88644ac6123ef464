//! Time of the whole filter with each voice, to compare with the voice Soft: at 44.1 kHz, mono, in blocks of 64 samples.
//!
//! One group has six notes with overtones through Focus and Auto level, like a song. The other has white noise through the bare
//! bank, where all 48 notes of the published range sound.

mod frame;

use criterion::{Criterion, criterion_group, criterion_main};
use std::{f64::consts::TAU, hint::black_box};
use tone_filter_dsp::{BLOCK, Settings, ToneFilter, Voice, notes::frequency};
use tone_filter_testkit::signals::white;

const RATE: f64 = 44_100.0;
const NOTES: [usize; 6] = [0, 7, 12, 16, 19, 28];

fn chord(seconds: f64) -> Vec<f32> {
    let note = |tone: usize, t: usize| -> f64 {
        let w = TAU * frequency(tone, 440.0, 0.0) / RATE;
        (1..=4).map(|n| 0.1 / f64::from(n) * (f64::from(n) * w * t as f64).sin()).sum()
    };
    let frames = (seconds * RATE) as usize;
    (0..frames).map(|t| NOTES.iter().map(|&tone| note(tone, t)).sum::<f64>() as f32).collect()
}

fn voices(c: &mut Criterion) {
    let everything = Settings { ring: 0.2, release: 20.0, ..Settings::REFERENCE };
    for (name, settings, signal) in [
        ("six notes, Focus and Auto level", Settings::default(), chord(4.0)),
        ("all 48 notes", everything, white(4.0, RATE)),
    ] {
        let mut group = c.benchmark_group(name);
        for voice in Voice::ALL {
            let mut filter = ToneFilter::new(RATE, &Settings { voice, ..settings }).unwrap();
            // The listener finds the notes before the measurement begins.
            filter.process(&mut [&mut signal.clone()]);
            let mut blocks = signal.as_chunks::<BLOCK>().0.iter().cycle();
            group.bench_function(format!("{voice:?}"), |b| {
                b.iter(|| {
                    let mut block = *blocks.next().expect("it goes round");
                    filter.process(&mut [&mut block]);
                    black_box(&block);
                });
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = frame::criterion();
    targets = voices
}
criterion_main!(benches);
