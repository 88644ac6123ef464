//! Speed measurement of kernels. The kernels run in turns, so that other load on the computer affects all of them alike.

use crate::{
    entries::voices,
    progress::{bar, move_to},
};
use std::{hint::black_box, time::Instant};
use tone_filter_dsp::{BandMask, Controls, Kernel, Settings, Stereo, ToneFilter};

/// Number of samples per channel for each call of `process`, as in an offline renderer.
const BLOCK: usize = 4096;
/// A speed is stable after this number of consecutive turns, none of which has improved it by [`MIN_IMPROVEMENT`].
const STABLE_AFTER: usize = 10;
/// Smallest improvement that counts, as a fraction of the time per sample.
const MIN_IMPROVEMENT: f64 = 0.005;
/// The measurement ends after this multiple of the requested number of turns, even if the speeds are not stable.
const MAX_TURNS_FACTOR: usize = 4;

/// Speed of a kernel: the lowest values of all turns.
#[derive(Clone, Copy)]
pub struct Speed {
    /// Seconds per sample.
    pub seconds: f64,
    /// CPU cycles per sample, if they can be counted.
    pub cycles: Option<f64>,
}

/// Filter under test, its buffers, and its best speed so far.
struct Contender {
    filter: ToneFilter,
    channels: Vec<Vec<f32>>,
    speed: Speed,
    /// Number of turns since the speed last improved by more than [`MIN_IMPROVEMENT`].
    since: usize,
}

impl Contender {
    fn new(filter: ToneFilter, channels: usize) -> Self {
        let speed = Speed { seconds: f64::INFINITY, cycles: None };
        Self { filter, channels: vec![Vec::new(); channels], speed, since: 0 }
    }

    fn run(&mut self, signal: &[f32], cycles: &mut Cycles) {
        for channel in &mut self.channels {
            channel.clear();
            channel.extend_from_slice(signal);
        }
        let mut elapsed = 0.0;
        let count = cycles.count(|| {
            let start = Instant::now();
            match &mut self.channels[..] {
                [left, right] => {
                    for (left, right) in left.chunks_mut(BLOCK).zip(right.chunks_mut(BLOCK)) {
                        self.filter.process(&mut [left, right]);
                    }
                }
                channels => {
                    for block in channels[0].chunks_mut(BLOCK) {
                        self.filter.process(&mut [block]);
                    }
                }
            }
            black_box(&self.channels);
            elapsed = start.elapsed().as_secs_f64();
        });
        let samples = signal.len() as f64;
        let (seconds, cycles) = (elapsed / samples, count.map(|count| count as f64 / samples));
        self.since =
            if seconds < (1.0 - MIN_IMPROVEMENT) * self.speed.seconds { 0 } else { self.since + 1 };
        if seconds < self.speed.seconds {
            self.speed.seconds = seconds;
        }
        self.speed.cycles = match (self.speed.cycles, cycles) {
            (Some(least), Some(cycles)) => Some(least.min(cycles)),
            (least, cycles) => least.or(cycles),
        };
    }
}

/// Filters `signal` with each of `kernels` in turn, at least `turns` times each. Ends when all speeds are stable, or after
/// [`MAX_TURNS_FACTOR`] times as many turns. `voice` is the index of a voice, and `rate` is in Hz.
///
/// Returns three speeds of each kernel: for one channel with all bands; for a frame in stereo, in which both channels have a
/// bank of their own; and for one channel with every other band muted.
pub fn measure(
    kernels: &[Kernel],
    voice: usize,
    rate: f64,
    signal: &[f32],
    turns: usize,
) -> Result<Vec<(Kernel, [Speed; 3])>, tone_filter_dsp::Error> {
    let mut controls = Controls::from(Settings { mix: 100.0, ..Settings::REFERENCE });
    voices().set(&mut controls, voice);
    let settings = controls.settings;
    let stereo = Settings { stereo: Stereo::Stereo, ..settings };
    let odd = (0..tone_filter_dsp::notes::TONES).filter(|tone| tone % 2 == 1);
    let bands = odd.fold(BandMask::ALL, |mask, tone| mask.with(tone, false));
    let masked = Settings { bands, ..settings };
    let filter = |kernel, settings| ToneFilter::new(rate, settings).map(|f| f.with_kernel(kernel));

    let mut contenders = Vec::new();
    for &kernel in kernels {
        contenders.push([
            Contender::new(filter(kernel, &settings)?, 1),
            Contender::new(filter(kernel, &stereo)?, 2),
            Contender::new(filter(kernel, &masked)?, 1),
        ]);
    }
    let mut cycles = Cycles::new();
    let bar = bar("bench", false);
    for turn in 0..MAX_TURNS_FACTOR * turns {
        let stable = |contender: &Contender| contender.since >= STABLE_AFTER;
        if turn >= turns && contenders.iter().flatten().all(stable) {
            break;
        }
        move_to(&bar, (turn as f64 / turns as f64).min(1.0));
        for contender in contenders.iter_mut().flatten() {
            contender.run(signal, &mut cycles);
        }
    }
    let speeds =
        contenders.iter().map(|of_kernel| of_kernel.each_ref().map(|contender| contender.speed));
    Ok(kernels.iter().copied().zip(speeds).collect())
}

/// Counter of the CPU cycles of this thread. Only Linux has one.
struct Cycles {
    #[cfg(target_os = "linux")]
    counter: Option<perf_event::Counter>,
}

impl Cycles {
    /// Creates a counter, if the system allows one: on Linux, if `perf_event_paranoid` is at most 2.
    fn new() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            counter: perf_event::Builder::new(perf_event::events::Hardware::CPU_CYCLES)
                .build()
                .ok(),
        }
    }

    /// Runs `work`. Returns how many cycles it took, or `None` without a counter.
    #[cfg(target_os = "linux")]
    fn count(&mut self, work: impl FnOnce()) -> Option<u64> {
        let counting =
            self.counter.as_mut().and_then(|counter| counter.reset().and(counter.enable()).ok());
        work();
        let counter = self.counter.as_mut().filter(|_| counting.is_some())?;
        counter.disable().ok()?;
        // In a virtual machine, the counter may stay at 0.
        counter.read().ok().filter(|cycles| *cycles > 0)
    }

    /// Runs `work`. Returns `None`, because this system has no counter.
    #[cfg(not(target_os = "linux"))]
    fn count(&mut self, work: impl FnOnce()) -> Option<u64> {
        work();
        None
    }
}
