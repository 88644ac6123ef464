//! Test of instances that play at the same time. `alone/realtime.rs` tests calls on the main thread while audio plays.

use std::{iter::repeat, thread::scope};
use tone_filter_hosts::{RATE, played};
use tone_filter_testkit::{
    Draws, Signal,
    plugin::{any_change, instance, music},
};

/// Plays music in short buffers, with random changes. Returns the output.
fn play() -> Signal {
    let (parameters, draws) = (instance().parameters().unwrap(), &mut Draws::seeded(10));
    let input = music(0.5, RATE);
    let frames = (0..input[0].len()).step_by(50);
    let changes: Vec<_> = frames.map(|frame| any_change(draws, &parameters, frame)).collect();
    let output = played(&input, repeat(64), &changes);
    // Dry and wet signal are at most 1 each, and the output gain is at most 12 dB.
    assert!(output.iter().flatten().all(|sample| sample.abs() < 4.0 * 2.0));
    output
}

#[test]
fn instances_on_their_own_threads_do_not_disturb_each_other() {
    let alone = play();
    scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(play)).collect();
        threads.into_iter().for_each(|thread| assert!(thread.join().unwrap() == alone));
    });
}
