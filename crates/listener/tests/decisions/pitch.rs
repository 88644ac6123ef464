//! Tests the tracked pitches of tones whose pitch is known.

use super::*;
use tone_filter_testkit::signals::{bent, glissando, vibrato};

const RATE: f64 = 44_100.0;
/// Delay of the decimator in decimated samples.
const DECIMATOR: f64 = 6.0;

/// Returns the greatest error in cents of the pitches from 0.4 s on. `truth` is the MIDI note at a time in s. The listener is tuned
/// `shift` semitones below A4 = 440 Hz. A missing pitch has an infinite error.
///
/// The delay of a pitch is known to 3 ms; the best constant delay in this range is removed.
fn error(
    mut listener: Listener,
    channels: &[&[f32]],
    shift: f64,
    truth: impl Fn(f64) -> f64,
) -> f64 {
    listener.track_pitches(true);
    let (decimation, frame) = (frame(RATE).0 as f64, listener.frame() as f64);
    let delay = 3.5 * frame + DECIMATOR * decimation;
    let mut pitches = Vec::new();
    for (index, left) in channels[0].as_chunks().0.iter().enumerate() {
        let right = channels.get(1).map(|right| &right.as_chunks().0[index]);
        let frames = listener.push(Kernel::best(), left, right).map(|decisions| decisions.frames);
        let time = frames.map(|frames| (frames as f64 * frame - delay) / RATE);
        if let Some(time) = time.filter(|time| *time > 0.4) {
            let note = truth(time).round();
            let found = listener.pitch(note as usize - LOWEST_NOTE);
            pitches.push((time, found.map_or(f64::INFINITY, |found| note - shift + found)));
        }
    }
    assert!(pitches.len() > 80);
    let error = |delay: f64| {
        let errors = pitches.iter().map(|(time, pitch)| (pitch - truth(time - delay)).abs());
        100.0 * errors.fold(0.0, f64::max)
    };
    (-6..=6).map(|step| error(0.0005 * f64::from(step))).fold(f64::INFINITY, f64::min)
}

fn listener() -> Listener {
    Listener::new(RATE, false, Model::Light)
}

#[test]
fn vibrato_and_glissando_are_found_within_8_cents() {
    type Movement = Box<dyn Fn(f64) -> f64>;
    // Note, A4 in Hz, transposition, number of movements.
    for (note, a4, transpose, count) in [
        (40.0, 440.0, 0.0, 2),
        (45.0, 440.0, 0.0, 2),
        (52.0, 440.0, 0.0, 2),
        (88.0, 440.0, 0.0, 2),
        (96.0, 440.0, 0.0, 2),
        (57.0, 440.0, 0.2, 1),
        (64.0, 440.0, -0.2, 1),
        (69.0, 440.0, 0.3, 1),
        (81.0, 440.0, -0.4, 1),
        (69.0, 445.0, 0.1, 1),
    ] {
        let movements: [(_, Movement); 2] =
            [("vibrato", Box::new(vibrato(note))), ("glissando", Box::new(glissando(note)))];
        for (name, pitch) in movements.into_iter().take(count) {
            let mut tuned = listener();
            tuned.set_tuning(a4, transpose);
            let shift = -transpose - 12.0 * (a4 / 440f64).log2();
            let signal = bent(6, 1.6, RATE, &pitch);
            let error = error(tuned, &[&signal], shift, &pitch);
            println!("{note} {a4} {transpose} {name}: {error:.1}");
            assert!(error <= 8.0, "{note} {a4} {transpose} {name}: {error}");
        }
    }
}

#[test]
fn other_notes_do_not_move_the_pitch() {
    for note in [40.0, 48.0, 57.0, 69.0, 88.0] {
        let tone = bent(6, 1.6, RATE, |_| note + 0.17);
        for interval in [-7.0, -5.0, 4.0, 7.0, 12.0] {
            if note < 48.0 && interval < 7.0 {
                continue;
            }
            let other = bent(6, 1.6, RATE, |_| note + interval);
            let signal: Vec<f32> =
                tone.iter().zip(other).map(|(tone, other)| tone + other).collect();
            let error = error(listener(), &[&signal], 0.0, |_| note + 0.17);
            println!("{note} {interval}: {error:.1}");
            assert!(error <= 8.0, "{note} {interval}: {error}");
        }
    }
}

#[test]
fn two_channels_of_opposite_polarity_have_the_pitch_of_one() {
    let pitch = vibrato(69.0);
    let signal = bent(6, 1.6, RATE, pitch);
    let opposite: Vec<f32> = signal.iter().map(|sample| -sample).collect();
    let mono = error(listener(), &[&signal], 0.0, pitch);
    let stereo = error(listener(), &[&signal, &opposite], 0.0, pitch);
    assert!((mono - stereo).abs() < 0.01, "{mono} {stereo}");
}

#[test]
fn silence_and_untracked_pitches_are_none() {
    let mut silent = listener();
    silent.track_pitches(true);
    listen(&mut silent, Kernel::best(), &[&[0.0; 44_100]]);
    assert!((0..NOTES).all(|note| silent.pitch(note).is_none()));

    let signal = bent(6, 1.0, RATE, |_| 69.0);
    let mut untracked = listener();
    listen(&mut untracked, Kernel::best(), &[&signal]);
    assert_eq!(untracked.pitch(69 - LOWEST_NOTE), None);
    untracked.track_pitches(true);
    listen(&mut untracked, Kernel::best(), &[&signal]);
    assert!(untracked.pitch(69 - LOWEST_NOTE).is_some_and(|off| off.abs() < 0.01));
    untracked.track_pitches(false);
    assert_eq!(untracked.pitch(69 - LOWEST_NOTE), None);
}

#[test]
fn a_tone_has_its_pitch_110_ms_after_its_beginning() {
    for note in [45.0, 57.0, 69.0, 81.0, 93.0] {
        for before in [None, Some(-2.0), Some(5.0)] {
            let tone = bent(6, 1.0, RATE, |_| note + 0.3);
            let other = bent(6, 1.0, RATE, |_| note + before.unwrap_or(0.0));
            let other = other.iter().map(|sample| if before.is_some() { *sample } else { 0.0 });
            let (start, mut frames) = (22_050, 0);
            let signal: Vec<f32> = other.take(start).chain(tone.into_iter().skip(start)).collect();
            let mut listener = listener();
            listener.track_pitches(true);
            for (index, block) in signal.as_chunks().0.iter().enumerate() {
                let decided = listener.push(Kernel::best(), block, None).is_some();
                if decided && (index + 1) * BLOCK > start + 4851 {
                    let pitch = listener.pitch(note as usize - LOWEST_NOTE);
                    let is_near = pitch.is_some_and(|pitch| (pitch - 0.3).abs() < 0.08);
                    assert!(is_near, "{note} after {before:?}: {pitch:?}");
                    frames += 1;
                }
            }
            assert!(frames > 30, "{frames}");
        }
    }
}

#[test]
fn a_pitch_stays_until_its_tone_has_ended() {
    for note in [45.0, 57.0, 69.0, 81.0, 93.0] {
        let mut signal = bent(6, 1.5, RATE, |_| note + 0.3);
        for (t, sample) in signal.iter_mut().enumerate() {
            // The end takes 30 ms.
            *sample *= (1.0 - (t as f64 / 44_100.0 - 1.0) / 0.03).clamp(0.0, 1.0) as f32;
        }
        let mut listener = listener();
        listener.track_pitches(true);
        let mut last = None;
        for block in signal.as_chunks().0 {
            listener.push(Kernel::best(), block, None);
            last = listener.pitch(note as usize - LOWEST_NOTE).or(last);
        }
        assert!(last.is_some_and(|last| (last - 0.3).abs() < 0.15), "{note}: {last:?}");
    }
}
