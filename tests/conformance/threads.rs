//! Tests of concurrent use as CLAP allows it: audio on one thread, everything else on the main thread.

use tone_filter_testkit::{
    Draws,
    clap::{Parameter, Processor},
    plugin::{any_change, builds, music, new, settings, states},
};

const RATE: f64 = 48_000.0;

/// Plays two seconds of music in short buffers, with random changes.
fn play(processor: &mut Processor, parameters: &[Parameter]) {
    let draws = &mut Draws::seeded(10);
    let mut signal = music(2.0, RATE);
    let frames = (0..signal[0].len()).step_by(50);
    let changes: Vec<_> = frames.map(|frame| any_change(draws, parameters, frame)).collect();
    processor.run(&mut signal, true, &mut std::iter::repeat(64), &changes).unwrap();
    // The output's bound is 2, and the output gain adds at most 12 dB.
    assert!(signal.iter().flatten().all(|sample| sample.abs() < 4.0 * 2.0));
}

#[test]
fn everything_may_be_asked_and_loaded_while_it_plays() {
    for (build, library) in builds(&tone_filter::clap_entry) {
        let mut instance = new(&library);
        let states = states(&library);
        let parameters = instance.parameters().unwrap();
        let mut processor = instance.activate(RATE, 512).unwrap();
        let mut rounds = 0;
        std::thread::scope(|scope| {
            let audio = scope.spawn(|| play(&mut processor, &parameters));
            while !audio.is_finished() || rounds < 10 {
                for parameter in &parameters {
                    let value = instance.value(parameter.id).unwrap();
                    assert!((parameter.min..=parameter.max).contains(&value), "{build}");
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
        assert_eq!(instance.save().unwrap(), states[1], "{build}");
    }
}

#[test]
fn instances_on_threads_of_their_own_do_not_disturb_each_other() {
    for (build, library) in builds(&tone_filter::clap_entry) {
        let play = || {
            let mut instance = new(&library);
            let parameters = instance.parameters().unwrap();
            let mut processor = instance.activate(RATE, 512).unwrap();
            let mut signal = music(0.5, RATE);
            let draws = &mut Draws::seeded(11);
            let frames = (0..signal[0].len()).step_by(500);
            let changes: Vec<_> =
                frames.map(|frame| any_change(draws, &parameters, frame)).collect();
            processor.run(&mut signal, true, &mut std::iter::repeat(99), &changes).unwrap();
            instance.deactivate(processor);
            signal
        };
        let alone = play();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(play)).collect();
            for thread in threads {
                assert!(thread.join().unwrap() == alone, "{build}");
            }
        });
    }
}
