//! Decoders are others' code, and files come from anywhere: one that makes a decoder panic is a broken file, and
//! no reason to end a run of ten thousand.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook},
    sync::Once,
};
use symphonia::core::errors::{Error as Fault, Result};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Gives what `decode` gives, and a fault if it panics, about which nothing is printed. What `decode` worked on is
/// not to be used any more then.
pub fn guarded<T>(decode: impl FnOnce() -> Result<T>) -> Result<T> {
    static SILENCED: Once = Once::new();
    SILENCED.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                others(panic);
            }
        }));
    });
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
        assert_eq!(guarded(|| Ok(3)).unwrap(), 3);
        let panicked = guarded(|| -> Result<()> { panic!("of a decoder") });
        assert!(matches!(panicked, Err(Fault::DecodeError(_))), "{panicked:?}");
        assert!(!GUARDED.get(), "panics of others are printed");
    }
}
