//! Tests of the sound against the library's.

use crate::host::{Instance, RATE, bits, expected, music};
use AudioPluginToneFilter::interface::UNSUPPORTED;
use tone_filter_dsp::{Listen, Routing, Settings, ToneFilter};
use tone_filter_presets::Preset;
use tone_filter_testkit::{Automation, assert_same_bits};

fn filter(settings: &Settings, channels: usize) -> Box<ToneFilter> {
    Box::new(ToneFilter::new(RATE.into(), settings).unwrap().with_channels(channels))
}

/// Unity has no parameters for the texts: bands, custom scale and targets.
#[test]
fn automation_matches_the_library_bit_for_bit() {
    let automation = Automation::new(1, RATE.into()).with_parameters_alone();
    let mut effect = Instance::new();
    let output = automation.play(1024, |new, [left, right]| {
        if let Some(new) = new {
            effect.set_all(new);
        }
        let input: Vec<_> = left.iter().zip(&*right).flat_map(|(l, r)| [*l, *r]).collect();
        let mut output = vec![9.0; input.len()];
        assert_eq!(effect.process(input.as_ptr(), &[], &mut output, [2, 2]), 0);
        for (frame, samples) in output.as_chunks::<2>().0.iter().enumerate() {
            [left[frame], right[frame]] = *samples;
        }
    });
    assert_same_bits(&output, &automation.expected());
}

#[test]
fn a_preset_replaces_the_parameters_except_morph() {
    let mut effect = Instance::new();
    effect.set("Preset", 13.0);
    effect.set("Mix", 1.0);
    effect.set("Morph", 80.0);
    let preset = Preset::factory("sound-chip").unwrap().settings;
    let mut filter = filter(&Settings::default(), 2);
    filter.set_settings(&Settings { morph: 80.0, ..preset }).unwrap();
    let input = music(2, 6000);
    assert!(effect.play(&input, &[]) == expected(&mut filter, &input, &[], 2));
}

/// Processes `input` as one block of a new instance. If `in_place`, the output's buffer is the input's. Returns status and
/// output.
fn block(input: &[f32], [inputs, outputs]: [usize; 2], in_place: bool) -> (i32, Vec<f32>) {
    let frames = input.len() / inputs;
    let mut buffer = vec![9.0; frames * inputs.max(outputs)];
    buffer[..input.len()].copy_from_slice(input);
    let from = if in_place { buffer.as_ptr() } else { input.as_ptr() };
    let output = &mut buffer[..frames * outputs];
    let status = Instance::new().process(from, &[], output, [inputs, outputs]);
    buffer.truncate(frames * outputs);
    (status, buffer)
}

/// Returns `input` with `outputs` channels. Surplus channels are dropped. A missing channel is a copy if `input` is mono,
/// otherwise silent.
fn widened<T: Copy + Default>(input: &[T], [inputs, outputs]: [usize; 2]) -> Vec<T> {
    let sample = |frame: &[T], channel| match inputs {
        1 => frame[0],
        _ => frame.get(channel).copied().unwrap_or_default(),
    };
    let frames = input.chunks(inputs);
    frames.flat_map(|frame| (0..outputs).map(move |channel| sample(frame, channel))).collect()
}

#[test]
fn outputs_of_another_number_of_channels_are_filled() {
    for [inputs, outputs] in [[1, 2], [6, 2], [6, 8], [2, 8]] {
        let input = music(inputs, 3000);
        let filtered = expected(&mut filter(&Settings::default(), inputs), &input, &[], inputs);
        let wanted = widened(&filtered, [inputs, outputs]);
        for in_place in [false, true] {
            let (status, output) = block(&input, [inputs, outputs], in_place);
            let what = format!("{inputs} to {outputs}, in place: {in_place}");
            assert!(status == 0 && bits(&output) == wanted, "{what}");
        }
    }
}

#[test]
fn unsupported_sound_passes_untouched() {
    let nine = music(9, 500);
    for (outputs, in_place) in [(9, false), (9, true), (12, false), (12, true), (2, true)] {
        let wanted = (UNSUPPORTED, widened(&nine, [9, outputs]));
        assert!(block(&nine, [9, outputs], in_place) == wanted, "{outputs} {in_place}");
    }
    let stereo = music(2, 500);
    for rate in [0, 999] {
        let mut output = vec![9.0; stereo.len()];
        let status = Instance::of(rate).process(stereo.as_ptr(), &[], &mut output, [2, 2]);
        assert_eq!((status, &output), (UNSUPPORTED, &stereo));
    }
    assert_eq!(Instance::new().process(std::ptr::null(), &[], &mut [9.0; 8], [2, 2]), 1);
    assert_eq!(Instance::new().process([0.0; 0].as_ptr(), &[], &mut [], [2, 2]), 0);
}

#[test]
fn the_sidechain_reaches_the_filter() {
    let (drums, melody) = (music(2, 8192), music(2, 16_384).split_off(16_384));
    for listen in [Listen::Main, Listen::Sidechain] {
        let mut effect = Instance::new();
        effect.set("Listen", listen as u8 as f32);
        let mut filter = filter(&Settings::default(), 2);
        filter.set_routing(Routing { listen, ..Routing::default() });
        let wanted = expected(&mut filter, &drums, &melody, 2);
        assert!(effect.play(&drums, &melody) == wanted, "{listen:?}");
    }
}
