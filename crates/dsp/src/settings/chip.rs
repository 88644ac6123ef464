//! The settings of the voice Chip.

use super::{Entry, Voice};

/// Treatment of the notes beyond the number [`Settings::voices`](super::Settings), with [`Voice::Chip`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arp {
    /// These notes are silent.
    #[default]
    Off,
    /// The last voice plays them in turn from the lowest to the highest, 15 per second.
    Up,
    /// The last voice plays them in turn, 60 per second, which sounds like a chord.
    Fast,
}

impl Arp {
    /// All entries, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Off, Self::Up, Self::Fast];

    pub(super) const ENTRIES: [Entry; 3] = [("off", "Off"), ("up", "Up"), ("fast", "Fast")];

    /// Returns the ticks of 60 Hz for which a note lasts; `None` for Off.
    pub fn ticks(self) -> Option<u32> {
        match self {
            Self::Off => None,
            Self::Up => Some(4),
            Self::Fast => Some(1),
        }
    }
}

/// Duty of the lead of [`Voice::Chip`]: the share of its period during which the pulse is high.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Duty {
    /// 12.5 %: thin.
    Eighth,
    /// 25 %.
    #[default]
    Quarter,
    /// 50 %: hollow, like the other notes.
    Half,
}

impl Duty {
    /// All entries, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Eighth, Self::Quarter, Self::Half];

    pub(super) const ENTRIES: [Entry; 3] = [("12.5", "12.5 %"), ("25", "25 %"), ("50", "50 %")];

    /// Returns the voice that has this waveform.
    pub const fn voice(self) -> Voice {
        match self {
            Self::Eighth => Voice::Pulse12,
            Self::Quarter => Voice::Pulse25,
            Self::Half => Voice::Square,
        }
    }

    /// Returns the duty as a share, 0..1.
    pub const fn share(self) -> f64 {
        match self {
            Self::Eighth => 0.125,
            Self::Quarter => 0.25,
            Self::Half => 0.5,
        }
    }
}
