//! Settings as Python keywords and attributes.

use crate::record::SETTING;
use pyo3::{
    IntoPyObjectExt,
    exceptions::{PyOSError, PyTypeError, PyUserWarning, PyValueError},
    prelude::*,
    types::PyDict,
};
use std::{ffi::CString, path::PathBuf};
use tone_filter_dsp::{Controls, Setting, Settings, Spec};
use tone_filter_presets::{Error, Loaded, Preset};

use Setting::{Choice, Number, Text};

pub fn value_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A setting as a Python keyword and attribute.
#[derive(Clone, Copy)]
pub struct Keyword(Setting);

impl Keyword {
    /// Returns all settings except connections to a host: `listen`, `midi_out` and `mpe`.
    pub fn all() -> impl Iterator<Item = Self> {
        let is_keyword = |setting: &Setting| !setting.is_routing() || setting.id() == "bypass";
        Setting::all().filter(is_keyword).map(Self)
    }

    fn find(name: &str) -> PyResult<Self> {
        Self::all().find(|setting| setting.name() == name).ok_or_else(|| {
            let names = Self::all().map(|setting| setting.name()).collect::<Vec<_>>().join(", ");
            PyTypeError::new_err(format!("{name} is no setting; there are {names}"))
        })
    }

    /// Returns the keyword: the setting's id with underscores for hyphens.
    pub fn name(self) -> String {
        self.0.id().replace('-', "_")
    }

    /// Returns the ids of a choice's entries. A choice between off and on has none here, as in Python it is a bool. Other
    /// settings have none either.
    fn choices(self) -> Vec<&'static str> {
        match self.0 {
            Choice(choice) if !choice.is_switch() => {
                choice.entries.iter().map(|(id, _)| *id).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the docstring of the attribute: help, range and default.
    pub fn doc(self, py: Python) -> PyResult<String> {
        let default = self.get(&Controls::default(), py)?.repr()?;
        let range = match self.0 {
            Number(Spec { min, max, unit, .. }) => format!("{min} to {max} {unit}"),
            Choice(choice) if choice.is_switch() => "True or False".into(),
            Choice(_) => self.choices().join(", "),
            Text(text) => text.of.to_string(),
        };
        Ok(format!("{}\n\n{range}; default {default}", self.0.help()))
    }

    /// Returns the value in `controls`: a number, a str or a bool.
    pub fn get<'py>(self, controls: &Controls, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.0 {
            Number(spec) => decimal(spec.get(&controls.settings)).into_bound_py_any(py),
            Choice(choice) if choice.is_switch() => {
                (choice.get(controls) == 1).into_bound_py_any(py)
            }
            other => other.text(controls).into_bound_py_any(py),
        }
    }

    pub fn set(self, controls: &mut Controls, value: &Bound<PyAny>) -> PyResult<()> {
        let settings = &mut controls.settings;
        match self.0 {
            Number(spec) => {
                let number = self.extract::<f64>(value)? as f32;
                spec.check(number).map_err(value_error)?;
                spec.set(settings, number);
            }
            Choice(choice) if choice.is_switch() => {
                choice.set(controls, usize::from(self.extract::<bool>(value)?));
            }
            Choice(choice) => {
                let text: String = self.extract(value)?;
                let wrong = || format!("{text:?} is unknown; use {}", self.choices().join(", "));
                let entry = choice.parse(&text).ok_or_else(|| self.wrong(wrong()))?;
                choice.set(controls, entry);
            }
            Text(text) => {
                let set = text.set(settings, &self.extract::<String>(value)?);
                set.map_err(|error| self.wrong(error))?;
            }
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

    fn wrong(self, reason: impl std::fmt::Display) -> PyErr {
        value_error(format_args!("{} = {reason}", self.name()))
    }
}

/// Returns the shortest decimal number that rounds to `value`: 0.1 for the f32 nearest to 0.1.
pub fn decimal(value: f32) -> f64 {
    value.to_string().parse().unwrap_or_else(|_| value.into())
}

pub fn apply(controls: &mut Controls, settings: Option<&Bound<PyDict>>) -> PyResult<()> {
    settings.into_iter().flatten().try_for_each(|(name, value)| {
        Keyword::find(&name.extract::<String>()?)?.set(controls, &value)
    })
}

/// Returns the settings of a preset. `name` is its id, its name or the path of its file. Passes a warning of the preset's
/// reader on as a warning in Python.
pub fn of_preset(py: Python, name: PathBuf) -> PyResult<Settings> {
    let Loaded { preset, warning } =
        Preset::find(&name.to_string_lossy()).map_err(|error| match &error {
            Error::Read { .. } => PyOSError::new_err(error.to_string()),
            _ => value_error(error),
        })?;
    if let Some(warning) = warning {
        let line = CString::new(format!("{}: {warning}", name.display()))?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &line, 1)?;
    }
    Ok(preset.settings)
}

/// Lists all settings, with their effects, ranges and choices.
///
/// Returns
/// -------
/// list of Setting
///     The settings that `ToneFilter`, `render`, `notes` and `transcribe` take as keywords.
#[pyfunction]
pub fn settings(py: Python) -> PyResult<Vec<Bound<PyAny>>> {
    let row = |setting: Keyword| {
        let (range, unit) = match setting.0 {
            Number(spec) => (Some((decimal(spec.min), decimal(spec.max))), spec.unit),
            _ => (None, ""),
        };
        let (min, max) = range.unzip();
        let default = setting.get(&Controls::default(), py)?;
        let choices = pyo3::types::PyTuple::new(py, setting.choices())?;
        let help = setting.0.help();
        SETTING.make(py, (setting.name(), default, min, max, unit, choices, help))
    };
    Keyword::all().map(row).collect()
}
