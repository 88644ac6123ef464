//! Calls whose panic must not reach the host.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Returns the result of `call`, or `otherwise` if it panics.
pub fn without_panic<T>(otherwise: T, call: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(otherwise)
}
