//! Regression test: compares the output with hashes of the released one, for every preset and for random scenes, on every
//! kernel of this CPU. An ordinary run draws a thirtieth of these cases.
//!
//! After an intended change of the sound, note it in the changelog and write the hashes of this CPU's kernels into `golden.txt`:
//! `cargo test -p tone-filter-presets --test golden` with `TONE_FILTER_SWEEP=all` and `TONE_FILTER_GOLDEN=write`.

use std::collections::BTreeMap;
use tone_filter_dsp::{Kernel, Settings, ToneFilter};
use tone_filter_presets::Preset;
use tone_filter_testkit::{Draws, Scene, Signal, music, sweep};

/// Returns the FNV-1a hash of the bits of `signal`.
fn hash(signal: &Signal) -> u64 {
    let bytes = signal.iter().flatten().flat_map(|sample| sample.to_bits().to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn play(kernel: Kernel, settings: &Settings, input: &Signal) -> Signal {
    let mut output = input.clone();
    let mut filter = ToneFilter::new(44_100.0, settings).unwrap().with_kernel(kernel);
    let mut channels: Vec<&mut [f32]> = output.iter_mut().map(Vec::as_mut_slice).collect();
    filter.process(&mut channels);
    output
}

#[test]
fn the_sound_is_the_released_one() {
    let input = music(&mut Draws::seeded(1), 44_100.0, 1.5).1;
    let names = tone_filter_presets::ids().map(str::to_owned);
    let names: Vec<_> = names.chain((0..50).map(|seed| format!("scene {seed}"))).collect();
    let runs = Kernel::available().flat_map(|kernel| names.iter().map(move |name| (kernel, name)));
    let now: BTreeMap<_, _> = sweep::part(30, runs)
        .into_iter()
        .map(|(kernel, name)| {
            let output = match name.strip_prefix("scene ") {
                Some(seed) => {
                    let mut draws = Draws::seeded(seed.parse().unwrap());
                    let scene = Scene { kernel, ..Scene::draw(&mut draws) };
                    scene.play(&mut scene.filter(), || 512)
                }
                None => play(kernel, &Preset::factory(name).unwrap().settings, &input),
            };
            (format!("{kernel:?} {name}"), format!("{:016x}", hash(&output)))
        })
        .collect();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let mut released: BTreeMap<_, _> =
        text.lines().filter_map(|line| line.rsplit_once(' ')).collect();
    if std::env::var("TONE_FILTER_GOLDEN").is_ok_and(|value| value == "write") {
        released.extend(now.iter().map(|(what, hash)| (what.as_str(), hash.as_str())));
        let lines = released.iter().map(|(what, hash)| format!("{what} {hash}\n"));
        std::fs::write(path, lines.collect::<String>()).unwrap();
    }
    let wrong =
        |(what, hash): &(&String, &String)| released.get(what.as_str()) != Some(&hash.as_str());
    let wrong: Vec<_> = now.iter().filter(wrong).map(|(what, _)| what).collect();
    assert!(wrong.is_empty(), "other bits than those of golden.txt: {wrong:?}");
}
