//! Songs made from sound files, for the web page: functions that a worker calls with numbers and pointers alone.
//!
//! [`song_new`] returns the address of a [`Web`], which is the first argument of all other functions. The worker begins a song with
//! [`song_start`], writes samples to [`song_input`] and calls [`song_process`] until the file ends, then [`song_finish`].
//!
//! JavaScript passes a text (UTF-8) in the memory that [`song_write`] returns. A function that can fail returns whether it was
//! successful. [`song_bytes`] and [`song_length`] then have its result, after a failure the error message.
//!
//! Any call may move the memory, after which JavaScript must create its views of the memory anew.
//!
//! The page loads this module only when a song is requested, so that the module of the audio thread stays small.

mod song;

use song::{FORMATS, Song};

/// Songs, and the memory that they share with JavaScript.
#[derive(Default)]
pub struct Web {
    /// Song between [`song_start`] and [`song_finish`].
    song: Option<Song>,
    /// Text from JavaScript, result, or error message.
    bytes: Vec<u8>,
    /// Samples of each channel, the first channel first. Full scale is 1.
    input: Vec<f32>,
}

impl Web {
    fn text(&self) -> Result<&str, String> {
        str::from_utf8(&self.bytes).map_err(|error| error.to_string())
    }

    /// Stores a result or an error message for JavaScript. Returns `result.is_ok()`.
    fn put(&mut self, result: Result<Vec<u8>, String>) -> bool {
        let successful = result.is_ok();
        self.bytes = result.unwrap_or_else(String::into_bytes);
        successful
    }
}

/// Creates a [`Web`] without a song.
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

/// Returns the address of the last result or error message.
#[unsafe(no_mangle)]
pub extern "C" fn song_bytes(web: &Web) -> *const u8 {
    web.bytes.as_ptr()
}

/// Returns the length of the last result or error message in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn song_length(web: &Web) -> usize {
    web.bytes.len()
}

/// Begins a song at a sample rate of `rate` Hz. `format` is 0 for Furnace, 1 for NSF and 2 for MIDI. The text from [`song_write`]
/// is the preset, in JSON. Returns false for invalid arguments.
#[unsafe(no_mangle)]
pub extern "C" fn song_start(web: &mut Web, format: usize, rate: f64, channels: usize) -> bool {
    let format = FORMATS.get(format).ok_or_else(|| "Unknown format of a song.".to_owned());
    let song = format.and_then(|format| Song::new(*format, rate, channels, web.text()?));
    let song = song.map(|song| web.song = Some(song));
    web.put(song.map(|()| Vec::new()))
}

/// Allocates memory for `samples` samples of all channels together, the first channel first. Returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn song_input(web: &mut Web, samples: usize) -> *mut f32 {
    web.input = vec![0.0; samples];
    web.input.as_mut_ptr()
}

/// Adds the input to the song. Overwrites it with the filter's output.
#[unsafe(no_mangle)]
pub extern "C" fn song_process(web: &mut Web) {
    if let Some(song) = &mut web.song {
        song.push(&mut web.input);
    }
}

/// Ends the song, whose file is the result. The text from [`song_write`] is the title. Returns false without a song or notes.
#[unsafe(no_mangle)]
pub extern "C" fn song_finish(web: &mut Web) -> bool {
    let title = web.text().map(str::to_owned);
    let song = web.song.take().ok_or("No song was begun.".to_owned());
    let file = song.and_then(|song| song.finish(title?));
    web.put(file)
}

#[cfg(test)]
mod tests;
