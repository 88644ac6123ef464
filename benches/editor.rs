//! Time of a frame of the editor, without OpenGL, and cost of an open editor for the audio thread.
//!
//! The first two lines of the output have the cost for the audio thread. For each, short measurements with and without an open
//! editor alternate.

use criterion::{Criterion, criterion_group, criterion_main};
use std::{
    hint::black_box,
    time::{Duration, Instant},
};
use tone_filter::{
    WindowlessEditor,
    meters::{MeterInput, MeterViewer, meters},
};
use tone_filter_dsp::{
    Settings, Snapshot, ToneFilter,
    notes::{self, TONES},
};
use tone_filter_testkit::signals::{noisy_chord, white};

const RATE: f64 = 48_000.0;
/// Number of samples between two frames of a display at 60 Hz.
const FRAME: usize = 800;

/// Returns a snapshot at `time` (in seconds) in which all bands sound. Phase and level of each band move at rates of its own.
fn all_lit(time: f64) -> Snapshot {
    let mut lit = Snapshot { drive: 40.0, threshold: 0.001, ceiling: 0.05, ..Snapshot::default() };
    (lit.floor, lit.first.total_power) = (1e-6, 0.1);
    lit.tones.lo_weight = [1.0; TONES];
    for tone in 0..TONES {
        let turns = std::f64::consts::TAU * notes::frequency(tone, 440.0, 0.0);
        let (sine, cosine) = (turns * time).sin_cos();
        // Alternately below and above the ceiling.
        let amplitude = [0.05, 0.12][tone % 2];
        lit.tones.angular_frequency[tone] = turns as f32;
        lit.first.bp[tone] = (amplitude * sine) as f32;
        lit.first.lo[tone] = (amplitude * cosine) as f32;
        // The levels move at different rates.
        let ratio = 0.05 + 0.04 * (time * (1.0 + tone as f64)).sin();
        lit.first.power[tone] = (0.1 * ratio) as f32;
    }
    lit
}

fn frames(c: &mut Criterion) {
    let mut group = c.benchmark_group("frame");
    let size = [1000.0, 640.0];
    let mut time = 0.0;
    for (name, lit, roll, spectrum) in [
        ("idle", false, false, false),
        ("all lit", true, false, false),
        ("the roll with all lit", true, true, false),
        ("all lit and the spectrum", true, false, true),
    ] {
        let (mut editor, mut input) = WindowlessEditor::new();
        let ctx = WindowlessEditor::context();
        if roll {
            editor.show_roll();
        }
        if spectrum {
            input.set_sample_rate(RATE);
        }
        let mut sound = noisy_chord(20.0, RATE).into_iter().cycle();
        group.bench_function(name, |b| {
            b.iter(|| {
                // The frames are 1/60 s apart.
                time += 1.0 / 60.0;
                if spectrum {
                    let mut block: Vec<f32> = sound.by_ref().take(FRAME).collect();
                    input.measure(&mut [&mut block], |_| ());
                }
                if lit {
                    input.advance(usize::MAX, || all_lit(time));
                }
                black_box(editor.frame(&ctx, size, time))
            });
        });
    }
    group.finish();
}

/// Plays `signal` on both channels through the filter and its meters, in blocks of `size`. `viewer` reads the meters after each
/// frame of a display, rounded up to whole blocks. The result leaves out this time, because the plugin's editor reads on
/// another thread.
fn play(
    input: &mut MeterInput,
    filter: &mut ToneFilter,
    mut viewer: Option<&mut MeterViewer>,
    signal: &[f32],
    size: usize,
) -> Duration {
    let (mut left, mut right) = (vec![0.0; size], vec![0.0; size]);
    let mut time = Duration::ZERO;
    for frame in signal.chunks(FRAME.next_multiple_of(size)) {
        let begun = Instant::now();
        for block in frame.chunks_exact(size) {
            left.copy_from_slice(block);
            right.copy_from_slice(block);
            input.measure(&mut [&mut left, &mut right], |channels| filter.process(channels));
            black_box(input.advance(size, || filter.snapshot()));
        }
        time += begun.elapsed();
        black_box(viewer.as_mut().map(|viewer| viewer.latest()));
    }
    time
}

/// Measures the audio thread with a closed and with an open editor alternately, for a quarter of a second of sound each. The
/// 5th percentile of each counts, to exclude other load.
fn audio_thread(_: &mut Criterion) {
    const TURNS: usize = 400;
    let signal = white(0.25, RATE);
    for size in [64, 512] {
        let mut filter =
            ToneFilter::new(RATE, &Settings::default()).expect("the defaults are in range");
        let (mut input, connection) = meters();
        input.set_sample_rate(RATE);
        let mut times = [const { Vec::new() }; 2];
        for _ in 0..TURNS {
            for (watched, times) in times.iter_mut().enumerate() {
                let mut viewer = (watched == 1).then(|| connection.open());
                times.push(play(&mut input, &mut filter, viewer.as_mut(), &signal, size));
            }
        }
        let [closed, open] = times.map(|mut times| {
            times.sort();
            times[TURNS / 20].as_secs_f64()
        });
        let (blocks, percent) = (signal.len() / size, 100.0 * (open / closed - 1.0));
        let [closed, open] = [closed, open].map(|time| 1e9 * time / blocks as f64);
        println!(
            "audio thread, blocks of {size}: {closed:.0} ns, with an open editor {open:.0} ns: {percent:.2} % more"
        );
    }
}

criterion_group!(benches, audio_thread, frames);
criterion_main!(benches);
