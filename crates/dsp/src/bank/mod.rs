//! A bank of resonators: a signal in, the wet signal out, block by block.

pub mod kernel;
pub mod one_pole;
mod pitches;
mod resonator;

use crate::{
    constants::Constants,
    lanes::{BLOCK, Lanes},
    notes::{PUBLISHED, TONES, frequency, semitone},
    settings::Settings,
};
use fearless_simd::Simd;
use kernel::{Coefficients, FrameInputs, RMS_GUARD, State, Task};
use one_pole::{OnePole, Response};
pub use pitches::{LOOK, LOOKS, Pitches, Tones};
use resonator::Design;
pub use resonator::ring_of;
use tone_filter_simd::{Kernel, Work};

/// The bound of a bank's input as a magnitude, 18 dB over full scale: far above music, it limits how long a fault in
/// the input has an effect.
pub const LOUDEST: f32 = 8.0;

/// States and powers below this are negligible: the product of a band, its effective value and any drive is below the
/// smallest number.
const NEGLIGIBLE: f32 = 1e-32;

/// The constants and coefficients of a bank for the current settings, at one sample rate.
#[derive(Debug, Clone)]
pub struct BankParams {
    /// Hz.
    pub sample_rate: f64,
    /// The constants of the formulas.
    pub constants: Constants,
    /// Those of the kernel.
    pub coefficients: Coefficients,
    /// The averages: the total power, the low-pass of the soft clip and that of the other voices.
    total: Response,
    low_pass: Response,
    /// See `total`.
    pub voice_low_pass: Response,
    /// The gain that would bring the input to the nominal level, at the start and at the end of the current block. It
    /// is applied to the floor, the guard and the clip in place of the input.
    gains: [f32; 2],
    /// The bands' pitches, for the voices.
    pub pitches: Pitches,
    /// The bands' tuning, for snapshots.
    pub tones: Tones,
    /// The settings of the current resonators, and how many there are.
    ring: f32,
    tuning: f32,
    transpose: f32,
    count: usize,
}

impl BankParams {
    /// Those for `settings` at `sample_rate` Hz.
    pub fn new(settings: &Settings, sample_rate: f64) -> Self {
        let mut params = Self {
            sample_rate,
            constants: Constants::new(settings, sample_rate),
            coefficients: Coefficients::ZERO,
            total: Response::new(0.0),
            low_pass: Response::new(0.0),
            voice_low_pass: Response::new(0.0),
            gains: [1.0; 2],
            pitches: Pitches::ZERO,
            tones: Tones::ZERO,
            ring: f32::NAN,
            tuning: f32::NAN,
            transpose: f32::NAN,
            count: 0,
        };
        params.update(settings, PUBLISHED);
        params
    }

    /// Updates all constants for `settings` and the first `count` tones. The resonators are designed again only if their settings have changed.
    /// With [`Settings::freeze`], they ring for ever, which leaves their input no gain, and the powers stay as they are.
    pub fn update(&mut self, settings: &Settings, count: usize) {
        let frozen = settings.freeze;
        self.constants = Constants::new(settings, self.sample_rate);
        self.coefficients.set_step(if frozen { 0.0 } else { self.constants.band_step });
        self.total = Response::new(if frozen { 0.0 } else { self.constants.total_step });
        self.low_pass = Response::new(1.0 - self.constants.smoothing);
        self.voice_low_pass = Response::new(1.0 - self.constants.voice_smoothing);
        self.coefficients.drive = self.constants.drive as f32;
        self.coefficients.threshold = self.constants.threshold as f32;
        self.coefficients.ceiling = self.constants.ceiling as f32;

        let &Settings { ring, tuning, transpose, .. } = settings;
        let ring = if frozen { f32::INFINITY } else { ring };
        let same = [ring, tuning, transpose] == [self.ring, self.tuning, self.transpose];
        if same && count == self.count {
            return;
        }
        (self.ring, self.tuning, self.transpose, self.count) = (ring, tuning, transpose, count);
        let mut designs = [Design::new(0.0, f64::from(ring), self.sample_rate); TONES];
        let designs = &mut designs[..count];
        for (tone, design) in designs.iter_mut().enumerate() {
            let f = frequency(tone, f64::from(tuning), f64::from(transpose));
            let ring = ring_of(semitone(tone), f64::from(ring));
            *design = Design::new(f, ring, self.sample_rate);
        }
        self.coefficients.set_resonators(designs);
        for (tone, design) in designs.iter().enumerate() {
            let (rise, fall) = (self.coefficients.rise.0[tone], self.coefficients.fall.0[tone]);
            let angle = design.angle;
            self.pitches.angles.0[tone] = angle as f32;
            self.pitches.lo_weights.0[tone] = 2.0 / rise;
            for (look, back) in (1..).zip(&mut self.pitches.backs) {
                let turned = angle * (look * LOOK) as f64;
                let (sine, cosine) = libm::sincos(angle * BLOCK as f64 - turned);
                (back[0].0[tone], back[1].0[tone]) = (cosine as f32, sine as f32);
            }
            self.tones.angular_frequency[tone] = (angle * self.sample_rate) as f32;
            self.tones.lo_weight[tone] = (f64::from(fall) / libm::sin(angle)) as f32;
            self.tones.bp_weight[tone] = libm::tan(angle / 2.0) as f32;
        }
    }

    /// Whether the resonators ring for ever.
    pub fn frozen(&self) -> bool {
        self.ring.is_infinite()
    }

    /// Sets what moves within a block, each from its value at the start to that at the end: the tones' weights in the
    /// sum, and the level gains.
    pub fn begin_block(&mut self, weights: [Lanes; 2], gains: [f32; 2]) {
        let [from, to] = weights;
        let gain = gains[1];
        self.gains = gains;
        self.coefficients.floor = (self.constants.floor / f64::from(gain).powi(2)) as f32;
        self.coefficients.set_weights(from, to, RMS_GUARD / gain);
    }

    /// Sets whether the bands are driven and summed in the current block.
    pub fn set_driven(&mut self, driven: bool) {
        self.coefficients.driven = driven;
    }

    /// The gate: the power below which a band fades away, for a total power of `total`.
    pub fn gate(&self, total: f64) -> f64 {
        (self.constants.threshold * total).max(f64::from(self.coefficients.floor))
    }

    /// The gain to the nominal level, at the end of the current block.
    pub fn gain(&self) -> f32 {
        self.gains[1]
    }

    /// The second soft clip, `2 x / (1 + |2 x|)`, with its knee at the nominal level.
    #[inline(always)]
    fn clip(&self, position: usize, signal: &mut [f32]) {
        let [from, to] = self.gains;
        let clipped = |sample: f32, gain: f32| {
            let doubled = 2.0 * sample;
            doubled / (1.0 + gain * doubled.abs())
        };
        if from == to {
            signal.iter_mut().for_each(|sample| *sample = clipped(*sample, to));
            return;
        }
        let step = (to - from) / BLOCK as f32;
        for (frame, sample) in (position + 1..).zip(signal) {
            *sample = clipped(*sample, to - step * (BLOCK - frame) as f32);
        }
    }
}

/// What comes before the kernel.
struct Prepare<'a> {
    bank: &'a mut Bank,
    params: &'a BankParams,
    position: usize,
    input: &'a [f32],
}

impl Work for Prepare<'_> {
    fn run<S: Simd>(self, simd: S) {
        let Self { bank, params, position, input } = self;
        simd.vectorize(
            #[inline(always)]
            || bank.prepare(simd, params, position, input),
        );
    }
}

/// What comes after the kernel: the low-pass and the second soft clip.
struct Finish<'a> {
    low_pass: &'a mut OnePole,
    params: &'a BankParams,
    position: usize,
    wet: &'a mut [f32],
}

impl Work for Finish<'_> {
    fn run<S: Simd>(self, simd: S) {
        let Self { low_pass, params, position, wet } = self;
        simd.vectorize(
            #[inline(always)]
            || {
                low_pass.advance(simd, &params.low_pass, position, wet);
                params.clip(position, wet);
            },
        );
    }
}

/// The state of one bank.
#[derive(Debug, Clone)]
pub struct Bank {
    state: State,
    inputs: FrameInputs,
    /// The last two samples of the input.
    previous: [f32; 2],
    total_power: OnePole,
    low_pass: OnePole,
    /// The squared amplitudes of the bands when they were frozen.
    frozen: Option<Lanes>,
}

impl Bank {
    pub const fn new() -> Self {
        Self {
            state: State::ZERO,
            inputs: FrameInputs::ZERO,
            previous: [0.0; 2],
            total_power: OnePole::ZERO,
            low_pass: OnePole::ZERO,
            frozen: None,
        }
    }

    /// Computes the wet signal of `input`, at most [`BLOCK`] finite samples from `position` on in the current block.
    /// `wet` has the same length.
    pub fn process(
        &mut self,
        kernel: Kernel,
        params: &BankParams,
        position: usize,
        input: &[f32],
        wet: &mut [f32],
    ) {
        if self.rests(input) {
            (self.total_power, self.low_pass) = (OnePole::ZERO, OnePole::ZERO);
            wet.fill(0.0);
            return;
        }
        self.hold_frozen(params, position);
        kernel.run(Prepare { bank: self, params, position, input });
        self.run(kernel, params, position, wet);
        if params.coefficients.driven {
            kernel.run(Finish { low_pass: &mut self.low_pass, params, position, wet });
        } else {
            self.low_pass = OnePole::ZERO;
        }
    }

    /// Whether `input` is silence and the state is negligible: the kernel would output silence, and the result of any
    /// later sample above -400 dB is the same to the last bit as with this state.
    fn rests(&self, input: &[f32]) -> bool {
        let State { lo, bp, power, .. } = &self.state;
        let negligible = |lanes: &Lanes| lanes.0.iter().all(|value| value.abs() <= NEGLIGIBLE);
        input.iter().all(|sample| *sample == 0.0)
            && self.previous == [0.0; 2]
            && self.total_power.now() <= NEGLIGIBLE
            && [lo, bp, power].into_iter().all(negligible)
            // The low-pass is part of the output, so it must round to 0.
            && self.low_pass.now() == 0.0
    }

    /// Gives the bands the amplitudes that they had when they were frozen, which rounding errors would let drift, and
    /// another tuning would change; once a block.
    fn hold_frozen(&mut self, params: &BankParams, position: usize) {
        if position != 0 {
            return;
        }
        if !params.frozen() {
            self.frozen = None;
            return;
        }
        let (State { lo, bp, .. }, c) = (&mut self.state, &params.coefficients);
        // Without damping, `b lo^2 + a bp^2 + a b lo bp` is constant; where `bp` has its peak A, it is
        // `a A^2 (1 - a b / 4)`.
        let squared = |tone: usize, lo: f32, bp: f32| {
            let (a, b) = (c.rise.0[tone], c.fall.0[tone]);
            (b * lo * lo + a * bp * bp + a * b * lo * bp) / (a * (1.0 - 0.25 * a * b))
        };
        let now = Lanes::of(|tone| squared(tone, lo.0[tone], bp.0[tone]));
        let then = self.frozen.get_or_insert(now);
        for tone in 0..TONES {
            // Below, squares lose their digits, and -400 dB are inaudible.
            let gain = if now.0[tone] > 1e-30 { (then.0[tone] / now.0[tone]).sqrt() } else { 0.0 };
            lo.0[tone] *= gain;
            bp.0[tone] *= gain;
        }
    }

    /// Computes what all bands share: the difference of each sample and the second one before it, and the total power.
    #[inline(always)]
    fn prepare<S: Simd>(&mut self, simd: S, params: &BankParams, position: usize, samples: &[f32]) {
        let frames = samples.len();
        let mut clamped = [0.0; BLOCK + 2];
        clamped[..2].copy_from_slice(&self.previous);
        for (clamped, sample) in clamped[2..].iter_mut().zip(samples) {
            *clamped = sample.clamp(-LOUDEST, LOUDEST);
        }
        self.previous = [clamped[frames], clamped[frames + 1]];
        let FrameInputs { input, total_power } = &mut self.inputs;
        for (input, (second, x)) in input.iter_mut().zip(clamped.iter().zip(&clamped[2..])) {
            *input = x - second;
        }
        for (power, x) in total_power.iter_mut().zip(&clamped[2..]) {
            *power = x * x;
        }
        self.total_power.advance(simd, &params.total, position, &mut total_power[..frames]);
    }

    /// Computes the `sums` of the driven bands.
    fn run(&mut self, kernel: Kernel, params: &BankParams, position: usize, sums: &mut [f32]) {
        let task = Task { state: &mut self.state, position, inputs: &self.inputs, sums };
        kernel::process(kernel, &params.coefficients, task);
    }

    /// Returns the tones below A3 to rest.
    pub fn rest_low(&mut self) {
        let State { lo, bp, power, .. } = &mut self.state;
        [lo, bp, power].into_iter().for_each(|lanes| lanes.0[PUBLISHED..].fill(0.0));
    }

    /// The bands' tracked powers.
    pub fn powers(&self, params: &BankParams) -> Lanes {
        let mut state = self.state.clone();
        state.settle(&params.coefficients);
        state.power
    }

    /// The state of the bands in plain units, with the integral of `bp` as `lo`: without the latest input, which is part of
    /// the next `bp`.
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

    /// Tracked power of the input for the last call, which had `frames` samples.
    pub fn total_powers(&self, frames: usize) -> &[f32] {
        &self.inputs.total_power[..frames]
    }

    /// Tracked power of the input.
    pub fn total_power(&self) -> f32 {
        self.total_power.now()
    }
}

#[cfg(test)]
mod tests;
