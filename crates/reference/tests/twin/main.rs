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
use take::{Change, Take, snr};
use tone_filter_dsp::{BLOCK, Controls, Kernel, Settings, Voice};
use tone_filter_presets::Preset;
use tone_filter_testkit::{Draws, Setting, events, music};

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
/// Every setting in turn at values of its own, and back, over music with a second input and keys.
///
/// With `every`, a setting has all its entries or ends, otherwise a value at random.
fn automated(base: Controls, seed: u64, every: bool) -> Take {
    let (rate, draws) = (44_100.0, &mut Draws::seeded(seed));
    let step = (0.06 * rate) as usize / BLOCK;
    let mut block = 100;
    let mut changes = Vec::new();
    for setting in Setting::all() {
        let values = if every { setting.ends(&base) } else { vec![drawn(setting, draws, base)] };
        for value in values {
            changes.push((block, Change::Controls(value)));
            changes.push((block + step, Change::Controls(base)));
            block += step + 10;
        }
    }
    let seconds = (block * BLOCK) as f64 / rate;
    let keys = events(draws, block * BLOCK).into_iter();
    changes.extend(keys.map(|(at, event)| (at / BLOCK, Change::Key(event))));
    let (_, sidechain) = music(draws, rate, seconds);
    let sidechain = sidechain.into_iter().map(|mut channel| {
        channel.resize((seconds * rate) as usize, 0.0);
        channel
    });
    let take = Take::new(rate, song(seconds, rate), base.settings);
    Take { changes, sidechain: sidechain.collect(), ..take }
}

fn drawn(setting: Setting, draws: &mut Draws, base: Controls) -> Controls {
    let mut controls = base;
    setting.draw(draws, &mut controls);
    controls
}

#[test]
fn automation_of_every_setting_is_the_twins_to_80_db() {
    let mut failed = Vec::new();
    for (index, voice) in Voice::ALL.into_iter().enumerate() {
        let settings = Settings { voice, mix: 100.0, ..Settings::default() };
        let take = automated(settings.into(), index as u64, all());
        let played = take.play(Kernel::best());
        let truth = take.truth(&played);
        let db = snr(&truth, &played.output);
        println!("{voice:?}: {db:.1} dB");
        if db < 80.0 {
            failed.push(format!("{voice:?}: {db:.1} dB"));
            let mut worst = Vec::new();
            for (at, start) in (0..truth[0].len() - 256).step_by(256).enumerate() {
                let e: f64 = (0..2)
                    .map(|c| {
                        (start..start + 256)
                            .map(|t| (truth[c][t] - f64::from(played.output[c][t])).powi(2))
                            .sum::<f64>()
                    })
                    .sum();
                worst.push((e, at * 4));
            }
            worst.sort_by(|a, b| b.0.total_cmp(&a.0));
            let base = Controls::from(settings);
            for (e, block) in worst.iter().take(6) {
                let last = take
                    .changes
                    .iter()
                    .filter(|(at, _)| at <= block)
                    .filter_map(|(at, c)| match c {
                        Change::Controls(c) if *c != base => Some((
                            at,
                            Setting::all()
                                .filter(|s| s.text(c) != s.text(&base))
                                .map(|s| format!("{} {}", s.id(), s.text(c)))
                                .collect::<Vec<_>>(),
                        )),
                        _ => None,
                    })
                    .last();
                println!("  block {block}: {:.1} dB, {last:?}", 10.0 * e.log10());
            }
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}
