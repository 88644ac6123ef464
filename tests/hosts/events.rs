//! Tests of a buffer's parameter events, with times inside and outside of the buffer.

use std::iter::repeat;
use tone_filter_dsp::{Controls, Settings};
use tone_filter_hosts::{RATE, played};
use tone_filter_testkit::{
    clap::Change,
    plugin::{Signal, assert_same, change, expected, instance, music, settings},
};

const BLOCK: usize = 512;
/// Number of samples before and after each buffer, where the plugin must not write.
const MARGIN: usize = 2048;
const CANARY: f32 = 12_345.0;

/// Returns the plugin's output for `input`, with `changes` in every buffer.
///
/// Each buffer is surrounded by canaries, which must stay unchanged. So must the input, unless processing is in place.
fn played_with(input: &Signal, in_place: bool, changes: &[Change]) -> Signal {
    let mut instance = instance();
    let mut processor = instance.activate(RATE, BLOCK).unwrap();
    let mut output = vec![Vec::new(); input.len()];
    let inside = MARGIN..MARGIN + BLOCK;
    let framed = |content: &[f32]| {
        let margin = [CANARY; MARGIN];
        [&margin, content, &margin].concat()
    };
    for start in (0..input[0].len()).step_by(BLOCK) {
        let block = |channel: &Vec<f32>| framed(&channel[start..start + BLOCK]);
        let mut from: Vec<_> = input.iter().map(block).collect();
        let mut to = match in_place {
            true => from.clone(),
            false => vec![framed(&[f32::NAN; BLOCK]); input.len()],
        };
        let mut inputs: Vec<_> = from.iter_mut().map(|c| &mut c[inside.clone()]).collect();
        let mut outputs: Vec<_> = to.iter_mut().map(|c| &mut c[inside.clone()]).collect();
        let inputs = (!in_place).then_some(&mut inputs[..]);
        processor.process(inputs, &mut outputs, changes).unwrap();
        assert!(from.iter().eq(&input.iter().map(block).collect::<Vec<_>>()), "the input changed");
        for (buffer, all) in to.iter().zip(&mut output) {
            let margins = buffer[..inside.start].iter().chain(&buffer[inside.end..]);
            assert!(margins.into_iter().all(|sample| *sample == CANARY), "out of bounds");
            all.extend(&buffer[inside.clone()]);
        }
    }
    output
}

fn input(frames: usize) -> Signal {
    music(0.2, RATE).iter().map(|channel| channel[..frames].to_vec()).collect()
}

/// Makes the lists of `changes` one after another, without audio. Returns the plugin's controls after each list.
fn after(changes: impl IntoIterator<Item = Vec<Change>>) -> Vec<Controls> {
    let mut instance = instance();
    let set = |changes: Vec<Change>| {
        let now: Vec<_> = changes.into_iter().map(|change| Change { frame: 0, ..change }).collect();
        instance.set(&now).unwrap();
        settings(&mut instance).into()
    };
    changes.into_iter().map(set).collect()
}

#[test]
fn an_event_after_the_block_is_clamped() {
    let input = input(16 * BLOCK);
    for frame in [BLOCK, BLOCK + 1, BLOCK + MARGIN / 2, 100_000, u32::MAX as usize] {
        let changes = vec![change(frame, "mix", 1.0), change(frame, "drive", 0.9)];
        let then = [(BLOCK - 1, after([changes.clone()])[0])];
        let expected = expected(&Settings::default(), RATE, &input, &then);
        for in_place in [true, false] {
            let output = played_with(&input, in_place, &changes);
            assert_same(&output, &expected, &format!("at {frame}, {in_place}"));
        }
    }
}

#[test]
fn unsorted_events_do_no_harm() {
    let input = input(16 * BLOCK);
    let frames = [400, 3, 9999, 511, 0, 512, 700, 1, u32::MAX as usize, 2, 513];
    let changes = (0..).zip(frames).map(|(at, frame)| change(frame, "drive", f64::from(at) / 10.0));
    let changes: Vec<_> = changes.collect();
    for in_place in [true, false] {
        let output = played_with(&input, in_place, &changes);
        assert!(output.iter().flatten().all(|sample| sample.abs() < 2.0));
    }
}

#[test]
fn each_of_ten_thousand_changes_in_a_block_sounds() {
    let input = input(2 * BLOCK);
    // More events than fit into nice-plug's list, with many at the same sample.
    let change = |index: usize| {
        let id = ["mix", "drive", "tone"][index % 3];
        change(index * 2 * BLOCK / 20_000, id, (index % 17) as f64 / 16.0)
    };
    let changes: Vec<_> = (0..20_000).map(change).collect();
    let at = |frame| changes.iter().filter(move |change| change.frame == frame).copied().collect();
    let then: Vec<_> = (0..).zip(after((0..2 * BLOCK).map(at))).collect();
    let output = played(&input, repeat(BLOCK), &changes);
    assert_same(&output, &expected(&Settings::default(), RATE, &input, &then), "changes");
}
