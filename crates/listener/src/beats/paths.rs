//! Bar pointer: the best path to each tempo, type of beat, and time since the beat.
//!
//! The bar pointer is by N. Whiteley, A. T. Cemgil, S. Godsill, "Bayesian modelling of temporal structure in musical audio"
//! (ISMIR 2006). The discrete form is by F. Krebs, S. Böck, G. Widmer, "An efficient state-space model for joint tempo and meter
//! tracking" (ISMIR 2015): beats have some fixed lengths, each step of a beat is a state, and the tempo changes at beats only.
//! Viterbi's algorithm keeps the best path to each state.
//!
//! * Each tempo has a ring of slots, one for each step since the beat, and a new beat takes the slot of the beat that ends. So a
//!   step adds to all scores in place.
//! * Ends of all beats are read before any new beat is written, which would otherwise count as an end.
//! * Of equal scores, the first wins: the faster tempo, the strong beat. Sums must keep their order, as rounding can change beats.
//! * Constants without a source were fitted to songs with scores: `docs/time.md` has the results.

use super::{
    SLOWEST, highest,
    onsets::{PLACES, ROW, Row, TYPES},
};
use std::array;

/// Fastest tempo in beats per minute.
const FASTEST: f64 = 270.0;
/// Log-normal prior of the tempo: mode in beats per minute, and standard deviation in octaves. D. Moelants, "Preferred tempo
/// reconsidered" (ICMPC 2002).
const PREFERRED: (f64, f64) = (120.0, 0.7);
/// Weight of the tempo's log prior, per second of music.
const PRIOR: f64 = 4.3;
/// Log probability of a tempo change, divided by the relative change of the beat's length. No test fixes this value and
/// [`ROUNDING`]: at 120 beats per minute, 1 % of either moves the score of a change by one frame by 0.035, about one unit of the
/// likelihoods.
const CHANGE: f64 = -300.0;
/// Change of a beat's length in steps that costs nothing, because lengths are rounded.
const ROUNDING: f64 = 0.5;
/// Maximum relative change of the length from one beat to the next.
const LARGEST: f64 = 0.1;
/// Probabilities of a strong and a weak beat after one of the same type. Otherwise, strong and weak beats alternate.
const IRREGULAR: [f64; TYPES] = [0.01, 1e-9];
/// One-pole coefficient of a path's mean beat length.
const NEW: f32 = 0.2;

/// Number of scores that are compared at once.
const CHUNK: usize = 32;

/// Best paths to all states. Arrays of [`TYPES`] elements have one for each type of beat.
#[derive(Debug, Clone)]
pub struct Paths {
    tempi: Vec<Tempo>,
    /// Place of each step of two beats, for all tempi: a ring that starts at any head is a part of them.
    places: [Vec<u8>; TYPES],
    /// Log likelihood of the path to each slot, for all tempi.
    scores: [Vec<f32>; TYPES],
    /// Mean length in steps of the last beats of the path to each slot.
    means: [Vec<f32>; TYPES],
    /// Scores of the best beats that end in this step, by the type of the next beat and by tempo.
    ends: [Vec<f32>; TYPES],
    /// Types of these beats, and mean lengths of their paths.
    ended: [Vec<(usize, f32)>; TYPES],
    /// Highest score after the last step; the next step subtracts it from all.
    highest: f32,
}

#[derive(Debug, Clone)]
struct Tempo {
    /// Length of a beat in steps, a multiple of 0.5.
    length: f32,
    /// Lengths of a strong and a weak beat in whole steps; their mean is `length`.
    lengths: [usize; TYPES],
    /// Index of the tempo's first slot.
    first: usize,
    /// Slots of the beats that begin in the next step, counted from `first`. Older beats have higher slots.
    heads: [usize; TYPES],
    /// Log prior for one step.
    prior: f32,
    /// Index of the first tempo that the previous beat may have.
    source: usize,
    /// Log probability of the transition from each tempo, from `source` on.
    follows: Vec<f32>,
}

/// End of the best path.
#[derive(Debug, Clone, Copy)]
pub struct Best {
    /// Index of the tempo.
    tempo: usize,
    /// Type of the last beat.
    of_type: usize,
    /// Steps since the last beat.
    pub since: usize,
    /// Mean length of the last beats in steps.
    pub length: f32,
}

impl Paths {
    /// Creates the paths for steps of `step` seconds. Lengths of beats are multiples of half a step below `coarse` steps, and of a
    /// step above.
    pub fn new(step: f64, coarse: f64) -> Self {
        let [longest, shortest] = [SLOWEST, FASTEST].map(|tempo| (60.0 / tempo / step).round());
        let halves = (2 * shortest as usize..=2 * longest as usize).map(|half| half as f64 / 2.0);
        let is_used = |length: &f64| *length < coarse || length.fract() == 0.0;
        let lengths: Vec<f64> = halves.filter(is_used).collect();
        let all = 0..lengths.len();
        let change = |from: usize, to: usize| (lengths[to] - lengths[from]).abs();
        let cost = |from, to| CHANGE * (change(from, to) - ROUNDING).max(0.0) / lengths[from];
        let sum = |from| all.clone().map(|to| libm::exp(cost(from, to))).sum();
        let sums: Vec<f64> = all.clone().map(sum).collect();
        let (mut tempi, mut places, mut slots) = (Vec::new(), [const { Vec::new() }; TYPES], 0);
        for (to, length) in lengths.iter().enumerate() {
            let octaves = libm::log2(60.0 / (length * step) / PREFERRED.0) / PREFERRED.1;
            let near = |from: &usize| change(*from, to) <= (LARGEST * lengths[*from]).max(1.0);
            let follows = |from| (cost(from, to) - libm::log(sums[from])) as f32;
            let whole = [length.ceil() as usize, *length as usize];
            tempi.push(Tempo {
                length: *length as f32,
                lengths: whole,
                first: slots,
                heads: [0; _],
                prior: (-0.5 * octaves * octaves * PRIOR * step) as f32,
                source: all.clone().find(near).unwrap_or(to),
                follows: all.clone().filter(near).map(follows).collect(),
            });
            let place = |step: usize| ((step * PLACES) as f64 / length + 0.5) as usize % PLACES;
            for (places, whole) in places.iter_mut().zip(whole) {
                places.resize(2 * slots, 0);
                places.extend((0..2 * whole).map(|step| place(step % whole) as u8));
            }
            slots += whole[0];
        }
        let slots = slots.next_multiple_of(CHUNK);
        let mut paths = Self {
            scores: array::from_fn(|_| vec![f32::MIN; slots]),
            means: array::from_fn(|_| vec![0.0; slots]),
            ends: array::from_fn(|_| vec![0.0; tempi.len()]),
            ended: array::from_fn(|_| vec![(0, 0.0); tempi.len()]),
            tempi,
            places,
            highest: 0.0,
        };
        paths.reset();
        paths
    }

    /// Resets to the start, where all states are equally likely.
    pub fn reset(&mut self) {
        for Tempo { length, lengths, first, heads, .. } in &mut self.tempi {
            *heads = [0; _];
            for (of_type, whole) in lengths.iter().enumerate() {
                self.scores[of_type][*first..*first + whole].fill(0.0);
                self.means[of_type][*first..*first + whole].fill(*length);
            }
        }
        self.highest = 0.0;
    }

    /// Advances all paths by a step. `row` has the log likelihood of each place, for each type of beat. Passes the new beats'
    /// backpointers to `back`, from which [`Paths::trace`] finds the beats: of the strong beats of all tempi, then of the weak ones.
    /// Returns the log likelihood that the step added to the best path.
    #[inline(always)]
    pub fn advance(&mut self, row: &Row, mut back: impl FnMut(u8)) -> f32 {
        let Self { tempi, places, scores, means, ends, ended, .. } = self;
        let [strong, weak] = IRREGULAR.map(|p| libm::log(p) as f32);
        let regular = libm::log(1.0 - IRREGULAR[0]) as f32;
        for (to, log) in [[strong, regular], [regular, weak]].into_iter().enumerate() {
            for (index, tempo) in tempi.iter().enumerate() {
                let slots = tempo.heads.map(|head| tempo.first + head);
                let score = |from: usize| scores[from][slots[from]] + log[from];
                let (score, of_type) = highest((0..TYPES).map(score));
                ends[to][index] = score;
                let (mean, length) = (means[of_type][slots[of_type]], tempo.lengths[of_type]);
                ended[to][index] = (of_type, mean + NEW * (length as f32 - mean));
            }
        }
        for of_type in 0..TYPES {
            let (scores, means, row) = (&mut scores[of_type], &mut means[of_type], &row[of_type]);
            for tempo in &*tempi {
                let paths = ends[of_type][tempo.source..].iter().zip(&tempo.follows);
                let (score, from) = highest(paths.map(|(end, follows)| end + follows));
                let (last, mean) = ended[of_type][tempo.source + from];
                back((from * TYPES + last) as u8);
                let slots = tempo.first..tempo.first + tempo.lengths[of_type];
                let head = tempo.heads[of_type];
                means[slots.start + head] = mean;
                scores[slots.start + head] = score;
                let base = tempo.prior - self.highest;
                let places = &places[of_type][slots.start + slots.end - head..];
                for (path, place) in scores[slots].iter_mut().zip(places) {
                    *path += row[usize::from(*place) % ROW] + base;
                }
            }
        }
        for tempo in tempi {
            for (head, length) in tempo.heads.iter_mut().zip(tempo.lengths) {
                *head = head.checked_sub(1).unwrap_or(length - 1);
            }
        }
        // Chunks become vectors.
        let larger = |a: f32, b: f32| if b > a { b } else { a };
        let mut most = [f32::MIN; CHUNK];
        for scores in scores {
            for chunk in scores.as_chunks::<CHUNK>().0 {
                most.iter_mut().zip(chunk).for_each(|(most, own)| *most = larger(*most, *own));
            }
        }
        self.highest = most.into_iter().fold(f32::MIN, larger);
        self.highest
    }

    /// Returns the best path after the last step.
    #[inline(always)]
    pub fn best(&self) -> Best {
        let is_best = |score: &f32| *score == self.highest;
        let any = |chunk: &[f32; CHUNK]| chunk.iter().fold(false, |any, own| any | is_best(own));
        let slot = |scores: &Vec<f32>| {
            let chunk = scores.as_chunks().0.iter().position(any)?;
            Some(chunk * CHUNK + scores[chunk * CHUNK..].iter().position(is_best)?)
        };
        let slots = self.scores.iter().enumerate().find_map(|(n, own)| Some((n, slot(own)?)));
        let (of_type, slot) = slots.unwrap_or_default();
        let tempo = self.tempi.partition_point(|tempo| tempo.first <= slot) - 1;
        let Tempo { lengths, first, heads, .. } = &self.tempi[tempo];
        // The newest beat is one slot above the head.
        let since = (slot - first + lengths[of_type] - heads[of_type] - 1) % lengths[of_type];
        Best { tempo, of_type, since, length: self.means[of_type][slot] }
    }

    /// Returns the steps of the beats on the best path, and the sum of the log priors of its tempi. `back` has the backpointers of
    /// all steps.
    pub fn trace(&self, back: &[u8]) -> (Vec<usize>, f64) {
        let Best { mut tempo, mut of_type, since, .. } = self.best();
        let (mut beats, mut prior, count) = (Vec::new(), 0.0, self.tempi.len());
        let (mut end, mut length) = (back.len() / (TYPES * count) - 1, since);
        loop {
            prior += f64::from(self.tempi[tempo].prior) * length as f64;
            let Some(beat) = end.checked_sub(length) else { break };
            beats.push(beat);
            let from = usize::from(back[(TYPES * beat + of_type) * count + tempo]);
            (tempo, of_type) = (self.tempi[tempo].source + from / TYPES, from % TYPES);
            (end, length) = (beat, self.tempi[tempo].lengths[of_type]);
        }
        beats.reverse();
        (beats, prior)
    }
}
