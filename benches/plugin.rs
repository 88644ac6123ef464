//! Overhead of the plugin around the library: time of the built CLAP bundle in a test host, and of the library alone, by block
//! size.
//!
//! The bundle's time includes the host's own work. Run `cargo xtask bundle --release` first.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use tone_filter_dsp::{Settings, ToneFilter};
use tone_filter_testkit::{bundle, clap::Library, signals::white};

const RATE: f64 = 44_100.0;

fn shell_and_library(c: &mut Criterion) {
    let bundle = bundle::clap().expect("bundled by `cargo xtask bundle --release`");
    let library = Library::load(&bundle).expect("the bundle loads");
    let mut instance = library.instance().expect("it makes an instance");
    instance.select(2).expect("it is stereo");
    let mut processor = instance.activate(RATE, 1024).expect("it activates");
    let mut filter =
        ToneFilter::new(RATE, &Settings::default()).expect("the defaults are in range");

    let signal = white(1.0, RATE);
    for (group, shell) in [("library", false), ("plugin", true)] {
        let mut group = c.benchmark_group(group);
        for size in [16, 32, 64, 128, 256, 512, 1024] {
            group.throughput(Throughput::Elements(size as u64));
            let (mut left, mut right) = (signal[..size].to_vec(), signal[size..2 * size].to_vec());
            group.bench_function(BenchmarkId::from_parameter(size), |b| {
                b.iter(|| {
                    left.copy_from_slice(&signal[..size]);
                    right.copy_from_slice(&signal[size..2 * size]);
                    let mut block: [&mut [f32]; 2] = [&mut left, &mut right];
                    if shell {
                        processor.process(None, black_box(&mut block), &[]).expect("it plays");
                    } else {
                        filter.process(black_box(&mut block));
                    }
                });
            });
        }
    }
}

criterion_group!(benches, shell_and_library);
criterion_main!(benches);
