//! Tests of latency and tail.

use std::iter::repeat;
use tone_filter_dsp::{Settings, ToneFilter};
use tone_filter_hosts::{MAX_BLOCK, RATE};
use tone_filter_testkit::{
    clap::{Call, ProcessStatus},
    plugin::{change, instance, music, set, settings},
};

#[test]
fn lookahead_on_and_off_again_changes_nothing() {
    let mut instance = instance();
    let mut processor = instance.activate(RATE, MAX_BLOCK).unwrap();
    let back = |on, off| [change(on, "lookahead", 1.0), change(off, "lookahead", 0.0)];
    for (on, off, restarts) in [(600, 700, 0), (600, 1500, 1)] {
        let mut signal = music(0.1, RATE);
        processor.run(&mut signal, true, &mut repeat(512), &back(on, off)).unwrap();
        instance.idle();
        assert_eq!(instance.take(Call::Restart), restarts, "{on} to {off}");
        instance.deactivate(processor);
        processor = instance.activate(RATE, MAX_BLOCK).unwrap();
        assert_eq!(instance.take(Call::Latency), 0, "{on} to {off}");
        assert_eq!(instance.latency().unwrap(), 0, "{on} to {off}");
    }
    instance.deactivate(processor);
}

#[test]
fn the_tail_is_long_enough_then_the_host_sleeps() {
    let mut instance = instance();
    set(&mut instance, &Settings { mix: 100.0, ring: 0.5, ..Settings::REFERENCE });
    let actual = settings(&mut instance);
    let mut processor = instance.activate(RATE, MAX_BLOCK).unwrap();
    let mut sound = music(1.0, RATE);
    processor.run(&mut sound, true, &mut repeat(480), &[]).unwrap();

    let tail = processor.tail().unwrap().unwrap();
    assert_eq!(tail, (ToneFilter::tail(&actual) * RATE).ceil() as u32);
    let peak = |signal: &[f32]| signal.iter().fold(0f32, |peak, sample| peak.max(sample.abs()));
    let mut after = vec![vec![0.0; tail as usize + 4800]; 2];
    processor.run(&mut after, true, &mut repeat(480), &[]).unwrap();
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
