//! Plays a song: returns the state of each channel at each tick.

use super::{Cell, Chip, Effect, Instrument, Module, Play, tempo::groove};
use crate::arrangement::LOUDEST;

/// State of a channel during a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Playing {
    /// MIDI key with arpeggio; for noise, the drum's index. Silence keeps the last key.
    pub key: u8,
    /// Register value of the volume; 0 is silence.
    pub volume: u8,
    pub duty: u8,
    /// Whether the note begins at this tick.
    pub starts: bool,
}

/// Result of [`play`].
pub struct Played {
    /// States of all channels at each tick.
    pub ticks: Vec<Vec<Playing>>,
    /// Index of the tick that follows the last one; `None` if the song does not repeat.
    pub repeat: Option<usize>,
}

struct Channel<'a> {
    instrument: Option<&'a Instrument>,
    /// Volume of the last cell that has one.
    volume: u8,
    /// Number of ticks since the start of the note.
    age: usize,
    /// Key without the arpeggio.
    key: u8,
    last: Playing,
}

impl<'a> Channel<'a> {
    fn new() -> Self {
        let last = Playing { key: 0, volume: 0, duty: 0, starts: false };
        Self { instrument: None, volume: LOUDEST, age: 0, key: 0, last }
    }

    /// Reads the cell of a row: sets the volume if the cell has one, and starts or ends a note.
    fn read(&mut self, cell: &Cell, instruments: &'a [Instrument]) {
        self.volume = cell.volume.unwrap_or(self.volume);
        match cell.play {
            Some(Play::On(key, instrument)) => {
                self.instrument = Some(&instruments[usize::from(instrument)]);
                (self.key, self.age) = (key, 0);
            }
            Some(Play::Off) => self.instrument = None,
            None => {}
        }
    }

    fn tick(&mut self, chip: Chip) -> Playing {
        let Some(instrument) = self.instrument else {
            self.last = Playing { volume: 0, starts: false, ..self.last };
            return self.last;
        };
        let Instrument { volumes, arpeggio, duty, speed, .. } = instrument;
        let envelope = volumes.get(self.age).or(volumes.last()).copied().unwrap_or(LOUDEST);
        let step = self.age / *speed as usize;
        let above = arpeggio.get(step % arpeggio.len().max(1)).copied().unwrap_or_default();
        self.last = Playing {
            key: self.key + above,
            volume: chip.mix(self.volume, envelope),
            duty: *duty,
            starts: self.age == 0,
        };
        self.age += 1;
        self.last
    }
}

pub fn play(song: &Module) -> Played {
    let mut channels: Vec<Channel> = song.channels.iter().map(|_| Channel::new()).collect();
    let mut ticks = Vec::new();
    // First tick of each order, and the order that follows the last one.
    let (mut starts, mut jump) = (Vec::new(), None);
    let mut lengths = groove(song.tempi[0]).into_iter().cycle();
    for order in 0..song.channels[0].orders.len() {
        starts.push(ticks.len());
        for row in 0..song.rows {
            let mut ends = false;
            for (part, channel) in song.channels.iter().zip(&mut channels) {
                let cell = &part.patterns[usize::from(part.orders[order])][row];
                channel.read(cell, &song.instruments);
                for effect in &cell.effects {
                    match *effect {
                        Effect::Tempo(index) => {
                            let tempo = song.tempi[usize::from(index)];
                            lengths = groove(tempo).into_iter().cycle();
                        }
                        Effect::Jump(to) => jump = Some(usize::from(to)),
                        Effect::Next | Effect::Stop => {}
                    }
                    ends |= !matches!(effect, Effect::Tempo(_));
                }
            }
            for _ in 0..lengths.next().unwrap_or_default() {
                ticks.push(channels.iter_mut().map(|channel| channel.tick(song.chip)).collect());
            }
            if ends {
                break;
            }
        }
    }
    Played { ticks, repeat: jump.map(|order| starts[order]) }
}
