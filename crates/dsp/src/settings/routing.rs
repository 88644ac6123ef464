//! Routing: the connections of a filter.
//!
//! `Settings` are the sound, all that a preset has. `Routing` belongs to a session or a program. `Controls` are both, for
//! interfaces with a parameter or a flag for each setting.

use super::{Routing, Settings, Stereo, listed::entries, smoother::Fades};

entries! {
    /// Input of the bands and of the listener.
    Listen {
        /// The main input, which is also the dry signal.
        #[default]
        Main: "main", "Off";
        /// The sidechain, if it is connected.
        Sidechain: "sidechain", "On";
    }
}

/// Everything that a user sets: sound and connections.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Controls {
    /// The sound.
    pub settings: Settings,
    /// The connections.
    pub routing: Routing,
}

impl From<Settings> for Controls {
    /// Creates controls with the sound `settings` and the default connections.
    fn from(settings: Settings) -> Self {
        Self { settings, routing: Routing::default() }
    }
}

impl Controls {
    /// Returns the targets of the crossfades.
    pub(crate) fn fades(&self) -> Fades {
        let Self { settings, routing } = self;
        Fades {
            stereo: settings.stereo == Stereo::Stereo,
            place: settings.stereo == Stereo::Place,
            bypass: routing.bypass,
            auto: settings.auto,
            lookahead: settings.lookahead,
            sidechain: routing.listen == Listen::Sidechain,
        }
    }
}
