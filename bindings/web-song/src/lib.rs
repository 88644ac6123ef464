//! Songs of sound files for the web page: functions that a worker calls with numbers and pointers alone.
//!
//! [`song_new`] returns the address of a [`Web`], which is the first argument of all other functions. The worker begins a song with
//! [`song_start`], writes samples to [`song_input`] and calls [`song_process`] until the file ends, then [`song_finish`].
//!
//! JavaScript passes a text (UTF-8) in the memory that [`song_write`] returns. A function that returns a text or a file returns whether it
//! was successful: then [`song_bytes`] and [`song_length`] have the result, otherwise the error's sentence.
//!
//! Any call may move the memory, after which JavaScript must create its views of the memory anew.
//!
//! The page loads this module when a song is requested. The module of the audio thread has none of it, and stays small.

mod song;

use song::{Format, Song};

/// Songs, and the memory that they share with JavaScript.
#[derive(Default)]
pub struct Web {
    /// Song that is being made.
    song: Option<Song>,
    /// Text from JavaScript, or result.
    bytes: Vec<u8>,
    /// Samples of each channel, the first channel first. Full scale is 1.
    input: Vec<f32>,
}

impl Web {
    fn text(&self) -> Result<&str, String> {
        str::from_utf8(&self.bytes).map_err(|error| error.to_string())
    }

    /// Stores a result or an error for JavaScript. Returns whether it is a result.
    fn put(&mut self, result: Result<Vec<u8>, String>) -> bool {
        let successful = result.is_ok();
        self.bytes = result.unwrap_or_else(String::into_bytes);
        successful
    }
}

/// Creates a maker of songs.
// SAFETY: no other symbol has the name of this or of a later function.
#[unsafe(no_mangle)]
pub extern "C" fn song_new() -> Box<Web> {
    Box::default()
}

/// Allocates memory for a text of `length` bytes and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn song_write(web: &mut Web, length: usize) -> *mut u8 {
    web.bytes = vec![0; length];
    web.bytes.as_mut_ptr()
}

/// Returns the address of the result.
#[unsafe(no_mangle)]
pub extern "C" fn song_bytes(web: &Web) -> *const u8 {
    web.bytes.as_ptr()
}

/// Returns the length of the result in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn song_length(web: &Web) -> usize {
    web.bytes.len()
}

/// Begins a song. `rate` is the sample rate in Hz. The text that was written is the preset, in JSON.
/// `format` is 0 for Furnace, 1 for NSF and 2 for MIDI.
#[unsafe(no_mangle)]
pub extern "C" fn song_start(web: &mut Web, format: usize, rate: f64, channels: usize) -> bool {
    let format = Format::ALL.get(format).ok_or_else(|| "Unknown format of a song.".to_owned());
    let song = format.and_then(|format| Song::new(*format, rate, channels, web.text()?));
    let song = song.map(|song| web.song = Some(song));
    web.put(song.map(|()| Vec::new()))
}

/// Allocates memory for `samples` samples, those of all channels together, and returns its address. All samples of the first
/// channel come first.
#[unsafe(no_mangle)]
pub extern "C" fn song_input(web: &mut Web, samples: usize) -> *mut f32 {
    web.input = vec![0.0; samples];
    web.input.as_mut_ptr()
}

/// Processes the input, and replaces its samples.
#[unsafe(no_mangle)]
pub extern "C" fn song_process(web: &mut Web) {
    if let Some(song) = &mut web.song {
        song.push(&mut web.input);
    }
}

/// Ends the song and returns its file. The text that was written is the title.
#[unsafe(no_mangle)]
pub extern "C" fn song_finish(web: &mut Web) -> bool {
    let title = web.text().map(str::to_owned);
    let song = web.song.take().ok_or("No song was begun.".to_owned());
    let file = song.and_then(|song| song.finish(title?));
    web.put(file)
}

#[cfg(test)]
mod tests;
