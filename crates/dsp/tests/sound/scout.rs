//! A listener on another thread changes no bit.

use tone_filter_dsp::{Keys, Listen, Routing, Settings, Stereo, ToneFilter, Voice};
use tone_filter_testkit::{Draws, Music, sweep::part};

const RATE: f64 = 44_100.0;

#[test]
fn a_scout_changes_no_bit() {
    let default = Settings::default();
    let cases = [
        default,
        Settings { lookahead: true, ..default },
        Settings { voice: Voice::Square, stereo: Stereo::Place, ..default },
        Settings { focus: 40.0, tuning: 432.0, transpose: 3.0, ..default },
    ];
    for settings in part(2, cases) {
        let mut input = Music::draw(&mut Draws::seeded(1), 2.0).render(RATE, 2.0);
        input.iter_mut().for_each(|channel| channel.truncate(70_000));
        let mut filter = ToneFilter::new(RATE, &settings).unwrap();
        let mut ahead = filter.clone();
        let mut scout = ahead.scout().expect("it listens");
        let mut expected = input.clone();
        let [left, right] = &mut expected[..] else { unreachable!() };
        filter.process(&mut [left, right]);

        let mut found = input.clone();
        let (mut start, mut listened) = (0, 0);
        for size in [1, 63, 64, 1000, 30_000, 7].into_iter().cycle() {
            let end = (start + size).min(70_000);
            while listened < end {
                // The scout gets blocks of another size than the filter.
                let to = (listened + 4099).min(70_000);
                let part: Vec<Vec<f32>> =
                    input.iter().map(|channel| channel[listened..to].to_vec()).collect();
                ahead.follow_scout(scout.listen(&part));
                listened = to;
            }
            let [left, right] = &mut found[..] else { unreachable!() };
            ahead.process(&mut [&mut left[start..end], &mut right[start..end]]);
            start = end;
            if start == 70_000 {
                break;
            }
        }
        assert!(found == expected, "{settings:?}");
        assert!(ahead.bands().played == filter.bands().played);
        // Without the scout's decisions, the sound must differ.
        let mut deaf = ToneFilter::new(RATE, &settings).unwrap();
        deaf.follow_scout(Default::default());
        let mut other = input;
        let [left, right] = &mut other[..] else { unreachable!() };
        deaf.process(&mut [left, right]);
        assert!(other != expected, "{settings:?}");
    }
}

#[test]
fn a_scout_needs_a_listener_of_the_main_input() {
    let scout = |settings: Settings, routing| {
        let mut filter = ToneFilter::new(RATE, &settings).unwrap();
        filter.set_routing(routing);
        filter.scout().is_some()
    };
    let (default, main) = (Settings::default(), Routing::default());
    assert!(scout(default, main));
    assert!(!scout(Settings { focus: 0.0, ..default }, main));
    assert!(!scout(Settings { auto_tuning: true, ..default }, main));
    assert!(!scout(Settings { keys: Keys::Hold, ..default }, main));
    assert!(!scout(default, Routing { listen: Listen::Sidechain, ..main }));
}
