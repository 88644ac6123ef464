//! Model checking of the meters: loom runs all interleavings of the threads' accesses to the count of viewers and to the lock
//! between viewers. The queues belong to another crate; each of their operations is one step here.

use super::{MeterInput, meters};
use loom::{model, thread};
use tone_filter_dsp::Snapshot;

/// Length in frames of a buffer after which an update is due.
const LONG: usize = 1 << 20;

fn snapshot(number: usize) -> Snapshot {
    Snapshot { drive: number as f32, ..Snapshot::default() }
}

/// Sends updates 1 and 2. Returns the number of updates sent.
fn send_two(input: &mut MeterInput) -> usize {
    (1..=2).filter(|&number| input.advance(LONG, || snapshot(number))).count()
}

#[test]
fn a_viewer_receives_all_updates_while_others_open_and_close() {
    model(|| {
        let (mut input, meters) = meters();
        let mut stays = meters.open();
        let others = thread::spawn(move || drop((meters.open(), meters.open())));
        let audio = thread::spawn(move || {
            assert_eq!(send_two(&mut input), 2);
            input
        });
        let mut seen = vec![0.0];
        seen.extend(stays.latest().map(|update| update.bands.drive));
        let input = audio.join().unwrap();
        seen.extend(stays.latest().map(|update| update.bands.drive));
        assert!(seen.is_sorted_by(|one, next| one < next) && seen.ends_with(&[2.0]), "{seen:?}");
        others.join().unwrap();
        assert!(input.is_watched());
        drop(stays);
        assert!(!input.is_watched());
    });
}

#[test]
fn nothing_is_sent_after_all_viewers_have_closed() {
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
        assert!(seen.is_none_or(|update| update.bands.drive >= 1.0));
        window.join().unwrap();
        let mut input = audio.join().unwrap();
        assert!(!input.advance(LONG, || unreachable!("no viewer is open")));
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
                input.advance(LONG, || snapshot(1));
            }
        });
        let mut sound = || viewer.latest().map(|update| update.sound).unwrap_or_default();
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
        // If the audio thread took the lock, it would wait for ever, and loom would report it.
        let audio = thread::spawn(move || {
            input.measure(&mut [&mut [1.0, 2.0]], |_| ());
            send_two(&mut input)
        });
        assert_eq!(audio.join().unwrap(), 2);
        drop(held);
    });
}
