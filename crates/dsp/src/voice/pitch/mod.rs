//! Pitch of the notes: their band's own, or moved by map, glide and vibrato.

use super::PITCHES;
use crate::{
    lanes::{BLOCK, LANES, Lanes},
    notes::{TONES, semitone, to_listener},
};
use std::f64::consts::TAU;

/// One period of a band in units of phase. The 32 bits of a phase hold four of them: one period of a note two octaves lower.
pub const PERIOD: f32 = (1u32 << 30) as f32;
/// Seconds in which a sounding note moves to its new pitch after the map has changed its target.
const MOVE: f64 = 0.01;
/// Seconds after its end in which a note may be the source of a glide.
const RECENT: f64 = 0.05;
/// Seconds after its start in which a note may begin to glide.
const YOUNG: f64 = 0.025;
/// Maximum distance of a glide in semitones.
const FARTHEST: f64 = 12.0;
/// Power at which a note begins, relative to the maximum power of a note.
const BEGIN: f32 = 1e-3;
/// Power at which a note ends, relative to the maximum power of a note.
const END: f32 = 1e-4;
/// Power of a band at which its note counts as ending, relative to the tracked peak: -3 dB.
const FALLEN: f32 = 0.5;
/// Decay factor of the tracked peak per second: -30 dB. Most notes fade more slowly, resonators faster.
const DECAY: f32 = 1e-3;
/// Factor on the power of the band that already plays a pitch, so that another band takes over only if it is 3 dB stronger.
const ADVANTAGE: f32 = 2.0;
/// Ratio of two powers up to which they count as equal: bands at the ceiling differ by rounding errors.
const EQUAL: f32 = 1.001;
/// Sentinel: no band.
const NONE: u8 = u8::MAX;
/// Fractional bits of a note's phase and step. Without them, the sum of steps would drift.
const FRACTION_BITS: u32 = 32;
/// Number of entries in a table of pitches, with A3 in the middle: no two pitches that a map can reach share an entry.
const MAP_PITCHES: usize = 256;

/// Causes of differences between the pitch of a note and the pitch of its band.
#[derive(Debug, Clone, Copy)]
pub struct Moves<'a> {
    /// Semitones by which the map moves the note of each band, without transposition and octave.
    pub offsets: &'a [i8; TONES],
    /// Duration of a glide in seconds; 0 is off.
    pub glide: f32,
    /// Fraction of the deviation from the nominal pitch that is kept, 0..1.
    pub vibrato: f32,
}

/// The bands' oscillators in the current block.
#[derive(Debug)]
pub struct Bands<'a> {
    /// Phases at the start of the block.
    pub phases: &'a [u32; LANES],
    /// Change of the phases in a sample.
    pub steps: &'a [u32; LANES],
    /// Nominal frequencies in radians a sample.
    pub angles: &'a [f64; TONES],
    /// Amplitudes of the bands' oscillations.
    pub amplitudes: &'a Lanes,
    /// Amplitudes of the notes at the start of the block.
    pub before: &'a Lanes,
    /// Amplitudes of the notes at the end of the block.
    pub gains: &'a mut Lanes,
    /// Weights of the bands in the sum.
    pub weights: &'a Lanes,
    /// Maximum power of a note.
    pub high: f32,
}

/// Stage of a note: whether it sounds, and which glides it has had. Whether a glide is still possible, [`Notes::glide`] decides
/// by the age of the note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Sounds, and no glide has led to it.
    Begun,
    /// Sounds: a glide has led to it, it continues the note of another band, or it sounded before there were [`Notes`].
    Sounding,
    /// Sounds, and a glide has started from it.
    GlidedFrom,
    /// Silent, and no glide has started from it.
    Ended,
    /// Has ended, and a glide or another band has continued it.
    Gone,
}

impl Stage {
    fn sounds(self) -> bool {
        matches!(self, Self::Begun | Self::Sounding | Self::GlidedFrom)
    }

    fn was_glided_from(self) -> bool {
        matches!(self, Self::GlidedFrom | Self::Gone)
    }

    /// Returns the stage of the note after a glide has started from it.
    fn after_glide_from(self) -> Self {
        if self.sounds() { Self::GlidedFrom } else { Self::Gone }
    }
}

/// Note of one band.
#[derive(Debug, Clone, Copy)]
struct Note {
    /// Phase at the start of the block, with [`FRACTION_BITS`] fractional bits.
    phase: u64,
    /// Change of the phase in a sample, with [`FRACTION_BITS`] fractional bits.
    step: u64,
    /// Whether the phase may differ from the band's phase.
    free: bool,
    /// Pitch whose tables the note reads, in semitones above E1.
    row: u8,
    /// Semitones from the band to the note. In f64: it is a sum of many slopes, and errors of f32 would be audible.
    shift: f64,
    /// Change of the shift per block.
    slope: f64,
    /// Shift at which the slope ends.
    target: f64,
    /// Ratio of the frequency of the note to the frequency of its band, without the effect of `vibrato`.
    ratio: f32,
    stage: Stage,
    /// Blocks since the note began or ended.
    age: u32,
    /// Tracked peak of the band's power.
    peak: f32,
}

impl Note {
    /// Creates a note at the pitch of its band.
    fn new(tone: usize, phase: u32, sounds: bool) -> Self {
        Self {
            phase: u64::from(phase) << FRACTION_BITS,
            step: 0,
            free: false,
            row: to_listener(tone) as u8,
            shift: 0.0,
            slope: 0.0,
            target: 0.0,
            ratio: 1.0,
            stage: if sounds { Stage::Sounding } else { Stage::Ended },
            age: u32::MAX,
            peak: 0.0,
        }
    }
}

/// Converts durations to blocks.
#[derive(Debug, Clone, Copy)]
struct Clock {
    /// Duration of a block in seconds.
    block: f64,
    /// Decay of a tracked peak in a block, as a factor.
    decay: f32,
}

impl Clock {
    fn blocks(self, seconds: f64) -> u32 {
        (seconds / self.block) as u32
    }

    /// Returns the change per block of a shift that moves by `semitones` in `seconds`.
    fn slope(self, semitones: f64, seconds: f64) -> f64 {
        semitones * (self.block / seconds).min(1.0)
    }
}

/// Notes that may differ from their bands.
#[derive(Debug, Clone)]
struct Notes {
    notes: [Note; TONES],
    /// Weights of the bands in the previous block.
    weights: Lanes,
    /// Band that plays each pitch to which the map moves notes, or [`NONE`].
    leaders: [u8; MAP_PITCHES],
}

#[derive(Debug, Clone)]
pub struct Pitch {
    clock: Clock,
    /// `None` while every note has the pitch and the phase of its band.
    moved: Option<Notes>,
}

impl Pitch {
    pub fn new(sample_rate: f64) -> Self {
        let block = BLOCK as f64 / sample_rate;
        let decay = libm::pow(f64::from(DECAY), block) as f32;
        Self { clock: Clock { block, decay }, moved: None }
    }

    #[inline(always)]
    fn note(&self, tone: usize) -> Option<&Note> {
        self.moved.as_ref().map(|moved| &moved.notes[tone])
    }

    /// Returns phase and step of the note of `tone`; `None` if the note has the phase and the step of its band.
    #[inline(always)]
    pub fn played(&self, tone: usize) -> Option<(u32, u32)> {
        let of_band = |phase: u64| (phase >> FRACTION_BITS) as u32;
        self.note(tone).map(|note| (of_band(note.phase), of_band(note.step)))
    }

    /// Returns the pitch whose tables the note reads, in semitones above E1.
    #[inline(always)]
    pub fn row(&self, tone: usize) -> usize {
        self.note(tone).map_or(to_listener(tone), |note| usize::from(note.row))
    }

    /// Returns the ratio of the frequency of the note to that of its band.
    pub fn ratio(&self, tone: usize) -> f32 {
        self.note(tone).map_or(1.0, |note| note.ratio)
    }

    /// Moves the notes by a block. If the map moves any note, the strongest band at each pitch gets the power of all there.
    pub fn update(&mut self, moves: Moves, bands: Bands) {
        let maps = moves.offsets.iter().any(|offset| *offset != 0);
        let wanted = maps || moves.glide > 0.0 || moves.vibrato < 1.0;
        let notes = match &mut self.moved {
            None if !wanted => return,
            None => self.moved.insert(Notes::new(&bands)),
            Some(notes) => {
                notes.advance();
                notes
            }
        };
        notes.aim(self.clock, &moves, &bands);
        if maps {
            notes.merge(self.clock, bands.before, bands.gains);
        }
        notes.glide(self.clock, moves.glide, &bands);
        if !notes.step(moves.vibrato, &bands) && !wanted {
            self.moved = None;
        }
    }
}

impl Notes {
    fn new(bands: &Bands) -> Self {
        let sounds = |tone: usize| bands.before.0[tone] > 0.0;
        Self {
            notes: std::array::from_fn(|tone| Note::new(tone, bands.phases[tone], sounds(tone))),
            weights: *bands.weights,
            leaders: [NONE; MAP_PITCHES],
        }
    }

    fn advance(&mut self) {
        for note in &mut self.notes {
            note.phase = note.phase.wrapping_add(note.step.wrapping_mul(BLOCK as u64));
        }
    }

    /// Sets the targets of the shifts by the map. A silent note jumps to its target, a sounding note moves there.
    fn aim(&mut self, clock: Clock, moves: &Moves, bands: &Bands) {
        let recent = clock.blocks(RECENT);
        for (tone, note) in self.notes.iter_mut().enumerate() {
            let target = f64::from(moves.offsets[tone]);
            // A gliding note may restart after a short gap; its glide continues.
            let pauses = note.slope != 0.0 && note.age <= recent;
            if bands.before.0[tone] == 0.0 && !pauses {
                (note.shift, note.slope, note.free) = (target, 0.0, false);
            } else if target != note.target {
                note.slope = clock.slope(target - note.shift, MOVE);
            }
            note.target = target;
            if !note.free {
                note.phase = u64::from(bands.phases[tone]) << FRACTION_BITS;
            }
        }
    }

    /// Returns the pitch of the note in semitones above A3.
    fn position(&self, tone: usize) -> f64 {
        f64::from(semitone(tone)) + self.notes[tone].shift
    }

    /// Keeps one band at each pitch, and gives it the power of all bands there. When another band takes over, it continues the
    /// phase and pitch of the one before.
    fn merge(&mut self, clock: Clock, before: &Lanes, gains: &mut Lanes) {
        let mut best = [(NONE, 0.0); MAP_PITCHES];
        let mut sums = [0.0; MAP_PITCHES];
        let pitch_of = |notes: &[Note; TONES], tone: usize| {
            (MAP_PITCHES as i32 / 2 + semitone(tone) + notes[tone].target as i32) as usize
                % MAP_PITCHES
        };
        for tone in 0..TONES {
            let (power, pitch) = (gains.0[tone] * gains.0[tone], pitch_of(&self.notes, tone));
            let leads = usize::from(self.leaders[pitch]) == tone;
            let score = if leads { ADVANTAGE * power } else { power };
            sums[pitch] += power;
            if score > EQUAL * best[pitch].1 {
                best[pitch] = (tone as u8, score);
            }
        }
        for tone in 0..TONES {
            let pitch = pitch_of(&self.notes, tone);
            let (leads, last) = (best[pitch].0 == tone as u8, usize::from(self.leaders[pitch]));
            gains.0[tone] = if leads { sums[pitch].sqrt() } else { 0.0 };
            let passes = last < TONES && last != tone && before.0[last] > 0.0;
            if leads && passes && before.0[tone] == 0.0 {
                // The note continues in another band.
                let (phase, shift) = (self.notes[last].phase, self.position(last));
                let sounded = self.notes[last].stage.sounds();
                self.notes[last].stage = Stage::Gone;
                let note = &mut self.notes[tone];
                (note.phase, note.free) = (phase, true);
                note.shift = shift - f64::from(semitone(tone));
                note.slope = clock.slope(note.target - note.shift, MOVE);
                if sounded {
                    let glided = note.stage.was_glided_from();
                    note.stage = if glided { Stage::GlidedFrom } else { Stage::Sounding };
                }
            }
        }
        for (leader, (tone, _)) in self.leaders.iter_mut().zip(best) {
            *leader = tone;
        }
    }

    /// Updates the stage of every note. Afterwards, unless `seconds` is 0, each note that has just begun starts at the pitch of
    /// the nearest ending note, at most an octave away, and glides to its own pitch in `seconds`.
    fn glide(&mut self, clock: Clock, seconds: f32, bands: &Bands) {
        let [recent, young] = [RECENT, YOUNG].map(|seconds| clock.blocks(seconds));
        let mut begun = [false; TONES];
        let mut ending = [false; TONES];
        for (tone, note) in self.notes.iter_mut().enumerate() {
            let power = bands.gains.0[tone] * bands.gains.0[tone];
            let band_power = bands.amplitudes.0[tone] * bands.amplitudes.0[tone];
            let sounded = note.stage.sounds();
            let sounds = if sounded {
                power >= END * bands.high && power > 0.0
            } else {
                power > BEGIN * bands.high
            };
            note.age = if sounds == sounded { note.age.saturating_add(1) } else { 0 };
            match (sounded, sounds) {
                (false, true) => (note.stage, note.peak) = (Stage::Begun, band_power),
                (true, false) if note.stage == Stage::GlidedFrom => note.stage = Stage::Gone,
                (true, false) => note.stage = Stage::Ended,
                (true, true) | (false, false) => {}
            }
            note.peak = band_power.max(clock.decay * note.peak);
            begun[tone] = note.stage == Stage::Begun && note.age <= young;
            let fades = bands.weights.0[tone] < self.weights.0[tone];
            let falls = fades || band_power < FALLEN * note.peak;
            let ends = if sounds { falls } else { note.age <= recent };
            ending[tone] = ends && !begun[tone] && !note.stage.was_glided_from();
        }
        self.weights = *bands.weights;
        if seconds == 0.0 {
            return;
        }
        while let Some((tone, other, from)) = self.nearest(&begun, &ending) {
            let note = &mut self.notes[tone];
            note.shift = from - f64::from(semitone(tone));
            note.slope = clock.slope(note.target - note.shift, seconds.into());
            note.stage = Stage::Sounding;
            self.notes[other].stage = self.notes[other].stage.after_glide_from();
            (begun[tone], ending[other]) = (false, false);
        }
    }

    /// Returns the nearest pair of a beginning and an ending note, at most [`FARTHEST`] apart: the tones of both, and the pitch
    /// of the ending note in semitones above A3.
    fn nearest(
        &self,
        begun: &[bool; TONES],
        ending: &[bool; TONES],
    ) -> Option<(usize, usize, f64)> {
        let mut nearest = None;
        let mut least = f64::INFINITY;
        for tone in (0..TONES).filter(|tone| begun[*tone]) {
            let pitch = f64::from(semitone(tone)) + self.notes[tone].target;
            for other in (0..TONES).filter(|other| ending[*other]) {
                let from = self.position(other);
                let distance = (from - pitch).abs();
                if distance <= FARTHEST && distance < least {
                    (nearest, least) = (Some((tone, other, from)), distance);
                }
            }
        }
        nearest
    }

    /// Moves the sounding notes by a block. Returns whether any phase may differ from that of its band.
    fn step(&mut self, vibrato: f32, bands: &Bands) -> bool {
        let mut free = false;
        for (tone, note) in self.notes.iter_mut().enumerate() {
            if bands.before.0[tone] + bands.gains.0[tone] > 0.0 {
                note.advance(tone, vibrato, bands.steps[tone], bands.angles[tone]);
                free |= note.free;
            }
        }
        free
    }
}

impl Note {
    /// Moves the note of band `tone` by a block. `band_step` is the step of the band, `angle` its nominal frequency in radians
    /// a sample.
    fn advance(&mut self, tone: usize, vibrato: f32, band_step: u32, angle: f64) {
        let before = self.shift;
        self.shift = before + self.slope;
        if self.slope == 0.0 || (self.target - self.shift) * self.slope <= 0.0 {
            (self.shift, self.slope) = (self.target, 0.0);
        }
        // The pitch in the middle of the block applies to the whole block.
        let middle = 0.5 * (before + self.shift);
        if middle == 0.0 && vibrato == 1.0 {
            (self.step, self.ratio) = (u64::from(band_step) << FRACTION_BITS, 1.0);
        } else {
            let nominal = angle * (f64::from(PERIOD) / TAU);
            let ratio = libm::exp2(middle / 12.0);
            let step = (nominal + f64::from(vibrato) * (f64::from(band_step) - nominal)) * ratio;
            self.step = (step * (1u64 << FRACTION_BITS) as f64) as u64;
            (self.ratio, self.free) = (ratio as f32, true);
        }
        let row = to_listener(tone) as i32 + before.max(self.shift).ceil() as i32;
        self.row = row.clamp(0, PITCHES as i32 - 1) as u8;
    }
}

#[cfg(test)]
mod tests;
