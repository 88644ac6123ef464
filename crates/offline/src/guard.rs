//! Decoders are others' code, and files come from anywhere. A file that makes a decoder panic counts as broken, so that it does
//! not end a run over ten thousand files.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
};
use symphonia::core::errors::{Error as Fault, Result};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread runs a decoder, whose panics become errors: a program's panic hook has nothing to print then.
pub fn is_decoding() -> bool {
    GUARDED.get()
}

/// Returns what `decode` returns, or a fault if it panics. After a panic, the caller must not use
/// anything that `decode` has modified.
pub fn guarded<T>(decode: impl FnOnce() -> Result<T>) -> Result<T> {
    GUARDED.set(true);
    let done = catch_unwind(AssertUnwindSafe(decode));
    GUARDED.set(false);
    done.unwrap_or(Err(Fault::DecodeError("its content contradicts itself")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_fault_and_all_else_stays_what_it_is() {
        assert!(guarded(|| Ok(is_decoding())).unwrap());
        let panicked = guarded(|| -> Result<()> { panic!("of a decoder") });
        assert!(matches!(panicked, Err(Fault::DecodeError(_))), "{panicked:?}");
        assert!(!is_decoding(), "panics of others are printed");
    }
}
