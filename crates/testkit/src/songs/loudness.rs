//! Loudness of songs.

use super::{RATE, Signal};
use anyhow::Result;
use ebur128::{EbuR128, Mode};

/// Loudness by EBU R128.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loudness {
    /// Integrated loudness in LUFS.
    pub integrated: f64,
    /// Loudness range in LU.
    pub range: f64,
}

/// Measures a signal at [`RATE`].
pub fn loudness(signal: &Signal) -> Result<Loudness> {
    let mut meter = EbuR128::new(signal.len() as u32, RATE, Mode::I | Mode::LRA)?;
    let channels: Vec<&[f32]> = signal.iter().map(Vec::as_slice).collect();
    meter.add_frames_planar_f32(&channels)?;
    Ok(Loudness { integrated: meter.loudness_global()?, range: meter.loudness_range()? })
}
