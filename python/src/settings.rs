//! Settings by their names, as the tables have them.

use crate::record::SETTING;
use pyo3::{
    IntoPyObjectExt,
    exceptions::{PyOSError, PyTypeError, PyUserWarning, PyValueError},
    prelude::*,
    types::PyDict,
};
use std::{ffi::CString, fmt::Display, path::PathBuf, str::FromStr};
use tone_filter_dsp::{CHOICES, Choice, Controls, SPECS, Spec};
use tone_filter_presets::{Error, Loaded, Preset};

/// A setting.
#[derive(Clone, Copy)]
pub enum Setting {
    Number(&'static Spec),
    Choice(&'static Choice),
    Bands,
    Custom,
    Targets,
}

use Setting::{Bands, Custom, Number, Targets};

impl Setting {
    /// All but those that connect the filter to a host.
    pub fn all() -> impl Iterator<Item = Self> {
        let own = |choice: &&Choice| !choice.is_routing() || choice.id == "bypass";
        let choices = CHOICES.iter().filter(own).map(Self::Choice);
        SPECS.iter().map(Number).chain(choices).chain([Bands, Custom, Targets])
    }

    /// The setting called `name`.
    fn find(name: &str) -> PyResult<Self> {
        Self::all().find(|setting| setting.name() == name).ok_or_else(|| {
            let names = Self::all().map(|setting| setting.name()).collect::<Vec<_>>().join(", ");
            PyTypeError::new_err(format!("{name} is no setting; there are {names}"))
        })
    }

    /// Its keyword and attribute: its id, as an identifier.
    pub fn name(self) -> String {
        match self {
            Number(spec) => spec.id.to_owned(),
            Self::Choice(choice) => choice.id.replace('-', "_"),
            Bands => "bands".into(),
            Custom => "custom".into(),
            Targets => "targets".into(),
        }
    }

    /// What it does to the sound.
    fn help(self) -> &'static str {
        match self {
            Number(spec) => spec.help,
            Self::Choice(choice) => choice.help,
            Bands => {
                "The bands that may sound, 1 for on and 0 for off: the 48 from A3 on, then the 29 from E1 on, \
                 which may be left out if all are on."
            }
            Custom => "The notes of the scale \"custom\", 1 for on and 0 for off, A first.",
            Targets => {
                "Where each of the twelve notes sounds with the map \"custom\": twelve names with blanks \
                 between them, for A first."
            }
        }
    }

    /// The texts to choose from.
    fn choices(self) -> Vec<&'static str> {
        match self {
            Self::Choice(choice) if !choice.is_switch() => {
                choice.entries.iter().map(|(id, _)| *id).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The text of its attribute: what it does, its range and its default.
    pub fn doc(self, py: Python) -> PyResult<String> {
        let default = self.get(&Controls::default(), py)?.repr()?;
        let range = match self {
            Number(Spec { min, max, unit, .. }) => format!("{min} to {max} {unit}"),
            Self::Choice(choice) if choice.is_switch() => "True or False".into(),
            Self::Choice(_) => self.choices().join(", "),
            _ => "a text".into(),
        };
        Ok(format!("{}\n\n{range}; default {default}", self.help()))
    }

    /// Its value in `controls`: a number, a text, or True or False.
    pub fn get<'py>(self, controls: &Controls, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let settings = &controls.settings;
        match self {
            Number(spec) => decimal(spec.get(settings)).into_bound_py_any(py),
            Self::Choice(choice) if choice.is_switch() => {
                (choice.get(controls) == 1).into_bound_py_any(py)
            }
            Self::Choice(choice) => choice.entries[choice.get(controls)].0.into_bound_py_any(py),
            Bands => settings.bands.to_string().into_bound_py_any(py),
            Custom => settings.custom.to_string().into_bound_py_any(py),
            Targets => settings.targets.to_string().into_bound_py_any(py),
        }
    }

    /// Puts `value` into `controls`.
    pub fn set(self, controls: &mut Controls, value: &Bound<PyAny>) -> PyResult<()> {
        let settings = &mut controls.settings;
        match self {
            Number(spec) => {
                let number = self.extract::<f64>(value)? as f32;
                spec.check(number).map_err(|error| PyValueError::new_err(error.to_string()))?;
                spec.set(settings, number);
            }
            Self::Choice(choice) if choice.is_switch() => {
                choice.set(controls, usize::from(self.extract::<bool>(value)?));
            }
            Self::Choice(choice) => {
                let text: String = self.extract(value)?;
                let entry = choice.parse(&text).ok_or_else(|| {
                    self.wrong(format_args!(
                        "{text:?} is unknown; use {}",
                        self.choices().join(", ")
                    ))
                })?;
                choice.set(controls, entry);
            }
            Bands => settings.bands = self.parse(value)?,
            Custom => settings.custom = self.parse(value)?,
            Targets => settings.targets = self.parse(value)?,
        }
        Ok(())
    }

    fn extract<'py, T: FromPyObjectOwned<'py, Error: Into<PyErr>>>(
        self,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<T> {
        value.extract().map_err(|error: T::Error| {
            let error: PyErr = error.into();
            PyTypeError::new_err(format!("{}: {}", self.name(), error.value(value.py())))
        })
    }

    fn parse<T: FromStr<Err: Display>>(self, value: &Bound<PyAny>) -> PyResult<T> {
        let text: String = self.extract(value)?;
        text.parse().map_err(|error: T::Err| self.wrong(format_args!("{error}")))
    }

    fn wrong(self, reason: std::fmt::Arguments) -> PyErr {
        PyValueError::new_err(format!("{} = {reason}", self.name()))
    }
}

/// The number that `value` is written as: of 0.1 in 32 bits, 0.1.
pub fn decimal(value: f32) -> f64 {
    value.to_string().parse().unwrap_or_else(|_| value.into())
}

/// Puts all of `settings` into `controls`.
pub fn apply(controls: &mut Controls, settings: Option<&Bound<PyDict>>) -> PyResult<()> {
    settings.into_iter().flatten().try_for_each(|(name, value)| {
        Setting::find(&name.extract::<String>()?)?.set(controls, &value)
    })
}

/// The settings of the preset called `name`, or in the file of this name.
pub fn of_preset(py: Python, name: PathBuf) -> PyResult<Controls> {
    let Loaded { preset, warning } =
        Preset::find(&name.to_string_lossy()).map_err(|error| match &error {
            Error::Read { .. } => PyOSError::new_err(error.to_string()),
            _ => PyValueError::new_err(error.to_string()),
        })?;
    if let Some(warning) = warning {
        let line = CString::new(format!("{}: {warning}", name.display()))?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &line, 1)?;
    }
    Ok(preset.settings.into())
}

/// All settings: what they do, their ranges and choices.
///
/// Returns
/// -------
/// list of Setting
///     Those that `ToneFilter`, `render`, `notes` and `transcribe` take as keywords.
#[pyfunction]
pub fn settings(py: Python) -> PyResult<Vec<Bound<PyAny>>> {
    let row = |setting: Setting| {
        let (range, unit) = match setting {
            Number(spec) => (Some((decimal(spec.min), decimal(spec.max))), spec.unit),
            _ => (None, ""),
        };
        let (min, max) = range.unzip();
        let default = setting.get(&Controls::default(), py)?;
        let choices = pyo3::types::PyTuple::new(py, setting.choices())?;
        SETTING.make(py, (setting.name(), default, min, max, unit, choices, setting.help()))
    };
    Setting::all().map(row).collect()
}
