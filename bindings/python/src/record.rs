//! The module's records are Python's named tuples, so they unpack, compare and convert to tables as tuples do.

use pyo3::{prelude::*, sync::PyOnceLock, types::PyTuple};

/// Class of a named tuple, created on first use.
pub struct Record {
    pub name: &'static str,
    fields: &'static [&'static str],
    doc: &'static str,
    class: PyOnceLock<Py<PyAny>>,
}

pub static NOTE: Record = Record::new(
    "Note",
    &["start", "end", "pitch", "velocity"],
    "A note that is played.\n\n\
     start, end: seconds from the start of the audio.\n\
     pitch: MIDI note; 69 is A4, 60 middle C.\n\
     velocity: 1 to 127, for -60 to -3 dB of the power at the note's frequency; a sine of full scale has -3 dB.",
);

pub static KEY: Record = Record::new(
    "Key",
    &["root", "scale", "certainty"],
    "The key of music.\n\n\
     root: its name, such as \"C\" or \"F#\".\n\
     scale: \"major\", \"natural-minor\" or \"harmonic-minor\".\n\
     certainty: 0 to 1; below 0.5, the filter does not follow it.",
);

pub static PRESET: Record = Record::new(
    "Preset",
    &["id", "name", "description", "tags"],
    "A sound that comes with the package.\n\n\
     id: the value for an argument `preset`.\n\
     name, description: for people.\n\
     tags: words to find it by.",
);

pub static SETTING: Record = Record::new(
    "Setting",
    &["name", "default", "min", "max", "unit", "choices", "help"],
    "A setting with its default and its range.\n\n\
     name: the keyword and attribute.\n\
     default: a number, a text, or True or False; that of the preset \"tone-filter\".\n\
     min, max: the range of a number, in its unit; else None.\n\
     unit: such as \"dB\"; empty without one.\n\
     choices: the texts to choose from; empty for other settings.\n\
     help: what it does to the sound.",
);

impl Record {
    const fn new(name: &'static str, fields: &'static [&'static str], doc: &'static str) -> Self {
        Self { name, fields, doc, class: PyOnceLock::new() }
    }

    pub fn class<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyAny>> {
        let class = self.class.get_or_try_init(py, || {
            let new = py.import("collections")?.getattr("namedtuple")?;
            let class = new.call1((self.name, self.fields))?;
            class.setattr("__module__", "tone_filter")?;
            class.setattr("__doc__", self.doc)?;
            PyResult::Ok(class.unbind())
        })?;
        Ok(class.bind(py))
    }

    /// Creates a tuple with `values`, in the order of the fields.
    pub fn make<'py>(
        &self,
        py: Python<'py>,
        values: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.class(py)?.call1(values.into_pyobject(py)?)
    }
}
