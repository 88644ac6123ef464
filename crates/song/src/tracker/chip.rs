//! Sound chips, and what their channels can play.

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

/// Channel of a chip, by the part that it plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Voice {
    /// First pulse.
    Lead,
    /// Second pulse.
    Harmony,
    /// Triangle, wave or third square.
    Bass,
    /// Noise.
    Noise,
    /// Samples, which are not used.
    Samples,
}

impl Voice {
    /// Returns the name of the part.
    pub fn name(self) -> &'static str {
        ["Lead", "Harmony", "Bass", "Drums", "Samples"][self as usize]
    }

    /// Returns the name of the part in three letters at most.
    pub fn short(self) -> &'static str {
        ["LD", "HM", "BS", "DR", "SM"][self as usize]
    }
}

impl Chip {
    /// All chips, in the order of the entries.
    pub const ALL: [Self; 3] = [Self::Nes, Self::Gb, Self::Sms];

    /// Returns the name on the command line.
    pub fn id(self) -> &'static str {
        ["nes", "gb", "sms"][self as usize]
    }

    /// Returns the name of the console.
    pub fn console(self) -> &'static str {
        ["NES", "Game Boy", "Sega Master System"][self as usize]
    }

    /// Returns whether the volume of notes can be set.
    pub fn has_volume(self, voice: Voice) -> bool {
        voice != Voice::Bass || self == Self::Sms
    }

    /// Returns the MIDI key that sounds for `key`: moved up by octaves where it is too low for the channel's registers.
    ///
    /// The lowest keys are A1 and A0 (a period of 2048 steps, 16 and 32 clocks each), C2 and C1 (64 and 32 Hz), and A2 (1023 steps of 32 clocks).
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

    /// Returns the key in a pattern that sounds as `key`: triangle and wave sound an octave below their register's note on other channels.
    pub fn written(self, voice: Voice, key: u8) -> u8 {
        if voice == Voice::Bass && self != Self::Sms { key + 12 } else { key }
    }

    /// Returns volumes as values of the chip's register, up to 15. A step of the SN76489 is 2 dB, so that sums of volumes are products.
    pub fn scale(self, volumes: Vec<u8>) -> Vec<u8> {
        match self {
            Self::Sms => volumes.into_iter().map(|volume| self.register(volume)).collect(),
            _ => volumes,
        }
    }

    /// Returns a volume as a value of the chip's register.
    pub fn register(self, volume: u8) -> u8 {
        match (self, volume) {
            (Self::Sms, 1..) => {
                let decibels = 20.0 * (15.0 / f64::from(volume)).log10();
                15 - (decibels / 2.0).round().min(14.0) as u8
            }
            _ => volume,
        }
    }

    /// Returns the sum of a note's volume and its instrument's, which is a value of the chip's register, as a value of the chip's register.
    pub fn mix(self, volume: u8, envelope: u8) -> u8 {
        match self {
            Self::Sms => (self.register(volume) + envelope).saturating_sub(15),
            _ => volume * envelope / 15,
        }
    }
}
