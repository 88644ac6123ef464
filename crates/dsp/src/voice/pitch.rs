//! At which pitch the oscillators sound: that of their bands, or one that map, glide and vibrato make of it.

use super::{PITCHES, oscillators::PERIOD};
use crate::{
    lanes::{BLOCK, LANES, Lanes},
    notes::{TONES, semitone, to_listener},
};
use std::f64::consts::TAU;

/// Seconds in which a note that sounds moves where the map moves it.
const MOVE: f32 = 0.01;

/// Seconds after its end in which a note can be the start of a glide, and after its beginning in which another can begin one.
const RECENT: f32 = 0.05;
/// See [`RECENT`].
const YOUNG: f32 = 0.025;

/// The greatest distance of a glide in semitones.
const FARTHEST: f32 = 12.0;

/// Power against the greatest one of a note at which it begins, and at which it ends.
const BEGIN: f32 = 1e-3;
/// See [`BEGIN`].
const END: f32 = 1e-4;

/// By what factor the power of a band is below its followed peak where its note is ending: 3 dB.
const FALLEN: f32 = 0.5;

/// By how much the followed peak falls in a second: 30 dB, faster than most notes fade and slower than resonators do.
const DECAY: f32 = 1e-3;

/// By how much a band must be stronger than the one that sounds for it: 3 dB.
const ADVANTAGE: f32 = 2.0;

/// No tone.
const NONE: u8 = u8::MAX;

/// Bits that a note's phase has more than a band's phase.
const MORE: u32 = 32;

/// Pitches to which a map leads, from two octaves and more below E1 to those above the highest key.
const PLACES: usize = 256;

/// What moves the notes away from the bands' pitches.
#[derive(Debug, Clone, Copy)]
pub struct Moves<'a> {
    /// Semitones from each band's own note to the one at which it sounds.
    pub offsets: &'a [i8; TONES],
    /// Seconds from the pitch of one note to the next.
    pub glide: f32,
    /// The share of the deviation from the nominal pitch, 0..1.
    pub vibrato: f32,
}

/// The bands' oscillators in the current block.
#[derive(Debug)]
pub struct Bands<'a> {
    /// At the start of the block, and what a sample adds.
    pub phases: &'a [u32; LANES],
    /// See `phases`.
    pub steps: &'a [u32; LANES],
    /// Nominal frequencies in radians a sample.
    pub angles: &'a [f64; TONES],
    /// Amplitudes of the bands themselves.
    pub amplitudes: &'a Lanes,
    /// Those of the notes at the start and at the end of the block.
    pub gains: &'a mut [Lanes; 2],
    /// The bands' shares in the sum.
    pub weights: &'a Lanes,
    /// The greatest power of a note.
    pub high: f32,
}

/// The pitch of each band's note.
#[derive(Debug, Clone)]
pub struct Pitch {
    /// Seconds of a block.
    block: f32,
    /// By what factor a followed peak falls in a block.
    decay: f32,
    /// Whether a note sounds at another pitch than its band, or in another phase.
    active: bool,
    /// Phase at the start of the block and step of a sample, each with 32 bits more than a band has. The phase of a note is the sum of
    /// its steps and would drift by all that they lack.
    phases: [u64; TONES],
    steps: [u64; TONES],
    /// The pitch whose tables each note reads, in semitones above E1.
    rows: [u8; TONES],
    /// Semitones from the band to its note, what a block adds, and where that leads.
    shifts: [f32; TONES],
    slopes: [f32; TONES],
    targets: [f32; TONES],
    /// The same as a factor of the frequency.
    ratios: [f32; TONES],
    /// Whether the phase is another one than that of the band.
    free: [bool; TONES],
    /// Whether the note sounds, the blocks since it began or ended, and the followed peak of its band's power.
    on: [bool; TONES],
    ages: [u32; TONES],
    peaks: [f32; TONES],
    /// Whether the note has had its glide, and whether one has begun at its end.
    settled: [bool; TONES],
    used: [bool; TONES],
    weights: Lanes,
    /// The band that sounds at each pitch to which a map leads.
    leaders: [u8; PLACES],
}

impl Pitch {
    /// That of the bands, for `sample_rate` in Hz.
    pub fn new(sample_rate: f64) -> Self {
        Self {
            block: (BLOCK as f64 / sample_rate) as f32,
            decay: libm::pow(f64::from(DECAY), BLOCK as f64 / sample_rate) as f32,
            active: false,
            phases: [0; TONES],
            steps: [0; TONES],
            rows: std::array::from_fn(|tone| to_listener(tone) as u8),
            shifts: [0.0; TONES],
            slopes: [0.0; TONES],
            targets: [0.0; TONES],
            ratios: [1.0; TONES],
            free: [false; TONES],
            on: [false; TONES],
            ages: [u32::MAX; TONES],
            peaks: [0.0; TONES],
            settled: [true; TONES],
            used: [false; TONES],
            weights: Lanes::ZERO,
            leaders: [NONE; PLACES],
        }
    }

    /// Phase at the start of the block and step of a sample of the note of `tone`, if they are not those of the band.
    #[inline(always)]
    pub fn played(&self, tone: usize) -> Option<(u32, u32)> {
        let of_band = |phase: u64| (phase >> MORE) as u32;
        self.active.then(|| (of_band(self.phases[tone]), of_band(self.steps[tone])))
    }

    /// The pitch whose tables the note of `tone` reads, in semitones above E1.
    #[inline(always)]
    pub fn row(&self, tone: usize) -> usize {
        usize::from(self.rows[tone])
    }

    /// The frequency of the note of `tone` against that of its band.
    pub fn ratio(&self, tone: usize) -> f32 {
        self.ratios[tone]
    }

    /// Decides about a block, whose levels are set. Of bands whose notes have the same pitch, the strongest gets the power of all.
    pub fn update(&mut self, moves: Moves, bands: Bands) {
        let maps = moves.offsets.iter().any(|offset| *offset != 0);
        let wanted = maps || moves.glide > 0.0 || moves.vibrato < 1.0;
        if !wanted && !self.active {
            return;
        }
        if !self.active {
            *self = Self { active: true, weights: *bands.weights, ..self.fresh() };
            for tone in 0..TONES {
                self.phases[tone] = u64::from(bands.phases[tone]) << MORE;
                self.on[tone] = bands.gains[0].0[tone] > 0.0;
            }
        } else {
            for (phase, step) in self.phases.iter_mut().zip(self.steps) {
                *phase = phase.wrapping_add(step.wrapping_mul(BLOCK as u64));
            }
        }
        let recent = self.blocks(RECENT);
        for tone in 0..TONES {
            let target = f32::from(moves.offsets[tone]);
            // Where the listener lets a young note begin anew, its glide goes on after the gap.
            let pauses = self.slopes[tone] != 0.0 && self.ages[tone] <= recent;
            if bands.gains[0].0[tone] == 0.0 && !pauses {
                (self.shifts[tone], self.slopes[tone], self.free[tone]) = (target, 0.0, false);
            } else if target != self.targets[tone] {
                self.slopes[tone] = self.slope(target - self.shifts[tone], MOVE);
            }
            self.targets[tone] = target;
            if !self.free[tone] {
                self.phases[tone] = u64::from(bands.phases[tone]) << MORE;
            }
        }
        if maps {
            self.merge(bands.gains);
        }
        self.glide(moves.glide, &bands);
        self.weights = *bands.weights;
        self.active = wanted;
        for tone in 0..TONES {
            if bands.gains[0].0[tone] + bands.gains[1].0[tone] > 0.0 {
                self.step(tone, moves.vibrato, &bands);
                self.active |= self.free[tone];
            }
        }
        if !self.active {
            *self = self.fresh();
        }
    }

    fn fresh(&self) -> Self {
        Self::new(BLOCK as f64 / f64::from(self.block))
    }

    /// Whole blocks in `seconds`.
    fn blocks(&self, seconds: f32) -> u32 {
        (seconds / self.block) as u32
    }

    /// What each block adds to go so many `semitones` in `seconds`.
    fn slope(&self, semitones: f32, seconds: f32) -> f32 {
        semitones * (self.block / seconds).min(1.0)
    }

    /// Where the note of `tone` is, in semitones above A3.
    fn position(&self, tone: usize) -> f32 {
        semitone(tone) as f32 + self.shifts[tone]
    }

    /// Leaves one band at each pitch, with the power of all.
    fn merge(&mut self, [before, gains]: &mut [Lanes; 2]) {
        let mut best = [(NONE, 0.0); PLACES];
        let mut sums = [0.0; PLACES];
        let place = |pitch: &Self, tone: usize| {
            (PLACES as i32 / 2 + semitone(tone) + pitch.targets[tone] as i32) as usize % PLACES
        };
        for tone in 0..TONES {
            let (power, place) = (gains.0[tone] * gains.0[tone], place(self, tone));
            let leads = usize::from(self.leaders[place]) == tone;
            let score = if leads { ADVANTAGE * power } else { power };
            sums[place] += power;
            if score > best[place].1 {
                best[place] = (tone as u8, score);
            }
        }
        for tone in 0..TONES {
            let place = place(self, tone);
            let (leads, last) = (best[place].0 == tone as u8, usize::from(self.leaders[place]));
            gains.0[tone] = if leads { sums[place].sqrt() } else { 0.0 };
            let passes = last < TONES && last != tone && before.0[last] > 0.0;
            if leads && passes && before.0[tone] == 0.0 {
                // The same note goes on with what another band tracks.
                self.phases[tone] = self.phases[last];
                self.shifts[tone] = self.position(last) - semitone(tone) as f32;
                self.slopes[tone] = self.slope(self.targets[tone] - self.shifts[tone], MOVE);
                self.free[tone] = true;
                (self.on[tone], self.on[last]) = (self.on[last], false);
                (self.used[last], self.settled[tone]) = (true, true);
            }
        }
        for (leader, (tone, _)) in self.leaders.iter_mut().zip(best) {
            *leader = tone;
        }
    }

    /// Lets notes that begin start at the pitch of near ones that end.
    fn glide(&mut self, seconds: f32, bands: &Bands) {
        let [recent, young] = [RECENT, YOUNG].map(|seconds| self.blocks(seconds));
        let mut begun = [false; TONES];
        let mut ending = [false; TONES];
        for tone in 0..TONES {
            let power = bands.gains[1].0[tone] * bands.gains[1].0[tone];
            let on = if self.on[tone] {
                power >= END * bands.high && power > 0.0
            } else {
                power > BEGIN * bands.high
            };
            self.ages[tone] =
                if on == self.on[tone] { self.ages[tone].saturating_add(1) } else { 0 };
            let own = bands.amplitudes.0[tone] * bands.amplitudes.0[tone];
            if on && !self.on[tone] {
                (self.peaks[tone], self.settled[tone], self.used[tone]) = (own, false, false);
            }
            self.on[tone] = on;
            self.peaks[tone] = own.max(self.decay * self.peaks[tone]);
            begun[tone] = on && !self.settled[tone] && self.ages[tone] <= young;
            let falls =
                bands.weights.0[tone] < self.weights.0[tone] || power < FALLEN * self.peaks[tone];
            let ends = if on { falls } else { self.ages[tone] <= recent };
            ending[tone] = ends && !begun[tone] && !self.used[tone];
        }
        if seconds == 0.0 {
            return;
        }
        while let Some((tone, other, from)) = self.nearest(&begun, &ending) {
            self.shifts[tone] = from - semitone(tone) as f32;
            self.slopes[tone] = self.slope(self.targets[tone] - self.shifts[tone], seconds);
            (begun[tone], ending[other]) = (false, false);
            (self.settled[tone], self.used[other]) = (true, true);
        }
    }

    /// The note that begins next to one that ends, that one, and where that is.
    fn nearest(
        &self,
        begun: &[bool; TONES],
        ending: &[bool; TONES],
    ) -> Option<(usize, usize, f32)> {
        let mut nearest = None;
        let mut least = f32::INFINITY;
        for tone in (0..TONES).filter(|tone| begun[*tone]) {
            let own = semitone(tone) as f32 + self.targets[tone];
            for other in (0..TONES).filter(|other| ending[*other]) {
                let from = self.position(other);
                let distance = (from - own).abs();
                if distance <= FARTHEST && distance < least {
                    (nearest, least) = (Some((tone, other, from)), distance);
                }
            }
        }
        nearest
    }

    /// Moves the note of `tone` on by a block.
    fn step(&mut self, tone: usize, vibrato: f32, bands: &Bands) {
        let (before, target) = (self.shifts[tone], self.targets[tone]);
        let slope = self.slopes[tone];
        let mut shift = before + slope;
        if slope == 0.0 || (target - shift) * slope <= 0.0 {
            (shift, self.slopes[tone]) = (target, 0.0);
        }
        // The block's frequency is that of its middle.
        let middle = 0.5 * (before + shift);
        self.shifts[tone] = shift;
        let own = bands.steps[tone];
        if middle == 0.0 && vibrato == 1.0 {
            (self.steps[tone], self.ratios[tone]) = (u64::from(own) << MORE, 1.0);
        } else {
            let nominal = bands.angles[tone] * (f64::from(PERIOD) / TAU);
            let ratio = libm::exp2(f64::from(middle) / 12.0);
            let step = (nominal + f64::from(vibrato) * (f64::from(own) - nominal)) * ratio;
            self.steps[tone] = (step * (1u64 << MORE) as f64) as u64;
            self.ratios[tone] = ratio as f32;
            self.free[tone] = true;
        }
        let row = to_listener(tone) as i32 + before.max(shift).ceil() as i32;
        self.rows[tone] = row.clamp(0, PITCHES as i32 - 1) as u8;
    }
}

#[cfg(test)]
mod tests;
