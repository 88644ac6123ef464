//! Decoder of register writes to the Game Boy and the SN76489, written from the documentation of the chips.

use crate::vgm_reader::File;

/// State of a channel after a register write.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    pub sample: usize,
    pub channel: usize,
    /// Volume, 0 to 15: linear on the Game Boy (0 or 15 for the wave), in steps of 2 dB on the SN76489.
    pub volume: u8,
    /// Frequency in Hz; for noise, shifts per second.
    pub hertz: f64,
    /// Duty of the Game Boy's pulses, otherwise 0.5.
    pub duty: f64,
    pub starts: bool,
}

/// Adds a change. Changes of a channel at the same sample are merged.
fn add(changes: &mut Vec<Change>, change: Change) {
    match changes.last_mut() {
        Some(last) if (last.sample, last.channel) == (change.sample, change.channel) => {
            let starts = last.starts || change.starts;
            *last = Change { starts, ..change };
        }
        _ => changes.push(change),
    }
}

pub fn game_boy(file: &File) -> Vec<Change> {
    let clock = file.chips[&0x80] as f64;
    let (mut held, mut changes) = ([0_u8; 0x30], Vec::new());
    // A volume takes effect when the channel restarts.
    let mut volumes = [0_u8; 4];
    for (sample, command) in &file.writes {
        let [0xB3, register, value] = command[..] else { panic!("{command:?}") };
        let register = usize::from(register);
        held[register] = value;
        assert!(held[0x16] & 0x80 > 0, "nothing is written while the power is off");
        if register >= 0x14 {
            continue;
        }
        let channel = register / 5;
        let own = &held[5 * channel..5 * channel + 5];
        let starts = register % 5 == 4 && value & 0x80 > 0;
        // No lengths, no sweep, no envelopes.
        assert!(own[4] & 0x40 == 0 && held[0] == 0);
        if channel == 2 {
            let volume = [0, 15, 7, 3][usize::from(own[2] >> 5 & 3)];
            volumes[2] = if own[0] == 0x80 { volume } else { 0 };
        } else if starts {
            assert_eq!(own[2] & 7, 0);
            volumes[channel] = own[2] >> 4;
        }
        let period = 2048.0 - f64::from(u16::from(own[4] & 7) << 8 | u16::from(own[3]));
        let hertz = match channel {
            // The divisors are 8, 16, 32 .. clock cycles.
            3 => {
                let divisor = f64::from(own[3] & 7).max(0.5);
                clock / 16.0 / divisor / f64::from(1_u32 << (own[3] >> 4))
            }
            2 => clock / 64.0 / period,
            _ => clock / 32.0 / period,
        };
        let duty =
            if channel < 2 { [0.125, 0.25, 0.5, 0.75][usize::from(own[1] >> 6)] } else { 0.5 };
        let volume = volumes[channel];
        add(&mut changes, Change { sample: *sample, channel, volume, hertz, duty, starts });
    }
    changes
}

pub fn sn76489(file: &File) -> Vec<Change> {
    let clock = file.chips[&0x0C] as f64;
    let (mut periods, mut volumes, mut latch) = ([0_u16; 4], [0_u8; 4], 0);
    let mut changes = Vec::new();
    for (sample, command) in &file.writes {
        let [0x50, value] = command[..] else { panic!("{command:?}") };
        let mut starts = false;
        if value & 0x80 > 0 {
            latch = usize::from(value >> 4 & 7);
            let (channel, low) = (latch / 2, value & 15);
            match (latch % 2, channel) {
                (1, _) => volumes[channel] = 15 - low,
                (_, 3) => {
                    assert!(low & 4 > 0, "white noise");
                    (periods[3], starts) = (u16::from(low & 3), true);
                }
                _ => periods[channel] = periods[channel] & 0x3F0 | u16::from(low),
            }
        } else {
            assert!(latch % 2 == 0 && latch < 6 && value & 0x40 == 0, "upper bits of a period");
            periods[latch / 2] = periods[latch / 2] & 15 | u16::from(value) << 4;
        }
        let (channel, duty) = (latch / 2, 0.5);
        let hertz = match channel {
            3 => clock / [512.0, 1024.0, 2048.0][usize::from(periods[3])],
            _ => clock / 32.0 / f64::from(periods[channel]),
        };
        let volume = volumes[channel];
        add(&mut changes, Change { sample: *sample, channel, volume, hertz, duty, starts });
    }
    changes
}
