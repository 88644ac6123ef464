//! MIDI file of an arrangement: a track for each part.

use super::{Arrangement, LOUDEST, PartNote};
use crate::transcribe::{Timed, file, on_and_off, signs, track};
use midly::{Format, MetaMessage, TrackEventKind, num::u7};
use tone_filter_dsp::FoundKey;

/// MIDI channel of the drums, counted from 0; General MIDI calls it channel 10.
const DRUMS: u8 = 9;

/// Returns the arrangement as a MIDI file. The first track has the tempi, meters and `key`; lead, chords, bass and drums follow.
pub fn midi(arrangement: &Arrangement, key: Option<&FoundKey>) -> Vec<u8> {
    let Arrangement { grid, lead, harmony, bass, drums, .. } = arrangement;
    let tick = |row: usize| grid.tick(row).round() as u32;
    let note = |(row, rows, key, volume): (usize, usize, u8, u8), channel: u8| {
        let velocity = u7::new((u32::from(volume) * 127 / u32::from(LOUDEST)) as u8);
        on_and_off(channel, u7::new(key.min(127)), velocity, [row, row + rows].map(tick))
    };
    let named = |name: &'static str, mut events: Vec<Timed<'static>>| {
        events.push((0, 0, TrackEventKind::Meta(MetaMessage::TrackName(name.as_bytes()))));
        track(events)
    };
    let part = |name, channel: u8, notes: &[PartNote]| {
        let sounds = |note: &PartNote| {
            let &PartNote { row, rows, key, volume, .. } = note;
            let chord = note.chord.clone().into_iter();
            [0].into_iter().chain(chord).map(move |above| (row, rows, key + above, volume))
        };
        let notes = notes.iter().flat_map(sounds);
        named(name, notes.flat_map(|own| note(own, channel)).collect())
    };
    let hits = drums.iter().map(|hit| (hit.row, 1, hit.drum.key(), hit.volume));
    let tracks = vec![
        named("Song", signs(grid.timeline(), key)),
        part("Lead", 0, lead),
        part("Chords", 1, harmony),
        part("Bass", 2, bass),
        named("Drums", hits.flat_map(|own| note(own, DRUMS)).collect()),
    ];
    file(Format::Parallel, tracks)
}
