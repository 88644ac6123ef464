//! Table of the bundle's plugins and of each plugin's ports, in the order of their indices. [`turtle`](crate::turtle) describes
//! them to hosts.

use std::ffi::CStr;
use tone_filter_dsp::{Controls, Group, Setting};

/// Id of the setting whose port is LV2's `enabled`. The port is 1 while the setting is off.
pub const BYPASS: &str = "bypass";

/// Plugin of the bundle: stereo, mono or with a sidechain.
#[derive(Debug)]
pub struct Variant {
    /// URI by which hosts save the plugin.
    pub uri: &'static CStr,
    /// Name to display.
    pub name: &'static str,
    /// Number of channels of the input and of the output, 1 or 2.
    pub channels: usize,
    /// Whether there is a sidechain, with as many channels as the input.
    pub sidechain: bool,
}

/// All plugins of the bundle, by their index.
pub static VARIANTS: [Variant; 3] = [
    Variant { uri: c"urn:tone-filter:stereo", name: "Tone Filter", channels: 2, sidechain: false },
    Variant {
        uri: c"urn:tone-filter:mono",
        name: "Tone Filter Mono",
        channels: 1,
        sidechain: false,
    },
    Variant {
        uri: c"urn:tone-filter:sidechain",
        name: "Tone Filter Sidechain",
        channels: 2,
        sidechain: true,
    },
];

/// Id of the setting that only the plugin with a sidechain has.
const LISTEN: &str = "listen";

/// Type of a port.
#[derive(Debug, Clone, Copy)]
pub enum Port {
    /// Channel of the input, 0 or 1.
    Input(usize),
    /// Channel of the output, 0 or 1.
    Output(usize),
    /// Channel of the sidechain, 0 or 1.
    Sidechain(usize),
    /// MIDI and the song's position from the host.
    EventsIn,
    /// MIDI to the host.
    EventsOut,
    /// A setting: a number in its unit, the index of a choice's entry, or 0 or 1 for a switch. The setting "bypass" is inverted,
    /// as LV2's port `enabled`.
    Setting(Setting),
    /// Latency of the output in frames.
    Latency,
}

impl Variant {
    /// Returns the ports in the order of their indices. Hosts list settings in this order, so it is the editor's order.
    pub fn ports(&self) -> impl Iterator<Item = Port> {
        let audio = |port: fn(usize) -> Port, count| (0..count).map(port);
        let sidechain = if self.sidechain { self.channels } else { 0 };
        let settings = Group::ALL.into_iter().flat_map(Group::ids).copied();
        let settings = settings.filter(|id| self.sidechain || *id != LISTEN);
        audio(Port::Input, self.channels)
            .chain(audio(Port::Output, self.channels))
            .chain(audio(Port::Sidechain, sidechain))
            .chain([Port::EventsIn, Port::EventsOut])
            .chain(settings.filter_map(Setting::find).map(Port::Setting))
            .chain([Port::Latency])
    }
}

impl Port {
    /// Returns the symbol under which hosts save the port. For a setting, it is the id with underscores, or `enabled`.
    pub fn symbol(self) -> String {
        match self {
            Self::Input(channel) => format!("in_{}", channel + 1),
            Self::Output(channel) => format!("out_{}", channel + 1),
            Self::Sidechain(channel) => format!("sidechain_{}", channel + 1),
            Self::EventsIn => "events_in".to_owned(),
            Self::EventsOut => "events_out".to_owned(),
            Self::Setting(setting) if setting.id() == BYPASS => "enabled".to_owned(),
            Self::Setting(setting) => setting.id().replace('-', "_"),
            Self::Latency => "latency".to_owned(),
        }
    }

    /// Returns whether the port belongs to a setting.
    pub fn is_setting(self) -> bool {
        matches!(self, Self::Setting(_))
    }

    /// Sets the port's setting in `controls` by the port's `value`, clamped to the range, and inverted for `enabled`. A switch
    /// is on if its port's value is above 0. No effect for other ports.
    pub fn set(self, controls: &mut Controls, value: f32) {
        let Self::Setting(setting) = self else { return };
        let value = match setting {
            _ if setting.id() == BYPASS => f32::from(value <= 0.0),
            Setting::Choice(choice) if choice.is_switch() => f32::from(value > 0.0),
            _ => value,
        };
        setting.set_value(controls, value);
    }

    /// Returns the port's value for the setting in `controls`; 0 for other ports.
    pub fn get(self, controls: &Controls) -> f32 {
        match self {
            Self::Setting(setting) if setting.id() == BYPASS => 1.0 - setting.value(controls),
            Self::Setting(setting) => setting.value(controls),
            _ => 0.0,
        }
    }
}
