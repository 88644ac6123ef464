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

/// The banks and voices of one filter.
///
/// It starts a page: at another place in memory, which changes from one allocation to the next, short blocks take up to 5 % longer.
#[derive(Debug, Clone)]
#[repr(align(4096))]
pub struct Synthesis {
    /// What all banks share.
    pub params: BankParams,
    timbres: Timbres,
    /// Of the mean of all channels or of the left one, and of the right one.
    parts: [Part; 2],
    /// How many of them run.
    count: usize,
    /// Whether the only one has two outputs, in which notes have their places.
    placed: bool,
    /// Share of the tones below A3 at the end of the last block, and whether they are computed.
    whole: f32,
    low: bool,
    /// Whether the oscillators ran in the last block.
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
            count: 1,
            placed: false,
            whole: 0.0,
            low: false,
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
        self.whole = plan.settings.whole;
        self.low = self.whole > 0.0;
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
        (self.count, self.placed, self.oscillating) = (1, false, false);
    }

    /// Updates the constants, if the settings of the `plan` have moved.
    pub fn update(&mut self, plan: &BlockPlan) {
        // In its last block, the share falls to 0.
        let low = self.whole > 0.0 || plan.settings.whole > 0.0;
        self.whole = plan.settings.whole;
        if low && !self.low {
            for Part { bank, voices } in &mut self.parts {
                bank.rest_low();
                voices.rest_low();
            }
        }
        if plan.moved || low != self.low {
            self.low = low;
            self.params.update(&plan.settings.settings, self.tones());
        }
    }

    /// How many tones are computed.
    fn tones(&self) -> usize {
        if self.low { TONES } else { PUBLISHED }
    }

    /// The tracked powers of the bands, of the stronger one where two banks run.
    pub fn powers(&self) -> Lanes {
        let powers = self.parts[..self.count].iter().map(|part| part.bank.powers(&self.params));
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
        self.separate(plan, channels);
        self.placed = plan.places.is_some() && channels == 2 && self.count == 1;
        self.params.place(plan.places.as_ref().filter(|_| self.placed));
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

    /// Runs two banks for two channels, where the plan has stereo. The second one starts from the state of the first.
    fn separate(&mut self, plan: &BlockPlan, channels: usize) {
        let two = channels == 2 && plan.stereo();
        if two && self.count == 1 {
            self.parts[1] = self.parts[0].clone();
        }
        self.count = 1 + usize::from(two);
    }

    fn begin_voices(&mut self, kernel: Kernel, plan: &BlockPlan) {
        let Self { params, timbres, .. } = self;
        let parts = &mut self.parts[..self.count];
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
        self.separate(plan, channels.len());
        let two = self.count == 2;
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
        let places = plan.places.as_ref().filter(|_| self.placed);
        let [left, right] = self.wet.each_mut().map(|wet| &mut wet[part.clone()]);
        // The second bank writes to the right channel, or the first one, if it has two outputs.
        let outputs: [[&mut [f32]; 2]; 2] = if two {
            [[left, &mut []], [right, &mut []]]
        } else {
            [[left, right], [&mut [], &mut []]]
        };
        let parts = self.parts[..self.count].iter_mut().zip(&self.inputs).zip(outputs);
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
        &self.inputs[..self.count]
    }

    /// The wet signal of a channel in the current block.
    pub fn wet(&self, channel: usize) -> &[f32; BLOCK] {
        let outputs = if self.placed { 2 } else { self.count };
        &self.wet[channel.min(outputs - 1)]
    }

    /// What the chip of the first bank plays since its last tick, while it sounds.
    pub fn chip(&self) -> Option<ChipTick> {
        self.parts[0].voices.chip()
    }

    /// The bands that are the bass and the lead of that chip.
    pub fn chip_parts(&self) -> [Option<usize>; 2] {
        self.parts[0].voices.chip_parts()
    }

    /// The banks that run.
    pub fn banks(&self) -> impl Iterator<Item = &Bank> {
        self.parts[..self.count].iter().map(|part| &part.bank)
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
