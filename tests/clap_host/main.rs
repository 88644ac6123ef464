//! The built CLAP plugin in a host, held against the library: same settings, same input, same output.

mod common;
mod hosting;

use common::{noise, snr};
use hosting::{
    Signal, assert_same, change, expected, instance, library, music, set, settings, sounds, wav,
};
use std::process::Command;
use tone_filter::dsp::{CHOICES, SPECS, Scale, Settings, ToneFilter};
use xtask::host::{Change, Instance, Parameter, ProcessStatus, parameter_id};

const RATE: f64 = 48_000.0;
const MAX_BLOCK: usize = 16_384;

/// What the plugin makes of `input`.
fn played(
    instance: &mut Instance,
    rate: f64,
    input: &Signal,
    in_place: bool,
    mut blocks: impl Iterator<Item = usize>,
    changes: &[Change],
) -> Signal {
    instance.select(input.len()).unwrap();
    let mut processor = instance.activate(rate, MAX_BLOCK).unwrap();
    let mut signal = input.clone();
    processor.run(&mut signal, in_place, &mut blocks, changes).unwrap();
    instance.deactivate(processor);
    signal
}

/// Lengths from 1 to the longest, each magnitude as likely as the others.
fn random_blocks(seed: u64) -> impl Iterator<Item = usize> {
    let mut noise = noise(seed);
    std::iter::repeat_with(move || (MAX_BLOCK as f64).powf((noise() + 1.0) / 2.0).round() as usize)
}

fn every(length: usize) -> impl Iterator<Item = usize> {
    std::iter::repeat(length)
}

#[test]
fn the_bundle_holds_one_effect_called_tone_filter() {
    let (library, plugin) = library();
    assert_eq!(library.plugins().unwrap().len(), 1);
    assert_eq!(plugin.id, "org.tone-filter.tone-filter");
    assert_eq!(plugin.name, "Tone Filter");
    assert_eq!(plugin.version, env!("CARGO_PKG_VERSION"));
    for feature in ["audio-effect", "filter", "distortion", "mono", "stereo"] {
        assert!(plugin.features.iter().any(|own| own == feature), "{feature} is missing");
    }
}

#[test]
fn every_setting_is_a_parameter_with_its_name_range_default_and_texts() {
    let mut instance = instance();
    let parameters = instance.parameters().unwrap();
    assert_eq!(parameters.len(), SPECS.len() + CHOICES.len());
    for (spec, parameter) in SPECS.iter().zip(&parameters) {
        let mut text = |value| instance.value_to_text(parameter.id, value).unwrap();
        assert_eq!(parameter.id, parameter_id(spec.id), "{}", spec.id);
        assert_eq!(parameter.name, spec.name);
        assert!(!parameter.group.is_empty());
        assert!(parameter.automatable && !parameter.stepped && !parameter.bypass);
        assert_eq!(text(parameter.min), spec.format(spec.min));
        assert_eq!(text(parameter.max), spec.format(spec.max));
        assert_eq!(text(parameter.default), spec.format(spec.default()));
        let start = instance.value(parameter.id).unwrap();
        assert_eq!(start, parameter.default, "{}", spec.id);
        for step in 0..=50 {
            let share = f64::from(step) / 50.0;
            let value = parameter.min + (parameter.max - parameter.min) * share;
            let text = instance.value_to_text(parameter.id, value).unwrap();
            let back = instance.text_to_value(parameter.id, &text).unwrap().unwrap();
            assert_eq!(instance.value_to_text(parameter.id, back).unwrap(), text);
        }
        assert_eq!(instance.text_to_value(parameter.id, "nonsense").unwrap(), None);
    }

    for (choice, parameter) in CHOICES.iter().zip(&parameters[SPECS.len()..]) {
        let Parameter { id, min, max, default, .. } = *parameter;
        assert_eq!((id, &*parameter.name), (parameter_id(choice.id), choice.name));
        assert!(parameter.stepped);
        let last = choice.entries.len() - 1;
        assert_eq!([min, max, default], [0, last, choice.default()].map(|x| x as f64));
        for (index, (_, name)) in choice.entries.iter().enumerate() {
            let value = index as f64;
            let text = instance.value_to_text(id, value).unwrap();
            assert_eq!(text, *name);
            let back = instance.text_to_value(id, &text).unwrap().unwrap();
            // nice-plug keeps the place in the list as an f32 from 0 to 1.
            assert!((back - value).abs() <= max * f64::from(f32::EPSILON), "{text}: {back}");
            assert_eq!(instance.value_to_text(id, back).unwrap(), text);
        }
    }
    let bypasses: Vec<_> = parameters.iter().filter(|p| p.bypass).map(|p| p.id).collect();
    assert_eq!(bypasses, [parameter_id("bypass")], "a host finds the bypass by its flag");
}

#[test]
fn typed_values_arrive_as_typed() {
    for sound in sounds() {
        let mut instance = instance();
        set(&mut instance, &sound);
        let actual = settings(&mut instance);
        for spec in &SPECS {
            assert_eq!(
                spec.format(spec.get(&actual)),
                spec.format(spec.get(&sound)),
                "{}",
                spec.id
            );
        }
        for choice in &CHOICES {
            assert_eq!(choice.get(&actual), choice.get(&sound), "{}", choice.id);
        }
        assert_eq!((actual.bands, actual.custom), (sound.bands, sound.custom));
    }
}

#[test]
fn mono_and_stereo_layouts_sound_like_the_library() {
    let layouts = instance().layouts().unwrap();
    let channels: Vec<_> = layouts.iter().map(|layout| [layout.inputs, layout.outputs]).collect();
    assert_eq!(channels, [[2, 2], [1, 1]], "stereo comes first");

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
fn one_instance_sounds_like_the_library_at_every_rate() {
    let mut instance = instance();
    for rate in [
        8e3, 11_025.0, 16e3, 22_050.0, 32e3, 44_100.0, 48e3, 88_200.0, 96e3, 176_400.0, 192e3,
        384e3, 768e3,
    ] {
        let input = music(0.25, rate);
        let output = played(&mut instance, rate, &input, true, random_blocks(1), &[]);
        let library = expected(&Settings::default(), rate, &input, &[]);
        assert_same(&output, &library, &format!("{rate} Hz"));
        assert_eq!(instance.latency().unwrap(), 0);
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
fn parameters_change_at_the_very_sample() {
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
            (change.frame, settings(&mut scratch))
        })
        .collect();
    let library = expected(&Settings::default(), RATE, &input, &then);
    for seed in 1..=3 {
        let output = played(&mut instance(), RATE, &input, true, random_blocks(seed), &changes);
        assert_same(&output, &library, "automation");
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

    // 20 ms, in whole blocks of 64 samples, from the next one on.
    let glide = 64 + 960;
    assert!(output[0][..on] == effect[0][..on]);
    assert!(output[0][on + glide..off] == input[0][on + glide..off], "the input, to the last bit");
    assert!(output[0][off + glide..] == effect[0][off + glide..], "the effect goes on underneath");

    // How far the output is on its way from the effect to the input. A fade that goes straight there,
    // for 20 ms, has no step in it.
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
                // A straight way of 960 samples; 1e-4 is f32's share of the quotient.
                assert!((-1e-4..1.0 / 960.0 + 1e-4).contains(&step), "{step} at {t}");
            }
            last = Some((t, share));
            seen += 1;
        }
        assert!(seen > glide / 4, "the two must differ for a click to be seen");
    }
}

#[test]
fn a_saved_state_gives_another_instance_the_same_sound() {
    let input = music(1.0, RATE);
    for sound in sounds() {
        let mut first = instance();
        set(&mut first, &sound);
        let mut second = instance();
        second.load(&first.save().unwrap()).unwrap();
        assert_eq!(settings(&mut second), settings(&mut first));
        assert_eq!(second.save().unwrap(), first.save().unwrap());
        let [first, second] = [&mut first, &mut second]
            .map(|instance| played(instance, RATE, &input, true, every(333), &[]));
        assert!(first == second);
    }
}

#[test]
fn a_state_that_is_none_is_refused_and_changes_nothing() {
    let mut instance = instance();
    set(&mut instance, &sounds()[2]);
    let before = settings(&mut instance);
    let saved = instance.save().unwrap();
    for state in [&b""[..], b"nonsense", &saved[..saved.len() / 2], &[0xFF; 64]] {
        assert!(instance.load(state).is_err(), "{} bytes", state.len());
        assert_eq!(settings(&mut instance), before);
    }
}

#[test]
fn reset_makes_the_plugin_forget() {
    let input = music(1.0, RATE);
    let mut instance = instance();
    let mut processor = instance.activate(RATE, MAX_BLOCK).unwrap();
    let mut first = input.clone();
    processor.run(&mut first, true, &mut every(1000), &[]).unwrap();
    processor.reset();
    let mut second = input.clone();
    processor.run(&mut second, true, &mut every(1000), &[]).unwrap();
    instance.deactivate(processor);
    assert!(first == second);
}

#[test]
fn the_latency_is_told_at_activation_and_again_when_it_changes() {
    let late = |rate: f64| (2048.0 / 44_100.0 * rate).round() as u32;
    let mut instance = instance();
    let processor = instance.activate(RATE, MAX_BLOCK).unwrap();
    assert_eq!(instance.latency().unwrap(), 0);
    assert!(!instance.wants_restart());
    instance.deactivate(processor);

    instance.set(&[change(0, "lookahead", 1.0), change(0, "mix", 0.0)]).unwrap();
    for rate in [44_100.0, RATE, 192_000.0] {
        for bypass in [0.0, 1.0] {
            instance.set(&[change(0, "bypass", bypass)]).unwrap();
            let mut processor = instance.activate(rate, MAX_BLOCK).unwrap();
            let latency = instance.latency().unwrap();
            assert_eq!(latency, late(rate));
            let impulse = |at: usize| {
                let mut signal = vec![vec![0.0; 10_000]; 2];
                (signal[0][at], signal[1][at]) = (0.5, -0.25);
                signal
            };
            let mut signal = impulse(100);
            processor.run(&mut signal, true, &mut random_blocks(1), &[]).unwrap();
            assert!(signal == impulse(100 + latency as usize), "{rate} Hz, bypass {bypass}");
            instance.deactivate(processor);
        }
    }
    instance.wants_restart();
    instance.says_latency_changed();

    // A latency that changes while the plugin is active waits for the host to activate it anew.
    let mut processor = instance.activate(192_000.0, MAX_BLOCK).unwrap();
    for (lookahead, latency) in [(0.0, 0), (1.0, late(192_000.0))] {
        let mut signal = music(0.1, RATE);
        let switch = [change(777, "lookahead", lookahead)];
        processor.run(&mut signal, true, &mut every(512), &switch).unwrap();
        instance.idle();
        assert!(instance.wants_restart());
        instance.deactivate(processor);
        processor = instance.activate(192_000.0, MAX_BLOCK).unwrap();
        assert!(instance.says_latency_changed());
        assert_eq!(instance.latency().unwrap(), latency);
        let mut signal = music(0.1, RATE);
        processor.run(&mut signal, true, &mut every(512), &[]).unwrap();
        instance.idle();
        assert!(!instance.wants_restart(), "once is enough");
    }
    instance.deactivate(processor);
}

#[test]
fn the_tail_is_reported_and_long_enough_and_then_the_host_may_rest() {
    let mut instance = instance();
    set(&mut instance, &Settings { mix: 100.0, ring: 0.5, ..Settings::REFERENCE });
    let actual = settings(&mut instance);
    let mut processor = instance.activate(RATE, MAX_BLOCK).unwrap();
    let mut sound = music(1.0, RATE);
    processor.run(&mut sound, true, &mut every(480), &[]).unwrap();

    let tail = processor.tail().unwrap().unwrap();
    assert_eq!(tail, (ToneFilter::tail(&actual) * RATE).ceil() as u32);
    let peak = |signal: &[f32]| signal.iter().fold(0f32, |peak, sample| peak.max(sample.abs()));
    let mut after = vec![vec![0.0; tail as usize + 4800]; 2];
    processor.run(&mut after, true, &mut every(480), &[]).unwrap();
    let (before, rest) = (peak(&sound[0][43_200..]), peak(&after[0][tail as usize..]));
    assert!(before > 0.05 && rest < before / 1000.0, "{rest} after {before}");

    let mut silent = [vec![0.0; 480], vec![0.0; 480]];
    let [left, right] = &mut silent;
    let status = processor.process(None, &mut [left, right], &[]).unwrap();
    assert_eq!(status, ProcessStatus::ContinueIfNotQuiet);
    left[0] = 0.5;
    let status = processor.process(None, &mut [left, right], &[]).unwrap();
    assert_eq!(status, ProcessStatus::Continue);
    instance.deactivate(processor);
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
fn a_bad_block_is_over_when_it_is_over() {
    let rate = 44_100.0;
    // Eight ring times of the reference sound after the fault.
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
                // As near to the undisturbed one as both are to the mathematics.
                let db = snr(&truth, &output[13 * 44_100..]);
                assert!(db >= 80.0, "{bad}: {db} dB");
            }
        }
    }
}

#[test]
fn the_renderer_makes_the_same_of_the_demo_tune() {
    let demo = xtask::root().join("assets/demo.wav");
    let input = wav(&demo);
    // The renderer takes a latency back.
    for sound in sounds().into_iter().filter(|sound| !sound.lookahead) {
        let mut instance = instance();
        set(&mut instance, &sound);
        let actual = settings(&mut instance);

        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out.wav");
        let mut renderer = Command::new(env!("CARGO_BIN_EXE_tone-filter"));
        renderer.arg("render").arg(&demo).arg("-o").arg(&out).args(["--bit-depth", "32f"]);
        for spec in &SPECS {
            renderer.arg(format!("--{}={}", spec.id, spec.get(&actual)));
        }
        for choice in &CHOICES {
            renderer.arg(format!("--{}={}", choice.id, choice.entries[choice.get(&actual)].0));
        }
        renderer.args(["--bands", &actual.bands.to_string()]);
        if actual.scale == Scale::Custom {
            renderer.args(["--custom", &actual.custom.to_string()]);
        }
        let output = renderer.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

        let plugin = played(&mut instance, 44_100.0, &input, true, every(512), &[]);
        assert_same(&plugin, &wav(&out), &format!("{actual:?}"));
    }
}
