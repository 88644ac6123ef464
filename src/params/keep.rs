//! Settings that loading a preset keeps.
//!
//! `Keep` belongs to the session and is saved with the plugin's state, like the window's size. It is not part of a sound: undo,
//! A/B and presets neither save nor restore it. A preset counts as changed if loading it again would change the sound.

use crossbeam::atomic::AtomicCell;
use serde::{Deserialize, Serialize};

/// Groups of settings that loading a preset leaves as they are, by the user's choice. Aligned like [`Size`](super::Size).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[repr(align(2))]
pub struct Keep {
    /// Whether `root`, `scale`, `custom`, `map` and `targets` stay. `bands` do not: presets for a register, such as Lead Only,
    /// mute bands.
    pub scale: bool,
    /// Whether `tuning`, `auto-tuning` and `transpose` stay.
    pub tuning: bool,
}

const _: () = assert!(AtomicCell::<Keep>::is_lock_free());
