//! Tests of buffers of all lengths, as hosts pass them.

use tone_filter_testkit::{
    clap::{Library, Surroundings, random_transport},
    plugin::{Signal, builds, music, new},
    signals::noise,
};

const RATE: f64 = 48_000.0;
const MAX_BLOCK: usize = 16_384;

fn played(
    library: &Library,
    input: &Signal,
    in_place: bool,
    surroundings: Surroundings,
    mut blocks: impl Iterator<Item = usize>,
) -> Signal {
    let mut instance = new(library);
    instance.select(input.len()).unwrap();
    let mut processor = instance.activate(RATE, MAX_BLOCK).unwrap();
    processor.surroundings = surroundings;
    let mut signal = input.clone();
    processor.run(&mut signal, in_place, &mut blocks, &[]).unwrap();
    instance.deactivate(processor);
    signal
}

#[test]
fn every_way_to_cut_and_to_hand_over_gives_the_same_bits() {
    let stereo = music(1.0, RATE);
    for (build, library) in builds(&tone_filter::clap_entry) {
        for input in [stereo.clone(), stereo[..1].to_vec()] {
            let plain = Surroundings::default();
            let whole = played(&library, &input, true, plain, std::iter::repeat(MAX_BLOCK));
            assert_ne!(whole, input);
            for in_place in [true, false] {
                for size in [1, 2, 15, 63, 64, 65, 511, 4096] {
                    let blocks = std::iter::repeat(size);
                    let output = played(&library, &input, in_place, plain, blocks);
                    assert!(output == whole, "{build}, blocks of {size}, in place: {in_place}");
                }
                let mut noise = noise(3);
                let random = std::iter::repeat_with(|| {
                    (MAX_BLOCK as f64).powf((noise() + 1.0) / 2.0).round() as usize
                });
                let output = played(&library, &input, in_place, plain, random);
                assert!(output == whole, "{build}, random blocks, in place: {in_place}");
            }
        }
    }
}

#[test]
fn channels_that_the_layout_does_not_have_are_an_error_and_do_no_harm() {
    for (build, library) in builds(&tone_filter::clap_entry) {
        for channels in [1, 2] {
            let mut instance = new(&library);
            instance.select(channels).unwrap();
            let mut processor = instance.activate(RATE, MAX_BLOCK).unwrap();
            let mut process = |inputs: usize, outputs: usize| {
                let (mut input, mut output) =
                    (vec![vec![0.1; 64]; inputs], vec![vec![0.0; 64]; outputs]);
                let mut from: Vec<_> = input.iter_mut().map(Vec::as_mut_slice).collect();
                let mut to: Vec<_> = output.iter_mut().map(Vec::as_mut_slice).collect();
                processor.process(Some(&mut from), &mut to, &[]).is_ok()
            };
            for inputs in 0..5 {
                for outputs in 1..5 {
                    let fits = inputs <= outputs && outputs <= channels;
                    let place = format!("{build}, {inputs} to {outputs} in {channels}");
                    assert_eq!(process(inputs, outputs), fits, "{place}");
                }
            }
            instance.deactivate(processor);
        }
    }
}

#[test]
fn a_buffer_marked_as_constant_is_read_like_any_other() {
    for (_, library) in builds(&tone_filter::clap_entry) {
        // Half a second of constants, then half a second of zeros, with and without the mark that a host may set.
        let mut input = vec![vec![0.25; 24_000], vec![-0.5; 24_000]];
        input.iter_mut().for_each(|channel| channel.extend([0.0; 24_000]));
        let [marked, plain] = [true, false].map(|constant| {
            let surroundings = Surroundings { constant, ..Surroundings::default() };
            played(&library, &input, false, surroundings, std::iter::repeat(480))
        });
        assert!(marked == plain);
    }
}

#[test]
fn the_transport_makes_no_difference() {
    let input = music(0.3, RATE);
    for (build, library) in builds(&tone_filter::clap_entry) {
        let mut noise = noise(4);
        let blocks = || std::iter::repeat(777);
        let without = played(&library, &input, true, Surroundings::default(), blocks());
        for _ in 0..50 {
            let transport = Some(random_transport(&mut noise));
            let surroundings = Surroundings { transport, ..Surroundings::default() };
            let output = played(&library, &input, true, surroundings, blocks());
            assert!(output == without, "{build}: {transport:?}");
        }
    }
}
