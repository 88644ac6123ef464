//! Tests of a buffer's parameter events, with times inside and outside of the buffer.

use tone_filter_dsp::Settings;
use tone_filter_testkit::{
    clap::{Change, Library},
    plugin::{Signal, assert_same, builds, change, expected, music, new, settings},
};

const RATE: f64 = 48_000.0;
const BLOCK: usize = 512;
/// Samples before and after each buffer that must not be accessed.
const MARGIN: usize = 2048;
const CANARY: f32 = 12_345.0;

/// Returns the plugin's output for `input` if every buffer comes with `changes`. Each buffer is in the middle of a larger one,
/// whose margins must stay unchanged. The input must also stay unchanged, unless processing is in place.
fn played(library: &Library, input: &Signal, in_place: bool, changes: &[Change]) -> Signal {
    let mut instance = new(library);
    let mut processor = instance.activate(RATE, BLOCK + MARGIN).unwrap();
    let mut output = vec![Vec::new(); input.len()];
    for start in (0..input[0].len()).step_by(BLOCK) {
        let end = input[0].len().min(start + BLOCK);
        let inside = MARGIN..MARGIN + end - start;
        let framed = |content: &[f32]| {
            let mut buffer = vec![CANARY; content.len() + 2 * MARGIN];
            buffer[inside.clone()].copy_from_slice(content);
            buffer
        };
        let mut from: Vec<_> = input.iter().map(|channel| framed(&channel[start..end])).collect();
        let mut to = if in_place {
            from.clone()
        } else {
            vec![framed(&vec![f32::NAN; end - start]); input.len()]
        };
        let mut inputs: Vec<_> = from.iter_mut().map(|c| &mut c[inside.clone()]).collect();
        let mut outputs: Vec<_> = to.iter_mut().map(|c| &mut c[inside.clone()]).collect();
        processor
            .process((!in_place).then_some(&mut inputs), &mut outputs, changes)
            .expect("the block is like any other");
        for buffer in &to {
            let outside = buffer[..inside.start].iter().chain(&buffer[inside.end..]);
            assert!(outside.into_iter().all(|sample| *sample == CANARY), "out of bounds");
        }
        for (buffer, channel) in from.iter().zip(input) {
            assert_eq!(*buffer, framed(&channel[start..end]), "the input is the host's");
        }
        output.iter_mut().zip(&to).for_each(|(all, own)| all.extend(&own[inside.clone()]));
    }
    instance.deactivate(processor);
    output
}

/// Returns the settings of an instance after `changes`.
fn after(library: &Library, changes: &[Change]) -> Settings {
    let mut instance = new(library);
    for change in changes {
        instance.set(&[Change { frame: 0, ..*change }]).unwrap();
    }
    settings(&mut instance)
}

#[test]
fn a_time_after_the_block_is_its_last_sample() {
    let input = music(0.2, RATE);
    let input: Signal = input.iter().map(|channel| channel[..BLOCK * 16].to_vec()).collect();
    for (build, library) in builds(&tone_filter::clap_entry) {
        for frame in [BLOCK, BLOCK + 1, BLOCK + MARGIN / 2, 100_000, u32::MAX as usize] {
            let changes = [change(frame, "mix", 1.0), change(frame, "drive", 0.9)];
            let then = [(BLOCK - 1, after(&library, &changes).into())];
            let library_output = expected(&Settings::default(), RATE, &input, &then);
            for in_place in [true, false] {
                let output = played(&library, &input, in_place, &changes);
                assert_same(&output, &library_output, &format!("{build}, at {frame}, {in_place}"));
            }
        }
    }
}

#[test]
fn times_in_disorder_and_beyond_do_no_harm() {
    let input = music(0.2, RATE);
    let frames = [400, 3, 9999, 511, 0, 512, 700, 1, u32::MAX as usize, 2, 513];
    for (build, library) in builds(&tone_filter::clap_entry) {
        let changes: Vec<_> = frames
            .iter()
            .enumerate()
            .map(|(index, &frame)| change(frame, "drive", index as f64 / 10.0))
            .collect();
        for in_place in [true, false] {
            let output = played(&library, &input, in_place, &changes);
            assert!(output.iter().flatten().all(|sample| sample.abs() < 2.0), "{build}");
        }
    }
}

#[test]
fn each_of_ten_thousand_changes_in_a_block_is_heard() {
    let input = music(0.1, RATE);
    let input: Signal = input.iter().map(|channel| channel[..2 * BLOCK].to_vec()).collect();
    for (build, library) in builds(&tone_filter::clap_entry) {
        // More events than fit into nice-plug's list, spread over the buffer, with many at the same sample.
        let changes: Vec<_> = (0..10_000)
            .map(|index| {
                let id = ["mix", "drive", "tone"][index % 3];
                change(index * BLOCK / 10_000, id, (index % 17) as f64 / 16.0)
            })
            .collect();
        let mut instance = new(&library);
        let then: Vec<_> = (0..2 * BLOCK)
            .map(|frame| {
                let now = changes.iter().filter(|change| change.frame == frame % BLOCK);
                let now: Vec<_> = now.map(|change| Change { frame: 0, ..*change }).collect();
                instance.set(&now).unwrap();
                (frame, settings(&mut instance).into())
            })
            .collect();
        let output = played(&library, &input, true, &changes);
        assert_same(&output, &expected(&Settings::default(), RATE, &input, &then), build);
    }
}
