//! Settings that are a text: switches of bands or notes, and names of notes.

use super::{Settings, Switches, mask::digit_counts};
use std::{error::Error, fmt};

/// Error: text that is not a valid value. The message says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadText(pub(super) String);

impl fmt::Display for BadText {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for BadText {}

/// Syntax of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextOf {
    /// The given number of digits: 1 for on, 0 for off.
    Switches(usize),
    /// The names of the given number of notes.
    Notes(usize),
}

impl fmt::Display for TextOf {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Switches(count) => {
                write!(f, "{} digits, 1 for on and 0 for off", digit_counts(*count))
            }
            Self::Notes(count) => write!(f, "the names of {count} notes, like A A# B C"),
        }
    }
}

/// Description of a setting that is a text.
#[derive(Debug)]
pub struct Text {
    /// Stable id: field name, preset key and flag, but no plugin parameter, as hosts have no parameters for texts.
    pub id: &'static str,
    /// Display name.
    pub name: &'static str,
    /// Effect on the sound, in one sentence.
    pub help: &'static str,
    /// Id of the choice that follows this setting in files.
    pub before: &'static str,
    /// Syntax: digits, or names of notes.
    pub of: TextOf,
    pub(super) get: fn(&Settings) -> String,
    pub(super) set: fn(&mut Settings, &str) -> Result<(), String>,
    pub(super) bits: fn(&Settings) -> [u64; 2],
    pub(super) set_bits: fn(&mut Settings, [u64; 2]),
}

impl Text {
    /// Returns the text in `settings`.
    pub fn get(&self, settings: &Settings) -> String {
        (self.get)(settings)
    }

    /// Sets the value in `settings` to `text`.
    ///
    /// # Errors
    /// If the text is invalid: the message says what to write instead.
    pub fn set(&self, settings: &mut Settings, text: &str) -> Result<(), String> {
        (self.set)(settings, text)
    }

    /// Returns the value in `settings` as bits. Does not allocate.
    pub fn bits(&self, settings: &Settings) -> [u64; 2] {
        (self.bits)(settings)
    }

    /// Sets the value in `settings` from `bits`, as [`Text::bits`] returns them. Any bits give a valid value.
    pub fn set_bits(&self, settings: &mut Settings, bits: [u64; 2]) {
        (self.set_bits)(settings, bits);
    }
}

/// Type of a text setting: its values have a text and fit into 128 bits.
pub trait TextValue: Sized {
    /// Syntax of the text.
    const OF: TextOf;

    /// Returns the value as bits.
    fn to_bits(self) -> [u64; 2];

    /// Creates a value from bits; any bits are valid.
    fn from_bits(bits: [u64; 2]) -> Self;
}

impl<const N: usize> TextValue for Switches<N> {
    const OF: TextOf = TextOf::Switches(N);

    fn to_bits(self) -> [u64; 2] {
        self.to_bits()
    }

    fn from_bits(bits: [u64; 2]) -> Self {
        Self::from_bits(bits)
    }
}
