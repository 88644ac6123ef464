//! The f32 filter against the f64 reference, and what must hold whatever the block size.

mod common;

use common::{noisy_chord, snr, white};
use tone_filter::dsp::{Settings, Stereo, ToneFilter, reference};

const WET: Settings = wet();

const fn wet() -> Settings {
    Settings {
        mix: 100.0,
        output: 0.0,
        drive: 40.0,
        threshold: -36.989_7,
        ceiling: -10.0,
        floor: -36.666_668,
        ring: 1.566_306,
        release: 188.952_5,
        tone: 4_865.015,
        tuning: 440.0,
        transpose: 0.0,
        stereo: Stereo::Mono,
        bypass: false,
    }
}

fn filtered(settings: &Settings, rate: f64, input: &[f32]) -> Vec<f32> {
    let mut signal = input.to_vec();
    ToneFilter::new(rate, settings).unwrap().process(&mut [&mut signal]);
    signal
}

#[test]
fn the_wet_signal_is_the_references_to_80_db() {
    for rate in [44_100.0, 48_000.0, 96_000.0, 192_000.0] {
        for (name, input) in [("noise", white(2.0, rate)), ("chord", noisy_chord(2.0, rate))] {
            let truth = reference::process(&WET, rate, &[&input]).remove(0);
            let db = snr(&truth, &filtered(&WET, rate, &input));
            println!("{name} at {rate} Hz: {db:.1} dB");
            assert!(db >= 80.0, "{name} at {rate} Hz: {db:.1} dB");
        }
    }
}
