//! Types whose values are entries of a list.

use super::{
    Arp, BandRange, Duty, Entry, Keys, Listen, Map, NoteValue, PitchClass, Scale, Stereo, Voice,
    choices::SWITCH,
};
use tone_filter_listener::Model;

/// A type whose values are the entries of a list.
pub trait Listed: Copy + 'static {
    /// The entries, in the order in which they are offered.
    const ENTRIES: &'static [Entry];

    /// Returns the index in the list.
    fn index(self) -> usize;

    /// Returns the entry at `index`, which must be within the list.
    fn at(index: usize) -> Self;
}

/// Implements [`Listed`] for enums, with their entries in the order of `ALL`.
macro_rules! listed {
    ($($type:ident: $entries:expr;)*) => {$(
        impl Listed for $type {
            const ENTRIES: &'static [Entry] = $entries;

            fn index(self) -> usize {
                self as usize
            }

            fn at(index: usize) -> Self {
                Self::ALL[index]
            }
        }
    )*};
}

listed! {
    Stereo: &[("mono", "Mono"), ("stereo", "Stereo"), ("place", "Place")];
    BandRange: &[("published", "From A3"), ("whole", "From E1")];
    Listen: &[("main", "Off"), ("sidechain", "On")];
    Model: &[("full", "Full"), ("light", "Light")];
    Scale: &Self::ENTRIES;
    Map: &Self::ENTRIES;
    Voice: &Self::ENTRIES;
    Arp: &Self::ENTRIES;
    Duty: &Self::ENTRIES;
    Keys: &Self::ENTRIES;
}

impl Listed for bool {
    const ENTRIES: &'static [Entry] = SWITCH;

    fn index(self) -> usize {
        self.into()
    }

    fn at(index: usize) -> Self {
        index != 0
    }
}

impl Listed for PitchClass {
    const ENTRIES: &'static [Entry] = &Self::ENTRIES;

    fn index(self) -> usize {
        self.index()
    }

    fn at(index: usize) -> Self {
        Self::new(index)
    }
}

impl Listed for NoteValue {
    const ENTRIES: &'static [Entry] = &Self::ENTRIES;

    fn index(self) -> usize {
        self.index()
    }

    fn at(index: usize) -> Self {
        Self::new(index)
    }
}
