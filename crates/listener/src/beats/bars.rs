//! Bars: finds the first beats of bars of 2, 3, 4 or 6 beats.
//!
//! Viterbi's algorithm finds the best sequence of positions in bars, by the onsets and the changes of harmony at all beats. F.
//! Krebs, S. Böck, M. Dorfer, G. Widmer, "Downbeat tracking using beat-synchronous features with recurrent neural networks"
//! (ISMIR 2016) computes the likelihoods by networks; here they were counted in scores.

use super::{
    Beat, UNIT, class, highest,
    whole::{Frame, LATE},
};
use std::array;

/// Meters: log prior, and the type of each beat of a bar: 0 for the first, 1 for the one that begins the second half, 2 for the
/// others.
const METERS: [(f32, &[usize]); 4] =
    [(-2.5, &[0, 2]), (-1.0, &[0, 2, 2]), (0.0, &[0, 2, 1, 2]), (-2.5, &[0, 2, 2, 1, 2, 2])];
/// Total number of beats in [`METERS`].
const PLACES: usize = 15;
/// Fraction of a meter's log prior that is added at each beat. No test fixes the value: 1 % of the largest term, -2.5 * 0.02, is
/// 1/60 of a unit of the likelihoods.
const EACH: f32 = 0.02;
/// Log probability of a jump out of turn, as when the meter changes or a bar is cut short. The prior of the new meter is added.
const CUT: f32 = -12.0;

/// Number of kinds of evidence: the onsets of [`ONSETS`], the change of harmony from one beat to the next, and from two beats to
/// the next two.
const EVIDENCE: usize = 6;
/// Kinds of onsets that are evidence, as indices of [`Frame::strengths`].
const ONSETS: [usize; EVIDENCE - 2] = [0, 2, 3, 4];
/// Limits between the classes of evidence, as multiples of the mean of its kind.
const THRESHOLDS: [f32; 4] = [0.3, 0.8, 1.3, 2.0];
/// Maximum distance of an onset from its beat in frames.
const AROUND: usize = 2;

/// Log likelihoods in units of 1 / [`UNIT`]: a signed byte for each type of beat, kind of evidence and class.
const FILE: &[u8; 3 * EVIDENCE * 5] = include_bytes!("../../weights/bars.bin");

/// Finds the meter of each beat and its position in the bar, by Viterbi's algorithm. Beat `n` is at `times[n]` seconds, in the
/// frame with index `beats[n]`.
pub fn find(times: &[f64], beats: &[usize], frames: &[Frame]) -> Vec<Beat> {
    let likelihoods = likelihoods(&evidence(beats, frames));
    let places = |(meter, (_, types)): (usize, &(f32, &[usize]))| {
        (0..types.len()).map(move |place| (meter, place))
    };
    let places: Vec<(usize, usize)> = METERS.iter().enumerate().flat_map(places).collect();
    let mut scores: [f32; PLACES] = array::from_fn(|n| METERS[places[n].0].0);
    let mut back = Vec::new();
    for likelihoods in &likelihoods {
        let (best, most) = highest(scores.into_iter());
        let paths: [(usize, f32); PLACES] = array::from_fn(|n| {
            let (meter, place) = places[n];
            let (prior, types) = METERS[meter];
            let last = if place == 0 { n + types.len() - 1 } else { n - 1 };
            let cut = best + CUT + prior;
            let (from, score) =
                if scores[last] >= cut { (last, scores[last]) } else { (most, cut) };
            (from, score - best + likelihoods[types[place]] + EACH * prior)
        });
        scores = paths.map(|(_, score)| score);
        back.push(paths.map(|(from, _)| from));
    }
    let (_, mut state) = highest(scores.into_iter());
    let mut found: Vec<Beat> = times
        .iter()
        .zip(&back)
        .rev()
        .map(|(time, from)| {
            let (meter, place) = places[state];
            state = from[state];
            Beat { time: *time, place: place as u8, meter: METERS[meter].1.len() as u8 }
        })
        .collect();
    found.reverse();
    found
}

/// Returns the evidence for the type of each beat.
fn evidence(beats: &[usize], frames: &[Frame]) -> Vec<[f32; EVIDENCE]> {
    let strongest = |beat: usize, kind: usize| {
        let around = beats[beat].saturating_sub(AROUND)..frames.len().min(beats[beat] + AROUND + 1);
        frames[around].iter().fold(0.0, |most: f32, frame| most.max(frame.strengths[kind]))
    };
    // Durations of the pitch classes between two beats.
    let harmony = |from: usize, to: usize| {
        let of = |beat: usize| beats.get(beat).map_or(frames.len(), |own| own.saturating_sub(LATE));
        let between = &frames[of(from)..of(to)];
        let sum = |class| between.iter().map(|frame| f32::from(frame.chroma[class])).sum();
        array::from_fn::<f32, 12, _>(sum)
    };
    let change = |beat: usize, beats: usize| {
        let (before, after) =
            (harmony(beat.saturating_sub(beats), beat), harmony(beat, beat + beats));
        let product =
            |a: &[f32; 12], b: &[f32; 12]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let power = product(&before, &before) * product(&after, &after);
        if power > 0.0 { 1.0 - product(&before, &after) / power.sqrt() } else { 1.0 }
    };
    let all = |beat: usize| {
        array::from_fn(|kind| match ONSETS.get(kind) {
            Some(onset) => strongest(beat, *onset),
            None => change(beat, kind + 1 - ONSETS.len()),
        })
    };
    (0..beats.len()).map(all).collect()
}

/// Returns the log likelihood of each type, for every beat.
fn likelihoods(evidence: &[[f32; EVIDENCE]]) -> Vec<[f32; 3]> {
    let mean = |n: usize| evidence.iter().map(|own| own[n]).sum::<f32>() / evidence.len() as f32;
    let means: [f32; EVIDENCE] = array::from_fn(mean);
    let likelihood = |own: &[f32; EVIDENCE], of_type: usize| {
        let values = (0..EVIDENCE).map(|n| {
            let class = class(own[n], means[n], &THRESHOLDS);
            f32::from(FILE[(of_type * EVIDENCE + n) * 5 + class].cast_signed()) / UNIT
        });
        values.sum()
    };
    evidence.iter().map(|own| array::from_fn(|of_type| likelihood(own, of_type))).collect()
}
