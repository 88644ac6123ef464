//! Test that opens and closes the editor repeatedly while the plugin plays.

use super::{
    look::is_drawn,
    stage::{BLOCK, RATE, Stop, Window},
};
use crate::memory::Memory;
use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread::{scope, sleep},
    time::Duration,
};
use tone_filter_testkit::{
    clap::Processor, display::Display, plugin::instance, signals::noisy_chord,
};

const TIMES: usize = 60;

/// Number of openings before the measurement. They allocate memory that stays: OpenGL's compiled shaders, the heaps of its
/// threads.
const WARM_UP: usize = 25;

/// Maximum growth of the heap per opening, in bytes. A leaked keymap would be 70 KiB, a font atlas 512 KiB.
const LEAK: f64 = 8.0 * 1024.0;

pub fn opening_and_closing_leaks_nothing_and_is_not_heard(display: &Display) {
    let (mut played, mut alone) = (instance(), instance());
    let mut watched = played.activate(RATE, BLOCK).unwrap();
    let mut twin = alone.activate(RATE, BLOCK).unwrap();
    let (done, blocks) = (AtomicBool::new(false), AtomicUsize::new(0));

    let (played, grown) = scope(|scope| {
        let player = scope.spawn(|| {
            let signal = noisy_chord(10.0, RATE);
            for block in signal.chunks_exact(BLOCK).cycle() {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                let [output, expected] = [&mut watched, &mut twin].map(|p| process(p, block));
                // Compared as bits, to distinguish 0 and -0.
                let bits = |signal: [Vec<f32>; 2]| signal.map(|c| c.into_iter().map(f32::to_bits));
                let same =
                    bits(output).into_iter().flatten().eq(bits(expected).into_iter().flatten());
                assert!(same, "block {blocks:?} sounds otherwise with an editor open");
                blocks.fetch_add(1, Ordering::Relaxed);
                // Regular intervals between buffers, as with a sound card, but shorter.
                sleep(Duration::from_millis(2));
            }
        });
        let stop = Stop(&done);
        let mut window = Window::open(played, display);
        let mut before = 0;
        for time in 1..=TIMES {
            for size in [[1000, 640], [480 + 7 * time as u32, 300 + 5 * time as u32], [1000, 640]] {
                window.resize(size);
            }
            let (_, complaint) = window.wait(is_drawn);
            assert_eq!(complaint, None, "opened {time} times");
            window.close();
            if time == WARM_UP {
                before = Memory::now().heap;
            }
            if time < TIMES {
                assert!(!player.is_finished(), "the player has ended early");
                window.reopen();
            }
        }
        let grown = Memory::now().heap as f64 - before as f64;
        drop(stop);
        player.join().unwrap();
        (window.instance, grown)
    });
    let leak = grown / (TIMES - WARM_UP) as f64;
    println!("{:.1} KiB an editor not freed; {blocks:?} blocks", leak / 1024.0);
    assert!(leak <= LEAK, "{:.1} KiB an editor not freed", leak / 1024.0);
    let seconds = blocks.into_inner() as f64 * BLOCK as f64 / RATE;
    assert!(seconds > 10.0, "only {seconds} s were played meanwhile");
    let mut played = played;
    played.deactivate(watched);
    alone.deactivate(twin);
}

/// Plays `block` on both channels. Returns the output.
fn process(processor: &mut Processor, block: &[f32]) -> [Vec<f32>; 2] {
    let mut output = [block.to_vec(), block.to_vec()];
    let mut channels = output.each_mut().map(Vec::as_mut_slice);
    processor.process(None, &mut channels, &[]).unwrap();
    output
}
