//! How long blocks take at worst, against the time that there is for them.

use super::common::noise;
use crate::host::{Change, Library};
use anyhow::{Context, Result};
use std::{cell::RefCell, fmt, time::Instant};

const RATE: f64 = 48_000.0;
/// Blocks from one start of the music to the next.
const ROUND: usize = 10_000;

thread_local! {
    /// What each call on this thread took, in seconds.
    static TIMES: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

/// The times of many blocks, sorted.
pub struct Timing {
    /// Samples.
    pub block: usize,
    /// Share of the deadline, 0..1 and above, of each block; ascending.
    pub shares: Vec<f32>,
}

impl Timing {
    /// The share that `part` (0..=1) of the blocks keeps below.
    pub fn quantile(&self, part: f64) -> f32 {
        let last = self.shares.len() - 1;
        self.shares[((part * last as f64) as usize).min(last)]
    }
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let [median, p99, p9999, max] = [0.5, 0.99, 0.9999, 1.0].map(|p| 100.0 * self.quantile(p));
        write!(
            f,
            "blocks of {} samples at {RATE} Hz, {} of them, of the deadline: p50 {median:.2} %, p99 \
             {p99:.2} %, p99.99 {p9999:.2} %, max {max:.2} %",
            self.block,
            self.shares.len()
        )
    }
}

fn timed(call: &mut dyn FnMut()) {
    let started = Instant::now();
    call();
    let time = started.elapsed().as_secs_f32();
    TIMES.with_borrow_mut(|times| times.push(time));
}

/// Plays `count` blocks of `block` samples, a parameter or two of each on the move.
///
/// # Errors
/// When the plugin does not play.
pub fn measure(library: &Library, block: usize, count: usize) -> Result<Timing> {
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
        // The processor looks through all changes for those of a block.
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
    let deadline = (block as f64 / RATE) as f32;
    let mut shares: Vec<f32> = TIMES.take().into_iter().map(|time| time / deadline).collect();
    shares.sort_unstable_by(f32::total_cmp);
    Ok(Timing { block, shares })
}
