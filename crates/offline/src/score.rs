//! MIDI files that play the bands (setting `keys`). Scores: notes that replace those of the listener.

use crate::{
    error::{Error, Fault},
    formats::extension,
};
use std::{fs, io::Read, iter::Peekable, ops::Range, path::Path, vec::IntoIter};
use tone_filter_dsp::{KeyEvent, Score, ToneFilter};
use tone_filter_midi::EXTENSIONS;
pub use tone_filter_midi::{Drums, MidiFile};

/// Reads the standard MIDI file `path`, and merges all tracks and channels.
///
/// # Errors
/// If the file cannot be read, is not a MIDI file, or has no notes.
pub fn read_midi(path: &Path, drums: Drums) -> Result<MidiFile, Error> {
    let bytes = fs::read(path).map_err(|error| Fault::Read(error).at(path))?;
    MidiFile::parse(&bytes, drums).map_err(|error| Fault::Midi(error).at(path))
}

/// Maximum size of a score in bytes: more than a day of music.
const LARGEST: u64 = 64 << 20;

/// Reads a score: from a MIDI file if the name ends in `.mid`, `.midi` or `.rmi`, otherwise from the text format of
/// [`tone_filter_dsp::Score`]. Also returns a description of invalid or unsupported content that the score lacks; `None` if there
/// is none.
///
/// # Errors
/// If the file cannot be read, or is not a valid MIDI file or score.
pub fn read_score(path: &Path, drums: Drums) -> Result<(Score, Option<String>), Error> {
    if extension(path).is_some_and(|extension| EXTENSIONS.contains(&&*extension)) {
        let file = read_midi(path, drums)?;
        return Ok((file.score(), file.left_out().map(Into::into)));
    }
    let mut bytes = Vec::new();
    fs::File::open(path)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
        .map_err(|error| Fault::Read(error).at(path))?;
    if bytes.len() as u64 > LARGEST {
        return Err(Fault::LargeScore.at(path));
    }
    let read = Score::read(&String::from_utf8_lossy(&bytes));
    let (score, bad) = read.map_err(|error| Fault::NotScore(error).at(path))?;
    Ok((score, bad.map(|bad| bad.to_string())))
}

/// Player that sends keys to a filter.
pub struct KeyPlayer {
    /// Upcoming events, each with the frame of the filter's input at which it is due.
    events: Peekable<IntoIter<(u64, KeyEvent)>>,
    /// Frame of the input that is processed next.
    frame: u64,
}

impl KeyPlayer {
    /// Creates a player of `keys` that begins at `frame` of the input. No key of `filter` may be held. Without `keys`, the
    /// player only filters. Delays all events by [`ToneFilter::bank_delay`], because keys act on the bands.
    pub fn new(keys: Option<&MidiFile>, filter: &ToneFilter, frame: u64) -> Self {
        let (rate, delay) = (filter.sample_rate(), filter.bank_delay() as u64);
        let due = |seconds: f64| (seconds * rate).round() as u64 + delay;
        let events = keys.into_iter().flat_map(MidiFile::events);
        let events = events.map(|(time, event)| (due(*time), *event));
        let events: Vec<_> = events.filter(|(due, _)| *due >= frame).collect();
        Self { events: events.into_iter().peekable(), frame }
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
