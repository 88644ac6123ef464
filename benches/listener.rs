//! The processing time of the listener for blocks of 64 samples, compared with the bank's kernel; both on white noise
//! at 44.1 kHz, mono.

#[path = "../tests/common/mod.rs"]
mod common;
mod frame;

use common::white;
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use tone_filter_dsp::{
    Settings,
    constants::Constants,
    kernel::{BLOCK, Coefficients, FrameInputs, Kernel, Lanes, RMS_GUARD, State, Task, process},
    listener::Listener,
    notes::{TONES, frequency},
    resonator::Design,
};

const RATE: f64 = 44_100.0;

/// The kernel's coefficients for `settings`.
fn coefficients(settings: &Settings) -> Coefficients {
    let constants = Constants::new(settings, RATE);
    let mut coefficients = Coefficients::ZERO;
    coefficients.drive = constants.drive as f32;
    coefficients.threshold = constants.threshold as f32;
    coefficients.ceiling = constants.ceiling as f32;
    coefficients.floor = constants.floor as f32;
    coefficients.set_weights(Lanes([1.0; TONES]), Lanes([1.0; TONES]), RMS_GUARD);
    coefficients.set_resonators(&std::array::from_fn(|tone| {
        let f = frequency(tone, f64::from(settings.tuning), 0.0);
        Design::new(f, f64::from(settings.ring), RATE)
    }));
    coefficients.set_step(constants.band_step);
    coefficients
}

fn kernel_and_listener(c: &mut Criterion) {
    let signal = white(8.0 * BLOCK as f64 * 64.0 / RATE + 0.001, RATE);
    // A frame is 8 blocks at this rate.
    let frames: Vec<&[f32; BLOCK]> = signal.as_chunks().0.iter().take(8 * 64).collect();
    let coefficients = coefficients(&Settings::REFERENCE);
    for kernel in Kernel::available() {
        let mut group = c.benchmark_group(kernel.name());
        let mut state = State::ZERO;
        let mut inputs = FrameInputs { total_power: [0.08; BLOCK], ..FrameInputs::ZERO };
        let mut blocks = frames.iter().cycle();
        let mut sums = [0.0; BLOCK];
        group.bench_function("kernel, a block", |b| {
            b.iter(|| {
                inputs.input = **blocks.next().expect("it goes round");
                let task =
                    Task { state: &mut state, position: 0, inputs: &inputs, sums: &mut sums };
                process(kernel, &coefficients, task);
                black_box(&sums);
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
    targets = kernel_and_listener
}
criterion_main!(benches);
