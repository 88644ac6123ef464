//! Properties of every kernel of this CPU.

use super::super::resonator::ring_of;
use super::*;
use crate::notes::{TONES, frequency, semitone};
use tone_filter_reference::Resonator;
use tone_filter_testkit::{
    signals::{noise, snr, white},
    sweep,
};

/// Ring time of the published filter in seconds.
const RING: f64 = 1.5663;

/// Returns coefficients for a kernel, and the reference's resonators for the same tones.
fn bench(rate: f64, ring: f64) -> (Coefficients, [Resonator; TONES]) {
    let tones: [(f64, f64); TONES] =
        std::array::from_fn(|tone| (frequency(tone, 440.0, 0.0), ring_of(semitone(tone), ring)));
    let designs = tones.map(|(hertz, ring)| Design::new(hertz, ring, rate));
    let mut coefficients = Coefficients::ZERO;
    coefficients.drive = 40.0;
    coefficients.threshold = 2e-4;
    coefficients.ceiling = 0.1;
    coefficients.floor = 2e-4;
    coefficients.set_resonators(&designs);
    coefficients.set_step(1e-4);
    let all = Lanes::of(|_| 1.0);
    coefficients.set_weights(&Ramp::rest(all));
    coefficients.guard = RMS_GUARD;
    (coefficients, tones.map(|(hertz, ring)| Resonator::new(hertz, ring, rate)))
}

#[test]
fn each_resonator_alone_is_the_references_to_99_db() {
    let rings = [RING, 0.3, 0.05];
    let all = [44_100.0, 96_000.0, 192_000.0].map(|rate| rings.map(|ring| (rate, ring)));
    // Frozen tones, and tones at or above 0.45 of the rate, have no gain.
    let without_gain = [(44_100.0, f64::INFINITY), (4_000.0, RING)];
    for (rate, ring) in sweep::part(4, all.into_iter().flatten().chain(without_gain)) {
        let (coefficients, resonators) = bench(rate, ring);
        let input = white(2.0, rate);
        for kernel in Kernel::available() {
            let mut resonators = resonators;
            let mut state = State::ZERO;
            let mut inputs = FrameInputs::ZERO;
            let (mut signal, mut error) = ([0.0; TONES], [0.0; TONES]);
            let mut previous = [0.0; 2];
            for (t, &x) in input.iter().enumerate() {
                inputs.input[0] = x - previous[0];
                previous = [previous[1], x];
                let position = t % BLOCK;
                let task = Task {
                    state: &mut state,
                    position,
                    inputs: &inputs,
                    rows: &mut Rows::NEW.clone(),
                    sums: &mut [0.0],
                    sides: &mut [],
                };
                process(kernel, &coefficients, task);
                let mut now = state.clone();
                now.settle(&coefficients);
                for (tone, resonator) in resonators.iter_mut().enumerate() {
                    let truth = resonator.next(f64::from(x));
                    signal[tone] += truth * truth;
                    error[tone] += (truth - f64::from(now.bp.0[tone])).powi(2);
                }
            }
            for tone in 0..TONES {
                if signal[tone] == 0.0 {
                    assert_eq!(error[tone], 0.0, "{kernel:?}, tone {tone} at {rate} Hz, {ring} s");
                    continue;
                }
                let db = 10.0 * (signal[tone] / error[tone]).log10();
                // Rounding errors weigh more where a period has more samples.
                let due = if tone < PUBLISHED { 99.0 } else { 80.0 };
                assert!(db >= due, "{kernel:?}, tone {tone} at {rate} Hz, {ring} s: {db:.1} dB");
            }
        }
    }
}

/// Returns the sums for noise with weights that ramp in three of four blocks; with `placed`, also the stereo differences. Each
/// block is processed in calls of `size` samples and a rest.
fn ramped(kernel: Kernel, (ring, placed): (f64, bool), size: usize) -> Vec<f32> {
    let (mut coefficients, _) = bench(44_100.0, ring);
    let (mut state, mut weights, mut noise) = (State::ZERO, Lanes::ZERO, noise(7));
    let [mut sums, mut sides] = [0, 1].map(|_| vec![0.0; 200 * BLOCK]);
    let mut previous = [0.0; 2];
    let blocks = sums.chunks_mut(BLOCK).zip(sides.chunks_mut(BLOCK));
    for (block, (sums, sides)) in blocks.enumerate() {
        let from = weights;
        // 0, 1 or a value between; constant in every fourth block.
        weights.0 = weights.0.map(|weight| match block % 4 {
            3 => weight,
            _ => (noise() as f32).mul_add(0.8, 0.5).clamp(0.0, 1.0),
        });
        coefficients.set_weights(&Ramp::between(from, weights));
        // From left to right by tone.
        let side = |weights: Lanes| Lanes::of(|tone| weights.0[tone] * (1.0 - tone as f32 / 38.0));
        coefficients.sides = placed.then(|| Ramp::between(side(from), side(weights)));
        let mut rest = sums;
        while !rest.is_empty() {
            let position = BLOCK - rest.len();
            let (part, after) = rest.split_at_mut(size.min(rest.len()));
            let mut inputs = FrameInputs { total_power: [0.08; BLOCK], ..FrameInputs::ZERO };
            for input in &mut inputs.input[..part.len()] {
                let x = 0.5 * noise() as f32;
                (*input, previous) = (x - previous[0], [previous[1], x]);
            }
            let task = Task {
                state: &mut state,
                position,
                inputs: &inputs,
                rows: &mut Rows::NEW.clone(),
                sides: &mut sides[position..][..part.len()],
                sums: part,
            };
            process(kernel, &coefficients, task);
            rest = after;
        }
    }
    [sums, sides].concat()
}

#[test]
fn kernels_agree_to_90_db_wherever_a_block_is_cut() {
    let sizes = sweep::part(8, 1..BLOCK);
    for case in [(RING, false), (0.3, false), (RING, true)] {
        let scalar = Kernel::available().next().unwrap();
        let truth: Vec<f64> = ramped(scalar, case, BLOCK).into_iter().map(f64::from).collect();
        for kernel in Kernel::available() {
            let whole = ramped(kernel, case, BLOCK);
            let db = snr(&truth, &whole);
            assert!(db >= 90.0, "{kernel:?}, {case:?}: {db:.1} dB");
            for &size in &sizes {
                assert_eq!(ramped(kernel, case, size), whole, "{kernel:?}, {case:?}, {size}");
            }
        }
    }
}
