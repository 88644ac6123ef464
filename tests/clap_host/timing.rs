//! Tests of latency and tail.

use crate::{MAX_BLOCK, RATE, every};
use tone_filter_dsp::{Settings, ToneFilter};
use tone_filter_testkit::{
    clap::ProcessStatus,
    plugin::{builds, change, instance, music, new, set, settings},
};

#[test]
fn a_change_of_lookahead_that_is_taken_back_changes_nothing() {
    for (build, library) in builds(&tone_filter::clap_entry) {
        let mut instance = new(&library);
        let mut processor = instance.activate(RATE, MAX_BLOCK).unwrap();
        let back = |on, off| [change(on, "lookahead", 1.0), change(off, "lookahead", 0.0)];
        for (on, off, restart) in [(600, 700, false), (600, 1500, true)] {
            let mut signal = music(0.1, RATE);
            processor.run(&mut signal, true, &mut every(512), &back(on, off)).unwrap();
            instance.idle();
            assert_eq!(instance.wants_restart(), restart, "{build}: {on} to {off}");
            instance.deactivate(processor);
            processor = instance.activate(RATE, MAX_BLOCK).unwrap();
            assert!(!instance.reports_latency(), "{build}: {on} to {off}");
            assert_eq!(instance.latency().unwrap(), 0, "{build}: {on} to {off}");
        }
        instance.deactivate(processor);
    }
}

#[test]
fn the_tail_is_reported_and_long_enough_and_then_the_host_may_sleep() {
    let mut instance = instance();
    set(&mut instance, &Settings { mix: 100.0, ring: 0.5, ..Settings::REFERENCE });
    let actual = settings(&mut instance);
    let mut processor = instance.activate(RATE, MAX_BLOCK).unwrap();
    let mut sound = music(1.0, RATE);
    processor.run(&mut sound, true, &mut every(480), &[]).unwrap();

    let tail = processor.tail().unwrap().unwrap();
    assert_eq!(tail, (ToneFilter::tail(&actual) * RATE).ceil() as u32);
    let peak = |signal: &[f32]| signal.iter().fold(0f32, |peak, sample| peak.max(sample.abs()));
    let mut after = vec![vec![0.0; tail as usize + 4800]; 2];
    processor.run(&mut after, true, &mut every(480), &[]).unwrap();
    let (before, rest) = (peak(&sound[0][43_200..]), peak(&after[0][tail as usize..]));
    assert!(before > 0.05 && rest < before / 1000.0, "{rest} after {before}");

    let mut silent = [vec![0.0; 480], vec![0.0; 480]];
    let [left, right] = &mut silent;
    let status = processor.process(None, &mut [left, right], &[]).unwrap();
    assert_eq!(status, ProcessStatus::ContinueIfNotQuiet);
    left[0] = 0.5;
    let status = processor.process(None, &mut [left, right], &[]).unwrap();
    assert_eq!(status, ProcessStatus::Continue);
    instance.deactivate(processor);
}
