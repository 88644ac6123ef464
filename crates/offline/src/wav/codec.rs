//! Conversion between samples and bytes, in loops that the compiler vectorises.

use super::Depth;
use crate::xorshift::xorshift;

/// Appends the interleaved samples in `bytes` (whole frames) to their channels; full scale is 1. `stride` is the number of
/// bytes per sample: normally the one of `depth`, but 24 bits may also be stored in four bytes.
pub fn decode(bytes: &[u8], depth: Depth, stride: usize, channels: &mut [Vec<f32>]) {
    // Integers of 24 and 32 bits become the upper bytes of an i32, so that both have the same scale.
    const UNIT: f32 = 1.0 / (1u32 << 31) as f32;
    let int = |sample: i32| sample as f32 * UNIT;
    match (depth, stride) {
        (Depth::Int8, _) => {
            deinterleave(bytes, channels, |[a]| f32::from(i16::from(a) - 128) / 128.0)
        }
        (Depth::Int16, _) => {
            deinterleave(bytes, channels, |b| f32::from(i16::from_le_bytes(b)) / 32_768.0)
        }
        (Depth::Int24, 4) => {
            deinterleave(bytes, channels, |[a, b, c, _]| int(i32::from_le_bytes([0, a, b, c])))
        }
        (Depth::Int24, _) => {
            deinterleave(bytes, channels, |[a, b, c]| int(i32::from_le_bytes([0, a, b, c])))
        }
        (Depth::Int32, _) => deinterleave(bytes, channels, |b| int(i32::from_le_bytes(b))),
        (Depth::Float32, _) => deinterleave(bytes, channels, f32::from_le_bytes),
        (Depth::Float64, _) => deinterleave(bytes, channels, |b| f64::from_le_bytes(b) as f32),
    }
}

/// Appends interleaved samples of `N` bytes to their channels.
fn deinterleave<const N: usize>(
    bytes: &[u8],
    channels: &mut [Vec<f32>],
    sample: impl Fn([u8; N]) -> f32,
) {
    let samples = bytes.as_chunks::<N>().0;
    if let [left, right] = channels {
        let frames = samples.as_chunks::<2>().0;
        left.extend(frames.iter().map(|frame| sample(frame[0])));
        right.extend(frames.iter().map(|frame| sample(frame[1])));
        return;
    }
    let count = channels.len();
    for (index, channel) in channels.iter_mut().enumerate() {
        channel.extend(samples.iter().skip(index).step_by(count).map(|bytes| sample(*bytes)));
    }
}

/// Replaces `bytes` by the interleaved samples of all `channels`, which must have equal lengths. Integers are rounded, and clip
/// at full scale. With `dither`, noise is added before the rounding, except to samples of 0, so silence stays silent.
pub fn encode(
    channels: &[Vec<f32>],
    depth: Depth,
    dither: Option<&mut Dither>,
    bytes: &mut Vec<u8>,
) {
    let full_scale = depth.full_scale();
    // Adding 1.5 * 2^52 leaves no room for a fraction: the lowest bits are the rounded integer. Baseline x86-64 cannot round
    // faster.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let step = move |sample: f32, dither: f64| {
        let step = f64::from(sample) * full_scale + dither;
        (step.clamp(-full_scale, full_scale - 1.0) + ROUND).to_bits() as i32
    };
    match depth {
        Depth::Int8 => interleave(channels, dither, bytes, |s, d| [(step(s, d) + 128) as u8]),
        Depth::Int16 => {
            interleave(channels, dither, bytes, |s, d| (step(s, d) as i16).to_le_bytes())
        }
        Depth::Int24 => interleave(channels, dither, bytes, |s, d| {
            let [a, b, c, _] = step(s, d).to_le_bytes();
            [a, b, c]
        }),
        Depth::Int32 => interleave(channels, dither, bytes, |s, d| step(s, d).to_le_bytes()),
        Depth::Float32 | Depth::Float64 => {
            interleave(channels, None, bytes, |sample, _| sample.to_le_bytes());
        }
    }
}

fn interleave<const N: usize>(
    channels: &[Vec<f32>],
    dither: Option<&mut Dither>,
    bytes: &mut Vec<u8>,
    coded: impl Fn(f32, f64) -> [u8; N],
) {
    let (count, frames) = (channels.len(), channels.first().map_or(0, Vec::len));
    bytes.clear();
    bytes.resize(frames * count * N, 0);
    let samples = bytes.as_chunks_mut::<N>().0;
    match (channels, dither) {
        (_, Some(dither)) => {
            for (frame, samples) in samples.chunks_exact_mut(count).enumerate() {
                for (sample, channel) in samples.iter_mut().zip(channels) {
                    let value = channel[frame];
                    *sample = coded(value, if value == 0.0 { 0.0 } else { dither.next() });
                }
            }
        }
        ([left, right], None) => {
            for (frame, (l, r)) in
                samples.as_chunks_mut::<2>().0.iter_mut().zip(left.iter().zip(right))
            {
                *frame = [coded(*l, 0.0), coded(*r, 0.0)];
            }
        }
        (_, None) => {
            for (index, channel) in channels.iter().enumerate() {
                let samples = samples.iter_mut().skip(index).step_by(count);
                samples.zip(channel).for_each(|(to, sample)| *to = coded(*sample, 0.0));
            }
        }
    }
}

/// Returns the number of samples whose magnitude exceeds full scale.
pub fn clipped(channels: &[Vec<f32>]) -> u64 {
    let count = |samples: &Vec<f32>| samples.iter().map(|s| u32::from(s.abs() > 1.0)).sum::<u32>();
    channels.iter().map(|samples| u64::from(count(samples))).sum()
}

/// Generator of triangular dither (TPDF), 2 LSB wide, the same in every run. Dither makes the rounding error independent of the
/// signal: it is heard as hiss instead of distortion.
pub struct Dither(u64);

impl Default for Dither {
    fn default() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }
}

impl Dither {
    /// Returns the next value in LSB, -1..1: the difference of the two halves of 64 random bits.
    fn next(&mut self) -> f64 {
        let bits = xorshift(&mut self.0);
        const UNIT: f64 = 1.0 / (1u64 << 32) as f64;
        (f64::from((bits >> 32) as u32) - f64::from(bits as u32)) * UNIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dither_is_triangular_without_bias_and_a_sixth_of_a_step_squared() {
        let mut dither = Dither::default();
        const COUNT: usize = 1_000_000;
        let values: Vec<f64> = (0..COUNT).map(|_| dither.next()).collect();
        let mean = values.iter().sum::<f64>() / COUNT as f64;
        let power = values.iter().map(|v| v * v).sum::<f64>() / COUNT as f64;
        // The standard errors of mean and power are 4e-4 and 2e-4.
        assert!(mean.abs() < 2e-3, "{mean}");
        assert!((power - 1.0 / 6.0).abs() < 1e-3, "{power}");
        let inner = values.iter().filter(|v| v.abs() < 0.5).count() as f64 / COUNT as f64;
        assert!((inner - 0.75).abs() < 3e-3, "{inner}: three quarters of a triangle's area");
        let next_to = |lag| values.iter().zip(&values[lag..]).map(|(a, b)| a * b).sum::<f64>();
        assert!(next_to(1).abs() / (power * COUNT as f64) < 5e-3, "neighbours are independent");
    }
}
