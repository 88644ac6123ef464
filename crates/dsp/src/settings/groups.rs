//! Groups of settings, in the editor and in hosts.
//!
//! The editor always shows `Main`, has `Header` in its header, `Scale` below the grid and `MORE` under More, in columns. A
//! setting is in one group. Where More leaves the grid no legible height, it takes the grid's place.

use super::{CHOICES, SPECS};
use std::sync::LazyLock;

/// A group of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// The setting with a button in the editor's header. Hosts show it with [`Group::Main`].
    Header,
    /// The settings that everybody wants, which the editor always shows.
    Main,
    /// Detection of notes.
    Listening,
    /// The notes that may sound, which the editor shows below the bands.
    Scale,
    /// Playing of notes.
    Notes,
    /// The bank of resonators.
    Resonators,
    /// The voice Chip.
    Chip,
    /// The result.
    Output,
}

impl Group {
    /// All groups; the ones that share a name are neighbours.
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

    /// Name for people.
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

    /// Ids of its settings, in the order of the editor.
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
