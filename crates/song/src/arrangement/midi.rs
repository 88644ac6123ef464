//! MIDI file of an arrangement: a track for each part.

use super::{Arrangement, Drum, LOUDEST, PartNote, repeats::keys};
use crate::transcribe::{Timed, file, on_and_off, signs, track};
use midly::{Format, MetaMessage, TrackEventKind, num::u7};
use tone_filter_dsp::FoundKey;

/// MIDI channel of the drums, counted from 0; General MIDI calls it channel 10.
const DRUMS: u8 = 9;

/// Returns the arrangement as a MIDI file. The first track has the tempi, meters and `key`; lead, chords, bass and drums follow.
pub fn midi(arrangement: &Arrangement, key: Option<&FoundKey>) -> Vec<u8> {
    let Arrangement { grid, lead, harmony, bass, drums, .. } = arrangement;
    let named = |name: &'static str, mut events: Vec<Timed<'static>>| {
        events.push((0, 0, TrackEventKind::Meta(MetaMessage::TrackName(name.as_bytes()))));
        track(events)
    };
    let part = |name, channel: u8, notes: &[PartNote]| {
        let mut events = Vec::new();
        for note in notes {
            let velocity = u7::new((u32::from(note.volume) * 127 / u32::from(LOUDEST)) as u8);
            let ticks = [note.row, note.row + note.rows].map(|row| grid.tick(row).round() as u32);
            for key in keys(note) {
                let key =
                    if channel == DRUMS { Drum::ALL[usize::from(key)].key() } else { key.min(127) };
                events.extend(on_and_off(channel, u7::new(key), velocity, ticks));
            }
        }
        named(name, events)
    };
    let tracks = vec![
        named("Song", signs(&grid.timeline, key)),
        part("Lead", 0, lead),
        part("Chords", 1, harmony),
        part("Bass", 2, bass),
        part("Drums", DRUMS, drums),
    ];
    file(Format::Parallel, tracks)
}
