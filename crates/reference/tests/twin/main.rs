//! The f32 filter, the whole of it, against its twin in f64.
//!
//! Ordinarily, each test takes its longest and its most telling cases. With the environment variable `TONE_FILTER_TWIN=all`, every
//! case runs in full: the song of 20 s at every rate with every kernel, and long takes of all presets and of all settings.

#[path = "../../../../tests/common/mod.rs"]
mod common;
#[path = "../../../dsp/tests/reference/mod.rs"]
mod reference;
mod song;
mod take;

use song::song;
use take::{Take, snr};
use tone_filter_dsp::{Kernel, Settings};
use tone_filter_presets::Preset;

/// Whether every case is to run.
fn all() -> bool {
    std::env::var_os("TONE_FILTER_TWIN").is_some_and(|value| value == "all")
}

#[test]
fn the_default_sound_is_the_twins_to_90_db() {
    for (rate, seconds) in [(44_100.0, 20.0), (48_000.0, 3.0), (96_000.0, 3.0)] {
        let seconds = if all() { 20.0 } else { seconds };
        let take = Take::new(rate, song(seconds, rate), Settings::default());
        let best = take.play(Kernel::best());
        let truth = take.truth(&best);
        for kernel in Kernel::available() {
            let played = take.play(kernel);
            let db = if played.agrees(&best) {
                snr(&truth, &played.output)
            } else {
                snr(&take.truth(&played), &played.output)
            };
            println!("{kernel:?} at {rate} Hz, {seconds} s: {db:.1} dB");
            assert!(db >= 90.0, "{kernel:?} at {rate} Hz: {db:.1} dB");
        }
    }
}

#[test]
fn every_preset_is_the_twins_to_80_db() {
    let rate = 44_100.0;
    for id in tone_filter_presets::ids() {
        let settings = Preset::factory(id).unwrap().settings;
        let take = Take::new(rate, song(if all() { 20.0 } else { 3.0 }, rate), settings);
        let played = take.play(Kernel::best());
        let db = snr(&take.truth(&played), &played.output);
        println!("{id}: {db:.1} dB");
        assert!(db >= 80.0, "{id}: {db:.1} dB");
    }
}
#[test]
fn probe() {
    for (mix, auto, focus) in
        [(100.0, true, 100.0), (100.0, true, 0.0), (100.0, false, 0.0), (50.0, false, 100.0)]
    {
        let take = Take::new(
            44_100.0,
            song(6.0, 44_100.0),
            Settings { mix, auto, focus, ..Settings::default() },
        );
        let p = take.play(Kernel::best());
        let t = take.truth(&p);
        let e: f64 = t[0].iter().map(|x| x * x).sum::<f64>() / t[0].len() as f64;
        println!(
            "mix {mix} {auto} {focus}: {:.1} dB, level {:.1}; notes {:.2}",
            snr(&t, &p.output),
            10.0 * e.log10(),
            p.notes()
        );
    }
}
