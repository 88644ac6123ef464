//! Groups of settings, in the editor and in hosts.
//!
//! Each setting is in one group. The editor always shows `Main`. It shows `Header` in its header, `Scale` below the grid of
//! bands, and the groups of `MORE` as columns of the section More. In a low window, More takes the grid's place.

use super::{CHOICES, SPECS};
use std::sync::LazyLock;

/// A group of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// The setting with a button in the editor's header. Hosts show it with [`Group::Main`].
    Header,
    /// The most important settings, which the editor always shows.
    Main,
    /// Detection of notes.
    Listening,
    /// Choice of the notes that may sound, which the editor shows below the bands.
    Scale,
    /// Number, pitch and keys of the notes.
    Notes,
    /// The bank of resonators.
    Resonators,
    /// The voice Chip.
    Chip,
    /// Output of the filter.
    Output,
}

impl Group {
    /// All groups; groups that share a name are neighbours.
    pub const ALL: [Self; 8] = [
        Self::Header,
        Self::Main,
        Self::Listening,
        Self::Scale,
        Self::Notes,
        Self::Resonators,
        Self::Chip,
        Self::Output,
    ];

    /// The groups that the editor shows under More, in the order of the signal flow.
    pub const MORE: [Self; 5] =
        [Self::Listening, Self::Notes, Self::Resonators, Self::Chip, Self::Output];

    /// Returns the display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Main | Self::Header => "Main",
            Self::Listening => "Listening",
            Self::Notes | Self::Scale => "Notes",
            Self::Resonators => "Resonators",
            Self::Chip => "Chip",
            Self::Output => "Output",
        }
    }

    /// Returns the ids of the settings in the group, in the editor's order.
    pub fn ids(self) -> &'static [&'static str] {
        static IDS: LazyLock<[Vec<&str>; Group::ALL.len()]> = LazyLock::new(|| {
            let mut places = [const { Vec::new() }; Group::ALL.len()];
            for spec in &SPECS {
                places[spec.group as usize].push((spec.place, spec.id));
            }
            for choice in &CHOICES {
                places[choice.group as usize].push((choice.place, choice.id));
            }
            places.map(|mut group| {
                group.sort_by_key(|(place, _)| *place);
                group.into_iter().map(|(_, id)| id).collect()
            })
        });
        &IDS[self as usize]
    }
}
