//! Tone Filter for Unity: an effect for audio mixers, by Unity's interface for native audio plugins, and functions for `ToneFilter.cs`.
//!
//! Unity calls [`UnityGetAudioEffectDefinitions`] when it loads the library, and the callbacks of the definition afterwards.
//!
//! Parameters are atomics, since Unity may set one on any thread; the audio thread makes the settings of its next block of
//! them. They are named by the ids of settings, by which Unity saves them.
//!
//! Mixers make the instances, so scripts cannot reach one. Scripts address a number, which is a parameter, and queue requests
//! for it (`remote.rs`); filters take the requests at their next block, also filters that are made later.

#![allow(non_snake_case, reason = "the name of the file begins as Unity wants it")]

mod effect;
pub mod interface;
mod levels;
pub mod parameters;
mod player;
mod remote;
mod script;

pub use script::*;

use effect::DEFINITIONS;
use interface::EffectDefinition;
use std::{ffi::c_int, ptr};

/// A list of pointers that is never changed.
struct List([*const EffectDefinition; 1]);

// SAFETY: they lead to what is neither changed nor freed.
unsafe impl Send for List {}
// SAFETY: likewise.
unsafe impl Sync for List {}

static LIST: std::sync::LazyLock<List> = std::sync::LazyLock::new(|| List([DEFINITIONS.effect()]));

/// Writes the address of a list of pointers to the definitions of all effects, and returns their number: 1.
///
/// # Safety
/// `definitions` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn UnityGetAudioEffectDefinitions(
    definitions: *mut *const *const EffectDefinition,
) -> c_int {
    if definitions.is_null() {
        return 0;
    }
    // SAFETY: it is not null, and valid by the caller.
    unsafe { ptr::write(definitions, LIST.0.as_ptr()) };
    1
}
