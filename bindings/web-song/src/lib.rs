//! Songs made from sound files, for the web page: functions that a worker calls with numbers and pointers alone.
//!
//! [`song_new`] returns the address of a [`Web`], which is the first argument of all other functions. The worker begins a song with
//! [`song_start`], writes samples to [`song_input`] and calls [`song_process`] until the file ends, then [`song_finish`].
//!
//! JavaScript passes a text (UTF-8) in the memory that [`song_write`] returns. A function that can fail returns whether it was
//! successful. [`song_bytes`] and [`song_length`] then give the result or, after a failure, the error message.
//!
//! Any call may move the memory, after which JavaScript must create its views of the memory anew.
//!
//! The page loads this module only when a song is requested, so that the module of the audio thread stays small.

use tone_filter_dsp::{Stereo, ToneFilter};
use tone_filter_presets::Preset;
use tone_filter_song::take::{Format, TakeRecorder};

/// Song in progress, and the memory that is shared with JavaScript.
#[derive(Default)]
pub struct Web {
    /// Song between [`song_start`] and [`song_finish`].
    song: Option<Song>,
    /// The latest of these: a text from JavaScript, a result, or an error message.
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

/// Ends the song. The text from [`song_write`] is its title, and the result is its file. Returns false if no song has begun, or
/// if its file cannot be made, as without notes.
#[unsafe(no_mangle)]
pub extern "C" fn song_finish(web: &mut Web) -> bool {
    let title = web.text().map(str::to_owned);
    let song = web.song.take().ok_or("No song was begun.".to_owned());
    let file = song.and_then(|song| song.finish(title?));
    web.put(file)
}

/// If the mono mix has at most this fraction (-20 dB) of the mean energy of left and right, the two channels cancel.
const CANCELS: f64 = 0.01;

/// Formats of a song. JavaScript passes the index of one.
const FORMATS: [Format; 3] = [Format::Furnace, Format::Nsf, Format::Midi];

/// Song that is being recorded.
struct Song {
    format: Format,
    filter: ToneFilter,
    recorder: TakeRecorder,
    channels: usize,
    frames: usize,
    /// Energy of the mono mix so far, and mean energy of left and right. Both are 0 unless the sound is stereo.
    energies: [f64; 2],
}

impl Song {
    /// Begins a song from a sound of `rate` Hz. `preset` is a preset file's text, in JSON.
    fn new(format: Format, rate: f64, channels: usize, preset: &str) -> Result<Self, String> {
        if channels == 0 {
            return Err("The sound has no channels.".into());
        }
        let loaded = Preset::from_json(preset).map_err(|error| error.to_string())?;
        let settings = format.settings(loaded.preset.settings);
        let filter = ToneFilter::new(rate, &settings).map_err(|error| error.to_string())?;
        let mut filter = filter.with_channels(channels);
        filter.detect_notes(true);
        filter.reset();
        let recorder = TakeRecorder::default();
        Ok(Self { format, filter, recorder, channels, frames: 0, energies: [0.0; 2] })
    }

    /// Adds samples to the song, all samples of the first channel first. Overwrites them with the filter's output.
    fn push(&mut self, samples: &mut [f32]) {
        let frames = samples.len() / self.channels;
        if frames == 0 {
            return;
        }
        self.frames += frames;
        if self.channels == 2 {
            let (left, right) = samples.split_at(frames);
            for (left, right) in left.iter().zip(right) {
                let [left, right] = [left, right].map(|sample| f64::from(*sample));
                self.energies[0] += ((left + right) / 2.0).powi(2);
                self.energies[1] += (left * left + right * right) / 2.0;
            }
        }
        self.process(samples, frames);
    }

    fn process(&mut self, samples: &mut [f32], frames: usize) {
        let Self { filter, recorder, .. } = self;
        let mut channels: Vec<_> = samples.chunks_exact_mut(frames).take(self.channels).collect();
        filter.process_with(&mut channels, |_, filter| recorder.push(filter));
    }

    /// Returns the file of the song, or the reason why there is none.
    fn finish(mut self, title: String) -> Result<Vec<u8>, String> {
        let seconds = self.frames as f64 / self.filter.sample_rate();
        // The filter is late by its latency: silence pushes the end of the sound out.
        let latency = self.filter.latency();
        if latency > 0 {
            self.process(&mut vec![0.0; latency * self.channels], latency);
        }
        let settings = self.filter.settings();
        let take = self.recorder.take(seconds, self.format != Format::Nsf, settings);
        let (file, notes) = take
            .write(self.format, settings, title)
            .map_err(|error| format!("{error} Choose a shorter file."))?;
        let [mono, channels] = self.energies;
        let stereo = self.filter.settings().stereo;
        if notes > 0 {
            Ok(file)
        } else if channels > 0.0 && mono <= CANCELS * channels && stereo != Stereo::Stereo {
            Err("Left and right are of opposite polarity and cancel. Set Stereo to Stereo.".into())
        } else {
            Err("No notes were found. Raise Sensitivity, or choose another file.".into())
        }
    }
}

#[cfg(test)]
mod tests;
