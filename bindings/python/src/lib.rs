//! Tone Filter for Python: the module `tone_filter._native`. The package `tone_filter` exports all of it, and has its types in
//! `tone_filter/__init__.pyi`.

mod filter;
mod record;
mod settings;
mod sound;
mod transcribe;

use pyo3::{
    prelude::*,
    types::{PyDict, PyTuple},
};
use settings::{apply, of_preset};
use sound::Sound;
use std::path::PathBuf;
use tone_filter_dsp::{Controls, DEFAULT_TEMPO};
use tone_filter_presets::{self as presets, Preset};

/// Filters a whole recording, as `tone-filter render` does. The output has the length of the input and is not delayed.
///
/// `lookahead` (46 ms) is on if the setting `focus` is above 0 and no score is given; the keyword `lookahead` overrides this.
/// Ctrl-C interrupts the call. Other Python threads run meanwhile.
///
/// Parameters
/// ----------
/// audio : numpy.ndarray
///     Floats of shape (channels, frames), or (frames,) for one channel. Full scale is 1; NaN and infinite samples count as
///     0.
/// sample_rate : float
///     Sample rate in Hz, 1000 to 1e9.
/// preset : str or path, default "tone-filter"
///     As for `ToneFilter`.
/// tempo : float, default 120
///     Tempo in beats a minute, above 0, for the setting `sync`.
/// score : str, optional
///     Score that replaces the listener's decisions: `Transcription.score`.
/// **settings
///     Settings that replace those of the preset, see `settings`.
///
/// Returns
/// -------
/// numpy.ndarray
///     Output of the same shape, as float32. Samples may exceed full scale.
///
/// Raises
/// ------
/// ValueError, TypeError, OSError
///     As for `ToneFilter` and `ToneFilter.process`.
///
/// Examples
/// --------
/// >>> noise = 0.1 * numpy.random.default_rng(0).standard_normal((2, 44100))
/// >>> render(noise, 44100, preset="extreme-8-bit", mix=70).shape
/// (2, 44100)
#[pyfunction]
#[pyo3(signature = (audio, sample_rate, preset=PathBuf::from("tone-filter"), *, tempo=DEFAULT_TEMPO, score=None, **settings),
       text_signature = "(audio, sample_rate, preset='tone-filter', *, tempo=120.0, score=None, **settings)")]
fn render<'py>(
    audio: &Bound<'py, PyAny>,
    sample_rate: f64,
    preset: PathBuf,
    tempo: f64,
    score: Option<&str>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = audio.py();
    let mut controls = Controls::from(of_preset(py, preset)?);
    apply(&mut controls, settings)?;
    // A score needs no lookahead.
    controls.settings.lookahead = score.is_none() && controls.settings.focus > 0.0;
    // Applies the settings again, because the keyword `lookahead` takes precedence.
    apply(&mut controls, settings)?;
    let mut sound = Sound::read(audio)?;
    let mut filter = filter::new_filter(sample_rate, sound.channels(), &controls, tempo)?;
    filter.set_score(filter::parse_score(score)?);
    filter.reset();
    sound.process_whole(py, &mut filter, |_| ())?;
    Ok(sound.into_array(py))
}

/// Lists the factory presets.
///
/// Returns
/// -------
/// list of Preset
///     Named tuples of id, name, description and tags; the default sound first, then the published one.
#[pyfunction(name = "presets")]
fn list_presets(py: Python) -> PyResult<Vec<Bound<PyAny>>> {
    let presets = presets::ids().filter_map(|id| Some((id, Preset::factory(id)?)));
    let row = |(id, Preset { name, description, tags, .. }): (&str, Preset)| {
        let tags = PyTuple::new(py, tags)?;
        record::PRESET.make(py, (id, name, description, tags))
    };
    presets.map(row).collect()
}

/// Tone Filter: resonators pick the notes out of any music and give them an 8-bit edge; a neural network finds the notes.
///
/// Audio is a numpy array of floats of shape (channels, frames), or (frames,) for one channel.
///
/// `render` filters a recording; `ToneFilter` filters sound block by block. `notes` and `transcribe` find which notes are played.
/// `presets` and `settings` list the presets and the settings.
#[pymodule]
fn _native(module: &Bound<PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<filter::ToneFilter>()?;
    module.add_class::<transcribe::Transcription>()?;
    filter::add_attributes(&module.py().get_type::<filter::ToneFilter>())?;
    for record in [&record::KEY, &record::NOTE, &record::PRESET, &record::SETTING] {
        module.add(record.name, record.class(module.py())?)?;
    }
    module.add_function(wrap_pyfunction!(render, module)?)?;
    module.add_function(wrap_pyfunction!(transcribe::notes, module)?)?;
    module.add_function(wrap_pyfunction!(transcribe::transcribe, module)?)?;
    module.add_function(wrap_pyfunction!(list_presets, module)?)?;
    module.add_function(wrap_pyfunction!(settings::settings, module)?)
}
