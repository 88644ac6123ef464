//! What a user has done in an instance, across windows: the presets that were loaded, the steps to undo, two sounds to
//! compare. It knows neither the window nor the filter.

mod edits;
mod history;
mod loader;
mod presets;

pub use edits::Edits;
pub use history::History;
pub use loader::{PresetLoader, read_preset};
#[cfg(test)]
pub use presets::is_same;
pub use presets::{PresetList, Question};

use tone_filter_dsp::Controls;

/// A state of the sound that undo, redo and the A/B switch restore.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sound {
    pub controls: Controls,
    /// The name of the preset it started from.
    pub preset: String,
    /// 0 for A, 1 for B.
    pub slot: usize,
    /// The sound in the other slot; `None` if that slot was never used.
    pub other: Option<Box<Self>>,
}

impl Sound {
    /// This sound without the one in the other slot.
    fn without_other(&self) -> Self {
        Self { other: None, ..self.clone() }
    }
}

/// State that lives as long as the plugin instance, across windows.
#[derive(Default)]
pub struct Session {
    pub presets: PresetList,
    pub history: History,
    /// The active slot: 0 for A, 1 for B.
    pub slot: usize,
    /// See [`Sound::other`].
    pub other: Option<Box<Sound>>,
    gesture: Option<Gesture>,
}

/// An edit that has begun and not yet ended.
struct Gesture {
    /// The setting's id; `None` for a drag over the bands.
    id: Option<&'static str>,
    before: Sound,
    /// The sound as edited so far. Kept here because a host may apply new values late.
    after: Sound,
}

impl Session {
    /// A session without edits.
    pub fn new(presets: PresetList) -> Self {
        Self { presets, ..Self::default() }
    }
}
