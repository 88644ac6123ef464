//! Tests of VGM files: the expected bytes were written by hand from the specification.

use super::*;
use flate2::read::GzDecoder;
use std::io::Read;

fn file(repeat: Option<usize>) -> Vec<u8> {
    let ticks = vec![vec![[0x15, 0x0F], [0x02, 253]], vec![], vec![[0x00, 0x7F]], vec![]];
    let tags = Tags { title: "Über Tōkyō 𝄞".into(), author: "Me".into() };
    vgm(&Song { ticks, repeat, notes: 1 }, &tags)
}

#[test]
fn a_file_has_the_writes_of_each_tick() {
    let data = b"\xB4\x15\x0F\xB4\x02\xFD\x62\x62\xB4\x00\x7F\x62\x62\x66";
    let text = "Über Tōkyō 𝄞\0\0\0\0NES Famicom\0\0Me\0\0\0\0Tone Filter\0";
    let text: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let tags = [b"Gd3 \0\x01\0\0", &(text.len() as u32).to_le_bytes()[..], &text].concat();
    // The third tick begins behind 8 bytes of data.
    for (repeat, offset, samples) in [(None, 0, 0), (Some(0), 0x100, 2940), (Some(2), 0x108, 1470)]
    {
        let mut header = [0; 0x100];
        let length = header.len() + data.len() + tags.len();
        header[..4].copy_from_slice(b"Vgm ");
        // Offsets count from their own position.
        for (at, value) in [
            (0x04, length - 0x04),
            (0x08, 0x171),
            (0x14, 0x100 + data.len() - 0x14),
            (0x18, 4 * 735),
            (0x1C, if offset > 0 { offset - 0x1C } else { 0 }),
            (0x20, samples),
            (0x24, 60),
            (0x34, 0x100 - 0x34),
            // NES APU.
            (0x84, 1_789_773),
        ] {
            header[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
        }
        assert_eq!(file(repeat), [&header, &data[..], &tags].concat(), "{repeat:?}");
    }
}

#[test]
fn a_compressed_file_unpacks_to_the_same_file() {
    let mut unpacked = Vec::new();
    GzDecoder::new(&vgz(&file(None))[..]).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, file(None));
}
