//! Converts the voice Chip's ticks to register writes of the 2A03.

use super::CLOCK;
use tone_filter_dsp::{ChipPulse, ChipTick};

/// Write to a register of the 2A03: the register's address, less $4000, and the new content.
pub type Write = [u8; 2];

/// Song as register writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Song {
    /// Writes of each tick of 1/60 s. A song that does not repeat ends with a silent tick.
    pub ticks: Vec<Vec<Write>>,
    /// Index of the tick that follows the last one; `None` if the song does not repeat.
    pub repeat: Option<usize>,
    /// Number of notes of pulses and triangle.
    pub notes: usize,
}

/// Addresses of the channels' registers, less $4000, in the order in which they are written.
const USED: [u8; 14] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 0xA, 0xB, 0xC, 0xE, 0xF];
/// First writes of a song: enable four channels, disable the frame counter's interrupts.
const START: [Write; 2] = [[0x15, 0x0F], [0x17, 0x40]];
/// Last write of a song that does not repeat: disables all channels.
const STOP: Write = [0x15, 0];
/// Bits in the first register of pulses and noise: constant volume, halted length counter.
const CONSTANT: u8 = 0x30;
/// Bits in the last register of a channel: the longest value of the length counter.
const LENGTH: u8 = 0x08;
/// Values of the triangle's first register: off (linear counter held at 0), on (held at its maximum).
const TRIANGLE: [u8; 2] = [0x80, 0xFF];
/// Maximum frequency ratio of successive ticks of a note: half a semitone.
const SAME_NOTE: f32 = 1.029_302_2;

/// Contents of the registers, by their address less $4000.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Registers([u8; 16]);

impl Registers {
    /// Returns the registers of a silent chip.
    fn new() -> Self {
        let mut registers = Self([0; 16]);
        for last in [0x3, 0x7, 0xB, 0xF] {
            registers.0[last] = LENGTH;
        }
        registers
    }

    /// Sets the registers for `tick`. `unit` is the amplitude of volume 15. Silent pulses and triangle keep their periods.
    fn set(&mut self, tick: &ChipTick, unit: f32) {
        for (first, pulse) in [0x0, 0x4].into_iter().zip(&tick.pulses) {
            let mut period = period(pulse.frequency, 16, 8);
            if self.0[first] & 15 > 0 {
                let current = u16::from_le_bytes([self.0[first + 2], self.0[first + 3] & 7]);
                period = period.map(|period| without_click(current, period));
            }
            let volume = period.map_or(0, |_| volume(pulse.amplitude, unit));
            self.0[first] = duty(pulse) << 6 | CONSTANT | volume;
            // Sweep off, with the negate bit set: otherwise the sweep unit mutes low notes.
            self.0[first + 1] = 0x08;
            self.set_period(first + 2, period);
        }
        let period = period(tick.triangle, 32, 2);
        self.0[0x8] = TRIANGLE[usize::from(period.is_some())];
        self.set_period(0xA, period);
        self.0[0xC] = CONSTANT | volume(tick.noise.amplitude, unit);
        self.0[0xE] = tick.noise.rate.min(15);
    }

    fn set_period(&mut self, low: usize, period: Option<u16>) {
        if let Some(period) = period {
            let [high_byte, low_byte] = period.to_be_bytes();
            self.0[low] = low_byte;
            self.0[low + 1] = LENGTH | high_byte;
        }
    }

    /// Returns the writes of all registers that differ from any of `before`; if `before` is empty, of all registers.
    fn writes(&self, before: &[Self]) -> Vec<Write> {
        let writes = USED.map(|register| [register, self.0[usize::from(register)]]);
        let is_new = |[register, value]: &Write| {
            before.is_empty()
                || before.iter().any(|state| state.0[usize::from(*register)] != *value)
        };
        writes.into_iter().filter(is_new).collect()
    }
}

/// Returns the register value of the nearest duty cycle.
fn duty(pulse: &ChipPulse) -> u8 {
    match pulse.duty {
        ..0.1875 => 0,
        ..0.375 => 1,
        _ => 2,
    }
}

/// Returns the volume, 1 to 15, or 0 for silence. `unit` is the amplitude of volume 15.
fn volume(amplitude: f32, unit: f32) -> u8 {
    if amplitude > 0.0 { (15.0 * amplitude / unit).round().clamp(1.0, 15.0) as u8 } else { 0 }
}

/// Returns the value of the period register for a `frequency` in Hz. One period of the waveform has `steps` steps.
///
/// Moves a note that is too low up by octaves. `None` for a silent note, or one that is too high (a value below `least`).
fn period(frequency: f32, steps: u32, least: u16) -> Option<u16> {
    if frequency.is_nan() || frequency <= 0.0 {
        return None;
    }
    let mut cycles = f64::from(CLOCK) / (f64::from(steps) * f64::from(frequency));
    while cycles.round() > 2048.0 {
        cycles /= 2.0;
    }
    let period = cycles.round() - 1.0;
    (f64::from(least)..=2047.0).contains(&period).then_some(period as u16)
}

/// Returns the nearest value to `period` with the high byte of `current`, or `period` if that would be too far off.
///
/// A pulse clicks when its high byte is written, so a note that wavers around 109, 218 or 436 Hz would click repeatedly. So the high
/// byte is kept if `current` is within 3 % of `period`, and the result within 1 %.
fn without_click(current: u16, period: u16) -> u16 {
    let nearest = period.clamp(current & 0x700, current | 0xFF);
    let is_within = |percent: u32, other: u16| {
        100 * u32::from(period.abs_diff(other)) <= percent * u32::from(period)
    };
    if is_within(3, current) && is_within(1, nearest) { nearest } else { period }
}

/// Returns the amplitude of the maximum volume: the 99th percentile of the louder pulse, over all ticks with a pulse. Without
/// pulses, returns the percentile of the noise; without noise, 1.
pub fn unit(ticks: &[ChipTick]) -> f32 {
    let percentile = |amplitude: fn(&ChipTick) -> f32| {
        let mut all: Vec<_> = ticks.iter().map(amplitude).filter(|a| *a > 0.0).collect();
        all.sort_by(f32::total_cmp);
        all.get(all.len() * 99 / 100).copied()
    };
    percentile(|tick| tick.pulses[0].amplitude.max(tick.pulses[1].amplitude))
        .or_else(|| percentile(|tick| tick.noise.amplitude))
        .unwrap_or(1.0)
}

/// Returns the number of notes that pulses and triangle begin at the tick `now`.
fn beginnings(before: &ChipTick, now: &ChipTick) -> usize {
    let voices =
        |tick: &ChipTick| [tick.pulses[0].frequency, tick.pulses[1].frequency, tick.triangle];
    let begins = |(before, now): &(f32, f32)| {
        let stays = *now < before * SAME_NOTE && *before < now * SAME_NOTE;
        *now > 0.0 && !stays
    };
    voices(before).into_iter().zip(voices(now)).filter(begins).count()
}

impl Song {
    /// Creates the song of `ticks` of the voice Chip. With `repeat`, the tick with this index, or the last one if there are fewer,
    /// follows the last one.
    pub fn new(ticks: &[ChipTick], repeat: Option<usize>) -> Self {
        let repeat = repeat.map(|tick| tick.min(ticks.len().saturating_sub(1)));
        let unit = unit(ticks);
        let mut now = Registers::new();
        let states = ticks.iter().map(|tick| {
            now.set(tick, unit);
            now
        });
        let states: Vec<_> = states.collect();
        let mut writes = Vec::with_capacity(ticks.len() + 1);
        for (index, state) in states.iter().enumerate() {
            let mut before = Vec::new();
            before.extend(index.checked_sub(1).map(|index| states[index]));
            if repeat == Some(index) && index > 0 {
                // This tick also follows the last one, when the song repeats.
                before.extend(states.last());
            }
            writes.push(state.writes(&before));
        }
        if let Some(first) = writes.first_mut() {
            first.splice(0..0, START);
        }
        if repeat.is_none() {
            writes.push(vec![STOP]);
        }
        let before = [ChipTick::default()];
        let before = before.iter().chain(ticks);
        let notes = before.zip(ticks).map(|(before, now)| beginnings(before, now)).sum();
        Self { ticks: writes, repeat, notes }
    }
}

#[cfg(test)]
mod tests;
