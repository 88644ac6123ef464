//! Voices: what sounds for a detected note, in place of the reference's soft clip.
//!
//! `docs/dsp.md` has the waveforms and where their phase comes from.

mod chip;
mod driven;
mod level;
mod noise;
mod oscillators;
mod pitch;
mod timbre;
mod waveform;

use crate::{
    bank::{Bank, BankParams, LOOK, one_pole::OnePole},
    lanes::{BLOCK, Lanes, sum},
    settings::Voice,
};
use chip::Chip;
pub use chip::{ChipNoise, ChipPulse, ChipTick};
pub use level::LevelSource;
use level::{Gate, Levels};
use oscillators::{CUTOFF, LEVEL_POLES, Oscillators, Part};
pub use pitch::Moves;
use std::f64::consts::TAU;
pub use timbre::Timbres;
use timbre::{PITCHES, TableLevels, Timbre};
use tone_filter_simd::Kernel;
use waveform::Waveforms;

/// Seconds in which a level follows that of the listener.
const ATTACK: f64 = 0.005;

/// Where in the block, 0..1, the samples from `position` on end.
#[inline(always)]
fn block_positions(position: usize) -> impl Iterator<Item = f32> {
    (position as i32 + 1..).map(|frame| frame as f32 / BLOCK as f32)
}

/// What is `from` at the start of the block and `to` at its end, at `at`.
#[inline(always)]
fn line([from, to]: [f32; 2], at: f32) -> f32 {
    from + at * (to - from)
}

/// Where the wet signal of one bank goes.
#[derive(Debug)]
pub struct Wet<'a> {
    /// That of all channels; with `places`, of the left one.
    pub wet: &'a mut [f32],
    /// That of the right one, with `places`.
    pub right: &'a mut [f32],
    /// The notes' places at the start and at the end of the block, 1 for left and -1 for right.
    pub places: Option<[&'a Lanes; 2]>,
}

/// The oscillators of one bank, and what becomes of their sum.
#[derive(Debug, Clone)]
pub struct Voices {
    oscillators: Oscillators,
    chip: Chip,
    /// Whether the chip sounds.
    chips: bool,
    /// The bank's total power, sample by sample.
    total_powers: [f32; BLOCK],
    /// The same after each pole of its low-pass, and by how much one follows in a block.
    totals: [f64; LEVEL_POLES],
    total_step: f64,
    low_pass: OnePole,
    /// That of the right channel, if it has a sum of its own.
    right: Option<OnePole>,
    /// Gain of the sum at the start and at the end of the current block.
    gains: [f32; 2],
    /// The place of the drive among the driven sines, at the same times.
    drives: [f32; 2],
    /// Whether no block has begun yet.
    fresh: bool,
}

impl Voices {
    /// At rest, for `sample_rate` in Hz.
    pub fn new(sample_rate: f64) -> Self {
        Self {
            oscillators: Oscillators::new(sample_rate),
            chip: Chip::new(sample_rate),
            chips: false,
            total_powers: [0.0; BLOCK],
            totals: [0.0; LEVEL_POLES],
            total_step: -libm::expm1(-TAU * CUTOFF * BLOCK as f64 / sample_rate),
            low_pass: OnePole::ZERO,
            right: None,
            gains: [2.0; 2],
            drives: [0.0; 2],
            fresh: true,
        }
    }

    /// Forgets what sounded before. The next levels are those that the bands have by then.
    pub fn activate(&mut self, sample_rate: f64) {
        *self = Self::new(sample_rate);
    }

    /// What the chip plays since its last tick, while it sounds.
    pub fn chip(&self) -> Option<ChipTick> {
        self.chips.then(|| self.chip.latest())
    }

    /// The bass and the lead of the chip, while it sounds.
    pub fn chip_parts(&self) -> [Option<usize>; 2] {
        if self.chips { self.chip.parts() } else { [None; 2] }
    }

    /// Begins a block: reads the phases of the bands, with their `weights` in the sum.
    pub fn lock(&mut self, kernel: Kernel, params: &BankParams, bank: &Bank, weights: &Lanes) {
        self.oscillators.lock(kernel, &params.pitches, &bank.state(params), weights);
        if self.fresh {
            self.total_powers = [bank.total_power(); BLOCK];
        }
    }

    /// Forgets the oscillations of the tones below A3, which begin from rest.
    pub fn rest_low(&mut self) {
        self.oscillators.rest_low();
    }

    /// Looks at the bands after the last call of the bank, of `frames` samples that end at `end` in the block.
    pub fn look(
        &mut self,
        kernel: Kernel,
        (bank, params): (&Bank, &BankParams),
        frames: usize,
        end: usize,
    ) {
        self.total_powers[end - frames..end].copy_from_slice(bank.total_powers(frames));
        if end.is_multiple_of(LOOK) {
            self.oscillators.look(kernel, &params.pitches, &bank.state(params), end);
        }
    }

    /// The amplitudes of the bands' oscillations at the start of the block.
    pub fn amplitudes(&self) -> &Lanes {
        self.oscillators.amplitudes()
    }

    /// Sets the levels of the block, with the bands' `weights` in the sum and the powers of `input`.
    pub fn set_levels(
        &mut self,
        kernel: Kernel,
        params: &BankParams,
        timbres: &Timbres,
        weights: &Lanes,
        source: LevelSource,
        moves: Moves,
    ) {
        let chip = timbres.chip();
        // The mean over a block attenuates the ripple of the power that would come out as a slow beat, the low-pass the beats
        // of the notes with each other.
        let mut total = f64::from(sum(&self.total_powers)) / BLOCK as f64;
        for own in &mut self.totals {
            *own += if self.fresh { 1.0 } else { self.total_step } * (total - *own);
            total = *own;
        }
        let high = params.constants.ceiling * total;
        let gate = Gate::new(params.gate(total) as f32, high as f32);
        let step = match source {
            _ if self.fresh => 1.0,
            LevelSource::Listener(..) => {
                -libm::expm1(-(BLOCK as f64) / (ATTACK * params.sample_rate))
            }
            LevelSource::Own => 1.0 - (1.0 - params.constants.band_step).powi(BLOCK as i32),
        } as f32;
        let levels = Levels { source, gate, step, weights };
        let power = self.oscillators.set_levels(kernel, levels, &params.pitches.exact, moves);
        match chip {
            Some(&Timbre { octave, duty, .. }) => {
                self.chip.begin_block(chip::ChipInput {
                    amplitudes: &self.oscillators.gains()[1],
                    measured: self.oscillators.amplitudes(),
                    angles: &params.pitches.angles,
                    high: high as f32,
                    oscillators: &self.oscillators,
                    arrangement: timbres.arrangement(),
                    duty,
                    octave,
                });
            }
            None if self.chips => self.chip = Chip::new(params.sample_rate),
            None => {}
        }
        self.chips = chip.is_some();
        let drive = driven::place(params.coefficients.drive);
        self.drives = [if self.fresh { drive } else { self.drives[1] }, drive];
        // The second soft clip, of the level instead of the waveform, which it would bend.
        let level = timbres.rms(drive) * power.sqrt();
        let gain = 2.0 / (1.0 + params.gain() * 2.0 * level);
        self.gains = [if self.fresh { gain } else { self.gains[1] }, gain];
        self.fresh = false;
    }

    /// Puts the voices' samples into `wet`, which holds the soft clip's, from `position` on in the current block, in
    /// for as many samples of the bank's `input`. The chip has one channel.
    pub fn process(
        &mut self,
        kernel: Kernel,
        timbres: &Timbres,
        params: &BankParams,
        position: usize,
        input: &[f32],
        Wet { wet, right, places }: Wet,
    ) {
        let frames = wet.len();
        let (mut sums, mut sides, mut chip) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        let noise = if self.chips { self.chip.noise(input) } else { [0.0; BLOCK] };
        for (timbre, shares) in timbres.sounding() {
            let Timbre { voice, octave, levels: [all, low], duty } = timbre;
            let mut play = |row, shares| {
                let gains = self.oscillators.gains().each_ref();
                let (levels, octave) = (all, *octave);
                let part = Part { row, levels, octave, gains, shares, places, position, frames };
                self.oscillators.render(kernel, part, &mut sums, &mut sides);
            };
            match voice {
                Voice::Soft => {}
                Voice::Chip => {
                    let tables = chip::Tables { duty: *duty, octave: *octave, all, low };
                    let part = chip::Block { kernel, position, noise: &noise, shares };
                    self.chip.mix(&self.oscillators, tables, part, &mut chip[..frames]);
                }
                Voice::SoftClean => {
                    for shape in 0..driven::SHAPES {
                        let own = self.drives.map(|place| driven::share(shape, place));
                        if own != [0.0; 2] {
                            let (row, _) = Waveforms::shared().driven(shape);
                            play(row, [0, 1].map(|end| shares[end] * own[end]));
                        }
                    }
                }
                voice => play(Waveforms::shared().row(*voice), shares),
            }
        }
        if self.chips {
            self.chip.filter(&mut chip[..frames]);
            sums.iter_mut().zip(chip).for_each(|(sum, sample)| *sum += sample);
        }
        let (sums, sides) = (&mut sums[..frames], &mut sides[..frames]);
        let (soft, gains) = (timbres.soft(), self.gains);
        let finish = |low_pass: &mut OnePole, sums: &mut [f32], wet: &mut [f32]| {
            low_pass.track(kernel, &params.voice_low_pass, position, sums);
            kernel.vectorize(
                #[inline(always)]
                || {
                    for (at, (wet, sum)) in block_positions(position).zip(wet.iter_mut().zip(sums))
                    {
                        *wet = line(soft, at) * *wet + line(gains, at) * *sum;
                    }
                },
            );
        };
        if places.is_some() {
            for (sum, side) in sums.iter_mut().zip(&mut *sides) {
                (*sum, *side) = (*sum + *side, *sum - *side);
            }
            let low_pass = self.right.get_or_insert_with(|| self.low_pass.clone());
            finish(low_pass, sides, &mut right[..frames]);
        } else {
            self.right = None;
        }
        finish(&mut self.low_pass, sums, wet);
    }
}
