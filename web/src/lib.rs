//! The tone filter for web pages: functions that JavaScript calls with numbers and pointers alone.
//!
//! [`tone_filter_new`] returns the address of a [`Web`], the first argument of all other functions. An AudioWorklet
//! writes 128 samples of both channels to [`tone_filter_input`], calls [`tone_filter_process`] and reads
//! [`tone_filter_output`]. Texts are UTF-8: [`tone_filter_write`] makes room for one that is passed, and a function that
//! returns one returns its length, with the text at [`tone_filter_text`].
//!
//! Any call may move the memory, so that JavaScript's views of it must be made again.

mod picture;
mod table;

use picture::Picture;
use std::fmt::Display;
use std::sync::Arc;
use tone_filter_dsp::{Controls, KeyEvent, Score, Settings, ToneFilter};
use tone_filter_presets::settings;

/// Samples that the Web Audio API processes at a time.
const QUANTUM: usize = 128;

/// A stereo block of that length, left first.
type Quantum = [[f32; QUANTUM]; 2];

/// A filter and the memory that it shares with JavaScript.
pub struct Web {
    filter: ToneFilter,
    input: Quantum,
    output: Quantum,
    picture: Picture,
    text: Vec<u8>,
}

impl Web {
    fn new(sample_rate: f64) -> Option<Self> {
        Some(Self {
            filter: ToneFilter::new(sample_rate, &Settings::default()).ok()?,
            input: [[0.0; QUANTUM]; 2],
            output: [[0.0; QUANTUM]; 2],
            picture: Picture::default(),
            text: Vec::new(),
        })
    }

    /// Leaves `text` for JavaScript and returns its length.
    fn put_text(&mut self, text: &dyn Display) -> usize {
        self.text = text.to_string().into_bytes();
        self.text.len()
    }

    /// Leaves an error for JavaScript and returns its length, or 0.
    fn answer(&mut self, result: Result<(), String>) -> usize {
        result.map_or_else(|error| self.put_text(&error), |()| 0)
    }

    fn set_json(&mut self) -> Result<(), String> {
        let json = str::from_utf8(&self.text).map_err(|error| error.to_string())?;
        self.set_controls(settings::from_json(json).map_err(|error| error.to_string())?)
    }

    fn set_score(&mut self) -> Result<(), String> {
        let text = str::from_utf8(&self.text).map_err(|error| error.to_string())?;
        let score = (!text.is_empty()).then(|| text.parse::<Score>()).transpose();
        self.filter.set_score(score.map_err(|error| error.to_string())?.map(Arc::new));
        self.filter.seek(0.0);
        Ok(())
    }

    fn set_controls(&mut self, controls: Controls) -> Result<(), String> {
        self.filter.set_settings(&controls.settings).map_err(|error| error.to_string())?;
        self.filter.set_routing(controls.routing);
        Ok(())
    }
}

/// A filter with the settings of a new instance for a sample rate in Hz, or 0 if that is out of range.
// SAFETY: nothing else has this name, nor those below.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_new(sample_rate: f64) -> Option<Box<Web>> {
    Web::new(sample_rate).map(Box::new)
}

/// Frees it. Its address must not be used again.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_free(_: Box<Web>) {}

/// The address of 128 samples of the left channel and 128 of the right one, which [`tone_filter_process`] reads.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_input(web: &mut Web) -> *mut f32 {
    web.input.as_flattened_mut().as_mut_ptr()
}

/// The address of the samples that [`tone_filter_process`] writes, in the same order.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_output(web: &Web) -> *const f32 {
    web.output.as_flattened().as_ptr()
}

/// Processes the 128 samples of the input. Does not allocate.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_process(web: &mut Web) {
    web.output = web.input;
    web.filter.process(&mut web.output.each_mut().map(|channel| &mut channel[..]));
}

/// Makes room for a text of `length` bytes and returns its address.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_write(web: &mut Web, length: usize) -> *mut u8 {
    web.text = vec![0; length];
    web.text.as_mut_ptr()
}

/// The address of the text that was returned last.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_text(web: &Web) -> *const u8 {
    web.text.as_ptr()
}

/// Takes the settings from JSON, the text that was written. Those that it lacks are those of the preset Reference.
/// Returns 0, or the length of an error's text; then nothing has changed.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_set_json(web: &mut Web) -> usize {
    let result = web.set_json();
    web.answer(result)
}

/// Lets a score decide which notes are played, in place of what is found in the sound; the music begins at its start. The text that
/// was written is that of a file that `tone-filter bands song.wav --score song.tfs` has written; empty for none. Returns 0, or the length
/// of an error's text; then nothing has changed. Allocates.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_set_score(web: &mut Web) -> usize {
    let result = web.set_score();
    web.answer(result)
}

/// Goes on in the score from a time in seconds, of the next sample.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_seek(web: &mut Web, seconds: f64) {
    web.filter.seek(seconds);
}

/// The settings as JSON: returns the length of the text.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_json(web: &mut Web) -> usize {
    web.put_text(&settings::to_json(web.filter.controls()))
}

/// What there is to set and to choose from, as JSON: the numbers with their ranges and units, the choices with their
/// entries, the factory presets with their settings. Returns the length of the text.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_table(web: &mut Web) -> usize {
    web.put_text(&table::table())
}

/// Presses the key of a MIDI note with a velocity of 0..1, or releases it with 0.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_key(web: &mut Web, note: u8, velocity: f32) {
    web.filter.play(KeyEvent::Key(note, velocity));
}

/// Releases all keys.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_release_keys(web: &mut Web) {
    web.filter.play(KeyEvent::ReleaseAll);
}

/// The bands as they are now, from E1 to G#7: the address of 77 records of [`tone_filter_record`] numbers.
///
/// A record has the band's power in dB, as the filter measures it; its level in dB of the whole sound; its state, which
/// is 0 for not played, 1 for sounding, 2 for at the ceiling and 3 for a band that may not sound; and the last periods of its
/// wave, with a peak of 1, from the oldest sample to the latest.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_picture(web: &mut Web) -> *const f32 {
    web.picture.take(&web.filter)
}

/// The numbers of a band's record.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_record() -> usize {
    picture::RECORD
}

/// Latency in samples.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_latency(web: &Web) -> usize {
    web.filter.latency()
}

/// Seconds after the end of a sound until the wet signal is at least 60 dB down.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_tail(web: &Web) -> f64 {
    ToneFilter::tail(web.filter.settings())
}

/// Resets it to the state of a new filter with the current settings.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_reset(web: &mut Web) {
    web.filter.reset();
}

#[cfg(test)]
mod tests;
