//! Analysis: which notes should sound, and how loud.

mod focus;
mod keyboard;
mod keys;
mod level;
mod polyphony;
mod sidechain;

pub use keyboard::Keyboard;
pub use keys::PITCH_WHEEL;
pub(crate) use {
    focus::Focus,
    keys::HeldKeys,
    level::Level,
    polyphony::Polyphony,
    sidechain::{Sidechain, finite},
};
