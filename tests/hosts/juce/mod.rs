//! Tests of the built VST3 plugin in two independent hosts based on JUCE: pedalboard and DawDreamer.
//!
//! The output must equal the library's.

use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, path::Path, process::Command};
use tempfile::TempDir;
use tone_filter_dsp::{DEFAULT_TEMPO, Kernel, KeyEvent, Keys, Settings, ToneFilter};
use tone_filter_testkit::{
    assert_same_bits, bundle,
    clap::{Change, Instance, Parameter},
    parameters_alone,
    plugin::{
        Signal, assert_same, automated, demo, expected, instance, music, python, set, settings,
        sounds,
    },
    sweep::part,
};

/// Test case: runs of the plugin, and the library's output for each.
struct Case {
    name: String,
    rate: f64,
    block: usize,
    parameters: Value,
    input: Signal,
    /// Latency in samples, which the host compensates.
    latency: usize,
    /// Output without automation and notes.
    expected: Signal,
    /// Automation: parameter name, and a normalised value per buffer. Only one case has it.
    automation: BTreeMap<String, Vec<f32>>,
    /// Output with `automation`. Empty without it.
    automated: Signal,
    /// Output while the host plays [`NOTES`].
    played: Signal,
}

/// Notes that the host plays: key, velocity, first sample, length in samples. No start or end is next to a multiple of 64.
const NOTES: [(u8, u8, usize, usize); 3] =
    [(69, 100, 1_000, 9_000), (76, 127, 4_000, 20_010), (57, 40, 14_000, 3_000)];

/// Returns the library's output for `input` with [`NOTES`] as keys.
fn with_notes(sound: &Settings, rate: f64, input: &Signal) -> Signal {
    let on = NOTES.map(|(key, velocity, start, _)| (start, key, f32::from(velocity) / 127.0));
    let off = NOTES.map(|(key, _, start, length)| (start + length, key, 0.0));
    let mut events = [on, off].concat();
    events.sort_by_key(|(frame, ..)| *frame);
    let events = events.into_iter().map(|(frame, key, value)| (frame, KeyEvent::Key(key, value)));
    let mut output = input.clone();
    let mut parts: Vec<_> = output.iter_mut().map(Vec::as_mut_slice).collect();
    ToneFilter::new(rate, sound).unwrap().process_events(&mut parts, &[], events, |_, _| ());
    output
}

impl Case {
    fn new(index: usize, sound: &Settings, rate: f64, channels: usize, block: usize) -> Self {
        let input = if rate == 44_100.0 { demo() } else { music(1.0, rate) };
        let name = format!("case{index}-{channels}-channels-{rate}-Hz-blocks-of-{block}");
        Self::of(name, sound, rate, input[..channels].to_vec(), block)
    }

    fn of(name: String, sound: &Settings, rate: f64, input: Signal, block: usize) -> Self {
        // Normalised values of CLAP, rounded to `f32` as in these hosts. The hosts send only values that differ from the default.
        let (mut wanted, mut instance) = (instance(), instance());
        set(&mut wanted, &parameters_alone(sound));
        let parameters = instance.parameters().unwrap();
        let share = |instance: &mut Instance, parameter: &Parameter| {
            parameter.share(instance.value(parameter.id).unwrap())
        };
        let shares: Vec<_> =
            parameters.iter().map(|parameter| share(&mut wanted, parameter)).collect();
        for (parameter, value) in parameters.iter().zip(&shares) {
            if share(&mut instance, parameter) != *value {
                let value = parameter.value((*value).into());
                instance.set(&[Change { frame: 0, parameter: parameter.id, value }]).unwrap();
            }
        }
        // These hosts have a tempo of 120 beats per minute.
        let actual = settings(&mut instance).at_tempo(DEFAULT_TEMPO);
        let parameters = parameters.into_iter().zip(shares);
        let parameters =
            parameters.map(|(parameter, share)| (parameter.name, json!(share))).collect();
        let played = with_notes(&Settings { keys: Keys::Hold, ..actual }, rate, &input);
        let latency = ToneFilter::new(rate, &actual).unwrap().latency();
        let longer: Signal = input.iter().map(|c| [&c[..], &vec![0.0; latency]].concat()).collect();
        let mut expected = expected(&actual, rate, &longer, &[]);
        expected.iter_mut().for_each(|channel| drop(channel.drain(..latency)));
        let (automation, automated) = (BTreeMap::new(), Vec::new());
        Self {
            name,
            rate,
            block,
            parameters,
            input,
            latency,
            expected,
            automation,
            automated,
            played,
        }
    }

    /// Creates the case in which all parameters of the default sound are automated.
    fn automation() -> Self {
        const BLOCK: usize = 1024;
        let (automation, changes) = automated(48_000.0);
        let (input, blocks) = (automation.input.clone(), automation.input[0].len() / BLOCK);
        let values = |parameter: Parameter| {
            let points = changes.iter().filter(|change| change.parameter == parameter.id);
            let points: Vec<_> =
                points.map(|change| (change.frame, parameter.share(change.value))).collect();
            // Before its first change, the parameter has its last value from the previous run.
            let at = |frame: usize| {
                points.iter().rev().find(|(from, _)| *from <= frame).or(points.last()).unwrap().1
            };
            (parameter.name.clone(), (0..blocks).map(|block| at(block * BLOCK)).collect())
        };
        // The host plays the input twice. The second run starts with the settings at the end of the first.
        let start = automation.steps.last().unwrap().1.settings;
        Self {
            automation: instance().parameters().unwrap().into_iter().map(values).collect(),
            automated: automation.expected_from(&start, Kernel::best()),
            ..Self::of("automation".to_owned(), &Settings::default(), 48_000.0, input, BLOCK)
        }
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "rate": self.rate,
            "channels": self.input.len(),
            "block": self.block,
            "parameters": self.parameters,
            "latency": self.latency,
            "automation": self.automation,
            "keys": 1.0 / (Keys::ALL.len() - 1) as f64,
            "notes": NOTES,
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

/// Runs the host called `host` with the case of automation and a random third of `cases`. A case is the index of the sound, the
/// rate, the number of channels and the buffer size.
///
/// Checks the files that the host writes. Returns their folder and the cases.
fn play(host: &str, cases: &[(usize, f64, usize, usize)]) -> (TempDir, Vec<Case>) {
    let plugin = bundle::vst3().unwrap_or_else(|error| panic!("{error}"));
    let sounds = sounds();
    let cases = (0..).zip(part(3, cases)).map(|(index, &(sound, rate, channels, block))| {
        Case::new(index, &sounds[sound], rate, channels, block)
    });
    let cases: Vec<Case> = cases.chain([Case::automation()]).collect();

    let folder = tempfile::tempdir().unwrap();
    let file = |case: &Case, kind: &str| folder.path().join(format!("{}.{kind}", case.name));
    for case in &cases {
        write(&file(case, "in"), &case.input);
    }
    let list: Vec<_> = cases.iter().map(Case::json).collect();
    fs::write(folder.path().join("cases.json"), json!(list).to_string()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("hosts/juce/host.py");
    let mut python = Command::new(python());
    let status = python.arg(script).arg(host).arg(plugin).arg(folder.path()).status().unwrap();
    assert!(status.success(), "the host failed: {status}");

    for case in &cases {
        let channels = case.input.len();
        let output = read(&file(case, "out"), channels);
        assert_same(&output, &case.expected, &case.name);
        let reloaded = read(&file(case, "reloaded"), channels);
        assert!(reloaded == output, "{} after a reload", case.name);
    }
    (folder, cases)
}

#[test]
fn dawdreamer_plays_automates_and_reloads() {
    let (folder, cases) = play(
        "dawdreamer",
        &[
            (0, 44_100.0, 2, 512),
            (1, 48_000.0, 2, 64),
            (2, 96_000.0, 2, 1000),
            (3, 48_000.0, 2, 4096),
            (5, 48_000.0, 2, 128),
        ],
    );
    for case in &cases {
        let output = |kind: &str| {
            read(&folder.path().join(format!("{}.{kind}", case.name)), case.input.len())
        };
        assert_same(&output("played"), &case.played, &format!("{} played", case.name));
        if !case.automation.is_empty() {
            assert_same_bits(&output("automated"), &case.automated);
            assert_same_bits(&output("played"), &case.played);
        }
    }
}

#[test]
fn pedalboard_plays_and_reloads() {
    play(
        "pedalboard",
        &[
            (0, 44_100.0, 2, 512),
            (0, 44_100.0, 1, 64),
            (1, 48_000.0, 2, 1),
            (3, 48_000.0, 1, 8192),
            (4, 192_000.0, 2, 333),
            (8, 48_000.0, 2, 512),
            (11, 44_100.0, 2, 512),
            (11, 96_000.0, 1, 1000),
        ],
    );
}
