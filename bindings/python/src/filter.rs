//! The filter for sound that comes block by block.
//!
//! A filter has a lock, because several threads of Python may use it. So it is not for real time. The input's samples are copied,
//! so that the interpreter can run other threads during the processing. One wheel serves all versions of Python (abi3).

use crate::{
    settings::{Keyword, apply, of_preset, value_error},
    sound::{MOST_CHANNELS, Sound},
};
use pyo3::{
    prelude::*,
    sync::MutexExt,
    types::{PyCFunction, PyDict, PyTuple, PyType},
};
use std::{
    fmt::Display,
    ops::RangeInclusive,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tone_filter_dsp::{Controls, DEFAULT_TEMPO, KeyEvent, Score, Settings, ToneFilter as Inner};

/// The tone filter, for sound that comes block by block.
///
/// The filter keeps its state from call to call, so the sizes of the blocks do not change the output. Every setting is an
/// attribute. When it is set, the sound moves to the new value smoothly, within 20 ms. The audio may have any number of channels
/// up to `channels`. Several threads may use one filter: their calls wait for each other, and other Python threads run during
/// processing.
///
/// Parameters
/// ----------
/// sample_rate : float
///     Sample rate in Hz, 1000 to 1e9.
/// preset : str or path, default "tone-filter"
///     Id or name of a preset, see `presets`; the name of a preset that you have saved; or the path of a `.json` file.
/// channels : int, default 2
///     Maximum number of channels of the audio, 1 to 64.
/// tempo : float, default 120
///     Tempo in beats a minute, above 0, for the setting `sync`.
/// **settings
///     Settings that replace those of the preset, see `settings`.
///
/// Raises
/// ------
/// ValueError
///     If the preset does not exist, or a value is out of range.
/// TypeError
///     If a setting does not exist, or a value has a wrong type.
/// OSError
///     If the preset's file cannot be read.
///
/// Examples
/// --------
/// >>> filter = ToneFilter(48000, preset="organ", mix=70)
/// >>> block = numpy.zeros((2, 512), dtype="float32")
/// >>> filter.process(block).shape
/// (2, 512)
/// >>> filter.voice = "square"
/// >>> filter.mix
/// 70.0
#[pyclass(frozen, module = "tone_filter", name = "ToneFilter")]
pub struct ToneFilter(Mutex<Box<State>>);

/// State of a filter. It must be aligned to cache lines. Python does not align objects so, so the class has it in a box.
struct State {
    inner: Inner,
    channels: usize,
    /// Settings and routing as the caller set them, before the tempo is applied.
    controls: Controls,
    tempo: f64,
}

impl State {
    /// Moves smoothly to `controls` at `tempo`.
    fn set(&mut self, controls: Controls, tempo: f64) -> PyResult<()> {
        let settings = at_tempo(&controls.settings, tempo)?;
        self.inner.set_controls(&Controls { settings, ..controls }).map_err(value_error)?;
        (self.controls, self.tempo) = (controls, tempo);
        Ok(())
    }
}

impl ToneFilter {
    /// Returns the settings and the routing.
    pub fn controls(&self, py: Python) -> Controls {
        self.lock(py).controls
    }

    /// Changes the settings with `edit`. If `edit` fails or a value is invalid, nothing changes.
    pub fn change(
        &self,
        py: Python,
        edit: impl FnOnce(&mut Controls) -> PyResult<()>,
    ) -> PyResult<()> {
        let mut state = self.lock(py);
        let (mut controls, tempo) = (state.controls, state.tempo);
        edit(&mut controls)?;
        state.set(controls, tempo)
    }

    fn lock<'a>(&'a self, py: Python) -> MutexGuard<'a, Box<State>> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn play(&self, py: Python, event: KeyEvent) {
        self.lock(py).inner.play(event);
    }
}

#[pymethods]
impl ToneFilter {
    #[new]
    #[pyo3(signature = (sample_rate, preset=PathBuf::from("tone-filter"), *, channels=2, tempo=DEFAULT_TEMPO, **settings),
           text_signature = "(sample_rate, preset='tone-filter', *, channels=2, tempo=120.0, **settings)")]
    fn new(
        py: Python,
        sample_rate: f64,
        preset: PathBuf,
        channels: usize,
        tempo: f64,
        settings: Option<&Bound<PyDict>>,
    ) -> PyResult<Self> {
        check("channels", channels, 1..=MOST_CHANNELS)?;
        let mut controls = Controls::from(of_preset(py, preset)?);
        apply(&mut controls, settings)?;
        let inner = new_filter(sample_rate, channels, &controls, tempo)?;
        Ok(Self(Mutex::new(Box::new(State { inner, channels, controls, tempo }))))
    }

    /// Filters a block of any length.
    ///
    /// Parameters
    /// ----------
    /// audio : numpy.ndarray
    ///     Floats of shape (channels, frames), or (frames,) for one channel. Full scale is 1; NaN and infinite samples
    ///     count as 0.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///     Output of the same shape, as float32. With `lookahead`, it is `latency` frames late.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `audio` is not an array of floats.
    /// ValueError
    ///     If `audio` has neither one nor two axes, or has more channels than the filter.
    fn process<'py>(&self, audio: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = audio.py();
        let mut sound = Sound::read(audio)?;
        let mut state = self.lock(py);
        let (channels, maximum) = (sound.channels(), state.channels);
        if channels > maximum {
            return Err(value_error(format_args!(
                "audio has {channels} channels, and the filter is made for {maximum}; \
                 make it with channels={channels}, or pass audio.T if the axes are (frames, channels)"
            )));
        }
        let inner = &mut state.inner;
        py.detach(|| sound.process(inner));
        drop(state);
        Ok(sound.into_array(py))
    }

    /// Resets the filter to the state of a new one with the same settings, without keys. A score stays, and starts again.
    fn reset(&self, py: Python) {
        self.lock(py).inner.reset();
    }

    /// Moves smoothly, within 20 ms, to a preset or to several settings at once. If a value is invalid, nothing changes.
    ///
    /// Parameters
    /// ----------
    /// preset : str or path, optional
    ///     As for `ToneFilter`. Presets leave out `bypass`. Without a preset, settings that are not given stay as they are.
    /// **settings
    ///     Settings to change, see `settings`.
    ///
    /// Raises
    /// ------
    /// ValueError, TypeError, OSError
    ///     As for `ToneFilter`.
    #[pyo3(signature = (preset=None, **settings))]
    fn set(
        &self,
        py: Python,
        preset: Option<PathBuf>,
        settings: Option<&Bound<PyDict>>,
    ) -> PyResult<()> {
        let preset = preset.map(|name| of_preset(py, name)).transpose()?;
        self.change(py, |controls| {
            controls.settings = preset.unwrap_or(controls.settings);
            apply(controls, settings)
        })
    }

    /// All settings by their names, as a dict. `ToneFilter(rate, **filter.settings)` creates a filter with the same sound.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let controls = self.controls(py);
        let settings = PyDict::new(py);
        for setting in Keyword::all() {
            settings.set_item(setting.name(), setting.get(&controls, py)?)?;
        }
        Ok(settings)
    }

    /// Sample rate in Hz.
    #[getter]
    fn sample_rate(&self, py: Python) -> f64 {
        self.lock(py).inner.sample_rate()
    }

    /// Maximum number of channels of the audio.
    #[getter]
    fn channels(&self, py: Python) -> usize {
        self.lock(py).channels
    }

    /// Latency of the output in frames. It is 46 ms with the setting `lookahead`, otherwise 0.
    #[getter]
    fn latency(&self, py: Python) -> usize {
        self.lock(py).inner.latency()
    }

    /// Tempo in beats a minute, above 0, for the setting `sync`.
    #[getter]
    fn get_tempo(&self, py: Python) -> f64 {
        self.lock(py).tempo
    }

    #[setter]
    fn set_tempo(&self, py: Python, tempo: f64) -> PyResult<()> {
        let mut state = self.lock(py);
        let controls = state.controls;
        state.set(controls, tempo)
    }

    /// Sets a score, a list of notes that replaces the listener's decisions. Its notes begin on time, without latency. `seek`
    /// sets the position in it.
    ///
    /// Parameters
    /// ----------
    /// score : str or None
    ///     `Transcription.score`, or the text of a file written by `tone-filter bands song.wav --score song.tfs`. None removes
    ///     the score: the filter finds notes in the audio again.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `score` is invalid. Then nothing changes.
    #[pyo3(signature = (score))]
    fn set_score(&self, py: Python, score: Option<&str>) -> PyResult<()> {
        let score = parse_score(score)?;
        self.lock(py).inner.set_score(score);
        Ok(())
    }

    /// Sets the position in the score for the next frame, in seconds.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the time is not finite.
    fn seek(&self, py: Python, seconds: f64) -> PyResult<()> {
        if !seconds.is_finite() {
            return Err(value_error(format_args!("seconds = {seconds}; use a finite time")));
        }
        self.lock(py).inner.seek(seconds);
        Ok(())
    }

    /// Presses a key. The setting `keys` says how keys choose bands. The key acts on the output from the next block on, with
    /// `lookahead`, too.
    ///
    /// Parameters
    /// ----------
    /// pitch : int
    ///     MIDI note, 0 to 127. Notes from 28 (E1) to 104 (G#7) have a band.
    /// velocity : float, default 1
    ///     0 to 1; the band's gain is its square. 0 releases the key.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If an argument is out of range.
    #[pyo3(signature = (pitch, velocity=1.0))]
    fn key_on(&self, py: Python, pitch: i64, velocity: f32) -> PyResult<()> {
        check("velocity", velocity, 0.0..=1.0)?;
        self.play(py, KeyEvent::Key(key(pitch)?, velocity));
        Ok(())
    }

    /// Releases the key of a MIDI note, 0 to 127.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `pitch` is out of range.
    fn key_off(&self, py: Python, pitch: i64) -> PyResult<()> {
        self.play(py, KeyEvent::Key(key(pitch)?, 0.0));
        Ok(())
    }

    /// Releases all keys and the sustain pedal.
    fn all_keys_off(&self, py: Python) {
        self.play(py, KeyEvent::ReleaseAll);
    }

    /// Presses or releases the sustain pedal. While pressed, it holds keys that are released.
    fn sustain(&self, py: Python, down: bool) {
        self.play(py, KeyEvent::Sustain(down));
    }

    /// Transposes all bands by -48 to 48 semitones, unless the setting `keys` is "off".
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `semitones` is out of range.
    fn bend(&self, py: Python, semitones: f32) -> PyResult<()> {
        check("semitones", semitones, -48.0..=48.0)?;
        self.play(py, KeyEvent::Bend(semitones));
        Ok(())
    }

    /// Returns a Python expression that creates a filter with the same settings. It names those that differ from the default.
    fn __repr__(&self, py: Python) -> PyResult<String> {
        let state = self.lock(py);
        let State { channels, controls, tempo, .. } = **state;
        let rate = state.inner.sample_rate();
        drop(state);
        let mut text = format!("ToneFilter({rate:?}, channels={channels}, tempo={tempo:?}");
        for setting in Keyword::all() {
            let value = setting.get(&controls, py)?;
            if !value.eq(setting.get(&Controls::default(), py)?)? {
                text += &format!(", {}={}", setting.name(), value.repr()?);
            }
        }
        Ok(text + ")")
    }
}

/// Returns `pitch` as a MIDI note; an error if it is not within 0 to 127.
fn key(pitch: i64) -> PyResult<u8> {
    check("pitch", pitch, 0..=127).map(|()| pitch as u8)
}

fn check<T: PartialOrd + Display>(name: &str, value: T, range: RangeInclusive<T>) -> PyResult<()> {
    if range.contains(&value) {
        return Ok(());
    }
    let (min, max) = range.into_inner();
    Err(value_error(format_args!("{name} = {value} is out of range; use {min} to {max}")))
}

/// Adds an attribute for each setting to the class of [`ToneFilter`].
pub fn add_attributes(class: &Bound<PyType>) -> PyResult<()> {
    let py = class.py();
    let property = py.import("builtins")?.getattr("property")?;
    for setting in Keyword::all() {
        let get = move |args: &Bound<PyTuple>, _: Option<&Bound<PyDict>>| {
            let (filter,) = args.extract::<(Bound<ToneFilter>,)>()?;
            let controls = filter.get().controls(args.py());
            Ok::<_, PyErr>(setting.get(&controls, args.py())?.unbind())
        };
        let set = move |args: &Bound<PyTuple>, _: Option<&Bound<PyDict>>| {
            let (filter, value) = args.extract::<(Bound<ToneFilter>, Bound<PyAny>)>()?;
            filter.get().change(args.py(), |controls| setting.set(controls, &value))
        };
        let get = PyCFunction::new_closure(py, None, None, get)?;
        let set = PyCFunction::new_closure(py, None, None, set)?;
        class.setattr(setting.name(), property.call1((get, set, py.None(), setting.doc(py)?))?)?;
    }
    Ok(())
}

fn at_tempo(settings: &Settings, tempo: f64) -> PyResult<Settings> {
    if !(tempo.is_finite() && tempo > 0.0) {
        return Err(value_error(format_args!("tempo = {tempo} is out of range; use more than 0")));
    }
    Ok(settings.at_tempo(tempo))
}

/// Creates a filter at rest, with the settings at `tempo` (beats a minute).
pub fn new_filter(rate: f64, channels: usize, controls: &Controls, tempo: f64) -> PyResult<Inner> {
    let settings = at_tempo(&controls.settings, tempo)?;
    let mut inner = Inner::new(rate, &settings).map_err(value_error)?.with_channels(channels);
    inner.set_routing(controls.routing);
    inner.reset();
    Ok(inner)
}

/// Parses the text of a score. `Transcription.score` and `tone-filter bands --score` write such texts. `None` gives `None`.
pub fn parse_score(text: Option<&str>) -> PyResult<Option<Arc<Score>>> {
    let score = text.map(str::parse).transpose();
    Ok(score.map_err(|error| value_error(format_args!("score, {error}")))?.map(Arc::new))
}
