//! An editor that is opened and closed again and again while the plugin plays.

use crate::{
    common::noisy_chord,
    hosting::instance,
    look::is_drawn,
    stage::{BLOCK, RATE, Stop, Window},
};
use std::{
    fs,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread::{scope, sleep},
    time::Duration,
};
use xtask::{display::Display, host::Processor};

/// Times that the editor is opened.
const TIMES: usize = 100;

/// Of which so many fill what is filled once: OpenGL's compiled shaders, the heaps of its threads.
const WARM_UP: usize = 25;

/// MiB by which the process may grow over all the other times. A leaked window's pixels alone are 2.4 MiB
/// each time. Mesa's software renderer keeps some of the code that it compiles for every context: the
/// process grows by up to 0.1 MiB each time, part of it executable memory, which nobody else here makes.
const GROWTH: f64 = 16.0;

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
                // Bit by bit: zeros have signs, too.
                let bits = |signal: [Vec<f32>; 2]| signal.map(|c| c.into_iter().map(f32::to_bits));
                let same =
                    bits(output).into_iter().flatten().eq(bits(expected).into_iter().flatten());
                assert!(same, "block {blocks:?} sounds otherwise with an editor open");
                blocks.fetch_add(1, Ordering::Relaxed);
                // As a sound card would, though faster.
                sleep(Duration::from_millis(2));
            }
        });
        let stop = Stop(&done);
        let mut window = Window::open(played, display);
        let mut before = 0.0;
        for time in 1..=TIMES {
            for size in [[1000, 640], [480 + 7 * time as u32, 300 + 5 * time as u32], [1000, 640]] {
                window.resize(size);
            }
            let (_, complaint) = window.wait(is_drawn);
            assert_eq!(complaint, None, "opened {time} times");
            window.close();
            if time == WARM_UP {
                before = resident();
            }
            if time < TIMES {
                assert!(!player.is_finished(), "the player has ended early");
                window.reopen();
            }
        }
        let grown = resident() - before;
        drop(stop);
        player.join().unwrap();
        (window.instance, grown)
    });
    println!("{grown:.1} MiB more after {} times; {blocks:?} blocks", TIMES - WARM_UP);
    assert!(grown < GROWTH, "{grown:.1} MiB more after {} times", TIMES - WARM_UP);
    let seconds = blocks.into_inner() as f64 * BLOCK as f64 / RATE;
    assert!(seconds > 10.0, "only {seconds} s were played meanwhile");
    let mut played = played;
    played.deactivate(watched);
    alone.deactivate(twin);
}

/// What the plugin makes of `block` on both channels.
fn process(processor: &mut Processor, block: &[f32]) -> [Vec<f32>; 2] {
    let mut output = [block.to_vec(), block.to_vec()];
    let mut channels = output.each_mut().map(Vec::as_mut_slice);
    processor.process(None, &mut channels, &[]).unwrap();
    output
}

unsafe extern "C" {
    /// Of the C library: gives memory that is free back to the system, from all heaps.
    fn malloc_trim(pad: usize) -> i32;
}

/// MiB of this process in memory that are in use.
fn resident() -> f64 {
    // A heap keeps what was freed, and there is one for every few threads: that is no leak.
    // SAFETY: it takes any number, and may be called at any time from any thread.
    unsafe { malloc_trim(0) };
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    kib / 1024.0
}
