//! Test that the plugin's audio thread neither allocates nor makes system calls, for all kinds of input from a CLAP host.
//! `orders` tests this for random orders of calls, and for VST3 that it does not allocate.

use crate::{
    display,
    syscalls::{self, watched, watched_blocks},
};
use std::{
    env,
    iter::repeat,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};
use tone_filter_hosts::{MAX_BLOCK, RATE};
use tone_filter_testkit::{
    Draws,
    clap::{Call, Instance, Midi, Parameter, Processor, random_transport},
    plugin::{any_change, instance, music, settings, settle, states, threads},
    rate,
    signals::noise,
};

/// Plays in buffers of `size` while all parameters change, in place and then with separate buffers. In half of the calls, the
/// latter run has a sidechain.
fn play(
    processor: &mut Processor,
    draws: &mut Draws,
    parameters: &[Parameter],
    size: usize,
    channels: usize,
) {
    let mut signal = music(0.1, RATE);
    signal.truncate(channels);
    let frames = signal[0].len();
    for channel in &mut signal {
        channel[..100].fill(f32::NAN);
        channel[200..300].fill(f32::MAX);
        channel[500..1000].fill(0.0);
    }
    let at = (0..frames / 20).map(|_| draws.below(frames)).collect::<Vec<_>>();
    let mut changes: Vec<_> =
        at.into_iter().map(|frame| any_change(draws, parameters, frame)).collect();
    changes.sort_by_key(|change| change.frame);
    // Ten thousand events per second.
    processor.notes = (0..frames * 10_000 / RATE as usize)
        .map(|_| {
            let status = draws.pick(&[0x80, 0x90, 0x90, 0xA0, 0xB0, 0xC0, 0xE0]);
            let data = match status {
                0xB0 => draws.pick(&[1, 64, 120, 123]),
                _ => draws.below(128) as u8,
            };
            Midi { frame: draws.below(frames), message: [status, data, draws.below(128) as u8] }
        })
        .collect();
    processor.sidechain = draws.chance(0.5).then(|| signal.iter().rev().cloned().collect());
    for in_place in [true, false] {
        processor.run(&mut signal, in_place, &mut repeat(size), &changes).unwrap();
    }
}

/// Plays on an audio thread in buffers of nine sizes, at a random sample rate, while the main thread repeats `meanwhile`.
fn session(
    instance: &mut Instance,
    draws: &mut Draws,
    channels: usize,
    mut meanwhile: impl FnMut(&mut Instance),
) {
    instance.select(channels).unwrap();
    let parameters = instance.parameters().unwrap();
    // Reading the names makes the plugin notify the host of changes.
    instance.note_names().unwrap();
    let mut processor = instance.activate(rate(draws), MAX_BLOCK).unwrap();
    let playing = AtomicBool::new(true);
    thread::scope(|scope| {
        let audio = scope.spawn(|| {
            syscalls::watch();
            processor.reset();
            processor.call = watched;
            let mut noise = noise(1);
            for size in [1, 2, 16, 63, 64, 65, 512, 4096, MAX_BLOCK] {
                let transport = (size % 2 == 0).then(|| random_transport(&mut noise));
                processor.transport = transport;
                play(&mut processor, draws, &parameters, size, channels);
            }
            playing.store(false, Ordering::Relaxed);
        });
        while playing.load(Ordering::Relaxed) && !audio.is_finished() {
            meanwhile(instance);
            instance.idle();
        }
    });
    assert!(instance.take(Call::Tail) > 0, "in a block");
    instance.deactivate(processor);
}

pub fn a_block() {
    for offence in ["malloc", "system call"] {
        let (passed, said) = child(offence);
        assert!(!passed && said.contains(offence), "{offence} goes unnoticed: {said}");
    }
    assert!(child("nothing").0);

    let display = display([1600, 1200]);
    let draws = &mut Draws::seeded(1);
    let states = states();
    let mut instance = instance();
    let parameters = instance.parameters().unwrap();
    session(&mut instance, draws, 1, |_| thread::sleep(Duration::from_millis(1)));

    // A host may read and load everything while the plugin plays. Loading states changes sounds and masks.
    let mut next = states.iter().cycle();
    let mut use_all = |instance: &mut Instance| {
        for parameter in &parameters {
            let value = instance.value(parameter.id).unwrap();
            assert!((parameter.min..=parameter.max).contains(&value));
            let text = instance.value_to_text(parameter.id, value).unwrap();
            assert!(instance.text_to_value(parameter.id, &text).unwrap().is_some());
        }
        settings(instance).validate().unwrap();
        instance.latency().unwrap();
        instance.load(next.next().unwrap()).unwrap();
    };
    session(&mut instance, draws, 2, &mut use_all);
    // The open editor reads the meters.
    let threads = threads();
    instance.open_editor(display.window()).unwrap();
    session(&mut instance, draws, 2, &mut use_all);
    instance.close_editor().unwrap();
    settle(threads);
    instance.load(&states[1]).unwrap();
    assert_eq!(instance.save().unwrap(), states[1]);
    let blocks = watched_blocks();
    assert!(blocks > 3 * 2 * 4800, "{blocks} blocks");
}

/// Environment variable that names the rule for a child process to break.
pub const OFFENCE: &str = "TONE_FILTER_OFFENCE";

/// Breaks the rule `how` within a block, to test the traps.
pub fn offend(how: &str) {
    syscalls::watch();
    watched(&mut || match how {
        "malloc" => drop(std::hint::black_box(vec![1u8; 100])),
        // SAFETY: it only reads the parent's id.
        "system call" => _ = unsafe { libc::getppid() },
        _ => {}
    });
}

/// Runs a child process that breaks the rule `offence`. Returns whether it succeeds, and its error output.
fn child(offence: &str) -> (bool, String) {
    let mut test = Command::new(env::current_exe().unwrap());
    let output = test.env(OFFENCE, offence).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}
