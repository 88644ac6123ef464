//! Tone Filter for Unity: an effect for audio mixers, as a native audio plugin, and functions for `ToneFilter.cs`.
//!
//! Unity calls [`UnityGetAudioEffectDefinitions`] when it loads the library, and the callbacks of the definition afterwards.
//!
//! Unity may set parameters on any thread, so they are atomics. The audio thread reads the settings of its next block from them.
//! Unity saves parameters by their names, which are made of the settings' ids.
//!
//! Unity's mixers create the instances, so scripts cannot reach one. Instead, each instance has the parameter Instance, a
//! number, and scripts queue requests for a number (`request_queue.rs`). All filters with this number apply the requests at
//! their next block. Filters that are created later do so, too.

#![allow(non_snake_case, reason = "the name of the file begins as Unity wants it")]

mod effect;
pub mod interface;
mod levels;
pub mod parameters;
mod player;
mod request_queue;
mod script;

pub use script::*;

use interface::EffectDefinition;
use std::{ffi::c_int, ptr, sync::LazyLock};

/// List of all definitions, which are neither changed nor freed.
struct List([*const EffectDefinition; 1]);

// SAFETY: the pointers lead to data that is neither changed nor freed.
unsafe impl Send for List {}
// SAFETY: as for `Send`.
unsafe impl Sync for List {}

static LIST: LazyLock<List> = LazyLock::new(|| List([Box::leak(Box::new(effect::definition()))]));

/// Writes the address of a list of pointers to all definitions. Returns their number: 1, or 0 if `definitions` is null.
///
/// # Safety
/// `definitions` must be null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn UnityGetAudioEffectDefinitions(
    definitions: *mut *const *const EffectDefinition,
) -> c_int {
    if definitions.is_null() {
        return 0;
    }
    // SAFETY: `definitions` is not null, and the caller guarantees that it is valid.
    unsafe { ptr::write(definitions, LIST.0.as_ptr()) };
    1
}
