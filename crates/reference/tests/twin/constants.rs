//! Scenes for constants that seldom matter in music: bounds, thresholds and rare states.
//!
//! The twin has constants of its own, so a change of a filter's constant by 1 % fails a test, unless the comment of the constant says that 1 % is inaudible.

use crate::{agrees, runs::scene, song::song};
use std::f64::consts::TAU;
use tone_filter_dsp::{
    Arp, BLOCK, BandMask, Controls, Duty, KeyEvent, Keys, Listen, Routing, Settings, Stereo, Voice,
    listener::Model, notes::TONES,
};
use tone_filter_testkit::{
    Scene,
    signals::noise,
    sweep::{all, part},
};

/// Sample rate at which all bands still get input. It is low because the twin is slow.
const LOW_RATE: f64 = 8_000.0;

/// Appends `seconds` of `sound` to `signal`. The argument of `sound` is the time in seconds since the start of this part.
fn add(signal: &mut Vec<f32>, seconds: f64, rate: f64, mut sound: impl FnMut(f64) -> f64) {
    let frames = (seconds * rate) as usize;
    signal.extend((0..frames).map(|frame| sound(frame as f64 / rate) as f32));
}

fn sine(hertz: f64, amplitude: f64) -> impl Fn(f64) -> f64 {
    move |t| amplitude * (TAU * hertz * t).sin()
}

/// Returns the default sound in mono, without a listener.
fn without_listener() -> Settings {
    Settings { focus: 0.0, stereo: Stereo::Mono, ..Settings::default() }
}

const A4: usize = 12;

fn only_a4() -> BandMask {
    BandMask::NONE.with(A4, true)
}

#[test]
fn the_gain_of_very_quiet_music_is_the_twins() {
    let [left, right] = song(4.0, LOW_RATE);
    let quiet = left.iter().zip(right).map(|(left, right)| 2e-5 * (left + right)).collect();
    let channels: Vec<Vec<f32>> = vec![quiet];
    // The music is too quiet for the nominal level even at the maximum gain. The knee of the clip shows the gain.
    let settings = Settings { mix: 100.0, floor: -40.0, ..without_listener() };
    agrees("80 dB of gain", &scene(LOW_RATE, channels, settings));
}

#[test]
fn the_first_blocks_are_the_twins() {
    let mut signal = Vec::new();
    add(&mut signal, 0.03, LOW_RATE, sine(440.0, 0.1));
    let settings = Settings { mix: 100.0, ..without_listener() };
    agrees("first blocks", &scene(LOW_RATE, vec![signal], settings));
}

#[test]
fn blocks_near_the_threshold_of_silence_are_the_twins() {
    let mut signal = Vec::new();
    let [music, _] = song(1.6, LOW_RATE);
    let mut bars = music.chunks_exact((0.4 * LOW_RATE) as usize);
    // Mean squares on both sides of -110 dB full scale.
    for mean_square in [1.005e-11, 0.995e-11, 1.005e-11] {
        signal.extend(bars.next().unwrap());
        let amplitude = f64::sqrt(mean_square);
        let mut sign = -1.0;
        add(&mut signal, 2.0, LOW_RATE, |_| {
            sign = -sign;
            sign * amplitude
        });
    }
    signal.extend(bars.next().unwrap());
    let settings = Settings { mix: 100.0, ..without_listener() };
    agrees("near silence", &scene(LOW_RATE, vec![signal], settings));
}

#[test]
fn the_level_of_rare_notes_among_loud_other_sounds_is_the_twins() {
    let mut signal = Vec::new();
    for _ in 0..4 {
        // After the quiet sine, each sound begins far above the level.
        add(&mut signal, 2.5, LOW_RATE, sine(3000.0, 0.4));
        add(&mut signal, 3.0, LOW_RATE, sine(440.0, 1e-4));
        add(&mut signal, 0.4, LOW_RATE, sine(440.0, 0.15));
        add(&mut signal, 0.4, LOW_RATE, sine(3000.0, 0.8));
    }
    add(&mut signal, 0.4, LOW_RATE, sine(440.0, 0.3));
    // At a mix of 97 %, only a part of the dry signal may be raised.
    for mix in [60.0, 97.0] {
        let settings = Settings { mix, bands: only_a4(), ..without_listener() };
        agrees("rare notes", &scene(LOW_RATE, vec![signal.clone()], settings));
    }
}

#[test]
fn the_bounds_of_the_makeup_are_the_twins() {
    let mut signal = Vec::new();
    let (note, other) = (sine(440.0, 0.05), sine(3000.0, 0.25));
    add(&mut signal, 5.0, LOW_RATE, |t| note(t) + other(t));
    let settings = Settings { mix: 70.0, bands: only_a4(), floor: -20.0, ..without_listener() };
    agrees("24 dB of makeup", &scene(LOW_RATE, vec![signal], settings));

    // K-weighting passes the sine two octaves above the note, but hardly the note. In 16 s, the averages forget their start.
    let mut signal = Vec::new();
    add(&mut signal, 16.0, LOW_RATE, sine(16.35, 0.3));
    let settings = Settings {
        mix: 70.0,
        transpose: -24.0,
        octave: 2.0,
        voice: Voice::Sine,
        ceiling: 0.0,
        ..without_listener()
    };
    agrees("-12 dB of makeup", &scene(LOW_RATE, vec![signal], settings));
}

/// Returns the frame at a time in seconds, and a player's event.
fn at(seconds: f64, rate: f64, event: KeyEvent) -> (usize, KeyEvent) {
    ((seconds * rate) as usize, event)
}

#[test]
fn bends_and_gains_beyond_their_bounds_are_the_twins() {
    let rate = 22_050.0;
    let settings = Settings {
        keys: Keys::Hold,
        transpose: 24.0,
        auto: false,
        mix: 100.0,
        drive: 2.0,
        ..without_listener()
    };
    let channels = song(2.0, rate).map(|channel| channel.iter().map(|x| 0.1 * x).collect());
    let keys = [60, 64, 81, 88, 93, 105];
    let mut events: Vec<_> = keys.map(|key| (0, KeyEvent::Key(key, 0.6))).into();
    events.extend([
        at(0.3, rate, KeyEvent::Bend(-60.0)),
        at(0.8, rate, KeyEvent::Gain(93, 9.0)),
        at(1.0, rate, KeyEvent::Gain(81, 4.02)),
        at(1.3, rate, KeyEvent::Bend(60.0)),
        at(1.6, rate, KeyEvent::Wheel(-0.7)),
    ]);
    agrees("bend and gain", &Scene { events, ..scene(rate, channels, settings) });
}

/// Returns settings with the wet signal of one voice alone, which follows its bands fast and without a gate.
fn bare(voice: Voice) -> Settings {
    Settings {
        voice,
        mix: 100.0,
        auto: false,
        threshold: -60.0,
        floor: -90.0,
        ceiling: 0.0,
        ring: 0.05,
        release: 10.0,
        ..without_listener()
    }
}

#[test]
fn notes_that_begin_anew_at_any_level_are_the_twins() {
    let mut signal = Vec::new();
    let (seconds, mut factor) = (0.15, 1.5);
    let step = if all() { 1.015 } else { 1.06 };
    while factor < 6.0 {
        add(&mut signal, seconds, LOW_RATE, sine(440.0, 0.05));
        add(&mut signal, seconds, LOW_RATE, sine(440.0, 0.05 * factor));
        factor *= step;
    }
    agrees("jumps", &scene(LOW_RATE, vec![signal], bare(Voice::Square)));

    // Where the phase jumps, the oscillator corrects it within half and twice the nominal frequency.
    let mut signal = Vec::new();
    for turn in 0..12 {
        let phase = f64::from(turn * turn) * 0.4;
        add(&mut signal, 0.4, LOW_RATE, |t| 0.3 * (TAU * 41.2 * t + phase).sin());
    }
    agrees("turns", &scene(LOW_RATE, vec![signal], bare(Voice::Triangle)));
}

#[test]
fn notes_near_the_level_at_which_oscillators_rest_are_the_twins() {
    // A note that rests loses its phase, which without vibrato differs from the band's phase.
    let settings = Settings { keys: Keys::Hold, vibrato: 0.0, ceiling: -20.0, ..bare(Voice::Sine) };
    let mut signal = Vec::new();
    add(&mut signal, 2.0, LOW_RATE, sine(445.0, 0.3));
    let mut events = vec![(0, KeyEvent::Key(69, 1.0))];
    for (turn, power) in [1.005e-10, 0.995e-10, 1.005e-10, 0.995e-10].into_iter().enumerate() {
        let start = 0.2 + 0.4 * turn as f64;
        events.push(at(start, LOW_RATE, KeyEvent::Gain(69, f32::sqrt(power))));
        events.push(at(start + 0.2, LOW_RATE, KeyEvent::Gain(69, 1.0)));
    }
    agrees("near rest", &Scene { events, ..scene(LOW_RATE, vec![signal], settings) });
}

/// Returns a bass, and notes that take turns in being the loudest; some of them pause. Adds hiss of changing colour: every 4 s,
/// hits for 0.7 s, a pause of 0.3 s, then a constant level.
fn band_with_hiss(seconds: f64, rate: f64) -> Vec<f32> {
    let mut signal = Vec::new();
    let (mut random, mut last, mut dark) = (noise(7), 0.0, 0.0);
    let hertz = |above_a3: f64| 220.0 * (above_a3 / 12.0).exp2();
    // Semitones above A3, and period of a swell in seconds. A higher note is softer: height plus level is equal for all.
    let notes = [(12.0, 2.1), (19.0, 2.7), (27.0, 3.3), (31.0, 1.7), (34.0, 4.1)];
    add(&mut signal, seconds, rate, |t| {
        let tones = notes.iter().map(|(above, pace)| {
            let decibels = 12.0 - above + 4.0 * (TAU * t / pace).sin();
            let pauses = above % 2.0 > 0.0 && t % (0.4 * pace) < 0.1;
            let amplitude = if pauses { 0.0 } else { 0.1 * 10f64.powf(decibels / 20.0) };
            sine(hertz(*above), amplitude)(t)
        });
        let white = random();
        dark += 0.3 * (white - dark);
        let bright = 0.5 + 0.5 * (TAU * t / 0.77).sin();
        let hiss = bright * (white - last) + (1.0 - bright) * dark;
        last = white;
        let loudness = match t % 4.0 {
            within @ 0.0..0.7 => 0.3 * (-(within % 0.2) / 0.05).exp(),
            0.7..1.0 => 0.0,
            _ => 0.04,
        };
        tones.sum::<f64>() + sine(110.0, 0.06)(t) + loudness * hiss
    });
    signal
}

#[test]
fn the_parts_volumes_and_noise_of_the_chip_are_the_twins() {
    let rate = 22_050.0;
    let plain = Settings { ring: 0.2, ceiling: -6.0, ..bare(Voice::Chip) };
    let cases = [
        ("chip", plain),
        ("fast", Settings { arp: Arp::Fast, voices: 3.0, attack: 3.0, decay: 37.0, ..plain }),
        ("up", Settings { arp: Arp::Up, voices: 2.0, decay: 53.0, duty: Duty::Eighth, ..plain }),
    ];
    for (name, settings) in part(3, cases) {
        agrees(name, &scene(rate, vec![band_with_hiss(6.0, rate)], settings));
    }
}

#[test]
fn what_is_limited_is_the_twins() {
    // The dry signal is silent. The chord of squares is far above full scale, then far below.
    let rate = 22_050.0;
    let chord = [220.0, 277.18, 329.63, 440.0].map(|hertz| sine(hertz, 0.9));
    let mut sidechain = Vec::new();
    for loudness in [1.0, 0.1, 0.7, 0.2, 1.0, 0.05] {
        add(&mut sidechain, 0.2, rate, |t| {
            loudness * chord.iter().map(|sine| sine(t)).sum::<f64>()
        });
    }
    let sidechain = vec![sidechain];
    let routing = Routing { listen: Listen::Sidechain, ..Routing::default() };
    let silence = vec![vec![0.0; sidechain[0].len()]];
    for lookahead in [false, true] {
        let settings = Settings { output: 6.0, lookahead, ..bare(Voice::Square) };
        // The soft clip needs no limiter, but begins while the gain recovers.
        let soft = Settings { voice: Voice::Soft, ..settings };
        let changes = [(0, settings), (22_000, soft)]
            .map(|(at, settings)| (at, Controls { settings, routing }));
        let silent_scene = scene(rate, silence.clone(), settings);
        let sidechain = sidechain.clone();
        agrees("limited", &Scene { sidechain, changes: changes.into(), ..silent_scene });
    }
}

#[test]
fn notes_that_begin_anew_are_the_twins() {
    // 20 ms are 13.45 blocks.
    let rate = 13.45 * BLOCK as f64 / 0.02;
    let [mut left, mut right] = [Vec::new(), Vec::new()];
    for turn in 0..14 {
        let (hertz, place) = [(440.0, 0.5), (440.0, 1.0), (440.0, 0.2), (554.37, 0.7)][turn % 4];
        let pluck = |t: f64| sine(hertz, 0.3 * (-t / 0.1).exp())(t);
        add(&mut left, 0.2, rate, |t| place * pluck(t));
        add(&mut right, 0.2, rate, |t| (1.0 - place) * pluck(t));
    }
    // Changes first the voice and the drive, then back, then the network.
    let settings = Settings { voice: Voice::Saw, ..Settings::default() };
    let clean = Settings { voice: Voice::SoftClean, drive: 30.0, ..settings };
    let light = Settings { listener: Model::Light, ..settings };
    let changes = [(0.0, settings), (0.7, clean), (1.43, settings), (2.05, light)]
        .map(|(seconds, settings)| ((seconds * rate) as usize, settings.into()))
        .into();
    let channels = [left, right];
    agrees("anew", &Scene { changes, ..scene(rate, channels, settings) });
}

#[test]
fn the_share_of_overtones_in_the_noise_is_the_twins() {
    const A2: usize = TONES - 12;
    let rate = 22_050.0;
    let (mut signal, mut random) = (Vec::new(), noise(3));
    add(&mut signal, 4.5, rate, |t| {
        let loudness = match t {
            // The hiss grows as fast as the tracked share of overtones can. After a pause, in which the share falls to its
            // minimum, the hiss stays until the share explains it.
            0.0..0.8 => 0.03 * (t / 0.6).exp(),
            0.8..1.1 => 0.0,
            _ => 0.01,
        };
        sine(110.0, 0.06)(t) + loudness * random()
    });
    let bands = BandMask::NONE.with(A2, true);
    let settings = Settings { bands, ring: 0.2, ceiling: -16.0, ..bare(Voice::Chip) };
    agrees("hiss", &scene(rate, vec![signal], settings));
}
