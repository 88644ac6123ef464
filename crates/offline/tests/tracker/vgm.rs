//! Strict reader of VGM files of the Game Boy and the SN76489, by the pages of the format and of the chips: of what is allowed, only what is needed
//! here passes.

/// Rate in Hz by which the format counts time.
pub const RATE: f64 = 44_100.0;

/// File as it is read.
pub struct File {
    /// The Game Boy's clock in Hz, or 0.
    pub game_boy: u32,
    /// The SN76489's clock in Hz, or 0.
    pub sn76489: u32,
    /// Samples of the whole song.
    pub samples: usize,
    /// Samples at which the part begins that repeats, and how long it lasts.
    pub repeat: Option<(usize, usize)>,
    /// English title, system and author, and the author of the file.
    pub tags: [String; 4],
    /// All writes: sample, register (0 for the SN76489) and value.
    pub writes: Vec<(usize, u8, u8)>,
}

fn word(file: &[u8], at: usize) -> usize {
    u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize
}

/// Reads a whole file; panics at whatever the pages do not allow.
pub fn read(file: &[u8]) -> File {
    assert_eq!(&file[..4], b"Vgm ");
    assert_eq!(0x04 + word(file, 0x04), file.len(), "end of file");
    // 1.61 has the Game Boy's clock.
    assert_eq!(word(file, 0x08), 0x171, "version");
    let first = 0x34 + word(file, 0x34);
    assert_eq!(first, 0x100, "header of 1.71");
    let [game_boy, sn76489] = [0x80, 0x0C].map(|at| word(file, at) as u32);
    // Taps and width of the shift register belong to the SN76489.
    let shift_register = word(file, 0x28);
    assert_eq!(shift_register, if sn76489 > 0 { 0x0010_0009 } else { 0 });
    let known = [0x04, 0x08, 0x0C, 0x14, 0x18, 0x1C, 0x20, 0x24, 0x28, 0x34, 0x80];
    for at in (4..first).step_by(4).filter(|at| !known.contains(at)) {
        assert_eq!(word(file, at), 0, "no other chip, at {at:#X}");
    }
    let goes_back = word(file, 0x1C);
    let (mut at, mut now, mut start, mut writes) = (first, 0, None, Vec::new());
    loop {
        if goes_back > 0 && at == 0x1C + goes_back {
            start = Some(now);
        }
        match file[at] {
            0x50 => {
                assert!(sn76489 > 0);
                writes.push((now, 0, file[at + 1]));
                at += 2;
            }
            0xB3 => {
                // From NR10 to the end of the wave.
                assert!(game_boy > 0 && file[at + 1] < 0x30);
                writes.push((now, file[at + 1], file[at + 2]));
                at += 3;
            }
            0x61 => {
                let samples = usize::from(file[at + 1]) + 256 * usize::from(file[at + 2]);
                assert!(samples > 0);
                now += samples;
                at += 3;
            }
            0x62 => {
                now += 735;
                at += 1;
            }
            0x66 => break,
            command => panic!("command {command:#X} at {at:#X}"),
        }
    }
    let samples = word(file, 0x18);
    assert_eq!(now, samples, "samples of all waits");
    let repeat = (goes_back > 0).then(|| {
        let start = start.expect("the song goes back to a command");
        assert_eq!(start + word(file, 0x20), samples, "samples of the part that repeats");
        (start, samples - start)
    });
    assert!(repeat.is_some() || word(file, 0x20) == 0);
    let described = 0x14 + word(file, 0x14);
    assert_eq!(described, at + 1, "tags stand behind the data");
    assert_eq!((&file[described..described + 4], word(file, described + 4)), (&b"Gd3 "[..], 0x100));
    assert_eq!(described + 12 + word(file, described + 8), file.len());
    let letters = file[described + 12..].chunks(2).map(|own| u16::from_le_bytes([own[0], own[1]]));
    let text = String::from_utf16(&letters.collect::<Vec<_>>()).unwrap();
    let strings: Vec<&str> = text.strip_suffix('\0').unwrap().split('\0').collect();
    assert_eq!(strings.len(), 11);
    let tags = [0, 4, 6, 10].map(|index| strings[index].to_owned());
    File { game_boy, sn76489, samples, repeat, tags, writes }
}

/// Change of what a channel's registers mean: volume, frequency in Hz (of noise: shifts a second), whether the channel starts anew.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    pub sample: usize,
    pub channel: usize,
    /// Up to 15: for the Game Boy linear, for the SN76489 in steps of 2 dB. The wave's is 15 or 0.
    pub volume: u8,
    pub hertz: f64,
    /// Share of the period that is high: of the Game Boy's pulses, else 0.5.
    pub duty: f64,
    pub starts: bool,
}

impl File {
    /// Returns the state of each channel at each moment with a write to it.
    pub fn changes(&self) -> Vec<Change> {
        if self.game_boy > 0 { self.game_boy_changes() } else { self.sn76489_changes() }
    }

    fn game_boy_changes(&self) -> Vec<Change> {
        let clock = f64::from(self.game_boy);
        let mut held = [0_u8; 0x30];
        let mut changes: Vec<Change> = Vec::new();
        // Volume as it was when the channel started last, which is when it counts.
        let mut volumes = [0_u8; 4];
        for (sample, register, value) in &self.writes {
            let register = usize::from(*register);
            held[register] = *value;
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
                assert!(own[0] & 0x80 > 0 || own[0] == 0);
                volumes[2] = if own[0] & 0x80 == 0 {
                    0
                } else {
                    [0, 15, 7, 3][usize::from(own[2] >> 5 & 3)]
                };
            } else if starts {
                assert_eq!(own[2] & 7, 0);
                volumes[channel] = own[2] >> 4;
            }
            let period = 2048.0 - f64::from(u16::from(own[4] & 7) << 8 | u16::from(own[3]));
            let hertz = match channel {
                // The DMG's divisors are 8, 16, 32 .. cycles of the clock.
                3 => {
                    let divisor = [0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0][usize::from(own[3] & 7)];
                    clock / 16.0 / divisor / f64::from(1_u32 << (own[3] >> 4))
                }
                2 => clock / 64.0 / period,
                _ => clock / 32.0 / period,
            };
            let duty = [0.125, 0.25, 0.5, 0.75][usize::from(own[1] >> 6)];
            let volume = volumes[channel];
            let change = Change { sample: *sample, channel, volume, hertz, duty, starts };
            add(&mut changes, change);
        }
        changes
    }

    fn sn76489_changes(&self) -> Vec<Change> {
        let clock = f64::from(self.sn76489);
        let (mut periods, mut volumes, mut latch) = ([0_u16; 4], [0_u8; 4], 0);
        let mut changes = Vec::new();
        for (sample, _, value) in &self.writes {
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
                periods[latch / 2] = periods[latch / 2] & 15 | u16::from(*value) << 4;
            }
            let channel = latch / 2;
            let hertz = match channel {
                3 => clock / [512.0, 1024.0, 2048.0][usize::from(periods[3])],
                _ => clock / 32.0 / f64::from(periods[channel]),
            };
            let volume = volumes[channel];
            add(
                &mut changes,
                Change { sample: *sample, channel, volume, hertz, duty: 0.5, starts },
            );
        }
        changes
    }
}

/// Adds a change; changes of a channel at one sample are one.
fn add(changes: &mut Vec<Change>, change: Change) {
    match changes.last_mut() {
        Some(last) if (last.sample, last.channel) == (change.sample, change.channel) => {
            let starts = last.starts || change.starts;
            *last = Change { starts, ..change };
        }
        _ => changes.push(change),
    }
}
