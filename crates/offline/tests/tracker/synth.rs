//! Sound chips in f64, which play a song as Furnace's pages and the chips' data sheets describe it: plain waveforms at 32 times the sample rate.

use super::fur::{Instrument, Song};

/// Sample rate of the sound in Hz.
pub const RATE: f64 = 44_100.0;
/// Samples computed for each sample of the sound, which is their mean.
const OVER: usize = 32;

/// Cycles of the 2A03's clock for a step of the noise, by its rates.
const NES_NOISE: [f64; 16] = [
    4.0, 8.0, 16.0, 32.0, 64.0, 96.0, 128.0, 160.0, 202.0, 254.0, 380.0, 508.0, 762.0, 1016.0,
    2034.0, 4068.0,
];

/// Sound chip, by the page's number.
#[derive(Clone, Copy, PartialEq)]
enum Chip {
    Sms = 3,
    Gb = 4,
    Nes = 6,
}

/// What sounds in a channel.
#[derive(Clone, Copy)]
enum Wave {
    /// Share of a period during which the output is 1.
    Pulse(f64),
    /// Triangle of 32 steps, 0 to 15, which holds its place when it is silent.
    Steps,
    /// Shift register: length in bits, and mask of the bits whose parity comes in.
    Noise(u32, u32),
}

/// Channel between two ticks.
struct Channel {
    note: Option<(u8, usize)>,
    volume: u8,
    age: usize,
    phase: f64,
    register: u32,
}

/// Returns the value of a macro at `age` ticks; its last one afterwards.
fn value(instrument: &Instrument, code: u8, age: usize) -> Option<u8> {
    let own = instrument.macros.get(&code)?;
    let (place, length) = (age / usize::from(own.speed), own.values.len());
    let repeats = usize::from(own.repeats);
    Some(match own.values.get(place) {
        Some(value) => *value,
        None if repeats < length => own.values[repeats + (place - length) % (length - repeats)],
        None => own.values[length - 1],
    })
}

/// Plays the song once, for `seconds` at most. The scale is any.
pub fn play(song: &Song, seconds: f64) -> Vec<f64> {
    let chip =
        [Chip::Sms, Chip::Gb, Chip::Nes].into_iter().find(|own| *own as u8 == song.chip).unwrap();
    let channels =
        (0..4).map(|_| Channel { note: None, volume: 15, age: 0, phase: 0.0, register: 1 });
    let mut channels: Vec<Channel> = channels.collect();
    let (mut sound, mut frames) = (Vec::new(), 0.0);
    let mut groove = (song.speeds.clone(), 0);
    let (mut order, mut row, mut next) = (0, 0, None);
    loop {
        let mut ends = false;
        for (index, own) in song.channels.iter().enumerate() {
            let cell = &own.patterns[&own.orders[order]][row];
            if let Some(channel) = channels.get_mut(index) {
                channel.volume = cell.volume.unwrap_or(channel.volume);
                match cell.note {
                    Some(180) => channel.note = None,
                    Some(note) => {
                        (channel.note, channel.age) =
                            (Some((note, cell.instrument.unwrap().into())), 0);
                    }
                    None => {}
                }
            }
            for effect in &cell.effects {
                match *effect {
                    (0x09, index) => groove = (song.grooves[usize::from(index)].clone(), 0),
                    (0x0D, _) => next = Some(order + 1),
                    _ => ends = true,
                }
            }
        }
        for _ in 0..groove.0[groove.1] {
            frames += RATE / f64::from(song.hertz);
            let count = (frames - sound.len() as f64) as usize;
            tick(chip, song, &mut channels, count, &mut sound);
            channels.iter_mut().for_each(|channel| channel.age += 1);
        }
        groove.1 = (groove.1 + 1) % groove.0.len();
        row += 1;
        if let Some(to) = next.take().or((row == song.rows).then_some(order + 1)) {
            (order, row) = (to, 0);
        }
        if ends || sound.len() as f64 > seconds * RATE {
            return sound;
        }
    }
}

/// Adds `count` samples of a tick to `sound`.
fn tick(chip: Chip, song: &Song, channels: &mut [Channel], count: usize, sound: &mut Vec<f64>) {
    // Steps per sample, waveform and volume of each channel.
    let states: Vec<_> = channels
        .iter()
        .enumerate()
        .map(|(index, channel)| {
            let Some((note, instrument)) = channel.note else {
                let holds = (chip, index) == (Chip::Nes, 2);
                return (0.0, if holds { Wave::Steps } else { Wave::Pulse(0.5) }, 0.0);
            };
            let instrument = &song.instruments[instrument];
            let own = |code| value(instrument, code, channel.age);
            let envelope = own(0).unwrap_or(15);
            let volume = match (chip, index) {
                (Chip::Nes, 2) => 15.0,
                // Volumes of the wave have four steps.
                (Chip::Gb, 2) => 15.0,
                (Chip::Sms, _) => match (channel.volume + envelope).saturating_sub(15) {
                    0 => 0.0,
                    volume => 10f64.powf(f64::from(volume) / 10.0 - 1.5),
                },
                _ => f64::from(u32::from(channel.volume) * u32::from(envelope) / 15),
            };
            let note = f64::from(note) + f64::from(own(1).unwrap_or(0)) - 117.0;
            let hertz = 440.0 * (note / 12.0).exp2();
            let duty = [0.125, 0.25, 0.5][usize::from(own(2).unwrap_or(2).min(2))];
            let (hertz, wave) = match (chip, index) {
                (Chip::Nes, 3) => {
                    let rate = 15 - (channel.note.unwrap().0 - 60);
                    (1_789_773.0 / NES_NOISE[usize::from(rate)], Wave::Noise(15, 0b11))
                }
                (Chip::Gb, 3) => {
                    // The pages tell neither of these rates; they are those that the song's writer means.
                    let hertz = [(109, 4681.0), (114, 10_923.0), (119, 26_214.0), (117, 18_725.0)];
                    let hertz =
                        hertz.iter().find(|own| own.0 == channel.note.unwrap().0).unwrap().1;
                    (hertz, Wave::Noise(15, 0b11))
                }
                (Chip::Sms, 3) => {
                    let shift = channel.note.unwrap().0 % 12;
                    (3_579_545.0 / 2048.0 * f64::from(1 << shift), Wave::Noise(16, 0b1001))
                }
                (Chip::Nes, 2) => {
                    (1_789_773.0 / 32.0 / (1_789_773.0 / 32.0 / hertz).round(), Wave::Steps)
                }
                (Chip::Nes, _) => {
                    let hertz = 2.0 * hertz;
                    (1_789_773.0 / 16.0 / (1_789_773.0 / 16.0 / hertz).round(), Wave::Pulse(duty))
                }
                (Chip::Gb, 2) => (65_536.0 / (65_536.0 / (hertz / 2.0)).round(), Wave::Steps),
                (Chip::Gb, _) => (131_072.0 / (131_072.0 / hertz).round(), Wave::Pulse(duty)),
                (Chip::Sms, _) => {
                    let hertz = 4.0 * hertz;
                    (3_579_545.0 / 32.0 / (3_579_545.0 / 32.0 / hertz).round(), Wave::Pulse(0.5))
                }
            };
            (hertz / RATE / OVER as f64, wave, volume)
        })
        .collect();
    for _ in 0..count {
        let mut sum = 0.0;
        for _ in 0..OVER {
            let mut out = [0.0; 4];
            for ((channel, (step, wave, volume)), out) in
                channels.iter_mut().zip(&states).zip(&mut out)
            {
                channel.phase += step;
                let wraps = channel.phase >= 1.0;
                channel.phase -= channel.phase.floor();
                *out = match *wave {
                    Wave::Pulse(duty) => {
                        let high = f64::from(u8::from(channel.phase < duty));
                        // The SN76489's output is as far below 0 as above.
                        volume * if chip == Chip::Sms { 2.0 * high - 1.0 } else { high }
                    }
                    Wave::Steps => {
                        let place = (32.0 * channel.phase).floor();
                        if place < 16.0 { place } else { 31.0 - place }
                    }
                    Wave::Noise(bits, taps) => {
                        if wraps {
                            let parity = (channel.register & taps).count_ones() & 1;
                            channel.register = channel.register >> 1 | parity << (bits - 1);
                        }
                        let high = channel.register & 1 == if chip == Chip::Sms { 1 } else { 0 };
                        volume * f64::from(u8::from(high))
                    }
                };
            }
            let [first, second, third, noise] = out;
            sum += match chip {
                // The mixer of the 2A03, by the curves that its emulators share.
                Chip::Nes => {
                    let (pulses, rest) = (first + second, third / 8227.0 + noise / 12_241.0);
                    let curve =
                        |top: f64, x: f64| if x > 0.0 { top / (1.0 / x + 100.0) } else { 0.0 };
                    curve(95.88, pulses / 8128.0) + curve(159.79, rest)
                }
                _ => first + second + third + noise,
            };
        }
        sound.push(sum / OVER as f64);
    }
}

/// Returns the power in dB of each third octave from 63 Hz to 8 kHz.
pub fn thirds(sound: &[f64]) -> Vec<f64> {
    (-12..=9)
        .map(|third| {
            let hertz = 1000.0 * (f64::from(third) / 3.0).exp2();
            let angle = std::f64::consts::TAU * hertz / RATE;
            // A band-pass of a third octave: Bristow-Johnson's, with Q = 4.32, twice.
            let (sin, cos) = angle.sin_cos();
            let alpha = sin / (2.0 * 4.318);
            let [b, a0, a1, a2] = [alpha, 1.0 + alpha, -2.0 * cos, 1.0 - alpha];
            let mut states = [[0.0; 2]; 2];
            let mut power = 0.0;
            for sample in sound {
                let mut x = *sample;
                for state in &mut states {
                    let y = b / a0 * x + state[0];
                    state[0] = state[1] - a1 / a0 * y;
                    state[1] = -b / a0 * x - a2 / a0 * y;
                    x = y;
                }
                power += x * x;
            }
            10.0 * (power / sound.len() as f64).max(1e-20).log10()
        })
        .collect()
}
