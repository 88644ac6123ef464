//! Synthesis: the banks and their voices make the wet signal, by the plan.

use crate::{
    bank::{Bank, BankParams, LOOK},
    downmix::mean,
    lanes::{BLOCK, Lanes},
    notes::{PUBLISHED, TONES},
    plan::{BlockPlan, Span},
    ramp::Ramp,
    settings::Settings,
    voice::{ChipTick, LevelSource, Moves, Timbres, Voices, Wet},
};
use std::ops::Range;
use tone_filter_simd::Kernel;

/// One bank, with the oscillators that follow it.
#[derive(Debug, Clone)]
struct Part {
    bank: Bank,
    voices: Voices,
}

/// Banks that run, and their outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// One bank with one output.
    Mono,
    /// One bank with two outputs, between which the notes have their places.
    Placed,
    /// Two banks with an output each.
    Two,
}

impl Layout {
    fn banks(self) -> usize {
        if self == Self::Two { 2 } else { 1 }
    }
}

/// The banks and voices of one filter.
///
/// Aligned to a page: elsewhere in memory, short blocks take up to 5 % longer.
#[derive(Debug, Clone)]
#[repr(align(4096))]
pub struct Synthesis {
    /// Parameters that all banks share.
    pub params: BankParams,
    timbres: Timbres,
    /// Bank of the mean of all channels or of the left one, and bank of the right one.
    parts: [Part; 2],
    layout: Layout,
    /// Share of the tones below A3, which are computed unless it rests at 0.
    whole: Ramp<f32>,
    /// Whether the oscillators run.
    oscillating: bool,
    /// The inputs of the banks in the current block, and the wet signals.
    inputs: [[f32; BLOCK]; 2],
    wet: [[f32; BLOCK]; 2],
}

impl Synthesis {
    /// At rest at `settings`, for `sample_rate` in Hz.
    pub fn new(settings: &Settings, sample_rate: f64) -> Self {
        let part = Part { bank: Bank::new(), voices: Voices::new(sample_rate) };
        Self {
            params: BankParams::new(settings, sample_rate),
            timbres: Timbres::new(settings, sample_rate),
            parts: [part.clone(), part],
            layout: Layout::Mono,
            whole: Ramp::rest(0.0),
            oscillating: false,
            inputs: [[0.0; BLOCK]; 2],
            wet: [[0.0; BLOCK]; 2],
        }
    }

    /// Sets out for the timbre of `settings`.
    pub fn aim(&mut self, settings: &Settings) {
        self.timbres.aim(settings);
    }

    /// Returns to the state after silence, at the timbre that was aimed at, with the first block of `plan`.
    pub fn reset(&mut self, plan: &BlockPlan) {
        self.whole = Ramp::rest(plan.settings.whole);
        // Without the pitches of tones below A3 that were computed before.
        self.params = BankParams::new(&plan.settings.settings, self.params.sample_rate);
        self.params.update(&plan.settings.settings, self.tones());
        self.params.coefficients.set_weights(&plan.weights);
        self.params.set_gains(plan.gains);
        self.timbres.arrive();
        for part in &mut self.parts {
            part.bank = Bank::new();
            part.voices.activate(self.params.sample_rate);
        }
        (self.layout, self.oscillating) = (Layout::Mono, false);
    }

    /// Updates the constants, if the settings of the `plan` have moved.
    pub fn update(&mut self, plan: &BlockPlan) {
        let before = self.tones();
        self.whole.next(plan.settings.whole);
        if self.tones() > before {
            for Part { bank, voices } in &mut self.parts {
                bank.rest_low();
                voices.rest_low();
            }
        }
        if plan.moved || self.tones() != before {
            self.params.update(&plan.settings.settings, self.tones());
        }
    }

    /// Number of tones that are computed.
    fn tones(&self) -> usize {
        if self.whole.is(0.0) { PUBLISHED } else { TONES }
    }

    /// The tracked powers of the bands, of the stronger one where two banks run.
    pub fn powers(&self) -> Lanes {
        let powers = self.banks().map(|bank| bank.powers(&self.params));
        powers.fold(Lanes::ZERO, |all, own| Lanes::of(|tone| all.0[tone].max(own.0[tone])))
    }

    /// Begins a block for as many `channels`.
    pub fn begin_block(&mut self, kernel: Kernel, plan: &BlockPlan, channels: usize) {
        self.timbres.step();
        if plan.weights.changed() {
            self.params.coefficients.set_weights(&plan.weights);
        }
        // The constants have a part in what follows from the gains.
        if plan.moved || plan.gains.changed() {
            self.params.set_gains(plan.gains);
        }
        self.params.set_driven(!self.timbres.soft().is(0.0));
        self.arrange(plan, channels);
        self.params.place(plan.places.as_ref().filter(|_| self.layout == Layout::Placed));
        let oscillating = self.timbres.oscillates();
        if oscillating {
            self.begin_voices(kernel, plan);
        }
        self.oscillating = oscillating;
    }

    /// Whether something else than the soft clip sounds in the current block.
    pub fn oscillates(&self) -> bool {
        self.oscillating
    }

    /// Chooses the banks and outputs for so many `channels`. A second bank starts from the state of the first.
    fn arrange(&mut self, plan: &BlockPlan, channels: usize) {
        let layout = match channels {
            2 if plan.stereo() => Layout::Two,
            2 if plan.places.is_some() => Layout::Placed,
            _ => Layout::Mono,
        };
        if layout.banks() > self.layout.banks() {
            self.parts[1] = self.parts[0].clone();
        }
        self.layout = layout;
    }

    fn begin_voices(&mut self, kernel: Kernel, plan: &BlockPlan) {
        let Self { params, timbres, .. } = self;
        let parts = &mut self.parts[..self.layout.banks()];
        let weights = &plan.weights.to;
        let count = parts.len() as f32;
        let mut means = Lanes::ZERO;
        for Part { bank, voices } in &mut *parts {
            if !self.oscillating {
                voices.activate(params.sample_rate);
            }
            voices.lock(kernel, params, bank, weights);
            let amplitudes = means.0.iter_mut().zip(&voices.amplitudes().0);
            amplitudes.for_each(|(mean, amplitude)| *mean += amplitude / count);
        }
        let powers = plan.powers.as_ref();
        let input = powers.map_or(LevelSource::Own, |powers| LevelSource::Listener(powers, &means));
        let Settings { glide, vibrato, .. } = plan.settings.settings;
        let (glide, vibrato) = (0.001 * glide, 0.01 * vibrato);
        let moves = Moves { offsets: &plan.offsets, glide, vibrato };
        for Part { voices, .. } in parts {
            voices.set_levels(kernel, params, timbres, weights, input, moves);
        }
    }

    /// Makes the wet signal of the samples `span` of `channels`, or of the `rows` of the block that are the banks' input
    /// in their place.
    pub fn process(
        &mut self,
        kernel: Kernel,
        plan: &BlockPlan,
        channels: &[&mut [f32]],
        rows: Option<&[[f32; BLOCK]]>,
        span: &Span,
    ) {
        let (position, part) = (span.position, span.part());
        let two = channels.len() == 2 && plan.stereo();
        // The number of channels may change within a block; places wait for the next one.
        if two != (self.layout == Layout::Two) {
            self.arrange(plan, channels.len());
        }
        let stereo = |frame: usize| plan.level(position + frame).stereo;
        // A short cut for fully separate channels: the same as the crossfades with a stereo of 1.
        let Ramp { from, to, .. } = plan.levels;
        let apart = two && from.stereo == 1.0 && to.stereo == 1.0;
        let crossfade = (!apart).then_some(stereo);
        let inputs = self.inputs.each_mut().map(|input| &mut input[part.clone()]);
        match rows {
            Some(rows) => bank_inputs(rows, part.clone(), inputs, two, crossfade),
            None => bank_inputs(channels, span.range.clone(), inputs, two, crossfade),
        }
        let places = plan.places.as_ref().filter(|_| self.layout == Layout::Placed);
        let [left, right] = self.wet.each_mut().map(|wet| &mut wet[part.clone()]);
        // The second bank writes to the right channel, or the first one, if it has two outputs.
        let outputs: [[&mut [f32]; 2]; 2] = if two {
            [[left, &mut []], [right, &mut []]]
        } else {
            [[left, right], [&mut [], &mut []]]
        };
        let parts = self.parts[..self.layout.banks()].iter_mut().zip(&self.inputs).zip(outputs);
        for ((Part { bank, voices }, input), [wet, right]) in parts {
            let input = &input[part.clone()];
            let params = &self.params;
            if !self.oscillating {
                bank.process(kernel, params, position, input, wet, right);
                continue;
            }
            let mut from = 0;
            while from < input.len() {
                let to = (from + LOOK - (position + from) % LOOK).min(input.len());
                let wet = &mut wet[from..to];
                let right = right.get_mut(from..to).unwrap_or_default();
                bank.process(kernel, params, position + from, &input[from..to], wet, right);
                voices.look(kernel, (bank, params), to - from, position + to);
                from = to;
            }
            let wet = Wet { wet, right, places };
            voices.process(kernel, &self.timbres, params, position, input, wet);
        }
        if two && !apart {
            let [left, right] = &mut self.wet;
            let samples = left[part.clone()].iter().zip(&mut right[part]);
            for (frame, (left, right)) in samples.enumerate() {
                let stereo = stereo(frame);
                *right = (1.0 - stereo) * left + stereo * *right;
            }
        }
    }

    /// The inputs of the banks that run, in the current block.
    pub fn inputs(&self) -> &[[f32; BLOCK]] {
        &self.inputs[..self.layout.banks()]
    }

    /// The wet signal of a channel in the current block.
    pub fn wet(&self, channel: usize) -> &[f32; BLOCK] {
        let outputs = if self.layout == Layout::Mono { 1 } else { 2 };
        &self.wet[channel.min(outputs - 1)]
    }

    /// Registers of the first bank's chip since its last tick, while it sounds.
    pub fn chip(&self) -> Option<ChipTick> {
        self.parts[0].voices.chip()
    }

    /// The bands that are the bass and the lead of that chip.
    pub fn chip_parts(&self) -> [Option<usize>; 2] {
        self.parts[0].voices.chip_parts()
    }

    /// The banks that run.
    pub fn banks(&self) -> impl Iterator<Item = &Bank> {
        self.parts[..self.layout.banks()].iter().map(|part| &part.bank)
    }
}

/// Puts the samples `range` of `channels` into the inputs of the banks: the mean of all channels; with `two` banks,
/// crossfaded by `stereo(frame)` with left and right, of which there must be two; without `stereo`, just these.
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
