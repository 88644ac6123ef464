//! VGM files of tracker songs for the Game Boy and the SN76489.

use super::{
    Chip, Writer,
    chip::WAVE,
    player::{Played, Playing, play},
};
use crate::{
    arrangement::Drum,
    console::{Log, SAMPLE_RATE},
};

/// Clock rate of the Game Boy in Hz.
const GAME_BOY: u32 = 4_194_304;
/// Clock rate of the SN76489 in Hz.
const SN76489: u32 = 3_579_545;
/// Header field for the noise of the Master System: taps of the shift register (lower 16 bits), and its width.
const SHIFT_REGISTER: u32 = 0x0010_0009;

/// First writes for the Game Boy: sound on, maximum volume, all channels on both sides.
const START: [[u8; 2]; 3] = [[0x16, 0x80], [0x14, 0x77], [0x15, 0xFF]];
/// First register of the Game Boy's wave RAM, which has two steps per byte.
const WAVE_RAM: u8 = 0x20;

/// Returns the VGM writer for songs of `chip`; `None` for the NES, whose VGM files come from [`crate::console::vgm`].
pub fn vgm(chip: Chip) -> Option<Writer> {
    match chip {
        Chip::Nes => None,
        Chip::Gb => Some(|song, tags| {
            let mut log = Log::default();
            let pairs = WAVE.chunks(2).map(|pair| pair[0] << 4 | pair[1]);
            let wave = (WAVE_RAM..).zip(pairs).map(|(register, pair)| [register, pair]);
            log.write(START.into_iter().chain(wave).flat_map(|[at, value]| [0xB3, at, value]));
            record(&mut log, song.hertz, &play(song), game_boy);
            log.finish(&[(0x80, GAME_BOY)], Chip::Gb.console(), tags)
        }),
        Chip::Sms => Some(|song, tags| {
            let mut log = Log::default();
            let mut played = play(song);
            prepare_noise(&mut played.ticks);
            record(&mut log, song.hertz, &played, sn76489);
            let clocks = [(0x0C, SN76489), (0x28, SHIFT_REGISTER)];
            log.finish(&clocks, Chip::Sms.console(), tags)
        }),
    }
}

/// Function that returns the commands that change a channel from its previous state to a new one. Without a previous state, it
/// writes all registers. Arguments: channel, new state, previous state.
type Write = fn(usize, Playing, Option<Playing>) -> Vec<u8>;

/// Writes a song of `hertz` ticks per second to `log`. A song that does not repeat ends with silence.
fn record(log: &mut Log, hertz: f64, played: &Played, write: Write) {
    let due = |tick: usize| (tick as f64 * SAMPLE_RATE / hertz).round() as usize;
    for (tick, channels) in played.ticks.iter().enumerate() {
        // All registers are written at the start of the song and at the loop point.
        let is_first = tick == 0 || played.repeat == Some(tick);
        let before = tick.checked_sub(1).filter(|_| !is_first).map(|tick| &played.ticks[tick]);
        let writes: Vec<u8> = (0..channels.len())
            .flat_map(|index| write(index, channels[index], before.map(|before| before[index])))
            .collect();
        if !writes.is_empty() {
            log.wait_until(due(tick));
        }
        if played.repeat == Some(tick) {
            log.repeat_from_here();
        }
        log.write(writes);
    }
    log.wait_until(due(played.ticks.len()));
    if let Some(last) = played.ticks.last().filter(|_| played.repeat.is_none()) {
        let silent = |state: &Playing| Playing { volume: 0, starts: false, ..*state };
        let writes = last.iter().enumerate();
        log.write(writes.flat_map(|(index, state)| write(index, silent(state), Some(*state))));
    }
}

fn hertz(key: u8) -> f64 {
    440.0 * ((f64::from(key) - 69.0) / 12.0).exp2()
}

/// [`Write`] for the Game Boy.
fn game_boy(channel: usize, now: Playing, before: Option<Playing>) -> Vec<u8> {
    let first = 5 * channel as u8;
    let differs = |of: fn(&Playing) -> u8| before.is_none_or(|before| of(&before) != of(&now));
    let [is_louder, is_other] = [differs(|state| state.volume), differs(|state| state.key)];
    let (is_wave, is_noise) = (channel == 2, channel == 3);
    let mut writes = Vec::new();
    let mut write = |register: u8, value: u8| writes.extend([0xB3, first + register, value]);
    if before.is_none() && channel == 0 {
        // No sweep.
        write(0, 0);
    }
    if is_wave && now.starts {
        // Restarting a playing wave corrupts the wave RAM, so the channel is switched off first.
        write(0, 0);
        write(0, 0x80);
    }
    if !is_wave && differs(|state| state.duty) {
        write(1, now.duty << 6);
    }
    if is_louder {
        // The wave is on or off. Other channels have a constant volume; bit 3 keeps a silent channel's DAC on, to avoid clicks.
        write(2, if is_wave { 0x20 * u8::from(now.volume > 0) } else { now.volume << 4 | 8 });
    }
    // A new volume takes effect when the channel restarts, except for the wave.
    let starts = now.starts || is_louder && !is_wave;
    if is_noise {
        if is_other {
            write(3, Drum::ALL.get(usize::from(now.key)).map_or(0, |drum| rate(*drum)));
        }
        if starts {
            write(4, 0x80);
        }
        return writes;
    }
    let clock = f64::from(GAME_BOY) / if is_wave { 64.0 } else { 32.0 };
    let register = |key: u8| (2048.0 - (clock / hertz(key)).round()).clamp(0.0, 2047.0) as u16;
    let [high, low] = register(now.key).to_be_bytes();
    if is_other {
        write(3, low);
    }
    if is_other || starts {
        write(4, high | if starts { 0x80 } else { 0 });
    }
    writes
}

/// Returns the Game Boy's register value for a drum's noise rate, chosen to be as bright as on the 2A03.
///
/// The rate is 262,144 Hz, divided by the lower three bits and by two to the power of the upper four.
fn rate(drum: Drum) -> u8 {
    [0x37, 0x26, 0x15, 0x17][drum as usize]
}

/// Moves changes of the noise rate into the silence before the hit. A change resets the shift register, and the noise then hums
/// at first.
fn prepare_noise(ticks: &mut [Vec<Playing>]) {
    let mut next = None;
    for noise in ticks.iter_mut().rev().filter_map(|channels| channels.get_mut(3)) {
        match noise.volume {
            0 => noise.key = next.unwrap_or(noise.key),
            _ => next = Some(noise.key),
        }
    }
}

/// [`Write`] for the SN76489.
fn sn76489(channel: usize, now: Playing, before: Option<Playing>) -> Vec<u8> {
    let latch = 0x80 | (channel as u8) << 5;
    let mut writes = Vec::new();
    let is_other = before.is_none_or(|before| before.key != now.key);
    if channel == 3 {
        // White noise at a low, medium or high rate.
        if is_other {
            let rate = [2, 1, 0, 0].get(usize::from(now.key)).copied().unwrap_or_default();
            writes.extend([0x50, latch | 4 | rate]);
        }
    } else if is_other {
        let period = (f64::from(SN76489) / (32.0 * hertz(now.key))).round().clamp(1.0, 1023.0);
        let period = period as u16;
        writes.extend([0x50, latch | (period & 15) as u8, 0x50, (period >> 4) as u8]);
    }
    if before.is_none_or(|before| before.volume != now.volume) {
        writes.extend([0x50, latch | 0x10 | (15 - now.volume)]);
    }
    writes
}
