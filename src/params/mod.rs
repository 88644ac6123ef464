//! Settings as plugin parameters, and the other fields of the saved state.
//!
//! Every row of [`SPECS`] and [`CHOICES`] becomes a parameter, so plugin and command have the same ranges, defaults and units.

mod changes;
mod choices;
mod controllers;
mod score;

use changes::{Changes, WatchedText};
pub use choices::ChoiceParam;
use controllers::Controllers;
pub use controllers::{NONE, UNCHANGED};
use crossbeam::atomic::AtomicCell;
use nice_plug::{params::internals::ParamPtr, plugin::ParamValue, prelude::*};
use plugin_guard::lock;
pub use score::ScoreOutput;
use score::ScoreSlot;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};
use tone_filter_dsp::{CHOICES, Controls, SPECS, Settings, Spec, TEXTS, Taper};

// Keys of the fields in the saved state.
const EDITOR_SIZE: &str = "editor-size";
const EDITOR_ZOOM: &str = "editor-zoom";
const EDITOR_MORE: &str = "editor-more";
const EDITOR_ROLL: &str = "editor-roll";
const EDITOR_CONTRAST: &str = "editor-contrast";
const TEMPO: &str = "tempo";
const PRESET: &str = "preset";
const KEEP: &str = "keep";
const CONTROLLERS: &str = "controllers";
const SCORE: &str = "score";

/// Name of the preset of a new instance.
pub const DEFAULT_PRESET: &str = "Tone Filter";
/// Preset name after loading a saved state without a preset name.
const REFERENCE: &str = "Reference";

/// Groups of settings that loading a preset keeps, by the user's choice. Saved in the state, but not part of a sound: undo, A/B
/// and presets ignore it. Aligned for one atomic operation, like [`Size`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[repr(align(2))]
pub struct Keep {
    /// Whether `root`, `scale`, `custom`, `map` and `targets` are kept, also by random sounds. `bands` is never kept, as presets
    /// such as Lead Only mute bands.
    pub scale: bool,
    /// Whether `tuning`, `auto-tuning` and `transpose` are kept.
    pub tuning: bool,
}

const _: () = assert!(AtomicCell::<Keep>::is_lock_free());

/// Logical width and height, aligned so that the processor stores both in one atomic operation. Otherwise [`AtomicCell`] would
/// take one of the locks that all its cells in a process share. nice-plug keeps the audio thread's status in such a cell, so the
/// audio thread could wait for that lock.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(8))]
pub struct Size(pub [f32; 2]);

const _: () = assert!(AtomicCell::<Size>::is_lock_free());

/// Default logical width and height of the window.
pub const DEFAULT_SIZE: [f32; 2] = [1000.0, 640.0];
/// Minimum logical width and height at which the window is legible.
pub const MIN_SIZE: [f32; 2] = [480.0, 300.0];
/// Maximum logical width and height, a limit for damaged sessions.
const MAX_SIZE: [f32; 2] = [8192.0, 8192.0];

pub fn allowed_size(size: [f32; 2]) -> [f32; 2] {
    std::array::from_fn(|axis| size[axis].clamp(MIN_SIZE[axis], MAX_SIZE[axis]))
}

pub fn allowed_zoom(zoom: f32) -> f32 {
    zoom.clamp(0.75, 2.0)
}

/// Parameters and other state that the host saves with its session.
pub struct ToneFilterParams {
    numbers: [FloatParam; SPECS.len()],
    choices: [ChoiceParam; CHOICES.len()],
    /// Settings of [`TEXTS`]. Not parameters, as the 77 band switches alone would clutter a host's list.
    texts: [WatchedText; TEXTS.len()],
    /// Counts the changes of all settings.
    pub changes: Changes,
    /// Whether the host has loaded a state since the last edit of the session.
    pub loaded: AtomicCell<bool>,
    /// Name of the preset that the sound started from. The audio thread must not lock it.
    pub preset: Mutex<String>,
    pub keep: AtomicCell<Keep>,
    pub controllers: Controllers,
    pub score: ScoreSlot,
    pub editor_size: AtomicCell<Size>,
    /// Zoom factor of the editor, 0.75..2.
    pub editor_zoom: AtomicCell<f32>,
    /// Whether the editor shows `Group::MORE`.
    pub editor_more: AtomicCell<bool>,
    /// Whether the editor shows the bands as a piano roll instead of a grid.
    pub editor_roll: AtomicCell<bool>,
    /// Whether the editor has the theme of high contrast.
    pub editor_contrast: AtomicCell<bool>,
    /// Tempo of the music that the user has chosen, in beats per minute; 0 without a choice.
    pub tempo: AtomicCell<f32>,
}

pub enum Control<'a> {
    Number(&'static Spec, &'a FloatParam),
    Choice(&'a ChoiceParam),
}

impl Default for ToneFilterParams {
    fn default() -> Self {
        let changes = Changes::default();
        Self {
            numbers: std::array::from_fn(|index| float_param(index, &changes)),
            choices: choices::all(&changes),
            texts: TEXTS
                .each_ref()
                .map(|text| WatchedText::new(text.bits(&Settings::default()), &changes)),
            changes,
            loaded: AtomicCell::new(false),
            preset: Mutex::new(DEFAULT_PRESET.to_owned()),
            keep: AtomicCell::default(),
            controllers: Controllers::default(),
            score: ScoreSlot::default(),
            editor_size: AtomicCell::new(Size(DEFAULT_SIZE)),
            editor_zoom: AtomicCell::new(1.0),
            editor_more: AtomicCell::new(false),
            editor_roll: AtomicCell::new(false),
            editor_contrast: AtomicCell::new(false),
            tempo: AtomicCell::new(0.0),
        }
    }
}

impl ToneFilterParams {
    /// Returns the current controls, including the host's modulation. All are within their ranges.
    pub fn controls(&self) -> Controls {
        self.read(FloatParam::value, ChoiceParam::value)
    }

    pub fn settings(&self) -> Settings {
        self.controls().settings
    }

    /// Returns the current controls without the host's modulation. All are within their ranges.
    pub fn chosen(&self) -> Controls {
        self.read(FloatParam::unmodulated_plain_value, ChoiceParam::unmodulated)
    }

    fn read(&self, number: fn(&FloatParam) -> f32, choice: fn(&ChoiceParam) -> usize) -> Controls {
        let mut controls = Controls::default();
        let settings = &mut controls.settings;
        for (text, watched) in TEXTS.iter().zip(&self.texts) {
            text.set_bits(settings, watched.load());
        }
        for (spec, param) in SPECS.iter().zip(&self.numbers) {
            spec.set(settings, allowed(spec, number(param)));
        }
        for param in &self.choices {
            param.choice.set(&mut controls, choice(param));
        }
        controls
    }

    /// Sets the settings of [`TEXTS`] to their values in `settings`.
    pub fn set_texts(&self, settings: &Settings) {
        for (text, watched) in TEXTS.iter().zip(&self.texts) {
            watched.store(text.bits(settings));
        }
    }

    /// Returns the parameter called `id`.
    pub fn control(&self, id: &str) -> Option<Control<'_>> {
        let mut numbers = SPECS.iter().zip(&self.numbers);
        let number = numbers.find(|(spec, _)| spec.id == id);
        let number = number.map(|(spec, param)| Control::Number(spec, param));
        let choice = || self.choices.iter().find(|param| param.choice.id == id);
        number.or_else(|| choice().map(Control::Choice))
    }
}

pub fn ids() -> impl Iterator<Item = &'static str> {
    SPECS.iter().map(|spec| spec.id).chain(CHOICES.iter().map(|choice| choice.id))
}

impl Control<'_> {
    /// Returns nice-plug's pointer to the parameter, valid as long as the parameters live.
    pub fn as_ptr(&self) -> ParamPtr {
        match self {
            Self::Number(_, param) => param.as_ptr(),
            Self::Choice(param) => param.as_ptr(),
        }
    }

    /// Returns the parameter's normalised value (0..1) for `controls`.
    pub fn normalized(&self, controls: &Controls) -> f32 {
        match self {
            Self::Number(spec, param) => param.preview_normalized(spec.get(&controls.settings)),
            Self::Choice(param) => param.normalized(param.choice.get(controls)),
        }
    }

    /// Returns the normalised value that nice-plug converts exactly to the value in `controls`. The conversions round, so the
    /// search also tries the neighbours of [`Control::normalized`]. If no value is exact, returns [`Control::normalized`].
    pub fn exact(&self, controls: &Controls) -> f32 {
        let near = self.normalized(controls);
        let Self::Number(spec, param) = self else { return near };
        let plain = spec.get(&controls.settings);
        let above = std::iter::successors(Some(near), |value| Some(value.next_up())).take(64);
        let below = std::iter::successors(Some(near), |value| Some(value.next_down())).take(64);
        let mut exact = above.chain(below).filter(|value| param.preview_plain(*value) == plain);
        exact.find(|value| (0.0..=1.0).contains(value)).unwrap_or(near)
    }

    /// Sets the parameter's setting in `controls` to its value at `normalized` (0..1). The parameter itself stays unchanged.
    pub fn put(&self, controls: &mut Controls, normalized: f32) {
        match self {
            Self::Number(spec, param) => {
                let value = allowed(spec, param.preview_plain(normalized));
                spec.set(&mut controls.settings, value);
            }
            Self::Choice(param) => param.choice.set(controls, param.entry(normalized)),
        }
    }
}

// SAFETY: the pointers are to fields of `self`, and live as long as it. nice-plug holds `self` in an `Arc`, so it never moves.
unsafe impl Params for ToneFilterParams {
    fn param_map(&self) -> Vec<(String, ParamPtr, String)> {
        let numbers = SPECS.iter().zip(&self.numbers);
        let numbers = numbers.map(|(spec, param)| (spec.id, param.as_ptr(), spec.group));
        let choices = self.choices.iter();
        let choices = choices.map(|param| (param.choice.id, param.as_ptr(), param.choice.group));
        let all = numbers.chain(choices);
        all.map(|(id, param, group)| (id.to_owned(), param, group.name().to_owned())).collect()
    }

    fn serialize_fields(&self) -> BTreeMap<String, String> {
        let preset = lock(&self.preset).clone();
        let fields = [
            (EDITOR_SIZE, serde_json::to_string(&self.editor_size.load().0)),
            (EDITOR_ZOOM, serde_json::to_string(&self.editor_zoom.load())),
            (EDITOR_MORE, serde_json::to_string(&self.editor_more.load())),
            (EDITOR_ROLL, serde_json::to_string(&self.editor_roll.load())),
            (EDITOR_CONTRAST, serde_json::to_string(&self.editor_contrast.load())),
            (TEMPO, serde_json::to_string(&self.tempo.load())),
            (PRESET, serde_json::to_string(&preset)),
            (KEEP, serde_json::to_string(&self.keep.load())),
            (CONTROLLERS, serde_json::to_string(&self.controllers.save())),
            (SCORE, serde_json::to_string(&self.score.save())),
        ];
        let settings = self.chosen().settings;
        let texts = TEXTS.iter().map(|it| (it.id, serde_json::to_string(&it.get(&settings))));
        let texts = fields.into_iter().chain(texts);
        texts.filter_map(|(key, text)| Some((key.to_owned(), text.ok()?))).collect()
    }

    fn deserialize_fields(&self, fields: &BTreeMap<String, String>) {
        // A missing or invalid field leaves the window unchanged.
        fn restore<T>(cell: &AtomicCell<T>, value: Option<T>) {
            value.into_iter().for_each(|value| cell.store(value));
        }
        let size = field(fields, EDITOR_SIZE).map(|size| Size(allowed_size(size)));
        restore(&self.editor_size, size);
        restore(&self.editor_zoom, field(fields, EDITOR_ZOOM).map(allowed_zoom));
        restore(&self.editor_more, field(fields, EDITOR_MORE));
        restore(&self.editor_roll, field(fields, EDITOR_ROLL));
        restore(&self.editor_contrast, field(fields, EDITOR_CONTRAST));
        self.tempo.store(field(fields, TEMPO).unwrap_or_default());
        let mut settings = Settings::REFERENCE;
        for setting in &TEXTS {
            // For a missing or invalid text, such as a mask for other bands, the value of the reference stays.
            let text = field::<String>(fields, setting.id);
            let _ = text.map(|text| setting.set(&mut settings, &text));
        }
        self.set_texts(&settings);
        self.keep.store(field(fields, KEEP).unwrap_or_default());
        self.controllers.load(&field(fields, CONTROLLERS).unwrap_or_default());
        self.score.load(field(fields, SCORE));
        let preset = field(fields, PRESET).unwrap_or_else(|| REFERENCE.to_owned());
        *lock(&self.preset) = preset;
        self.loaded.store(true);
    }
}

/// Returns the field `key` of a saved state; `None` if it is missing or invalid.
fn field<T: serde::de::DeserializeOwned>(
    fields: &BTreeMap<String, String>,
    key: &str,
) -> Option<T> {
    serde_json::from_str(fields.get(key)?).ok()
}

/// Completes a saved state before it is loaded. A missing or invalid parameter, for instance of another version, gets its value
/// in [`Settings::REFERENCE`]; a number out of range is clamped. nice-plug would leave all these parameters unchanged.
pub fn complete_state(state: &mut PluginState) {
    for spec in &SPECS {
        let value = match state.params.get(spec.id) {
            // Adding 0 turns -0 into 0. nice-plug takes both for equal, and would not replace one by the other.
            Some(&ParamValue::F32(value)) => allowed(spec, value) + 0.0,
            _ => spec.reference(),
        };
        state.params.insert(spec.id.to_owned(), ParamValue::F32(value));
    }
    for choice in &CHOICES {
        let known = match state.params.get(choice.id) {
            Some(ParamValue::Bool(_)) => choice.is_switch(),
            Some(ParamValue::String(id)) => choice.entries.iter().any(|entry| entry.0 == id),
            _ => false,
        };
        if !known {
            let entry = choice.reference();
            let value = match choice.is_switch() {
                true => ParamValue::Bool(entry == 1),
                false => ParamValue::String(choice.entries[entry].0.to_owned()),
            };
            state.params.insert(choice.id.to_owned(), value);
        }
    }
}

fn float_param(index: usize, changes: &Changes) -> FloatParam {
    let spec = &SPECS[index];
    let &Spec { min, max, .. } = spec;
    let range = match spec.taper {
        Taper::Linear | Taper::Whole => FloatRange::Linear { min, max },
        // nice-plug has no logarithmic range. A power law with the geometric mean in the middle comes close.
        Taper::Logarithmic => {
            let middle = ((min * max).sqrt() - min) / (max - min);
            FloatRange::Skewed { min, max, factor: 0.5f32.log(middle) }
        }
    };
    // No step size is set: with nice-plug's step size, a -0 becomes 0 after saving and loading. The filter itself rounds.
    FloatParam::new(spec.name, spec.default(), range)
        // The number's text ends in the blank before the unit: CLAP hosts get number and unit in one text. VST3 hosts get the
        // unit alone, and most of them add a blank themselves.
        .with_unit(spec.unit)
        .with_value_to_string(Arc::new(|value| format!("{} ", spec.number(value, spec.decimals))))
        .with_string_to_value(Arc::new(|text| spec.parse(text)))
        .with_callback(changes.callback())
}

/// Returns `value`, limited to the range of `spec`; for a NaN the reference, as for any invalid value.
fn allowed(spec: &Spec, value: f32) -> f32 {
    if value.is_nan() { spec.reference() } else { value.clamp(spec.min, spec.max) }
}

#[cfg(test)]
mod tests;
