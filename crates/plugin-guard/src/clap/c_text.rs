//! Text between Rust and C.

use std::ffi::{CStr, CString, c_char};

/// Returns `text`, which is short ASCII, as an array that ends with a zero.
pub fn c_text<const N: usize>(text: &str) -> [c_char; N] {
    let mut chars = [0; N];
    for (char, byte) in chars[..N - 1].iter_mut().zip(text.bytes()) {
        *char = byte as c_char;
    }
    chars
}

/// Returns `text` as a C string, without its zeros.
pub fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// Returns the host's text at `text`; empty for null.
///
/// # Safety
/// It must be null or a string that ends with a zero.
pub unsafe fn rust_string(text: *const c_char) -> String {
    // SAFETY: by the caller.
    let text = if text.is_null() { c"" } else { unsafe { CStr::from_ptr(text) } };
    text.to_string_lossy().into_owned()
}
