//! Worst-case processing time of buffers, relative to their deadline.

use crate::clap::{Change, Library};
use crate::signals::noise;
use anyhow::{Context, Result};
use std::{cell::RefCell, fmt, time::Instant};

const RATE: f64 = 48_000.0;
/// Number of buffers after which new noise and parameter changes are drawn.
const ROUND: usize = 10_000;
/// Number of times that the same buffers are played.
const TURNS: usize = 3;

thread_local! {
    /// Duration in seconds of each call of the plugin on this thread.
    static TIMES: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

/// Processing times of many buffers relative to their deadline; a time above 1 misses it.
pub struct Timing {
    /// Length of a buffer in samples.
    pub block: usize,
    /// Measured times of every buffer in every turn, ascending.
    pub wall: Vec<f32>,
    /// Shortest time of every buffer over all turns, ascending. Other processes and interrupts disturb different buffers in
    /// every turn, so the shortest time is without disturbance.
    pub own: Vec<f32>,
}

impl Timing {
    fn new(block: usize, turns: &[Vec<f32>]) -> Self {
        let deadline = (block as f64 / RATE) as f32;
        let sorted = |times: &mut dyn Iterator<Item = f32>| {
            let mut shares: Vec<f32> = times.map(|time| time / deadline).collect();
            shares.sort_unstable_by(f32::total_cmp);
            shares
        };
        let blocks = turns.iter().map(Vec::len).min().unwrap_or(0);
        let shortest = |index| turns.iter().map(|turn| turn[index]).fold(f32::INFINITY, f32::min);
        let wall = sorted(&mut turns.iter().flatten().copied());
        Self { block, wall, own: sorted(&mut (0..blocks).map(shortest)) }
    }
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let text = |shares: &[f32]| {
            let [median, p99, p9999, max] = [0.5, 0.99, 0.9999, 1.0]
                .map(|part| 100.0 * shares[(part * (shares.len() - 1) as f64) as usize]);
            format!("p50 {median:.2} %, p99 {p99:.2} %, p99.99 {p9999:.2} %, max {max:.2} %")
        };
        let (block, count) = (self.block, self.own.len());
        let [wall, own] = [&self.wall, &self.own].map(|shares| text(shares));
        write!(
            f,
            "{count} blocks of {block} samples at {RATE} Hz, {TURNS} times, of the deadline:\n  by the clock \
             {wall}\n  of their own {own}"
        )
    }
}

fn timed(call: &mut dyn FnMut()) {
    let started = Instant::now();
    call();
    let time = started.elapsed().as_secs_f32();
    TIMES.with_borrow_mut(|times| times.push(time));
}

/// Plays `count` buffers of `block` samples, with one or two parameter changes each, three times.
///
/// # Errors
/// If a call of the plugin fails.
pub fn measure(library: &Library, block: usize, count: usize) -> Result<Timing> {
    let turns: Vec<_> = (0..TURNS).map(|_| turn(library, block, count)).collect::<Result<_>>()?;
    Ok(Timing::new(block, &turns))
}

/// Plays all buffers once. Returns the duration of each one in seconds.
fn turn(library: &Library, block: usize, count: usize) -> Result<Vec<f32>> {
    let plugin = library.plugins()?.into_iter().next().context("the bundle is empty")?;
    let mut instance = library.instantiate(&plugin.id)?;
    let parameters = instance.parameters()?;
    let mut processor = instance.activate(RATE, block)?;
    processor.surroundings.call = timed;
    let mut noise = noise(block as u64);
    TIMES.take();
    for first in (0..count).step_by(ROUND) {
        let frames = block * ROUND.min(count - first);
        let mut signal = vec![vec![0f32; frames]; 2];
        signal.iter_mut().flatten().for_each(|sample| *sample = 0.5 * noise() as f32);
        let mut any = |count: usize| ((noise() + 1.0) / 2.0 * count as f64) as usize % count;
        let mut changes: Vec<_> = (0..frames / block * 3 / 2)
            .map(|_| {
                let frame = any(frames);
                let parameter = &parameters[any(parameters.len())];
                let value = any(parameter.max as usize * 1000 + 1) as f64 / 1000.0;
                Change { frame, parameter: parameter.id, value }
            })
            .collect();
        changes.sort_by_key(|change| change.frame);
        // The processor searches all of its changes for each buffer. So a call has the changes of 100 buffers only.
        for (index, start) in (0..frames).step_by(100 * block).enumerate() {
            let end = frames.min(start + 100 * block);
            let from = changes.partition_point(|change| change.frame < start);
            let to = changes.partition_point(|change| change.frame < end);
            let within: Vec<_> = changes[from..to]
                .iter()
                .map(|change| Change { frame: change.frame - start, ..*change })
                .collect();
            let mut part: Vec<_> = signal.iter().map(|c| c[start..end].to_vec()).collect();
            let in_place = index % 2 == 0;
            processor.run(&mut part, in_place, &mut std::iter::repeat(block), &within)?;
        }
    }
    instance.deactivate(processor);
    Ok(TIMES.take())
}
