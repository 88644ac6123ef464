//! Processing time of the filter, in groups: kernels with several signals, block sizes, moving settings, kinds of stereo, and
//! held keys.

mod frame;

use criterion::{
    BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime,
};
use std::hint::black_box;
use tone_filter_dsp::{Kernel, KeyEvent, Keys, Settings, Stereo, ToneFilter};
use tone_filter_testkit::signals::{noisy_chord, white};

const RATE: f64 = 44_100.0;
const FRAMES: usize = 4096;

fn filter(settings: &Settings, kernel: Kernel) -> ToneFilter {
    ToneFilter::new(RATE, settings).expect("the settings are in range").with_kernel(kernel)
}

/// Returns the signals by name. Both "silence" and "tail" are zeros. Before all signals except "silence", the benchmark plays
/// music, so that the bands ring.
fn signals() -> [(&'static str, Vec<f32>); 5] {
    let seconds = FRAMES as f64 / RATE + 0.001;
    let scaled = |level: f32| white(seconds, RATE).iter().map(|x| level * x).collect();
    [
        ("noise", white(seconds, RATE)),
        ("music", noisy_chord(seconds, RATE)),
        ("silence", vec![0.0; FRAMES]),
        ("tail", vec![0.0; FRAMES]),
        ("denormal", scaled(1e-39)),
    ]
}

/// Measures `filter` on [`FRAMES`] samples of a mono signal, in blocks of `size`. The measured time includes `before`, which is
/// called before each block.
fn measure(
    group: &mut BenchmarkGroup<WallTime>,
    name: &str,
    mut filter: ToneFilter,
    signal: &[f32],
    size: usize,
    mut before: impl FnMut(&mut ToneFilter),
) {
    group.throughput(Throughput::Elements(FRAMES as u64));
    let mut blocks = signal[..FRAMES].to_vec();
    group.bench_function(name, |b| {
        b.iter(|| {
            blocks.copy_from_slice(&signal[..FRAMES]);
            for block in blocks.chunks_mut(size) {
                before(&mut filter);
                filter.process(black_box(&mut [block]));
            }
        });
    });
}

fn every_kernel_on_every_signal(c: &mut Criterion) {
    for (name, signal) in signals() {
        let mut group = c.benchmark_group(name);
        for kernel in Kernel::available() {
            let mut filter = filter(&Settings::REFERENCE, kernel);
            if name != "silence" {
                filter.process(&mut [&mut noisy_chord(0.5, RATE)]);
            }
            measure(&mut group, kernel.name(), filter, &signal, FRAMES, |_| ());
        }
    }
}

fn block_sizes(c: &mut Criterion) {
    let mut group = c.benchmark_group("block size");
    let signal = white(1.0, RATE);
    for size in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096] {
        let filter = filter(&Settings::REFERENCE, Kernel::best());
        measure(&mut group, &size.to_string(), filter, &signal, size, |_| ());
    }
}

/// Measures the processing time while a setting changes with every block, compared with constant settings.
fn settings_that_move(c: &mut Criterion) {
    let mut group = c.benchmark_group("settings");
    let signal = white(1.0, RATE);
    type Change = fn(&mut Settings, f32);
    let changes: [(&str, Settings, Change); 4] = [
        ("at rest", Settings::REFERENCE, |_, _| {}),
        ("at rest, the sound of a new instance", Settings::default(), |_, _| {}),
        ("drive moves", Settings::REFERENCE, |s, by| s.drive = 40.0 + by),
        ("ring moves", Settings::REFERENCE, |s, by| s.ring = 1.5 + by),
    ];
    for (name, mut settings, change) in changes {
        let mut by = 0.0;
        let filter = filter(&settings, Kernel::best());
        measure(&mut group, name, filter, &signal, 64, |filter| {
            by = 1.0 - by;
            change(&mut settings, by);
            filter.set_settings(&settings).expect("the settings are in range");
        });
    }
}

fn mono_and_stereo(c: &mut Criterion) {
    let mut group = c.benchmark_group("two channels");
    group.throughput(Throughput::Elements(FRAMES as u64));
    let signal = white(1.0, RATE);
    // The last two sounds use the listener, which Place needs for the stereo positions.
    let heard = Settings { focus: 100.0, ..Settings::REFERENCE };
    let sounds = [
        ("Mono", Settings::REFERENCE),
        ("Stereo", Settings { stereo: Stereo::Stereo, ..Settings::REFERENCE }),
        ("Mono, focus", heard),
        ("Place, focus", Settings { stereo: Stereo::Place, ..heard }),
    ];
    for (name, settings) in sounds {
        let mut filter = filter(&settings, Kernel::best());
        let [mut left, mut right] = [(); 2].map(|()| signal[..FRAMES].to_vec());
        group.bench_function(name, |b| {
            b.iter(|| {
                left.copy_from_slice(&signal[..FRAMES]);
                right.copy_from_slice(&signal[FRAMES..2 * FRAMES]);
                filter.process(black_box(&mut [&mut left, &mut right]));
            });
        });
    }
}

/// Measures the cost of held keys for all bands, with constant and with changing velocities, compared with no keys.
fn keys(c: &mut Criterion) {
    let mut group = c.benchmark_group("keys");
    let signal = white(1.0, RATE);
    let hold = Settings { keys: Keys::Hold, ..Settings::REFERENCE };
    // The two velocities alternate every 192 samples. In this time, a band's weight (the squared velocity) changes by at most
    // 0.87. From 1 to 0.25^2 is farther, so with these velocities the weight never stops moving.
    let cases = [
        ("none", Settings::REFERENCE, [1.0, 1.0]),
        ("held", hold, [1.0, 1.0]),
        ("held, softly", hold, [0.5, 0.5]),
        ("moving", hold, [1.0, 0.25]),
    ];
    for (name, settings, velocities) in cases {
        let mut velocities = velocities.into_iter().cycle();
        let mut last = 0.0;
        let filter = filter(&settings, Kernel::best());
        measure(&mut group, name, filter, &signal, 192, |filter| {
            let velocity = velocities.next().expect("it goes round");
            if velocity != last {
                (0..128).for_each(|key| filter.play(KeyEvent::Key(key, velocity)));
                last = velocity;
            }
        });
    }
}

criterion_group! {
    name = benches;
    config = frame::criterion();
    targets = every_kernel_on_every_signal, block_sizes, settings_that_move, mono_and_stereo, keys
}
criterion_main!(benches);
