//! A bank of resonators, which turns its input into the wet signal block by block.

pub mod kernel;
pub mod one_pole;
mod params;
mod resonator;

use crate::{
    lanes::Lanes,
    notes::{PUBLISHED, TONES},
};
use kernel::{FrameInputs, Rows, State, Task};
use one_pole::OnePole;
pub use params::{
    BankParams, PHASE_INTERVAL, PHASES_PER_BLOCK, Pitches, TOTAL_RELEASE, Tones, low_pass_pole,
};
pub use resonator::ring_of;
use tone_filter_simd::Kernel;

/// Clamp level of a bank's input: 18 dB over full scale, far above music. It shortens the effect of a faulty sample.
pub const LOUDEST: f32 = 8.0;
/// Magnitude up to which a state or power is negligible: the product of a band's output, its RMS and any drive is below the
/// smallest number.
const NEGLIGIBLE: f32 = 1e-32;

#[derive(Debug, Clone)]
pub struct Bank {
    state: State,
    inputs: FrameInputs,
    rows: Rows,
    /// Last two samples of the input.
    previous: [f32; 2],
    total_power: OnePole,
    low_pass: OnePole,
    /// Low-pass of the right output; `None` without panned notes.
    right: Option<OnePole>,
    /// Squared amplitudes at which the bands were frozen; `None` while they are not.
    frozen: Option<Lanes>,
}

impl Bank {
    pub const fn new() -> Self {
        Self {
            state: State::ZERO,
            inputs: FrameInputs::ZERO,
            rows: Rows::NEW,
            previous: [0.0; 2],
            total_power: OnePole::ZERO,
            low_pass: OnePole::ZERO,
            right: None,
            frozen: None,
        }
    }

    /// Computes the wet signal of `input`: at most 64 finite samples from `position` on in the block. `wet` must have the
    /// same length. With [`BankParams::pan`], `wet` gets the left output and `right` the right one; otherwise `right` is left
    /// untouched.
    pub fn process(
        &mut self,
        kernel: Kernel,
        params: &BankParams,
        position: usize,
        input: &[f32],
        wet: &mut [f32],
        right: &mut [f32],
    ) {
        let panned = params.coefficients.sides.is_some();
        if self.rests(input) {
            (self.total_power, self.low_pass) = (OnePole::ZERO, OnePole::ZERO);
            self.right = None;
            self.inputs.total_power[..input.len()].fill(0.0);
            wet.fill(0.0);
            if panned {
                right.fill(0.0);
            }
            return;
        }
        self.hold_frozen(params, position);
        self.prepare(kernel, params, position, input);
        self.run(kernel, params, position, wet, right);
        if !params.coefficients.driven {
            (self.low_pass, self.right) = (OnePole::ZERO, None);
            return;
        }
        if panned {
            for (sum, side) in wet.iter_mut().zip(&mut *right) {
                (*sum, *side) = (*sum + *side, *sum - *side);
            }
            let low_pass = self.right.get_or_insert_with(|| self.low_pass.clone());
            finish(kernel, low_pass, params, position, right);
        } else {
            self.right = None;
        }
        finish(kernel, &mut self.low_pass, params, position, wet);
    }

    /// Whether `input` is silence and the state is negligible. Skipping the kernel then changes later output samples only below
    /// -400 dB.
    fn rests(&self, input: &[f32]) -> bool {
        let State { lo, bp, power, .. } = &self.state;
        let negligible = |lanes: &Lanes| lanes.0.iter().all(|value| value.abs() <= NEGLIGIBLE);
        input.iter().all(|sample| *sample == 0.0)
            && self.previous == [0.0; 2]
            && self.total_power.latest <= NEGLIGIBLE
            && [lo, bp, power].into_iter().all(negligible)
            // The low-pass feeds the output directly, so it must be exactly 0.
            && self.low_pass.latest == 0.0
            && self.right.as_ref().is_none_or(|right| right.latest == 0.0)
    }

    /// Restores the amplitudes at which the bands were frozen, once per block. Without this, rounding errors and changes of the
    /// tuning would alter the amplitudes.
    fn hold_frozen(&mut self, params: &BankParams, position: usize) {
        if position != 0 {
            return;
        }
        if params.ring.is_finite() {
            self.frozen = None;
            return;
        }
        let (State { lo, bp, .. }, c) = (&mut self.state, &params.coefficients);
        // Without damping, `b lo^2 + a bp^2 + a b lo bp` is constant. At a peak A of `bp`, it equals `a A^2 (1 - a b / 4)`.
        let squared = |tone: usize, lo: f32, bp: f32| {
            let (a, b) = (c.rise.0[tone], c.fall.0[tone]);
            (b * lo * lo + a * bp * bp + a * b * lo * bp) / (a * (1.0 - 0.25 * a * b))
        };
        let now = Lanes::of(|tone| squared(tone, lo.0[tone], bp.0[tone]));
        let then = self.frozen.get_or_insert(now);
        for tone in 0..TONES {
            // Below 1e-30, squares lose their digits; such bands are inaudible.
            let gain = if now.0[tone] > 1e-30 { (then.0[tone] / now.0[tone]).sqrt() } else { 0.0 };
            lo.0[tone] *= gain;
            bp.0[tone] *= gain;
        }
    }

    /// Computes the inputs that all bands share: `x[t] - x[t-2]`, and the total power.
    fn prepare(&mut self, kernel: Kernel, params: &BankParams, position: usize, samples: &[f32]) {
        let clamped = |sample: f32| sample.clamp(-LOUDEST, LOUDEST);
        let FrameInputs { input, total_power } = &mut self.inputs;
        let [first, second] = self.previous;
        for (to, (x, second)) in input.iter_mut().zip(samples.iter().zip([first, second])) {
            *to = clamped(*x) - second;
        }
        kernel.vectorize(
            #[inline(always)]
            || {
                let pairs = samples.iter().zip(samples.iter().skip(2));
                for (to, (second, x)) in input.iter_mut().skip(2).zip(pairs) {
                    *to = clamped(*x) - clamped(*second);
                }
                for (power, x) in total_power.iter_mut().zip(samples) {
                    *power = clamped(*x).powi(2);
                }
            },
        );
        self.previous = match samples {
            [.., first, second] => [clamped(*first), clamped(*second)],
            [only] => [second, clamped(*only)],
            [] => self.previous,
        };
        let total_power = &mut total_power[..samples.len()];
        self.total_power.track(kernel, &params.total, position, total_power);
    }

    /// Runs the kernel: writes the `sums` of the driven bands, and with panned notes the `sides` (half of left minus right).
    fn run(
        &mut self,
        kernel: Kernel,
        params: &BankParams,
        position: usize,
        sums: &mut [f32],
        sides: &mut [f32],
    ) {
        let Self { state, inputs, rows, .. } = self;
        let task = Task { state, position, inputs, rows, sums, sides };
        kernel::process(kernel, &params.coefficients, task);
    }

    pub fn rest_low(&mut self) {
        let State { lo, bp, power, .. } = &mut self.state;
        [lo, bp, power].into_iter().for_each(|lanes| lanes.0[PUBLISHED..].fill(0.0));
    }

    pub fn powers(&self, params: &BankParams) -> Lanes {
        let mut state = self.state.clone();
        state.settle(&params.coefficients);
        state.power
    }

    /// Returns the state of the bands in plain units, with `lo` as the integral of `bp` alone. The `lo` of the kernels also
    /// contains the last two input samples.
    pub fn state(&self, params: &BankParams) -> State {
        let c = &params.coefficients;
        let mut state = self.state.clone();
        state.settle(c);
        let latest = self.previous[0] + self.previous[1];
        for (lo, entry) in state.lo.0.iter_mut().zip(&c.entry.0) {
            *lo += entry * latest;
        }
        state
    }

    /// Returns the tracked power of the input at each of the `frames` samples of the last call.
    pub fn total_powers(&self, frames: usize) -> &[f32] {
        &self.inputs.total_power[..frames]
    }

    pub fn total_power(&self) -> f32 {
        self.total_power.latest
    }
}

/// Applies low-pass and second soft clip to one output.
fn finish(
    kernel: Kernel,
    low_pass: &mut OnePole,
    params: &BankParams,
    position: usize,
    wet: &mut [f32],
) {
    low_pass.track(kernel, &params.low_pass, position, wet);
    kernel.vectorize(
        #[inline(always)]
        || params.clip(position, wet),
    );
}

#[cfg(test)]
mod tests;
