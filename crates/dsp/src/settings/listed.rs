//! Types whose values are entries of a list.

use tone_filter_listener::Model;

/// Entry of a list: its id in presets, states and flags, and its display name.
pub type Entry = (&'static str, &'static str);

/// Entries of all switches.
pub const SWITCH: &[Entry] = &[("off", "Off"), ("on", "On")];

/// A type whose values are the entries of a list.
pub trait Listed: Copy + 'static {
    /// The entries, in the order in which they are offered.
    const ENTRIES: &'static [Entry];

    fn index(self) -> usize;

    /// Returns the entry at `index`, which must be within the list.
    fn at(index: usize) -> Self;
}

/// Declares an enum whose values are the entries of a list: each with its id in presets, states and flags, and its display
/// name. New entries go behind the others, because hosts store the indices of entries.
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
