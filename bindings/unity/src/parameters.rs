//! Parameters: a preset, the filter's numbers and choices, and the number of the instance.

use crate::interface::ParameterDefinition;
use std::{
    ffi::{CString, c_char},
    sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering},
    },
};
use tone_filter_dsp::{Controls, Setting, Settings, Taper};
use tone_filter_presets::{Preset, ids};

/// Number of values of the parameter Instance.
pub const INSTANCES: usize = 64;

/// Parameter that Unity's mixers show and save.
#[derive(Debug, Clone, Copy)]
pub enum Parameter {
    /// Factory preset that replaces the settings except Morph. The value is its index in [`PRESET_SETTINGS`] plus 1, or 0 for
    /// none.
    Preset,
    /// Number or choice of the filter. The value of a choice is the index of its entry.
    Setting(Setting),
    /// Number by which scripts address the instance.
    Instance,
}

/// All parameters. Unity identifies them by name, so their order may change.
pub static PARAMETERS: LazyLock<Vec<Parameter>> = LazyLock::new(|| {
    // Texts have no values that a mixer could save, and Unity has no MIDI output.
    let is_parameter = |setting: &Setting| {
        !matches!(setting, Setting::Text(_)) && !["midi-out", "mpe"].contains(&setting.id())
    };
    let settings = Setting::all().filter(is_parameter).map(Parameter::Setting);
    [Parameter::Preset].into_iter().chain(settings).chain([Parameter::Instance]).collect()
});

/// Settings of the factory presets. Mixers are saved with an index into this list, from 1 on, so new presets come last.
pub static PRESET_SETTINGS: LazyLock<Vec<Settings>> =
    LazyLock::new(|| ids().filter_map(|id| Some(Preset::factory(id)?.settings)).collect());

impl Parameter {
    /// Returns the name: the setting's id, capitalised and with blanks for hyphens. Ids never change.
    pub fn name(&self) -> String {
        let id = match self {
            Self::Preset => "preset",
            Self::Setting(setting) => setting.id(),
            Self::Instance => "instance",
        };
        let (first, rest) = id.split_at(1);
        first.to_uppercase() + &rest.replace('-', " ")
    }

    /// Returns the unit of a number; otherwise an empty text.
    pub fn unit(&self) -> &'static str {
        if let Self::Setting(setting) = self { setting.unit() } else { "" }
    }

    /// Returns the description. It lists the entries of a choice or of the presets with their numbers.
    pub fn description(&self) -> String {
        let help = match self {
            Self::Preset => {
                "A factory preset in place of all other parameters but Morph, Bypass, Listen and Instance."
            }
            Self::Setting(setting) => setting.help(),
            Self::Instance => {
                "The number by which scripts find this filter. Filters with the same number do the same."
            }
        };
        let entries = self.entries().into_iter().enumerate();
        entries.fold(help.to_owned(), |text, (index, entry)| format!("{text} {index}: {entry}."))
    }

    /// Returns the ids of a choice's entries, or `none` and the presets' ids, in the order of their numbers; otherwise nothing.
    pub fn entries(&self) -> Vec<&'static str> {
        match self {
            Self::Preset => ["none"].into_iter().chain(ids()).collect(),
            Self::Setting(setting) => setting.entries().iter().map(|(id, _)| *id).collect(),
            Self::Instance => Vec::new(),
        }
    }

    /// Returns the minimum and the maximum of the value.
    pub fn range(&self) -> [f32; 2] {
        match self {
            Self::Preset => [0.0, ids().count() as f32],
            Self::Setting(setting) => setting.range(),
            Self::Instance => [0.0, (INSTANCES - 1) as f32],
        }
    }

    /// Returns the value in a new instance.
    pub fn default(&self) -> f32 {
        match self {
            Self::Setting(setting) => setting.value(&Controls::default()),
            Self::Preset | Self::Instance => 0.0,
        }
    }

    /// Returns the valid value nearest to `value`: in range, and whole unless the parameter is continuous. `None` for NaN.
    pub fn valid(&self, value: f32) -> Option<f32> {
        let [min, max] = self.range();
        let continuous =
            matches!(self, Self::Setting(Setting::Number(spec)) if spec.taper != Taper::Whole);
        let value = if continuous { value } else { value.round() };
        (!value.is_nan()).then(|| value.clamp(min, max))
    }

    /// Returns the slider's exponent: it puts the geometric mean of a logarithmic range in the slider's middle.
    fn display_exponent(&self) -> f32 {
        match self {
            Self::Setting(Setting::Number(spec)) if spec.taper == Taper::Logarithmic => {
                (1.0 + (spec.max / spec.min).sqrt()).log2()
            }
            _ => 1.0,
        }
    }

    /// Returns the definition for Unity. Its description is never freed.
    pub fn definition(&self) -> ParameterDefinition {
        let [min, max] = self.range();
        let description = CString::new(self.description()).unwrap_or_default();
        ParameterDefinition {
            name: text(&self.name()),
            unit: text(self.unit()),
            description: description.into_raw(),
            min,
            max,
            default_value: self.default(),
            display_scale: 1.0,
            display_exponent: self.display_exponent(),
        }
    }
}

/// Returns `text` with a NUL, cut to `N - 1` bytes.
pub fn text<const N: usize>(text: &str) -> [c_char; N] {
    let mut chars = [0; N];
    for (char, byte) in chars[..N - 1].iter_mut().zip(text.bytes()) {
        *char = byte as c_char;
    }
    chars
}

/// Values of an instance's parameters. Any thread may set and read them at any time.
pub struct RawValues(Vec<AtomicU32>);

impl Default for RawValues {
    fn default() -> Self {
        let bits = |parameter: &Parameter| AtomicU32::new(parameter.default().to_bits());
        Self(PARAMETERS.iter().map(bits).collect())
    }
}

impl RawValues {
    /// Sets a parameter to the valid value nearest to `value`. Returns false for an unknown parameter or NaN.
    pub fn set(&self, index: usize, value: f32) -> bool {
        let valid = PARAMETERS.get(index).and_then(|parameter| parameter.valid(value));
        let cell = self.0.get(index).zip(valid);
        cell.inspect(|(cell, valid)| cell.store(valid.to_bits(), Ordering::Relaxed)).is_some()
    }

    /// Returns the value of the parameter with this index; `None` beyond the last one.
    pub fn get(&self, index: usize) -> Option<f32> {
        self.0.get(index).map(|cell| f32::from_bits(cell.load(Ordering::Relaxed)))
    }

    /// Returns the current values of all parameters.
    pub fn read(&self) -> ParameterValues {
        let mut values = ParameterValues::default();
        let ParameterValues { controls, preset, instance } = &mut values;
        for (parameter, cell) in PARAMETERS.iter().zip(&self.0) {
            let value = f32::from_bits(cell.load(Ordering::Relaxed));
            match parameter {
                Parameter::Preset => *preset = (value as usize).checked_sub(1),
                Parameter::Setting(setting) => setting.set_value(controls, value),
                Parameter::Instance => *instance = value as usize,
            }
        }
        values
    }
}

/// Values of all parameters at one time, in the types that the filter uses.
#[derive(Debug, Default, PartialEq)]
pub struct ParameterValues {
    /// Settings and routing from all parameters [`Parameter::Setting`].
    pub controls: Controls,
    /// Index of the factory preset in [`PRESET_SETTINGS`]; `None` without a preset.
    pub preset: Option<usize>,
    /// Number by which scripts address the instance.
    pub instance: usize,
}
