//! Tests that the output is the library's at every rate, in every layout and in buffers of any length.

use crate::{MAX_BLOCK, RATE, every, played, random_blocks};
use tone_filter_dsp::{Controls, Listen, Routing, Settings, ToneFilter};
use tone_filter_testkit::{
    assert_same_bits,
    clap::Change,
    plugin::{
        Signal, assert_same, automated, builds, change, controls_in, demo, expected, instance,
        music, new, set, set_controls, settings, sounds,
    },
    signals::snr,
};

#[test]
fn mono_and_stereo_layouts_sound_like_the_library() {
    let layouts = instance().layouts().unwrap();
    let channels: Vec<_> = layouts.iter().map(|layout| [layout.inputs, layout.outputs]).collect();
    assert_eq!(channels, [[2, 2], [1, 1], [2, 2], [1, 1]], "stereo with a sidechain comes first");

    let stereo = music(1.5, RATE);
    for sound in sounds() {
        for input in [stereo.clone(), stereo[..1].to_vec()] {
            let mut instance = instance();
            set(&mut instance, &sound);
            let actual = settings(&mut instance);
            let output = played(&mut instance, RATE, &input, true, every(480), &[]);
            let what = format!("{} channels of {actual:?}", input.len());
            assert_same(&output, &expected(&actual, RATE, &input, &[]), &what);
        }
    }
}

#[test]
fn blocks_of_any_length_in_and_out_of_place_give_the_same_bits() {
    let input = music(2.0, RATE);
    let changes = [change(10_000, "drive", 0.9), change(40_001, "mix", 1.0)];
    let whole = played(&mut instance(), RATE, &input, true, every(MAX_BLOCK), &changes);
    for in_place in [true, false] {
        assert!(played(&mut instance(), RATE, &input, in_place, every(1), &changes) == whole);
        for seed in 1..=10 {
            let output =
                played(&mut instance(), RATE, &input, in_place, random_blocks(seed), &changes);
            assert!(output == whole, "blocks {seed}, in place: {in_place}");
        }
    }
}

#[test]
fn parameters_change_at_the_exact_sample() {
    let input = music(2.0, RATE);
    let changes = [
        change(0, "output", 0.4),
        change(1, "mix", 1.0),
        change(9_999, "ring", 0.3),
        change(20_000, "tuning", 0.6),
        change(20_000, "drive", 0.8),
        change(20_063, "stereo", 1.0),
        change(47_777, "bypass", 1.0),
        change(60_001, "bypass", 0.0),
        change(60_002, "transpose", 0.75),
    ];
    let mut scratch = instance();
    let then: Vec<_> = changes
        .iter()
        .map(|change| {
            scratch.set(&[Change { frame: 0, ..*change }]).unwrap();
            (change.frame, controls_in(&scratch.save().unwrap()))
        })
        .collect();
    let library = expected(&Settings::default(), RATE, &input, &then);
    for seed in 1..=3 {
        let output = played(&mut instance(), RATE, &input, true, random_blocks(seed), &changes);
        assert_same(&output, &library, "automation");
    }
}

#[test]
fn automation_has_the_bits_of_the_library() {
    let (automation, changes) = automated(RATE);
    let expected = automation.expected();
    for (build, library) in builds(&tone_filter::clap_entry) {
        let mut instance = new(&library);
        let blocks = random_blocks(1);
        let output = played(&mut instance, RATE, &automation.input, true, blocks, &changes);
        println!("{build}");
        assert_same_bits(&output, &expected);
    }
}

#[test]
fn bypass_fades_to_the_input_itself_and_back_without_a_click() {
    let input = music(2.0, RATE);
    let (on, off) = (40_000, 70_000);
    let start = [change(0, "mix", 1.0)];
    let bypass = [start[0], change(on, "bypass", 1.0), change(off, "bypass", 0.0)];
    let effect = played(&mut instance(), RATE, &input, true, every(512), &start);
    let output = played(&mut instance(), RATE, &input, true, every(512), &bypass);

    // The fade takes 20 ms (960 samples), and begins at the next block of 64 samples.
    let glide = 64 + 960;
    assert!(output[0][..on] == effect[0][..on]);
    assert!(output[0][on + glide..off] == input[0][on + glide..off], "the input, to the last bit");
    assert!(output[0][off + glide..] == effect[0][off + glide..], "the effect goes on underneath");

    // `share` is the position of the output between the two signals. It has no steps in a linear fade of 20 ms.
    for (start, from, to) in [(on, &effect, &input), (off, &input, &effect)] {
        let mut last: Option<(usize, f32)> = None;
        let mut seen = 0;
        for t in start..start + glide {
            let distance = to[0][t] - from[0][t];
            if distance.abs() < 0.05 {
                continue;
            }
            let share = (output[0][t] - from[0][t]) / distance;
            if let Some((before, last)) = last {
                let step = (share - last) / (t - before) as f32;
                // Slope of a linear fade over 960 samples; 1e-4 is the rounding of the quotient in f32.
                assert!((-1e-4..1.0 / 960.0 + 1e-4).contains(&step), "{step} at {t}");
            }
            last = Some((t, share));
            seen += 1;
        }
        assert!(seen > glide / 4, "the two must differ for a click to be seen");
    }
}

#[test]
fn silence_stays_silence() {
    let input = vec![vec![0.0; 48_000]; 2];
    for sound in sounds() {
        let mut instance = instance();
        set(&mut instance, &sound);
        assert!(played(&mut instance, RATE, &input, true, every(512), &[]) == input);
    }
}

#[test]
fn a_faulty_block_has_no_lasting_effect() {
    let rate = 44_100.0;
    // Long enough for eight ring times of the reference sound after the fault.
    let clean = music(14.0, rate);
    let (start, end) = (22_050, 22_050 + 256);
    let reference = || {
        let mut instance = instance();
        set(&mut instance, &Settings::REFERENCE);
        instance
    };
    for stereo in [0.0, 1.0] {
        let setup = [change(0, "mix", 1.0), change(0, "stereo", stereo)];
        let undisturbed = played(&mut reference(), rate, &clean, true, every(256), &setup);
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 1e-40] {
            let mut input = clean.clone();
            for channel in &mut input {
                channel[start..end].fill(bad);
            }
            let output = played(&mut reference(), rate, &input, true, every(256), &setup);
            for (output, undisturbed) in output.iter().zip(&undisturbed) {
                assert!(output.iter().all(|sample| sample.is_finite()), "{bad}");
                assert!(output[end..].iter().all(|sample| sample.abs() <= 1.0), "{bad}");
                let truth: Vec<f64> =
                    undisturbed[13 * 44_100..].iter().map(|&sample| sample.into()).collect();
                // The outputs may differ by the accuracy of the kernels.
                let db = snr(&truth, &output[13 * 44_100..]);
                assert!(db >= 80.0, "{bad}: {db} dB");
            }
        }
    }
}

#[test]
fn the_bands_hear_the_sidechain_if_there_is_one_and_the_setting_says_so() {
    let (main, sidechain) = (music(1.0, RATE), demo());
    let sidechain: Signal = sidechain.iter().map(|c| c[..main[0].len()].to_vec()).collect();
    let reference = Settings { mix: 70.0, ..Settings::REFERENCE };
    for sound in [reference, Settings { lookahead: true, ..Settings::default() }] {
        for (listen, connected) in
            [(Listen::Main, true), (Listen::Sidechain, false), (Listen::Sidechain, true)]
        {
            for channels in [1, 2] {
                let mut instance = instance();
                let routing = Routing { listen, ..Routing::default() };
                set_controls(&mut instance, &Controls { settings: sound, routing });
                let actual = settings(&mut instance);
                let mut expected = main[..channels].to_vec();
                let mut parts: Vec<_> = expected.iter_mut().map(Vec::as_mut_slice).collect();
                let heard: Vec<_> = sidechain[..channels].iter().map(Vec::as_slice).collect();
                let heard = if connected { &heard[..] } else { &[] };
                let mut filter = ToneFilter::new(RATE, &actual).unwrap();
                filter.set_routing(routing);
                filter.reset();
                filter.process_sidechained(&mut parts, heard, |_, _| ());

                instance.select(channels).unwrap();
                let mut processor = instance.activate(RATE, MAX_BLOCK).unwrap();
                processor.sidechain = connected.then(|| sidechain[..channels].to_vec());
                let mut signal = main[..channels].to_vec();
                processor.run(&mut signal, false, &mut random_blocks(7), &[]).unwrap();
                instance.deactivate(processor);
                assert_same(&signal, &expected, &format!("{listen:?}, connected: {connected}"));
            }
        }
    }
}
