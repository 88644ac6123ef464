//! The built plugin in a CLAP host. Functions set and read its parameters and state, and compare its output with the library's.
//! Others draw settings and states, and count this process's threads. Failures panic.

pub use crate::Signal;
#[cfg(any(target_os = "linux", windows))]
use crate::vst3::Factory;
use crate::{
    Automation, Draws, Music, bundle,
    clap::{Change, Instance, Library, Parameter, parameter_id},
    controls, root,
    signals::noisy_chord,
    target, unlike_default, wav,
};
use serde_json::{Value, json};
use std::{iter::repeat_with, path::PathBuf};
use tone_filter_dsp::{CHOICES, Controls, SPECS, Settings, ToneFilter};

/// Loads the built CLAP bundle.
pub fn library() -> Library {
    Library::load(&bundle::clap().unwrap_or_else(|error| panic!("{error}"))).unwrap()
}

/// Loads the factory of the built VST3 bundle.
#[cfg(any(target_os = "linux", windows))]
pub fn factory() -> Factory {
    Factory::bundled().unwrap_or_else(|error| panic!("{error:#}"))
}

/// Texts that a user types for a parameter: the parameter's title, the typed text, and the text of the resulting value.
pub const TYPED: [(&str, &str, &str); 9] = [
    ("Voice", "square", "Square"),
    ("Root", "Bb", "A#"),
    ("Scale", "minor", "Natural minor"),
    ("Sync", "1/8d", "1/8 dotted"),
    ("Duty", "50%", "50 %"),
    ("Freeze", "ON", "On"),
    ("Output", "-6,5", "-6.5 dB"),
    ("Tone", "8,5 kHz", "8500 Hz"),
    ("Threshold", "-inf", "-60 dB"),
];

/// Returns the interpreter of the Python environment that `cargo xtask test` sets up. This environment has plugin hosts as
/// packages.
pub fn python() -> PathBuf {
    let programs = if cfg!(windows) { "Scripts" } else { "bin" };
    let python = target().join("venv").join(programs).join("python");
    let python = python.with_extension(std::env::consts::EXE_EXTENSION);
    let remedy = "run `cargo xtask test` once, which sets it up";
    assert!(python.exists(), "{} is missing: {remedy}", python.display());
    python
}

/// Loads the built CLAP bundle and creates an instance.
pub fn instance() -> Instance {
    library().instance().unwrap()
}

/// Creates a change of the parameter with the string id `id` to `value`, in CLAP's units, at `frame`.
pub fn change(frame: usize, id: &str, value: f64) -> Change {
    Change { frame, parameter: parameter_id(id), value }
}

/// Sets all settings, and the default routing, by loading a state.
pub fn set(instance: &mut Instance, settings: &Settings) {
    set_controls(instance, &(*settings).into());
}

/// Sets all controls, by loading a state.
pub fn set_controls(instance: &mut Instance, controls: &Controls) {
    let mut state = state(&instance.save().unwrap());
    let settings = &controls.settings;
    for spec in &SPECS {
        state["params"][spec.id] = json!({ "f32": spec.get(settings) });
    }
    for choice in &CHOICES {
        let entry = choice.get(controls);
        state["params"][choice.id] = match choice.is_switch() {
            true => json!({ "bool": entry == 1 }),
            false => json!({ "string": choice.entries[entry].0 }),
        };
    }
    for (key, text) in [
        ("bands", settings.bands.to_string()),
        ("custom", settings.custom.to_string()),
        ("targets", settings.targets.to_string()),
    ] {
        state["fields"][key] = Value::String(Value::String(text).to_string());
    }
    instance.load(&saved(&state)).unwrap();
}

/// Returns the JSON in a saved state. A state begins with eight bytes, the length of the JSON.
pub fn state(saved: &[u8]) -> Value {
    let (length, json) = saved.split_first_chunk().unwrap();
    assert_eq!(u64::from_le_bytes(*length), json.len() as u64);
    serde_json::from_slice(json).unwrap()
}

/// Returns the JSON of a saved state without the fields of the editor's window.
pub fn without_window(saved: &[u8]) -> Value {
    let mut state = state(saved);
    let fields = state["fields"].as_object_mut().unwrap();
    fields.retain(|key, _| !key.starts_with("editor-"));
    state
}

/// Returns the saved state that contains the JSON `state`.
pub fn saved(state: &Value) -> Vec<u8> {
    let json = state.to_string().into_bytes();
    [&(json.len() as u64).to_le_bytes()[..], &json].concat()
}

/// Returns the plugin's exact settings, from its saved state.
pub fn settings(instance: &mut Instance) -> Settings {
    controls_in(&instance.save().unwrap()).settings
}

/// Returns the settings and the routing in a saved state.
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

/// Draws 13 settings with which the filter's output for [`music`] is audible. The last two have lookahead, and so a latency.
pub fn sounds() -> Vec<Settings> {
    const RATE: f64 = 48_000.0;
    let input = music(0.25, RATE);
    let draws = &mut Draws::seeded(1);
    let settings = repeat_with(|| Settings { lookahead: false, ..controls(draws).settings });
    let is_loud = |sound: &Settings| {
        expected(sound, RATE, &input, &[]).iter().flatten().any(|sample| sample.abs() > 0.01)
    };
    let mut sounds: Vec<_> = settings.filter(is_loud).take(13).collect();
    sounds[11..].iter_mut().for_each(|sound| sound.lookahead = true);
    sounds
}

/// Creates an instance in which every setting differs from the default.
pub fn busy(library: &Library) -> Instance {
    let mut instance = library.instance().unwrap();
    set_controls(&mut instance, &unlike_default(&mut Draws::seeded(1)));
    instance
}

/// Draws 14 saved states. The last one also has a score and a mapped MIDI controller.
pub fn states() -> Vec<Vec<u8>> {
    let draws = &mut Draws::seeded(2);
    let mut save = || {
        let mut instance = instance();
        set_controls(&mut instance, &controls(draws));
        instance.save().unwrap()
    };
    let mut states: Vec<_> = repeat_with(&mut save).take(13).collect();
    let mut last = state(&save());
    let score = Music::draw(draws, 5.0).score().to_string();
    last["fields"]["score"] = json!({ "name": "Song", "text": score }).to_string().into();
    last["fields"]["controllers"] = r#"{"1":"mix"}"#.into();
    states.push(saved(&last));
    states
}

/// Draws a value of `parameter`: its minimum, maximum or default, or any value between.
pub fn any_value(draws: &mut Draws, parameter: &Parameter) -> f64 {
    let value = match draws.below(8) {
        0 => parameter.min,
        1 => parameter.max,
        2 => parameter.default,
        _ => draws.between(parameter.min, parameter.max),
    };
    if parameter.stepped { value.round() } else { value }
}

/// Draws a change of any of `parameters` to any value.
pub fn any_change(draws: &mut Draws, parameters: &[Parameter], frame: usize) -> Change {
    let parameter = &parameters[draws.below(parameters.len())];
    Change { frame, parameter: parameter.id, value: any_value(draws, parameter) }
}

/// Asserts that two settings are equal. Numbers may differ by a rounding error, because plugin formats pass normalised values.
pub fn assert_near(actual: &Settings, expected: &Settings) {
    let mut rounded = *actual;
    for spec in &SPECS {
        let (one, other) = (spec.get(actual), spec.get(expected));
        let near = (one - other).abs() <= 2e-6 * one.abs().max(1.0);
        assert!(near, "{} is {one}, not {other}", spec.id);
        spec.set(&mut rounded, other);
    }
    assert_eq!(rounded, *expected);
}

/// Returns noisy chords: a different one in each channel.
pub fn music(seconds: f64, rate: f64) -> Signal {
    let left = noisy_chord(seconds, rate);
    // Generated for 1.5 times the sample rate, but played at `rate`, the chord sounds a fifth lower.
    let mut right = noisy_chord(seconds, 1.5 * rate);
    right.truncate(left.len());
    vec![left, right]
}

/// Returns the demo tune, which has a sample rate of 44.1 kHz.
pub fn demo() -> Signal {
    wav::read(&root().join("assets/demo.wav")).unwrap().0
}

/// Returns the library's output for `input`. The filter starts with the settings `start`. Each of `changes`, which must be
/// sorted, is a frame and all controls from this frame on.
///
/// Sync follows the tempo of the music, as in a host without a tempo.
pub fn expected(
    start: &Settings,
    rate: f64,
    input: &Signal,
    changes: &[(usize, Controls)],
) -> Signal {
    let mut filter = ToneFilter::new(rate, start).unwrap();
    let mut signal = input.clone();
    let mut from = 0;
    let changes = changes.iter().map(|(frame, controls)| (*frame, Some(controls)));
    for (to, controls) in changes.chain([(input[0].len(), None)]) {
        let mut part: Vec<_> = signal.iter_mut().map(|channel| &mut channel[from..to]).collect();
        filter.process(&mut part);
        controls.into_iter().for_each(|controls| filter.set_controls(controls).unwrap());
        from = to;
    }
    signal
}

/// Returns the automation run, and the plugin's parameter changes for it.
///
/// The normalised values of each step are rounded to `f32`, which every plugin format passes exactly. The step's settings are
/// then read back from the plugin. Bands, custom scale and targets stay at their defaults, as they are not parameters.
pub fn automated(rate: f64) -> (Automation, Vec<Change>) {
    let mut automation = Automation::new(1, rate).with_parameters_alone();
    let (mut plugin, mut changes) = (instance(), Vec::new());
    let parameters = plugin.parameters().unwrap();
    for (frame, controls) in &mut automation.steps {
        set_controls(&mut plugin, controls);
        let rounded = |parameter: &Parameter| {
            let share = parameter.share(plugin.value(parameter.id).unwrap());
            Change { frame: 0, parameter: parameter.id, value: parameter.value(share.into()) }
        };
        let values: Vec<_> = parameters.iter().map(rounded).collect();
        plugin.set(&values).unwrap();
        *controls = controls_in(&plugin.save().unwrap());
        changes.extend(values.into_iter().map(|change| Change { frame: *frame, ..change }));
    }
    (automation, changes)
}

/// Asserts that the plugin's output equals the library's within 1e-6 and is not silent. `what` is the prefix of failure messages.
pub fn assert_same(plugin: &Signal, library: &Signal, what: &str) {
    assert!(library.iter().flatten().any(|sample| sample.abs() > 1e-3), "{what}: no sound");
    for (channel, (plugin, library)) in plugin.iter().zip(library).enumerate() {
        assert_eq!(plugin.len(), library.len());
        for (frame, (p, l)) in plugin.iter().zip(library).enumerate() {
            assert!((p - l).abs() <= 1e-6, "{what}: {p}, not {l}, at {frame} of channel {channel}");
        }
    }
}

/// Returns the names of this process's threads.
#[cfg(target_os = "linux")]
pub fn thread_names() -> Vec<String> {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    // A thread that has just ended has no name.
    let name = |thread: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(thread.ok()?.path().join("comm")).ok()
    };
    threads.filter_map(name).collect()
}

/// Returns the number of threads of this process, without the shared I/O threads of D-Bus connections.
#[cfg(target_os = "linux")]
pub fn threads() -> usize {
    let shared = |name: &&String| name.starts_with("async-io") || name.starts_with("blocking-");
    thread_names().iter().filter(|name| !shared(name)).count()
}

/// Waits until the process has at most `threads` threads.
///
/// An editor's thread may outlive the closed editor briefly. While this thread closes OpenGL, neither the display nor the
/// process may end.
#[cfg(target_os = "linux")]
pub fn settle(threads: usize) {
    wait("the editor leaves threads behind", || (self::threads() <= threads).then_some(()));
}

/// Waits until `done` returns a result. Panics with `what` after a minute, which is enough for software rendering on a busy
/// machine.
#[cfg(target_os = "linux")]
pub fn wait<T>(what: &str, mut done: impl FnMut() -> Option<T>) -> T {
    let begun = std::time::Instant::now();
    loop {
        if let Some(result) = done() {
            return result;
        }
        assert!(begun.elapsed().as_secs() < 60, "{what}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
