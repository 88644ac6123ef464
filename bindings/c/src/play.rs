//! Keys, scores, and the state of the bands.

use crate::{
    Status, TF_BANDS,
    filter::Filter,
    pointers::{exclusive, put, shared, text},
    status::{fail, guard},
};
use std::{ffi::c_char, sync::Arc};
use tone_filter_dsp::{self as dsp, KeyEvent, Score, notes::midi_note};

/// State of a band's note, before "voices", "mix", "morph" and "bypass".
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BandState {
    /// The note does not sound: not played, or muted by the scale, the switches or the keys.
    Muted = 0,
    /// The note sounds at its own level.
    Sounding = 1,
    /// The note sounds at the level of the ceiling.
    Saturated = 2,
}

/// Snapshot of a band.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    /// Power after the gate and the ceiling; 1 at full scale.
    pub power: f32,
    /// Level of `power` relative to the total power of the input, in dB; negative infinity in silence.
    pub level_db: f32,
    /// State of the band's note.
    pub state: BandState,
    /// MIDI note that sounds, after "transpose", "octave" and "map"; 69 is A4. It can lie outside 0 to 127.
    pub note: i32,
}

/// Writes the current state of the bands: the 48 from A3 up, then the 29 from E1 up. Real time.
///
/// bands: an array of TF_BANDS elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_get_bands(filter: *const Filter, bands: *mut Band) -> Status {
    guard(|| {
        // SAFETY: the header requires valid pointers.
        let filter = unsafe { shared(filter) }?;
        if bands.is_null() {
            return Err(Status::Null);
        }
        let shift = filter.controls.settings.pitch_shift();
        let offsets = filter.inner.offsets();
        let now = filter.inner.bands().bands;
        let now: [Band; TF_BANDS] = std::array::from_fn(|tone| Band {
            power: now[tone].power,
            level_db: now[tone].level_db(),
            state: match now[tone].state {
                dsp::BandState::Inactive => BandState::Muted,
                dsp::BandState::Sounding => BandState::Sounding,
                dsp::BandState::Saturated => BandState::Saturated,
            },
            note: midi_note(tone, shift) + i32::from(offsets[tone]),
        });
        // SAFETY: the header requires an array of TF_BANDS elements.
        unsafe { put(bands.cast(), now) }
    })
}

/// Presses or releases a key. The setting "keys" says how keys choose bands. The key acts on the output from the next block on,
/// with lookahead, too. Real time.
///
/// note: MIDI note, 0 to 127. By default, 28 (E1) to 104 (G#7) have a band. With "range" at "published", 57 (A3) to 104 have
/// one. "transpose" moves the bands.
/// velocity: above 0 and up to 1 presses the key; the band's gain is the square of the velocity. 0 releases the key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_key(filter: *mut Filter, note: i32, velocity: f32) -> Status {
    guard(|| {
        // SAFETY: the header requires a valid filter that no other thread uses.
        let filter = unsafe { exclusive(filter) }?;
        let key = u8::try_from(note).ok().filter(|key| *key < 128);
        let key =
            key.ok_or_else(|| fail(Status::Range, format_args!("note {note}; use 0 to 127")))?;
        if !(0.0..=1.0).contains(&velocity) {
            return Err(fail(Status::Range, format_args!("velocity {velocity}; use 0 to 1")));
        }
        filter.inner.play(KeyEvent::Key(key, velocity));
        Ok(())
    })
}

/// Releases all keys and the sustain pedal. Real time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_release_keys(filter: *mut Filter) -> Status {
    // SAFETY: the header requires a valid filter that no other thread uses.
    guard(|| unsafe { exclusive(filter) }.map(|filter| filter.inner.play(KeyEvent::ReleaseAll)))
}

/// Presses or releases the sustain pedal, which holds keys that are released meanwhile. Real time.
///
/// down: 0 releases the pedal; any other number presses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_sustain(filter: *mut Filter, down: i32) -> Status {
    guard(|| {
        // SAFETY: the header requires a valid filter that no other thread uses.
        unsafe { exclusive(filter) }.map(|filter| filter.inner.play(KeyEvent::Sustain(down != 0)))
    })
}

/// Transposes all bands by -48 to 48 semitones, unless the setting "keys" is "off". Real time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_bend(filter: *mut Filter, semitones: f32) -> Status {
    guard(|| {
        // SAFETY: the header requires a valid filter that no other thread uses.
        let filter = unsafe { exclusive(filter) }?;
        if !(-48.0..=48.0).contains(&semitones) {
            return Err(fail(Status::Range, format_args!("bend {semitones}; use -48 to 48")));
        }
        filter.inner.play(KeyEvent::Bend(semitones));
        Ok(())
    })
}

/// Sets a score: a list of notes with times, which replaces the listener's decisions. Its notes have no latency and no errors,
/// and cost less CPU time. With "focus" at 0, a score has no effect. Its time starts with the
/// filter's creation or last reset, or as tf_seek() sets it. Allocates: not for the audio thread.
///
/// score: the text of a file written by `tone-filter bands song.wav --score song.tfs`; NULL to remove the score.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_set_score(filter: *mut Filter, score: *const c_char) -> Status {
    guard(|| {
        // SAFETY: the header requires a valid filter that no other thread uses.
        let filter = unsafe { exclusive(filter) }?;
        let score = match score.is_null() {
            true => None,
            // SAFETY: the header requires a C string.
            false => Some(unsafe { text(score) }?),
        };
        let score = score.map(str::parse::<Score>).transpose();
        let score = score.map_err(|error| fail(Status::Score, error))?;
        filter.inner.set_score(score.map(Arc::new));
        Ok(())
    })
}

/// Sets the position in the score for the next sample that is filtered. Call it when the music begins, jumps, repeats or goes on
/// after a pause. Real time.
///
/// seconds: time from the start of the score.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_seek(filter: *mut Filter, seconds: f64) -> Status {
    guard(|| {
        // SAFETY: the header requires a valid filter that no other thread uses.
        let filter = unsafe { exclusive(filter) }?;
        if !seconds.is_finite() {
            return Err(fail(Status::Range, format_args!("{seconds} s; use a finite time")));
        }
        filter.inner.seek(seconds);
        Ok(())
    })
}
