//! Edges: times at which the sound gets louder or quieter, from energies in hops of about 1 ms.
//!
//! A decision tells that a note has begun or ended within the last frames; an edge tells when. `docs/dsp.md` has the formula.

use crate::BLOCK;

/// Minimum duration of a hop in seconds. A hop is a whole number of blocks.
const HOP: f64 = 0.001;
/// Number of hops that are kept: at least 128 ms.
const HOPS: usize = 128;
/// Minimum duration of the windows before and after an edge in seconds.
const WINDOW: f64 = 0.006;
/// Minimum difference between the energies after and before an edge, as a fraction of their sum. At 1/3, one is twice the other.
const CLEAR: f64 = 1.0 / 3.0;
/// Energy before an attack, relative to the energy around the edge, below which it counts as silence: -26 dB.
const SILENT: f64 = 0.002_5;
/// Number of hops before an edge that may belong to the attack. Silence is looked for before them.
const ATTACK: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Rise,
    Fall,
}

/// Edge of the sound: a rise or a fall of its energy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// Samples from the edge to the end of the last block.
    pub age: usize,
    /// Whether the sound before the edge is nearly silent.
    pub from_silence: bool,
}

/// Energies of the last hops, after a high-pass: the difference of consecutive samples.
#[derive(Debug, Clone)]
pub struct Edges {
    /// Length of a hop in blocks.
    hop: usize,
    /// Duration of a hop in seconds.
    seconds: f64,
    /// Energy of each hop, in a ring.
    energies: [f64; HOPS],
    /// Number of complete hops since the reset.
    hops: usize,
    /// Energy of the current hop so far, and the number of blocks in it so far.
    current: (f64, usize),
    /// Last sample of each channel.
    last: [f32; 2],
}

impl Edges {
    /// Creates the state after silence, for `sample_rate` in Hz.
    pub fn new(sample_rate: f64) -> Self {
        let block = BLOCK as f64 / sample_rate;
        let hop = (HOP / block).ceil().max(1.0);
        Self {
            hop: hop as usize,
            seconds: hop * block,
            energies: [0.0; HOPS],
            hops: 0,
            current: (0.0, 0),
            last: [0.0; 2],
        }
    }

    pub fn reset(&mut self) {
        (self.energies, self.hops, self.current, self.last) = ([0.0; HOPS], 0, (0.0, 0), [0.0; 2]);
    }

    #[inline(always)]
    pub fn push(&mut self, channels: [&[f32; BLOCK]; 2]) {
        for (last, channel) in self.last.iter_mut().zip(channels) {
            let mut sums = [0.0; 8];
            let mut energies = [0.0; BLOCK];
            energies[0] = (channel[0] - *last).powi(2);
            for (energy, pair) in energies[1..].iter_mut().zip(channel.windows(2)) {
                *energy = (pair[1] - pair[0]).powi(2);
            }
            for eight in energies.as_chunks::<8>().0 {
                sums.iter_mut().zip(eight).for_each(|(sum, energy)| *sum += f64::from(*energy));
            }
            self.current.0 += sums.iter().sum::<f64>();
            *last = channel[BLOCK - 1];
        }
        self.current.1 += 1;
        if self.current.1 == self.hop {
            self.energies[self.hops % HOPS] = self.current.0;
            self.hops += 1;
            self.current = (0.0, 0);
        }
    }

    /// Returns the running sum of the energies, from 0 before the oldest hop to the sum of all hops.
    pub fn sums(&self) -> [f64; HOPS + 1] {
        let mut sums = [0.0; HOPS + 1];
        for (index, hop) in (self.hops..self.hops + HOPS).enumerate() {
            sums[index + 1] = sums[index] + self.energies[hop % HOPS];
        }
        sums
    }

    /// Returns the greatest edge for a note of `frequency` Hz. Searches from `age` samples plus `reach` seconds ago, up to
    /// the last hop with a whole window after it. `sums` comes from [`Edges::sums`]. `None` if the edge is not clear.
    pub fn find(
        &self,
        kind: Kind,
        sums: &[f64; HOPS + 1],
        frequency: f64,
        reach: f64,
        age: usize,
    ) -> Option<Edge> {
        // A window is at least a period long, so that the waveform itself has no edges.
        let hops = |seconds: f64| (seconds / self.seconds).round().max(1.0) as usize;
        let window = hops(f64::max(WINDOW, 1.0 / frequency));
        let oldest = HOPS.saturating_sub(hops(reach) + age / (self.hop * BLOCK)).max(window);
        let (mut greatest, mut best) = (0.0, None);
        for at in oldest..=HOPS.saturating_sub(window) {
            let (after, before) = (sums[at + window] - sums[at], sums[at] - sums[at - window]);
            let change = if kind == Kind::Rise { after - before } else { before - after };
            if change > greatest {
                (greatest, best) = (change, Some((at, after, before)));
            }
        }
        let (at, after, before) =
            best.filter(|(_, after, before)| greatest > CLEAR * (after + before))?;
        let earlier = at.saturating_sub(ATTACK);
        let silence = sums[earlier] - sums[earlier.saturating_sub(window)];
        let age = ((HOPS - at) * self.hop + self.current.1) * BLOCK;
        Some(Edge { age, from_silence: silence < SILENT * (after + before) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn edges_of_a_note_are_found_within_five_ms() {
        for rate in [22_050.0, 44_100.0, 48_000.0, 96_000.0, 192_000.0] {
            for (frequency, shift, rest) in
                [(41.2, 0, 0.0), (110.0, 17, 0.3), (440.0, 40, 0.0), (2637.0, 63, 0.3)]
            {
                // Begins after 300 ms and ends after 600 ms, with six overtones and ramps of 3 ms; before and after, it has the
                // amplitude `rest`.
                let [start, end] = [0.3, 0.6].map(|seconds| seconds * rate + f64::from(shift));
                let sample = |t: usize| {
                    let time = t as f64;
                    let ramp = ((time - start).min(end - time) / (0.003 * rate)).clamp(rest, 1.0);
                    let angle = TAU * frequency / rate * (time - start);
                    let wave: f64 =
                        (1..=6).map(|n| (f64::from(n) * angle).sin() / f64::from(n)).sum();
                    (0.1 * ramp * wave) as f32
                };
                let mut edges = Edges::new(rate);
                let mut blocks = 0;
                let mut find = |kind, until: f64| {
                    while ((blocks + 1) * BLOCK) as f64 <= until {
                        let block = std::array::from_fn(|t| sample(blocks * BLOCK + t));
                        edges.push([&block; 2]);
                        blocks += 1;
                    }
                    let edge = edges.find(kind, &edges.sums(), frequency, 0.05, 0)?;
                    assert!(kind == Kind::Fall || edge.from_silence == (rest == 0.0));
                    Some((blocks * BLOCK - edge.age) as f64 / rate)
                };
                let wait = 0.04 * rate;
                let near = |found: Option<f64>, edge: f64| {
                    let late = found.map(|at| at - edge / rate);
                    assert!(late.is_some_and(|s| s.abs() < 0.005), "{rate}, {frequency}: {late:?}");
                };
                near(find(Kind::Rise, start + wait), start);
                let steady = find(Kind::Rise, start + 4.0 * wait);
                assert_eq!(steady, None, "{rate}, {frequency}: no edge in a steady tone");
                near(find(Kind::Fall, end + wait), end);
            }
        }
    }
}
