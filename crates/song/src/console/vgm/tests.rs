//! Tests of VGM files against the specification.

use super::{super::registers::Write, *};
use flate2::read::GzDecoder;
use std::io::Read;

fn song(repeat: Option<usize>) -> Song {
    let write = |register, value| Write { register, value };
    let ticks =
        vec![vec![write(0x15, 0x0F), write(0x02, 253)], vec![], vec![write(0x00, 0x7F)], vec![]];
    Song { ticks, repeat, notes: 1 }
}

fn tags() -> Tags {
    Tags { title: "Über Tōkyō 𝄞".into(), author: "Me".into() }
}

fn word(file: &[u8], at: usize) -> usize {
    u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize
}

/// Returns the position to which the offset at `at` points.
fn target(file: &[u8], at: usize) -> usize {
    at + word(file, at)
}

/// Returns the ticks from `start` on, and their number of bytes.
fn ticks(file: &[u8], start: usize) -> (Vec<Vec<Write>>, usize) {
    let (mut ticks, mut writes, mut at) = (Vec::new(), Vec::new(), start);
    loop {
        match file[at] {
            0xB4 => {
                writes.push(Write { register: file[at + 1], value: file[at + 2] });
                at += 3;
            }
            0x62 => {
                ticks.push(std::mem::take(&mut writes));
                at += 1;
            }
            0x66 => return (ticks, at + 1 - start),
            command => panic!("command {command:#X} at {at:#X}"),
        }
    }
}

#[test]
fn the_header_says_what_follows() {
    let file = vgm(&song(None), &tags());
    assert_eq!(&file[..4], b"Vgm ");
    assert_eq!(target(&file, 0x04), file.len());
    assert_eq!(word(&file, 0x08), 0x171);
    assert_eq!(word(&file, 0x18), 4 * 735, "samples at 44.1 kHz");
    assert_eq!([word(&file, 0x1C), word(&file, 0x20)], [0, 0], "it does not repeat");
    assert_eq!(word(&file, 0x24), 60);
    assert_eq!(word(&file, 0x84), 1_789_773, "NES APU, without the disk system's sound");
    let start = target(&file, 0x34);
    let (read, bytes) = ticks(&file, start);
    assert_eq!(read, song(None).ticks);
    assert_eq!(target(&file, 0x14), start + bytes, "GD3 follows");
    // All other fields, such as the clocks of other chips, are 0.
    let known = [0x04, 0x08, 0x14, 0x18, 0x24, 0x34, 0x84];
    let others = (4..0x100).step_by(4).filter(|at| !known.contains(at));
    assert!(others.into_iter().all(|at| word(&file, at) == 0));
}

#[test]
fn it_repeats_from_the_tick_on_that_was_asked_for() {
    for (repeat, samples) in [(0, 2940), (2, 1470), (3, 735)] {
        let song = song(Some(repeat));
        let file = vgm(&song, &tags());
        assert_eq!(word(&file, 0x20), samples);
        let (read, _) = ticks(&file, target(&file, 0x1C));
        assert_eq!(read, song.ticks[repeat..]);
    }
}

#[test]
fn the_tags_are_eleven_strings() {
    let file = vgm(&song(None), &tags());
    let start = target(&file, 0x14);
    assert_eq!(&file[start..start + 4], b"Gd3 ");
    assert_eq!(word(&file, start + 4), 0x100);
    assert_eq!(start + 12 + word(&file, start + 8), file.len());
    let letters: Vec<_> =
        file[start + 12..].as_chunks().0.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
    let mut strings: Vec<_> = letters
        .split(|letter| *letter == 0)
        .map(|text| String::from_utf16(text).unwrap())
        .collect();
    assert_eq!(strings.pop().as_deref(), Some(""), "the last one ends, too");
    let expected = ["Über Tōkyō 𝄞", "", "", "", "NES Famicom", "", "Me", "", "", "", "Tone Filter"];
    assert_eq!(strings, expected);
}

#[test]
fn three_minutes_of_changes_stay_below_200_kb() {
    // Four registers a tick, which is more than music needs.
    let write = Write { register: 2, value: 1 };
    let ticks = vec![vec![write; 4]; 180 * TICKS as usize];
    let file = vgm(&Song { ticks, repeat: None, notes: 0 }, &tags());
    assert!(file.len() < 200_000, "{}", file.len());
}

#[test]
fn packed_it_is_the_same_file() {
    let mut unpacked = Vec::new();
    GzDecoder::new(&vgz(&vgm(&song(None), &tags()))[..]).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, vgm(&song(None), &tags()));
}
