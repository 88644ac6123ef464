//! Sidechain: a second input, which the bands process in place of the main input.

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

/// Returns the output for `main` and a `sidechain`, in blocks of `size`.
fn run(
    settings: &Settings,
    listen: Listen,
    main: &Signal,
    sidechain: &Signal,
    size: usize,
) -> Signal {
    let mut filter = ToneFilter::new(RATE, settings).unwrap();
    filter.set_routing(Routing { listen, ..Routing::default() });
    filter.reset();
    let mut output = main.clone();
    for start in (0..48_000).step_by(size) {
        let range = start..(start + size).min(48_000);
        let mut main: Vec<_> = output.iter_mut().map(|c| &mut c[range.clone()]).collect();
        let sidechain: Vec<_> = sidechain.iter().map(|c| &c[range.clone()]).collect();
        filter.process_sidechained(&mut main, &sidechain, |_, _| ());
    }
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
            let expected = run(&settings, Listen::Sidechain, &side, &Vec::new(), 48_000);
            assert!(expected.iter().flatten().any(|x| x.abs() > 0.01));
            assert_eq!(run(&settings, Listen::Sidechain, &main, &side, 48_000), expected);
            assert_eq!(
                run(&settings, Listen::Sidechain, &main, &side, 37),
                expected,
                "in short blocks"
            );
        }
        // One main channel gets the mean of a stereo sidechain, two main channels both get a mono sidechain.
        let tones = tones(2);
        let mean = [&tones[0], &tones[1]].map(|c| c.iter().map(|x| 0.5 * x));
        let [left, right] = mean;
        let mean: Signal = vec![left.zip(right).map(|(l, r)| l + r).collect()];
        let of_mean = run(&settings, Listen::Sidechain, &mean, &Vec::new(), 48_000);
        assert_eq!(run(&settings, Listen::Sidechain, &noise(1), &tones, 48_000), of_mean);
        let both =
            run(&settings, Listen::Sidechain, &vec![mean[0].clone(); 2], &Vec::new(), 48_000);
        assert_eq!(run(&settings, Listen::Sidechain, &noise(2), &mean, 48_000), both);
    }
}

#[test]
fn their_sound_is_mixed_with_the_main_input() {
    let settings = Settings { mix: 50.0, ..Settings::REFERENCE };
    let silence = vec![vec![0.0; 48_000]; 2];
    let wet = run(&settings, Listen::Sidechain, &silence, &tones(2), 48_000);
    let dry = run(&settings, Listen::Sidechain, &noise(2), &silence, 48_000);
    let both = run(&settings, Listen::Sidechain, &noise(2), &tones(2), 48_000);
    for (channel, both) in both.iter().enumerate() {
        for (frame, both) in both.iter().enumerate() {
            let sum = wet[channel][frame] + dry[channel][frame];
            assert!((both - sum).abs() < 1e-6, "{both} at {frame}, not {sum}");
        }
    }
}

#[test]
fn without_a_sidechain_and_without_the_setting_they_hear_the_main_input() {
    for settings in sounds() {
        let expected = run(&settings, Listen::Main, &tones(2), &Vec::new(), 48_000);
        assert_eq!(run(&settings, Listen::Sidechain, &tones(2), &Vec::new(), 48_000), expected);
        assert_eq!(run(&settings, Listen::Main, &tones(2), &noise(2), 48_000), expected);
    }
}

#[test]
fn auto_level_makes_them_as_loud_as_what_they_hear() {
    let settings = Settings { mix: 100.0, ..Settings::default() };
    let power = |signal: &Signal| {
        signal.iter().map(|c| c[24_000..].iter().map(|x| x * x).sum::<f32>()).sum::<f32>()
    };
    let silence = vec![vec![0.0; 48_000]; 2];
    for gain in [0.01, 1.0] {
        let side: Signal = tones(2).iter().map(|c| c.iter().map(|x| gain * x).collect()).collect();
        let heard = run(&settings, Listen::Sidechain, &silence, &side, 480);
        let db = 10.0 * (power(&heard) / power(&side)).log10();
        assert!(db.abs() < 6.0, "{db} dB at {gain}");
    }
}
