//! Helpers of the tests of the built plugin: its settings, the library's output for the same settings, and the
//! comparison of the two.
#![allow(dead_code, reason = "every test uses some of it")]

use crate::common::noisy_chord;
use serde_json::Value;
use std::path::Path;
use tone_filter_dsp::{
    BandMask, CHOICES, Controls, DEFAULT_TEMPO, Map, PitchClass, PitchClasses, SPECS, Scale,
    Settings, Stereo, ToneFilter, Voice,
};
use tone_filter_testkit::Automation;
use xtask::{
    bundle,
    host::{Change, Descriptor, Instance, Library, parameter_id},
};

/// Planar samples.
pub type Signal = Vec<Vec<f32>>;

/// The built CLAP bundle and the plugin in it.
pub fn library() -> (Library, Descriptor) {
    let bundle = bundle::clap().unwrap_or_else(|error| panic!("{error}"));
    let library = Library::load(&bundle).unwrap();
    let plugin = library.plugins().unwrap().remove(0);
    (library, plugin)
}

/// A new instance of the only plugin in `library`.
pub fn new(library: &Library) -> Instance {
    library.instantiate(&library.plugins().unwrap()[0].id).unwrap()
}

pub fn instance() -> Instance {
    let (library, plugin) = library();
    library.instantiate(&plugin.id).unwrap()
}

pub fn change(frame: usize, id: &str, value: f64) -> Change {
    Change { frame, parameter: parameter_id(id), value }
}

/// [`set_controls`] without connections.
pub fn set(instance: &mut Instance, settings: &Settings) {
    set_controls(instance, &(*settings).into());
}

/// Sets every parameter through its text, as if a user typed it.
pub fn set_controls(instance: &mut Instance, controls: &Controls) {
    let settings = &controls.settings;
    let mut changes = Vec::new();
    for spec in &SPECS {
        let text = spec.format(spec.get(settings));
        let value = instance.text_to_value(parameter_id(spec.id), &text).unwrap();
        changes.push(change(0, spec.id, value.unwrap_or_else(|| panic!("{} {text}", spec.id))));
    }
    changes.extend(CHOICES.iter().map(|choice| change(0, choice.id, choice.get(controls) as f64)));
    // Unchanged values are not sent, as in VST3 hosts: the plugin would round them.
    changes.retain(|change| instance.value(change.parameter).unwrap() != change.value);
    instance.set(&changes).unwrap();
    // Mask and custom scale are not parameters, but fields of the state.
    let mut state = state(&instance.save().unwrap());
    for (key, text) in [
        ("bands", settings.bands.to_string()),
        ("custom", settings.custom.to_string()),
        ("targets", settings.targets.to_string()),
    ] {
        state["fields"][key] = Value::String(Value::String(text).to_string());
    }
    instance.load(&saved(&state)).unwrap();
}

/// The JSON in a saved state, which has eight bytes of length in front of it.
pub fn state(saved: &[u8]) -> Value {
    let (length, json) = saved.split_first_chunk().unwrap();
    assert_eq!(u64::from_le_bytes(*length), json.len() as u64);
    serde_json::from_slice(json).unwrap()
}

/// The saved state with that JSON.
pub fn saved(state: &Value) -> Vec<u8> {
    let json = state.to_string().into_bytes();
    [&(json.len() as u64).to_le_bytes()[..], &json].concat()
}

/// The plugin's exact settings, from its saved state.
pub fn settings(instance: &mut Instance) -> Settings {
    settings_in(&instance.save().unwrap())
}

/// The settings in a saved state.
pub fn settings_in(saved: &[u8]) -> Settings {
    controls_in(saved).settings
}

/// Settings and connections in a saved state.
pub fn controls_in(saved: &[u8]) -> Controls {
    let state = state(saved);
    let value = |id: &str, kind: &str| &state["params"][id][kind];
    let field = |key: &str| state["fields"][key].as_str().unwrap();
    let digits = |key: &str| serde_json::from_str::<String>(field(key)).unwrap();
    let mut controls = Controls::from(Settings {
        bands: digits("bands").parse().unwrap(),
        custom: digits("custom").parse().unwrap(),
        targets: digits("targets").parse().unwrap(),
        ..Settings::default()
    });
    for spec in &SPECS {
        spec.set(&mut controls.settings, value(spec.id, "f32").as_f64().unwrap() as f32);
    }
    for choice in &CHOICES {
        let entry = match choice.is_switch() {
            true => usize::from(value(choice.id, "bool").as_bool().unwrap()),
            false => {
                let id = value(choice.id, "string").as_str().unwrap();
                choice.entries.iter().position(|entry| entry.0 == id).unwrap()
            }
        };
        choice.set(&mut controls, entry);
    }
    controls
}

/// Settings far from those of a new instance and from each other; the last two have a latency.
pub fn sounds() -> Vec<Settings> {
    let reference = Settings::REFERENCE;
    vec![
        reference,
        Settings { mix: 100.0, floor: -70.0, threshold: -50.0, ..reference },
        Settings { stereo: Stereo::Stereo, ring: 0.2, release: 40.0, tone: 12_000.0, ..reference },
        Settings { tuning: 442.0, transpose: -5.0, drive: 3.0, output: -6.0, ..reference },
        Settings { ceiling: 0.0, ring: 8.0, mix: 80.0, output: 6.0, drive: 300.0, ..reference },
        Settings { root: PitchClass::new(7), scale: Scale::Major, mix: 100.0, ..reference },
        Settings {
            bands: BandMask::ALL.with(24, false).with(28, false),
            custom: PitchClasses::ALL.with(7, false),
            scale: Scale::Custom,
            mix: 100.0,
            ..reference
        },
        Settings { stereo: Stereo::Stereo, focus: 0.0, mix: 80.0, ..Settings::default() },
        Settings { voice: Voice::Square, octave: -1.0, voices: 5.0, mix: 80.0, ..reference },
        Settings { voice: Voice::Saw, stereo: Stereo::Stereo, ..Settings::default() },
        Settings {
            voice: Voice::Triangle,
            map: Map::Custom,
            targets: "A A C C D D E E G G A A".parse().unwrap(),
            glide: 120.0,
            vibrato: 40.0,
            ..Settings::default()
        },
        Settings { focus: 20.0, lookahead: true, ..reference },
        Settings { focus: 40.0, sensitivity: 70.0, lookahead: true, ..Settings::default() },
    ]
}

/// The saved state of an instance for each of [`sounds`].
pub fn states(library: &Library) -> Vec<Vec<u8>> {
    let save = |sound: &Settings| {
        let mut instance = new(library);
        set(&mut instance, sound);
        instance.save().unwrap()
    };
    let mut states: Vec<_> = sounds().iter().map(save).collect();
    // One has a score and a mapped controller.
    states.extend(states.last().map(|last| {
        let mut state = state(last);
        let text = (0..40).map(|note| format!("{}.5 {} {}\n", note / 8, note / 8 + 1, 40 + note));
        let text = format!("tone-filter-score 1\n{}", text.collect::<String>());
        let score = serde_json::json!({ "name": "Song", "text": text });
        state["fields"]["score"] = score.to_string().into();
        state["fields"]["controllers"] = r#"{"1":"mix"}"#.into();
        saved(&state)
    }));
    states
}

/// A different chord in each channel, both in noise.
pub fn music(seconds: f64, rate: f64) -> Signal {
    let left = noisy_chord(seconds, rate);
    // Generated at 1.5 times the sample rate, it sounds a fifth lower.
    let mut right = noisy_chord(seconds, 1.5 * rate);
    right.truncate(left.len());
    vec![left, right]
}

/// The two channels of a WAV file of 16-bit integers or 32-bit floats, full scale 1.
pub fn wav(path: &Path) -> Signal {
    let mut file = hound::WavReader::open(path).unwrap();
    let samples: Vec<f32> = match file.spec().sample_format {
        hound::SampleFormat::Float => file.samples().map(Result::unwrap).collect(),
        hound::SampleFormat::Int => {
            file.samples::<i16>().map(|sample| f32::from(sample.unwrap()) / 32_768.0).collect()
        }
    };
    (0..2).map(|channel| samples.iter().skip(channel).step_by(2).copied().collect()).collect()
}

/// The demo tune, which is at 44.1 kHz.
pub fn demo() -> Signal {
    wav(&xtask::root().join("assets/demo.wav"))
}

/// The library's output for `input`, with settings and routing that change at the given frames.
pub fn expected(start: &Settings, rate: f64, input: &Signal, then: &[(usize, Controls)]) -> Signal {
    let mut filter = ToneFilter::new(rate, start).unwrap();
    let mut signal = input.clone();
    let mut rest: Vec<&mut [f32]> = signal.iter_mut().map(Vec::as_mut_slice).collect();
    let mut from = 0;
    for (frame, controls) in then {
        let (mut part, after) = rest
            .into_iter()
            .map(|channel| channel.split_at_mut(frame - from))
            .unzip::<_, _, Vec<_>, Vec<_>>();
        filter.process(&mut part);
        filter.set_settings(&controls.settings).unwrap();
        filter.set_routing(controls.routing);
        (rest, from) = (after, *frame);
    }
    filter.process(&mut rest);
    signal
}

/// A score of automation as the plugin plays it: the changes of its parameters, with values that are 32-bit numbers in every format, and
/// the settings that the plugin then has. Bands, custom scale and targets are no parameters.
pub fn automated(rate: f64) -> (Automation, Vec<Change>) {
    let mut automation = Automation::new(1, rate).with_parameters_alone();
    let (mut plugin, mut changes) = (instance(), Vec::new());
    let parameters = plugin.parameters().unwrap();
    for (frame, controls) in &mut automation.steps {
        let numbers = SPECS.iter().map(|spec| (spec.id, spec.format(spec.get(&controls.settings))));
        let numbers = numbers.map(|(id, text)| {
            let value = plugin.text_to_value(parameter_id(id), &text).unwrap();
            (id, value.unwrap_or_else(|| panic!("{id} {text}")))
        });
        let choices = CHOICES.iter().map(|choice| (choice.id, choice.get(controls) as f64));
        let values: Vec<_> = numbers.collect::<Vec<_>>().into_iter().chain(choices).collect();
        let own: Vec<_> = parameters
            .iter()
            .map(|parameter| {
                let value = values.iter().find(|(id, _)| parameter_id(id) == parameter.id);
                let range = parameter.max - parameter.min;
                let share = (value.unwrap().1 - parameter.min) / range;
                let value = parameter.min + range * f64::from(share as f32);
                Change { frame: 0, parameter: parameter.id, value }
            })
            .collect();
        plugin.set(&own).unwrap();
        *controls = controls_in(&plugin.save().unwrap());
        // Settings of the plugin at the tempo of a host that has none.
        controls.settings = controls.settings.at_tempo(DEFAULT_TEMPO);
        changes.extend(own.into_iter().map(|change| Change { frame: *frame, ..change }));
    }
    (automation, changes)
}

pub fn assert_same(plugin: &Signal, library: &Signal, what: &str) {
    assert!(library.iter().flatten().any(|sample| sample.abs() > 1e-3), "{what}: no sound");
    for (channel, (plugin, library)) in plugin.iter().zip(library).enumerate() {
        assert_eq!(plugin.len(), library.len());
        for (frame, (p, l)) in plugin.iter().zip(library).enumerate() {
            assert!((p - l).abs() <= 1e-6, "{what}: {p}, not {l}, at {frame} of channel {channel}");
        }
    }
}

/// The current number of threads of this process.
#[cfg(target_os = "linux")]
pub fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// Waits until at most `threads` are left. An editor's thread may run for a moment after the editor is closed, and
/// neither the display nor the process may end while it is still closing OpenGL.
#[cfg(target_os = "linux")]
pub fn settle(threads: usize) {
    let begun = std::time::Instant::now();
    while self::threads() > threads {
        assert!(begun.elapsed().as_secs() < 60, "the editor leaves threads behind");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
