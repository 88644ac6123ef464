//! Tests modules against their arrangements, tick by tick, and files of each format.

mod files;
#[cfg(feature = "furnace")]
mod furnace;

use super::{
    player::{Playing, play},
    *,
};
use crate::{arrangement::Grid, timeline::Timeline};
use tone_filter_dsp::listener::beats::{Beat, Beats};

fn tags() -> Tags {
    Tags { title: "Über \"uns\"".into(), author: "Me".into() }
}

fn note(row: usize, rows: usize, key: u8, chord: &[u8], volume: u8) -> PartNote {
    PartNote { row, rows, key, chord: chord.to_vec(), volume }
}

/// Returns a song of `bars` bars with four rows per beat. The melody repeats after four bars and changes after eight.
fn song(timeline: Timeline, bars: usize) -> Arrangement {
    let grid = Grid::new(timeline, std::iter::empty(), 60.0);
    assert_eq!(grid.per_beat, 4);
    let (lead, harmony, bass, drums) = Default::default();
    let sound = Sound { attack: 3, decay: 6, duty: Duty::Eighth, arpeggio: Some(1) };
    let mut song = Arrangement { rows: 16 * bars, grid, lead, harmony, bass, drums, sound };
    for bar in 0..bars {
        let row = 16 * bar;
        let up = [0, 2, 4, 5][bar % 4] + if bar % 16 < 8 { 0 } else { 7 };
        song.lead.push(note(row, 3, 72 + up, &[], 15));
        song.lead.push(note(row + 4, 4, 76 + up, &[], 15));
        song.lead.push(note(row + 8, 6, 79 + up, &[], 9));
        song.harmony.push(note(row, 8, 60 + up, &[4, 7], 7));
        song.harmony.push(note(row + 8, 7, 62 + up, &[], 7));
        song.bass.push(note(row, 8, 24 + up, &[], 12));
        song.bass.push(note(row + 8, 8, 43, &[], 12));
        for (beat, drum) in
            [Drum::Kick, Drum::Hat, Drum::Snare, Drum::Cymbal].into_iter().enumerate()
        {
            song.drums.push(note(row + 4 * beat, 1, drum as u8, &[], 10));
        }
    }
    song
}

fn steady(bars: usize) -> Arrangement {
    song(Timeline::fixed(120.0), bars)
}

/// Returns the timeline of beats. Each has a length in seconds and a position in a bar of four.
fn timeline(beats: impl Iterator<Item = (f64, usize)>) -> Timeline {
    let mut time = 0.0;
    let beats = beats.map(|(length, place)| {
        time += length;
        Beat { time: time - length, place: (place % 4) as u8, meter: 4 }
    });
    Timeline::of(&Beats { beats: beats.collect(), certainty: 1.0 }).unwrap()
}

fn module(song: &Arrangement, chip: Chip) -> Module {
    Module::new(song, chip, None).unwrap()
}

/// Returns the notes of a channel: the first tick, and the states until silence or the next note.
fn notes(module: &Module, channel: usize) -> Vec<(usize, Vec<Playing>)> {
    let mut notes: Vec<(usize, Vec<Playing>)> = Vec::new();
    for (tick, channels) in play(module).ticks.iter().enumerate() {
        let now = channels[channel];
        match notes.last_mut() {
            _ if now.starts => notes.push((tick, vec![now])),
            Some((start, ticks)) if now.volume > 0 && *start + ticks.len() == tick => {
                ticks.push(now);
            }
            _ => {}
        }
    }
    notes
}

#[test]
fn a_song_has_the_voice_chip_and_arpeggios() {
    let voice = tone_filter_dsp::Voice::Saw;
    let sound = Settings { voice, voices: 5.0, lookahead: false, ..Settings::default() };
    assert!(sound.focus > 0.0 && sound.arp == Arp::Off);
    let chip = Settings { voice: tone_filter_dsp::Voice::Chip, lookahead: true, ..sound };
    assert_eq!(console::settings(sound), chip);
    assert_eq!(super::settings(sound), Settings { arp: Arp::Fast, ..chip });
    let up = Settings { arp: Arp::Up, ..sound };
    assert_eq!(super::settings(up), Settings { arp: Arp::Up, ..chip });
    let live = Settings { focus: 0.0, lookahead: true, ..sound };
    assert!(!super::settings(live).lookahead && !console::settings(live).lookahead);
}

#[test]
fn every_note_sounds_at_its_row() {
    let whole = steady(32);
    // Rows of 0.125 s have 7.5 ticks: alternately 7 and 8.
    let tick = |row: usize| 15 * row / 2;
    // 15 (t + 1) / 4 for three ticks, then 15 (1 - 0.75 t / 6), halves rounded up.
    let envelope = [4, 8, 11, 15, 13, 11, 9, 8, 6, 4];
    for chip in Chip::ALL {
        let module = module(&whole, chip);
        assert_eq!((module.rows, module.beat, module.bar), (64, 4, 16));
        assert_eq!((play(&module).ticks.len(), play(&module).repeat), (tick(whole.rows), None));
        assert!((module.hertz - 60.0).abs() < 1e-9, "{}", module.hertz);
        for (channel, part) in [&whole.lead, &whole.harmony, &whole.bass].into_iter().enumerate() {
            let played = notes(&module, channel);
            assert_eq!(played.len(), part.len());
            for ((start, ticks), note) in played.iter().zip(part) {
                // Notes that reach the end of a pattern end a row early.
                let end = note.row + note.rows;
                let end = tick(end - usize::from(end % 64 == 0));
                assert_eq!((*start, start + ticks.len()), (tick(note.row), end), "{note:?}");
                // Octaves higher only where the chip cannot play so low.
                let lowest: u8 = [[33, 21], [36, 24], [45; 2]][chip as usize][channel / 2];
                let key = note.key + 12 * lowest.saturating_sub(note.key).div_ceil(12);
                let chord = [&[0], &note.chord[..]].concat();
                for (age, now) in ticks.iter().enumerate() {
                    assert_eq!(now.key, key + chord[age % chord.len()], "{note:?}, {age}");
                    let volume = match (chip, channel) {
                        (Chip::Nes | Chip::Gb, 2) => 15,
                        (_, 2) => chip.register(note.volume),
                        _ => chip.mix(note.volume, chip.register(envelope[age.min(9)])),
                    };
                    assert_eq!(now.volume, volume, "{note:?}, {age}");
                }
            }
        }
        let drums = notes(&module, 3);
        assert_eq!(drums.len(), whole.drums.len());
        for ((start, ticks), hit) in drums.iter().zip(&whole.drums) {
            assert_eq!((*start, ticks[0].key), (tick(hit.row), hit.key));
            assert_eq!(ticks[0].volume, chip.register(hit.volume));
            assert!(ticks.is_sorted_by(|a, b| a.volume >= b.volume));
        }
    }
    // In steps of 2 dB. The product of two amplitudes is the sum of their attenuations.
    let registers = (0..=15).map(|volume| Chip::Sms.register(volume)).collect::<Vec<_>>();
    assert_eq!(registers, [0, 3, 6, 8, 9, 10, 11, 12, 12, 13, 13, 14, 14, 14, 15, 15]);
    assert_eq!([Chip::Sms.mix(9, 12), Chip::Sms.mix(9, 1), Chip::Gb.mix(9, 12)], [10, 0, 7]);
}

#[test]
fn repeated_notes_are_separated_by_a_row() {
    let mut whole = steady(8);
    let chords = [note(0, 2, 60, &[4], 9), note(2, 2, 60, &[4], 9), note(4, 2, 60, &[5], 9)];
    whole.harmony = chords.to_vec();
    // Repeated notes of one key, another key, and a note that reaches the end of the pattern.
    let bass = [note(0, 1, 40, &[], 9), note(1, 4, 40, &[], 9), note(5, 3, 40, &[], 9)];
    whole.bass =
        bass.into_iter().chain([note(8, 4, 43, &[], 9), note(56, 8, 43, &[], 9)]).collect();
    let module = module(&whole, Chip::Nes);
    let lengths = |channel: usize| {
        let lengths = notes(&module, channel).into_iter().map(|(_, ticks)| ticks.len());
        lengths.map(|ticks| (ticks as f64 / 7.5).round() as usize).collect::<Vec<_>>()
    };
    assert_eq!(lengths(1), [1, 2, 2]);
    assert_eq!(lengths(2), [1, 3, 3, 4, 7]);
}

#[test]
fn instruments_have_their_names_and_duties() {
    let whole = steady(8);
    let named = |module: &Module, name: &str| {
        module.instruments.iter().find(|instrument| instrument.name == name).unwrap().clone()
    };
    let nes = module(&whole, Chip::Nes);
    let duties = ["Lead", "Harmony", "Chord 0 4 7"].map(|name| named(&nes, name).duty);
    assert_eq!(duties, [0, 2, 2], "12.5 % and 50 %");
    assert!(named(&nes, "Bass").volumes.is_empty(), "a triangle has no volume");
    for drum in ["Kick", "Snare", "Hat", "Cymbal"] {
        let volumes = named(&nes, drum).volumes;
        assert_eq!((volumes[0], volumes.last()), (15, Some(&0)));
    }
    let flat = Sound { attack: 0, decay: 0, ..whole.sound };
    let flat = module(&Arrangement { sound: flat, ..whole }, Chip::Nes);
    assert!(named(&flat, "Lead").volumes.is_empty(), "the volume stays");
    // A volume stands beside a note, where it changes.
    for cells in nes.channels.iter().flat_map(|channel| &channel.patterns) {
        let volumes: Vec<_> = cells.iter().filter(|cell| cell.volume.is_some()).collect();
        assert!(volumes.iter().all(|cell| matches!(cell.play, Some(Play::On(..)))));
        assert!(volumes.windows(2).all(|pair| pair[0].volume != pair[1].volume));
    }
}

#[test]
fn repeated_patterns_are_one() {
    let module = module(&steady(32), Chip::Nes);
    // The first four bars twice, four others twice, and all again. In the last channel, the last pattern stops the song.
    let orders = [0, 3, 4].map(|channel| &module.channels[channel].orders[..]);
    assert_eq!(orders, [[0, 0, 1, 1, 0, 0, 1, 1], [0; 8], [0, 0, 0, 0, 0, 0, 0, 1]]);
    let long = furnace(&self::module(&steady(90), Chip::Nes), &tags());
    assert!(long.len() < 60_000, "{} bytes for three minutes", long.len());
}

#[test]
fn songs_repeat_from_the_pattern_of_a_time() {
    let whole = steady(16);
    // Four bars are 8 s.
    for (time, order) in [(0.0, 0), (7.9, 0), (8.1, 1), (31.0, 3)] {
        let module = Module::new(&whole, Chip::Gb, Some(time)).unwrap();
        assert_eq!(play(&module).repeat, Some(480 * order), "{time} s");
    }
    // A note of one row at the end is silent when the song repeats.
    let mut short = song(Timeline::fixed(120.0), 4);
    short.lead = vec![note(63, 1, 72, &[], 15)];
    let module = Module::new(&short, Chip::Gb, Some(0.0)).unwrap();
    assert_eq!(module.channels[0].patterns[0][0].play, Some(Play::Off));
}

#[test]
fn tempi_follow_the_beats() {
    // 100 beats per minute for 32 beats, then slower from beat to beat, from 0.5 to 0.65 s.
    let lengths =
        (0..32).map(|_| 0.6).chain((0..96).map(|beat| 0.5 + 0.15 * f64::from(beat) / 95.0));
    // A constant tempo stays exact for three minutes, at 7.377 ticks per row.
    let steady = (0..370).map(|_| 60.0 / 122.0);
    for (whole, changes, limit) in [
        // At most 2.5 ticks at a pattern's end. Within a pattern of 8 to 10 s, the tempo changes by 5 %: at most 0.12 s.
        (song(timeline(lengths.zip(0..)), 32), true, 0.12),
        (song(timeline([[0.6; 64], [0.5; 64]].concat().into_iter().zip(0..)), 32), true, 0.06),
        (song(timeline(steady.zip(0..)), 90), false, 1.0 / 60.0),
    ] {
        let module = module(&whole, Chip::Nes);
        assert!((59.0..61.0).contains(&module.hertz), "{}", module.hertz);
        assert_eq!(module.tempi.len() > 1, changes);
        for ((start, _), note) in notes(&module, 0).iter().zip(&whole.lead) {
            let far = *start as f64 / module.hertz - whole.grid.seconds(note.row);
            assert!(far.abs() < limit, "{far} s at row {}", note.row);
        }
    }
}

#[test]
fn shortened_bars_end_their_pattern() {
    // A note on each beat of a pickup of two beats, two bars, a bar of two beats, and four bars.
    let places = [2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1].into_iter().chain(0..16);
    let map = timeline(places.map(|place| (0.5, place)));
    let grid = Grid::new(map, std::iter::empty(), 14.0);
    let lead = (0..28).map(|beat| note(4 * beat, 2, 60 + beat as u8, &[], 9)).collect();
    let whole = Arrangement { grid, rows: 4 * 28, lead, ..steady(0) };
    assert_eq!(whole.grid.bars(whole.rows), [0, 8, 24, 40, 48, 64, 80, 96]);
    for chip in Chip::ALL {
        let module = module(&whole, chip);
        assert_eq!((module.rows, module.channels[0].orders.len()), (64, 4));
        let seconds = |ticks: usize| ticks as f64 / module.hertz;
        assert!((seconds(play(&module).ticks.len()) - 14.0).abs() < 0.1);
        let starts = notes(&module, 0).into_iter().map(|(start, _)| seconds(start));
        let beats: Vec<_> = starts.map(|start| (2.0 * start).round() as usize).collect();
        assert_eq!(beats, (0..28).collect::<Vec<_>>());
    }
}

#[test]
fn songs_beyond_the_limits_lose_notes_of_chords_or_are_refused() {
    // 129 patterns of four bars.
    assert!(Module::new(&steady(4 * 128), Chip::Nes, None).is_some());
    assert!(Module::new(&steady(4 * 128 + 1), Chip::Nes, None).is_none());
    // More chords than FamiTracker has instruments: the rarer ones lose their highest note.
    let mut many = steady(16);
    many.harmony =
        (0..80).map(|n| note(2 * n, 2, 50, &[1 + n as u8 % 2, 3 + n as u8], 9)).collect();
    many.harmony.extend((0..60).map(|n| note(160 + n, 1, 50, &[1], 9)));
    let module = module(&many, Chip::Nes);
    let chords =
        module.instruments.iter().filter(|instrument| instrument.name.starts_with("Chord"));
    assert_eq!((chords.count(), notes(&module, 1).len()), (48, 140), "no note is lost");
}

#[test]
fn silence_is_a_song_of_empty_rows() {
    let timeline = Timeline::fixed(120.0);
    let silent = Arrangement::new(&[], 0.0, &[], 0.0, timeline, steady(0).sound);
    for chip in Chip::ALL {
        let module = module(&silent, chip);
        assert!(module.instruments.is_empty() && (0..4).all(|n| notes(&module, n).is_empty()));
        assert_eq!(module.channels[0].orders, [0]);
    }
}
