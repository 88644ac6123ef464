//! Bars: finds the first beats of bars of 2, 3, 4 or 6 beats.
//!
//! Viterbi's algorithm decodes the likelihood of onsets and of changes of harmony over all beats, as in F. Krebs, S. Böck, M.
//! Dorfer, G. Widmer, "Downbeat tracking using beat-synchronous features with recurrent neural networks" (ISMIR 2016). Counts in
//! scores replace the networks.

use super::{Beat, onsets::Strengths, patterns::KINDS};
use crate::{Decisions, LOWEST_NOTE};
use std::array;

/// Number of notes of each pitch class, C first.
pub type Chroma = [u8; 12];

/// Meters: number of beats in a bar, log prior, and type of each beat: 0 first, 1 middle, 2 other.
const METERS: [(u8, f32, &[usize]); 4] = [
    (2, -2.5, &[0, 2]),
    (3, -1.0, &[0, 2, 2]),
    (4, 0.0, &[0, 2, 1, 2]),
    (6, -2.5, &[0, 2, 2, 1, 2, 2]),
];
/// Number of beats in all meters.
const PLACES: usize = 15;
/// Fraction of a meter's log prior that is added at each beat.
const EACH: f32 = 0.02;
/// Log probability of a change of meter, and of a bar that is cut short.
const CUT: f32 = -12.0;

/// Number of kinds of evidence: [`ONSETS`], change of harmony over one beat, and over two.
const EVIDENCE: usize = 6;
/// Kinds of onsets that are evidence, as indices of [`Strengths`].
const ONSETS: [usize; EVIDENCE - 2] = [0, 2, 3, 4];
/// Limits between the classes of evidence, relative to its mean.
const THRESHOLDS: [f32; 4] = [0.3, 0.8, 1.3, 2.0];
/// Maximum distance of an onset from its beat in frames.
const AROUND: usize = 2;
/// Divisor of the file's bytes, which gives natural logarithms.
const UNIT: f32 = 32.0;

/// Log likelihoods: a byte for each type of beat, kind of evidence and class.
const FILE: &[u8; 3 * EVIDENCE * 5] = include_bytes!("../../weights/bars.bin");

/// Returns the pitch classes of the notes that are held.
pub fn chroma(decisions: &Decisions) -> Chroma {
    let mut chroma = [0; 12];
    for (note, _) in decisions.on.iter().enumerate().filter(|(_, on)| **on) {
        chroma[(LOWEST_NOTE + note) % 12] += 1;
    }
    chroma
}

/// Returns the beats at the `times`, each with its position in the bar. `moments` has the frame of each beat. `strengths` and
/// `chroma` have a value for every frame.
pub fn beats(
    times: &[f64],
    moments: &[usize],
    strengths: &[Strengths],
    chroma: &[Chroma],
) -> Vec<Beat> {
    let likelihoods = likelihoods(&evidence(moments, strengths, chroma));
    let place = |(time, (meter, place)): (&f64, (usize, usize))| Beat {
        time: *time,
        place: place as u8,
        meter: METERS[meter].0,
    };
    times.iter().zip(decode(&likelihoods)).map(place).collect()
}

fn evidence(moments: &[usize], strengths: &[Strengths], chroma: &[Chroma]) -> Vec<[f32; EVIDENCE]> {
    let strongest = |moment: usize| {
        let around =
            &strengths[moment.saturating_sub(AROUND)..(moment + AROUND + 1).min(strengths.len())];
        around.iter().fold([0.0; KINDS], |most: Strengths, own| {
            array::from_fn(|kind| most[kind].max(own[kind]))
        })
    };
    let harmony = |from: usize, to: usize| {
        let to = moments.get(to).copied().unwrap_or(chroma.len()).min(chroma.len());
        let mut sum = [0.0f32; 12];
        for own in &chroma[moments[from].min(to)..to] {
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
    let all = moments.iter().enumerate().map(|(beat, moment)| {
        let strongest = strongest(*moment);
        array::from_fn(|kind| match ONSETS.get(kind) {
            Some(onset) => strongest[*onset],
            None => change(beat, kind + 1 - ONSETS.len()),
        })
    });
    all.collect()
}

/// Returns the log likelihood of each type of beat, for each beat with `evidence`.
fn likelihoods(evidence: &[[f32; EVIDENCE]]) -> Vec<[f32; 3]> {
    let mean =
        |kind: usize| evidence.iter().map(|own| own[kind]).sum::<f32>() / evidence.len() as f32;
    let means: [f32; EVIDENCE] = array::from_fn(mean);
    let of = |own: &[f32; EVIDENCE]| {
        array::from_fn(|kind| {
            let values = (0..EVIDENCE).map(|n| {
                let class = THRESHOLDS.iter().filter(|least| own[n] > **least * means[n]).count();
                f32::from(FILE[(kind * EVIDENCE + n) * 5 + class].cast_signed()) / UNIT
            });
            values.sum()
        })
    };
    evidence.iter().map(of).collect()
}

/// Returns the meter (an index of [`METERS`]) and the position in the bar of each beat, by Viterbi's algorithm.
fn decode(likelihoods: &[[f32; 3]]) -> Vec<(usize, usize)> {
    let places: Vec<(usize, usize)> = METERS
        .iter()
        .enumerate()
        .flat_map(|(meter, (.., types))| (0..types.len()).map(move |place| (meter, place)))
        .collect();
    let best = |scores: &[f32; PLACES]| {
        (0..PLACES).fold(0, |best, n| if scores[n] > scores[best] { n } else { best })
    };
    let mut scores: [f32; PLACES] = array::from_fn(|n| METERS[places[n].0].1);
    let mut back = Vec::new();
    for (beat, likelihoods) in likelihoods.iter().enumerate() {
        let most = best(&scores);
        let from: [usize; PLACES] = array::from_fn(|n| {
            let (meter, place) = places[n];
            let length = METERS[meter].2.len();
            let own = n - place + (place + length - 1) % length;
            let cut = scores[most] + CUT + METERS[meter].1;
            if beat == 0 {
                n
            } else if scores[own] >= cut {
                own
            } else {
                most
            }
        });
        scores = array::from_fn(|n| {
            let (meter, place) = places[n];
            let (_, prior, types) = METERS[meter];
            let cut = if from[n] == most && beat > 0 && !follows(&places, most, n) {
                CUT + prior
            } else {
                0.0
            };
            scores[from[n]] + cut + likelihoods[types[place]] + EACH * prior
        });
        let most = best(&scores);
        let base = scores[most];
        scores.iter_mut().for_each(|score| *score -= base);
        back.push(from);
    }
    let mut state = best(&scores);
    let mut decoded = Vec::new();
    for from in back.iter().rev() {
        decoded.push(places[state]);
        state = from[state];
    }
    decoded.reverse();
    decoded
}

/// Returns whether `next` is the beat after `state` in its bar.
fn follows(places: &[(usize, usize)], state: usize, next: usize) -> bool {
    let (meter, place) = places[state];
    places[next] == (meter, (place + 1) % METERS[meter].2.len())
}
