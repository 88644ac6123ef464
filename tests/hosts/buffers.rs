//! Tests of buffers with too many channels, and of transports and flags, which must not change the sound.

use std::iter::repeat;
use tone_filter_dsp::Settings;
use tone_filter_hosts::{MAX_BLOCK, RATE};
use tone_filter_testkit::{
    assert_same_bits,
    clap::{Surroundings, random_transport},
    plugin::{expected, instance, music},
    signals::noise,
};

#[test]
fn transport_and_constant_marks_change_nothing() {
    // Music, then constant samples, which a host may flag as constant, then zeros.
    let mut input = music(0.3, RATE);
    for (channel, value) in input.iter_mut().zip([0.25, -0.5]) {
        channel.extend([value; 12_000]);
        channel.extend([0.0; 12_000]);
    }
    let expected = expected(&Settings::default(), RATE, &input, &[]);
    let mut noise = noise(4);
    for constant in [false, true].repeat(4) {
        let mut instance = instance();
        let mut processor = instance.activate(RATE, MAX_BLOCK).unwrap();
        let transport = Some(random_transport(&mut noise));
        // Only constant buffers may be flagged.
        let start = if constant { 14_400 } else { 0 };
        let mut first: Vec<_> = input.iter().map(|channel| channel[..start].to_vec()).collect();
        let mut rest: Vec<_> = input.iter().map(|channel| channel[start..].to_vec()).collect();
        processor.run(&mut first, false, &mut repeat(777), &[]).unwrap();
        processor.surroundings = Surroundings { transport, constant, ..Surroundings::default() };
        processor.run(&mut rest, false, &mut repeat(480), &[]).unwrap();
        instance.deactivate(processor);
        let output: Vec<_> = first.into_iter().zip(rest).map(|(a, b)| [a, b].concat()).collect();
        assert_same_bits(&output, &expected);
    }
}

#[test]
fn channels_beyond_the_layout_are_an_error() {
    for channels in [1, 2] {
        let mut instance = instance();
        instance.select(channels).unwrap();
        let mut processor = instance.activate(RATE, MAX_BLOCK).unwrap();
        for (inputs, outputs) in (0..5).flat_map(|inputs| (1..5).map(move |own| (inputs, own))) {
            let (mut input, mut output) =
                (vec![vec![0.1; 64]; inputs], vec![vec![0.0; 64]; outputs]);
            let mut from: Vec<_> = input.iter_mut().map(Vec::as_mut_slice).collect();
            let mut to: Vec<_> = output.iter_mut().map(Vec::as_mut_slice).collect();
            let taken = processor.process(Some(&mut from), &mut to, &[]).is_ok();
            let fits = inputs <= outputs && outputs <= channels;
            assert_eq!(taken, fits, "{inputs} to {outputs} in {channels}");
        }
        instance.deactivate(processor);
    }
}
