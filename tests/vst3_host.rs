//! The built VST3 plugin in a host that is not ours (pedalboard, which is JUCE), held against the library.

mod common;
mod hosting;

use hosting::{Signal, assert_same, demo, expected, instance, music, set, settings, sounds};
use serde_json::{Map, Value, json};
use std::{fs, path::Path, process::Command};
use tone_filter::dsp::{SPECS, Settings};
use xtask::{bundle, python};

/// One run of the plugin, and what the library says it must sound like.
struct Case {
    name: String,
    rate: f64,
    block: usize,
    parameters: Value,
    input: Signal,
    expected: Signal,
}

impl Case {
    fn new(index: usize, sound: &Settings, rate: f64, channels: usize, block: usize) -> Self {
        // The same parameters as in CLAP, with the same values between 0 and 1.
        let mut instance = instance();
        set(&mut instance, sound);
        let parameters = instance.parameters().unwrap().into_iter();
        let parameters: Vec<_> = parameters
            .map(|p| {
                let share = (instance.value(p.id).unwrap() - p.min) / (p.max - p.min);
                (p.name, json!(share))
            })
            .collect();
        let input = if rate == 44_100.0 { demo() } else { music(1.0, rate) };
        let input = input[..channels].to_vec();
        let expected = expected(&settings(&mut instance), rate, &input, &[]);
        let name = format!("case{index}-{channels}-channels-{rate}-Hz-blocks-of-{block}");
        Self { name, rate, block, parameters: parameters.into_iter().collect(), input, expected }
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "rate": self.rate,
            "channels": self.input.len(),
            "block": self.block,
            "parameters": self.parameters,
        })
    }
}

fn write(path: &Path, signal: &Signal) {
    let bytes: Vec<u8> = signal.iter().flatten().flat_map(|sample| sample.to_le_bytes()).collect();
    fs::write(path, bytes).unwrap();
}

fn read(path: &Path, channels: usize) -> Signal {
    let bytes = fs::read(path).unwrap();
    let samples: Vec<f32> = bytes.as_chunks().0.iter().copied().map(f32::from_le_bytes).collect();
    samples.chunks(samples.len() / channels).map(<[f32]>::to_vec).collect()
}

#[test]
fn the_vst3_has_the_settings_and_sounds_like_the_library_even_after_a_reload() {
    let plugin = bundle::vst3().unwrap_or_else(|error| panic!("{error}"));
    let python = python::interpreter().unwrap_or_else(|error| panic!("{error}"));
    let sounds = sounds();
    let cases: Vec<Case> = [
        (0, 44_100.0, 2, 512),
        (0, 44_100.0, 1, 64),
        (1, 48_000.0, 2, 1),
        (2, 96_000.0, 2, 1000),
        (3, 48_000.0, 1, 8192),
        (4, 192_000.0, 2, 333),
    ]
    .into_iter()
    .enumerate()
    .map(|(index, (sound, rate, channels, block))| {
        Case::new(index, &sounds[sound], rate, channels, block)
    })
    .collect();

    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    for case in &cases {
        write(&folder.join(format!("{}.in", case.name)), &case.input);
    }
    let list: Vec<_> = cases.iter().map(Case::json).collect();
    fs::write(folder.join("cases.json"), json!(list).to_string()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vst3_host.py");
    let status = Command::new(python).arg(script).arg(plugin).arg(folder).status().unwrap();
    assert!(status.success(), "the host failed: {status}");

    let parameters = fs::read_to_string(folder.join("parameters.json")).unwrap();
    // By name: the host sorts them by groups.
    let parameters: Map<String, Value> = serde_json::from_str(&parameters).unwrap();
    assert_eq!(parameters.len(), SPECS.len() + 4);
    for choice in ["Stereo", "Bypass", "Root", "Scale"] {
        assert!(parameters.contains_key(choice), "{choice}");
    }
    for spec in &SPECS {
        let number = |value: f32| spec.format(value).replace(spec.unit, "").trim().to_owned();
        let shown = json!({ "unit": spec.unit, "range": [number(spec.min), number(spec.max)] });
        assert_eq!(parameters[spec.name], shown, "{}", spec.id);
    }

    for case in &cases {
        let channels = case.input.len();
        let output = read(&folder.join(format!("{}.out", case.name)), channels);
        assert_same(&output, &case.expected, &case.name);
        let reloaded = read(&folder.join(format!("{}.reloaded", case.name)), channels);
        assert!(reloaded == output, "{} after a reload", case.name);
    }
}
