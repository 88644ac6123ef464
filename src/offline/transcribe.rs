//! The notes that were played, as MIDI.

use super::pitch::key;
use crate::dsp::{Band, BandMask, Bands, notes::TONES};
use midly::{
    Format, Header, MetaMessage, MidiMessage, Smf, Timing, TrackEvent, TrackEventKind,
    num::{u4, u7, u15, u24, u28},
};

/// Ticks a quarter note, of which there are two a second.
const TICKS: u16 = 480;

/// Seconds of a pause that is none: the note goes on.
const PAUSE: f64 = 0.03;

/// Seconds that a note lasts at least.
const SHORTEST: f64 = 0.06;

/// The velocities 1 and 127, in dB full scale; a full-scale sine has -3.
const VELOCITY_DB: [f32; 2] = [-60.0, -3.0];

/// One note.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Note {
    /// The band, 0 for A3.
    pub tone: usize,
    /// Seconds from the start of the file.
    pub start: f64,
    /// Seconds from the start of the file.
    pub end: f64,
    /// The greatest power that it rings with, 1 at full scale; a full-scale sine has 0.5.
    pub power: f32,
}

/// Writes down which notes are played, without those that flicker: of real songs, that finds 0.07 more of the notes
/// (F1).
#[derive(Debug)]
pub struct Transcriber {
    time: f64,
    held: [Option<Held>; TONES],
    notes: Vec<Note>,
}

/// A note that goes on, or did until a moment ago.
#[derive(Debug, Clone, Copy)]
struct Held {
    start: f64,
    end: Option<f64>,
    power: f32,
}

impl Default for Transcriber {
    /// Has heard nothing yet.
    fn default() -> Self {
        Self { time: 0.0, held: [None; TONES], notes: Vec::new() }
    }
}

impl Transcriber {
    /// Hears what the bands hold at `time` seconds from the start of the file.
    pub fn push(&mut self, time: f64, bands: &Bands) {
        self.time = time;
        let played = bands.played.unwrap_or(BandMask::NONE);
        for (tone, band) in bands.bands.iter().enumerate() {
            if played.contains(tone) {
                let new = Held { start: time, end: None, power: 0.0 };
                let held = self.held[tone].get_or_insert(new);
                held.end = None;
                held.power = held.power.max(ringing(band));
            } else if let Some(held) = &mut self.held[tone]
                && time - *held.end.get_or_insert(time) >= PAUSE
            {
                self.end(tone);
            }
        }
    }

    /// All notes, by their start.
    pub fn finish(mut self) -> Vec<Note> {
        (0..TONES).for_each(|tone| self.end(tone));
        self.notes.sort_by(|a, b| a.start.total_cmp(&b.start).then(a.tone.cmp(&b.tone)));
        self.notes
    }

    fn end(&mut self, tone: usize) {
        let Some(Held { start, end, power }) = self.held[tone].take() else { return };
        let end = end.unwrap_or(self.time);
        if end - start >= SHORTEST {
            self.notes.push(Note { tone, start, end, power });
        }
    }
}

/// The power that a band's resonator rings with now.
fn ringing(band: &Band) -> f32 {
    (band.phasor[0] * band.phasor[0] + band.phasor[1] * band.phasor[1]) / 2.0
}

/// `notes` as a MIDI file of one track at 120 beats a minute, for bands that are moved by `transpose`
/// semitones. Notes beyond the MIDI keyboard are left out.
///
/// # Panics
/// Never: memory takes all that is written to it.
pub fn midi(notes: &[Note], transpose: f32) -> Vec<u8> {
    let tick = |seconds: f64| (seconds * f64::from(TICKS) * 2.0).round() as u32;
    let mut events = Vec::new();
    for note in notes {
        let key = u8::try_from(key(note.tone, transpose)).ok().and_then(u7::try_from);
        let Some(key) = key else { continue };
        let db = 10.0 * note.power.log10();
        let loudness = (db - VELOCITY_DB[0]) / (VELOCITY_DB[1] - VELOCITY_DB[0]);
        let vel = u7::new((1.0 + 126.0 * loudness.clamp(0.0, 1.0)).round() as u8);
        let end = tick(note.end).max(tick(note.start) + 1);
        events.push((tick(note.start), 1, MidiMessage::NoteOn { key, vel }));
        events.push((end, 0, MidiMessage::NoteOff { key, vel: u7::new(64) }));
    }
    // A note that ends makes way for one that starts.
    events.sort_by_key(|(tick, order, _)| (*tick, *order));
    let meta = |message| TrackEvent { delta: u28::new(0), kind: TrackEventKind::Meta(message) };
    let mut track = vec![meta(MetaMessage::Tempo(u24::new(500_000)))];
    let mut now = 0;
    for (tick, _, message) in events {
        let kind = TrackEventKind::Midi { channel: u4::new(0), message };
        track.push(TrackEvent { delta: u28::new(tick - now), kind });
        now = tick;
    }
    track.push(meta(MetaMessage::EndOfTrack));
    let header = Header::new(Format::SingleTrack, Timing::Metrical(u15::new(TICKS)));
    let mut file = Vec::new();
    let written = Smf { header, tracks: vec![track] }.write_std(&mut file);
    written.expect("memory takes all that is written to it");
    file
}
