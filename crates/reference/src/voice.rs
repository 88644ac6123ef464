//! Voices: the oscillators that play the notes of a bank.
//!
//! Levels and phases are set once a block of 64 samples. Within a block, gains and phases move linearly.

use crate::{
    BLOCK, TONES, Voice,
    bank::{Bank, Tones, angle},
    between,
    chip::{Chip, Notes},
    oscillators::{AMPLITUDE_POLES, Oscillator, PHASE_INTERVAL, POLE},
    pitch::{Bands, Moves, Pitches},
    smoothing::Smoothed,
    step,
    timbre::Timbres,
    waveform::{SHAPES, Waveforms, shape_share, soft_rms, waveform},
};
use std::f64::consts::TAU;

/// Time constant in seconds with which a note's power follows the listener's.
const ATTACK: f64 = 0.005;
/// Power below which an oscillator rests, relative to a note's maximum power.
const SILENT: f64 = 1e-10;

/// Waveform that a note plays in a block.
#[derive(Debug, Clone)]
struct Played {
    tone: usize,
    voice: Voice,
    /// Index of the driven sine with [`Voice::SoftClean`]; otherwise 0.
    shape: usize,
    harmonics: usize,
    octave: f64,
    /// Amplitudes at the start and at the end of the block.
    gains: [f64; 2],
    /// Values of `gains` times the stereo position.
    sides: [f64; 2],
}

/// Oscillators of a bank and their sum.
#[derive(Debug, Clone)]
pub(crate) struct Voices {
    sample_rate: f64,
    oscillators: Vec<Oscillator>,
    pitches: Pitches,
    chip: Option<Chip>,
    /// Tracked power of the input at each sample since the last call of [`Voices::set_levels`].
    total_powers: Vec<f64>,
    /// States of the one-pole low-passes in series that smooth the total power.
    totals: [f64; AMPLITUDE_POLES],
    /// Tracked powers of the notes.
    powers: Tones,
    /// Amplitudes of the notes at the start and at the end of the block.
    gains: [Tones; 2],
    /// Gain that replaces the second soft clip, at the start and at the end of the block.
    clip: [f64; 2],
    /// Drive at the start and at the end of the block.
    drives: [f64; 2],
    /// Whether no block has begun yet.
    fresh: bool,
    played: Vec<Played>,
    /// Crossfade weights of [`Voice::Soft`] at the start and at the end of the block.
    soft: [f64; 2],
    low_pass_step: f64,
    low_pass: f64,
    right: Option<f64>,
}

impl Voices {
    /// Creates the state at rest. The first levels and phases come from the bank.
    pub fn new(sample_rate: f64) -> Self {
        Self {
            sample_rate,
            oscillators: vec![Oscillator::new(0.0); TONES],
            pitches: Pitches::new(sample_rate),
            chip: None,
            total_powers: Vec::new(),
            totals: [0.0; AMPLITUDE_POLES],
            powers: [0.0; TONES],
            gains: [[0.0; TONES]; 2],
            clip: [2.0; 2],
            drives: [1.0; 2],
            fresh: true,
            played: Vec::new(),
            soft: [0.0; 2],
            low_pass_step: 1.0,
            low_pass: 0.0,
            right: None,
        }
    }

    /// Begins a block: locks the oscillators to the phases of the bank. `weights` are the notes' weights in the sum.
    pub fn lock(&mut self, now: &Smoothed, bank: &Bank, weights: &Tones) {
        if self.fresh {
            self.total_powers = vec![bank.total_power];
        }
        self.gains[0] = self.gains[1];
        for (tone, oscillator) in self.oscillators.iter_mut().enumerate() {
            let nominal = angle(now.sound.frequency(tone), self.sample_rate);
            if self.fresh {
                *oscillator = Oscillator::new(nominal);
            }
            oscillator.nominal = nominal;
            let locked = weights[tone] + self.gains[0][tone] > 0.0;
            oscillator.lock(self.sample_rate, &bank.resonators[tone], locked);
        }
    }

    /// Discards the sampled oscillations of the notes below A3, whose resonators start from rest.
    pub fn rest_low(&mut self) {
        self.oscillators.iter_mut().skip(48).for_each(Oscillator::forget_phases);
    }

    pub fn amplitudes(&self) -> Tones {
        std::array::from_fn(|tone| self.oscillators[tone].amplitude())
    }

    /// Sets the levels of the block. `levels` are the listener's powers, and the mean amplitudes over all banks: a note has the
    /// listener's power, times the squared ratio of this bank's amplitude to the mean. Without `levels`, a note has its
    /// resonator's power. `weights` are the notes' weights without the early bank's gains. `ahead` is the total power of the
    /// early bank, and its weight.
    #[expect(clippy::too_many_arguments, reason = "each is one thing")]
    pub fn set_levels(
        &mut self,
        now: &Smoothed,
        (bank, weights): (&Bank, &Tones),
        timbres: &Timbres,
        waveforms: &mut Waveforms,
        levels: Option<(&Tones, &Tones)>,
        moves: Moves,
        ahead: Option<(f64, f64)>,
    ) {
        let block_rate = self.sample_rate / BLOCK as f64;
        let count = self.total_powers.len() as f64;
        let mut total = self.total_powers.iter().sum::<f64>() / count;
        if let Some((ahead, share)) = ahead {
            total += share * (ahead - total);
        }
        for state in &mut self.totals {
            let follow = if self.fresh { 1.0 } else { step(1.0 / (TAU * POLE), block_rate) };
            *state += follow * (total - *state);
            total = *state;
        }
        let gate = bank.constants.gate(total);
        let follow = match levels {
            _ if self.fresh => 1.0,
            Some(_) => step(ATTACK, block_rate),
            None => 1.0 - (1.0 - bank.constants.band_step).powi(BLOCK as i32),
        };
        let amplitudes = self.amplitudes();
        let weights = *weights;
        let mut sum = 0.0;
        for (tone, oscillator) in self.oscillators.iter().enumerate() {
            let amplitude = amplitudes[tone];
            let power = levels.map_or(amplitude.powi(2) / 2.0, |(levels, means)| {
                levels[tone] * (amplitude / means[tone].max(f64::MIN_POSITIVE)).powi(2)
            });
            let begins = self.powers[tone] == 0.0;
            let share = ahead.map_or(0.0, |(_, share)| share);
            let follow = if begins { follow + share * (1.0 - follow) } else { follow };
            let power = self.powers[tone] + follow * (gate.level(power) - self.powers[tone]);
            self.powers[tone] = if oscillator.locked { power } else { 0.0 };
            let heard = self.powers[tone] * weights[tone].powi(2);
            let heard = if heard > SILENT * gate.high { heard } else { 0.0 };
            self.gains[1][tone] = heard.sqrt();
            sum += heard;
        }
        let each = |field: fn(&Oscillator) -> f64| -> Tones {
            std::array::from_fn(|tone| field(&self.oscillators[tone]))
        };
        let mut bands = Bands {
            phases: each(|oscillator| oscillator.phase),
            steps: each(|oscillator| oscillator.step),
            nominal: each(|oscillator| oscillator.nominal),
            amplitudes,
            gains: &mut self.gains,
            weights,
            high: gate.high,
        };
        let nominal = bands.nominal;
        self.pitches.begin_block(moves, &mut bands);

        let sounding = timbres.sounding().into_iter();
        let chip_timbres: Vec<_> =
            sounding.filter(|(timbre, _)| timbre.voice == Voice::Chip).collect();
        if chip_timbres.is_empty() {
            self.chip = None;
        } else {
            let chip = self.chip.get_or_insert_with(|| Chip::new(self.sample_rate));
            let notes =
                Notes { amplitudes: &self.gains[1], measured: &amplitudes, nominal: &nominal };
            let pitches = std::array::from_fn(|tone| self.pitches.highest(tone));
            chip.begin_block(&chip_timbres, &timbres.arrangement, gate.high, notes, &pitches);
        }
        let drive = now.sound.drive;
        self.drives = [if self.fresh { drive } else { self.drives[1] }, drive];
        let rms = timbres.mixed(|timbre| match timbre.voice {
            Voice::SoftClean => (0..SHAPES)
                .map(|shape| shape_share(shape, drive) * waveforms.shape_rms(shape))
                .sum(),
            _ => soft_rms(),
        });
        // A gain replaces the second soft clip, which would distort the waveforms.
        let clip = 2.0 / (1.0 + bank.mix.gains[1] * 2.0 * rms * sum.sqrt());
        self.clip = [if self.fresh { clip } else { self.clip[1] }, clip];
        self.fresh = false;
        self.soft = timbres.soft();
        let tone = now.sound.tone;
        // The cutoff is infinite at the top of the range, where there is no low-pass.
        let cutoff = tone / (1.0 - (tone / 20_000.0).powi(4));
        self.low_pass_step = step(1.0 / (TAU * cutoff), self.sample_rate);
        self.choose_waveforms(bank, timbres);
        self.total_powers.clear();
    }

    /// Chooses the waveforms of each note for the block.
    fn choose_waveforms(&mut self, bank: &Bank, timbres: &Timbres) {
        self.played.clear();
        for (timbre, shares) in timbres.sounding() {
            let shapes: Vec<(usize, [f64; 2])> = match timbre.voice {
                Voice::Soft | Voice::Chip => Vec::new(),
                Voice::SoftClean => {
                    let shape_gains = |shape| {
                        [0, 1].map(|end| shares[end] * shape_share(shape, self.drives[end]))
                    };
                    (0..SHAPES).map(|shape| (shape, shape_gains(shape))).collect()
                }
                _ => vec![(0, shares)],
            };
            for (shape, shares) in shapes {
                for tone in 0..TONES {
                    let gains = [0, 1].map(|end| shares[end] * self.gains[end][tone]);
                    let pans = bank.mix.pans.as_ref();
                    let pans = pans.map_or([0.0; 2], |ends| ends.each_ref().map(|end| end[tone]));
                    if gains != [0.0; 2] {
                        self.played.push(Played {
                            tone,
                            voice: timbre.voice,
                            shape,
                            harmonics: timbre.harmonics(self.pitches.highest(tone), false),
                            octave: timbre.octave,
                            gains,
                            sides: [0, 1].map(|end| gains[end] * pans[end]),
                        });
                    }
                }
            }
        }
    }

    /// Returns the left and right sample `frame` of the block: the sum of the notes, mixed with `soft`, the output of
    /// [`Voice::Soft`]. The bank must have processed its input `x` before.
    pub fn next(
        &mut self,
        frame: usize,
        x: f64,
        soft: [f64; 2],
        bank: &Bank,
        waveforms: &mut Waveforms,
    ) -> [f64; 2] {
        let (mut sum, mut side) = (0.0, 0.0);
        for played in &self.played {
            let oscillator = &self.oscillators[played.tone];
            let (phase, step) =
                self.pitches.played(played.tone).unwrap_or((oscillator.phase, oscillator.step));
            let series = match played.voice {
                Voice::SoftClean => waveforms.shape(played.shape),
                voice => waveforms.voice(voice),
            };
            let phase = played.octave.exp2() * (phase + step * frame as f64);
            let sample = waveform(&series[..played.harmonics], phase);
            sum += between(played.gains, frame) * sample;
            side += between(played.sides, frame) * sample;
        }
        if let Some(chip) = &mut self.chip {
            let phases = std::array::from_fn(|tone| {
                let oscillator = &self.oscillators[tone];
                let (phase, step) =
                    self.pitches.played(tone).unwrap_or((oscillator.phase, oscillator.step));
                phase + step * frame as f64
            });
            sum += chip.next(frame, x, &phases, waveforms);
        }
        self.total_powers.push(bank.total_power);
        if (frame + 1).is_multiple_of(PHASE_INTERVAL) {
            for (oscillator, resonator) in self.oscillators.iter_mut().zip(&bank.resonators) {
                oscillator.sample_phase(resonator, BLOCK - frame - 1);
            }
        }
        let at_end = |ends| between(ends, frame + 1);
        let mixed =
            |low_pass: f64, soft: f64| at_end(self.soft) * soft + at_end(self.clip) * low_pass;
        let before = self.right.unwrap_or(self.low_pass);
        self.low_pass += self.low_pass_step * (sum + side - self.low_pass);
        let right = before + self.low_pass_step * (sum - side - before);
        self.right = bank.mix.pans.is_some().then_some(right);
        [mixed(self.low_pass, soft[0]), mixed(self.right.unwrap_or(self.low_pass), soft[1])]
    }
}
