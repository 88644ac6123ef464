//! Settings that loading a preset keeps.
//!
//! `Keep` belongs to the session and is saved with the state, as the window's size is, but is no part of a sound: undo, A/B and
//! presets neither save nor restore it. A preset counts as changed if loading it again would change the sound.

use crossbeam::atomic::AtomicCell;
use serde::{Deserialize, Serialize};

/// The groups of settings that loading a preset leaves as they are. The user's choice in the editor, and no part of any
/// sound. Aligned for the reason given at [`Size`](super::Size).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[repr(align(2))]
pub struct Keep {
    /// `root`, `scale`, `custom`, `map` and `targets`. Not `bands`: presets for a register, such as Lead Only, mute bands to be what they
    /// are.
    pub scale: bool,
    /// `tuning`, `auto-tuning` and `transpose`.
    pub tuning: bool,
}

const _: () = assert!(AtomicCell::<Keep>::is_lock_free());
