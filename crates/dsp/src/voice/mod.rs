//! Voices: what sounds for a detected note, in place of the reference's soft clip.
//!
//! `docs/dsp.md` has the waveforms and where their phase comes from.

mod chip;
mod driven;
mod noise;
mod oscillators;
mod waveform;

use crate::{
    bank::{Bank, BankParams, LOOK, one_pole::OnePole},
    lanes::{BLOCK, Lanes, sum},
    notes::{TONES, frequency},
    settings::{Duty, Settings, Voice},
};
use chip::{Arrangement, Chip};
pub use chip::{ChipNoise, ChipPulse, ChipTick};
pub use oscillators::LevelSource;
use oscillators::{CUTOFF, Gate, LEVEL_POLES, Levels, Oscillators, Part};
use std::f64::consts::TAU;
use tone_filter_simd::Kernel;
use waveform::Waveforms;

/// Seconds in which one voice gives way to another.
const FADE: f64 = 0.01;

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

/// A voice in an octave, with the tables that its notes read.
#[derive(Debug, Clone)]
struct Timbre {
    voice: Voice,
    octave: i32,
    /// With all harmonics that there may be, and with those below a quarter of the sample rate.
    levels: [[Option<u8>; TONES]; 2],
    /// The lead's waveform of the chip.
    duty: Duty,
}

impl Timbre {
    fn of(settings: &Settings, sample_rate: f64) -> Self {
        let &Settings { voice, duty, tuning, transpose, .. } = settings;
        let octave = if voice == Voice::Soft { 0 } else { settings.octave.round() as i32 };
        let levels = [sample_rate, 0.5 * sample_rate].map(|rate| {
            std::array::from_fn(|tone| {
                let f = frequency(tone, f64::from(tuning), f64::from(transpose));
                Waveforms::shared().level(f * libm::exp2(f64::from(octave)), rate)
            })
        });
        Self { voice, octave, levels, duty }
    }

    fn sounds_like(&self, other: &Self) -> bool {
        (self.voice, self.octave, self.duty) == (other.voice, other.octave, other.duty)
    }
}

/// The timbre of all notes, on its way from one to another.
#[derive(Debug, Clone)]
pub struct Timbres {
    sample_rate: f64,
    /// Those of `next`.
    aimed: (Voice, Duty, f32, f32, f32),
    /// How the chip plays.
    arrangement: Arrangement,
    /// What it goes away from, what it goes to, and what it goes to after that.
    from: Timbre,
    to: Timbre,
    next: Timbre,
    /// Share of `to` at the start and at the end of the current block.
    share: [f32; 2],
    /// By how much it moves within a block.
    step: f32,
}

impl Timbres {
    /// At rest at `settings`, for `sample_rate` in Hz.
    pub fn new(settings: &Settings, sample_rate: f64) -> Self {
        let timbre = Timbre::of(settings, sample_rate);
        let (from, to) = (timbre.clone(), timbre.clone());
        let step = (BLOCK as f64 / (FADE * sample_rate)) as f32;
        let aimed = Self::parts(settings);
        let arrangement = Arrangement::of(settings);
        Self { sample_rate, aimed, arrangement, from, to, next: timbre, share: [1.0; 2], step }
    }

    /// What a timbre is made of: voice, duty, octave, tuning, transposition.
    fn parts(settings: &Settings) -> (Voice, Duty, f32, f32, f32) {
        (settings.voice, settings.duty, settings.octave, settings.tuning, settings.transpose)
    }

    /// Sets out for `settings`. What only moves its pitch is there at once.
    pub fn aim(&mut self, settings: &Settings) {
        self.arrangement = Arrangement::of(settings);
        // Selecting the tables takes time, and most changes do not need it.
        if Self::parts(settings) == self.aimed {
            return;
        }
        self.aimed = Self::parts(settings);
        self.next = Timbre::of(settings, self.sample_rate);
        if self.next.sounds_like(&self.to) {
            self.to = self.next.clone();
        }
    }

    /// Arrives at the settings.
    pub fn arrive(&mut self) {
        (self.from, self.to, self.share) = (self.next.clone(), self.next.clone(), [1.0; 2]);
    }

    /// Moves on by a block.
    pub fn step(&mut self) {
        self.share[0] = self.share[1];
        if self.share[0] == 1.0 && !self.next.sounds_like(&self.to) {
            self.from = std::mem::replace(&mut self.to, self.next.clone());
            self.share[0] = 0.0;
        }
        self.share[1] = (self.share[0] + self.step).min(1.0);
    }

    /// What sounds in the current block, each with its share at the start and at the end.
    fn sounding(&self) -> impl Iterator<Item = (&Timbre, [f32; 2])> {
        let from = (&self.from, self.share.map(|share| 1.0 - share));
        [from, (&self.to, self.share)].into_iter().filter(|(_, shares)| *shares != [0.0; 2])
    }

    /// The share of the soft clip at the start and at the end of the current block.
    pub fn soft(&self) -> [f32; 2] {
        let share = |timbre: &Timbre| f32::from(u8::from(timbre.voice == Voice::Soft));
        let (from, to) = (share(&self.from), share(&self.to));
        self.share.map(|share| from + share * (to - from))
    }

    /// The timbre of the chip, if it sounds.
    fn chip(&self) -> Option<&Timbre> {
        self.sounding().map(|(timbre, _)| timbre).find(|timbre| timbre.voice == Voice::Chip)
    }

    /// The effective value of a waveform for a note of an effective value of 1, with the drive at a `place`.
    fn rms(&self, place: f32) -> f32 {
        let waveforms = Waveforms::shared();
        let of = |timbre: &Timbre| match timbre.voice {
            Voice::SoftClean => (0..driven::SHAPES)
                .map(|shape| driven::share(shape, place) * waveforms.driven(shape).1 as f32)
                .sum(),
            _ => waveforms.rms() as f32,
        };
        let (from, to) = (of(&self.from), of(&self.to));
        line([from, to], self.share[1])
    }

    /// Whether anything else sounds.
    pub fn oscillates(&self) -> bool {
        self.soft() != [1.0; 2]
    }
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
        let power = self.oscillators.set_levels(kernel, Levels { source, gate, step, weights });
        match chip {
            Some(&Timbre { octave, duty, .. }) => {
                self.chip.begin_block(chip::ChipInput {
                    amplitudes: &self.oscillators.gains()[1],
                    measured: self.oscillators.amplitudes(),
                    angles: &params.pitches.angles,
                    high: high as f32,
                    oscillators: &self.oscillators,
                    arrangement: &timbres.arrangement,
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
