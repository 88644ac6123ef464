//! One oscillator per band, phase-locked to the oscillation in the band.
//!
//! The two integrators of a resonator give its phase, if the frequency at which it really rings is known (`docs/dsp.md`). The
//! phase measurements in a block of [`BLOCK`] samples are averaged, and the average passes a low-pass. In the next block, the
//! oscillator moves linearly to the low-passed phase.

use super::{
    TableLevels,
    pitch::{Bands, Moves, PERIOD, Pitch},
    waveform::{CHUNK, Table},
};
use crate::{
    bank::{PHASE_INTERVAL, PHASES_PER_BLOCK, Pitches, kernel::State},
    lanes::{BLOCK, LANES, Lanes, sum},
    notes::{PUBLISHED, TONES},
    ramp::Ramp,
};
use std::f32::consts::TAU;
use tone_filter_simd::{
    Kernel,
    approx::{polar, tan, truncated, wrapped},
};

/// Left shift that converts a phase, at octave 0, to units in which 2^32 is a period.
const SHIFT: i32 = 2;

/// Number of poles in the low-pass of the phase.
const POLES: usize = 4;
/// Cutoff of each low-pass pole in Hz.
pub const CUTOFF: f64 = 28.0;
/// Number of poles in the low-passes of amplitude and total power.
pub const LEVEL_POLES: usize = 2;
/// Ratio of an amplitude to its low-passed value above which a note begins.
const RISE: f32 = 2.0;
/// Seconds in which the time constant of each pole grows by one block after a note begins.
const OPENING: f64 = 0.012;

/// Maximum ratio between the frequency of an oscillator and the nominal one. A band also responds to neighbouring notes, which
/// its oscillator must not play.
const RANGE: f32 = 2.0;
/// Power below which an oscillator rests, relative to the maximum power of a note: -100 dB.
const SILENT: f32 = 1e-10;

/// Gate of a band's power; `docs/dsp.md` has the formula.
#[derive(Debug, Clone, Copy)]
pub struct Gate {
    /// Power `low` to the power of -3/2.
    inverse: f32,
    /// Maximum power of a note.
    pub high: f32,
}

impl Gate {
    /// Creates a gate: a note fades away below the power `low`, and grows no stronger above `high`.
    pub fn new(low: f32, high: f32) -> Self {
        Self { inverse: 1.0 / (low * low.sqrt()), high }
    }

    /// Returns the power that a level follows, for a resonator with the power `q`.
    #[inline(always)]
    pub fn level(self, q: f32) -> f32 {
        let gated = q * q * self.inverse;
        q.min(gated * gated).min(self.high)
    }
}

/// Inputs for the levels of the notes in a block.
#[derive(Debug, Clone, Copy)]
pub struct Levels<'a> {
    pub source: LevelSource<'a>,
    pub gate: Gate,
    /// One-pole coefficient per block.
    pub step: f32,
    /// One-pole coefficient of a note in its first block.
    pub first_step: f32,
    pub weights: &'a Lanes,
}

#[derive(Debug, Clone, Copy)]
pub enum LevelSource<'a> {
    /// Powers of the bank's own resonators.
    Own,
    /// First the powers that the listener measures, as means over the channels; then the amplitudes of the bands, as means over
    /// all banks. Each bank scales the powers by the squared ratio of its own amplitude to the mean.
    Listener(&'a Lanes, &'a Lanes),
}

#[derive(Debug, Clone)]
pub struct Oscillators {
    /// Phases at the start of the current block.
    phases: [u32; LANES],
    /// Change of the phases in a sample.
    steps: [u32; LANES],
    /// Tangents of half the measured frequencies in radians a sample.
    tangents: Lanes,
    /// Sums of the real and the imaginary parts of the oscillations that were measured in the last block, each turned to the
    /// end of the block at the nominal frequency.
    phase_sums: [Lanes; 2],
    /// Number of measurements in `phase_sums`.
    phase_count: f32,
    /// Measured phase of each band at the start of the block, in radians.
    measured: Lanes,
    pub amplitudes: Lanes,
    /// Lag in radians of each pole of the phase's low-pass.
    lags: [Lanes; POLES],
    /// Time constant of the poles of each band, in blocks.
    spans: Lanes,
    /// Amplitude after each pole of its low-pass.
    levels: [Lanes; LEVEL_POLES],
    /// Maximum of `spans`.
    span: f32,
    /// Growth of a time constant per block, in blocks.
    growth: f32,
    /// Followed power of each band, without its weight.
    powers: Lanes,
    /// Amplitudes of the notes.
    pub gains: Ramp<Lanes>,
    /// Factor of each band: 1 if its phase was read at the start of the block, otherwise 0.
    locked: Lanes,
    pub pitch: Pitch,
}

impl Oscillators {
    pub fn new(sample_rate: f64) -> Self {
        let block = BLOCK as f64 / sample_rate;
        Self {
            phases: [0; LANES],
            steps: [0; LANES],
            tangents: Lanes::ZERO,
            phase_sums: [Lanes::ZERO; 2],
            phase_count: 0.0,
            lags: [Lanes::ZERO; POLES],
            spans: Lanes::ZERO,
            levels: [Lanes::ZERO; LEVEL_POLES],
            span: -1.0 / libm::expm1(-std::f64::consts::TAU * CUTOFF * block) as f32,
            growth: (block / OPENING) as f32,
            measured: Lanes::ZERO,
            amplitudes: Lanes::ZERO,
            powers: Lanes::ZERO,
            gains: Ramp::rest(Lanes::ZERO),
            locked: Lanes::ZERO,
            pitch: Pitch::new(sample_rate),
        }
    }

    /// Clears the phase measurements of the tones below A3, whose resonators start from rest.
    pub fn rest_low(&mut self) {
        self.phase_sums.iter_mut().for_each(|sums| sums.0[PUBLISHED..].fill(0.0));
    }

    /// Measures the phases of the bands in `state` at `position` in the block, a multiple of [`PHASE_INTERVAL`].
    pub fn sample_phases(
        &mut self,
        kernel: Kernel,
        pitches: &Pitches,
        state: &State,
        position: usize,
    ) {
        let [cosines, sines] = &pitches.backs[(position / PHASE_INTERVAL - 1) % PHASES_PER_BLOCK];
        kernel.vectorize(
            #[inline(always)]
            || {
                for tone in 0..TONES {
                    let (lo, bp) = (state.lo.0[tone], state.bp.0[tone]);
                    // When `bp = A cos(p)`, the loop holds `lo = A rise / (2 sin(w/2)) sin(p - w/2)`.
                    let quadrature = self.tangents.0[tone] * (lo * pitches.lo_weights.0[tone] + bp);
                    let (cosine, sine) = (cosines.0[tone], sines.0[tone]);
                    self.phase_sums[0].0[tone] += cosine * bp - sine * quadrature;
                    self.phase_sums[1].0[tone] += sine * bp + cosine * quadrature;
                }
            },
        );
        self.phase_count += 1.0;
    }

    /// Begins a block: reads the phases of the bands that have a weight in the sum, or whose note still sounds.
    pub fn lock(&mut self, kernel: Kernel, pitches: &Pitches, state: &State, weights: &Lanes) {
        if self.phase_count == 0.0 {
            self.tangents = Lanes(pitches.angles.0.map(|angle| tan(0.5 * angle)));
            self.sample_phases(kernel, pitches, state, BLOCK);
        }
        kernel.vectorize(
            #[inline(always)]
            || self.lock_all(pitches, weights),
        );
    }

    /// Locks all bands, without a branch.
    #[inline(always)]
    fn lock_all(&mut self, pitches: &Pitches, weights: &Lanes) {
        let share = 1.0 / self.phase_count;
        self.phase_count = 0.0;
        for tone in 0..LANES {
            let nominal = pitches.angles.0[tone];
            let was_locked = self.locked.0[tone] > 0.0;
            let locked = weights.0[tone] + self.gains.to.0[tone] > 0.0;
            let (phase, sum) = polar(self.phase_sums[0].0[tone], self.phase_sums[1].0[tone]);
            (self.phase_sums[0].0[tone], self.phase_sums[1].0[tone]) = (0.0, 0.0);

            // A pole keeps the growth of its lag and passes on the rest of the turn.
            let turn = wrapped(phase - self.measured.0[tone] - BLOCK as f32 * nominal);
            let mut turn = if was_locked { turn } else { 0.0 };
            let amplitude = share * sum;
            let begins = !was_locked | (amplitude > RISE * self.amplitudes.0[tone]);
            let span = if begins { 1.0 } else { self.spans.0[tone] + self.growth };
            let span = span.min(self.span);
            let kept = 1.0 - 1.0 / span;
            let mut level = amplitude;
            for levels in &mut self.levels {
                level += kept * (levels.0[tone] - level);
                levels.0[tone] = level;
            }
            let mut lag = 0.0;
            for lags in &mut self.lags {
                let last = if was_locked { lags.0[tone] } else { 0.0 };
                let next = kept * (last + turn);
                turn -= next - last;
                lag += next;
                lags.0[tone] = next;
            }

            let turned = self.steps[tone].wrapping_mul(BLOCK as u32);
            let turned = self.phases[tone].wrapping_add(turned);
            let followed = truncated(wrapped(phase - lag) * (PERIOD / TAU)) as u32;
            let start = if was_locked { turned } else { followed };
            let behind = (followed.wrapping_sub(start) << SHIFT) as i32 >> SHIFT;
            let step = nominal * (PERIOD / TAU) + behind as f32 / BLOCK as f32;
            let nominal_step = nominal * (PERIOD / TAU);
            let step = step.max(nominal_step / RANGE).min(nominal_step * RANGE);
            let frequency = nominal + turn / BLOCK as f32;
            let frequency = frequency.max(nominal / RANGE).min(nominal * RANGE);

            self.phases[tone] = start;
            self.steps[tone] = truncated(step) as u32;
            self.measured.0[tone] = phase;
            self.spans.0[tone] = span;
            self.tangents.0[tone] = tan(0.5 * frequency);
            self.amplitudes.0[tone] = if locked { level } else { 0.0 };
            self.locked.0[tone] = if locked { 1.0 } else { 0.0 };
        }
    }

    /// Returns the frequency of a band without its pitch shift, in periods a sample.
    pub fn frequency(&self, tone: usize) -> f32 {
        self.pitch.played(tone).map_or(self.steps[tone], |(_, step)| step) as f32
            / PERIOD
            / self.pitch.ratio(tone)
    }

    /// Sets levels and pitches of the notes, for bands with the nominal frequencies `angles` in radians a sample. Returns the
    /// total power of the notes.
    pub fn set_levels(
        &mut self,
        kernel: Kernel,
        levels: Levels,
        angles: &[f64; TONES],
        moves: Moves,
    ) -> f32 {
        let (mut powers, mut next) = (Lanes::ZERO, Lanes::ZERO);
        kernel.vectorize(
            #[inline(always)]
            || powers = self.set_all_levels(levels, &mut next),
        );
        let Levels { weights, gate: Gate { high, .. }, .. } = levels;
        let Self { phases, steps, amplitudes, gains, pitch, .. } = self;
        let before = &gains.to;
        let bands =
            Bands { phases, steps, angles, amplitudes, before, gains: &mut next, weights, high };
        pitch.update(moves, bands);
        gains.next(next);
        sum(&powers.0)
    }

    /// Writes the amplitudes at the end of the block to `gains`. Returns the weighted powers.
    #[inline(always)]
    fn set_all_levels(
        &mut self,
        Levels { source, gate, step, first_step, weights }: Levels,
        gains: &mut Lanes,
    ) -> Lanes {
        let mut powers = self.amplitudes.0.map(|amplitude| 0.5 * amplitude * amplitude);
        if let LevelSource::Listener(levels, means) = source {
            for (tone, power) in powers.iter_mut().enumerate() {
                let share = self.amplitudes.0[tone] / means.0[tone].max(f32::MIN_POSITIVE);
                *power = levels.0[tone] * share * share;
            }
        }
        let least = SILENT * gate.high;
        for (tone, power) in powers.iter_mut().enumerate() {
            let last = self.powers.0[tone];
            let step = if last > 0.0 { step } else { first_step };
            let followed = self.locked.0[tone] * (last + step * (gate.level(*power) - last));
            let audible = followed * weights.0[tone] * weights.0[tone];
            *power = if audible > least { audible } else { 0.0 };
            self.powers.0[tone] = followed;
            gains.0[tone] = power.sqrt();
        }
        Lanes(powers)
    }

    /// Adds the samples of `job` to `sums`; with stereo positions, also half the difference of left and right to `sides`. Samples
    /// beyond the job are undefined.
    pub fn render(
        &self,
        kernel: Kernel,
        job: RenderJob,
        sums: &mut [f32; BLOCK],
        sides: &mut [f32; BLOCK],
    ) {
        kernel.vectorize(
            #[inline(always)]
            || match job.pans {
                None => self.render_all::<false>(job, sums, sides),
                Some(_) => self.render_all::<true>(job, sums, sides),
            },
        );
    }

    #[inline(always)]
    fn render_all<const PANNED: bool>(
        &self,
        job: RenderJob,
        sums: &mut [f32; BLOCK],
        sides: &mut [f32; BLOCK],
    ) {
        let sums = sums.as_chunks_mut::<CHUNK>().0;
        let sides = sides.as_chunks_mut::<CHUNK>().0;
        let chunks = job.frames.div_ceil(CHUNK);
        let shift = (SHIFT + job.octave) as u32;
        let Ramp { from: first, to: last, .. } = job.gains;
        // This loop visits all bands without a branch, which takes no longer than to visit a few of them with branches.
        let mut sounding = 0u128;
        for tone in 0..LANES {
            let sounds = (first.0[tone] != 0.0) | (last.0[tone] != 0.0);
            sounding |= u128::from(sounds) << tone;
        }
        while sounding != 0 {
            let tone = sounding.trailing_zeros() as usize;
            sounding &= sounding - 1;
            let Some(level) = job.levels[self.pitch.row(tone)] else { continue };
            let table = &job.row[usize::from(level)];
            let from = table.unit * job.share.from * first.0[tone];
            let to = table.unit * job.share.to * last.0[tone];
            let slope = (to - from) / BLOCK as f32;
            let (pan, pan_end) =
                job.pans.map_or((0.0, 0.0), |pans| (pans.from.0[tone], pans.to.0[tone]));
            let side = from * pan;
            let side_slope = (to * pan_end - side) / BLOCK as f32;
            let band = (self.phases[tone], self.steps[tone]);
            let (start, step) = self.pitch.played(tone).unwrap_or(band);
            // Computing the samples beyond the job, too, is faster than leaving them out.
            for (chunk, (sums, sides)) in sums[..chunks].iter_mut().zip(&mut *sides).enumerate() {
                let first = (job.position + chunk * CHUNK) as u32;
                let frames: [u32; CHUNK] = std::array::from_fn(|frame| first + frame as u32);
                let phases =
                    frames.map(|frame| start.wrapping_add(step.wrapping_mul(frame)) << shift);
                let samples = table.read(&phases);
                for ((sum, sample), frame) in sums.iter_mut().zip(samples).zip(frames) {
                    *sum += (from + slope * frame as i32 as f32) * sample;
                }
                if PANNED {
                    for ((sum, sample), frame) in sides.iter_mut().zip(samples).zip(frames) {
                        *sum += (side + side_slope * frame as i32 as f32) * sample;
                    }
                }
            }
        }
    }
}

/// Samples to render.
#[derive(Debug, Clone, Copy)]
pub struct RenderJob<'a> {
    pub row: &'a [Table],
    /// Index of the table for each pitch; `None` if the pitch is too high.
    pub levels: &'a TableLevels,
    /// Octaves from the detected note to the note that sounds.
    pub octave: i32,
    pub gains: &'a Ramp<Lanes>,
    /// Factor of all amplitudes.
    pub share: Ramp<f32>,
    /// Stereo positions of the bands: 1 is left, -1 right. `None` for a single channel.
    pub pans: Option<&'a Ramp<Lanes>>,
    pub position: usize,
    pub frames: usize,
}
