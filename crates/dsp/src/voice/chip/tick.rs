//! Ticks of the chip, and its registers between ticks, for files that a console can play.

/// Frequency in Hz of the ticks, at which volumes and parts change.
pub const TICKS: f64 = 60.0;

/// Registers of a pulse between two ticks.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ChipPulse {
    /// Frequency in Hz; 0 while the pulse is silent.
    pub frequency: f32,
    /// Half the peak-to-peak height; full scale is 1.
    pub amplitude: f32,
    /// Duty: the fraction of a period for which the pulse is high.
    pub duty: f32,
}

/// Registers of the noise between two ticks.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ChipNoise {
    /// Half the peak-to-peak height; full scale is 1. 0 while the noise is silent.
    pub amplitude: f32,
    /// Index of the rate of the shift register among the chip's 16 rates; 0 is the fastest.
    pub rate: u8,
}

/// Registers of the voice Chip between two ticks of 60 Hz.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ChipTick {
    /// Number of the tick: 1 is the first one after the voice was chosen.
    pub number: u64,
    /// Lead, and the strongest of the other notes.
    pub pulses: [ChipPulse; 2],
    /// Frequency of the triangle in Hz; 0 while it is silent. The triangle has no volume.
    pub triangle: f32,
    /// Registers of the noise.
    pub noise: ChipNoise,
}
