//! Tests of the shell around the filter, without a host. `tests/alone/orders` compares its sound with the filter's.

use super::{notes::TestHost, *};
use tone_filter_dsp::{Score, Settings};
use tone_filter_testkit::signals::sine;

fn active(params: &ToneFilterParams, latency: Option<Arc<Latency>>) -> Active {
    let config = BufferConfig {
        sample_rate: 48_000.0,
        min_buffer_size: None,
        max_buffer_size: 512,
        process_mode: ProcessMode::Realtime,
    };
    Active::new(params, latency, &config, Notes::new()).unwrap()
}

/// Processes a buffer. Returns the status, and the events for the host.
fn process(
    active: &mut Active,
    channels: &mut [Vec<f32>],
    meters: &mut MeterInput,
) -> (ProcessStatus, Vec<NoteEvent<()>>) {
    let mut buffer = Buffer::default();
    let frames = channels[0].len();
    // SAFETY: all channels are `frames` long and outlive the buffer.
    unsafe {
        buffer.set_slices(frames, |slices| {
            *slices = channels.iter_mut().map(Vec::as_mut_slice).collect();
        });
    }
    let mut host = TestHost::default();
    (active.process(&mut buffer, &[], meters, &mut host, |_| ()), host.sent)
}

fn set(params: &ToneFilterParams, id: &str, normalized: f32) {
    // SAFETY: `params` owns the parameter and is still borrowed.
    unsafe { params.control(id).unwrap().as_ptr()._internal_set_normalized_value(normalized) };
}

#[test]
fn lookahead_waits_only_for_a_host_that_compensates_it() {
    for (latency, delayed) in [(Some(Arc::default()), 0), (None, 2229)] {
        let params = ToneFilterParams::default();
        let mut active = active(&params, latency);
        assert_eq!(active.filter.latency(), 0);
        set(&params, "lookahead", 1.0);
        active.follow(&params);
        assert_eq!(active.filter.latency(), delayed);
    }
}

#[test]
fn a_block_longer_than_announced_is_neither_changed_nor_read() {
    let params = ToneFilterParams::default();
    let [mut active, mut standalone] = [Some(Arc::default()), None].map(|it| active(&params, it));
    let mut channels = [220.0, 330.0].map(|hertz| sine(hertz, 0.3, 1.0, 513.0));
    let before = channels.clone();
    let (mut input, meters) = meters();
    let mut viewer = meters.open();
    let (status, _) = process(&mut active, &mut channels, &mut input);
    assert!(matches!(status, ProcessStatus::Error(_)));
    assert_eq!(channels, before);
    assert!(input.advance(1, || active.filter.snapshot()));
    let received = viewer.latest().map(|update| update.sound);
    let nothing = [const { Vec::new() }; 2];
    assert_eq!(received, Some(nothing), "an open editor must not read them either");
    let (status, _) = process(&mut standalone, &mut channels, &mut input);
    assert!(!matches!(status, ProcessStatus::Error(_)), "JACK's blocks may have any length");
}

#[test]
fn detected_notes_are_sent_once_they_are_switched_on() {
    let params = ToneFilterParams::default();
    let mut active = active(&params, None);
    let play = |active: &mut Active| {
        let sound = sine(440.0, 0.3, 1.0, 48_000.0);
        let sent = sound.chunks(480).flat_map(|block| {
            process(active, &mut [block.to_vec(), block.to_vec()], &mut meters().0).1
        });
        sent.collect::<Vec<_>>()
    };
    assert_eq!(play(&mut active), []);
    set(&params, "midi-out", 1.0);
    active.follow(&params);
    let sent = play(&mut active);
    let begins = |event: &NoteEvent<()>| {
        matches!(event, NoteEvent::NoteOn { key: nice_plug::midi::Key::Number(69), .. })
    };
    assert!(sent.iter().any(begins), "{sent:?}");
}

#[test]
fn a_score_decides_while_the_host_plays() {
    let params = ToneFilterParams::default();
    let mut output = params.score.take_output().unwrap();
    assert!(params.score.take_output().is_none(), "once");
    let mut filter = ToneFilter::new(48_000.0, &Settings::default()).unwrap();
    let mut expected = ToneFilter::new(48_000.0, &Settings::default()).unwrap();
    let score: Score = "tone-filter-score 1\n0.0 0.5 69\n0.4 2.0 76\n".parse().unwrap();
    // The transport stops once, and jumps.
    let positions = [None, Some(0.0), None, Some(1.0), Some(1.5), Some(2.0)];
    for (step, seconds) in positions.into_iter().enumerate() {
        match step {
            1 => params.score.set(Some(("Song".to_owned(), score.clone()))),
            5 => params.score.set(None),
            _ => {}
        }
        let decides = seconds.filter(|_| step < 5);
        follow_score(&mut output, &mut filter, seconds);
        let changed = decides.is_some() != expected.score().is_some();
        if changed {
            expected.set_score(decides.map(|_| Arc::new(score.clone())));
        }
        decides.iter().for_each(|seconds| expected.seek(*seconds));
        let mut sounds = [(); 2].map(|()| sine(440.0, 0.3, 0.2, 48_000.0));
        let [own, other] = &mut sounds;
        filter.process(&mut [own]);
        expected.process(&mut [other]);
        assert_eq!(own, other, "{step}");
        assert_eq!(filter.score().is_some(), decides.is_some(), "{step}");
    }
}
