//! Tests of buffers with too many channels, and of transports and flags, which must not change the sound.

use std::iter::repeat;
use tone_filter_dsp::Settings;
use tone_filter_hosts::{MAX_BLOCK, RATE};
use tone_filter_testkit::{
    assert_same_bits,
    clap::random_transport,
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
    for _ in 0..4 {
        let mut instance = instance();
        let mut processor = instance.activate(RATE, MAX_BLOCK).unwrap();
        let mut output = vec![Vec::new(); 2];
        for (frames, constant) in [(0..14_400, false), (14_400..38_400, true)] {
            let mut part: Vec<_> =
                input.iter().map(|channel| channel[frames.clone()].to_vec()).collect();
            processor.transport = Some(random_transport(&mut noise));
            processor.constant = constant;
            processor.run(&mut part, false, &mut repeat(480), &[]).unwrap();
            output.iter_mut().zip(part).for_each(|(whole, part)| whole.extend(part));
        }
        assert_same_bits(&output, &expected);
    }
}

#[test]
fn channels_beyond_the_layout_are_an_error() {
    for channels in [1, 2] {
        let mut instance = instance();
        instance.select(channels).unwrap();
        let mut processor = instance.activate(RATE, MAX_BLOCK).unwrap();
        for (inputs, outputs) in
            (0..5).flat_map(|inputs| (1..5).map(move |outputs| (inputs, outputs)))
        {
            let (mut input, mut output) =
                (vec![vec![0.1; 64]; inputs], vec![vec![0.0; 64]; outputs]);
            let mut from: Vec<_> = input.iter_mut().map(Vec::as_mut_slice).collect();
            let mut to: Vec<_> = output.iter_mut().map(Vec::as_mut_slice).collect();
            let taken = processor.process(Some(&mut from), &mut to, &[]).is_ok();
            let fits = inputs <= outputs && outputs <= channels;
            assert_eq!(taken, fits, "{inputs} to {outputs} in {channels}");
        }
    }
}
