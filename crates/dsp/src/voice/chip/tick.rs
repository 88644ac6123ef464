//! Ticks of the chip, and its registers from one tick to the next, for files that a console can play.

/// Frequency of the ticks, at which volumes and roles change, in Hz.
pub const TICKS: f64 = 60.0;

/// A pulse, from one tick to the next.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ChipPulse {
    /// Hz, 0 while it is silent.
    pub frequency: f32,
    /// Half its height, where 1 is full scale.
    pub amplitude: f32,
    /// The share of its period during which it is high.
    pub duty: f32,
}

/// The noise, from one tick to the next.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ChipNoise {
    /// Half its height, where 1 is full scale; 0 while it is silent.
    pub amplitude: f32,
    /// Index of the register's rate among the chip's 16, 0 for the fastest.
    pub rate: u8,
}

/// Registers of the voice Chip from one tick of 60 Hz to the next.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ChipTick {
    /// Ticks since the voice was chosen.
    pub number: u64,
    /// The lead, and the strongest of the other notes.
    pub pulses: [ChipPulse; 2],
    /// Hz of the triangle, 0 while it is silent. It has no volume.
    pub triangle: f32,
    /// Noise.
    pub noise: ChipNoise,
}
