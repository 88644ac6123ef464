//! The meters in every order in which the threads can meet, as far as they are ours: the count of viewers and
//! the lock between them. The rings are their crate's; here each of their steps is one.

use super::*;
use loom::{model, thread};

/// A block that is long enough for a picture to be due.
const LONG: usize = 1 << 20;

fn picture(number: usize) -> Snapshot {
    Snapshot { drive: number as f32, ..Snapshot::default() }
}

/// Sends pictures 1 and 2; how many of them were.
fn send_two(input: &mut MeterInput) -> usize {
    (1..=2).filter(|&number| input.advance(LONG, || picture(number))).count()
}

#[test]
fn who_stays_is_sent_everything_whoever_comes_and_goes() {
    model(|| {
        let (mut input, meters) = meters();
        let mut stays = meters.open();
        let others = thread::spawn(move || drop((meters.open(), meters.open())));
        let audio = thread::spawn(move || {
            assert_eq!(send_two(&mut input), 2);
            input
        });
        let mut seen = vec![0.0];
        seen.extend(stays.latest().map(|picture| picture.bands.drive));
        let input = audio.join().unwrap();
        seen.extend(stays.latest().map(|picture| picture.bands.drive));
        assert!(seen.is_sorted_by(|one, next| one < next) && seen.ends_with(&[2.0]), "{seen:?}");
        others.join().unwrap();
        assert!(input.is_watched());
        drop(stays);
        assert!(!input.is_watched());
    });
}

#[test]
fn when_all_have_gone_nothing_is_sent() {
    model(|| {
        let (mut input, meters) = meters();
        let window = {
            let meters = meters.clone();
            thread::spawn(move || drop(meters.open()))
        };
        let audio = thread::spawn(move || {
            send_two(&mut input);
            input
        });
        let seen = meters.open().latest();
        assert!(seen.is_none_or(|picture| picture.bands.drive >= 1.0));
        window.join().unwrap();
        let mut input = audio.join().unwrap();
        assert!(!input.advance(LONG, || unreachable!("nobody looks")));
    });
}

#[test]
fn samples_come_in_order_and_once() {
    model(|| {
        let (mut input, meters) = meters();
        let mut viewer = meters.open();
        let audio = thread::spawn(move || {
            for first in [1.0, 3.0] {
                let negate = |channels: &mut [&mut [f32]]| {
                    channels[0].iter_mut().for_each(|sample| *sample = -*sample);
                };
                input.measure(&mut [&mut [first, first + 1.0]], negate);
                input.advance(LONG, || picture(1));
            }
        });
        let mut sound = || viewer.latest().map(|picture| picture.sound).unwrap_or_default();
        let mut seen = sound();
        audio.join().unwrap();
        for (seen, rest) in seen.iter_mut().zip(sound()) {
            seen.extend(rest);
        }
        assert_eq!(seen, [[1.0, 2.0, 3.0, 4.0], [-1.0, -2.0, -3.0, -4.0]]);
    });
}

#[test]
fn the_audio_thread_needs_no_lock() {
    model(|| {
        let (mut input, meters) = meters();
        let _viewer = meters.open();
        let held = meters.output.lock().unwrap();
        // It would wait for ever, and loom would say so.
        let audio = thread::spawn(move || {
            input.measure(&mut [&mut [1.0, 2.0]], |_| ());
            send_two(&mut input)
        });
        assert_eq!(audio.join().unwrap(), 2);
        drop(held);
    });
}
