//! Voices: oscillators that play the detected notes instead of the published soft clip.
//!
//! `docs/dsp.md` lists the waveforms and explains where the oscillators get their phase.

mod chip;
mod fourier;
mod oscillators;
mod pitch;
mod timbres;
mod waveform;

use crate::{
    bank::{Bank, BankParams, PHASE_INTERVAL, one_pole::OnePole},
    lanes::{BLOCK, Lanes, sum},
    ramp::Ramp,
    settings::Voice,
};
use chip::{Arranger, Chip, ChipInput};
pub use chip::{ChipNoise, ChipPulse, ChipTick};
pub use oscillators::{CUTOFF, LEVEL_POLES, LevelSource};
use oscillators::{Gate, Levels, Oscillators, RenderJob};
pub use pitch::Moves;
use std::f64::consts::TAU;
pub use timbres::Timbres;
use timbres::{PITCHES, TableLevels};
use tone_filter_simd::Kernel;
use waveform::{SHAPES, Waveforms, drive_position, shape_weight};

/// Time constant in seconds with which a note follows the level that the listener measures.
const ATTACK: f64 = 0.005;

/// Returns the time at the end of each sample from `position` on, as a fraction of the block.
#[inline(always)]
fn block_positions(position: usize) -> impl Iterator<Item = f32> {
    (position as i32 + 1..).map(|frame| frame as f32 / BLOCK as f32)
}

/// Wet signal of one bank.
#[derive(Debug)]
pub struct Wet<'a> {
    /// The bank's single output; with `pans`, the left one.
    pub wet: &'a mut [f32],
    /// The bank's right output, with `pans`; otherwise unused.
    pub right: &'a mut [f32],
    /// Stereo positions of the notes: 1 is left, -1 right. `None` for a single output.
    pub pans: Option<&'a Ramp<Lanes>>,
}

/// Oscillators and chip of one bank, with their levels and the low-pass after them.
#[derive(Debug, Clone)]
pub struct Voices {
    pub oscillators: Oscillators,
    chip: Chip,
    /// Whether the voice Chip is on.
    chips: bool,
    /// Tracked power of the input at each sample of the last block.
    total_powers: [f32; BLOCK],
    /// Mean total power of a block, after each pole of the low-pass.
    totals: [f64; LEVEL_POLES],
    total_step: f64,
    low_pass: OnePole,
    /// Low-pass of the right output; `None` for a single output.
    right: Option<OnePole>,
    gain: Ramp<f32>,
    /// Position of the drive among the tables of driven sines.
    drive: Ramp<f32>,
    /// Whether the levels have not been set yet.
    fresh: bool,
}

impl Voices {
    /// Creates the state at rest. The first block starts at the levels that the bands have then.
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
            gain: Ramp::rest(2.0),
            drive: Ramp::rest(0.0),
            fresh: true,
        }
    }

    /// Returns the chip's registers as of its last tick; `None` while the voice Chip is off.
    pub fn chip(&self) -> Option<ChipTick> {
        self.chips.then_some(self.chip.latest)
    }

    /// Returns the bands of bass and lead; `None` for a silent one, or while the voice Chip is off.
    pub fn chip_parts(&self) -> [Option<usize>; 2] {
        let Arranger { bass, lead, .. } = self.chip.arranger;
        if self.chips { [bass, lead] } else { [None; 2] }
    }

    /// Begins a block: reads the phases of the bands.
    pub fn lock(&mut self, kernel: Kernel, params: &BankParams, bank: &Bank, weights: &Lanes) {
        self.oscillators.lock(kernel, &params.pitches, &bank.state(params), weights);
        if self.fresh {
            self.total_powers = [bank.total_power(); BLOCK];
        }
    }

    /// Reads total powers and phases of the bank, whose last call processed the `frames` samples before `end` in the block.
    pub fn sample_phases(
        &mut self,
        kernel: Kernel,
        (bank, params): (&Bank, &BankParams),
        frames: usize,
        end: usize,
    ) {
        self.total_powers[end - frames..end].copy_from_slice(bank.total_powers(frames));
        if end.is_multiple_of(PHASE_INTERVAL) {
            self.oscillators.sample_phases(kernel, &params.pitches, &bank.state(params), end);
        }
    }

    /// Sets levels and pitches of the block. `weights` are the weights of the bands in the sum. `ahead` is the total power of
    /// the early bank; `share` is its weight, 0..1.
    #[expect(clippy::too_many_arguments, reason = "each is one thing")]
    pub fn set_levels(
        &mut self,
        kernel: Kernel,
        params: &BankParams,
        timbres: &Timbres,
        weights: &Lanes,
        source: LevelSource,
        moves: Moves,
        (ahead, share): (f32, f32),
    ) {
        let chip = timbres.chip();
        // The mean over a block attenuates the ripple of the power, which would alias to a slow beat. The low-pass attenuates the
        // beats between notes.
        let mut total = f64::from(sum(&self.total_powers)) / BLOCK as f64;
        if share > 0.0 {
            total += f64::from(share) * (f64::from(ahead) - total);
        }
        for pole in &mut self.totals {
            *pole += if self.fresh { 1.0 } else { self.total_step } * (total - *pole);
            total = *pole;
        }
        let high = params.ceiling * total;
        let gate = Gate::new(params.gate(total) as f32, high as f32);
        let step = match source {
            _ if self.fresh => 1.0,
            LevelSource::Listener(..) => {
                -libm::expm1(-(BLOCK as f64) / (ATTACK * params.sample_rate))
            }
            LevelSource::Own => 1.0 - (1.0 - params.band_step).powi(BLOCK as i32),
        } as f32;
        // With early levels, a note begins at its full level.
        let first_step = step + share * (1.0 - step);
        let levels = Levels { source, gate, step, first_step, weights };
        let power = self.oscillators.set_levels(kernel, levels, &params.pitches.exact, moves);
        match chip {
            Some(timbre) => self.chip.begin_block(ChipInput {
                oscillators: &self.oscillators,
                angles: &params.pitches.angles,
                high: high as f32,
                timbre,
                arrangement: &timbres.arrangement,
            }),
            None if self.chips => self.chip = Chip::new(params.sample_rate),
            None => {}
        }
        self.chips = chip.is_some();
        let drive = drive_position(params.coefficients.drive);
        // The second soft clip acts on the level. On the samples, it would distort the waveforms.
        let level = timbres.rms(drive) * power.sqrt();
        let gain = 2.0 / (1.0 + params.gains.to * 2.0 * level);
        for (ramp, to) in [(&mut self.drive, drive), (&mut self.gain, gain)] {
            if self.fresh {
                *ramp = Ramp::rest(to);
            } else {
                ramp.next(to);
            }
        }
        self.fresh = false;
    }

    /// Crossfades `wet`, which starts at `position` in the block, from the soft clip to the voices. `input` is the bank's input.
    /// The chip is mono, in the centre.
    pub fn process(
        &mut self,
        kernel: Kernel,
        timbres: &Timbres,
        params: &BankParams,
        position: usize,
        input: &[f32],
        Wet { wet, right, pans }: Wet,
    ) {
        let frames = wet.len();
        let (mut sums, mut sides, mut chip) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        if self.chips {
            self.chip.read_noise(input);
        }
        for (timbre, share) in timbres.sounding() {
            let mut play = |row, share| {
                let (levels, octave, gains) =
                    (&timbre.levels[0], timbre.octave, &self.oscillators.gains);
                let job = RenderJob { row, levels, octave, gains, share, pans, position, frames };
                self.oscillators.render(kernel, job, &mut sums, &mut sides);
            };
            match timbre.voice {
                Voice::Soft => {}
                Voice::Chip => {
                    let chip = &mut chip[..frames];
                    self.chip.mix(kernel, &self.oscillators, timbre, share, position, chip);
                }
                Voice::SoftClean => {
                    for shape in 0..SHAPES {
                        let weight = self.drive.map(|position| shape_weight(shape, *position));
                        if !weight.is(0.0) {
                            let (row, _) = Waveforms::shared().driven(shape);
                            play(row, share.times(weight));
                        }
                    }
                }
                voice => play(Waveforms::shared().row(voice), share),
            }
        }
        if self.chips {
            self.chip.filter(&mut chip[..frames]);
            sums.iter_mut().zip(chip).for_each(|(sum, sample)| *sum += sample);
        }
        let (sums, sides) = (&mut sums[..frames], &mut sides[..frames]);
        let (soft, gain) = (timbres.soft(), self.gain);
        let finish = |low_pass: &mut OnePole, sums: &mut [f32], wet: &mut [f32]| {
            low_pass.track(kernel, &params.voice_low_pass, position, sums);
            kernel.vectorize(
                #[inline(always)]
                || {
                    for (at, (wet, sum)) in block_positions(position).zip(wet.iter_mut().zip(sums))
                    {
                        *wet = soft.at(at) * *wet + gain.at(at) * *sum;
                    }
                },
            );
        };
        if pans.is_some() {
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
