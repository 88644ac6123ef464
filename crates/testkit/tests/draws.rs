//! Coverage of the random draws: all entries of choices, ends and defaults of numbers, and both starting points.

use std::collections::HashSet;
use tone_filter_dsp::{BandMask, Controls, PitchClasses, Setting, Settings, Targets};
use tone_filter_testkit::{Draws, Scene, Values, controls};

/// Number of draws within which every value must come up.
const DRAWS: u64 = 1000;

#[test]
fn every_entry_and_every_end_is_drawn() {
    let drawn: Vec<Controls> = (0..DRAWS).map(|seed| controls(&mut Draws::seeded(seed))).collect();
    for setting in Setting::all() {
        let texts: HashSet<String> = drawn.iter().map(|own| setting.text(own)).collect();
        for end in setting.ends(&Controls::default()) {
            let (text, fixed) = (setting.text(&end), matches!(setting, Setting::Text(_)));
            assert!(fixed || texts.contains(&text), "{} {text} is never drawn", setting.id());
        }
    }
    let masks: Vec<&Settings> = drawn.iter().map(|own| &own.settings).collect();
    assert!(masks.iter().any(|own| own.bands == BandMask::NONE));
    assert!(masks.iter().any(|own| own.custom == PitchClasses::NONE));
    assert!(masks.iter().any(|own| own.targets != Targets::IDENTITY));
    let near = |start: Controls| {
        let moved = |own: &Controls| {
            Setting::all().filter(|setting| setting.text(own) != setting.text(&start)).count()
        };
        drawn.iter().filter(|own| moved(own) <= 8).count() as f64
    };
    let ratio = near(Controls::default()) / near(Settings::REFERENCE.into());
    assert!((0.8..1.25).contains(&ratio), "{ratio} starts from the default for one from Reference");
    assert!(drawn.iter().all(|own| own.settings.validate().is_ok()));
}

#[test]
fn scenes_are_sound_with_all_that_goes_with_it() {
    let scenes: Vec<Scene> = (0..100).map(|seed| Scene::draw(&mut Draws::seeded(seed))).collect();
    let count = |what: &str, holds: &dyn Fn(&Scene) -> bool| {
        let count = scenes.iter().filter(|scene| holds(scene)).count();
        assert!(count > 3 && count < 100, "{what}: {count} of 100");
    };
    count("a score", &|scene| scene.score.is_some());
    count("keys", &|scene| !scene.events.is_empty());
    count("a sidechain", &|scene| !scene.sidechain.is_empty());
    count("changes", &|scene| scene.changes.len() > 1);
    count("one channel", &|scene| scene.input.len() == 1);
    count("three channels", &|scene| scene.input.len() == 3);
    count("different channels", &|scene| {
        scene.input.len() == 2 && scene.input[0] != scene.input[1]
    });
    count("a high rate", &|scene| scene.rate > 48_000.0);
    count("a low rate", &|scene| scene.rate < 44_100.0);
    let peak = |scene: &Scene| scene.input[0].iter().fold(0f32, |peak, x| peak.max(x.abs()));
    count("loud music", &|scene| peak(scene) > 0.2);
    for scene in &scenes {
        assert!((8000.0..=192_000.0).contains(&scene.rate));
        assert!(scene.input[0].len() as f64 >= 1.5 * scene.rate);
        assert!(scene.input.iter().flatten().all(|sample| sample.is_finite()));
    }
}

#[test]
fn bytes_decide_first_and_a_seed_decides_all() {
    let drawn = |mut draws: Draws| controls(&mut draws);
    assert_eq!(drawn(Draws::seeded(7)), drawn(Draws::seeded(7)));
    assert_eq!(drawn(Draws::of(&[9; 400])), drawn(Draws::of(&[9; 400])));
    assert_ne!(drawn(Draws::of(&[9; 400])), drawn(Draws::of(&[200; 400])));
    let mut draws = Draws::of(&[0, 255]);
    assert_eq!((draws.below(10), draws.is_over(), draws.below(10)), (0, false, 9));
    assert!(draws.is_over());
}
