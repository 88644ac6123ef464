//! Key tracks: MIDI files that play the bands (setting `keys`). Scores: notes that replace those of the listener.

use crate::error::Error;
use std::{fs, io::Read, iter::Peekable, ops::Range, path::Path, sync::Arc, vec::IntoIter};
use tone_filter_dsp::{KeyEvent, Score, ToneFilter};
pub use tone_filter_midi::Drums;
use tone_filter_midi::{EXTENSIONS, MidiFile};

/// MIDI file that plays the keys of a filter. By default, it is empty, and plays none.
#[derive(Debug, Clone, Default)]
pub struct KeyTrack(Option<Arc<MidiFile>>);

impl KeyTrack {
    /// Reads the standard MIDI file `path`, and merges all tracks and channels.
    ///
    /// # Errors
    /// If the file cannot be read, is not a MIDI file, or has no notes.
    pub fn read(path: &Path, drums: Drums) -> Result<Self, Error> {
        read_midi(path, drums).map(|file| Self(Some(file.into())))
    }

    /// Returns a description of unsupported content that is not played; `None` if there is none.
    pub fn left_out(&self) -> Option<&str> {
        self.0.as_ref()?.left_out()
    }

    /// Returns the first tempo in beats per minute; `None` if the file sets none.
    pub fn tempo(&self) -> Option<f64> {
        self.0.as_ref()?.tempo()
    }
}

fn read_midi(path: &Path, drums: Drums) -> Result<MidiFile, Error> {
    let bytes = fs::read(path).map_err(|source| Error::Read { path: path.into(), source })?;
    MidiFile::parse(&bytes, drums).map_err(|source| Error::Midi { path: path.into(), source })
}

/// Maximum size of a score in bytes: more than a day of music.
const LARGEST: u64 = 64 << 20;

/// Score read from a file.
pub struct Notes {
    /// Notes of the file.
    pub score: Score,
    /// Description of invalid or unsupported content that the score lacks; `None` if there is none.
    pub left_out: Option<String>,
}

/// Reads a score: from a MIDI file if the name ends in `.mid`, `.midi` or `.rmi`, otherwise from the text format of
/// [`tone_filter_dsp::Score`].
///
/// # Errors
/// If the file cannot be read, or is not a valid MIDI file or score.
pub fn read_notes(path: &Path, drums: Drums) -> Result<Notes, Error> {
    let extension = path.extension().map(|own| own.to_string_lossy().to_lowercase());
    if extension.is_some_and(|own| EXTENSIONS.contains(&own.as_str())) {
        let file = read_midi(path, drums)?;
        return Ok(Notes { score: file.score(), left_out: file.left_out().map(Into::into) });
    }
    let mut bytes = Vec::new();
    fs::File::open(path)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
        .map_err(|source| Error::Read { path: path.into(), source })?;
    if bytes.len() as u64 > LARGEST {
        return Err(Error::LargeScore(path.into()));
    }
    let read = Score::read(&String::from_utf8_lossy(&bytes));
    let (score, bad) = read.map_err(|source| Error::NotScore { path: path.into(), source })?;
    Ok(Notes { score, left_out: bad.map(|bad| bad.to_string()) })
}

/// Player that sends keys to a filter.
pub struct KeyPlayer {
    /// Upcoming events, each with the frame of the filter's input at which it is due.
    events: Peekable<IntoIter<(u64, KeyEvent)>>,
    /// Number of frames processed so far.
    frame: u64,
}

impl KeyPlayer {
    /// Creates a player at the start of `keys` for `filter`, which must be at rest. Delays all events by
    /// [`ToneFilter::bank_delay`], because keys act on the bands.
    pub fn new(keys: &KeyTrack, filter: &ToneFilter) -> Self {
        let (rate, delay) = (filter.sample_rate(), filter.bank_delay() as u64);
        let due = |seconds: f64| (seconds * rate).round() as u64 + delay;
        let events = keys.0.iter().flat_map(|file| file.events());
        let events: Vec<_> = events.map(|(time, event)| (due(*time), *event)).collect();
        Self { events: events.into_iter().peekable(), frame: 0 }
    }

    /// Skips to `frame` of the input, and drops events that are due before it.
    pub fn from(mut self, frame: u64) -> Self {
        while self.events.next_if(|(due, _)| *due < frame).is_some() {}
        self.frame = frame;
        self
    }

    /// Filters the frames `range` of `channels`, and plays the keys that are due in them. Calls `each` after each of the
    /// filter's blocks.
    pub fn process(
        &mut self,
        filter: &mut ToneFilter,
        channels: &mut [Vec<f32>],
        range: Range<usize>,
        mut each: impl FnMut(&ToneFilter),
    ) {
        let (start, end) = (self.frame, self.frame + range.len() as u64);
        self.frame = end;
        let due = std::iter::from_fn(|| self.events.next_if(|(due, _)| *due < end));
        let events = due.map(|(due, event)| ((due - start) as usize, event));
        let mut parts: Vec<_> = channels.iter_mut().map(|c| &mut c[range.clone()]).collect();
        filter.process_events(&mut parts, &[], events, |_, filter| each(filter));
    }
}
