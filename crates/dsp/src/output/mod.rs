//! Output: delay of the main input, mix and peak limiters.

mod ahead;
mod limiter;
mod true_peak;

use crate::{
    delay::Delay,
    lanes::BLOCK,
    plan::{BlockPlan, Span},
    ramp::Ramp,
};
use ahead::{AheadLimiter, wait};
use limiter::Limiter;
use tone_filter_simd::Kernel;

#[derive(Debug, Clone)]
pub struct Output {
    /// Delay of the main input, for the dry signal and the bands.
    pub delay: Delay,
    /// Whether main input and mix are written to their delays.
    pub delaying: bool,
    /// Number of samples written to the delays since their start, at most the latency.
    recorded: usize,
    ahead: AheadLimiter,
    limiter: Limiter,
    /// Whether any limiter runs in this block.
    limiting: bool,
    /// Whether the limiter without latency runs in this block.
    at_once: bool,
    /// Whether the signal can exceed the maximum of the soft clip: with oscillators or auto level. The limiter then stays on in
    /// the next block, too.
    unclipped: bool,
    /// Dry signal of each channel in the current block, after the delay; not updated while no limiter is on.
    pub dry: Vec<[f32; BLOCK]>,
}

impl Output {
    /// Creates the output stage at rest; `latency` is in samples.
    pub fn new(sample_rate: f64, channels: usize, latency: usize) -> Self {
        let wait = wait(sample_rate, latency);
        Self {
            delay: Delay::new(latency - wait, channels),
            delaying: false,
            recorded: latency,
            ahead: AheadLimiter::new(sample_rate, channels, wait),
            limiter: Limiter::new(sample_rate),
            limiting: false,
            at_once: false,
            unclipped: false,
            dry: vec![[0.0; BLOCK]; channels],
        }
    }

    /// Returns the latency of `lookahead` in samples: the sum of the delays of the main input and of the mix.
    pub fn latency(&self) -> usize {
        self.delay.length + self.ahead.delay.length
    }

    pub fn reset(&mut self, lookahead: bool) {
        self.delay.reset();
        self.ahead.reset();
        self.limiter.reset();
        (self.delaying, self.limiting, self.unclipped) = (lookahead, false, false);
        self.recorded = self.latency();
    }

    /// Starts the delay with `lookahead`, and stops it after its fade-out. `faded` is the weight of the delayed signal. Returns
    /// whether the delayed signal may be faded in.
    pub fn prepare_delay(&mut self, lookahead: bool, faded: f32) -> bool {
        if lookahead && !self.delaying {
            self.delay.reset();
            self.ahead.reset();
            self.recorded = 0;
        }
        self.delaying = lookahead || faded > 0.0;
        lookahead && self.recorded == self.latency()
    }

    /// Begins a block. `unclipped`: whether the signal can exceed the maximum of the soft clip.
    pub fn begin_block(&mut self, plan: &BlockPlan, unclipped: bool) {
        // The soft clip alone needs no limiter. A gain below 1 is released before the limiter stops: a jump to 1 would click.
        let rests = self.limiter.rests();
        let limiting = unclipped || self.unclipped || !rests || !self.ahead.rests();
        self.unclipped = unclipped;
        if limiting && !self.limiting {
            // A limiter that was off has not tracked the input.
            self.limiter.reset();
            self.ahead.rest();
        }
        self.limiting = limiting;
        let Ramp { from, to, .. } = &plan.mix_gains;
        self.at_once = limiting && !(rests && from.lookahead == 1.0 && to.lookahead == 1.0);
    }

    /// Delays the samples `span`, and keeps them as the dry signal while a limiter is on.
    pub fn delay(&mut self, plan: &BlockPlan, channels: &mut [&mut [f32]], span: &Span) {
        if self.delaying {
            let delayed = |frame| (1.0, plan.mix_gains_at(span.position + frame).lookahead);
            self.delay.process(channels, span.range.clone(), delayed);
        }
        if self.limiting {
            for (dry, channel) in self.dry.iter_mut().zip(channels) {
                dry[span.in_block()].copy_from_slice(&channel[span.range.clone()]);
            }
        }
    }

    /// Mixes the samples `span` with the `wet` signal of each channel, and limits the result.
    pub fn mix<'a>(
        &mut self,
        kernel: Kernel,
        plan: &BlockPlan,
        channels: &mut [&mut [f32]],
        wet: impl Fn(usize) -> &'a [f32; BLOCK],
        span: &Span,
    ) {
        for (index, channel) in channels.iter_mut().enumerate() {
            let wet = &wet(index)[span.in_block()];
            let samples = channel[span.range.clone()].iter_mut().zip(wet);
            let Ramp { from, to, .. } = plan.mix_gains;
            let moves = (from.dry, from.wet) != (to.dry, to.wet);
            kernel.vectorize(
                #[inline(always)]
                || match moves {
                    false => {
                        samples.for_each(|(sample, wet)| *sample = to.dry * *sample + to.wet * wet)
                    }
                    true => {
                        for (frame, (sample, wet)) in samples.enumerate() {
                            let gains = plan.mix_gains_at(span.position + frame);
                            *sample = gains.dry * *sample + gains.wet * wet;
                        }
                    }
                },
            );
        }
        let dry = &self.dry[..self.dry.len().min(channels.len())];
        let (position, range) = (span.position, span.range.clone());
        if self.delaying {
            self.recorded = (self.recorded + range.len()).min(self.latency());
            let limited = self.limiting.then_some(dry);
            let delayed = |frame| plan.mix_gains_at(position + frame).lookahead;
            let (range, scale) = (range.clone(), plan.output_gain);
            kernel.vectorize(
                #[inline(always)]
                || self.ahead.process(limited, channels, position, range, scale, delayed),
            );
        }
        // The lookahead limiter leaves out channels that are not delayed.
        if self.at_once || self.limiting && channels.len() > dry.len() {
            kernel.vectorize(
                #[inline(always)]
                || self.limiter.process(dry, channels, position, range, plan.output_gain),
            );
        }
    }
}
