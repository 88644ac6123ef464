//! Sound chip: 60 times a second, each sounding note gets a part and a volume. A shift register plays the noise.

use crate::{
    BLOCK, Biquad, TONES, Voice,
    arrange::{Arranger, BASS, LEAD, NONE, OTHERS, Volumes},
    bank::{Tones, angle},
    between, low_pass_step, step,
    timbre::{Arrangement, Timbre},
    waveform::{Waveforms, soft_rms, waveform},
};
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// Clock of the console in Hz.
const CLOCK: f64 = 1_789_773.0;
/// Clock cycles between two steps of the register, at each of its rates.
const RATES: [f64; 16] = [
    4.0, 8.0, 16.0, 32.0, 64.0, 96.0, 128.0, 160.0, 202.0, 254.0, 380.0, 508.0, 762.0, 1016.0,
    2034.0, 4068.0,
];

/// Middle of the octave from 4 to 8 kHz, in Hz.
const MIDDLE: f64 = 4000.0 * SQRT_2;
/// Upper end of this octave in Hz.
const TOP: f64 = 8000.0;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Notes<'a> {
    pub amplitudes: &'a Tones,
    /// Amplitudes of the resonators.
    pub measured: &'a Tones,
    /// Nominal frequencies in radians a sample.
    pub nominal: &'a Tones,
}

#[derive(Debug, Clone)]
pub(crate) struct Chip {
    sample_rate: f64,
    /// Timbres, with their weights in the crossfade at the start and at the end of the block.
    timbres: Vec<(Timbre, [f64; 2])>,
    /// Highest pitch of each note in the block, in semitones above A3.
    pitches: Tones,
    arranger: Arranger,
    /// Samples to the next tick, times 60.
    samples_left: f64,
    /// Volumes that the notes got at the last tick.
    held: Volumes,
    /// Volumes of the notes at the start and at the end of the block.
    volumes: [Volumes; 2],
    /// Volumes of the noise at the start and at the end of the block.
    noise_volumes: [f64; 2],
    /// Amplitude of volume 15 at the start and at the end of the block.
    units: [f64; 2],
    /// Band-pass from 4 to 8 kHz for the input.
    octave_filter: Biquad,
    /// High-pass above 8 kHz for the input.
    above: Biquad,
    /// Tracked output powers of `octave_filter` and `above`.
    powers: [f64; 2],
    /// Estimated power of the notes' overtones from 4 to 8 kHz, relative to the power of the notes.
    overtones: f64,
    register: u32,
    /// Clock cycles between two steps of the register.
    rate: f64,
    /// Fraction of the current step that is left.
    clock: f64,
    /// States of the one-poles at the output: of the high-pass and of the low-pass.
    filters: [f64; 2],
}

impl Chip {
    pub fn new(sample_rate: f64) -> Self {
        Self {
            sample_rate,
            timbres: Vec::new(),
            pitches: [0.0; TONES],
            arranger: Arranger::new(),
            samples_left: 0.0,
            held: NONE,
            volumes: [NONE; 2],
            noise_volumes: [0.0; 2],
            units: [0.0; 2],
            octave_filter: band_pass(angle(MIDDLE, sample_rate), SQRT_2),
            above: high_pass(angle(TOP, sample_rate), FRAC_1_SQRT_2),
            powers: [0.0; 2],
            overtones: 0.01,
            register: 1,
            rate: RATES[10],
            clock: 1.0,
            filters: [0.0; 2],
        }
    }

    /// Begins a block. `high` is the maximum power of a note, `pitches` has the notes' highest pitches in semitones above A3.
    pub fn begin_block(
        &mut self,
        timbres: &[(&Timbre, [f64; 2])],
        arrangement: &Arrangement,
        high: f64,
        notes: Notes,
        pitches: &Tones,
    ) {
        let timbres = timbres.iter().map(|(timbre, shares)| ((*timbre).clone(), *shares));
        (self.timbres, self.pitches) = (timbres.collect(), *pitches);
        self.volumes[0] = self.volumes[1];
        self.noise_volumes[0] = self.noise_volumes[1];
        self.units[0] = self.units[1];
        self.arranger.follow(notes.amplitudes);
        if self.samples_left <= 0.0 {
            self.samples_left = (self.samples_left + self.sample_rate).max(0.0);
            if high.sqrt() > 1.06 * self.units[1] || self.units[1] > 1.06 * high.sqrt() {
                self.units[1] = high.sqrt();
            }
            self.held = self.arranger.tick(arrangement, notes.amplitudes, self.units[1]);
            let noise = self.noise_amplitude(notes);
            self.noise_volumes[1] = (15.0 * noise / self.units[1].max(1e-38)).min(15.0).round();
        }
        self.samples_left -= 60.0 * BLOCK as f64;
        for (now, held) in self.volumes[1].iter_mut().zip(&self.held) {
            for tone in 0..TONES {
                now[tone] = if notes.amplitudes[tone] > 0.0 { held[tone] } else { 0.0 };
            }
        }
    }

    /// Returns the amplitude of the noise, and sets the register's rate.
    fn noise_amplitude(&mut self, notes: Notes) -> f64 {
        let [octave, above] = self.powers;
        if octave < 1e-38 {
            return 0.0;
        }
        let brightness = (above / octave).max(1e-3).log2();
        self.rate = RATES[(7.0 - 1.5 * brightness).round().clamp(4.0, 10.0) as usize];
        let middle = angle(MIDDLE, self.sample_rate);
        let (mut power, mut passed) = (0.0, 0.0);
        for (amplitude, nominal) in notes.measured.iter().zip(notes.nominal) {
            let tone_power = amplitude * amplitude / 2.0;
            power += tone_power;
            passed += tone_power / (1.0 + 2.0 * (nominal / middle - middle / nominal).powi(2));
        }
        let explained = 4.0 * (passed + self.overtones * power);
        let share = (octave - passed).max(0.0) / power.max(1e-38);
        self.overtones = share.min(self.overtones * (1f64 / 18.0).exp()).clamp(1e-6, 1.0);
        (0.5 * (octave - explained).max(0.0)).sqrt()
    }

    /// Returns the sample `frame` of the block, for the input `x` and the notes' `phases` in radians.
    pub fn next(&mut self, frame: usize, x: f64, phases: &Tones, waveforms: &mut Waveforms) -> f64 {
        let noise = self.noise(x);
        let mixed = self.timbres.iter().map(|(timbre, shares)| {
            between(*shares, frame + 1) * self.mix(frame, timbre, noise, phases, waveforms)
        });
        // A square of volume 15 alone has an RMS of half its height.
        let unit = soft_rms() * between(self.units, frame + 1) / (pulses(15.0) / 2.0);
        let mut sample = unit * mixed.sum::<f64>();
        for (low, hertz) in self.filters.iter_mut().zip([37.0, 14_000.0]) {
            *low += low_pass_step(hertz, self.sample_rate) * (sample - *low);
            sample = if hertz < 1000.0 { sample - *low } else { *low };
        }
        sample
    }

    /// Returns the mixer's output for a timbre and a sample of the `noise`.
    fn mix(
        &self,
        frame: usize,
        timbre: &Timbre,
        noise: f64,
        phases: &Tones,
        waveforms: &mut Waveforms,
    ) -> f64 {
        let lead = [Voice::Pulse12, Voice::Pulse25, Voice::Square];
        let lead = lead[(8.0 * timbre.duty).log2() as usize];
        // Sums of pulses and of triangles, for both counts of harmonics.
        let mut sums = [[0.0; 2]; 2];
        for (part, voice) in [lead, Voice::Square, Voice::Chip].into_iter().enumerate() {
            let series = waveforms.voice(voice);
            for (tone, phase) in phases.iter().enumerate() {
                let volume = between(self.volumes.each_ref().map(|end| end[part][tone]), frame);
                if volume > 0.0 {
                    for (sums, low) in sums.iter_mut().zip([false, true]) {
                        let count = timbre.harmonics(self.pitches[tone], low);
                        let played = waveform(&series[..count], timbre.octave.exp2() * phase);
                        sums[usize::from(part == BASS)] +=
                            volume * deviation(part, timbre.duty) / soft_rms() * played;
                    }
                }
            }
        }
        let [[all_pulses, low_pulses], [all_triangle, low_triangle]] =
            [0, 1].map(|kind| [sums[0][kind], sums[1][kind]]);
        let at_end = |ends| between(ends, frame + 1);
        let mean = at_end(self.volumes.each_ref().map(|[lead, others, _]| {
            timbre.duty * lead.iter().sum::<f64>() + 0.5 * others.iter().sum::<f64>()
        }));
        let hiss = at_end(self.noise_volumes) / 2.0;
        let rest_mean = 7.5 / 8227.0 + hiss / 12_241.0;
        apply_curve(pulses, mean, low_pulses, all_pulses - low_pulses, 1e-3)
            + apply_curve(
                rest,
                rest_mean,
                low_triangle / 8227.0 + hiss / 12_241.0 * noise,
                (all_triangle - low_triangle) / 8227.0,
                1e-6,
            )
    }

    /// Measures the input `x`. Returns the mean of the register's output during the sample.
    fn noise(&mut self, x: f64) -> f64 {
        let (x, step) = (x.clamp(-8.0, 8.0), step(0.005, self.sample_rate));
        for (power, y) in
            self.powers.iter_mut().zip([self.octave_filter.next(x), self.above.next(x)])
        {
            *power += step * (y * y - *power);
        }
        let clocks = CLOCK / self.rate / self.sample_rate;
        let (mut sum, mut rest) = (0.0, clocks);
        while rest > 0.0 {
            let part = rest.min(self.clock);
            sum += if self.register.is_multiple_of(2) { part } else { -part };
            rest -= part;
            self.clock -= part;
            if self.clock <= 0.0 && rest > 0.0 {
                self.clock = 1.0;
                let feedback = (self.register ^ (self.register >> 1)) % 2;
                self.register = self.register / 2 + feedback * 0x4000;
            }
        }
        sum / clocks
    }
}

/// Returns the standard deviation of a part's waveform at volume 1; the lead has this `duty`.
fn deviation(part: usize, duty: f64) -> f64 {
    match part {
        LEAD => (duty * (1.0 - duty)).sqrt(),
        OTHERS => 0.5,
        _ => (85f64 / 4.0).sqrt() / 15.0,
    }
}

/// Returns the mixer's output for the sum of the pulses.
fn pulses(sum: f64) -> f64 {
    95.88 * sum / (8128.0 + 100.0 * sum)
}

/// Returns the mixer's output for `triangle / 8227 + noise / 12241`.
fn rest(sum: f64) -> f64 {
    159.79 / (1.0 / sum + 100.0)
}

/// Returns a curve's deviation from its value at `mean`: exact for `low`, linear for `high`. The slope is measured between `mean
/// - by` and `mean + by`.
fn apply_curve(curve: fn(f64) -> f64, mean: f64, low: f64, high: f64, by: f64) -> f64 {
    let slope = (curve(mean + by) - curve(mean - by)) / (2.0 * by);
    curve(mean + low) - curve(mean) + slope * high
}

/// Returns the band-pass `(s / q) / (s^2 + s / q + 1)` at `w` radians a sample, by the bilinear transform.
fn band_pass(w: f64, q: f64) -> Biquad {
    let alpha = w.sin() / (2.0 * q);
    Biquad::new([alpha, 0.0, -alpha], denominator(w, q))
}

/// Returns the high-pass `s^2 / (s^2 + s / q + 1)` at `w` radians a sample, by the bilinear transform.
fn high_pass(w: f64, q: f64) -> Biquad {
    let half = (1.0 + w.cos()) / 2.0;
    Biquad::new([half, -2.0 * half, half], denominator(w, q))
}

fn denominator(w: f64, q: f64) -> [f64; 3] {
    let alpha = w.sin() / (2.0 * q);
    [1.0 + alpha, -2.0 * w.cos(), 1.0 - alpha]
}
