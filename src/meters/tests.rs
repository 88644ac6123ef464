use super::*;
use std::thread;
use tone_filter_dsp::{BankSnapshot, notes::TONES};

/// Returns a snapshot in which the bands' values, the total power and the drive are `number`.
fn snapshot(number: u32) -> Snapshot {
    let value = number as f32;
    let values = [value; TONES];
    let first = BankSnapshot { lo: values, bp: values, power: values, total_power: value };
    Snapshot { second: Some(first.clone()), first, drive: value, ..Snapshot::default() }
}

fn open() -> (MeterInput, Meters, MeterViewer) {
    let (mut input, meters) = meters();
    input.set_sample_rate(48_000.0);
    let viewer = meters.open();
    (input, meters, viewer)
}

#[test]
fn updates_are_sent_at_the_rate_and_no_faster() {
    for frames in [1, 64, 100, 640, 641] {
        let (mut input, _meters, mut viewer) = open();
        let sent = (0..10 * 48_000 / frames)
            .filter(|_| input.advance(frames, || snapshot(0)) && viewer.latest().is_some())
            .count() as f64;
        let blocks = ((48_000.0 / RATE).floor() / frames as f64).ceil();
        let expected = 10.0 * 48_000.0 / (blocks * frames as f64);
        assert!((sent - expected).abs() <= 0.01 * expected, "{frames}: {sent} of {expected}");
    }
}

/// Measures a buffer of `left` and `right` that is passed through unchanged.
fn pass(input: &mut MeterInput, left: &[f32], right: &[f32]) {
    let (mut left, mut right) = (left.to_vec(), right.to_vec());
    input.measure(&mut [&mut left, &mut right], |_| ());
}

#[test]
fn peaks_are_of_the_output_since_the_last_update() {
    let (mut input, _meters, mut viewer) = open();
    pass(&mut input, &[0.125, -0.75], &[0.25, 0.5]);
    pass(&mut input, &[0.5, 0.5], &[-0.5, 0.0]);
    input.advance(1 << 20, Snapshot::default);
    let update = viewer.latest().unwrap();
    assert_eq!((update.peaks, update.sample_rate), ([0.75, 0.5], 48_000.0));
    assert_eq!(update.sound, [const { [0.1875, -0.125, 0.0, 0.25] }; 2], "means of the channels");
    assert_eq!(update.input, [[0.125, -0.75, 0.5, 0.5], [0.25, 0.5, -0.5, 0.0]]);
    assert_eq!(viewer.latest(), None, "once");

    input.measure(&mut [&mut [9.0, 9.0]], |channels| channels[0].copy_from_slice(&[0.0, -0.1]));
    input.advance(1 << 20, Snapshot::default);
    assert_eq!(viewer.latest().unwrap().peaks, [0.1, 0.1], "one channel is both");
}

#[test]
fn the_load_is_relative_to_the_buffer_s_duration() {
    let (mut input, _meters, _viewer) = open();
    for _ in 0..200 {
        // 480 frames are 10 ms.
        input.update_load(0.0025, 480);
    }
    assert!((input.load - 0.25).abs() < 1e-4, "{}", input.load);
}

#[test]
fn unread_updates_are_not_sent_to_the_next_viewer() {
    let (mut input, meters, viewer) = open();
    pass(&mut input, &[1.0; 64], &[1.0; 64]);
    input.advance(1 << 20, || snapshot(1));
    pass(&mut input, &[1.0; 64], &[1.0; 64]);
    drop(viewer);
    pass(&mut input, &[1.0; 64], &[1.0; 64]);
    let mut viewer = meters.open();
    assert_eq!(viewer.latest(), None);
    pass(&mut input, &[0.5; 64], &[0.5; 64]);
    input.advance(1 << 20, || snapshot(2));
    let seen = viewer.latest().unwrap();
    assert_eq!((seen.bands, seen.peaks), (snapshot(2), [0.5; 2]));
    assert_eq!(seen.sound, [const { [0.5; 64] }; 2]);
}

#[test]
fn a_viewer_receives_all_samples_in_order_while_others_open_and_close() {
    let (mut input, meters, mut stays) = open();
    let mut seen = [vec![], vec![]];
    let input = thread::scope(|scope| {
        scope.spawn(|| drop((meters.open(), meters.open())));
        let audio = scope.spawn(move || {
            for first in [1.0, 3.0] {
                let negate = |channels: &mut [&mut [f32]]| {
                    channels[0].iter_mut().for_each(|sample| *sample = -*sample);
                };
                input.measure(&mut [&mut [first, first + 1.0]], negate);
                input.advance(1 << 20, || snapshot(first as u32));
            }
            input
        });
        let early = stays.latest();
        let mut input = audio.join().unwrap();
        // While the window is late, a packet waits for the next update.
        let late = stays.latest();
        input.advance(1 << 20, || snapshot(5));
        let updates: Vec<_> = [early, late, stays.latest()].into_iter().flatten().collect();
        assert!(updates.is_sorted_by(|one, next| one.bands.drive < next.bands.drive));
        for update in updates {
            seen.iter_mut().zip(update.sound).for_each(|(seen, some)| seen.extend(some));
        }
        input
    });
    assert_eq!(seen, [[1.0, 2.0, 3.0, 4.0], [-1.0, -2.0, -3.0, -4.0]]);
    assert!(input.is_watched());
    drop(stays);
    assert!(!input.is_watched());
}

#[test]
fn the_audio_thread_needs_no_lock() {
    let (mut input, meters, _viewer) = open();
    let _held = meters.output.lock().unwrap();
    // If `measure` took the lock, it would wait for ever.
    input.measure(&mut [&mut [1.0, 2.0]], |_| ());
    assert!((1..=2).all(|number| input.advance(1 << 20, || snapshot(number))));
}

#[test]
fn samples_that_do_not_fit_into_a_packet_are_counted() {
    let (mut input, _meters, mut viewer) = open();
    pass(&mut input, &vec![0.0; 3 * CAPACITY], &vec![0.0; 3 * CAPACITY]);
    input.advance(1 << 20, Snapshot::default);
    let update = viewer.latest().unwrap();
    assert_eq!(update.sound.map(|samples| samples.len()), [CAPACITY; 2]);
    assert_eq!(update.lost, 2 * CAPACITY as u64);
}

#[test]
fn a_late_window_loses_no_sound_for_half_a_second() {
    let (mut input, _meters, mut viewer) = open();
    let mut play = |seconds: f64| {
        for _ in 0..(100.0 * seconds) as usize {
            pass(&mut input, &[0.0; 480], &[0.0; 480]);
            input.advance(480, Snapshot::default);
        }
        let mut heard = (0, 0);
        while let Some(update) = viewer.latest() {
            heard = (heard.0 + update.sound[0].len(), heard.1 + update.lost as usize);
        }
        heard
    };
    let (first, lost) = play(0.5);
    assert_eq!(lost, 0);
    let (second, _) = play(1.0);
    let (third, lost) = play(0.1);
    // The samples of 1.6 s are counted, except for those in the packet that is still being recorded.
    let counted = first + second + third + lost;
    assert!(lost > 0 && (76_800 - CAPACITY..=76_800).contains(&counted), "{lost} {counted}");
}
