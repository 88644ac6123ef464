//! Pitches of the oscillators, where map, glide and vibrato move them away from the bands' pitches.

use crate::{BLOCK, TONES, bank::Tones, semitone};

/// Time in seconds in which a sounding note moves to a new target of its map.
const MOVE: f64 = 0.01;
/// Time in seconds after its end for which a note may be the source of a glide.
const RECENT: f64 = 0.05;
/// Time in seconds after its start for which a note may begin to glide.
const YOUNG: f64 = 0.025;
/// Maximum distance of a glide in semitones.
const FARTHEST: f64 = 12.0;
/// Power above which a note begins, relative to a note's maximum power.
const BEGIN: f64 = 1e-3;
/// Power below which a note has ended, relative to a note's maximum power.
const END: f64 = 1e-4;
/// Power of a band below which its note counts as ending, relative to its tracked peak.
const FALLEN: f64 = 0.5;
/// Decay of the tracked peak per second, as a factor: -30 dB.
const DECAY: f64 = 1e-3;
/// Factor on the power of the band that already plays a pitch, so that another band takes over only if it is 3 dB stronger.
const ADVANTAGE: f64 = 2.0;
/// Ratio of two powers up to which they count as equal, so that rounding errors do not choose among bands at the ceiling.
const EQUAL: f64 = 1.001;

/// Settings that move a note's pitch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moves {
    /// Semitones from each band's own note up to its pitch.
    pub offsets: Tones,
    /// Duration of a glide in seconds.
    pub glide: f64,
    /// Fraction of the deviation from the nominal pitch that is kept.
    pub vibrato: f64,
}

/// State of the bands in a block: oscillators, resonators and levels.
pub(crate) struct Bands<'a> {
    /// Phases at the start of the block in radians.
    pub phases: Tones,
    /// Phase steps of a sample in radians.
    pub steps: Tones,
    /// Nominal phase steps.
    pub nominal: Tones,
    /// Amplitudes of the resonators.
    pub amplitudes: Tones,
    /// Amplitudes of the notes at the start and at the end of the block.
    pub gains: &'a mut [Tones; 2],
    /// Weights of the notes in the sum.
    pub weights: Tones,
    /// Maximum power of a note.
    pub high: f64,
}

#[derive(Debug, Clone, Copy)]
struct Note {
    /// Phase at the start of the block in radians.
    phase: f64,
    /// Phase step of a sample in radians.
    step: f64,
    /// Semitones from the band's own note up to the current pitch.
    shift: f64,
    /// Change of `shift` in a block.
    slope: f64,
    /// Semitones from the band's own note up to the pitch of its map.
    target: f64,
    /// Highest `shift` in the block.
    highest: f64,
    /// Whether the phase is independent of the band's phase.
    free: bool,
    /// Whether the note sounds.
    on: bool,
    /// Number of blocks since `on` changed.
    age: f64,
    /// Tracked peak of the band's power.
    peak: f64,
    /// Whether the note cannot begin to glide any more: it has had its glide, or continues the note of another band.
    settled: bool,
    /// Whether another note has glided from this one, or continues it.
    used: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Pitches {
    /// Length of a block in seconds.
    block: f64,
    active: bool,
    notes: [Note; TONES],
    /// Weights of the notes in the last block.
    weights: Tones,
    /// The leading band at each pitch: pitch and tone.
    leaders: Vec<(f64, usize)>,
}

impl Pitches {
    /// Creates the notes at the bands' own pitches.
    pub fn new(sample_rate: f64) -> Self {
        let note = Note {
            phase: 0.0,
            step: 0.0,
            shift: 0.0,
            slope: 0.0,
            target: 0.0,
            highest: 0.0,
            free: false,
            on: false,
            age: f64::INFINITY,
            peak: 0.0,
            settled: true,
            used: false,
        };
        Self {
            block: BLOCK as f64 / sample_rate,
            active: false,
            notes: [note; TONES],
            weights: [0.0; TONES],
            leaders: Vec::new(),
        }
    }

    /// Returns a note's phase at the start of the block and its phase step; `None` if both are the band's.
    pub fn played(&self, tone: usize) -> Option<(f64, f64)> {
        self.active.then(|| (self.notes[tone].phase, self.notes[tone].step))
    }

    /// Returns the highest pitch of a note in the block, in semitones above A3.
    pub fn highest(&self, tone: usize) -> f64 {
        semitone(tone) + if self.active { self.notes[tone].highest } else { 0.0 }
    }

    /// Begins a block, after its levels are set.
    pub fn begin_block(&mut self, moves: Moves, bands: &mut Bands) {
        let maps = moves.offsets.iter().any(|offset| *offset != 0.0);
        let wanted = maps || moves.glide > 0.0 || moves.vibrato < 1.0;
        if !wanted && !self.active {
            return;
        }
        let fresh = Self::new(BLOCK as f64 / self.block);
        if !self.active {
            *self = Self { active: true, weights: bands.weights, ..fresh.clone() };
            for (tone, note) in self.notes.iter_mut().enumerate() {
                (note.phase, note.on) = (bands.phases[tone], bands.gains[0][tone] > 0.0);
            }
        } else {
            self.notes.iter_mut().for_each(|note| note.phase += BLOCK as f64 * note.step);
        }
        for (tone, note) in self.notes.iter_mut().enumerate() {
            let target = moves.offsets[tone];
            let pauses = note.slope != 0.0 && note.age <= (RECENT / self.block).floor();
            if bands.gains[0][tone] == 0.0 && !pauses {
                (note.shift, note.slope, note.free) = (target, 0.0, false);
            } else if target != note.target {
                note.slope = (target - note.shift) * (self.block / MOVE).min(1.0);
            }
            note.target = target;
            if !note.free {
                note.phase = bands.phases[tone];
            }
        }
        if maps {
            self.merge(bands.gains);
        }
        self.follow(bands, moves.glide);
        self.weights = bands.weights;
        self.active = wanted;
        for (tone, note) in self.notes.iter_mut().enumerate() {
            if bands.gains.iter().any(|gains| gains[tone] > 0.0) {
                note.advance(moves.vibrato, bands.steps[tone], bands.nominal[tone]);
                self.active |= note.free;
            }
        }
        if !self.active {
            *self = fresh;
        }
    }

    /// Gives the power of all bands at a pitch to the strongest of them. When another band takes over, it continues the phase and
    /// the pitch of the one before.
    fn merge(&mut self, [before, gains]: &mut [Tones; 2]) {
        let pitch = |notes: &[Note; TONES], tone: usize| semitone(tone) + notes[tone].target;
        let last = std::mem::take(&mut self.leaders);
        let leader = |leaders: &[(f64, usize)], pitch: f64| {
            leaders.iter().find(|(led, _)| *led == pitch).map(|(_, tone)| *tone)
        };
        let mut sums: Vec<(f64, f64)> = Vec::new();
        let mut best: Vec<(f64, usize, f64)> = Vec::new();
        for (tone, gain) in gains.iter().enumerate() {
            let (target_pitch, power) = (pitch(&self.notes, tone), gain.powi(2));
            let score =
                power * if leader(&last, target_pitch) == Some(tone) { ADVANTAGE } else { 1.0 };
            match sums.iter_mut().find(|(pitch, _)| *pitch == target_pitch) {
                Some((_, sum)) => *sum += power,
                None => sums.push((target_pitch, power)),
            }
            match best.iter_mut().find(|(pitch, ..)| *pitch == target_pitch) {
                Some(best) if score > EQUAL * best.2 => *best = (target_pitch, tone, score),
                Some(_) => {}
                None if score > 0.0 => best.push((target_pitch, tone, score)),
                None => {}
            }
        }
        self.leaders = best.iter().map(|(pitch, tone, _)| (*pitch, *tone)).collect();
        for tone in 0..TONES {
            let target_pitch = pitch(&self.notes, tone);
            let leads = leader(&self.leaders, target_pitch) == Some(tone);
            let sum =
                sums.iter().find(|(pitch, _)| *pitch == target_pitch).map_or(0.0, |(_, sum)| *sum);
            gains[tone] = if leads { sum.sqrt() } else { 0.0 };
            let predecessor =
                leader(&last, target_pitch).filter(|last| *last != tone && before[*last] > 0.0);
            if let Some(last) = predecessor.filter(|_| leads && before[tone] == 0.0) {
                // The note continues at its pitch, although another band now leads.
                let old = self.notes[last];
                let note = &mut self.notes[tone];
                note.phase = old.phase;
                note.shift = semitone(last) + old.shift - semitone(tone);
                note.slope = (note.target - note.shift) * (self.block / MOVE).min(1.0);
                (note.free, note.on, note.settled) = (true, old.on, true);
                (self.notes[last].on, self.notes[last].used) = (false, true);
            }
        }
    }

    /// Updates which notes begin and end, and starts glides that last `seconds`; none if this is 0.
    fn follow(&mut self, bands: &Bands, seconds: f64) {
        let blocks = |seconds: f64| (seconds / self.block).floor();
        let (recent, young) = (blocks(RECENT), blocks(YOUNG));
        let (mut begun, mut ending) = (Vec::new(), Vec::new());
        for (tone, note) in self.notes.iter_mut().enumerate() {
            let power = bands.gains[1][tone].powi(2);
            let band_power = bands.amplitudes[tone].powi(2);
            let on = if note.on {
                power > 0.0 && power >= END * bands.high
            } else {
                power > BEGIN * bands.high
            };
            note.age = if on == note.on { note.age + 1.0 } else { 0.0 };
            if on && !note.on {
                (note.peak, note.settled, note.used) = (band_power, false, false);
            }
            note.on = on;
            note.peak = band_power.max(note.peak * DECAY.powf(self.block));
            let begins = on && !note.settled && note.age <= young;
            let falls = bands.weights[tone] < self.weights[tone] || band_power < FALLEN * note.peak;
            let ends = if on { falls } else { note.age <= recent };
            if begins {
                begun.push(tone);
            } else if ends && !note.used {
                ending.push(tone);
            }
        }
        if seconds == 0.0 {
            return;
        }
        // The nearest pair first; of equally near pairs, the first by their indices.
        loop {
            let pairs = begun.iter().flat_map(|tone| ending.iter().map(|other| (*tone, *other)));
            let distances = pairs.map(|(tone, other)| {
                let from = semitone(other) + self.notes[other].shift;
                let to = semitone(tone) + self.notes[tone].target;
                ((from - to).abs(), tone, other, from)
            });
            let near = distances.filter(|(distance, ..)| *distance <= FARTHEST);
            let Some((_, tone, other, from)) = near.min_by(|a, b| a.0.total_cmp(&b.0)) else {
                return;
            };
            let note = &mut self.notes[tone];
            note.shift = from - semitone(tone);
            note.slope = (note.target - note.shift) * (self.block / seconds).min(1.0);
            note.settled = true;
            self.notes[other].used = true;
            begun.retain(|listed| *listed != tone);
            ending.retain(|listed| *listed != other);
        }
    }
}

impl Note {
    /// Advances by a block. `band_step` is the band's phase step, `nominal` the band's nominal phase step.
    fn advance(&mut self, vibrato: f64, band_step: f64, nominal: f64) {
        let before = self.shift;
        self.shift += self.slope;
        if self.slope == 0.0 || (self.target - self.shift) * self.slope <= 0.0 {
            (self.shift, self.slope) = (self.target, 0.0);
        }
        self.highest = before.max(self.shift);
        let middle = (before + self.shift) / 2.0;
        self.free |= middle != 0.0 || vibrato != 1.0;
        self.step = (nominal + vibrato * (band_step - nominal)) * (middle / 12.0).exp2();
    }
}
