//! Worst-case processing time of buffers, relative to their deadline.

use std::{cell::RefCell, iter::repeat, time::Instant};
use tone_filter_hosts::RATE;
use tone_filter_testkit::{
    Draws,
    plugin::{any_change, instance},
    signals::white,
};

/// Number of buffers per run. The test host searches all changes of a run for each buffer, so runs are short.
const ROUND: usize = 100;
const TURNS: usize = 3;

thread_local! {
    /// Duration in seconds of each call of the plugin on this thread.
    static TIMES: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

fn timed(call: &mut dyn FnMut()) {
    let started = Instant::now();
    call();
    let time = started.elapsed().as_secs_f32();
    TIMES.with_borrow_mut(|times| times.push(time));
}

/// Plays `count` buffers of `block` samples, with three parameter changes per two buffers, and prints the processing times.
///
/// Plays all buffers [`TURNS`] times. Prints percentiles of all times, and of the shortest time of each buffer, which other
/// processes and interrupts disturb least.
pub fn measure(block: usize, count: usize) {
    let turns: Vec<_> = (0..TURNS).map(|_| turn(block, count)).collect();
    let shortest = |index| turns.iter().map(|turn| turn[index]).fold(f32::INFINITY, f32::min);
    println!("{count} blocks of {block} samples at {RATE} Hz, {TURNS} times, of the deadline:");
    println!("  by the clock {}", percentiles(block, turns.concat()));
    println!("  of their own {}", percentiles(block, (0..count).map(shortest).collect()));
}

/// Formats percentiles of `times` (in seconds), in percent of the duration of `block` samples.
fn percentiles(block: usize, mut times: Vec<f32>) -> String {
    times.sort_unstable_by(f32::total_cmp);
    let [median, p99, p9999, max] = [0.5, 0.99, 0.9999, 1.0].map(|part| {
        let time = f64::from(times[(part * (times.len() - 1) as f64) as usize]);
        100.0 * time * RATE / block as f64
    });
    format!("p50 {median:.2} %, p99 {p99:.2} %, p99.99 {p9999:.2} %, max {max:.2} %")
}

/// Plays all buffers once. Returns the duration of each one in seconds.
fn turn(block: usize, count: usize) -> Vec<f32> {
    let mut instance = instance();
    let parameters = instance.parameters().unwrap();
    let mut processor = instance.activate(RATE, block).unwrap();
    processor.call = timed;
    let (draws, noise) = (&mut Draws::seeded(block as u64), white(1.0, RATE));
    TIMES.take();
    for first in (0..count).step_by(ROUND) {
        let frames = block * ROUND.min(count - first);
        let mut changes: Vec<_> = (0..frames / block * 3 / 2)
            .map(|_| {
                let frame = draws.below(frames);
                any_change(draws, &parameters, frame)
            })
            .collect();
        changes.sort_by_key(|change| change.frame);
        let mut signal = [0; 2].map(|_| {
            let start = draws.below(noise.len() - frames);
            noise[start..start + frames].to_vec()
        });
        let in_place = (first / ROUND).is_multiple_of(2);
        processor.run(&mut signal, in_place, &mut repeat(block), &changes).unwrap();
    }
    TIMES.take()
}
