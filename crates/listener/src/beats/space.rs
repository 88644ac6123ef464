//! States of the bar pointer: tempo, type of beat, and place in the beat.
//!
//! The bar pointer is by N. Whiteley, A. T. Cemgil, S. Godsill, "Bayesian modelling of temporal structure in musical audio"
//! (ISMIR 2006). The discrete form is by F. Krebs, S. Böck, G. Widmer, "An efficient state-space model for joint tempo and meter
//! tracking" (ISMIR 2015): beats have some fixed lengths, each frame of a beat is a state, and the tempo changes at beats only.
//! Onsets have a likelihood at each place, as in F. Krebs, S. Böck, G. Widmer, "Rhythmic pattern modeling for beat and downbeat
//! tracking in musical audio" (ISMIR 2013).
//!
//! * Each tempo has a ring of slots, as many as a beat has steps. Slot `s` has the path whose last beat began at a step that is `s`
//!   modulo the beat's length. So a step adds to all scores in place, and a new beat takes the slot of the beat that ends.
//! * [`Space::advance`] reads the ends of all beats before it writes any new beat, which would otherwise count as an end.
//! * Of equal scores, the first wins: the faster tempo, the lower kind. Sums must keep their order, as rounding can change beats.
//! * Constants without a source were fitted to songs with scores: `docs/time.md` has the results.

use super::{
    SLOWEST, highest,
    patterns::{PLACES, TYPES},
};
use std::{array, ops::Range};

/// Slowest and fastest tempo in beats per minute.
pub const TEMPI: [f64; 2] = [SLOWEST, 270.0];
/// Log-normal prior of the tempo: mode in beats per minute, and standard deviation in octaves. D. Moelants, "Preferred tempo
/// reconsidered" (ICMPC 2002).
const PREFERRED: (f64, f64) = (120.0, 0.7);
/// Weight of the tempo's log prior, per second of music.
const PRIOR: f64 = 4.3;
/// Log probability of a tempo change, divided by the relative change of the beat's length.
const CHANGE: f64 = -300.0;
/// Change of a beat's length in steps that costs nothing, because lengths are rounded to whole steps.
const ROUNDING: f64 = 0.75;
/// Maximum relative change of the length from one beat to the next.
const LARGEST: f64 = 0.15;

/// Number of kinds of beats: strong and weak in pairs; strong, weak and weak in threes.
pub const KINDS: usize = 5;
/// Type of each kind: 0 strong, 1 weak.
pub const TYPE: [usize; KINDS] = [0, 1, 0, 1, 1];
/// Kind that regularly follows each kind.
const NEXT: [usize; KINDS] = [1, 0, 3, 4, 2];
/// Probability that a strong beat comes out of turn: one that begins a pair, and one that begins a three.
const IRREGULAR: [f64; 2] = [0.009, 0.001];
/// Probability of any other irregular beat.
const NEVER: f64 = 1e-9;
/// Number of low bits of a backpointer that hold the kind; the bits above hold the tempo.
const KIND_BITS: u32 = 3;

/// Tempi and probabilities of transitions.
#[derive(Debug, Clone)]
pub struct Space {
    tempi: Vec<Tempo>,
    /// Log probability of each transition between kinds: `kinds[to][from]`.
    kinds: [[f32; KINDS]; KINDS],
}

#[derive(Debug, Clone)]
struct Tempo {
    /// Length of a beat in steps.
    length: usize,
    /// Index of the tempo's first slot in each of the [`Scores`]' rings.
    first: usize,
    /// Place of each step of a beat, below [`PLACES`].
    places: Vec<u8>,
    /// Log prior for one step.
    prior: f32,
    /// Indices of the tempi that the previous beat may have.
    sources: Range<usize>,
    /// Log probability of the transition from each of [`Self::sources`].
    follows: Vec<f32>,
}

/// Log likelihoods of the best paths after a step.
#[derive(Debug, Clone)]
pub struct Scores {
    /// For each kind, the rings of all tempi.
    rings: [Vec<f32>; KINDS],
    /// Number of steps so far.
    step: usize,
}

/// End of a path: its last beat, and the time since then.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct State {
    /// Index of the tempo.
    pub tempo: usize,
    /// Kind of the last beat.
    pub kind: usize,
    /// Steps since the last beat.
    pub since: usize,
    /// Log likelihood of the path.
    pub score: f32,
}

impl Space {
    /// Creates the states for steps of `step` seconds.
    pub fn new(step: f64) -> Self {
        let [longest, shortest] = TEMPI.map(|tempo| (60.0 / tempo / step).round() as usize);
        let lengths: Vec<usize> = (shortest..=longest).collect();
        let change = |from: usize, to: usize| {
            let steps = lengths[to].abs_diff(lengths[from]) as f64;
            (steps / lengths[from] as f64, (steps - ROUNDING).max(0.0) / lengths[from] as f64)
        };
        let all = 0..lengths.len();
        let sum = |from| all.clone().map(|to| libm::exp(CHANGE * change(from, to).1)).sum();
        let sums: Vec<f64> = all.clone().map(sum).collect();
        let mut first = 0;
        let tempi = all.clone().map(|to| {
            let near = |from: &usize| change(*from, to).0 <= LARGEST;
            let from: Vec<usize> = all.clone().filter(near).collect();
            let length = lengths[to];
            let follows =
                |from: &usize| (CHANGE * change(*from, to).1 - libm::log(sums[*from])) as f32;
            let tempo = Tempo {
                length,
                first,
                places: (0..length).map(|step| place(step, length) as u8).collect(),
                prior: prior(60.0 / (length as f64 * step), step),
                sources: from[0]..from[from.len() - 1] + 1,
                follows: from.iter().map(follows).collect(),
            };
            first += length;
            tempo
        });
        let probability = |from: usize, to: usize| match to {
            _ if to == NEXT[from] => 1.0 - IRREGULAR[0] - IRREGULAR[1],
            0 => IRREGULAR[0],
            2 => IRREGULAR[1],
            _ => NEVER,
        };
        let log = |from, to| libm::log(probability(from, to)) as f32;
        let kinds = array::from_fn(|to| array::from_fn(|from| log(from, to)));
        Self { tempi: tempi.collect(), kinds }
    }

    pub fn tempi(&self) -> usize {
        self.tempi.len()
    }

    /// Returns the length of a beat in steps at the tempo `index`.
    pub fn length(&self, index: usize) -> usize {
        self.tempi[index].length
    }

    /// Returns the scores before the first step.
    pub fn start(&self) -> Scores {
        let ring: Vec<f32> =
            self.tempi.iter().flat_map(|tempo| vec![8.0 * tempo.prior; tempo.length]).collect();
        Scores { rings: array::from_fn(|_| ring.clone()), step: 0 }
    }

    /// Advances all paths by a step. `row` has the log likelihood of each place, for each type of beat. Calls `back` for each
    /// new beat with its kind, its tempo and a backpointer, which [`Space::predecessor`] decodes.
    pub fn advance(
        &self,
        scores: &mut Scores,
        row: &[[f32; PLACES]; TYPES],
        mut back: impl FnMut(usize, usize, u8),
    ) {
        let Scores { rings, step } = scores;
        let now = *step;
        // Paths whose beat ends now. Their slots get the new beats.
        let ends = rings.each_ref().map(|ring| {
            let slot = |tempo: &Tempo| ring[tempo.first + now % tempo.length];
            self.tempi.iter().map(slot).collect::<Vec<f32>>()
        });
        for (kind, ring) in rings.iter_mut().enumerate() {
            // For each tempo, the best predecessor of a beat of this kind: score and kind.
            let best = |tempo: usize| {
                highest(ends.iter().zip(&self.kinds[kind]).map(|(ends, from)| ends[tempo] + from))
            };
            let before: Vec<(f32, usize)> = (0..self.tempi()).map(best).collect();
            for (index, tempo) in self.tempi.iter().enumerate() {
                let before = &before[tempo.sources.clone()];
                let paths = before.iter().zip(&tempo.follows);
                let (score, nearest) = highest(paths.map(|(before, follows)| before.0 + follows));
                back(kind, index, (nearest << KIND_BITS | before[nearest].1) as u8);
                let ring = &mut ring[tempo.first..tempo.first + tempo.length];
                let head = now % tempo.length;
                ring[head] = score;
                // From the newest beat to the oldest.
                let (old, new) = ring.split_at_mut(head + 1);
                let paths = old.iter_mut().rev().chain(new.iter_mut().rev());
                for (path, place) in paths.zip(&tempo.places) {
                    *path += row[TYPE[kind]][usize::from(*place)] + tempo.prior;
                }
            }
        }
        *step += 1;
    }

    /// Returns the tempo and the kind of the beat before a beat at `tempo` with the backpointer `back`.
    pub fn predecessor(&self, tempo: usize, back: u8) -> (usize, usize) {
        let nearest = usize::from(back >> KIND_BITS);
        (self.tempi[tempo].sources.start + nearest, usize::from(back & ((1 << KIND_BITS) - 1)))
    }

    /// Returns the best state after the last step.
    pub fn best(&self, scores: &Scores) -> State {
        let (score, index) = highest(scores.rings.iter().flatten().copied());
        let states = scores.rings[0].len();
        let (kind, state) = (index / states, index % states);
        let tempo = self.tempi.partition_point(|tempo| tempo.first <= state) - 1;
        let Tempo { length, first, .. } = self.tempi[tempo];
        let since = ((scores.step - 1) % length + length - (state - first)) % length;
        State { tempo, kind, since, score }
    }

    pub fn lower(scores: &mut Scores, amount: f32) {
        scores.rings.iter_mut().flatten().for_each(|score| *score -= amount);
    }
}

/// Returns the log prior of a tempo in beats per minute, for `seconds` of music.
pub fn prior(tempo: f64, seconds: f64) -> f32 {
    let octaves = libm::log2(tempo / PREFERRED.0) / PREFERRED.1;
    (-0.5 * octaves * octaves * PRIOR * seconds) as f32
}

/// Returns the place in a beat of `length` steps, `step` steps after its start.
pub fn place(step: usize, length: usize) -> usize {
    ((step * PLACES) as f64 / length as f64 + 0.5) as usize % PLACES
}
