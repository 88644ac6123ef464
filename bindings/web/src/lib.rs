//! The tone filter for web pages: functions that JavaScript calls with numbers and pointers alone.
//!
//! [`tone_filter_new`] returns the address of a [`Web`], the first argument of all other functions. An AudioWorklet
//! writes 128 samples of both channels to [`tone_filter_input`], calls [`tone_filter_process`] and reads
//! [`tone_filter_output`]. Texts are UTF-8: [`tone_filter_write`] makes room for one that is passed, and a function that
//! returns one returns its length, with the text at [`tone_filter_text`].
//!
//! Any call may move the memory, so that JavaScript's views of it must be made again.
//!
//! No `wasm-bindgen`: an AudioWorklet has neither `TextDecoder` nor `fetch`, which its code needs. `worklet.js` is all the
//! JavaScript around the module, in one file without imports, as bundlers copy a worklet as it is.
//!
//! The page asks for pictures: with each frame that it draws, it sends the audio thread a buffer and gets it back with the
//! bands, so a hidden page costs nothing and the audio thread allocates nothing for it. `settings.js` checks settings against
//! tables in the npm package; the audio thread gets arrays of numbers. So the module needs no JSON, and stays small.

mod picture;

use picture::Picture;
use std::sync::Arc;
use tone_filter_dsp::{
    CHOICES, Controls, KeyEvent, SPECS, Score, ScoreNote, Settings, TEXTS, ToneFilter,
    notes::{by_pitch, midi_note},
};

/// Samples that the Web Audio API processes at a time.
const QUANTUM: usize = 128;

/// A stereo block of that length, left first.
type Quantum = [[f32; QUANTUM]; 2];

/// A filter and the memory that it shares with JavaScript.
pub struct Web {
    filter: ToneFilter,
    /// Settings that [`tone_filter_apply`] passes to the filter.
    controls: Controls,
    input: Quantum,
    output: Quantum,
    picture: Picture,
    text: Vec<u8>,
    /// The notes of the score to come.
    notes: Vec<ScoreNote>,
}

impl Web {
    fn new(sample_rate: f64) -> Option<Self> {
        let filter = ToneFilter::new(sample_rate, &Settings::default()).ok()?;
        Some(Self {
            controls: *filter.controls(),
            filter,
            input: [[0.0; QUANTUM]; 2],
            output: [[0.0; QUANTUM]; 2],
            picture: Picture::default(),
            text: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// Leaves `text` for JavaScript and returns its length.
    fn put_text(&mut self, text: &str) -> usize {
        self.text = text.into();
        self.text.len()
    }

    fn set_text(&mut self, index: usize) -> Option<()> {
        let text = str::from_utf8(&self.text).ok()?;
        TEXTS.get(index)?.set(&mut self.controls.settings, text).ok()
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

/// Sets the number at `index` of the table of numbers for [`tone_filter_apply`].
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_set_number(web: &mut Web, index: usize, value: f32) {
    SPECS[index].set(&mut web.controls.settings, value);
}

/// Sets the choice at `index` of the table of choices to one of its entries.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_set_choice(web: &mut Web, index: usize, entry: usize) {
    CHOICES[index].set(&mut web.controls, entry);
}

/// Sets the setting at `index` of the table of texts to the text that was written. Returns whether it is one for it.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_set_text(web: &mut Web, index: usize) -> bool {
    web.set_text(index).is_some()
}

/// Gives the filter what has been set. Returns whether all of it is in range; if not, nothing changes.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_apply(web: &mut Web) -> bool {
    let applied = web.filter.set_settings(&web.controls.settings).is_ok();
    if applied {
        web.filter.set_routing(web.controls.routing);
    } else {
        web.controls = *web.filter.controls();
    }
    applied
}

/// The number at `index`, as the filter has it.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_number(web: &Web, index: usize) -> f32 {
    SPECS[index].get(web.filter.settings())
}

/// The entry of the choice at `index`.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_choice(web: &Web, index: usize) -> usize {
    CHOICES[index].get(web.filter.controls())
}

/// The text at `index`, as [`tone_filter_set_text`] takes it. Returns its length.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_setting_text(web: &mut Web, index: usize) -> usize {
    let text = TEXTS[index].get(web.filter.settings());
    web.put_text(&text)
}

/// Adds a note to the score that [`tone_filter_set_score`] will set: start and end in seconds, a MIDI number, a velocity of 1 to 127 and a
/// place of -1 (right) to 1 (left). One that no band has is left out. Allocates.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_add_note(
    web: &mut Web,
    start: f64,
    end: f64,
    key: i32,
    velocity: u8,
    place: f32,
) {
    let tone = by_pitch().find(|&tone| midi_note(tone, 0.0) == key);
    web.notes.extend(tone.map(|tone| ScoreNote { tone, start, end, velocity, place }));
}

/// Lets the score of the notes that were added decide which notes are played, in place of what is found in the sound; the music begins at
/// its start. Without any, there is no score. Allocates.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_set_score(web: &mut Web) {
    let notes = std::mem::take(&mut web.notes);
    web.filter.set_score((!notes.is_empty()).then(|| Arc::new(Score::new(notes))));
    web.filter.seek(0.0);
}

/// Goes on in the score from a time in seconds, of the next sample.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_seek(web: &mut Web, seconds: f64) {
    web.filter.seek(seconds);
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

/// The bands as they are now, from E1 to G#7: the address of 77 records of 99 numbers.
///
/// A record has the band's power in dB, as the filter measures it; its level in dB of the whole sound; its state, which
/// is 0 for not played, 1 for sounding, 2 for at the ceiling and 3 for a band that may not sound; and the last periods of its
/// wave, with a peak of 1, from the oldest sample to the latest.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_picture(web: &mut Web) -> *const f32 {
    web.picture.take(&web.filter)
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
