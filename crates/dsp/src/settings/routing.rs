//! Routing: how a filter is connected.
//!
//! `Settings` are the sound, and all that a preset has. `Routing` belongs to a session or a program. `Controls` are both, for
//! every interface with a parameter or a flag for each.

use super::{Routing, Settings, Stereo, smoother::Fades};

/// The input of bands and listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Listen {
    /// The signal that they are mixed with.
    #[default]
    Main,
    /// The sidechain, where there is one.
    Sidechain,
}

impl Listen {
    /// All entries, in the order in which they are offered.
    pub const ALL: [Self; 2] = [Self::Main, Self::Sidechain];
}

/// All that a user sets: the sound and the connections.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Controls {
    /// The sound.
    pub settings: Settings,
    /// The connections.
    pub routing: Routing,
}

impl From<Settings> for Controls {
    /// The sound `settings` with the default connections.
    fn from(settings: Settings) -> Self {
        Self { settings, routing: Routing::default() }
    }
}

impl Controls {
    /// Targets of the crossfades.
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
