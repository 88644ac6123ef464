//! Shared code of the test programs `hosts` and `alone`. Both test the built plugin. If the bundle is missing or outdated, every
//! test fails with the command that builds it.

#[path = "../fuzz/src/settings.rs"]
pub mod settings;

use tone_filter_dsp::ToneFilter;
use tone_filter_testkit::{Signal, clap::Change, plugin::instance, signals::noise};

/// Sample rate in Hz.
pub const RATE: f64 = 48_000.0;

/// Maximum buffer length in frames.
pub const MAX_BLOCK: usize = 16_384;

/// Returns a sample rate in Hz at which the lookahead has another length than at the same rate in `f32`. nice-plug stores rates
/// in `f32`.
pub fn rounded_rate() -> f64 {
    let late = ToneFilter::lookahead;
    let differs = |rate: &f64| late(*rate) != late(f64::from(*rate as f32));
    (0..).map(|step| RATE + 1e-3 * f64::from(step)).find(differs).expect("such a rate")
}

/// Returns the output of a new instance of the CLAP plugin for `input`, at [`RATE`]. `blocks` are the buffer lengths.
pub fn played(
    input: &Signal,
    mut blocks: impl Iterator<Item = usize>,
    changes: &[Change],
) -> Signal {
    let mut instance = instance();
    instance.select(input.len()).unwrap();
    let mut processor = instance.activate(RATE, MAX_BLOCK).unwrap();
    let mut signal = input.clone();
    processor.run(&mut signal, true, &mut blocks, changes).unwrap();
    signal
}

/// Returns random buffer lengths from 1 to [`MAX_BLOCK`], uniform on a logarithmic scale.
pub fn random_blocks(seed: u64) -> impl Iterator<Item = usize> {
    let mut noise = noise(seed);
    std::iter::repeat_with(move || (MAX_BLOCK as f64).powf((noise() + 1.0) / 2.0).round() as usize)
}
