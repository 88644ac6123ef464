//! The tone filter for web pages: functions that JavaScript calls with numbers and pointers alone.
//!
//! [`tone_filter_new`] returns the address of a [`Web`], which is the first argument of all other functions, and
//! [`tone_filter_free`] frees it. An AudioWorklet writes up to 128 samples of both channels to [`tone_filter_samples`] and calls
//! [`tone_filter_process`], which replaces them by the output. Texts are UTF-8. JavaScript passes a text in the memory that [`tone_filter_write`] returns. A
//! function whose result is a text returns the text's length, and [`tone_filter_text`] its address.
//!
//! Any call may move the memory, after which JavaScript must create its views of the memory anew.
//!
//! There is no `wasm-bindgen`, because its code needs `TextDecoder` and `fetch`, which an AudioWorklet lacks. `worklet.js` is all
//! the JavaScript around the module: one file without imports, as bundlers copy a worklet unchanged.
//!
//! The page requests pictures of the bands: for each frame that it draws, it sends the audio thread a buffer, which comes back
//! filled. So a hidden page costs nothing, and the audio thread need not allocate.
//!
//! `settings.js` checks settings, and sends the audio thread arrays of numbers. So the module needs no JSON, and stays small.

use std::sync::Arc;
use tone_filter_dsp::{
    Controls, KeyEvent, Score, ScoreNote, Setting, Settings, TEXTS, ToneFilter,
    notes::{PITCH_CLASSES, TONES, by_pitch, midi_note, semitone},
};

/// Maximum number of samples of each channel that an AudioWorklet processes in a call.
const QUANTUM: usize = 128;

/// Number of samples of the waveform in a band's record.
const POINTS: usize = 96;

/// Number of values in a band's record: power, level, state and waveform. See [`tone_filter_picture`].
const RECORD: usize = 3 + POINTS;

/// Up to this power, in dB relative to full scale, a record has no waveform: the page would draw it with a height of 0.
const FAINTEST: f32 = -80.0;

/// Minimum of the levels and powers in a record, in dB. Silence has it, too, instead of negative infinity.
const SILENCE: f32 = -200.0;

/// State in the record of a band that may not sound.
const CLOSED: f32 = 3.0;

/// Filter, and the memory that it shares with JavaScript.
pub struct Web {
    filter: ToneFilter,
    /// All settings, with the changes that [`tone_filter_apply`] will pass to the filter.
    controls: Controls,
    /// Input, which the output replaces: the left channel first.
    samples: [[f32; QUANTUM]; 2],
    /// Records of all bands, the lowest first.
    picture: [[f32; RECORD]; TONES],
    /// Last text from JavaScript or for it.
    text: Vec<u8>,
    /// Notes from [`tone_filter_add_note`] for the next score.
    notes: Vec<ScoreNote>,
}

impl Web {
    /// Stores `text` for JavaScript and returns its length.
    fn put_text(&mut self, text: &str) -> usize {
        self.text = text.into();
        self.text.len()
    }
}

/// Creates a filter at a sample rate in Hz, with the plugin's initial settings. Returns 0 if the rate is out of range.
// SAFETY: no other symbol has the name of this or of a later function.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_new(sample_rate: f64) -> Option<Box<Web>> {
    let filter = ToneFilter::new(sample_rate, &Settings::default()).ok()?;
    Some(Box::new(Web {
        controls: *filter.controls(),
        filter,
        samples: [[0.0; QUANTUM]; 2],
        picture: [[0.0; RECORD]; TONES],
        text: Vec::new(),
        notes: Vec::new(),
    }))
}

/// Frees a filter.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_free(web: Box<Web>) {
    drop(web);
}

/// Returns the address of the samples that [`tone_filter_process`] filters: 128 of the left channel, then 128 of the right.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_samples(web: &mut Web) -> *mut f32 {
    web.samples.as_flattened_mut().as_mut_ptr()
}

/// Replaces the first `frames` samples of each channel, at most 128, by the filter's output. Does not allocate.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_process(web: &mut Web, frames: usize) {
    web.filter.process(&mut web.samples.each_mut().map(|channel| &mut channel[..frames]));
}

/// Allocates memory for a text of `length` bytes and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_write(web: &mut Web, length: usize) -> *mut u8 {
    web.text = vec![0; length];
    web.text.as_mut_ptr()
}

/// Returns the address of the text that was returned last.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_text(web: &Web) -> *const u8 {
    web.text.as_ptr()
}

/// Returns the setting at `index`, which counts the numbers, then the choices, then the texts.
fn setting(index: usize) -> Setting {
    Setting::all().nth(index).expect("JavaScript has the same tables")
}

/// Sets the number at `index` to `value`, or the choice at `index` to the entry with the index `value`. [`tone_filter_apply`]
/// passes it to the filter.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_set_value(web: &mut Web, index: usize, value: f32) {
    setting(index).set_value(&mut web.controls, value);
}

/// Sets the text setting at `index` of [`TEXTS`] to the text from JavaScript. [`tone_filter_apply`] passes it to the filter.
/// Returns false if the text is invalid.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_set_text(web: &mut Web, index: usize) -> bool {
    let (text, settings) = (str::from_utf8(&web.text), &mut web.controls.settings);
    text.is_ok_and(|text| {
        TEXTS.get(index).is_some_and(|setting| setting.set(settings, text).is_ok())
    })
}

/// Passes all changed settings to the filter.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_apply(web: &mut Web) {
    // All values are within their ranges, so this cannot fail.
    let _ = web.filter.set_controls(&web.controls);
}

/// Returns the filter's value of the setting at `index`: a number, or the index of a choice's entry.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_value(web: &Web, index: usize) -> f32 {
    setting(index).value(web.filter.controls())
}

/// Stores the filter's value of the text setting at `index` of [`TEXTS`], for [`tone_filter_text`]. Returns the text's length.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_setting_text(web: &mut Web, index: usize) -> usize {
    let text = TEXTS[index].get(web.filter.settings());
    web.put_text(&text)
}

/// Stores the reason why the setting at `index` has no effect, as the end of a sentence. Returns the reason's length; 0 if the
/// setting has an effect.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_idle(web: &mut Web, index: usize) -> usize {
    let reason = web.filter.settings().idle(setting(index).id());
    web.put_text(reason.unwrap_or_default())
}

/// Adds a note to the next score: start and end in seconds, MIDI note, velocity of 1 to 127 and stereo position of -1 (right) to
/// 1 (left). Ignores a note without a band. Allocates.
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

/// Sets a score, which replaces the listener's decisions, and starts it at 0 s. Its notes are those of [`tone_filter_add_note`]
/// since the last score; without any, removes the score. Allocates.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_set_score(web: &mut Web) {
    let notes = std::mem::take(&mut web.notes);
    web.filter.set_score((!notes.is_empty()).then(|| Arc::new(Score::new(notes))));
    web.filter.seek(0.0);
}

/// Sets the position in the score for the next sample, in seconds.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_seek(web: &mut Web, seconds: f64) {
    web.filter.seek(seconds);
}

/// Presses the key of a MIDI note with a velocity above 0 to 1; a velocity of 0 releases the key.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_key(web: &mut Web, note: u8, velocity: f32) {
    web.filter.play(KeyEvent::Key(note, velocity));
}

/// Releases all keys and the sustain pedal.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_release_keys(web: &mut Web) {
    web.filter.play(KeyEvent::ReleaseAll);
}

/// Computes the current picture of the bands and returns its address: 77 records of 99 numbers, from E1 to G#7.
///
/// A record has the band's power in dB relative to full scale, after the gain of Auto level; its level in dB relative to the
/// whole input; its state; and 96 samples of its waveform with a peak of 1, the oldest first, or zeros up to a power of -80 dB.
/// The state is 0 for not played, 1 for sounding, 2 for at the ceiling and 3 for a band that may not sound.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_picture(web: &mut Web) -> *const f32 {
    let bands = web.filter.bands();
    for (tone, record) in by_pitch().zip(&mut web.picture) {
        let band = &bands.bands[tone];
        let ([power, level, state], wave) = record.split_first_chunk_mut().expect("a record");
        *power = (10.0 * (bands.gain * bands.gain * band.power).log10()).max(SILENCE);
        *level = band.level_db().max(SILENCE);
        *state = if band.enabled { f32::from(band.state as u8) } else { CLOSED };
        wave.fill(0.0);
        if *power > FAINTEST {
            // One more period per octave, so that higher notes look higher and stay legible.
            let octave = (semitone(tone).max(0) / PITCH_CLASSES.len() as i32) as f32;
            band.trace(2.0 + octave, wave);
        }
    }
    web.picture.as_flattened().as_ptr()
}

/// Returns the latency in samples.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_latency(web: &Web) -> usize {
    web.filter.latency()
}

/// Returns the decay time: seconds from the end of the input until the wet signal is at least 60 dB down.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_tail(web: &Web) -> f64 {
    ToneFilter::tail(web.filter.settings())
}

/// Resets the filter to the state of a new one with the current settings. A score stays, and starts again.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_reset(web: &mut Web) {
    web.filter.reset();
}

#[cfg(test)]
mod tests;
