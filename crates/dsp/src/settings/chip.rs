//! The settings of the voice Chip.

use super::{Voice, listed::entries};

entries! {
    /// Treatment of the notes beyond the maximum number [`Settings::voices`](super::Settings), with [`Voice::Chip`].
    Arp {
        /// Notes beyond the number are silent.
        #[default]
        Off: "off", "Off";
        /// The last voice plays the weakest notes in turn from the lowest to the highest, 15 per second.
        Up: "up", "Up";
        /// The last voice plays the weakest notes in turn, 60 per second, which sounds like a chord.
        Fast: "fast", "Fast";
    }
}

impl Arp {
    /// Returns the duration of a note in ticks of 60 Hz; `None` for Off.
    pub fn ticks(self) -> Option<u32> {
        match self {
            Self::Off => None,
            Self::Up => Some(4),
            Self::Fast => Some(1),
        }
    }
}

entries! {
    /// Duty of the lead of [`Voice::Chip`]: the fraction of a period for which the pulse is high.
    Duty {
        /// 12.5 %: thin.
        Eighth: "12.5", "12.5 %";
        /// 25 %.
        #[default]
        Quarter: "25", "25 %";
        /// 50 %: hollow, like the other notes.
        Half: "50", "50 %";
    }
}

impl Duty {
    /// Returns the voice that has this waveform.
    pub const fn voice(self) -> Voice {
        match self {
            Self::Eighth => Voice::Pulse12,
            Self::Quarter => Voice::Pulse25,
            Self::Half => Voice::Square,
        }
    }

    /// Returns the duty as a fraction of the period, 0..1.
    pub const fn share(self) -> f64 {
        match self {
            Self::Eighth => 0.125,
            Self::Quarter => 0.25,
            Self::Half => 0.5,
        }
    }
}
