//! Tests of the shell around the filter, without a host.

use super::{notes::TestQueue, *};
use tone_filter_dsp::Settings;

fn active(params: &ToneFilterParams, sample_rate: f32) -> Option<Active> {
    active_with(params, Some(Arc::default()), sample_rate)
}

fn active_with(
    params: &ToneFilterParams,
    latency: Option<Arc<Latency>>,
    sample_rate: f32,
) -> Option<Active> {
    let config = BufferConfig {
        sample_rate,
        min_buffer_size: None,
        max_buffer_size: 512,
        process_mode: ProcessMode::Realtime,
    };
    Active::new(params, latency, &config, Notes::new())
}

fn process(active: &mut Active, channels: &mut [Vec<f32>]) -> ProcessStatus {
    process_watched(active, channels, &mut meters().0)
}

fn process_watched(
    active: &mut Active,
    channels: &mut [Vec<f32>],
    meters: &mut MeterInput,
) -> ProcessStatus {
    let mut buffer = Buffer::default();
    let frames = channels[0].len();
    // SAFETY: all channels are `frames` long and outlive the buffer.
    unsafe {
        buffer.set_slices(frames, |slices| {
            *slices = channels.iter_mut().map(Vec::as_mut_slice).collect();
        });
    }
    active.process(&mut buffer, &[], meters, &mut TestQueue::default())
}

fn set(params: &ToneFilterParams, id: &str, normalized: f32) {
    let (_, param, _) = params.param_map().into_iter().find(|(own, ..)| own == id).unwrap();
    // SAFETY: `params` owns the parameter and is still borrowed.
    unsafe { param._internal_set_normalized_value(normalized) };
}

/// Returns a sine of another frequency in each channel.
fn music(frames: usize) -> [Vec<f32>; 2] {
    [220.0, 330.0].map(|hertz| {
        (0..frames).map(|frame| 0.3 * (0.000_1 * hertz * frame as f32).sin()).collect()
    })
}

#[test]
fn it_runs_at_every_valid_sample_rate() {
    let params = ToneFilterParams::default();
    for rate in [1234.5678, 8_000.0, 44_100.0, 768_000.0] {
        let mut active = active(&params, rate).unwrap();
        let mut channels = music(512);
        process(&mut active, &mut channels);
        assert!(channels.iter().flatten().all(|sample| sample.is_finite()), "{rate}");
    }
    for rate in [0.0, -44_100.0, 999.0, f32::NAN, f32::INFINITY] {
        assert!(active(&params, rate).is_none(), "{rate}");
    }
}

#[test]
fn it_sounds_like_the_filter_and_follows_its_parameters() {
    let params = ToneFilterParams::default();
    let mut active = active(&params, 48_000.0).unwrap();
    let mut filter = ToneFilter::new(48_000.0, &Settings::default()).unwrap();
    for block in 0..100 {
        if block == 50 {
            set(&params, "drive", 0.9);
            set(&params, "mix", 1.0);
            set(&params, "stereo", 1.0);
            active.follow(&params);
            filter.set_settings(&params.settings()).unwrap();
            assert_ne!(*filter.settings(), Settings::default());
        }
        let (mut own, mut expected) = (music(500), music(500));
        process(&mut active, &mut own);
        let [left, right] = &mut expected;
        filter.process(&mut [left, right]);
        assert_eq!(own, expected, "block {block}");
    }
}

#[test]
fn nothing_a_host_sets_stops_it() {
    let params = ToneFilterParams::default();
    let mut active = active(&params, 48_000.0).unwrap();
    let ids: Vec<_> = params.param_map().into_iter().map(|(id, ..)| id).collect();
    for normalized in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, 2.0] {
        for id in &ids {
            set(&params, id, normalized);
            active.follow(&params);
            // `lookahead` waits for the next activation.
            let expected = Settings { lookahead: false, ..params.settings() };
            assert_eq!(*active.filter.settings(), expected, "{id} = {normalized}");
            let mut channels = music(512);
            process(&mut active, &mut channels);
            assert!(channels.iter().flatten().all(|sample| sample.is_finite()));
        }
    }
}

#[test]
fn the_tail_is_reported_until_it_has_ended() {
    let params = ToneFilterParams::default();
    set(&params, "lookahead", 1.0);
    let mut active = active(&params, 48_000.0).unwrap();
    let tail = (48_000.0 * ToneFilter::tail(&Settings::default())).ceil() as u32 + 2229;
    assert_eq!(process(&mut active, &mut music(512)), ProcessStatus::Tail(tail));
    let silence = || [vec![0.0; 512], vec![0.0; 512]];
    let statuses = (0..tail / 512).map(|_| process(&mut active, &mut silence()));
    assert!(statuses.into_iter().all(|status| status == ProcessStatus::Tail(tail)));
    assert_eq!(process(&mut active, &mut silence()), ProcessStatus::Normal);
    assert_eq!(process(&mut active, &mut music(512)), ProcessStatus::Tail(tail));
}

#[test]
fn an_impulse_is_delayed_by_the_reported_latency_bypassed_or_not() {
    for (rate, latency) in [(44_100.0, 2048), (96_000.0, 4458)] {
        for (lookahead, bypass) in [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)] {
            let params = ToneFilterParams::default();
            set(&params, "mix", 0.0);
            set(&params, "lookahead", lookahead);
            set(&params, "bypass", bypass);
            let mut active = active(&params, rate).unwrap();
            let latency = if lookahead == 1.0 { latency } else { 0 };
            assert_eq!(active.filter.latency(), latency);
            let mut input = vec![0.0; 5120];
            input[37] = 0.5;
            let mut channels = [input.clone(), input];
            for start in (0..5120).step_by(512) {
                let mut block =
                    channels.each_ref().map(|channel| channel[start..start + 512].to_vec());
                process(&mut active, &mut block);
                for (channel, block) in channels.iter_mut().zip(block) {
                    channel[start..start + 512].copy_from_slice(&block);
                }
            }
            let mut expected = vec![0.0; 5120];
            expected[37 + latency] = 0.5;
            assert_eq!(channels, [expected.clone(), expected], "{rate} Hz");
        }
    }
}

#[test]
fn lookahead_waits_for_a_host_that_compensates_it_and_for_no_other() {
    for (latency, delayed) in [(Some(Arc::default()), 0), (None, 2229)] {
        let params = ToneFilterParams::default();
        let mut active = active_with(&params, latency, 48_000.0).unwrap();
        assert_eq!(active.filter.latency(), 0);
        set(&params, "lookahead", 1.0);
        active.follow(&params);
        assert_eq!(active.filter.latency(), delayed);
    }
}

#[test]
fn a_block_longer_than_announced_is_neither_changed_nor_read() {
    let params = ToneFilterParams::default();
    let mut active = active(&params, 48_000.0).unwrap();
    let mut channels = music(513);
    let (mut input, meters) = meters();
    let mut viewer = meters.open();
    let status = process_watched(&mut active, &mut channels, &mut input);
    assert!(matches!(status, ProcessStatus::Error(_)));
    assert_eq!(channels, music(513));
    assert!(input.advance(1, || active.filter.snapshot()));
    let received = viewer.latest().map(|update| update.sound);
    let nothing = [const { Vec::new() }; 2];
    assert_eq!(received, Some(nothing), "an open editor must not read them either");
}
