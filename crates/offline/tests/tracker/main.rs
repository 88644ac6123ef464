//! Songs for trackers: read back by readers that know the formats' pages only.

mod fur;
#[cfg(feature = "furnace")]
mod furnace;
#[cfg(feature = "furnace")]
mod synth;
mod text;
mod vgm;

use tone_filter_dsp::{
    Duty,
    listener::beats::{Beat, Beats},
};
use tone_filter_offline::{
    arrangement::{Arrangement, Drum, Envelope, Grid, Hit, PartNote, Sound},
    console::Tags,
    timeline::Timeline,
    tracker::{Chip, Module, famitracker, furnace as to_furnace, vgm as to_vgm},
};

fn tags() -> Tags {
    Tags { title: "Über \"uns\"".into(), author: "Me".into() }
}

fn note(row: usize, rows: usize, key: u8, chord: &[u8], volume: u8) -> PartNote {
    PartNote { row, rows, key, chord: chord.to_vec(), volume }
}

/// Returns a song of `bars` bars on `timeline`, with four rows a beat, whose melody repeats after four bars and changes after eight.
fn song(timeline: Timeline, bars: usize) -> Arrangement {
    let grid = Grid::new(timeline, std::iter::empty(), 60.0);
    assert_eq!(grid.per_beat(), 4);
    let rows = 16 * bars;
    let mut song = Arrangement {
        rows,
        grid,
        lead: Vec::new(),
        harmony: Vec::new(),
        bass: Vec::new(),
        drums: Vec::new(),
        sound: Sound {
            envelope: Envelope { attack: 3, decay: 6 },
            duty: Duty::Eighth,
            arpeggio: Some(1),
        },
    };
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
            song.drums.push(Hit { row: row + 4 * beat, drum, volume: 10 });
        }
    }
    song
}

/// Returns beats of the given lengths in seconds from the start on, in bars of four.
fn timeline(lengths: impl Iterator<Item = f64>) -> Timeline {
    let mut time = 0.0;
    let beats = lengths.enumerate().map(|(index, length)| {
        time += length;
        Beat { time: time - length, place: (index % 4) as u8, meter: 4 }
    });
    Timeline::of(&Beats { beats: beats.collect(), certainty: 1.0 }).unwrap()
}

/// Returns the rows of the song at which each order begins.
fn starts(song: &fur::Song, lengths: impl Fn(usize) -> usize) -> Vec<usize> {
    let orders = 0..song.channels[0].orders.len();
    orders.map(|order| (0..order).map(&lengths).sum()).collect()
}

/// Frequency in Hz of a note of the 2A03's first channel in Furnace: A-4 is A5, as in FamiTracker.
fn hertz(chip: Chip, channel: usize, note: u8) -> f64 {
    // The page's A-4 is note 117.
    let octaves = f64::from(i16::from(note) - 117) / 12.0;
    // The 2A03's clock is divided by 16, the Game Boy's by 32 and the SN76489's by 32 of 64, and the triangle's and the wave's once more by 2.
    let above = match (chip, channel) {
        (Chip::Nes, 2) | (Chip::Gb, 0 | 1) => 0.0,
        (Chip::Nes, _) => 1.0,
        (Chip::Gb, _) => -1.0,
        (Chip::Sms, _) => 2.0,
    };
    440.0 * (octaves + above).exp2()
}

#[test]
fn furnace_has_every_note_at_its_row() {
    let whole = song(Timeline::fixed(120.0), 32);
    for chip in Chip::ALL {
        let module = Module::new(&whole, chip, None).unwrap();
        let read = fur::read(&to_furnace(&module, &tags()));
        assert_eq!((&*read.name, &*read.author), ("Über \"uns\"", "Me"));
        let names: Vec<_> = read.channels.iter().map(|own| &*own.name).collect();
        assert_eq!(names[..4], ["Lead", "Harmony", "Bass", "Drums"]);
        assert_eq!(read.chip, [6, 4, 3][chip as usize]);
        let is_envelope = |own: &fur::Instrument| own.features.contains(&"GB".to_owned());
        assert!(read.instruments.iter().all(|own| is_envelope(own) == (chip == Chip::Gb)));
        assert_eq!((read.rows, read.highlights), (64, [4, 16]));
        assert_eq!(read.waves, usize::from(chip == Chip::Gb));
        let starts = starts(&read, |_| 64);
        let (played, seconds, target) = read.play();
        assert!((seconds - 64.0).abs() < 0.01 && target.is_none(), "{seconds}, {target:?}");
        for (channel, part) in [&whole.lead, &whole.harmony, &whole.bass].into_iter().enumerate() {
            let own: Vec<_> = played.iter().filter(|note| note.channel == channel).collect();
            assert_eq!(own.len(), part.len());
            for (own, note) in own.into_iter().zip(part) {
                assert_eq!(starts[own.place.0] + own.place.1, note.row);
                assert!((own.seconds - 0.125 * note.row as f64).abs() < 0.01);
                // A note up to the end of a pattern ends a row early.
                let end = note.row + note.rows;
                let end = 0.125 * (end - usize::from(end % 64 == 0)) as f64;
                assert!((own.end - end).abs() < 0.01, "{own:?}, {note:?}");
                // Whole octaves away only where the chip cannot play so low.
                let exact = 440.0 * (f64::from(i16::from(note.key) - 69) / 12.0).exp2();
                let octaves = (hertz(chip, channel, own.note) / exact).log2();
                let lowest = [[54.6, 27.3], [64.0, 32.0], [109.3, 109.3]][chip as usize];
                let moves = exact < lowest[usize::from(channel == 2)];
                assert!((octaves - octaves.round()).abs() < 1e-9);
                assert_eq!(octaves.round() > 0.0, moves, "{octaves} octaves, {exact} Hz");
                let volume = match (chip, channel) {
                    (Chip::Nes | Chip::Gb, 2) => None,
                    // Steps of 2 dB below 15: 15, 9, 7 and 12 are at 0, -4.4, -6.6 and -1.9 dB.
                    (Chip::Sms, _) => Some(
                        [15, 13, 12, 14]
                            [[15, 9, 7, 12].iter().position(|own| *own == note.volume).unwrap()],
                    ),
                    _ => Some(note.volume),
                };
                assert_eq!(own.volume, volume);
            }
        }
        let drums = played.iter().filter(|note| note.channel == 3);
        let names: Vec<_> =
            drums.map(|own| &*read.instruments[usize::from(own.instrument)].name).collect();
        assert_eq!(names[..4], ["Kick", "Hat", "Snare", "Cymbal"]);
        assert_eq!(names.len(), whole.drums.len());
    }
}

#[test]
fn notes_that_are_played_again_are_parted_by_a_row() {
    let mut whole = song(Timeline::fixed(120.0), 8);
    let chords = [note(0, 2, 60, &[4], 9), note(2, 2, 60, &[4], 9), note(4, 2, 60, &[5], 9)];
    whole.harmony = chords.to_vec();
    // Two equal notes of one row, another key, and a note up to the end of the pattern.
    let bass = [note(0, 1, 40, &[], 9), note(1, 4, 40, &[], 9), note(5, 3, 40, &[], 9)];
    whole.bass =
        bass.into_iter().chain([note(8, 4, 43, &[], 9), note(56, 8, 43, &[], 9)]).collect();
    let module = Module::new(&whole, Chip::Nes, None).unwrap();
    let read = fur::read(&to_furnace(&module, &tags()));
    let lengths = |channel: usize| {
        let played = read.play().0;
        let own = played.into_iter().filter(|own| own.channel == channel);
        own.map(|own| ((own.end - own.seconds) / 0.125).round() as usize).collect::<Vec<_>>()
    };
    assert_eq!(lengths(1), [1, 2, 2]);
    assert_eq!(lengths(2), [1, 3, 3, 4, 7]);
}

#[test]
fn instruments_are_macros_and_rows_are_bare() {
    let whole = song(Timeline::fixed(120.0), 8);
    let module = Module::new(&whole, Chip::Nes, None).unwrap();
    let read = fur::read(&to_furnace(&module, &tags()));
    let own = |name: &str| read.instruments.iter().find(|own| own.name == name).unwrap();
    // 15 (t + 1) / 4 for three ticks, then 15 (1 - 0.75 t / 6), halves rounded up.
    let envelope = [4, 8, 11, 15, 13, 11, 9, 8, 6, 4];
    for name in ["Lead", "Harmony", "Chord 0 4 7"] {
        assert_eq!(own(name).macros[&0].values, envelope, "{name}");
    }
    assert!(own("Bass").macros.is_empty(), "a triangle has no volume");
    assert_eq!((own("Lead").macros[&2].values[..]).to_vec(), [0], "12.5 %");
    assert_eq!((own("Harmony").macros[&2].values[..]).to_vec(), [2], "50 %");
    let arpeggio = &own("Chord 0 4 7").macros[&1];
    assert_eq!((&arpeggio.values[..], arpeggio.repeats, arpeggio.speed), (&[0, 4, 7][..], 0, 1));
    for drum in ["Kick", "Snare", "Hat", "Cymbal"] {
        let volumes = &own(drum).macros[&0].values;
        assert_eq!((volumes[0], volumes.last()), (15, Some(&0)));
        assert!(volumes.is_sorted_by(|a, b| a >= b));
    }
    let flat = Sound { envelope: Envelope { attack: 0, decay: 0 }, ..whole.sound };
    let flat = Arrangement { sound: flat, ..whole };
    let module = Module::new(&flat, Chip::Nes, None).unwrap();
    let bare = fur::read(&to_furnace(&module, &tags()));
    assert!(!bare.instruments[0].macros.contains_key(&0), "a volume that stays needs no macro");
    // A volume stands beside a note, where it changes.
    for channel in &read.channels {
        for pattern in channel.patterns.values() {
            let mut last = None;
            for row in pattern.iter().filter(|row| row.volume.is_some()) {
                assert!(row.note.is_some_and(|note| note < 180) && row.volume != last);
                last = row.volume;
            }
        }
    }
}

#[test]
fn repeated_patterns_are_one() {
    let module = Module::new(&song(Timeline::fixed(120.0), 32), Chip::Nes, None).unwrap();
    let read = fur::read(&to_furnace(&module, &tags()));
    // Two times four bars, four other ones twice, and all again.
    assert_eq!(read.channels[0].orders, [0, 0, 1, 1, 0, 0, 1, 1]);
    assert_eq!(read.channels[3].orders, [0; 8]);
    // The last pattern of the last channel stops the song.
    assert_eq!(read.channels[4].orders, [0, 0, 0, 0, 0, 0, 0, 1]);
    let patterns: usize = read.channels.iter().map(|channel| channel.patterns.len()).sum();
    assert!((module.reused() - (1.0 - patterns as f64 / 40.0)).abs() < 1e-9);
    let long = to_furnace(
        &Module::new(&song(Timeline::fixed(120.0), 90), Chip::Nes, None).unwrap(),
        &tags(),
    );
    assert!(long.len() < 60_000, "{} bytes for three minutes", long.len());
}

#[test]
fn songs_repeat_from_the_pattern_of_a_time() {
    let whole = song(Timeline::fixed(120.0), 16);
    // Four bars are 8 s.
    for (time, order) in [(0.0, 0), (7.9, 0), (8.1, 1), (31.0, 3)] {
        let module = Module::new(&whole, Chip::Gb, Some(time)).unwrap();
        assert_eq!(fur::read(&to_furnace(&module, &tags())).play().2, Some(order), "{time} s");
    }
}

#[test]
fn tempi_follow_the_beats() {
    // 100 beats per minute for 32 beats, then slower from beat to beat, from 0.5 to 0.65 s.
    let lengths =
        (0..32).map(|_| 0.6).chain((0..96).map(|beat| 0.5 + 0.15 * f64::from(beat) / 95.0));
    let map = timeline(lengths);
    let whole = song(map, 32);
    let module = Module::new(&whole, Chip::Nes, Some(20.0)).unwrap();
    let read = fur::read(&to_furnace(&module, &tags()));
    assert!(read.grooves.len() > 1 && (59.0..61.0).contains(&read.hertz));
    let (played, ..) = read.play();
    let lead = played.iter().filter(|note| note.channel == 0);
    for (own, note) in lead.zip(&whole.lead) {
        let far = own.seconds - whole.grid.seconds(note.row);
        // 2.5 ticks at a pattern's end, within it the tempo changes by 5 %: 0.12 s at most in four bars of 8 to 10 s.
        assert!(far.abs() < 0.12, "{far} s at row {}", note.row);
    }
    // A steady tempo is exact: after three minutes, too. 7.377 ticks a row.
    let steady = song(timeline((0..370).map(|_| 60.0 / 122.0)), 90);
    let module = Module::new(&steady, Chip::Nes, None).unwrap();
    let read = fur::read(&to_furnace(&module, &tags()));
    assert!(read.grooves.is_empty() && (59.7..60.3).contains(&read.hertz), "{}", read.hertz);
    let (played, ..) = read.play();
    for (own, note) in played.iter().filter(|note| note.channel == 0).zip(&steady.lead) {
        let far = own.seconds - steady.grid.seconds(note.row);
        assert!(far.abs() < 1.0 / 60.0, "{far} s at row {}", note.row);
    }
}

#[test]
fn bars_that_are_cut_short_end_their_pattern() {
    // A pickup of two beats, two bars, a bar of two beats, and four more.
    let places =
        [2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3];
    let beats = places.into_iter().enumerate();
    let beats = beats.map(|(index, place)| Beat { time: 0.5 * index as f64, place, meter: 4 });
    let map = Timeline::of(&Beats { beats: beats.collect(), certainty: 1.0 }).unwrap();
    let grid = Grid::new(map, std::iter::empty(), 14.0);
    let rows = 4 * places.len();
    assert_eq!(grid.bars(rows), [0, 8, 24, 40, 48, 64, 80, 96]);
    let lead: Vec<_> =
        (0..rows / 4).map(|beat| note(4 * beat, 2, 60 + beat as u8, &[], 9)).collect();
    let whole = Arrangement { grid, rows, lead, ..song(Timeline::fixed(120.0), 0) };
    for chip in Chip::ALL {
        let module = Module::new(&whole, chip, None).unwrap();
        let read = fur::read(&to_furnace(&module, &tags()));
        assert_eq!((read.rows, read.channels[0].orders.len()), (64, 4));
        let (played, seconds, _) = read.play();
        assert!((seconds - 14.0).abs() < 0.1, "{seconds}");
        let starts = [0, 8, 40, 48];
        let rows: Vec<_> = played.iter().map(|own| starts[own.place.0] + own.place.1).collect();
        assert_eq!(rows, (0..28).map(|beat| 4 * beat).collect::<Vec<_>>());
    }
}

#[test]
fn famitracker_has_the_same_song() {
    for repeat in [None, Some(9.0)] {
        let whole = song(Timeline::fixed(120.0), 32);
        let module = Module::new(&whole, Chip::Nes, repeat).unwrap();
        let read = text::read(&famitracker(&module, &tags()));
        assert_eq!((&*read.title, &*read.author), ("?ber \"uns\"", "Me"));
        assert_eq!((read.rows, read.orders.len()), (64, 8));
        // A row of 7.5 ticks lasts for 150 / tempo times as many as the speed.
        assert!((150.0 * read.speed[0] as f64 / read.speed[1] as f64 - 7.5).abs() < 0.02);
        let names = ["C-", "C#", "D-", "D#", "E-", "F-", "F#", "G-", "G#", "A-", "A#", "B-"];
        let own = fur::read(&to_furnace(&module, &tags()));
        for (order, patterns) in read.orders.iter().enumerate() {
            for (channel, pattern) in patterns.iter().enumerate() {
                let furnace = &own.channels[channel];
                let rows = &furnace.patterns[&furnace.orders[order]];
                for (row, cell) in rows.iter().zip(&read.patterns[*pattern]) {
                    let (note, instrument, volume, effects) = &cell[channel];
                    let expected = match (row.note, channel) {
                        (None, _) => "...".into(),
                        (Some(180), _) => "---".into(),
                        // Furnace's C0, 60, is the lowest rate; 75 the highest.
                        (Some(note), 3) => format!("{:X}-#", note - 60),
                        // Both count octaves alike: C-0 is 60.
                        (Some(note), _) => {
                            format!("{}{}", names[usize::from(note % 12)], (note - 60) / 12)
                        }
                    };
                    assert_eq!(*note, expected);
                    assert_eq!(*instrument, row.instrument.map(usize::from));
                    assert_eq!(*volume, row.volume);
                    let expected = row.effects.iter().map(|effect| match effect {
                        (0x0B, order) => format!("B{order:02X}"),
                        (0xFF, 0) => "C00".into(),
                        other => panic!("{other:?}"),
                    });
                    assert_eq!(*effects, expected.collect::<Vec<_>>());
                }
            }
        }
        for (index, instrument) in own.instruments.iter().enumerate() {
            let (places, name) = &read.instruments[index];
            assert_eq!(*name, instrument.name);
            for (kind, code) in [(0, 0), (1, 1), (4, 2)] {
                let sequence =
                    read.macros.iter().find(|own| own.0 == kind && own.1 as i32 == places[kind]);
                let own = instrument.macros.get(&code);
                assert_eq!(sequence.is_some(), own.is_some());
                if let (Some((.., repeats, values)), Some(own)) = (sequence, own) {
                    assert_eq!(
                        *values,
                        own.values.iter().map(|value| i32::from(*value)).collect::<Vec<_>>()
                    );
                    assert_eq!(*repeats, if own.repeats == 255 { -1 } else { own.repeats.into() });
                }
            }
        }
    }
}

#[test]
fn famitracker_plays_slow_arpeggios_and_changes_its_tempo() {
    let lengths = (0..64).map(|_| 0.6).chain((0..64).map(|_| 0.5));
    let mut whole = song(timeline(lengths), 32);
    whole.sound.arpeggio = Some(4);
    let module = Module::new(&whole, Chip::Nes, None).unwrap();
    let read = text::read(&famitracker(&module, &tags()));
    let arpeggio = read.macros.iter().find(|own| own.0 == 1).unwrap();
    assert_eq!(arpeggio.3, [0, 0, 0, 0, 4, 4, 4, 4, 7, 7, 7, 7]);
    // Seconds a row of each order, as the effects leave it; the importer's tempo is 150 at 60 Hz.
    let mut speed = read.speed.map(|own| own as f64);
    let mut rows = Vec::new();
    for order in &read.orders {
        for effect in &read.patterns[order[4]][0][4].3 {
            let value = f64::from(u8::from_str_radix(&effect[1..], 16).unwrap());
            assert!(effect.starts_with('F'));
            speed[usize::from(value >= 32.0)] = value;
        }
        rows.push(150.0 * speed[0] / speed[1] / 60.0);
    }
    for (order, row) in rows.iter().enumerate() {
        let exact = if order < 4 { 0.15 } else { 0.125 };
        assert!((row / exact - 1.0).abs() < 0.02, "{row} s in order {order}");
    }
}

/// Returns the key that is nearest to a frequency.
fn key(hertz: f64) -> i32 {
    (69.0 + 12.0 * (hertz / 440.0).log2()).round() as i32
}

/// Returns the volume in dB of a value of a chip's register, or minus infinity.
fn decibels(chip: Chip, volume: u8) -> f64 {
    match (chip, volume) {
        (_, 0) => f64::NEG_INFINITY,
        (Chip::Sms, _) => -2.0 * f64::from(15 - volume),
        _ => 20.0 * (f64::from(volume) / 15.0).log10(),
    }
}

#[test]
fn vgm_plays_every_note_at_its_time() {
    let whole = song(Timeline::fixed(120.0), 8);
    for chip in [Chip::Gb, Chip::Sms] {
        let module = Module::new(&whole, chip, None).unwrap();
        let file = vgm::read(&to_vgm(chip).unwrap()(&module, &tags()));
        let [game_boy, sn76489] =
            [(4_194_304, 0), (0, 3_579_545)][usize::from(chip == Chip::Sms)].into();
        assert_eq!([file.game_boy, file.sn76489], [game_boy, sn76489]);
        let system = ["Game Boy", "Sega Master System"][usize::from(chip == Chip::Sms)];
        assert_eq!(file.tags, ["Über \"uns\"", system, "Me", "Tone Filter"]);
        assert_eq!((file.samples, file.repeat), (16 * 44_100, None));
        let changes = file.changes();
        // State of a channel at a time in seconds, at which its change is due.
        let at = |channel: usize, seconds: f64| {
            let due = (seconds * vgm::RATE).round() as usize;
            let mut until =
                changes.iter().filter(|own| own.channel == channel && own.sample <= due);
            *until.next_back().unwrap()
        };
        // Rows of 0.125 s are 7.5 ticks: 7 and 8 in turn.
        let seconds = |row: usize| (15 * row / 2) as f64 / 60.0;
        let tick = |row: usize, tick: usize| seconds(row) + tick as f64 / 60.0;
        for (channel, part) in [&whole.lead, &whole.harmony, &whole.bass].into_iter().enumerate() {
            for own in part {
                let (chord, lowest) = ([&[0], &own.chord[..]].concat(), [[36, 45], [24, 45]]);
                let lowest = lowest[usize::from(channel == 2)][usize::from(chip == Chip::Sms)];
                let up = 12 * ((lowest - i32::from(own.key)).max(0) as u32).div_ceil(12) as i32;
                for (step, above) in chord.iter().enumerate() {
                    let now = at(channel, tick(own.row, step));
                    assert_eq!(key(now.hertz), i32::from(own.key + above) + up, "{own:?}, {step}");
                    // Rising by quarters, and in the bass level.
                    let rise = if channel == 2 { 1.0 } else { (step + 1) as f64 / 4.0 };
                    let exact = 20.0 * (rise * f64::from(own.volume) / 15.0).log10();
                    let far = match (chip, channel) {
                        // The wave has no volume.
                        (Chip::Gb, 2) => decibels(chip, now.volume),
                        _ => decibels(chip, now.volume) - exact,
                    };
                    // Two roundings: to whole steps of 15, and once more after their product, or twice to 2 dB.
                    assert!(far.abs() <= 6.1, "{far} dB, {own:?}, {step}");
                }
                let begins = changes.iter().any(|change| {
                    let due = (seconds(own.row) * vgm::RATE).round() as usize;
                    change.channel == channel && change.sample == due && change.starts
                });
                assert!(begins || chip == Chip::Sms);
                let end = own.row + own.rows;
                let is_cut = part.iter().any(|next| next.row == end);
                assert!(is_cut || end == whole.rows || at(channel, seconds(end)).volume == 0);
            }
        }
        for hit in &whole.drums {
            let now = at(3, seconds(hit.row));
            // Shifts a second, by the drum's brightness: a kick is the darkest, a hat the brightest.
            let shifts = match chip {
                Chip::Gb => [4_681.0, 10_923.0, 26_214.0, 18_725.0],
                _ => [1_748.0, 3_496.0, 6_991.0, 6_991.0],
            };
            assert!((now.hertz / shifts[hit.drum as usize] - 1.0).abs() < 0.01, "{hit:?}");
            assert!((decibels(chip, now.volume) - decibels(Chip::Gb, hit.volume)).abs() <= 1.1);
        }
        // A melody of 12.5 %, chords of 50 %: the SN76489 has squares alone.
        let duties = if chip == Chip::Gb { [0.125, 0.5] } else { [0.5; 2] };
        assert_eq!([0, 1].map(|channel| at(channel, 0.1).duty), duties);
        assert!((0..4).all(|channel| at(channel, 16.0).volume == 0), "the end is silent");
    }
    assert!(to_vgm(Chip::Nes).is_none());
}

#[test]
fn vgm_follows_the_tempo_and_goes_back_to_a_pattern() {
    let lengths = (0..64).map(|_| 0.6).chain((0..64).map(|_| 0.5));
    let whole = song(timeline(lengths), 32);
    for chip in [Chip::Gb, Chip::Sms] {
        let module = Module::new(&whole, chip, Some(40.0)).unwrap();
        let file = vgm::read(&to_vgm(chip).unwrap()(&module, &tags()));
        // The fourth pattern of four bars of 2.4 s, and the tempo changes with the fifth one.
        let (start, samples) = file.repeat.unwrap();
        assert!((start as f64 / vgm::RATE - 38.4).abs() < 0.05, "{start}");
        assert!((samples as f64 / vgm::RATE - 32.0).abs() < 0.1, "{samples}");
        let changes = file.changes();
        for own in &whole.lead {
            let due = whole.grid.seconds(own.row) * vgm::RATE;
            let near = |change: &&vgm::Change| {
                change.channel == 0
                    && change.volume > 0
                    && (change.sample as f64 - due).abs() < 0.06 * vgm::RATE
            };
            assert!(changes.iter().any(|change| near(&change)), "{own:?}");
        }
        // Whoever comes from the end finds all registers written: each channel is as the first time.
        let here = changes.iter().filter(|change| change.sample == start);
        let channels: Vec<usize> = here.map(|change| change.channel).collect();
        assert_eq!(channels, [0, 1, 2, 3]);
    }
}

#[test]
fn songs_beyond_a_trackers_limits_are_shortened_or_refused() {
    // 129 patterns of four bars.
    assert!(Module::new(&song(Timeline::fixed(120.0), 4 * 128), Chip::Nes, None).is_some());
    assert!(Module::new(&song(Timeline::fixed(120.0), 4 * 128 + 1), Chip::Nes, None).is_none());
    // More different chords than FamiTracker has instruments: the rarer ones lose their highest note.
    let mut many = song(Timeline::fixed(120.0), 16);
    many.harmony =
        (0..80).map(|n| note(2 * n, 2, 50, &[1 + n as u8 % 2, 3 + n as u8], 9)).collect();
    let common = (0..60).map(|n| note(160 + n, 1, 50, &[1], 9));
    many.harmony.extend(common);
    let module = Module::new(&many, Chip::Nes, None).unwrap();
    let read = text::read(&famitracker(&module, &tags()));
    let chords = read.instruments.iter().filter(|own| own.1.starts_with("Chord"));
    assert_eq!(chords.count(), 48);
    let own = fur::read(&to_furnace(&module, &tags()));
    let played = own.play().0;
    assert_eq!(played.iter().filter(|own| own.channel == 1).count(), 140, "no note is lost");
}

#[test]
fn silence_is_a_song_of_empty_rows() {
    let silent = Arrangement::new(
        &[],
        0.0,
        &[],
        0.0,
        Timeline::fixed(120.0),
        song(Timeline::fixed(120.0), 0).sound,
    );
    for chip in Chip::ALL {
        let module = Module::new(&silent, chip, None).unwrap();
        let read = fur::read(&to_furnace(&module, &Tags::default()));
        assert!(read.play().0.is_empty());
        assert_eq!(read.instruments.len(), 0);
    }
    let module = Module::new(&silent, Chip::Nes, None).unwrap();
    assert_eq!(text::read(&famitracker(&module, &Tags::default())).orders.len(), 1);
}
