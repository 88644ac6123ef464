//! How a filter is connected: what is no part of the sound.

use super::{Settings, Stereo, smoother::Fades};

/// How a filter is connected. No preset changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Routing {
    /// Passes the input through unchanged.
    pub bypass: bool,
    /// The input of bands and listener.
    pub listen: Listen,
    /// Whether the detected notes are sent as MIDI, by what owns the filter.
    pub midi_out: bool,
}

/// The input of bands and listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Listen {
    /// The signal that they are mixed with.
    #[default]
    Main,
    /// The sidechain, where there is one.
    Sidechain,
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
    /// What is crossfaded.
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
