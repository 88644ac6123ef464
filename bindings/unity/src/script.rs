//! Functions for `ToneFilter.cs`, on any thread but the audio thread. The text of an error belongs to the calling thread, and
//! is valid until this thread's next call.

use crate::{
    parameters::INSTANCES,
    request_queue::{Position, QUEUES, RequestQueue},
};
use std::{
    cell::RefCell,
    ffi::{CString, c_char, c_int},
    panic::{AssertUnwindSafe, catch_unwind},
    ptr, slice,
    sync::Arc,
};
use tone_filter_dsp::{KeyEvent, Score};
use tone_filter_presets::Preset;

thread_local! {
    /// Text of the thread's last error.
    static ERROR: RefCell<CString> = RefCell::default();
}

/// Result of a function for scripts: null on success, otherwise the text of the error.
pub type Answer = *const c_char;

/// Runs the body of a function for scripts with the queue of an instance number. Errors and panics become texts.
fn answer(instance: c_int, body: impl FnOnce(&RequestQueue) -> Result<(), String>) -> Answer {
    let queue = usize::try_from(instance).ok().and_then(|instance| QUEUES.get(instance));
    let run = || match queue {
        Some(queue) => body(queue),
        None => Err(format!("filter {instance}: use 0 to {}", INSTANCES - 1)),
    };
    let fault = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => return ptr::null(),
        Ok(Err(fault)) => fault,
        Err(_) => "a fault of the library".to_owned(),
    };
    ERROR.set(CString::new(fault.replace('\0', "")).unwrap_or_default());
    ERROR.with_borrow(|text| text.as_ptr())
}

/// Returns a script's text; `None` if `text` is null. Fails if it is not UTF-8.
///
/// # Safety
/// `text` must be null, or have `length` bytes that do not change during `'a`.
unsafe fn utf8<'a>(text: *const u8, length: c_int) -> Result<Option<&'a str>, String> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller guarantees it.
    let bytes = unsafe { slice::from_raw_parts(text, length.max(0) as usize) };
    str::from_utf8(bytes).map(Some).map_err(|error| format!("the text: {error}"))
}

/// Sets a score, a list of notes that replaces the listener's decisions, and starts it at the next block; null removes the score.
///
/// # Safety
/// `text` must be null, or have `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tone_filter_unity_set_score(
    instance: c_int,
    text: *const u8,
    length: c_int,
) -> Answer {
    answer(instance, |queue| {
        // SAFETY: the caller guarantees it.
        let score = unsafe { utf8(text, length) }?.map(str::parse::<Score>).transpose();
        let score = score.map_err(|error| format!("the score: {error}"))?.map(Arc::new);
        queue.change(|requests| {
            requests.score = score;
            requests.seek(Position::default());
        });
        Ok(())
    })
}

/// Sets the position in the score to `seconds` at `dsp_time`, in seconds of Unity's DSP clock; NaN means the start of the next
/// block. The score repeats after `length` seconds; 0 means never.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_unity_seek(
    instance: c_int,
    seconds: f64,
    dsp_time: f64,
    length: f64,
) -> Answer {
    answer(instance, |queue| {
        if !seconds.is_finite() || dsp_time.is_infinite() {
            return Err(format!("{seconds} s at {dsp_time} s; use finite times"));
        }
        if !(length.is_finite() && length >= 0.0) {
            return Err(format!("a loop of {length} s; use more than 0, or 0 for none"));
        }
        let dsp_time = Some(dsp_time).filter(|time| !time.is_nan());
        let length = Some(length).filter(|length| *length > 0.0);
        queue.change(|requests| {
            requests.seek(Position { seconds, dsp_time, length, ..Position::default() });
        });
        Ok(())
    })
}

/// Sets a preset, which replaces the settings except Morph; null restores those of the parameters. `json` is the text of a
/// preset file.
///
/// # Safety
/// `json` must be null, or have `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tone_filter_unity_set_preset(
    instance: c_int,
    json: *const u8,
    length: c_int,
) -> Answer {
    answer(instance, |queue| {
        // SAFETY: the caller guarantees it.
        let loaded = unsafe { utf8(json, length) }?.map(Preset::from_json).transpose();
        let loaded = loaded.map_err(|error| format!("the preset: {error}"))?;
        let preset = loaded.map(|loaded| loaded.preset.settings);
        queue.change(|requests| requests.preset = preset);
        Ok(())
    })
}

/// Sets the tempo for the parameter Sync, in beats a minute.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_unity_set_tempo(instance: c_int, tempo: f64) -> Answer {
    answer(instance, |queue| {
        if !(tempo.is_finite() && tempo > 0.0) {
            return Err(format!("tempo {tempo}; use more than 0"));
        }
        queue.change(|requests| requests.tempo = Some(tempo));
        Ok(())
    })
}

/// Presses the key of a MIDI note with a velocity above 0 to 1; a velocity of 0 releases the key.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_unity_key(instance: c_int, note: c_int, velocity: f32) -> Answer {
    answer(instance, |queue| {
        let key = u8::try_from(note).ok().filter(|key| *key < 128);
        let key = key.ok_or_else(|| format!("note {note}; use 0 to 127"))?;
        if !(0.0..=1.0).contains(&velocity) {
            return Err(format!("velocity {velocity}; use 0 to 1"));
        }
        queue.change(|requests| requests.keyboard.play(KeyEvent::Key(key, velocity)));
        Ok(())
    })
}

/// Releases all keys and the sustain pedal.
#[unsafe(no_mangle)]
pub extern "C" fn tone_filter_unity_release_keys(instance: c_int) -> Answer {
    answer(instance, |queue| {
        queue.change(|requests| requests.keyboard.play(KeyEvent::ReleaseAll));
        Ok(())
    })
}

/// Writes the levels of the bands, E1 first: amplitudes of 0 to 1, where 1 is the ceiling. Writes 0 behind the last band. If
/// `sounding` is not 0, writes 0 for bands that do not sound.
///
/// # Safety
/// `levels` must have room for `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tone_filter_unity_read_bands(
    instance: c_int,
    sounding: c_int,
    levels: *mut f32,
    count: c_int,
) -> Answer {
    answer(instance, |queue| {
        if levels.is_null() {
            return Err("the array of levels is null".to_owned());
        }
        // SAFETY: the caller guarantees it.
        unsafe { queue.levels.read(sounding != 0, levels, usize::try_from(count).unwrap_or(0)) };
        Ok(())
    })
}
