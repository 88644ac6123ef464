//! Early bank: with lookahead, a second bank gets the sound before the delay, so that notes have their levels on time.
//!
//! A note's level follows the music with the time constants of resonator and trackers, so it lags. The early bank already has the
//! level that the bank will have some milliseconds later. The ratio of both levels is a gain per note, which moves the note's
//! level ahead. The sounding resonator stays in phase with the dry signal. `docs/dsp.md` has the formulas.
//!
//! The early banks mirror the layout of the sounding banks ([`EarlyBank::split`]), and run with the settings of the undelayed
//! sound (`plan.heard`). Each ratio compares levels of the early banks at two times. Therefore layout and settings change for
//! all early banks at once.

use crate::{
    bank::{Bank, BankParams, TOTAL_RELEASE, ring_of},
    lanes::{BLOCK, Lanes, sum},
    notes::{TONES, semitone},
    plan::BlockPlan,
    ramp::Ramp,
    settings::{Settings, smoother::Fade},
    voice::{CUTOFF, LEVEL_POLES},
};
use std::{array, f64::consts::TAU};
use tone_filter_simd::Kernel;

/// Maximum ratio of early and current power: 30 dB. No test fixes the value to 1 %, which is 0.04 dB of the first milliseconds of a
/// note.
const MOST: f32 = 1000.0;

/// Time by which the early levels lead, relative to the sum of two time constants. For a band: that of its tracker, and that of
/// its resonator or of the total power's tracker, whichever is slower. For the total power: those of its tracker and its
/// low-pass. In this time, the power of a new tone rises to about half of its final value.
const AHEAD: f64 = 0.9;
/// Offset of -200 dB that is added to both powers of a ratio, so that the ratio is 1 in silence. No test fixes the value, because
/// it counts only for powers near -200 dB, which are inaudible even after 80 dB of gain.
const NOTHING: f32 = 1e-20;

const BANKS: usize = 2;

/// Levels of the early banks at the start of a block.
#[derive(Debug, Clone, Copy)]
struct Levels {
    /// Tracked power of each band, as a mean over the banks.
    powers: Lanes,
    /// Mean total power of each bank over the last block.
    totals: [f32; BANKS],
}

impl Levels {
    const SILENCE: Self = Self { powers: Lanes::ZERO, totals: [0.0; BANKS] };
}

/// Age of a level in blocks: whole part and fraction.
type Age = (usize, f32);

/// Returns an age in samples as one in blocks; a negative one counts as 0.
fn blocks(samples: f64) -> Age {
    let blocks = (samples / BLOCK as f64).max(0.0);
    (blocks as usize, blocks.fract() as f32)
}

/// Banks for the undelayed input, and their recent levels.
#[derive(Debug, Clone)]
pub struct EarlyBank {
    sample_rate: f64,
    /// Delay of the sound in samples.
    latency: f64,
    banks: [Bank; BANKS],
    /// Parameters of the banks.
    pub params: BankParams,
    pub running: bool,
    /// Levels of the last blocks, in a ring.
    levels: Vec<Levels>,
    latest: usize,
    /// Total power of each bank at each sample of the current block.
    totals: [[f32; BLOCK]; BANKS],
    /// Age at which the early level of each tone is read from `levels`. The newest level has the age 0.
    ages: [Age; TONES],
    /// Age at which the early total power is read from `levels`.
    total_age: Age,
    /// Gains that move the levels ahead.
    pub gains: Ramp<Lanes>,
}

impl EarlyBank {
    /// Creates banks at rest. `latency` is the delay of the sound in samples.
    pub fn new(settings: &Settings, sample_rate: f64, latency: usize) -> Self {
        let levels = latency / BLOCK + 2;
        Self {
            sample_rate,
            latency: latency as f64,
            banks: array::from_fn(|_| Bank::new()),
            params: BankParams::new(settings, sample_rate),
            running: false,
            levels: vec![Levels::SILENCE; levels],
            latest: 0,
            totals: [[0.0; BLOCK]; BANKS],
            ages: [(0, 0.0); TONES],
            total_age: (0, 0.0),
            gains: Ramp::rest(Lanes::of(|_| 1.0)),
        }
    }

    /// Resets to the state after silence, with the parameters of the sounding banks.
    pub fn reset(&mut self, runs: bool, params: &BankParams) {
        self.banks = array::from_fn(|_| Bank::new());
        self.start(Levels::SILENCE, params, runs);
    }

    /// Starts with copies of the sounding `banks`, whose input has been undelayed so far.
    pub fn activate<'a>(&mut self, banks: impl Iterator<Item = &'a Bank>, params: &BankParams) {
        for (early, bank) in self.banks.iter_mut().zip(banks) {
            early.clone_from(bank);
        }
        let totals = self.banks.each_ref().map(Bank::total_power);
        self.start(Levels { powers: self.banks[0].powers(params), totals }, params, true);
    }

    fn start(&mut self, levels: Levels, params: &BankParams, runs: bool) {
        self.params.clone_from(params);
        // The early bank only measures.
        self.params.coefficients.driven = false;
        self.params.pan(None);
        self.levels.fill(levels);
        (self.running, self.latest) = (runs, 0);
        self.totals = levels.totals.map(|total| [total; BLOCK]);
        self.gains = Ramp::rest(Lanes::of(|_| 1.0));
    }

    /// Starts the second bank with the state of the first.
    pub fn split(&mut self) {
        self.banks[1] = self.banks[0].clone();
    }

    pub fn tune(&mut self, settings: &Settings) {
        let release = f64::from(settings.release) / 1000.0;
        let total = TOTAL_RELEASE * release;
        // The gains hold at the end of the block, whose input is not known yet.
        let now = self.latency - BLOCK as f64;
        for (tone, age) in self.ages.iter_mut().enumerate() {
            let rise = ring_of(semitone(tone), f64::from(settings.ring)) / libm::log(1000.0);
            let ahead = AHEAD * (release + rise.max(total));
            *age = blocks(now - ahead * self.sample_rate);
        }
        let low_pass = LEVEL_POLES as f64 / (TAU * CUTOFF);
        // A mean refers to the middle of its block.
        let middle = now - 0.5 * BLOCK as f64;
        self.total_age = blocks(middle - AHEAD * (total + low_pass) * self.sample_rate);
    }

    /// Begins a block: stores the levels and computes the gains. `banks` and `tones` are the numbers of sounding banks and of
    /// their tones.
    pub fn begin_block(&mut self, plan: &BlockPlan, banks: usize, tones: usize) {
        let tones = if plan.heard.fades[Fade::LowBands] > 0.0 { TONES } else { tones };
        let before = self.params.count;
        if tones > before {
            self.banks.iter_mut().for_each(Bank::rest_low);
        }
        if plan.heard_moved || tones != before {
            self.params.update(&plan.heard.settings, tones);
        }
        let share = plan.smoothed.fades[Fade::Lookahead];
        let totals = self.totals.each_ref().map(|totals| sum(totals) / BLOCK as f32);
        let mut now = Levels { totals, ..Levels::SILENCE };
        for bank in &self.banks[..banks] {
            let powers = now.powers.0.iter_mut().zip(bank.powers(&self.params).0);
            powers.for_each(|(mean, power)| *mean += power / banks as f32);
        }
        self.totals[banks..].fill([0.0; BLOCK]);
        self.latest = (self.latest + 1) % self.levels.len();
        self.levels[self.latest] = now;
        if plan.smoothed.settings.freeze {
            self.gains.stay();
            return;
        }
        let now = blocks(self.latency - BLOCK as f64);
        let gain = |tone: usize| {
            let power = |age| self.at(age, |levels| levels.powers.0[tone]);
            let ratio = (power(self.ages[tone]) + NOTHING) / (power(now) + NOTHING);
            1.0 + share * (ratio.min(MOST).sqrt() - 1.0)
        };
        let gains = Lanes::of(gain);
        self.gains.next(gains);
    }

    /// Returns a value of the levels at an age, interpolated between blocks.
    fn at(&self, (blocks, part): Age, value: impl Fn(&Levels) -> f32) -> f32 {
        let count = self.levels.len();
        let levels = |blocks: usize| &self.levels[(self.latest + count - blocks % count) % count];
        let [later, earlier] = [blocks, blocks + 1].map(|blocks| value(levels(blocks)));
        later + part * (earlier - later)
    }

    /// Processes the undelayed `inputs` of the running banks, from `position` on in the block.
    pub fn process<'a>(
        &mut self,
        kernel: Kernel,
        position: usize,
        inputs: impl Iterator<Item = &'a [f32]>,
    ) {
        for ((bank, totals), input) in self.banks.iter_mut().zip(&mut self.totals).zip(inputs) {
            let mut sums = [0.0; BLOCK];
            let frames = input.len();
            bank.process(kernel, &self.params, position, input, &mut sums[..frames], &mut []);
            totals[position..][..frames].copy_from_slice(bank.total_powers(frames));
        }
    }

    pub fn powers(&self) -> Lanes {
        Lanes::of(|tone| self.at(self.ages[tone], |levels| levels.powers.0[tone]))
    }

    pub fn total(&self, bank: usize) -> f32 {
        self.at(self.total_age, |levels| levels.totals[bank])
    }
}
