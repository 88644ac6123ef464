//! Ranges and volumes of the channels of sound chips.

/// Steps of the Game Boy's wave: a triangle.
pub const WAVE: [u8; 32] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4,
    3, 2, 1, 0,
];

/// Sound chip of a console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chip {
    /// 2A03 of the NES: two pulses, triangle, noise, samples.
    Nes,
    /// Game Boy: two pulses, wave, noise.
    Gb,
    /// SN76489 of the Master System: three squares, noise.
    Sms,
}

/// Channel of a chip; [`Voice::name`] is the part that it plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Voice {
    /// First pulse.
    Lead,
    /// Second pulse.
    Harmony,
    /// Triangle, wave or third square.
    Bass,
    Noise,
    /// Samples; always empty.
    Samples,
}

impl Voice {
    /// Returns the full name of the part.
    pub fn name(self) -> &'static str {
        ["Lead", "Harmony", "Bass", "Drums", "Samples"][self as usize]
    }

    /// Returns a two-letter name of the part.
    pub fn short(self) -> &'static str {
        ["LD", "HM", "BS", "DR", "SM"][self as usize]
    }
}

impl Chip {
    /// All chips, in declaration order.
    pub const ALL: [Self; 3] = [Self::Nes, Self::Gb, Self::Sms];

    /// Returns the name used on the command line.
    pub fn id(self) -> &'static str {
        ["nes", "gb", "sms"][self as usize]
    }

    /// Returns the name of the console.
    pub fn console(self) -> &'static str {
        ["NES", "Game Boy", "Sega Master System"][self as usize]
    }

    /// Returns whether a channel has volumes. Triangle and wave are only on or off.
    pub fn has_volume(self, voice: Voice) -> bool {
        voice != Voice::Bass || self == Self::Sms
    }

    /// Returns a MIDI key, moved up by octaves if it is too low for the channel's period register.
    ///
    /// The lowest keys are A1 (triangle: A0) on the NES, C2 (wave: C1) on the Game Boy, and A2 on the SN76489.
    pub fn key(self, voice: Voice, key: u8) -> u8 {
        let lowest = match (self, voice) {
            (Self::Nes, Voice::Bass) => 21,
            (Self::Nes, _) => 33,
            (Self::Gb, Voice::Bass) => 24,
            (Self::Gb, _) => 36,
            (Self::Sms, _) => 45,
        };
        if key < lowest { key + (lowest - key).div_ceil(12) * 12 } else { key }
    }

    /// Returns the key that a pattern must have so that `key` sounds. Triangle and wave sound an octave lower than written.
    pub fn written(self, voice: Voice, key: u8) -> u8 {
        if voice == Voice::Bass && self != Self::Sms { key + 12 } else { key }
    }

    /// Converts a linear volume, 0 to 15, to a register value. A step of the SN76489's register is 2 dB.
    pub fn register(self, volume: u8) -> u8 {
        match (self, volume) {
            (Self::Sms, 1..) => {
                let decibels = 20.0 * (15.0 / f64::from(volume)).log10();
                15 - (decibels / 2.0).round().min(14.0) as u8
            }
            _ => volume,
        }
    }

    /// Combines the linear `volume` of a note and the register value of its instrument's `envelope` to a register value: the product,
    /// or the sum of the attenuations on the SN76489, whose values are logarithmic.
    pub fn mix(self, volume: u8, envelope: u8) -> u8 {
        match self {
            Self::Sms => (self.register(volume) + envelope).saturating_sub(15),
            _ => volume * envelope / 15,
        }
    }
}
