//! Notes from what the bands heard, as MIDI.
//!
//! A resonator begins to ring at once when its note sounds, and so do its neighbours; after a moment only the
//! right one goes on. Therefore a note is believed once its band has been a peak among its neighbours for a
//! while, and dated back to when the band began to ring.

use crate::dsp::{Band, BandState, Bands, notes::TONES};
use midly::{
    Format, Header, MetaMessage, MidiMessage, Smf, Timing, TrackEvent, TrackEventKind,
    num::{u4, u7, u15, u24, u28},
};

/// A note that ends is this much weaker than it was, as power: 20 dB.
const FADED: f32 = 0.01;

/// A band that gets this much stronger again is struck anew, as power: 6 dB.
const STRUCK: f32 = 4.0;

/// Ticks a quarter note, of which there are two a second.
const TICKS: u16 = 480;

/// The velocities 1 and 127, in dB full scale; a full-scale sine has -3.
const VELOCITY_DB: [f32; 2] = [-60.0, -3.0];

/// What makes a note.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// It rings at least this much, in dB of the total power (below 0).
    pub threshold: f32,
    /// It goes on until it rings so many dB less than that.
    pub hysteresis: f32,
    /// It is a peak among its neighbours for at least so many seconds.
    pub shortest: f64,
}

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

/// Finds notes in a sequence of moments.
pub struct Transcriber {
    options: Options,
    time: f64,
    tracks: [Track; TONES],
    notes: Vec<Note>,
}

/// What is known of a band.
#[derive(Debug, Clone, Copy, Default)]
struct Track {
    /// When it began to ring, if it does.
    since: Option<f64>,
    /// The greatest power since then.
    peak: f32,
    /// The least power since the peak, or since the end of the last note.
    dip: f32,
    /// For how long it was a peak among its neighbours, in seconds.
    convincing: f64,
}

impl Transcriber {
    /// Has heard nothing yet.
    pub fn new(options: Options) -> Self {
        Self { options, time: 0.0, tracks: [Track::default(); TONES], notes: Vec::new() }
    }

    /// Hears a moment, `hop` seconds after the last one.
    pub fn push(&mut self, hop: f64, bands: &Bands) {
        let ringing = bands.bands.map(|band| ringing(&band));
        let on = bands.total_power * 10f32.powf(self.options.threshold / 10.0);
        let off = on * 10f32.powf(-self.options.hysteresis / 10.0);
        for (tone, &power) in ringing.iter().enumerate() {
            let track = &mut self.tracks[tone];
            let heard = bands.bands[tone].state != BandState::Muted && power > off;
            if let Some(start) = track.since {
                let struck_again = power > STRUCK * track.dip;
                if !heard || power < FADED * track.peak || struck_again {
                    if track.convincing >= self.options.shortest {
                        let note = Note { tone, start, end: self.time, power: track.peak };
                        self.notes.push(note);
                    }
                    *track = Track { dip: power, ..Track::default() };
                    if struck_again && heard {
                        *track = Track {
                            since: Some(self.time),
                            peak: power,
                            dip: power,
                            convincing: 0.0,
                        };
                    }
                }
            } else if heard && power > STRUCK * track.dip {
                *track = Track { since: Some(self.time), peak: power, dip: power, convincing: 0.0 };
            }
            if power > track.peak {
                (track.peak, track.dip) = (power, power);
            }
            track.dip = if heard { track.dip.min(power) } else { 0.0 };
            let neighbours = [tone.wrapping_sub(1), tone + 1];
            let is_peak = neighbours
                .iter()
                .all(|neighbour| ringing.get(*neighbour).is_none_or(|other| power > *other));
            if is_peak && power > on {
                track.convincing += hop;
            }
        }
        self.time += hop;
    }

    /// All notes, by their start.
    pub fn finish(mut self) -> Vec<Note> {
        let silence = Bands::default();
        self.push(0.0, &silence);
        self.notes.sort_by(|a, b| a.start.total_cmp(&b.start).then(a.tone.cmp(&b.tone)));
        self.notes
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
    const A3: i32 = 57;
    let tick = |seconds: f64| (seconds * f64::from(TICKS) * 2.0).round() as u32;
    let mut events = Vec::new();
    for note in notes {
        let key = A3 + note.tone as i32 + transpose.round() as i32;
        let Some(key) = u8::try_from(key).ok().and_then(u7::try_from) else { continue };
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
