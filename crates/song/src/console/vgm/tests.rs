//! Tests of VGM files against the specification.

use super::{super::registers::Write, *};
use crate::vgm_reader::{File, read};
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

fn ticks(file: &File) -> Vec<Vec<Write>> {
    let mut ticks = vec![Vec::new(); file.samples / 735];
    for (sample, command) in &file.writes {
        let [0xB4, register, value] = command[..] else { panic!("{command:?}") };
        ticks[sample / 735].push(Write { register, value });
    }
    ticks
}

#[test]
fn a_file_has_the_writes_of_each_tick() {
    for (repeat, expected) in
        [(None, None), (Some(0), Some((0, 2940))), (Some(2), Some((1470, 1470)))]
    {
        let song = song(repeat);
        let file = read(&vgm(&song, &tags()));
        assert_eq!((file.samples, file.repeat), (4 * 735, expected));
        assert_eq!(ticks(&file), song.ticks);
        // NES APU, without the disk system's sound, and no other chips.
        assert_eq!(file.chips.into_iter().collect::<Vec<_>>(), [(0x84, 1_789_773)]);
        let tags = ["Über Tōkyō 𝄞", "", "", "", "NES Famicom", "", "Me", "", "", "", "Tone Filter"];
        assert_eq!(file.tags, tags);
    }
}

#[test]
fn a_compressed_file_unpacks_to_the_same_file() {
    let mut unpacked = Vec::new();
    GzDecoder::new(&vgz(&vgm(&song(None), &tags()))[..]).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, vgm(&song(None), &tags()));
}
