//! Protection from panics in decoders, which are third-party code. A file that makes a decoder panic counts as broken, so that it
//! does not end a batch.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread is running a decoder. A panic hook should print nothing then, because the panic becomes an error.
pub fn is_decoding() -> bool {
    GUARDED.get()
}

/// Returns the result of `decode`, or `None` if it panics. After a panic, the caller must not use anything that `decode` has
/// modified.
pub fn guard<T>(decode: impl FnOnce() -> T) -> Option<T> {
    GUARDED.set(true);
    let done = catch_unwind(AssertUnwindSafe(decode));
    GUARDED.set(false);
    done.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_none_and_all_else_stays_what_it_is() {
        assert_eq!(guard(is_decoding), Some(true));
        assert_eq!(guard(|| -> u8 { panic!("of a decoder") }), None);
        assert!(!is_decoding(), "panics of others are printed");
    }
}
