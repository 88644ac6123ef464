//! Conversion of C pointers to references; NULL is an error.

use crate::{Status, status::fail};
use std::ffi::{CStr, c_char};

/// Returns a reference for reading.
///
/// # Safety
/// `pointer` must be NULL or valid for reads during `'a`, and nothing may write to its target meanwhile.
pub unsafe fn shared<'a, T>(pointer: *const T) -> Result<&'a T, Status> {
    // SAFETY: the caller guarantees it.
    unsafe { pointer.as_ref() }.ok_or(Status::Null)
}

/// Returns a reference for reading and writing.
///
/// # Safety
/// `pointer` must be NULL or valid during `'a`, and nothing else may read or write its target meanwhile.
pub unsafe fn exclusive<'a, T>(pointer: *mut T) -> Result<&'a mut T, Status> {
    // SAFETY: the caller guarantees it.
    unsafe { pointer.as_mut() }.ok_or(Status::Null)
}

/// Writes `value` to the caller's memory, which may be uninitialised: what was there is not dropped.
///
/// # Safety
/// `pointer` must be NULL or valid for a write.
pub unsafe fn put<T>(pointer: *mut T, value: T) -> Result<(), Status> {
    if pointer.is_null() {
        return Err(Status::Null);
    }
    // SAFETY: `pointer` is not NULL, and the caller guarantees that it is valid.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Returns a C string as Rust's text; [`Status::Text`] if it is not UTF-8.
///
/// # Safety
/// `pointer` must be NULL or lead to a NUL-terminated text that does not change during `'a`.
pub unsafe fn text<'a>(pointer: *const c_char) -> Result<&'a str, Status> {
    if pointer.is_null() {
        return Err(Status::Null);
    }
    // SAFETY: `pointer` is not NULL, and the caller guarantees a C string.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|error| fail(Status::Text, error))
}

/// Copies `text` and a NUL to a buffer of `size` bytes; [`Status::Size`] if they do not fit.
///
/// # Safety
/// `buffer` must be NULL or valid for writes of `size` bytes.
pub unsafe fn put_text(buffer: *mut c_char, size: usize, text: &str) -> Result<(), Status> {
    if buffer.is_null() {
        return Err(Status::Null);
    }
    let needed = text.len() + 1;
    if size < needed {
        return Err(fail(Status::Size, format_args!("the text needs {needed} bytes, not {size}")));
    }
    // SAFETY: the buffer holds `needed` bytes, and does not overlap `text`, which belongs to this library.
    unsafe {
        buffer.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), text.len());
        buffer.add(text.len()).write(0);
    }
    Ok(())
}
