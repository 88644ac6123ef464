//! Multiply-adds a second of the network, compared with the CPU's maximum, and time that the listener takes for a frame.

mod frame;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use fearless_simd::{Simd, SimdBase, SimdFloat};
use std::hint::black_box;
use tone_filter_listener::{BLOCK, Listener, Model, measure::Frames};
use tone_filter_simd::{Kernel, Work};
use tone_filter_testkit::signals::white;

const RATE: f64 = 44_100.0;
const MODELS: [(Model, &str); 2] = [(Model::Full, "full"), (Model::Light, "light")];

/// Work that measures the CPU's maximum: multiply-adds by this factor in registers, with enough independent sums that none
/// waits for another.
struct Peak(f32);

impl Peak {
    const SUMS: usize = 12;
    const ROUNDS: usize = 1000;

    fn multiply_adds<S: Simd>() -> usize {
        Self::SUMS * Self::ROUNDS * S::f32s::LEN
    }
}

impl Work for Peak {
    fn run<S: Simd>(self, simd: S) {
        simd.vectorize(
            #[inline(always)]
            || {
                let factor = S::f32s::splat(simd, self.0);
                let mut sums = [S::f32s::splat(simd, 1.0); Self::SUMS];
                for _ in 0..Self::ROUNDS {
                    for sum in &mut sums {
                        *sum = sum.mul_add(factor, factor);
                    }
                }
                let all = sums.into_iter().reduce(|a, b| a + b);
                black_box(all.map(|all| all.reduce_sum()));
            },
        );
    }
}

/// Work that stores how many multiply-adds [`Peak`] does with the kernel that runs it.
struct Count<'a>(&'a mut usize);

impl Work for Count<'_> {
    fn run<S: Simd>(self, _: S) {
        *self.0 = Peak::multiply_adds::<S>();
    }
}

fn rates(c: &mut Criterion) {
    for kernel in Kernel::available() {
        let mut group = c.benchmark_group(format!("{}, multiply-adds", kernel.name()));
        let mut count = 0;
        kernel.run(Count(&mut count));
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function("peak", |b| b.iter(|| kernel.run(Peak(black_box(0.5)))));
        for (model, name) in MODELS {
            let mut frames = Frames::new(model);
            group.throughput(Throughput::Elements(frames.multiply_adds() as u64));
            group.bench_function(format!("{name}, a frame"), |b| b.iter(|| frames.compute(kernel)));
        }
    }
}

fn whole(c: &mut Criterion) {
    // A frame is 8 blocks at this rate.
    let noise = white(12.0, RATE);
    let blocks = &noise.as_chunks::<BLOCK>().0[..512];
    for kernel in Kernel::available() {
        let mut group = c.benchmark_group(format!("{}, a frame of the listener", kernel.name()));
        for (model, name) in MODELS {
            for stereo in [false, true] {
                let mut listener = Listener::new(RATE, false, model);
                let mut at = 0;
                let channels = if stereo { "stereo" } else { "mono" };
                group.bench_function(format!("{name}, {channels}"), |b| {
                    b.iter(|| {
                        for _ in 0..8 {
                            at = (at + 1) % (blocks.len() - 1);
                            let right = stereo.then_some(&blocks[at + 1]);
                            black_box(listener.push(kernel, &blocks[at], right));
                        }
                    });
                });
            }
        }
    }
}

criterion_group! {
    name = benches;
    config = frame::criterion();
    targets = rates, whole
}
criterion_main!(benches);
