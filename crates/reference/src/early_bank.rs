//! Early bank: banks that process the sound before the delay of lookahead.

use crate::{
    BLOCK, Sound, TONES,
    bank::{Bank, Tones},
    oscillators::{AMPLITUDE_POLES, POLE},
    smoothing::{LOOKAHEAD, Smoothed},
};
use std::{collections::VecDeque, f64::consts::TAU};

/// Levels at the start of a block.
#[derive(Debug, Clone)]
struct Levels {
    /// Tracked power of each note, averaged over the banks.
    powers: Tones,
    /// Total power of each bank, averaged over the last block.
    totals: Vec<f64>,
}

pub(crate) struct EarlyBank {
    sample_rate: f64,
    /// Delay of the sound in samples.
    latency: f64,
    pub banks: Vec<Bank>,
    /// Whether the notes below A3 are computed.
    pub low: bool,
    /// Levels of the last blocks, newest first.
    levels: VecDeque<Levels>,
    /// Sum of each bank's total power in the current block.
    sums: Vec<f64>,
    /// Gains of the notes in the delayed sound, at the start and at the end of the block.
    pub gains: [Tones; 2],
}

impl EarlyBank {
    /// Creates the state from copies of the sounding banks. The sound is delayed by `latency` samples.
    pub fn new(banks: Vec<Bank>, low: bool, latency: usize, sample_rate: f64) -> Self {
        let totals: Vec<f64> = banks.iter().map(|bank| bank.total_power).collect();
        let powers = banks[0].bands.map(|band| band.power);
        let sums = totals.iter().map(|total| total * BLOCK as f64).collect();
        let levels = vec![Levels { powers, totals }; latency / BLOCK + 2].into();
        let latency = latency as f64;
        Self { sample_rate, latency, banks, low, levels, sums, gains: [[1.0; TONES]; 2] }
    }

    /// Begins a block: computes the gains for the delayed sound, which has the settings `now`. `low` says whether the notes below
    /// A3 are computed.
    pub fn begin_block(&mut self, now: &Smoothed, low: bool) {
        if low && !self.low {
            self.banks.iter_mut().for_each(Bank::rest_low);
        }
        self.low = low;
        let count = self.banks.len() as f64;
        let mut powers = [0.0; TONES];
        for bank in &self.banks {
            let bands = powers.iter_mut().zip(&bank.bands);
            bands.for_each(|(power, band)| *power += band.power / count);
        }
        self.sums.resize(self.banks.len(), 0.0);
        let totals = self.sums.iter().map(|sum| sum / BLOCK as f64).collect();
        self.sums.fill(0.0);
        self.levels.pop_back();
        self.levels.push_front(Levels { powers, totals });
        self.gains[0] = self.gains[1];
        if now.sound.freeze {
            return;
        }
        let (powers, ahead) = (self.powers(|_| 0.0), self.powers_ahead(&now.sound));
        self.gains[1] = std::array::from_fn(|tone| {
            let ratio = (ahead[tone] + 1e-20) / (powers[tone] + 1e-20);
            1.0 + now.fades[LOOKAHEAD] * (ratio.min(1000.0).sqrt() - 1.0)
        });
    }

    /// Returns the powers for the end of the block, read ahead to cancel the lag of a note's level.
    pub fn powers_ahead(&self, sound: &Sound) -> Tones {
        let sound = &Sound { freeze: false, ..sound.clone() };
        self.powers(|tone| {
            let release = sound.release / 1000.0;
            0.9 * (release + (sound.ring(tone) / 1000f64.ln()).max(1.2 * release))
        })
    }

    /// Returns the powers of the undelayed sound, `ahead(tone)` seconds after the end of the delayed sound's block.
    fn powers(&self, ahead: impl Fn(usize) -> f64) -> Tones {
        std::array::from_fn(|tone| {
            let ago = self.latency - BLOCK as f64 - ahead(tone) * self.sample_rate;
            self.at(ago, |levels| levels.powers[tone])
        })
    }

    /// Returns the total power of a bank, read ahead to cancel the lag of the voices' total power.
    pub fn total(&self, sound: &Sound, bank: usize) -> f64 {
        let low_pass = AMPLITUDE_POLES as f64 / (TAU * POLE);
        let ahead = 0.9 * (1.2 * sound.release / 1000.0 + low_pass);
        let ago = self.latency - 1.5 * BLOCK as f64 - ahead * self.sample_rate;
        self.at(ago, |levels| levels.totals.get(bank).copied().unwrap_or(0.0))
    }

    /// Returns a value `samples` ago, interpolated linearly between blocks.
    fn at(&self, samples: f64, value: impl Fn(&Levels) -> f64) -> f64 {
        let blocks = samples.max(0.0) / BLOCK as f64;
        let at = |index: usize| value(&self.levels[index % self.levels.len()]);
        let first = blocks as usize;
        let [later, earlier] = [first, first + 1].map(at);
        later + blocks.fract() * (earlier - later)
    }

    /// Processes an undelayed sample of each bank's input.
    pub fn next(&mut self, inputs: &[f64]) {
        self.sums.resize(self.banks.len(), 0.0);
        for ((bank, sum), x) in self.banks.iter_mut().zip(&mut self.sums).zip(inputs) {
            bank.next(*x);
            *sum += bank.total_power;
        }
    }
}
