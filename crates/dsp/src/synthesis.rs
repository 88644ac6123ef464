//! Synthesis: banks and voices produce the wet signal from the plan.

use crate::{
    bank::{Bank, BankParams, PHASE_INTERVAL},
    downmix::mean,
    early_bank::EarlyBank,
    lanes::{BLOCK, Lanes},
    notes::{PUBLISHED, TONES},
    plan::{BlockPlan, Span},
    ramp::Ramp,
    settings::{Settings, smoother::Fade},
    voice::{LevelSource, Moves, Timbres, Voices, Wet},
};
use std::ops::Range;
use tone_filter_simd::Kernel;

/// Bank of resonators, and the voices that follow its phases.
#[derive(Debug, Clone)]
struct BankVoices {
    bank: Bank,
    voices: Voices,
}

/// Running banks and their outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Mono,
    /// One bank with a left and a right output, between which the notes are panned.
    Panned,
    /// Two banks, for left and right, with one output each.
    Two,
}

impl Layout {
    fn banks(self) -> usize {
        if self == Self::Two { 2 } else { 1 }
    }
}

#[derive(Debug, Clone)]
pub struct Synthesis {
    pub params: BankParams,
    pub timbres: Timbres,
    /// Banks of the left and the right channel. A single running bank is the first one, which then processes the mean of all
    /// channels.
    banks: [BankVoices; 2],
    layout: Layout,
    early: EarlyBank,
    /// Gain of the tones below A3, 0..1. While it rests at 0, these tones are not computed.
    low_gain: Ramp<f32>,
    /// Whether a voice other than Soft sounds in the current block.
    pub oscillating: bool,
    /// Whether the early bank runs in the current block; at the start of a block, whether it ran in the last one.
    was_early: bool,
    inputs: [[f32; BLOCK]; 2],
    wet: [[f32; BLOCK]; 2],
}

impl Synthesis {
    /// Creates banks and voices at rest. `latency` is the delay of the sound with lookahead, in samples. Boxed and not inlined, to save
    /// the caller's stack.
    #[inline(never)]
    pub fn new(settings: &Settings, sample_rate: f64, latency: usize) -> Box<Self> {
        let first = BankVoices { bank: Bank::new(), voices: Voices::new(sample_rate) };
        Box::new(Self {
            params: BankParams::new(settings, sample_rate),
            timbres: Timbres::new(settings, sample_rate),
            banks: [first.clone(), first],
            layout: Layout::Mono,
            early: EarlyBank::new(settings, sample_rate, latency),
            low_gain: Ramp::rest(0.0),
            oscillating: false,
            was_early: false,
            inputs: [[0.0; BLOCK]; 2],
            wet: [[0.0; BLOCK]; 2],
        })
    }

    /// Resets to the state after silence, with the timbre at its target.
    pub fn reset(&mut self, plan: &BlockPlan) {
        self.low_gain = Ramp::rest(plan.smoothed.fades[Fade::LowBands]);
        // New parameters, without the pitches of the tones below A3 that were computed before.
        self.params = BankParams::new(&plan.smoothed.settings, self.params.sample_rate);
        self.params.update(&plan.smoothed.settings, self.tones());
        self.params.coefficients.set_weights(&plan.weights);
        self.params.set_gains(plan.gains);
        self.timbres.arrive();
        for BankVoices { bank, voices } in &mut self.banks {
            *bank = Bank::new();
            *voices = Voices::new(self.params.sample_rate);
        }
        (self.layout, self.oscillating) = (Layout::Mono, false);
        self.early.reset(plan.delaying, &self.params);
        self.early.tune(&plan.smoothed.settings);
    }

    /// Updates the parameters after a change of the settings or of the number of tones. Begins the early bank's block.
    pub fn update(&mut self, plan: &BlockPlan) {
        let before = self.tones();
        self.low_gain.next(plan.smoothed.fades[Fade::LowBands]);
        if self.tones() > before {
            for BankVoices { bank, voices } in &mut self.banks {
                bank.rest_low();
                voices.oscillators.rest_low();
            }
        }
        if plan.moved || self.tones() != before {
            self.params.update(&plan.smoothed.settings, self.tones());
        }
        if !plan.delaying {
            self.early.running = false;
            return;
        }
        if !self.early.running {
            let banks = self.banks[..self.layout.banks()].iter().map(|voices| &voices.bank);
            self.early.activate(banks, &self.params);
        }
        if plan.moved {
            self.early.tune(&plan.smoothed.settings);
        }
        self.early.begin_block(plan, self.layout.banks(), self.tones());
    }

    fn tones(&self) -> usize {
        if self.low_gain.is(0.0) { PUBLISHED } else { TONES }
    }

    /// Returns the tracked powers of the bands with a precision of 16 bits. With lookahead, these are the early powers; otherwise
    /// the maximum of all banks.
    pub fn powers(&self) -> Lanes {
        let powers = if self.early.running {
            self.early.powers()
        } else {
            let powers = self.banks().map(|bank| bank.powers(&self.params));
            powers.fold(Lanes::ZERO, |all, one| Lanes::of(|tone| all.0[tone].max(one.0[tone])))
        };
        // At the start of a sound, all bands have nearly the same power: rounding errors must not decide which is the strongest.
        Lanes::of(|tone| f32::from_bits(powers.0[tone].to_bits() & !0xff))
    }

    pub fn begin_block(&mut self, kernel: Kernel, plan: &BlockPlan, channels: usize) {
        self.timbres.step();
        if self.early.running {
            self.params.coefficients.set_weights(&product(&plan.weights, &self.early.gains));
        } else if plan.weights.changed || self.was_early {
            self.params.coefficients.set_weights(&plan.weights);
        }
        self.was_early = self.early.running;
        if self.was_early {
            self.early.params.set_gains(plan.gains);
        }
        // `set_gains` also depends on the coefficients of the settings.
        if plan.moved || plan.gains.changed {
            self.params.set_gains(plan.gains);
        }
        self.params.coefficients.driven = !self.timbres.soft().is(0.0);
        self.arrange(plan, channels);
        self.params.pan(plan.pans.as_ref().filter(|_| self.layout == Layout::Panned));
        let oscillating = self.timbres.oscillates();
        if oscillating {
            self.begin_voices(kernel, plan);
        }
        self.oscillating = oscillating;
    }

    /// Chooses banks and outputs for the number of `channels`. A second bank starts with the state of the first.
    fn arrange(&mut self, plan: &BlockPlan, channels: usize) {
        let layout = match channels {
            2 if plan.stereo() => Layout::Two,
            2 if plan.pans.is_some() => Layout::Panned,
            _ => Layout::Mono,
        };
        if layout.banks() > self.layout.banks() {
            self.banks[1] = self.banks[0].clone();
            self.early.split();
        }
        self.layout = layout;
    }

    fn begin_voices(&mut self, kernel: Kernel, plan: &BlockPlan) {
        let Self { params, timbres, early, .. } = self;
        let banks = &mut self.banks[..self.layout.banks()];
        let weights = &plan.weights.to;
        let count = banks.len() as f32;
        let mut means = Lanes::ZERO;
        for BankVoices { bank, voices } in &mut *banks {
            if !self.oscillating {
                *voices = Voices::new(params.sample_rate);
            }
            voices.lock(kernel, params, bank, weights);
            let amplitudes = means.0.iter_mut().zip(&voices.oscillators.amplitudes.0);
            amplitudes.for_each(|(mean, amplitude)| *mean += amplitude / count);
        }
        let share = if early.running { plan.smoothed.fades[Fade::Lookahead] } else { 0.0 };
        let mut powers = plan.powers;
        if let Some(powers) = powers.as_mut().filter(|_| share > 0.0) {
            // The listener's detectors of low notes rise more slowly than the early bank, whose higher power counts here.
            let pairs = powers.0.iter_mut().zip(early.powers().0);
            pairs.for_each(|(power, ahead)| *power += share * (ahead - *power).max(0.0));
        }
        let powers = powers.as_ref();
        let input = powers.map_or(LevelSource::Own, |powers| LevelSource::Listener(powers, &means));
        let Settings { glide, vibrato, .. } = plan.smoothed.settings;
        let (glide, vibrato) = (0.001 * glide, 0.01 * vibrato);
        let moves = Moves { offsets: &plan.offsets, glide, vibrato };
        for (index, BankVoices { voices, .. }) in banks.iter_mut().enumerate() {
            let ahead = (early.total(index), share);
            voices.set_levels(kernel, params, timbres, weights, input, moves, ahead);
        }
    }

    /// Passes the undelayed samples of `span` to the early bank; arguments as in [`Synthesis::process`].
    pub fn process_early(
        &mut self,
        kernel: Kernel,
        plan: &BlockPlan,
        channels: &[&mut [f32]],
        rows: Option<&[[f32; BLOCK]]>,
        span: &Span,
    ) {
        if !self.early.running {
            return;
        }
        let banks = if self.set_inputs(plan, channels, rows, span).0 { 2 } else { 1 };
        let inputs = self.inputs[..banks].iter().map(|input| &input[span.in_block()]);
        self.early.process(kernel, span.position, inputs);
    }

    /// Sets the banks' inputs for the samples of `span`. Returns two flags: whether there are two banks, and whether each of
    /// them processes its own channel alone in the whole block.
    fn set_inputs(
        &mut self,
        plan: &BlockPlan,
        channels: &[&mut [f32]],
        rows: Option<&[[f32; BLOCK]]>,
        span: &Span,
    ) -> (bool, bool) {
        let (position, in_block) = (span.position, span.in_block());
        let two = channels.len() == 2 && plan.stereo();
        // The number of channels may change within a block; a change to or from panned notes waits for the next block.
        if two != (self.layout == Layout::Two) {
            self.arrange(plan, channels.len());
        }
        let stereo = |frame: usize| plan.mix_gains_at(position + frame).stereo;
        // With a stereo of 1 in the whole block, the crossfades have no effect and are skipped.
        let Ramp { from, to, .. } = plan.mix_gains;
        let apart = two && from.stereo == 1.0 && to.stereo == 1.0;
        let crossfade = (!apart).then_some(stereo);
        let inputs = self.inputs.each_mut().map(|input| &mut input[in_block.clone()]);
        match rows {
            Some(rows) => bank_inputs(rows, in_block, inputs, two, crossfade),
            None => bank_inputs(channels, span.range.clone(), inputs, two, crossfade),
        }
        (two, apart)
    }

    /// Computes the wet signal of `span`. The input of the banks is `rows`, or `channels` if `rows` is `None`.
    pub fn process(
        &mut self,
        kernel: Kernel,
        plan: &BlockPlan,
        channels: &[&mut [f32]],
        rows: Option<&[[f32; BLOCK]]>,
        span: &Span,
    ) {
        let (position, in_block) = (span.position, span.in_block());
        let (two, apart) = self.set_inputs(plan, channels, rows, span);
        let stereo = |frame: usize| plan.mix_gains_at(position + frame).stereo;
        let pans = plan.pans.as_ref().filter(|_| self.layout == Layout::Panned);
        let [left, right] = self.wet.each_mut().map(|wet| &mut wet[in_block.clone()]);
        // The right output belongs to the second bank, if there is one, or to the first.
        let outputs: [[&mut [f32]; 2]; 2] = if two {
            [[left, &mut []], [right, &mut []]]
        } else {
            [[left, right], [&mut [], &mut []]]
        };
        let banks = self.banks[..self.layout.banks()].iter_mut().zip(&self.inputs).zip(outputs);
        for ((BankVoices { bank, voices }, input), [wet, right]) in banks {
            let input = &input[in_block.clone()];
            let params = &self.params;
            if !self.oscillating {
                bank.process(kernel, params, position, input, wet, right);
                continue;
            }
            let mut from = 0;
            while from < input.len() {
                let to =
                    (from + PHASE_INTERVAL - (position + from) % PHASE_INTERVAL).min(input.len());
                let wet = &mut wet[from..to];
                let right = right.get_mut(from..to).unwrap_or_default();
                bank.process(kernel, params, position + from, &input[from..to], wet, right);
                voices.sample_phases(kernel, (bank, params), to - from, position + to);
                from = to;
            }
            let wet = Wet { wet, right, pans };
            voices.process(kernel, &self.timbres, params, position, input, wet);
        }
        if two && !apart {
            let [left, right] = &mut self.wet;
            let samples = left[in_block.clone()].iter().zip(&mut right[in_block]);
            for (frame, (left, right)) in samples.enumerate() {
                let stereo = stereo(frame);
                *right = (1.0 - stereo) * left + stereo * *right;
            }
        }
    }

    pub fn inputs(&self) -> &[[f32; BLOCK]] {
        &self.inputs[..self.layout.banks()]
    }

    pub fn wet(&self, channel: usize) -> &[f32; BLOCK] {
        let outputs = if self.layout == Layout::Mono { 1 } else { 2 };
        &self.wet[channel.min(outputs - 1)]
    }

    /// Returns the voices of the first bank.
    pub fn first_voices(&self) -> &Voices {
        &self.banks[0].voices
    }

    pub fn banks(&self) -> impl Iterator<Item = &Bank> {
        self.banks[..self.layout.banks()].iter().map(|BankVoices { bank, .. }| bank)
    }
}

fn product(weights: &Ramp<Lanes>, gains: &Ramp<Lanes>) -> Ramp<Lanes> {
    let multiply = |one: &Lanes, other: &Lanes| Lanes::of(|tone| one.0[tone] * other.0[tone]);
    Ramp::between(multiply(&weights.from, &gains.from), multiply(&weights.to, &gains.to))
}

/// Writes the inputs of the banks for the samples `range` of `channels`. One bank gets the mean of all channels. With `two`
/// banks, each gets a crossfade from the mean to its channel, at the position `stereo(frame)` of 0..1; without `stereo`, its
/// channel alone.
fn bank_inputs(
    channels: &[impl AsRef<[f32]>],
    range: Range<usize>,
    [one, other]: [&mut [f32]; 2],
    two: bool,
    stereo: Option<impl Fn(usize) -> f32>,
) {
    let Some(stereo) = stereo else {
        one.copy_from_slice(&channels[0].as_ref()[range.clone()]);
        other.copy_from_slice(&channels[1].as_ref()[range]);
        return;
    };
    mean(channels, range.clone(), one);
    if two {
        other.copy_from_slice(one);
        for (input, channel) in [one, other].into_iter().zip(channels) {
            let samples = input.iter_mut().zip(&channel.as_ref()[range.clone()]);
            for (frame, (mean, sample)) in samples.enumerate() {
                let stereo = stereo(frame);
                *mean = (1.0 - stereo) * *mean + stereo * sample;
            }
        }
    }
}
