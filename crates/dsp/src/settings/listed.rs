//! Types whose values are entries of a list.

use super::{Entry, NoteValue, PitchClass, choices::SWITCH};
use tone_filter_listener::Model;

/// A type whose values are the entries of a list.
pub trait Listed: Copy + 'static {
    /// The entries, in the order in which they are offered.
    const ENTRIES: &'static [Entry];

    fn index(self) -> usize;

    /// Returns the entry at `index`, which must be within the list.
    fn at(index: usize) -> Self;
}

/// Declares an enum whose values are the entries of a choice, in the order in which they are offered: each with its id in
/// presets, states and flags, and its display name. New entries go behind the others, as hosts store their numbers.
macro_rules! entries {
    ($(#[$type_doc:meta])* $type:ident {
        $($(#[$doc:meta])* $entry:ident: $id:literal, $name:literal;)*
    }) => {
        $(#[$type_doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub enum $type {
            $($(#[$doc])* $entry,)*
        }

        impl $type {
            /// All entries, in the order in which they are offered.
            pub const ALL: [Self; [$($id),*].len()] = [$(Self::$entry),*];
        }

        impl $crate::settings::listed::Listed for $type {
            const ENTRIES: &'static [$crate::settings::Entry] = &[$(($id, $name)),*];

            fn index(self) -> usize {
                self as usize
            }

            fn at(index: usize) -> Self {
                Self::ALL[index]
            }
        }
    };
}
pub(super) use entries;

impl Listed for Model {
    const ENTRIES: &'static [Entry] = &[("full", "Full"), ("light", "Light")];

    fn index(self) -> usize {
        self as usize
    }

    fn at(index: usize) -> Self {
        Self::ALL[index]
    }
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
