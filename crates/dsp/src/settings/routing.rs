//! Routing: the connections of a filter.
//!
//! `Settings` are the sound, all that a preset has. `Routing` belongs to a session or a program. `Controls` are both, for
//! interfaces with a parameter or a flag for each setting.

use super::{
    BandRange, Routing, Settings, Stereo,
    listed::entries,
    smoother::{Fade, Fades},
};

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
    /// Sound, which presets save.
    pub settings: Settings,
    /// Connections, which no preset changes.
    pub routing: Routing,
}

impl From<Settings> for Controls {
    /// Creates controls with the sound `settings` and the default connections.
    fn from(settings: Settings) -> Self {
        Self { settings, routing: Routing::default() }
    }
}

impl Controls {
    /// Returns why the setting `id` has no effect, as [`Settings::idle`] does, and for connections, too.
    ///
    /// ```
    /// use tone_filter_dsp::Controls;
    ///
    /// assert_eq!(Controls::default().idle("mpe"), Some("MIDI out is off"));
    /// ```
    pub fn idle(&self, id: &str) -> Option<&'static str> {
        match id {
            "mpe" if !self.routing.midi_out => Some("MIDI out is off"),
            _ => self.settings.idle(id),
        }
    }

    pub(crate) fn fades(&self) -> Fades<bool> {
        let Self { settings, routing } = self;
        let mut fades = Fades::OFF;
        fades[Fade::Stereo] = settings.stereo == Stereo::Stereo;
        fades[Fade::Place] = settings.stereo == Stereo::Place;
        fades[Fade::Bypass] = routing.bypass;
        fades[Fade::Auto] = settings.auto;
        fades[Fade::Lookahead] = settings.lookahead;
        fades[Fade::Sidechain] = routing.listen == Listen::Sidechain;
        fades[Fade::LowBands] = settings.range == BandRange::Whole;
        fades
    }
}
