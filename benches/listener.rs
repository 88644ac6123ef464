//! The processing time of the listener for blocks of 64 samples, compared with that of the published filter, which runs
//! without it; both on white noise at 44.1 kHz, mono.

#[path = "../tests/common/mod.rs"]
mod common;
mod frame;

use common::white;
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use tone_filter_dsp::{BLOCK, Kernel, Settings, ToneFilter, listener::Listener};

const RATE: f64 = 44_100.0;

fn filter_and_listener(c: &mut Criterion) {
    let signal = white(8.0 * BLOCK as f64 * 64.0 / RATE + 0.001, RATE);
    // A frame is 8 blocks at this rate.
    let frames: Vec<&[f32; BLOCK]> = signal.as_chunks().0.iter().take(8 * 64).collect();
    for kernel in Kernel::available() {
        let mut group = c.benchmark_group(kernel.name());
        let filter = ToneFilter::new(RATE, &Settings::REFERENCE).expect("they are in range");
        let mut filter = filter.with_kernel(kernel);
        let mut blocks = frames.iter().cycle();
        group.bench_function("filter, 8 blocks", |b| {
            b.iter(|| {
                for block in blocks.by_ref().take(8) {
                    let mut block = **block;
                    filter.process(&mut [&mut block]);
                    black_box(&block);
                }
            });
        });
        for (name, lookahead) in [("listener", false), ("listener with lookahead", true)] {
            let mut listener = Listener::new(RATE, lookahead);
            let mut blocks = frames.iter().cycle();
            group.bench_function(format!("{name}, 8 blocks"), |b| {
                b.iter(|| {
                    for block in blocks.by_ref().take(8) {
                        black_box(listener.push(kernel, block));
                    }
                });
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = frame::criterion();
    targets = filter_and_listener
}
criterion_main!(benches);
