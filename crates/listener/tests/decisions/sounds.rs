//! Tests the decisions about simple sounds.

use super::*;

/// Number of frames after which the decisions count: 0.7 s.
const SETTLED: usize = 60;
const MODES: [(Model, bool); 4] =
    [(Model::Full, false), (Model::Full, true), (Model::Light, false), (Model::Light, true)];

/// Asserts that exactly these notes are on in every frame from [`SETTLED`] on.
fn assert_lights(name: &str, signal: &[f32], (model, lookahead): (Model, bool), notes: &[usize]) {
    let lit = lit(&heard(model, lookahead, signal), SETTLED);
    let expected: Vec<_> = notes.iter().map(|note| (*note, 1.0)).collect();
    assert_eq!(lit, expected, "{name}, {model:?}, lookahead {lookahead}");
}

#[test]
fn sines_saws_and_squares_light_their_note_alone() {
    type Wave = (&'static str, i32, fn(u32) -> f64);
    let waves: [Wave; 3] = [
        ("sine", 104, |k| if k == 1 { 0.3 } else { 0.0 }),
        ("saw", 93, |k| 0.2 / f64::from(k)),
        ("square", 93, |k| if k % 2 == 1 { 0.2 / f64::from(k) } else { 0.0 }),
    ];
    let cases = waves.into_iter().flat_map(|(name, highest, amplitude)| {
        (33..=highest).map(move |note| (name, note, amplitude))
    });
    for (name, note, amplitude) in tenth(cases) {
        let signal = tone(hertz(f64::from(note)), 1.5, 44_100.0, amplitude);
        for mode in MODES {
            assert_lights(&format!("{name} {note}"), &signal, mode, &[note as usize]);
        }
    }
}

#[test]
fn triads_of_sines_light_all_three_notes() {
    for root in tenth((45..=93).step_by(4)) {
        for third in [3, 4] {
            let notes = [root, root + third, root + 7];
            let mut signal = vec![0.0; 66_150];
            for note in notes {
                let sine = sine(hertz(note as f64), 0.2, 1.5, 44_100.0);
                signal.iter_mut().zip(sine).for_each(|(sum, x)| *sum += x);
            }
            for mode in MODES {
                assert_lights(&format!("triad {notes:?}"), &signal, mode, &notes);
            }
        }
    }
}

#[test]
fn noise_and_silence_light_nothing() {
    let mut noise = noise();
    let white: Vec<f32> = (0..10 * 44_100).map(|_| 0.5 * noise() as f32).collect();
    // Paul Kellet's filter, within 0.05 dB of pink above 9 Hz.
    let mut b = [0.0; 6];
    let pink: Vec<f32> = (0..10 * 44_100)
        .map(|_| {
            let white = noise();
            let filters = [
                (0.99886, 0.055_517_9),
                (0.99332, 0.075_075_9),
                (0.969, 0.153_852),
                (0.8665, 0.310_485_6),
                (0.55, 0.532_952_2),
                (-0.7616, -0.016_898),
            ];
            for (state, (pole, gain)) in b.iter_mut().zip(filters) {
                *state = pole * *state + gain * white;
            }
            (0.05 * (b.iter().sum::<f64>() + 0.5362 * white)) as f32
        })
        .collect();
    for (model, lookahead) in part(2, MODES) {
        for (name, signal) in [("white", &white), ("pink", &pink), ("silence", &vec![0.0; 88_200])]
        {
            let decisions = heard(model, lookahead, signal);
            let mean: f64 = lit(&decisions, 0).iter().map(|(_, share)| share).sum();
            assert!(
                mean < 0.05,
                "{name}, {model:?}, lookahead {lookahead}: {mean} notes on average"
            );
        }
    }
}

#[test]
fn silence_after_sound_lights_nothing() {
    for (model, lookahead) in part(2, MODES) {
        let mut signal = music(2.0, 44_100.0);
        signal.resize(5 * 44_100, 0.0);
        let decisions = heard(model, lookahead, &signal);
        assert!(decisions[80].on.contains(&true));
        // A second later.
        let dark = decisions[260..].iter().all(|decisions| decisions.on == [false; NOTES]);
        assert!(dark, "{model:?}, lookahead {lookahead}: {:?}", lit(&decisions, 260));
    }
}

#[test]
fn quiet_music_is_heard_like_loud_music() {
    let signal = music(8.0, 44_100.0);
    for (model, lookahead) in part(2, MODES) {
        let loud = heard(model, lookahead, &signal);
        for db in [-40.0, -60.0] {
            let gain = 10f32.powf(db / 20.0);
            let quiet: Vec<f32> = signal.iter().map(|x| gain * x).collect();
            let (unlike, lit) = differences(&loud, &heard(model, lookahead, &quiet));
            println!("{model:?}, lookahead {lookahead}, {db} dB: {unlike} of {lit}");
            assert!(unlike * 1000 <= 2 * lit, "{model:?} {db} dB: {unlike} of {lit}");
        }
    }
}

#[test]
fn channels_decide_together() {
    let signal = music(10.0, 44_100.0);
    let opposite: Vec<f32> = signal.iter().map(|x| -x).collect();
    let silence = vec![0.0; signal.len()];
    for (model, lookahead) in part(2, MODES) {
        let mono = heard(model, lookahead, &signal);
        let stereo = |right: &[f32]| {
            let mut listener = Listener::new(44_100.0, lookahead, model);
            listen(&mut listener, Kernel::best(), &[&signal, right])
        };
        assert!(stereo(&signal) == mono, "equal channels");
        assert!(stereo(&opposite) == mono, "opposite polarity");
        let (unlike, lit) = differences(&mono, &stereo(&silence));
        println!("{model:?}, lookahead {lookahead}: {unlike} of {lit} with a silent channel");
        assert!(unlike * 100 <= lit, "a silent channel: {unlike} of {lit}");
    }
}

#[test]
fn a_sine_some_cents_off_lights_its_note_alone() {
    for rate in [44_100.0, 96_000.0] {
        for (tuning, transpose) in [(440.0, 0.0), (432.0, 0.0), (440.0, -3.5), (440.0, 12.0)] {
            for (note, cents) in [(62, 0.0), (69, 20.0), (81, -20.0)] {
                let f =
                    hertz(f64::from(note) + transpose) * tuning / 440.0 * (cents / 1200f64).exp2();
                let mut listener = Listener::new(rate, false, Model::Full);
                listener.set_tuning(tuning, transpose);
                listener.reset();
                let signal = sine(f, 0.2, 2.0, rate);
                let heard = listen(&mut listener, Kernel::best(), &[&signal]);
                assert_eq!(
                    lit(&heard, SETTLED),
                    [(note as usize, 1.0)],
                    "{rate} {tuning} {transpose}"
                );
                let level =
                    heard.last().expect("there are decisions").level[note as usize - LOWEST_NOTE];
                // Detuning over the detector's decay rate of 0.15 f, and the power response of two one-poles.
                let detuned = TAU * ((cents / 1200f64).exp2() - 1.0) / 0.15;
                let expected = 0.02 / (1.0 + detuned * detuned).powi(2);
                assert!((f64::from(level) / expected - 1.0).abs() < 0.02, "{level} {expected}");
            }
        }
    }
}

#[test]
fn notes_above_the_detectors_rate_are_off() {
    // At 8 kHz, detectors above 3.6 kHz are off: from A#7 (MIDI 106, 3729 Hz) on.
    let mut noise = noise();
    let signal: Vec<f32> = (0..8000).map(|_| noise() as f32).collect();
    let mut listener = Listener::new(8000.0, false, Model::Full);
    listener.set_sensitivity(1000.0);
    let heard = listen(&mut listener, Kernel::best(), &[&signal]);
    let last = heard.last().expect("there are decisions");
    let on = |note: usize| note + LOWEST_NOTE < 106;
    assert_eq!(last.on, std::array::from_fn(on));
    assert!(last.begun[106 - LOWEST_NOTE..].iter().all(|begun| !begun));
}
