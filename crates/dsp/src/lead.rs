//! Lead: with lookahead, a bank that hears the sound before it leaves the delay, so that notes have their levels on time.
//!
//! A note's level follows the music with the time constants of resonator and trackers. The lead's level is that of the bank some
//! milliseconds later. So the ratio of the two, as a gain of the note, moves its level ahead by the time that it needs to rise;
//! the resonator that sounds stays in phase with the dry signal. `docs/dsp.md` has the formulas.

use crate::{
    bank::{Bank, BankParams, ring_of},
    constants::TOTAL_RELEASE,
    lanes::{BLOCK, Lanes, sum},
    notes::{TONES, semitone},
    plan::BlockPlan,
    ramp::Ramp,
    settings::Settings,
    voice::{CUTOFF, LEVEL_POLES},
};
use std::{array, f64::consts::TAU};
use tone_filter_simd::Kernel;

/// Maximum ratio of two powers: 30 dB.
const MOST: f32 = 1000.0;

/// Share of the mean delay of two trackers in which they let the power of a tone that begins rise to a half.
const AHEAD: f64 = 0.9;

/// Power that counts as none: -200 dB.
const NOTHING: f32 = 1e-20;

/// Number of banks.
const BANKS: usize = 2;

/// State of a bank at the start of a block.
#[derive(Debug, Clone, Copy)]
struct Moment {
    /// Sum of the banks' tracked powers.
    powers: Lanes,
    /// Mean of each bank's total power over the block before.
    totals: [f32; BANKS],
}

impl Moment {
    const SILENCE: Self = Self { powers: Lanes::ZERO, totals: [0.0; BANKS] };
}

/// Position in the past, in blocks: a whole number and a share of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Ago(usize, f32);

impl Ago {
    /// Creates the position of this number of samples ago; a negative one counts as now.
    fn samples(samples: f64) -> Self {
        let blocks = (samples / BLOCK as f64).max(0.0);
        Self(blocks as usize, blocks.fract() as f32)
    }
}

/// Banks that hear the undelayed input, and their recent levels.
#[derive(Debug, Clone)]
pub struct Lead {
    sample_rate: f64,
    /// Delay of the sound in samples.
    latency: f64,
    banks: [Bank; BANKS],
    /// Parameters of the banks, by the settings of the undelayed sound.
    pub params: BankParams,
    running: bool,
    /// Moments of the last blocks, in a ring.
    moments: Vec<Moment>,
    /// Index of the latest moment.
    latest: usize,
    /// Total power of each bank at each sample of the current block.
    totals: [[f32; BLOCK]; BANKS],
    /// Age of each tone's level that is ahead.
    ages: [Ago; TONES],
    /// Age of the total power that is ahead.
    total_age: Ago,
    /// Gains that move the levels ahead.
    gains: Ramp<Lanes>,
}

impl Lead {
    /// Creates a lead at rest, for `settings` and sound that is delayed by `latency` samples at `sample_rate` Hz.
    pub fn new(settings: &Settings, sample_rate: f64, latency: usize) -> Self {
        let moments = latency / BLOCK + 2;
        Self {
            sample_rate,
            latency: latency as f64,
            banks: array::from_fn(|_| Bank::new()),
            params: BankParams::new(settings, sample_rate),
            running: false,
            moments: vec![Moment::SILENCE; moments],
            latest: 0,
            totals: [[0.0; BLOCK]; BANKS],
            ages: [Ago(0, 0.0); TONES],
            total_age: Ago(0, 0.0),
            gains: Ramp::rest(Lanes::of(|_| 1.0)),
        }
    }

    /// Resets to the state after silence, with the parameters of the banks that sound; `runs` with lookahead.
    pub fn reset(&mut self, runs: bool, params: &BankParams) {
        self.banks = array::from_fn(|_| Bank::new());
        self.start(Moment::SILENCE, params, runs);
    }

    /// Starts with the state of the `banks` that sound, whose input is not delayed yet.
    pub fn activate<'a>(&mut self, banks: impl Iterator<Item = &'a Bank>, params: &BankParams) {
        for (own, bank) in self.banks.iter_mut().zip(banks) {
            *own = bank.clone();
        }
        let totals = self.banks.each_ref().map(Bank::total_power);
        self.start(Moment { powers: self.banks[0].powers(params), totals }, params, true);
    }

    /// Stops; the lead costs nothing until it is activated again.
    pub fn stop(&mut self) {
        self.running = false;
    }

    fn start(&mut self, moment: Moment, params: &BankParams, runs: bool) {
        self.params.clone_from(params);
        // The lead only measures.
        self.params.set_driven(false);
        self.params.pan(None);
        self.moments.fill(moment);
        (self.running, self.latest) = (runs, 0);
        self.totals = moment.totals.map(|total| [total; BLOCK]);
        self.gains = Ramp::rest(Lanes::of(|_| 1.0));
    }

    pub fn runs(&self) -> bool {
        self.running
    }

    /// Starts the second bank with the state of the first one.
    pub fn split(&mut self) {
        self.banks[1] = self.banks[0].clone();
    }

    /// Sets the times by which levels are ahead, for `settings`.
    pub fn tune(&mut self, settings: &Settings) {
        let release = f64::from(settings.release) / 1000.0;
        let total = TOTAL_RELEASE * release;
        // The gains are those of the end of the block, whose input is not known yet.
        let now = self.latency - BLOCK as f64;
        for (tone, age) in self.ages.iter_mut().enumerate() {
            let rise = ring_of(semitone(tone), f64::from(settings.ring)) / libm::log(1000.0);
            let ahead = AHEAD * (release + rise.max(total));
            *age = Ago::samples(now - ahead * self.sample_rate);
        }
        let low_pass = LEVEL_POLES as f64 / (TAU * CUTOFF);
        // A mean refers to the middle of its block.
        let middle = now - 0.5 * BLOCK as f64;
        self.total_age = Ago::samples(middle - AHEAD * (total + low_pass) * self.sample_rate);
    }

    /// Begins a block in which this number of `banks` run: keeps their levels, and computes the gains. `tones` sound.
    pub fn begin_block(&mut self, plan: &BlockPlan, banks: usize, tones: usize) {
        let tones = if plan.heard.low_bands > 0.0 { TONES } else { tones };
        let before = self.params.count;
        if tones > before {
            self.banks.iter_mut().for_each(Bank::rest_low);
        }
        if plan.heard_moved || tones != before {
            self.params.update(&plan.heard.settings, tones);
        }
        let share = plan.smoothed.lookahead;
        let totals = self.totals.each_ref().map(|totals| sum(totals) / BLOCK as f32);
        let mut moment = Moment { totals, ..Moment::SILENCE };
        for bank in &self.banks[..banks] {
            let own = moment.powers.0.iter_mut().zip(bank.powers(&self.params).0);
            own.for_each(|(power, own)| *power += own / banks as f32);
        }
        self.totals[banks..].fill([0.0; BLOCK]);
        self.latest = (self.latest + 1) % self.moments.len();
        self.moments[self.latest] = moment;
        if plan.smoothed.settings.freeze {
            self.gains.stay();
            return;
        }
        let now = Ago::samples(self.latency - BLOCK as f64);
        let gain = |tone: usize| {
            let power = |ago| self.between(ago, |moment| moment.powers.0[tone]);
            let ratio = (power(self.ages[tone]) + NOTHING) / (power(now) + NOTHING);
            1.0 + share * (ratio.min(MOST).sqrt() - 1.0)
        };
        let gains = Lanes::of(gain);
        self.gains.next(gains);
    }

    /// Returns a value of the moment `ago`.
    fn between(&self, Ago(blocks, part): Ago, value: impl Fn(&Moment) -> f32) -> f32 {
        let count = self.moments.len();
        let moment = |blocks: usize| &self.moments[(self.latest + count - blocks % count) % count];
        let [later, earlier] = [blocks, blocks + 1].map(|blocks| value(moment(blocks)));
        later + part * (earlier - later)
    }

    /// Processes the undelayed `inputs` of the running banks, from `position` on in the current block.
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

    /// Returns the gains that move the levels of the notes ahead.
    pub fn gains(&self) -> &Ramp<Lanes> {
        &self.gains
    }

    /// Returns the notes' powers as they are ahead.
    pub fn powers(&self) -> Lanes {
        Lanes::of(|tone| self.between(self.ages[tone], |moment| moment.powers.0[tone]))
    }

    /// Returns the total power of a bank as it is ahead.
    pub fn total(&self, bank: usize) -> f32 {
        self.between(self.total_age, |moment| moment.totals[bank])
    }
}
