use super::*;
use midly::{MetaMessage, MidiMessage, Smf, TrackEventKind};
use tone_filter_dsp::{
    ChipNoise, ChipPulse,
    notes::{TONES, midi_note},
};

const SOUND: Sound = Sound { attack: 0, decay: 0, duty: Duty::Quarter, arpeggio: Some(1) };

/// Returns a note by its MIDI key. `from` and `to` are rows of 0.125 s.
fn note(key: u8, from: f64, to: f64, velocity: u8) -> Note {
    let tone = (0..TONES).find(|tone| midi_note(*tone, 0.0) == i32::from(key)).unwrap();
    let [start, end] = [from, to].map(|row| 0.125 * row);
    Note { tone, offset: 0, start, end, velocity, place: 0.0 }
}

fn arrange(mut notes: Vec<Note>, rows: usize, sound: Sound) -> Arrangement {
    notes.sort_by(|a, b| a.start.total_cmp(&b.start));
    let seconds = 0.125 * rows as f64;
    Arrangement::new(&notes, 0.0, &[], seconds, Timeline::fixed(120.0), sound)
}

fn plain(part: &[PartNote]) -> Vec<(usize, usize, u8)> {
    part.iter().map(|note| (note.row, note.rows, note.key)).collect()
}

#[test]
fn lead_bass_and_chords_go_to_their_parts() {
    let chord = [60, 64, 67].map(|key| note(key, 0.0, 8.0, 80));
    let melody = [79, 81, 83, 84].into_iter().enumerate();
    let melody = melody.map(|(n, key)| note(key, 2.0 * n as f64, 2.0 * n as f64 + 2.0, 100));
    let notes = chord.into_iter().chain(melody).chain([note(36, 0.0, 8.0, 90)]).collect();
    let arranged = arrange(notes, 8, SOUND);
    assert_eq!(plain(&arranged.lead), [(0, 2, 79), (2, 2, 81), (4, 2, 83), (6, 2, 84)]);
    assert_eq!(plain(&arranged.bass), [(0, 8, 36)]);
    assert_eq!(plain(&arranged.harmony), [(0, 8, 60)]);
    assert_eq!(arranged.harmony[0].chord, [4, 7]);
}

#[test]
fn the_lead_keeps_to_a_melody_below_short_high_notes() {
    // A loud melody, and quieter notes above it that come and go within its notes.
    let melody =
        (0..8).map(|n| note(72 + [0, 2, 4, 5][n % 4], 4.0 * n as f64, 4.0 * n as f64 + 4.0, 110));
    let above = (0..8).map(|n| note(84, 4.0 * n as f64 + 1.0, 4.0 * n as f64 + 3.0, 60));
    let arranged = arrange(melody.chain(above).collect(), 32, SOUND);
    let keys: Vec<u8> = arranged.lead.iter().map(|note| note.key).collect();
    assert_eq!(keys, [72, 74, 76, 77, 72, 74, 76, 77]);
    assert!(arranged.lead.iter().all(|note| note.rows == 4));
    assert_eq!(arranged.harmony.len(), 8);
    // Notes that score 1, 1, 5 and 2 dB per row. Ten semitones cost less than a note that ends early, and what is left of the
    // last note is less than the cost of entering it late.
    let quiet =
        [(52, 0.0, 4.0, 45), (62, 4.0, 8.0, 12), (62, 10.0, 13.0, 21), (55, 10.0, 16.0, 37)];
    let quiet = quiet.map(|(key, from, to, velocity)| note(key, from, to, velocity));
    let arranged = arrange(quiet.to_vec(), 16, SOUND);
    assert_eq!(plain(&arranged.lead), [(0, 4, 52), (4, 4, 62), (10, 3, 62)]);
}

#[test]
fn a_low_line_alone_is_the_bass() {
    let notes = (0..8).map(|n| note(36 + n, 2.0 * f64::from(n), 2.0 * f64::from(n) + 2.0, 100));
    let arranged = arrange(notes.collect(), 16, SOUND);
    assert_eq!((arranged.lead.len(), arranged.harmony.len(), arranged.bass.len()), (0, 0, 8));
}

#[test]
fn chords_have_three_notes_and_no_octaves() {
    let others = [note(84, 0.0, 4.0, 100), note(36, 0.0, 4.0, 100)];
    for (arpeggio, chord, expected) in [
        // Dropped: the weakest of four notes, and the weaker one of two octaves.
        (Some(1), &[(60, 80), (64, 70), (67, 60), (70, 75)][..], (60, &[4, 10][..])),
        (Some(1), &[(60, 80), (64, 70), (72, 60)], (60, &[4])),
        (Some(1), &[(60, 60), (64, 70), (72, 80)], (64, &[8])),
        // Without arpeggios, only the strongest note remains.
        (None, &[(60, 70), (64, 90), (67, 80)], (64, &[])),
        (None, &[(60, 70), (64, 80), (67, 90)], (67, &[])),
    ] {
        let notes = chord.iter().map(|(key, velocity)| note(*key, 0.0, 4.0, *velocity));
        let sound = Sound { arpeggio, ..SOUND };
        let harmony = arrange(notes.chain(others).collect(), 4, sound).harmony;
        assert_eq!(plain(&harmony), [(0, 4, expected.0)]);
        assert_eq!(harmony[0].chord, expected.1);
    }
}

#[test]
fn a_chord_continues_where_none_of_its_notes_begins() {
    let frame = [note(84, 0.0, 8.0, 100), note(36, 0.0, 8.0, 100)];
    let notes = [note(60, 0.0, 8.0, 90), note(64, 2.0, 6.0, 60)];
    let alone = Sound { arpeggio: None, ..SOUND };
    let all: Vec<_> = frame.into_iter().chain(notes).collect();
    assert_eq!(plain(&arrange(all.clone(), 8, alone).harmony), [(0, 8, 60)], "the strongest");
    let harmony = arrange(all, 8, SOUND).harmony;
    assert_eq!(plain(&harmony), [(0, 2, 60), (2, 6, 60)]);
    assert_eq!([&harmony[0].chord[..], &harmony[1].chord], [&[][..], &[4]]);
}

#[test]
fn volumes_are_relative_to_the_loudest_notes() {
    // 57 dB over 126 steps of velocity: 13 steps are 5.9 dB, about half the amplitude.
    let notes = (0..40).map(|n| {
        let velocity = if n % 2 == 0 { 100 } else { 87 };
        note(72, 2.0 * f64::from(n), 2.0 * f64::from(n) + 1.0, velocity)
    });
    let volumes: Vec<u8> =
        arrange(notes.collect(), 80, SOUND).lead.iter().map(|note| note.volume).collect();
    assert_eq!(volumes, [15, 8].repeat(20));
}

#[test]
fn notes_move_to_rows_and_do_not_overlap() {
    // A few hundredths of a second early and late; the second note of the key begins while the first one sounds.
    let notes = vec![note(72, 0.2, 3.9, 90), note(74, 3.8, 6.3, 90), note(74, 6.1, 6.2, 90)];
    let arranged = arrange(notes, 16, SOUND);
    assert_eq!(plain(&arranged.lead), [(0, 4, 72), (4, 2, 74), (6, 1, 74)]);
}

#[test]
fn rows_fit_triplets_and_half_and_double_tempo() {
    let per_beat = |tempo: f64, per_beat: f64| {
        let length = 60.0 / tempo / per_beat;
        let starts = (0..64).map(|n| length * f64::from(n));
        Grid::new(Timeline::fixed(tempo), starts, 32.0).per_beat
    };
    assert_eq!(per_beat(120.0, 4.0), 4);
    assert_eq!(per_beat(120.0, 2.0), 4, "eighths lie on sixteenths");
    assert_eq!(per_beat(120.0, 3.0), 6);
    assert_eq!(per_beat(60.0, 8.0), 8, "half the tempo");
    assert_eq!(per_beat(240.0, 2.0), 2, "twice the tempo");
}

#[test]
fn similar_bars_become_equal() {
    // Three similar bars of eight notes: the second lacks one, the third has an extra one. The fourth bar differs. The last
    // bar is never compared.
    let bar = |first: usize, left_out: Option<usize>| {
        let notes = (0..8).filter(move |n| Some(*n) != left_out);
        notes.map(move |n| {
            let row = (16 * first + 2 * n) as f64;
            note(72 + [0, 4, 7, 4][n % 4], row, row + 2.0, 100)
        })
    };
    let other = (0..8).map(|n| note(79 + n, f64::from(48 + 2 * n), f64::from(50 + 2 * n), 100));
    let notes = bar(0, None).chain(bar(1, Some(3))).chain(bar(2, None)).chain(bar(4, None));
    let notes: Vec<_> = notes.chain([note(88, 33.0, 34.0, 100)]).chain(other).collect();
    let lead = arrange(notes, 80, SOUND).lead;
    let bars: Vec<Vec<_>> = (0..4)
        .map(|bar| {
            let notes = lead.iter().filter(|note| note.row / 16 == bar);
            notes.map(|note| (note.row % 16, note.rows, note.key, note.volume)).collect()
        })
        .collect();
    assert_eq!(bars[0].len(), 8);
    assert_eq!(bars[1], bars[0]);
    assert_eq!(bars[2], bars[0]);
    assert_eq!(bars[3].iter().map(|note| note.2).collect::<Vec<_>>(), (79..87).collect::<Vec<_>>());
    // Four bars are a pattern, with at most 256 rows.
    assert_eq!(patterns(&[0, 64, 128, 192], 256, &[]).len(), 1);
    assert_eq!(patterns(&[0, 64, 128, 192], 236, &[]).len(), 1, "the last bar is shorter");
    assert_eq!(patterns(&[0, 65, 130, 195], 260, &[]), [0..195, 195..260]);
}

#[test]
fn rises_of_the_noise_are_drums() {
    let pulse = ChipPulse { frequency: 440.0, amplitude: 0.3, duty: 0.25 };
    let mut ticks = vec![ChipTick { pulses: [pulse; 2], ..ChipTick::default() }; 240];
    let mut hit = |tick: usize, bass: f32, rate: u8, amplitude: f32, length: usize| {
        for (age, tick) in ticks[tick..tick + length].iter_mut().enumerate() {
            let remaining = 1.0 - age as f32 / length as f32;
            tick.noise = ChipNoise { amplitude: amplitude * remaining, rate };
            tick.bass = bass * remaining;
        }
    };
    // A hit every second beat of 0.5 s. The pulses set the maximum volume.
    hit(0, 0.4, 10, 0.3, 10);
    hit(60, 0.01, 10, 0.2, 12);
    hit(120, 0.0, 7, 0.1, 5);
    hit(180, 0.0, 10, 0.1, 40);
    let arranged = Arrangement::new(&[], 0.0, &ticks, 4.0, Timeline::fixed(120.0), SOUND);
    let hits: Vec<_> = arranged
        .drums
        .iter()
        .map(|hit| (hit.row, Drum::ALL[usize::from(hit.key)], hit.volume))
        .collect();
    let expected =
        [(0, Drum::Kick, 15), (8, Drum::Snare, 10), (16, Drum::Hat, 5), (24, Drum::Cymbal, 5)];
    assert_eq!(hits, expected);
}

#[test]
fn a_midi_file_has_a_track_for_each_part() {
    let chord = [60, 64, 67].map(|key| note(key, 0.0, 4.0, 80));
    let notes: Vec<_> =
        chord.into_iter().chain([note(79, 0.0, 4.0, 100), note(36, 0.0, 8.0, 90)]).collect();
    let mut ticks = vec![ChipTick::default(); 120];
    ticks[30].noise = ChipNoise { amplitude: 0.3, rate: 10 };
    let arranged = Arrangement::new(&notes, 0.0, &ticks, 2.0, Timeline::fixed(120.0), SOUND);
    let file = midi(&arranged, None);
    let file = Smf::parse(&file).unwrap();
    let mut found = Vec::new();
    for track in &file.tracks {
        let (mut name, mut notes, mut now) = (String::new(), Vec::new(), 0);
        for event in track {
            now += event.delta.as_int();
            match event.kind {
                TrackEventKind::Meta(MetaMessage::TrackName(text)) => {
                    name = String::from_utf8(text.to_vec()).unwrap();
                }
                TrackEventKind::Midi { channel, message: MidiMessage::NoteOn { key, .. } } => {
                    notes.push((now, channel.as_int() + 1, key.as_int()));
                }
                _ => {}
            }
        }
        found.push((name, notes));
    }
    let chords = vec![(0, 2, 60), (0, 2, 64), (0, 2, 67)];
    let expected = [
        ("Song", vec![]),
        ("Lead", vec![(0, 1, 79)]),
        ("Chords", chords),
        ("Bass", vec![(0, 3, 36)]),
        // A snare after a beat, on channel 10.
        ("Drums", vec![(480, 10, 38)]),
    ];
    assert_eq!(found, expected.map(|(name, notes)| (name.to_owned(), notes)));
}
