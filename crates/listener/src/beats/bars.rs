//! Bars: finds the first beats of bars of 2, 3, 4 or 6 beats.
//!
//! Viterbi's algorithm finds the best sequence of positions in bars, by the onsets and the changes of harmony at all beats. F.
//! Krebs, S. Böck, M. Dorfer, G. Widmer, "Downbeat tracking using beat-synchronous features with recurrent neural networks"
//! (ISMIR 2016) computes the likelihoods by networks; here they were counted in scores.

use super::{Beat, UNIT, class, highest, onsets::Strengths, patterns::KINDS};
use crate::{Decisions, LOWEST_NOTE};
use std::array;

/// Number of held notes of each pitch class, C first.
pub type Chroma = [u8; 12];

/// Meters: log prior, and the type of each beat of a bar: 0 for the first, 1 for the one that begins the second half, 2 for the
/// others.
const METERS: [(f32, &[usize]); 4] =
    [(-2.5, &[0, 2]), (-1.0, &[0, 2, 2]), (0.0, &[0, 2, 1, 2]), (-2.5, &[0, 2, 2, 1, 2, 2])];
/// Total number of beats in [`METERS`].
const PLACES: usize = 15;
/// Fraction of a meter's log prior that is added at each beat.
const EACH: f32 = 0.02;
/// Log probability of a jump out of turn, as when the meter changes or a bar is cut short. The prior of the new meter is added.
const CUT: f32 = -12.0;

/// Number of kinds of evidence: the onsets of [`ONSETS`], the change of harmony from one beat to the next, and from two beats to
/// the next two.
const EVIDENCE: usize = 6;
/// Kinds of onsets that are evidence, as indices of [`Strengths`].
const ONSETS: [usize; EVIDENCE - 2] = [0, 2, 3, 4];
/// Limits between the classes of evidence, as multiples of the mean of its kind.
const THRESHOLDS: [f32; 4] = [0.3, 0.8, 1.3, 2.0];
/// Maximum distance of an onset from its beat in frames.
const AROUND: usize = 2;

/// Log likelihoods in units of 1 / [`UNIT`]: a signed byte for each type of beat, kind of evidence and class.
const FILE: &[u8; 3 * EVIDENCE * 5] = include_bytes!("../../weights/bars.bin");

pub fn chroma(decisions: &Decisions) -> Chroma {
    let mut chroma = [0; 12];
    for (note, _) in decisions.on.iter().enumerate().filter(|(_, on)| **on) {
        chroma[(LOWEST_NOTE + note) % 12] += 1;
    }
    chroma
}

/// Finds the meter of each beat and its position in the bar. Beat `n` is at `times[n]` seconds, in frame `frames[n]`. `strengths`
/// and `chroma` have a value for every frame.
pub fn beats(
    times: &[f64],
    frames: &[usize],
    strengths: &[Strengths],
    chroma: &[Chroma],
) -> Vec<Beat> {
    let likelihoods = likelihoods(&evidence(frames, strengths, chroma));
    let beat = |(time, (meter, place)): (&f64, (usize, usize))| {
        let (place, meter) = (place as u8, METERS[meter].1.len() as u8);
        Beat { time: *time, place, meter }
    };
    times.iter().zip(decode(&likelihoods)).map(beat).collect()
}

fn evidence(frames: &[usize], strengths: &[Strengths], chroma: &[Chroma]) -> Vec<[f32; EVIDENCE]> {
    let strongest = |frame: usize| {
        let around =
            &strengths[frame.saturating_sub(AROUND)..(frame + AROUND + 1).min(strengths.len())];
        around.iter().fold([0.0; KINDS], |most: Strengths, own| {
            array::from_fn(|kind| most[kind].max(own[kind]))
        })
    };
    let harmony = |from: usize, to: usize| {
        let to = frames.get(to).copied().unwrap_or(chroma.len()).min(chroma.len());
        let mut sum = [0.0f32; 12];
        for own in &chroma[frames[from].min(to)..to] {
            sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += f32::from(*own));
        }
        sum
    };
    let change = |beat: usize, beats: usize| {
        let before = harmony(beat.saturating_sub(beats), beat);
        let after = harmony(beat, beat + beats);
        let product =
            |a: &[f32; 12], b: &[f32; 12]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let power = product(&before, &before) * product(&after, &after);
        if power > 0.0 { 1.0 - product(&before, &after) / power.sqrt() } else { 1.0 }
    };
    let all = frames.iter().enumerate().map(|(beat, frame)| {
        let strongest = strongest(*frame);
        array::from_fn(|kind| match ONSETS.get(kind) {
            Some(onset) => strongest[*onset],
            None => change(beat, kind + 1 - ONSETS.len()),
        })
    });
    all.collect()
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

/// Returns the meter (an index of [`METERS`]) and the position in the bar of each beat, by Viterbi's algorithm.
fn decode(likelihoods: &[[f32; 3]]) -> Vec<(usize, usize)> {
    let meters = METERS.iter().enumerate();
    let places = meters.flat_map(|(n, (_, types))| (0..types.len()).map(move |place| (n, place)));
    let places: Vec<(usize, usize)> = places.collect();
    let mut scores: [f32; PLACES] = array::from_fn(|n| METERS[places[n].0].0);
    let mut back = Vec::new();
    for (beat, likelihoods) in likelihoods.iter().enumerate() {
        let (best, most) = highest(scores.into_iter());
        let paths: [(usize, f32); PLACES] = array::from_fn(|n| {
            let (meter, place) = places[n];
            let (prior, types) = METERS[meter];
            let last = if place == 0 { n + types.len() - 1 } else { n - 1 };
            let cut = best + CUT + prior;
            let (from, score) = match beat {
                0 => (n, scores[n]),
                _ if scores[last] >= cut => (last, scores[last]),
                _ => (most, cut),
            };
            (from, score + likelihoods[types[place]] + EACH * prior)
        });
        let (base, _) = highest(paths.iter().map(|(_, score)| *score));
        scores = paths.map(|(_, score)| score - base);
        back.push(paths.map(|(from, _)| from));
    }
    let (_, mut state) = highest(scores.into_iter());
    let mut decoded = Vec::new();
    for from in back.iter().rev() {
        decoded.push(places[state]);
        state = from[state];
    }
    decoded.reverse();
    decoded
}
