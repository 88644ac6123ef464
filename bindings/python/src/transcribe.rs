//! Transcription: notes, key and tuning of a recording.

use crate::{
    filter::new_filter,
    record::{KEY, NOTE},
    settings::{apply, decimal, of_preset, value_error},
    sound::Sound,
};
use numpy::{IntoPyArray, PyArray1, PyArray2, ndarray::Array2};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict, PyList, PyTuple},
};
use std::path::PathBuf;
use tone_filter_dsp::{
    Controls, DEFAULT_TEMPO, FoundKey, ToneFilter,
    listener::{NOTES, notes::Notes},
    notes::{midi_note, of_listener},
};
use tone_filter_offline::{
    found::{Finder, KeyAndTuning},
    timeline::Layout,
    transcribe::{Note, Transcriber, midi, score},
};

const PITCHES: usize = 128;

/// Result of `transcribe`.
#[pyclass(frozen, get_all, module = "tone_filter")]
pub struct Transcription {
    /// Notes, sorted by start: list of Note.
    notes: Py<PyList>,
    /// Key of the whole recording: Key, or None if too few notes are found.
    key: Option<Py<PyAny>>,
    /// Frequency of A4 in Hz, within half a semitone of the setting `tuning`; None if the tones do not agree.
    tuning: Option<f64>,
    /// Times of the decisions in s: float64 of shape (decisions,), about 86 a second.
    times: Py<PyArray1<f64>>,
    /// Piano roll: whether each MIDI note is played at each time. Array of bool of shape (128, decisions).
    played: Py<PyArray2<bool>>,
    /// Log odds that each MIDI note is played, from the network: float32 of shape (128, decisions); -inf for notes that the
    /// network lacks or that cannot sound. `played` is True where they are above a threshold, with hysteresis.
    log_odds: Py<PyArray2<f32>>,
    /// Score of the notes as with `live` False: text for `ToneFilter.set_score`, `render` and `tone-filter render --score`.
    score: String,
    /// Notes as the bytes of a MIDI file, which always has 120 beats a minute.
    midi: Py<PyBytes>,
}

type Fields = (
    Py<PyList>,
    Option<Py<PyAny>>,
    Option<f64>,
    Py<PyArray1<f64>>,
    Py<PyArray2<bool>>,
    Py<PyArray2<f32>>,
    String,
    Py<PyBytes>,
);

#[pymethods]
impl Transcription {
    /// Returns a constructor and its arguments, for pickle and copy.
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyTuple>,))> {
        let names = ["notes", "key", "tuning", "times", "played", "log_odds", "score", "midi"];
        let fields: Vec<_> = names.iter().map(|name| slf.getattr(name)).collect::<PyResult<_>>()?;
        Ok((slf.get_type().getattr("_of")?, (PyTuple::new(slf.py(), fields)?,)))
    }

    #[staticmethod]
    fn _of(fields: Fields) -> Self {
        let (notes, key, tuning, times, played, log_odds, score, midi) = fields;
        Self { notes, key, tuning, times, played, log_odds, score, midi }
    }

    /// Returns a summary: number of notes, key and tuning.
    fn __repr__(slf: &Bound<Self>) -> PyResult<String> {
        let (notes, key) = (slf.getattr("notes")?.len()?, slf.getattr("key")?.repr()?);
        let tuning = slf.get().tuning.map_or("None".into(), |hertz| format!("{hertz:.2}"));
        Ok(format!("<Transcription: {notes} notes, key={key}, tuning={tuning}>"))
    }
}

/// Piano roll of the listener's decisions. Each decision adds a time, and to `played` and `log_odds` a column: a value for each
/// of the 128 MIDI notes.
#[derive(Default)]
struct Roll {
    /// Times that the decisions are about, in seconds.
    times: Vec<f64>,
    played: Vec<bool>,
    log_odds: Vec<f32>,
    /// `Decisions::frames` of the last decision that was seen.
    frames: u64,
}

impl Roll {
    /// Adds a column if the filter has decided anew, unless the decision is about a time before the sound. Must be called after
    /// each block of the filter, to miss no decision.
    fn push(&mut self, filter: &ToneFilter) {
        let (listener, decisions) = (filter.listener(), filter.decisions());
        if decisions.frames == self.frames {
            return;
        }
        self.frames = decisions.frames;
        let after = decisions.frames * listener.frame() as u64;
        let Some(time) = after.checked_sub(listener.lookahead() as u64) else { return };
        self.times.push(time as f64 / filter.sample_rate());
        let column = self.played.len();
        self.played.resize(column + PITCHES, false);
        self.log_odds.resize(column + PITCHES, f32::NEG_INFINITY);
        let (sounding, offsets) = (filter.sounding_bands(), filter.offsets());
        let shift = filter.settings().pitch_shift();
        for note in 0..NOTES {
            let Some(tone) = of_listener(note).filter(|tone| sounding.contains(*tone)) else {
                continue;
            };
            let pitch = usize::try_from(midi_note(tone, shift) + i32::from(offsets[tone]));
            if let Some(pitch) = pitch.ok().filter(|pitch| *pitch < PITCHES) {
                self.played[column + pitch] |= decisions.on[note];
                let odds = &mut self.log_odds[column + pitch];
                *odds = odds.max(decisions.logit[note]);
            }
        }
    }

    /// Removes the columns whose time is after `seconds`.
    fn end(&mut self, seconds: f64) {
        let columns = self.times.partition_point(|time| *time <= seconds);
        self.times.truncate(columns);
        self.played.truncate(columns * PITCHES);
        self.log_odds.truncate(columns * PITCHES);
    }
}

/// Returns an array with 128 rows, from columns of 128 values.
fn matrix<T: numpy::Element + Copy>(py: Python, columns: Vec<T>) -> PyResult<Bound<PyArray2<T>>> {
    let matrix = Array2::from_shape_vec((columns.len() / PITCHES, PITCHES), columns);
    let matrix = matrix.map_err(value_error)?;
    Ok(matrix.t().as_standard_layout().into_owned().into_pyarray(py))
}

/// Finds the notes of a recording, its key and its tuning.
///
/// The filter's listener is a causal network of 265 kB. Every 11.6 ms, it decides which of the notes from E1 to G#7 are played.
/// It runs on one core, some tens of times faster than real time, and needs no package but numpy. Ctrl-C interrupts the call.
/// Other Python threads run meanwhile.
///
/// Parameters
/// ----------
/// audio : numpy.ndarray
///     Floats of shape (channels, frames), or (frames,) for one channel, at any level; NaN and infinite samples count as 0.
/// sample_rate : float
///     Sample rate in Hz, 1000 to 1e9.
/// preset : str or path, default "tone-filter"
///     As for `ToneFilter`.
/// live : bool, default False
///     If True, notes as the plugin's MIDI out reports them: at once, including short notes. Otherwise, notes below 70 ms are
///     left out.
/// **settings
///     These concern the listener: `sensitivity` (more or fewer notes), `lookahead` (default True: decisions use the next 46 ms
///     and are more accurate), `listener` ("light" needs less than half of the CPU time), `tuning` (frequency of A4 in Hz) and
///     `transpose`. `range`, `bands`, `scale` and others exclude notes.
///
/// Returns
/// -------
/// Transcription
///
/// Raises
/// ------
/// ValueError, TypeError, OSError
///     As for `ToneFilter` and `ToneFilter.process`.
///
/// Examples
/// --------
/// >>> t = numpy.arange(44100) / 44100
/// >>> found = transcribe(0.3 * numpy.sin(2 * numpy.pi * 440 * t), 44100)
/// >>> [note.pitch for note in found.notes]
/// [69]
/// >>> bool(found.played[69, 40])
/// True
#[pyfunction]
#[pyo3(signature = (audio, sample_rate, preset=PathBuf::from("tone-filter"), *, live=false, **settings),
       text_signature = "(audio, sample_rate, preset='tone-filter', *, live=False, **settings)")]
pub fn transcribe(
    audio: &Bound<PyAny>,
    sample_rate: f64,
    preset: PathBuf,
    live: bool,
    settings: Option<&Bound<PyDict>>,
) -> PyResult<Transcription> {
    let py = audio.py();
    let mut controls = Controls::from(of_preset(py, preset)?);
    controls.settings.lookahead = true;
    apply(&mut controls, settings)?;
    let mut sound = Sound::read(audio)?;
    let seconds = sound.frames() as f64 / sample_rate;
    let mut filter = new_filter(sample_rate, sound.channels(), &controls, DEFAULT_TEMPO)?;
    filter.detect_notes(true);
    filter.reset();
    let (mut finder, mut roll) = (Finder::default(), Roll::default());
    let notes = if live { Notes::live() } else { Notes::checked() };
    let mut transcribers = [notes, Notes::unchecked()].map(Transcriber::new);
    sound.process_whole(py, &mut filter, |filter| {
        finder.push(filter);
        roll.push(filter);
        transcribers.iter_mut().for_each(|transcriber| transcriber.push(filter));
    })?;
    roll.end(seconds);
    let [notes, played] = transcribers.map(|transcriber| transcriber.finish(seconds));
    let KeyAndTuning { key, tuning } = finder.found(&controls.settings);
    let shift = controls.settings.pitch_shift();
    // Notes beyond the MIDI keyboard are left out.
    let records = notes.iter().filter_map(|Note { start, end, tone, offset, velocity, .. }| {
        let pitch = midi_note(*tone, shift) + i32::from(*offset);
        let has_key = (0..PITCHES as i32).contains(&pitch);
        has_key.then(|| NOTE.make(py, (*start, *end, pitch, *velocity)))
    });
    let key = key.map(|FoundKey { root, scale, certainty }| {
        KEY.make(py, (root.name(), scale.id(), decimal(certainty))).map(Bound::unbind)
    });
    Ok(Transcription {
        notes: PyList::new(py, records.collect::<PyResult<Vec<_>>>()?)?.unbind(),
        key: key.transpose()?,
        tuning,
        times: roll.times.into_pyarray(py).unbind(),
        played: matrix(py, roll.played)?.unbind(),
        log_odds: matrix(py, roll.log_odds)?.unbind(),
        score: score(&played).to_string(),
        midi: PyBytes::new(py, &midi(&notes, shift, &Layout::fixed(DEFAULT_TEMPO))).unbind(),
    })
}

/// Finds the notes of a recording, of all instruments together: start, end, pitch and velocity.
///
/// `transcribe` also returns a piano roll, key, tuning and MIDI, at the same cost.
///
/// Parameters
/// ----------
/// audio, sample_rate, preset, live, **settings
///     As for `transcribe`. For example, a `sensitivity` below 50 % is for clean lines, above 50 % for dense music.
///
/// Returns
/// -------
/// list of Note
///     Named tuples of start and end in s, MIDI pitch (28, E1, to 104, G#7) and velocity (1 to 127), sorted by start.
///
/// Raises
/// ------
/// ValueError, TypeError, OSError
///     As for `ToneFilter` and `ToneFilter.process`.
///
/// Examples
/// --------
/// >>> t = numpy.arange(44100) / 44100
/// >>> for start, end, pitch, velocity in notes(0.3 * numpy.sin(2 * numpy.pi * 440 * t), 44100):
/// ...     print(pitch)
/// 69
#[pyfunction]
#[pyo3(signature = (audio, sample_rate, preset=PathBuf::from("tone-filter"), *, live=false, **settings),
       text_signature = "(audio, sample_rate, preset='tone-filter', *, live=False, **settings)")]
pub fn notes(
    audio: &Bound<PyAny>,
    sample_rate: f64,
    preset: PathBuf,
    live: bool,
    settings: Option<&Bound<PyDict>>,
) -> PyResult<Py<PyList>> {
    Ok(transcribe(audio, sample_rate, preset, live, settings)?.notes)
}
