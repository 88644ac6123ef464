//! Creation of filters and scores from Python arguments.

use pyo3::{exceptions::PyValueError, prelude::*};
use std::sync::Arc;
use tone_filter_dsp::{Controls, Score, Settings, ToneFilter};

pub fn value_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Returns `settings` at `tempo` beats a minute.
pub fn at_tempo(settings: &Settings, tempo: f64) -> PyResult<Settings> {
    if !(tempo.is_finite() && tempo > 0.0) {
        return Err(value_error(format_args!("tempo = {tempo} is out of range; use more than 0")));
    }
    Ok(settings.at_tempo(tempo))
}

/// Creates a filter at rest.
pub fn filter(
    sample_rate: f64,
    channels: usize,
    controls: &Controls,
    tempo: f64,
) -> PyResult<ToneFilter> {
    let settings = at_tempo(&controls.settings, tempo)?;
    let mut inner =
        ToneFilter::new(sample_rate, &settings).map_err(value_error)?.with_channels(channels);
    inner.set_routing(controls.routing);
    inner.reset();
    Ok(inner)
}

/// Parses a score, as `Transcription.score` and `tone-filter bands --score` write it; `None` gives `None`.
pub fn score(text: Option<&str>) -> PyResult<Option<Arc<Score>>> {
    let score = text.map(str::parse).transpose();
    Ok(score.map_err(|error| value_error(format_args!("score, {error}")))?.map(Arc::new))
}
