//! What an instance has beside its parameters and its sound: the preset that is loaded, what presets keep, undo and A/B.

mod edits;
mod history;
mod load;
mod presets;

pub use edits::{Edits, Session, Sound};
pub use load::{PresetLoader, read_preset};
#[cfg(test)]
pub use presets::is_same;
pub use presets::{PresetList, Question};
