//! Conversion of strings between Rust and C, and a barrier for panics.

use std::{
    ffi::{CStr, CString, c_char},
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Returns the result of `call`, or `otherwise` if it panics, as a panic must not reach the host.
pub fn without_panic<T>(otherwise: T, call: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(otherwise)
}

/// Converts ASCII `text` to a zero-terminated array, cut to `N - 1` characters.
pub fn c_text<const N: usize>(text: &str) -> [c_char; N] {
    let mut chars = [0; N];
    for (char, byte) in chars[..N - 1].iter_mut().zip(text.bytes()) {
        *char = byte as c_char;
    }
    chars
}

/// Converts `text` to a C string, leaving out zero characters.
pub fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// Converts the host's C string `text`; null gives an empty string.
///
/// # Safety
/// `text` must be null or point to a zero-terminated string.
pub unsafe fn rust_string(text: *const c_char) -> String {
    // SAFETY: guaranteed by the caller.
    let text = if text.is_null() { c"" } else { unsafe { CStr::from_ptr(text) } };
    text.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_before_its_end() {
        assert_eq!(c_text::<4>("abcd").map(|char| char as u8), *b"abc\0");
    }
}
