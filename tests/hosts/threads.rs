//! Tests of concurrent use as CLAP allows it: audio on one thread, everything else on the main thread.

use std::{iter::repeat, thread::scope};
use tone_filter_hosts::RATE;
use tone_filter_testkit::{
    Draws, Signal,
    clap::{Parameter, Processor},
    plugin::{any_change, instance, library, music, settings, states},
};

/// Plays music in short buffers, with random changes. Returns the output.
fn play(processor: &mut Processor, parameters: &[Parameter], seconds: f64) -> Signal {
    let draws = &mut Draws::seeded(10);
    let mut signal = music(seconds, RATE);
    let frames = (0..signal[0].len()).step_by(50);
    let changes: Vec<_> = frames.map(|frame| any_change(draws, parameters, frame)).collect();
    processor.run(&mut signal, true, &mut repeat(64), &changes).unwrap();
    // Dry and wet signal are at most 1 each, and the output gain is at most 12 dB.
    assert!(signal.iter().flatten().all(|sample| sample.abs() < 4.0 * 2.0));
    signal
}

#[test]
fn a_host_may_ask_and_load_while_it_plays() {
    let (mut instance, states) = (instance(), states(&library().0));
    let parameters = instance.parameters().unwrap();
    let mut processor = instance.activate(RATE, 512).unwrap();
    let mut rounds = 0;
    scope(|scope| {
        let audio = scope.spawn(|| play(&mut processor, &parameters, 2.0));
        while !audio.is_finished() || rounds < 10 {
            for parameter in &parameters {
                let value = instance.value(parameter.id).unwrap();
                assert!((parameter.min..=parameter.max).contains(&value));
                let text = instance.value_to_text(parameter.id, value).unwrap();
                assert!(instance.text_to_value(parameter.id, &text).unwrap().is_some());
            }
            assert_eq!(instance.parameters().unwrap(), parameters);
            settings(&mut instance).validate().unwrap();
            instance.load(&states[rounds % states.len()]).unwrap();
            instance.latency().unwrap();
            instance.idle();
            rounds += 1;
        }
    });
    instance.deactivate(processor);
    instance.load(&states[1]).unwrap();
    assert_eq!(instance.save().unwrap(), states[1]);
}

#[test]
fn instances_on_their_own_threads_do_not_disturb_each_other() {
    let play = || {
        let mut instance = instance();
        let parameters = instance.parameters().unwrap();
        let mut processor = instance.activate(RATE, 512).unwrap();
        let signal = play(&mut processor, &parameters, 0.5);
        instance.deactivate(processor);
        signal
    };
    let alone = play();
    scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(play)).collect();
        threads.into_iter().for_each(|thread| assert!(thread.join().unwrap() == alone));
    });
}
