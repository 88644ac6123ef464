//! Properties of every kernel that this CPU can run.

#[path = "../../../tests/common/mod.rs"]
mod common;
mod reference;

use common::{noise, noisy_chord, snr, white};
use reference::Resonator;
use tone_filter_dsp::{
    BandMask, Settings, ToneFilter,
    kernel::{BLOCK, Coefficients, FrameInputs, Kernel, Lanes, RMS_GUARD, State, Task, process},
    notes::{TONES, frequency},
    resonator::Design,
};

const RATES: [f64; 3] = [44_100.0, 96_000.0, 192_000.0];

fn wet() -> Settings {
    Settings { mix: 100.0, ..Settings::REFERENCE }
}

fn filtered(kernel: Kernel, settings: &Settings, rate: f64, input: &[f32]) -> Vec<f32> {
    let mut signal = input.to_vec();
    let mut filter = ToneFilter::new(rate, settings).unwrap().with_kernel(kernel);
    filter.process(&mut [&mut signal]);
    signal
}

/// The reference's ring, in seconds.
const RING: f64 = 1.5663;

/// Coefficients and a signal to run a kernel by hand.
fn bench(rate: f64, ring: f64) -> (Coefficients, [Resonator; TONES]) {
    let hertz: [f64; TONES] = std::array::from_fn(|tone| frequency(tone, 440.0, 0.0));
    let designs = hertz.map(|hertz| Design::new(hertz, ring, rate));
    let mut coefficients = Coefficients::ZERO;
    coefficients.drive = 40.0;
    coefficients.threshold = 2e-4;
    coefficients.ceiling = 0.1;
    coefficients.floor = 2e-4;
    coefficients.set_resonators(&designs);
    coefficients.set_step(1e-4);
    coefficients.set_weights(Lanes([1.0; TONES]), Lanes([1.0; TONES]), RMS_GUARD);
    (coefficients, hertz.map(|hertz| Resonator::new(hertz, ring, rate)))
}

#[test]
fn the_wet_signal_is_the_references_to_96_db() {
    for rate in RATES {
        for (what, input) in [("noise", white(10.0, rate)), ("chord", noisy_chord(10.0, rate))] {
            let truth = reference::process(&reference::sound(&wet()), rate, &[&input]).remove(0);
            for kernel in Kernel::available() {
                let db = snr(&truth, &filtered(kernel, &wet(), rate, &input));
                println!("{kernel:?}, {what} at {rate} Hz: {db:.1} dB");
                assert!(db >= 96.0, "{kernel:?}, {what} at {rate} Hz: {db:.1} dB");
            }
        }
    }
}

#[test]
fn each_resonator_alone_is_the_references_to_99_db() {
    let rings = [RING, 0.3, 0.05];
    for (rate, ring) in RATES.into_iter().flat_map(|rate| rings.map(|ring| (rate, ring))) {
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
                let task = Task { state: &mut state, position, inputs: &inputs, sums: &mut [0.0] };
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
                let db = 10.0 * (signal[tone] / error[tone]).log10();
                assert!(db >= 99.0, "{kernel:?}, tone {tone} at {rate} Hz, {ring} s: {db:.1} dB");
            }
        }
    }
}

#[test]
fn kernels_agree_to_90_db_on_every_band_mask() {
    let rate = 48_000.0;
    let input = noisy_chord(2.0, rate);
    let one = BandMask::NONE.with(16, true);
    let odd = (0..TONES).step_by(2).fold(BandMask::ALL, |mask, tone| mask.with(tone, false));
    for bands in [BandMask::ALL, one, odd] {
        let settings = Settings { bands, ..wet() };
        let truth: Vec<f64> =
            filtered(Kernel::available().next().unwrap(), &settings, rate, &input)
                .into_iter()
                .map(f64::from)
                .collect();
        for kernel in Kernel::available() {
            let db = snr(&truth, &filtered(kernel, &settings, rate, &input));
            assert!(db >= 90.0, "{kernel:?}, {bands}: {db:.1} dB");
        }
    }
}

#[test]
fn the_output_does_not_depend_on_how_the_signal_is_cut() {
    let rate = 44_100.0;
    let input = noisy_chord(0.1, rate);
    let odd = (0..TONES).step_by(2).fold(BandMask::ALL, |mask, tone| mask.with(tone, false));
    for bands in [BandMask::ALL, odd] {
        let settings = Settings { bands, ..wet() };
        for kernel in Kernel::available() {
            let whole = filtered(kernel, &settings, rate, &input);
            let cut = |sizes: &mut dyn FnMut() -> usize| {
                let mut signal = input.clone();
                let mut filter = ToneFilter::new(rate, &settings).unwrap().with_kernel(kernel);
                let mut rest = signal.as_mut_slice();
                while !rest.is_empty() {
                    let (part, after) = rest.split_at_mut(sizes().min(rest.len()));
                    filter.process(&mut [part]);
                    rest = after;
                }
                signal
            };
            for size in (1..=2 * BLOCK + 2).chain([rate as usize]) {
                assert_eq!(cut(&mut || size), whole, "{kernel:?}, blocks of {size}");
            }
            for seed in 0..20 {
                let mut noise = noise(seed);
                let random = &mut || ((noise() + 1.0) * 100.0) as usize;
                assert_eq!(cut(random), whole, "{kernel:?}, random blocks, seed {seed}");
            }
        }
    }
}

/// The sums for noise while every tone's weight moves from block to block, in calls of `size` samples and of the rest
/// of each block.
fn ramped(kernel: Kernel, ring: f64, size: usize) -> Vec<f32> {
    let (mut coefficients, _) = bench(44_100.0, ring);
    let (mut state, mut weights, mut noise) = (State::ZERO, Lanes::ZERO, noise(7));
    let (mut sums, mut previous) = (vec![0.0; 200 * BLOCK], [0.0; 2]);
    for (block, sums) in sums.chunks_mut(BLOCK).enumerate() {
        let from = weights;
        // 0, 1 or between; constant in every fourth block.
        weights.0 = weights.0.map(|weight| match block % 4 {
            3 => weight,
            _ => (noise() as f32).mul_add(0.8, 0.5).clamp(0.0, 1.0),
        });
        coefficients.set_weights(from, weights, RMS_GUARD);
        let mut rest = sums;
        while !rest.is_empty() {
            let position = BLOCK - rest.len();
            let (part, after) = rest.split_at_mut(size.min(rest.len()));
            let mut inputs = FrameInputs { total_power: [0.08; BLOCK], ..FrameInputs::ZERO };
            for input in &mut inputs.input[..part.len()] {
                let x = 0.5 * noise() as f32;
                (*input, previous) = (x - previous[0], [previous[1], x]);
            }
            let task = Task { state: &mut state, position, inputs: &inputs, sums: part };
            process(kernel, &coefficients, task);
            rest = after;
        }
    }
    sums
}

#[test]
fn kernels_agree_to_90_db_on_shares_that_move_and_wherever_a_block_is_cut() {
    for ring in [RING, 0.3] {
        let scalar = Kernel::available().next().unwrap();
        let truth: Vec<f64> = ramped(scalar, ring, BLOCK).into_iter().map(f64::from).collect();
        for kernel in Kernel::available() {
            let whole = ramped(kernel, ring, BLOCK);
            let db = snr(&truth, &whole);
            assert!(db >= 90.0, "{kernel:?}, {ring} s: {db:.1} dB");
            for size in 1..BLOCK {
                assert_eq!(ramped(kernel, ring, size), whole, "{kernel:?}, {ring} s, {size}");
            }
        }
    }
}

#[test]
fn a_kernel_leaves_alone_what_is_beyond_a_block() {
    let (coefficients, _) = bench(44_100.0, RING);
    let inputs = FrameInputs { input: [0.5; BLOCK], total_power: [0.1; BLOCK] };
    for kernel in Kernel::available() {
        let mut state = State::ZERO;
        let task = Task { state: &mut state, position: 0, inputs: &inputs, sums: &mut [] };
        process(kernel, &coefficients, task);
        assert_eq!(state, State::ZERO, "{kernel:?}: no samples, no change");

        let mut sums = [f32::NAN; BLOCK + 9];
        let task = Task { state: &mut state, position: 0, inputs: &inputs, sums: &mut sums };
        process(kernel, &coefficients, task);
        assert!(sums[..BLOCK].iter().all(|sum| sum.is_finite()), "{kernel:?}");
        assert!(sums[BLOCK..].iter().all(|sum| sum.is_nan()), "{kernel:?}");
    }
}

#[test]
fn silence_is_silent_and_the_loudest_and_the_faintest_signals_are_finite() {
    let rate = 48_000.0;
    for kernel in Kernel::available() {
        assert!(filtered(kernel, &wet(), rate, &[0.0; 1000]).iter().all(|&y| y == 0.0));
        for drive in [1.0, 400.0] {
            let settings = Settings { drive, threshold: -60.0, floor: -90.0, ..wet() };
            for level in [1e-42, 1e-38, 1e-20, 1e-5, 1e5, 1e30] {
                let input: Vec<f32> = white(1.0, rate).iter().map(|x| x * level).collect();
                let output = filtered(kernel, &settings, rate, &input);
                let fine = output.iter().all(|y| y.is_finite() && y.abs() <= 1.0);
                assert!(fine, "{kernel:?}, drive {drive}, level {level:e}");
            }
        }
    }
}

#[test]
fn every_cpu_has_the_plain_kernels_and_its_own() {
    let names: Vec<_> = Kernel::available().map(Kernel::name).collect();
    let own = if cfg!(target_arch = "x86_64") { "sse2" } else { "neon" };
    assert_eq!(names[..3], ["scalar", "portable", own]);
    assert_eq!(Kernel::best().name(), *names.last().unwrap());
    for name in Kernel::NAMES {
        match name.parse::<Kernel>() {
            Ok(kernel) => assert_eq!(kernel.name(), name),
            Err(error) => assert!(!names.contains(&name), "{error}"),
        }
    }
}
