//! Tracks beats while the music plays.
//!
//! The bar pointer of [`super::space`], simplified: two types of beats in turn instead of five kinds, steps of two frames, and
//! lengths of beats on a logarithmic scale. These lengths are not whole numbers of steps, so each path stores the exact times of
//! its beats. The result comes from the pattern that was more likely over the last minute.

use super::{
    FEWEST,
    onsets::{DELAY, LIVE_DELAY, Onsets, Strengths, row},
    patterns::{self, PATTERNS, PLACES, TYPES},
    space::{TEMPI, prior},
};
use crate::{Decisions, tracker_step};
use std::{array, mem};
use tone_filter_simd::Kernel;

/// Number of tempi, spaced logarithmically.
const COUNT: usize = 64;
/// Number of frames in a step.
const STEP: usize = 2;
/// Maximum change of tempo from beat to beat, in indices of tempi: 8 %.
const REACH: usize = 3;
/// Strength above which an onset counts for [`BeatTracker::tempo`], as a multiple of the mean strength.
const ONSET: f32 = 2.5;
/// Log probability of a tempo change, divided by the relative change of the beat's length.
const CHANGE: f64 = -100.0;
/// Probability that a beat is of the same type as the last one.
const IRREGULAR: f64 = 0.01;
/// Time constant in s of the mean strength of onsets.
const MEAN: f64 = 5.0;
/// One-pole coefficient of a path's mean beat length.
const NEW: f32 = 0.2;
/// Maximum difference between the log likelihoods of both patterns.
const LEAD: f32 = 200.0;
/// Score of a path that does not exist.
const NEVER: f32 = -1e9;
/// Minimum distance of two reported beats, in lengths of a beat.
const APART: f64 = 0.6;
/// Number of steps for which beats are kept: more than the longest beat.
const MEMORY: usize = 64;
/// Length of [`Paths::row`]: at least [`PLACES`], and a power of two, so that an index is limited cheaply.
const ROW: usize = 32;
/// Number of scores that are compared at once.
const CHUNK: usize = 32;

/// Tracks the beats of music that is still playing, from the listener's decisions frame by frame.
///
/// The time for a frame is bounded. Only [`BeatTracker::new`] allocates. The result does not depend on the kernel.
#[derive(Debug, Clone)]
pub struct BeatTracker {
    /// Length of a frame in seconds.
    frame: f64,
    onsets: Onsets,
    /// One-pole mean of the strengths, from 0 on. Divided by `weight`, it is a mean of the frames so far.
    mean: Strengths,
    /// Sum of the frames' weights in `mean`, from 0 up to 1.
    weight: f32,
    /// One-pole coefficient of the mean per frame.
    coefficient: f32,
    tempi: Vec<Tempo>,
    /// Place of each state in its beat.
    places: Vec<u8>,
    /// Log probability of a change of tempo by `n -` [`REACH`] indices, for each `n`.
    follows: [f32; 2 * REACH + 1],
    paths: [Paths; PATTERNS],
    /// Log likelihood of the second pattern, relative to the first.
    lead: f32,
    /// Number of frames so far.
    frames: u64,
    /// End of the best path of each pattern.
    best: [Option<Best>; PATTERNS],
    /// Number of onsets so far; successive frames with an onset count once.
    onset_count: usize,
    /// Whether the last frame has an onset.
    has_onset: bool,
    /// Time of the last reported beat in frames.
    reported: f64,
}

/// Tempo. Its states are the whole numbers of steps since a beat.
#[derive(Debug, Clone, Copy)]
struct Tempo {
    /// Length of a beat in steps.
    length: f32,
    /// Index of the state at the beat.
    first: usize,
    /// Log prior for one step.
    prior: f32,
}

/// Paths of one pattern. Arrays of [`TYPES`] elements have one for each type of beat.
#[derive(Debug, Clone)]
struct Paths {
    /// For each place in a beat, log likelihood of the onsets since the last step.
    row: [[f32; TYPES]; ROW],
    /// Score of the best path to each state.
    scores: Vec<[f32; TYPES]>,
    /// Scores of the previous step.
    before: Vec<[f32; TYPES]>,
    /// For each tempo, the beats that began in the last [`MEMORY`] steps, in a ring.
    beats: Box<[[[PathBeat; TYPES]; MEMORY]; COUNT]>,
    /// Highest score after the last step; the next step subtracts it from all.
    highest: f32,
    /// Number of steps so far.
    step: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct PathBeat {
    /// Time from the middle of the beat's step, in steps: -0.5..0.5.
    offset: f32,
    /// Mean length of the path's last beats in steps.
    length: f32,
}

/// Paths whose beat ends, for each type and tempo. The first and last [`REACH`] entries are padding.
#[derive(Debug, Clone)]
struct Ended {
    scores: [[f32; COUNT + 2 * REACH]; TYPES],
    beats: [[PathBeat; COUNT + 2 * REACH]; TYPES],
}

#[derive(Debug, Clone, Copy)]
struct Best {
    /// Time of the last beat in frames.
    beat: f64,
    /// Mean length of the last beats in frames.
    length: f64,
}

impl BeatTracker {
    /// Creates the tracker at the start of the music, for decisions every `frame` seconds.
    pub fn new(frame: f64) -> Self {
        patterns::load();
        let step = STEP as f64 * frame;
        let ratio = libm::pow(TEMPI[0] / TEMPI[1], 1.0 / (COUNT - 1) as f64);
        let (mut tempi, mut places) = (Vec::new(), Vec::new());
        for index in 0..COUNT {
            let tempo = TEMPI[1] * libm::pow(ratio, index as f64);
            let length = 60.0 / tempo / step;
            let (first, prior) = (places.len(), prior(tempo, step));
            tempi.push(Tempo { length: length as f32, first, prior });
            let place = |since: usize| (since * PLACES) as f64 / length + 0.5;
            places.extend((0..=length as usize).map(|since| place(since) as u8 % PLACES as u8));
        }
        let mut paths = Paths::new(places.len());
        paths.reset(&tempi);
        Self {
            frame,
            onsets: Onsets::new(frame),
            mean: [0.0; _],
            weight: 0.0,
            coefficient: tracker_step(MEAN, 1.0 / frame) as f32,
            follows: array::from_fn(|n| {
                let apart = n.abs_diff(REACH) as f64;
                (CHANGE * (libm::pow(ratio, -apart) - 1.0)) as f32
            }),
            paths: [paths.clone(), paths],
            tempi,
            places,
            lead: 0.0,
            frames: 0,
            best: [None; PATTERNS],
            onset_count: 0,
            has_onset: false,
            reported: f64::MIN,
        }
    }

    /// Resets to the start of the music.
    pub fn reset(&mut self) {
        if self.frames == 0 {
            return;
        }
        self.onsets = Onsets::new(self.frame);
        (self.mean, self.weight) = ([0.0; _], 0.0);
        self.paths.iter_mut().for_each(|paths| paths.reset(&self.tempi));
        (self.lead, self.frames, self.reported) = (0.0, 0, f64::MIN);
        (self.best, self.onset_count, self.has_onset) = ([None; PATTERNS], 0, false);
    }

    /// Evaluates the next frame's decisions, made with or without `lookahead`. If a beat is due in this frame, returns its time in
    /// seconds from the start. The beat is predicted from the beats so far, because its onset is known only later.
    pub fn push(&mut self, kernel: Kernel, decisions: &Decisions, lookahead: bool) -> Option<f64> {
        let strengths = self.onsets.push(decisions, lookahead);
        self.frames += 1;
        self.weight += self.coefficient * (1.0 - self.weight);
        for (mean, own) in self.mean.iter_mut().zip(&strengths) {
            *mean += self.coefficient * (own - *mean);
        }
        let means = self.mean.map(|mean| mean / self.weight);
        let has_onset = strengths.iter().zip(&means).any(|(own, mean)| *own > ONSET * mean);
        self.onset_count += usize::from(has_onset && !self.has_onset);
        self.has_onset = has_onset;
        let moment = self.frames.checked_sub(if lookahead { DELAY } else { LIVE_DELAY } as u64)?;
        let row = row(&strengths, &means);
        self.paths.iter_mut().zip(&row).for_each(|(paths, row)| paths.add(row));
        // The patterns take turns, which halves the work of a frame.
        let pattern = (self.frames % STEP as u64) as usize;
        kernel.vectorize(
            #[inline(always)]
            || self.advance(pattern, moment),
        );
        let best = self.best()?;
        let now = self.frames as f64;
        let beat = best.beat + ((now - best.beat) / best.length).floor() * best.length;
        let due = beat > now - STEP as f64 && beat - self.reported > APART * best.length;
        due.then(|| {
            self.reported = beat;
            beat * self.frame
        })
    }

    /// Returns the tempo in beats per minute; `None` before the eighth onset.
    pub fn tempo(&self) -> Option<f64> {
        let best = self.best().filter(|_| self.onset_count >= FEWEST)?;
        Some(60.0 / (best.length * self.frame))
    }

    /// Returns the best path of the more likely pattern.
    fn best(&self) -> Option<&Best> {
        self.best[usize::from(self.lead > 0.0)].as_ref()
    }

    /// Advances the paths of `pattern` by a step, which has the onsets of frame `moment` and of the previous one.
    #[inline(always)]
    fn advance(&mut self, pattern: usize, moment: u64) {
        let Self { tempi, places, follows, .. } = self;
        let paths = &mut self.paths[pattern];
        let (state, kind) = paths.advance(tempi, places, follows);
        let rise = paths.highest;
        self.lead = (self.lead + if pattern == 0 { -rise } else { rise }).clamp(-LEAD, LEAD);
        let index = tempi.partition_point(|tempo| tempo.first <= state) - 1;
        let since = state - tempi[index].first;
        let beat = paths.beats[index][(paths.step + MEMORY - since) % MEMORY][kind];
        let step = STEP as f64;
        self.best[pattern] = Some(Best {
            // The middle of a step lies between its two frames.
            beat: moment as f64 - 0.5 + step * (f64::from(beat.offset) - since as f64),
            length: step * f64::from(beat.length),
        });
    }
}

impl Paths {
    fn new(states: usize) -> Self {
        // Rounded up to whole chunks; the last states have no paths.
        let states = states.next_multiple_of(CHUNK / TYPES);
        Self {
            row: [[0.0; TYPES]; ROW],
            scores: vec![[NEVER; TYPES]; states],
            before: vec![[NEVER; TYPES]; states],
            beats: Box::new([[[PathBeat::default(); TYPES]; MEMORY]; COUNT]),
            highest: 0.0,
            step: 0,
        }
    }

    /// Resets to the start, where each state is as likely as its tempo.
    fn reset(&mut self, tempi: &[Tempo]) {
        for (index, Tempo { length, first, prior }) in tempi.iter().enumerate() {
            self.scores[*first..=first + *length as usize].fill([8.0 * prior; TYPES]);
            self.beats[index].fill([PathBeat { offset: 0.0, length: *length }; TYPES]);
        }
        self.row = [[0.0; TYPES]; ROW];
        (self.highest, self.step) = (0.0, 0);
    }

    fn add(&mut self, row: &[[f32; PLACES]; TYPES]) {
        for (kind, row) in row.iter().enumerate() {
            self.row.iter_mut().zip(row).for_each(|(sum, own)| sum[kind] += own);
        }
    }

    /// Advances all paths by a step. Returns the index of the best state, and the type of its last beat.
    #[inline(always)]
    fn advance(
        &mut self,
        tempi: &[Tempo],
        places: &[u8],
        follows: &[f32; 2 * REACH + 1],
    ) -> (usize, usize) {
        self.step += 1;
        let ended = self.end(tempi);
        mem::swap(&mut self.scores, &mut self.before);
        for Tempo { length, first, prior } in tempi {
            let states = *first..=first + *length as usize;
            let before = &self.before[*first..];
            let base = prior - self.highest;
            let scores = &mut self.scores[states.clone()];
            let paths = scores[1..].iter_mut().zip(before).zip(&places[states][1..]);
            for ((score, before), place) in paths {
                let row = &self.row[usize::from(*place) % ROW];
                for kind in 0..TYPES {
                    score[kind] = before[kind] + (row[kind] + base);
                }
            }
            scores[0] = self.row[0].map(|own| own + base);
        }
        self.begin(tempi, follows, &ended);
        self.row = [[0.0; TYPES]; ROW];
        self.rise()
    }

    /// Returns the paths whose beats end in this step.
    #[inline(always)]
    fn end(&self, tempi: &[Tempo]) -> Ended {
        let mut ended =
            Ended { scores: [[NEVER; _]; TYPES], beats: [[PathBeat::default(); _]; TYPES] };
        for (index, Tempo { length, first, .. }) in tempi.iter().enumerate() {
            // Beats end after the whole number of steps below their length, or a step later.
            let whole = *length as usize;
            let [sooner, later] = [whole, whole + 1].map(|steps| {
                let beats = &self.beats[index][(self.step + MEMORY - steps) % MEMORY];
                (beats, &self.scores[first + steps - 1])
            });
            let rest = length - whole as f32;
            for kind in 0..TYPES {
                let offsets = [sooner.0[kind].offset + rest, later.0[kind].offset + rest - 1.0];
                let scores = [
                    if offsets[0] < 0.5 { sooner.1[kind] } else { NEVER },
                    if offsets[1] >= -0.5 { later.1[kind] } else { NEVER },
                ];
                let best = usize::from(scores[1] > scores[0]);
                let last = [sooner, later][best].0[kind].length;
                let length = last + NEW * (length - last);
                ended.scores[kind][REACH + index] = scores[best];
                ended.beats[kind][REACH + index] = PathBeat { offset: offsets[best], length };
            }
        }
        ended
    }

    /// Begins the beats that follow the `ended` ones.
    #[inline(always)]
    fn begin(&mut self, tempi: &[Tempo], follows: &[f32; 2 * REACH + 1], ended: &Ended) {
        let [regular, irregular] = [1.0 - IRREGULAR, IRREGULAR].map(|p| libm::log(p) as f32);
        for kind in 0..TYPES {
            let (same, other) = (&ended.scores[kind], &ended.scores[1 - kind]);
            let last: [f32; COUNT + 2 * REACH] =
                array::from_fn(|n| (same[n] + irregular).max(other[n] + regular));
            let (mut best, mut from) = ([NEVER; COUNT], [0u32; COUNT]);
            for (apart, follows) in follows.iter().enumerate() {
                for ((best, from), last) in best.iter_mut().zip(&mut from).zip(&last[apart..]) {
                    let score = last + follows;
                    let better = score > *best;
                    *best = if better { score } else { *best };
                    *from = if better { apart as u32 } else { *from };
                }
            }
            for (index, tempo) in tempi.iter().enumerate() {
                let from = index + from[index] as usize;
                let of =
                    if same[from] + irregular > other[from] + regular { kind } else { 1 - kind };
                self.scores[tempo.first][kind] += best[index];
                self.beats[index][self.step % MEMORY][kind] = ended.beats[of][from];
            }
        }
    }

    /// Finds the best state and stores its score. Returns the index of the state, and the type of its last beat.
    #[inline(always)]
    fn rise(&mut self) -> (usize, usize) {
        let (chunks, _) = self.scores.as_flattened().as_chunks::<CHUNK>();
        let mut highest = [f32::MIN; CHUNK];
        for chunk in chunks {
            for (highest, score) in highest.iter_mut().zip(chunk) {
                *highest = if *score > *highest { *score } else { *highest };
            }
        }
        self.highest = highest.into_iter().fold(f32::MIN, f32::max);
        let has =
            |own: &[f32; CHUNK]| own.iter().fold(false, |any, own| any | (*own == self.highest));
        let chunk = chunks.iter().position(has).unwrap_or(0);
        let own = chunks[chunk].iter().position(|own| *own == self.highest).unwrap_or(0);
        let score = chunk * CHUNK + own;
        (score / TYPES, score % TYPES)
    }
}
