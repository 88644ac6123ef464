//! Scores: the notes of the music, given in advance.

use crate::{
    Status,
    filter::Filter,
    pointers::{exclusive, text},
    status::{fail, guard},
};
use std::{ffi::c_char, sync::Arc};
use tone_filter_dsp::Score;

/// Sets a score, which decides which notes are played in place of the listener: no latency, no errors, and less work. It has an
/// effect with a "focus" above 0. Allocates: not for the audio thread.
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

/// Sets the score's time at the next sample that is passed to the filter, for when the music begins, jumps or repeats. Real time.
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
