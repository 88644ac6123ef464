//! Sidechain: a second input, which the bands process instead of the main input.

use tone_filter_dsp::{Listen, Routing, Settings, Stereo, ToneFilter};
use tone_filter_testkit::signals;

const RATE: f64 = 48_000.0;

type Signal = Vec<Vec<f32>>;

/// Returns a second of noise.
fn noise(channels: usize) -> Signal {
    let mut noise = signals::noise(5);
    let mut next = || (0.25 * noise()) as f32;
    (0..channels).map(|_| (0..48_000).map(|_| next()).collect()).collect()
}

/// Returns a second of tones, which differ between the channels.
fn tones(channels: usize) -> Signal {
    let tone = |hertz: f64, t: usize| (std::f64::consts::TAU * hertz / RATE * t as f64).sin();
    let sample = |channel: usize, t| 0.2 * (tone(440.0, t) + tone([659.26, 880.0][channel], t));
    (0..channels).map(|c| (0..48_000).map(|t| sample(c, t) as f32).collect()).collect()
}

fn run(settings: &Settings, listen: Listen, main: &Signal, sidechain: &Signal) -> Signal {
    let mut filter = ToneFilter::new(RATE, settings).unwrap();
    filter.set_routing(Routing { listen, ..Routing::default() });
    filter.reset();
    let mut output = main.clone();
    let mut main: Vec<_> = output.iter_mut().map(Vec::as_mut_slice).collect();
    let sidechain: Vec<_> = sidechain.iter().map(Vec::as_slice).collect();
    filter.process_events(&mut main, &sidechain, [], |_, _| ());
    output
}

fn sounds() -> Vec<Settings> {
    let sound = Settings { mix: 100.0, ..Settings::REFERENCE };
    vec![
        sound,
        Settings { stereo: Stereo::Stereo, ..sound },
        Settings { focus: 100.0, ring: 0.2, ..sound },
        Settings { stereo: Stereo::Stereo, focus: 50.0, lookahead: true, ..sound },
    ]
}

#[test]
fn the_bands_hear_nothing_but_the_sidechain() {
    for settings in sounds() {
        for channels in [1, 2] {
            let (main, side) = (noise(channels), tones(channels));
            let expected = run(&settings, Listen::Sidechain, &side, &Vec::new());
            assert!(expected.iter().flatten().any(|x| x.abs() > 0.01));
            assert_eq!(run(&settings, Listen::Sidechain, &main, &side), expected);
        }
        // One main channel gets the mean of a stereo sidechain, two main channels both get a mono sidechain.
        let tones = tones(2);
        let mean = [&tones[0], &tones[1]].map(|c| c.iter().map(|x| 0.5 * x));
        let [left, right] = mean;
        let mean: Signal = vec![left.zip(right).map(|(l, r)| l + r).collect()];
        let of_mean = run(&settings, Listen::Sidechain, &mean, &Vec::new());
        assert_eq!(run(&settings, Listen::Sidechain, &noise(1), &tones), of_mean);
        let both = run(&settings, Listen::Sidechain, &vec![mean[0].clone(); 2], &Vec::new());
        assert_eq!(run(&settings, Listen::Sidechain, &noise(2), &mean), both);
    }
}

#[test]
fn without_a_sidechain_and_without_the_setting_they_hear_the_main_input() {
    for settings in sounds() {
        let expected = run(&settings, Listen::Main, &tones(2), &Vec::new());
        assert_eq!(run(&settings, Listen::Sidechain, &tones(2), &Vec::new()), expected);
        assert_eq!(run(&settings, Listen::Main, &tones(2), &noise(2)), expected);
    }
}
