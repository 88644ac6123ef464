//! Tests the writers with a small song, whose files were written by hand from the pages of the formats.

use super::*;
use flate2::read::ZlibDecoder;
use std::io::Read;

/// Returns a song of two patterns, in which every kind of cell occurs. `end` is its last effect.
fn small(chip: Chip, end: Effect) -> Module {
    let instrument = |name: &str, voice, volumes: &[u8], duty, arpeggio: &[u8], speed| Instrument {
        name: name.into(),
        voice,
        volumes: volumes.to_vec(),
        duty,
        arpeggio: arpeggio.to_vec(),
        speed,
    };
    let empty = Cell::default;
    let off = || Cell { play: Some(Play::Off), ..empty() };
    let on = |key, instrument, volume, effects: &[Effect]| Cell {
        play: Some(Play::On(key, instrument)),
        volume,
        effects: effects.to_vec(),
    };
    let next = Cell { effects: vec![Effect::Next], ..empty() };
    let mut channels = vec![
        (Voice::Lead, [on(69, 0, Some(9), &[]), empty(), off(), empty()], on(72, 0, Some(15), &[])),
        (Voice::Harmony, [on(60, 1, Some(7), &[]), empty(), off(), empty()], empty()),
        (Voice::Bass, [on(48, 2, None, &[]), empty(), empty(), off()], empty()),
        (
            Voice::Noise,
            [
                on(1, 3, Some(10), &[Effect::Tempo(1)]),
                on(2, 3, None, &[]),
                on(3, 3, None, &[]),
                next,
            ],
            on(0, 3, None, &[Effect::Tempo(0), end]),
        ),
    ];
    if chip == Chip::Nes {
        channels.push((Voice::Samples, [(); 4].map(|()| empty()), empty()));
    }
    let channel = |(voice, first, second)| {
        Channel::new(voice, vec![Vec::from(first), vec![second, empty(), empty(), empty()]])
    };
    Module {
        chip,
        beat: 2,
        bar: 4,
        rows: 4,
        hertz: 60.0,
        // A tick per row, and one and a half.
        tempi: vec![16, 24],
        instruments: vec![
            instrument("Lead", Voice::Lead, &[5, 15], 1, &[], 1),
            instrument("Chord 0 4", Voice::Harmony, &[], 2, &[0, 4], 2),
            instrument("Bass", Voice::Bass, &[], 2, &[], 1),
            instrument("Drum", Voice::Noise, &[15, 0], 0, &[], 1),
        ],
        channels: channels.into_iter().map(channel).collect(),
    }
}

/// File of [`small`] for FamiTracker 0.4.6. `END` stands for the last effect.
const TEXT: &str = r##"# FamiTracker text export 0.4.2

# Song information
TITLE           "?ber ""uns"""
AUTHOR          "Me"
COPYRIGHT       ""

# Song comment
COMMENT "Made by Tone Filter"

# Global settings
MACHINE         0
FRAMERATE       0
EXPANSION       0
VIBRATO         1
SPLIT           32

# Macros
MACRO       0   0  -1  -1   0 : 5 15
MACRO       0   1  -1  -1   0 : 15 0
MACRO       1   0   0  -1   0 : 0 0 4 4
MACRO       4   0  -1  -1   0 : 1
MACRO       4   1  -1  -1   0 : 2

# DPCM samples

# Instruments
INST2A03   0     0  -1  -1  -1   0 "Lead"
INST2A03   1    -1   0  -1  -1   1 "Chord 0 4"
INST2A03   2    -1  -1  -1  -1  -1 "Bass"
INST2A03   3     1  -1  -1  -1  -1 "Drum"

# Tracks

TRACK   4   1 150 ""
COLUMNS : 1 1 1 3 1

ORDER 00 : 00 00 00 00 00
ORDER 01 : 01 01 01 01 00

PATTERN 00
ROW 00 : A-3 00 9 ... : C-3 01 7 ... : C-3 02 . ... : 8-# 03 A F01 F64 ... : ... .. . ...
ROW 01 : ... .. . ... : ... .. . ... : ... .. . ... : B-# 03 . ... ... ... : ... .. . ...
ROW 02 : --- .. . ... : --- .. . ... : ... .. . ... : A-# 03 . ... ... ... : ... .. . ...
ROW 03 : ... .. . ... : ... .. . ... : --- .. . ... : ... .. . D00 ... ... : ... .. . ...

PATTERN 01
ROW 00 : C-4 00 F ... : ... .. . ... : ... .. . ... : 5-# 03 . F01 F96 END : ... .. . ...
ROW 01 : ... .. . ... : ... .. . ... : ... .. . ... : ... .. . ... ... ... : ... .. . ...
ROW 02 : ... .. . ... : ... .. . ... : ... .. . ... : ... .. . ... ... ... : ... .. . ...
ROW 03 : ... .. . ... : ... .. . ... : ... .. . ... : ... .. . ... ... ... : ... .. . ...

# End of export
"##;

#[test]
fn famitracker_files_have_the_module() {
    for (end, written) in [(Effect::Stop, "C00"), (Effect::Jump(1), "B01")] {
        let expected = TEXT.replace('\n', "\r\n").replace("END", written);
        assert_eq!(famitracker(&small(Chip::Nes, end), &tags()), expected);
    }
    let mut song = small(Chip::Nes, Effect::Stop);
    for ticks in 16..=496 {
        song.tempi[0] = ticks;
        let text = famitracker(&song, &tags());
        let track = text.lines().find_map(|line| line.strip_prefix("TRACK   4")).unwrap();
        let numbers: Vec<u8> = track.split(' ').filter_map(|number| number.parse().ok()).collect();
        // Lower tempi count as speeds.
        assert!((1..32).contains(&numbers[0]) && numbers[1] >= 32);
        let row = 150.0 * f64::from(numbers[0]) / f64::from(numbers[1]);
        assert!((16.0 * row / f64::from(ticks) - 1.0).abs() < 0.02, "{ticks}: {row} ticks per row");
    }
}

/// Returns the unpacked file of [`small`], by Furnace's `papers/format.md` and `papers/newIns.md`. `end` is the code of the last
/// effect.
fn furnace_file(chip: Chip, end: [u8; 2]) -> Vec<u8> {
    let (nes, gb, sms) = (chip == Chip::Nes, chip == Chip::Gb, chip == Chip::Sms);
    let choice = |values: [u8; 3]| values[chip as usize];
    let only = |is_written: bool, bytes: &[u8]| if is_written { bytes.to_vec() } else { vec![] };
    let block = |id: &[u8], content: &[&[u8]]| {
        let content = content.concat();
        [id, &(content.len() as u32).to_le_bytes(), &content].concat()
    };
    let feature = |id: &[u8], content: &[u8]| [id, &[content.len() as u8, 0], content].concat();
    // Macros: kind, length, loop, release point, mode, type, delay, speed, values.
    let volumes = |values: &[u8]| [&[0, values.len() as u8, 255, 255, 0, 0, 0, 1], values].concat();
    let duty = |duty: u8| [2, 1, 255, 255, 0, 0, 0, 1, duty];
    let instrument = |name: &[u8], macros: [&[u8]; 2]| {
        let name = feature(b"NA", name);
        let macros = feature(b"MA", &[&[8, 0], macros[0], macros[1], &[255]].concat());
        let envelope = only(gb, b"GB\x04\0\x0F\x40\x01\0");
        let head = [201, 0, choice([34, 2, 0]), 0];
        block(b"INS2", &[&head, &name, &macros, &envelope, b"EN\0\0"])
    };
    let flat = only(gb, &volumes(&[15]));
    let chord = [&flat[..], &[1, 2, 0, 255, 0, 0, 0, 2, 0, 4]].concat();
    let instruments = vec![
        instrument(b"Lead\0", [&volumes(&[5, 15]), &only(!sms, &duty(1))]),
        instrument(b"Chord 0 4\0", [&chord, &only(!sms, &duty(2))]),
        instrument(b"Bass\0", [&flat, &[]]),
        // White noise.
        instrument(b"Drum\0", [&volumes(&[15, 0]), &only(sms, &duty(1))]),
    ];
    let steps = (0..16).chain((0..16).rev()).flat_map(u32::to_le_bytes).collect::<Vec<_>>();
    let wave = block(b"WAVE", &[b"Triangle\0\x20\0\0\0\0\0\0\0\x0F\0\0\0", &steps]);
    let waves = if gb { vec![wave] } else { Vec::new() };
    let folders = vec![block(b"ADIR", &[&[0; 4]]); 3];
    let pattern = |channel: u8, number: u8, rows: &[&[u8]]| {
        block(b"PATN", &[&[0, channel, number, 0, 0], &rows.concat(), &[255]])
    };
    // Bits of a row: note 1, instrument 2, volume 4, an effect with its value 0x18, 0x20 for more effects.
    let off = [1, 180];
    let mut patterns = vec![
        pattern(0, 0, &[&[7, choice([105, 117, 93]), 0, choice([9, 9, 13])], &[0], &off]),
        pattern(0, 1, &[&[7, choice([108, 120, 96]), 0, 15]]),
        pattern(1, 0, &[&[7, choice([96, 108, 84]), 1, choice([7, 7, 12])], &[0], &off]),
        pattern(1, 1, &[]),
        pattern(2, 0, &[&[3, choice([96, 108, 72]), 2], &[0x80], &off]),
        pattern(2, 1, &[]),
        pattern(
            3,
            0,
            &[
                &[0x1F, choice([68, 114, 61]), 3, choice([10, 10, 13]), 9, 1],
                &[3, choice([71, 119, 62]), 3],
                &[3, choice([70, 117, 62]), 3],
                &[0x18, 0x0D, 0],
            ],
        ),
        pattern(3, 1, &[&[0x23, 0x0F, choice([65, 109, 60]), 3, 9, 0, end[0], end[1]]]),
    ];
    patterns.extend(nes.then(|| pattern(4, 0, &[])));
    let groups = [instruments, waves, folders, patterns];
    let information = |places: &[Vec<u8>]| {
        let counts = groups.each_ref().map(|group| group.len() as u8);
        let channels = if nes { 5 } else { 4 };
        // Number of entries, and 16 lengths of rows.
        let [first, second] = [(1, [1, 0]), (2, [1, 2])]
            .map(|(length, rows)| [&[length][..], &rows, &[0; 14]].concat());
        let grooves = if sms { vec![0] } else { [&[2][..], &first, &second].concat() };
        let parts: [&[u8]; 27] = [
            // Time base, speeds, arpeggio time, ticks per second.
            &[0, 1, 1, 1],
            &60f32.to_le_bytes(),
            // Rows, orders, highlights.
            &[4, 0, 2, 0, 2, 4],
            // Numbers of instruments, waves, samples and patterns.
            &[counts[0], 0, counts[1], 0, 0, 0, counts[3], 0, 0, 0],
            &[choice([6, 4, 3])],
            &[0; 31 + 32 + 32 + 128],
            "Über \"uns\"\0Me\0".as_bytes(),
            &440f32.to_le_bytes(),
            &[0, 2, 2, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1],
            &[&places[0][..], &places[1], &places[3]].concat(),
            &[&[0, 1].repeat(4)[..], &only(nes, &[0, 0])].concat(),
            // Effect columns; all channels are shown, none is collapsed.
            &[1, 1, 1, 2, 1][..channels],
            &[3; 5][..channels],
            &[0; 5][..channels],
            b"Lead\0Harmony\0Bass\0Drums\0",
            &only(nes, b"Samples\0"),
            b"LD\0HM\0BS\0DR\0",
            &only(nes, b"SM\0"),
            b"Made by Tone Filter\0",
            &1f32.to_le_bytes(),
            &[0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1, 4, 0, 0, 1, 1, 0, 0, 0, 0, 2, 0, 1, 0, 0, 0],
            // Virtual tempo; name and comment of the song, number of further songs.
            &[150, 0, 150, 0, 0, 0, 0, 0, 0, 0],
            [&b"NES\0"[..], b"Game Boy\0", b"Sega Master System\0"][chip as usize],
            // Five empty texts; volume, panning and balance; automatic connections, last flags.
            &[0; 5],
            &[0, 0, 0x80, 0x3F, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
            &[first, grooves].concat(),
            &places[2],
        ];
        block(b"INFO", &parts)
    };
    let mut at = 32 + information(&groups.each_ref().map(|group| vec![0; 4 * group.len()])).len();
    let mut place = |block: &Vec<u8>| {
        at += block.len();
        ((at - block.len()) as u32).to_le_bytes()
    };
    let places = groups.each_ref().map(|group| group.iter().flat_map(&mut place).collect());
    let head = b"-Furnace module-\xC9\0\0\0\x20\0\0\0\0\0\0\0\0\0\0\0";
    [&head[..], &information(&places), &groups.concat().concat()].concat()
}

#[test]
fn furnace_files_have_the_module() {
    for chip in Chip::ALL {
        for (end, code) in [(Effect::Stop, [0xFF, 0]), (Effect::Jump(1), [0x0B, 1])] {
            let mut song = small(chip, end);
            // A single tempo needs no list of grooves.
            song.tempi.truncate(if chip == Chip::Sms { 1 } else { 2 });
            let packed = furnace(&song, &tags());
            let (mut reader, mut file) = (ZlibDecoder::new(&packed[..]), Vec::new());
            reader.read_to_end(&mut file).unwrap();
            assert_eq!(reader.total_in(), packed.len() as u64, "bytes behind the compressed ones");
            assert_eq!(file, furnace_file(chip, code), "{chip:?}, {end:?}");
        }
    }
    // 131 empty rows are skipped in two steps.
    let mut song = small(Chip::Nes, Effect::Stop);
    let stop = Cell { effects: vec![Effect::Stop], ..Cell::default() };
    song.channels[4].patterns[0] = [vec![Cell::default(); 131], vec![stop]].concat();
    let mut file = Vec::new();
    ZlibDecoder::new(&furnace(&song, &tags())[..]).read_to_end(&mut file).unwrap();
    let expected = b"PATN\x0B\0\0\0\0\x04\0\0\0\xFE\x81\x18\xFF\0\xFF";
    assert!(file.windows(expected.len()).any(|bytes| bytes == expected));
}

#[test]
fn vgm_files_have_the_registers_of_each_tick() {
    // Writes at the ticks 0 to 4. The rows of the first pattern have 1, 2, 1 and 2 ticks.
    let game_boy: [&[u8]; 5] = [
        // Sound on, all channels on both sides; the wave is a triangle. Periods of A4 and C4 on pulses: 2048 - 131072 / f, 1750
        // and 1547. Of C3 on the wave: 2048 - 65536 / f, 1547. Volumes are the product of row and envelope: 9 * 5 / 15, 7, on, 10.
        // The noise shifts at 262144 / 6 / 2^2 Hz.
        b"\x16\x80\x14\x77\x15\xFF\x20\x01\x21\x23\x22\x45\x23\x67\x24\x89\x25\xAB\x26\xCD\x27\xEF\
          \x28\xFE\x29\xDC\x2A\xBA\x2B\x98\x2C\x76\x2D\x54\x2E\x32\x2F\x10\
          \x00\x00\x01\x40\x02\x38\x03\xD6\x04\x86\x06\x80\x07\x78\x08\x0B\x09\x86\
          \x0A\x00\x0A\x80\x0C\x20\x0D\x0B\x0E\x86\x10\x00\x11\xA8\x12\x26\x13\x80",
        // The lead's volume is 9.
        b"\x02\x98\x04\x86\x12\x15\x13\x80",
        // The arpeggio's E4 has the period 1650.
        b"\x08\x72\x09\x06\x11\x08\x13\x80",
        b"\x02\x08\x04\x86\x07\x08\x09\x86\x11\xA8\x12\x17\x13\x80",
        b"\x0C\x00\x11\x08\x13\x80",
    ];
    // At tick 6, the second pattern begins with C5, whose period is 1798. Then all is silent; or the song repeats from this tick,
    // which has all registers.
    let game_boy_ends: [[&[u8]; 2]; 2] = [
        [b"\x02\x58\x03\x06\x04\x87\x11\xA8\x12\x37\x13\x80", b"\x02\x08\x04\x87\x11\x08\x13\x80"],
        [
            b"\x00\x00\x01\x40\x02\x58\x03\x06\x04\x87\x06\x80\x07\x08\x08\x72\x09\x86\
              \x0C\x00\x0D\x0B\x0E\x06\x10\x00\x11\xA8\x12\x37\x13\x80",
            b"",
        ],
    ];
    let master_system: [&[u8]; 5] = [
        // Periods of A4, C4 and C3: 3579545 / 32 / f, 254, 428 and 855. Attenuations in steps of 2 dB: the sum of 2, 3, 0 and 2
        // in the rows, and of 10, 0, 0 and 0 in the envelopes.
        b"\x8E\x0F\x9C\xAC\x1A\xB3\xC7\x35\xD0\xE5\xF2",
        b"\x92\xE4",
        // E4 has the period 339. The silent noise gets the rate of the next hit.
        b"\xA3\x15\xE4\xFF",
        b"\x9F\xBF\xF2",
        b"\xDF\xE6\xFF",
    ];
    let master_system_ends: [[&[u8]; 2]; 2] = [
        [b"\x86\x0D\x9A\xF2", b"\x9F\xFF"],
        [b"\x86\x0D\x9A\xA3\x15\xBF\xC7\x35\xDF\xE6\xF2", b""],
    ];
    // Each write has a command and this number of bytes.
    for (chip, (command, length), tick, clocks, start, ends) in [
        (Chip::Gb, (0xB3, 2), 735, &[(0x80, 4_194_304)][..], game_boy, game_boy_ends),
        (
            Chip::Sms,
            (0x50, 1),
            882,
            &[(0x0C, 3_579_545), (0x28, 0x0010_0009)],
            master_system,
            master_system_ends,
        ),
    ] {
        for (end, last) in [Effect::Stop, Effect::Jump(1)].into_iter().zip(ends) {
            let song = Module { hertz: 44_100.0 / f64::from(tick), ..small(chip, end) };
            let file = vgm(chip).unwrap()(&song, &tags());
            let (mut commands, mut repeat) = (Vec::new(), [0, 0]);
            for (ticks, writes) in
                [0, 1, 1, 1, 1, 2, 1].into_iter().zip(start.into_iter().chain(last))
            {
                match ticks * tick {
                    0 => {}
                    735 => commands.push(0x62),
                    samples => commands.extend([0x61, samples as u8, (samples >> 8) as u8]),
                }
                if ticks == 2 && end != Effect::Stop {
                    // The offset counts from its own position.
                    repeat = [0x100 + commands.len() as u32 - 0x1C, tick];
                }
                commands
                    .extend(writes.chunks(length).flat_map(|write| [&[command], write].concat()));
            }
            commands.push(0x66);
            assert_eq!(file[0x100..0x100 + commands.len()], commands, "{chip:?}, {end:?}");
            let word = |at: usize| u32::from_le_bytes(*file[at..].first_chunk().unwrap());
            assert_eq!([word(0x18), word(0x1C), word(0x20)], [7 * tick, repeat[0], repeat[1]]);
            clocks.iter().for_each(|(at, clock)| assert_eq!(word(*at), *clock));
            let console = chip.console().encode_utf16().flat_map(u16::to_le_bytes);
            let console: Vec<u8> = console.collect();
            assert!(file.windows(console.len()).any(|bytes| bytes == console));
        }
    }
    assert!(vgm(Chip::Nes).is_none());
}
