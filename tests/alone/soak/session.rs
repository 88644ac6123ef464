//! Long host session, faster than real time: many instances, automation, editors and saved states.

use crate::memory::Memory;
use libloading::Library;
use std::{fs, iter::repeat, mem, thread::sleep, time::Duration};
use tone_filter_hosts::RATE;
use tone_filter_testkit::{
    Draws,
    clap::{Instance, Processor},
    display::Display,
    plugin::{any_change, instance, settle, threads},
};

const BLOCK: usize = 256;

const INSTANCES: usize = 50;

/// Interval between openings of an editor, in simulated seconds.
const EDITOR_EVERY: usize = 20;

/// Plays a session of this many simulated seconds. Returns the relative growth of resident memory after the first quarter.
///
/// In each simulated second, every instance plays one buffer, and one instance loads the state of another.
pub fn session(display: &Display, seconds: usize) -> f64 {
    let draws = &mut Draws::seeded(50);
    let mut instances: Vec<_> = (0..INSTANCES)
        .map(|_| {
            let mut instance = instance();
            let processor = instance.activate(RATE, BLOCK).unwrap();
            (instance, processor)
        })
        .collect();
    let parameters = instances[0].0.parameters().unwrap();
    let (mut quarter, mut editors) = (Memory::default(), 0);
    for second in 0..seconds {
        for (_, processor) in &mut instances {
            let at = (0..4).map(|index| index * BLOCK / 4);
            let changes: Vec<_> = at.map(|frame| any_change(draws, &parameters, frame)).collect();
            let noise = |draws: &mut Draws| draws.between(-1.0, 1.0) as f32;
            let mut signal = [0; 2].map(|_| (0..BLOCK).map(|_| noise(draws)).collect::<Vec<_>>());
            let in_place = draws.chance(0.5);
            processor.run(&mut signal, in_place, &mut repeat(BLOCK), &changes).unwrap();
            // The output gain is at most 12 dB; the dry signal and the resonators are at most 1 each.
            let loudest = signal.iter().flatten().fold(0f32, |peak, sample| peak.max(sample.abs()));
            assert!(loudest <= 2.0 * 3.99, "{loudest} is out of bounds");
        }
        let [from, to] = [0; 2].map(|_| draws.below(INSTANCES));
        let saved = instances[from].0.save().unwrap();
        instances[to].0.load(&saved).unwrap();
        assert_eq!(instances[to].0.save().unwrap(), saved, "a state was not restored exactly");
        if second % EDITOR_EVERY == 0 {
            // In turn, as an instance keeps some MiB from its first editor on.
            visit(display, &mut instances[editors % INSTANCES], editors == 0);
            editors += 1;
        }
        if second == seconds / 4 {
            quarter = Memory::now();
        }
    }
    let end = Memory::now();
    for (mut instance, processor) in instances {
        instance.deactivate(processor);
    }
    let [before, after] = [quarter, end].map(|memory| memory.resident as f64);
    let growth = (after - before) / before;
    println!(
        "session: {seconds} s of {INSTANCES} instances, {editors} editors opened, {seconds} states restored exactly; \
         memory {:.1} MiB at the end ({:+.2} % after a quarter)",
        after / f64::from(1 << 20),
        100.0 * growth
    );
    growth
}

fn visit(display: &Display, (instance, processor): &mut (Instance, Processor), is_first: bool) {
    let before = threads();
    instance.open_editor(display.window()).unwrap();
    for _ in 0..20 {
        let mut signal = vec![vec![0.1; BLOCK]; 2];
        processor.run(&mut signal, true, &mut repeat(BLOCK), &[]).unwrap();
        instance.idle();
        sleep(Duration::from_millis(5));
    }
    if is_first {
        keep_driver();
    }
    instance.close_editor().unwrap();
    settle(before);
}

/// Keeps Mesa's driver in memory.
///
/// Otherwise each closed window unloads the driver, and Mesa 22.3 leaks small allocations and 10 MiB of executable memory. One
/// or two pages of the latter are resident. An empty window of a C program leaks the same.
fn keep_driver() {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let mut files = maps.lines().filter_map(|line| Some(&line[line.find('/')?..]));
    if let Some(driver) = files.find(|file| file.ends_with("_dri.so")) {
        // SAFETY: the driver is loaded already, so this runs none of its code.
        mem::forget(unsafe { Library::new(driver) }.unwrap());
    }
}
