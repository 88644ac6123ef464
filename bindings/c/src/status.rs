//! Errors: status codes, a text for each code, and the details of the last error. The details are per thread, in a fixed buffer,
//! because an error can occur before any filter exists.

use crate::TF_MAX_CHANNELS;
use std::{
    cell::Cell,
    ffi::{CStr, c_char},
    fmt,
    io::Write,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Result of a function call: success or the kind of error.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Success.
    Ok = 0,
    /// A pointer is NULL.
    Null = 1,
    /// The sample rate is not within 1000 Hz to 1 GHz.
    SampleRate = 2,
    /// The number of channels is not within 1 to TF_MAX_CHANNELS.
    Channels = 3,
    /// No factory preset has this id.
    Preset = 4,
    /// The JSON is malformed, or has an unknown setting or a value out of range.
    Json = 5,
    /// No setting of this kind has this id.
    Setting = 6,
    /// A number is out of range.
    Range = 7,
    /// A choice has no such entry, or the text for switches or notes is invalid.
    Entry = 8,
    /// A text is not UTF-8.
    Text = 9,
    /// A buffer is too small.
    Size = 10,
    /// The library has a fault. Destroy the filter.
    Panic = 11,
    /// A text is not a valid score.
    Score = 12,
}

const TEXTS: [(Status, &CStr); 13] = [
    (Status::Ok, c"success"),
    (Status::Null, c"a pointer is NULL"),
    (Status::SampleRate, c"the sample rate is not within 1000 Hz to 1 GHz"),
    (Status::Channels, c"the number of channels is not within 1 to 64"),
    (Status::Preset, c"no factory preset has this id"),
    (Status::Json, c"the JSON is malformed, or has an unknown setting or a value out of range"),
    (Status::Setting, c"no setting of this kind has this id"),
    (Status::Range, c"a number is out of range"),
    (Status::Entry, c"a choice has no such entry, or switches have the wrong number of digits"),
    (Status::Text, c"a text is not UTF-8"),
    (Status::Size, c"a buffer is too small"),
    (Status::Panic, c"a fault of the library; destroy the filter"),
    (Status::Score, c"a text is no score"),
];

const _: () = assert!(TF_MAX_CHANNELS == 64, "as in the text");

/// Returns the meaning of a status, in English; "unknown status" for any other number. Real time.
#[unsafe(no_mangle)]
pub extern "C" fn tf_error_message(status: i32) -> *const c_char {
    let text = TEXTS.iter().find(|(known, _)| *known as i32 == status);
    text.map_or(c"unknown status", |(_, text)| text).as_ptr()
}

/// Size in bytes of the buffer for the details of an error and a NUL. Longer details are cut.
const DETAILS: usize = 512;

thread_local! {
    static LAST: Cell<[u8; DETAILS]> = const { Cell::new([0; DETAILS]) };
}

/// Returns the details of the last failure in this thread, in English: which setting, its range, the place in the JSON. The text
/// is valid until the thread's next failure, and empty before the first.
///
/// TF_STATUS_NULL and TF_STATUS_PANIC have no details; the text is empty after them.
#[unsafe(no_mangle)]
pub extern "C" fn tf_last_error() -> *const c_char {
    LAST.with(Cell::as_ptr).cast::<c_char>().cast_const()
}

/// Stores the details of an error for [`tf_last_error`], and returns `status`. Allocates only on a thread's first failure, on
/// systems that allocate thread-local memory late.
pub fn fail(status: Status, details: impl fmt::Display) -> Status {
    let mut text = [0; DETAILS];
    // The last byte stays 0 as the NUL. Details that do not fit are cut, which may split a character.
    let _ = write!(&mut text[..DETAILS - 1], "{details}");
    if let Err(error) = str::from_utf8(&text) {
        text[error.valid_up_to()..].fill(0);
    }
    LAST.set(text);
    status
}

/// Runs the body of a C function. A panic becomes [`Status::Panic`], because it must not unwind into C.
pub fn guard(body: impl FnOnce() -> Result<(), Status>) -> Status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(Status::Null)) => fail(Status::Null, ""),
        Ok(Err(status)) => status,
        Err(_) => fail(Status::Panic, ""),
    }
}
