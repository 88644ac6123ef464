//! Mutations of valid files. The draws alone decide a mutation. Most mutations change the structure of a file.

use tone_filter_testkit::Draws;

/// Magic bytes of headers and chunks of all formats.
const ANCHORS: &str = "RIFF RF64 WAVE fmt ds64 bext LIST fact data FORM COMM COMT NAME FVER SSND ID3 APIC TAG Xing Info LAME fLaC OggS \
                       vorbis FLAC image/png";

/// Number of bytes after one of [`ANCHORS`] that count as structure.
const HEADER: usize = 48;

/// Returns `original` with one to four faults. Some faults insert bytes of `other`. In most cases, corrects the checksums
/// afterwards.
pub fn mutate(draws: &mut Draws, original: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..1 + draws.below(4) {
        match draws.below(9) {
            0..=4 => change_field(draws, &mut bytes),
            5 => flip_bits(draws, &mut bytes),
            6 if draws.below(2) == 0 => {
                let len = random_position(draws, &bytes);
                bytes.truncate(len);
            }
            6 | 7 => move_piece(draws, &mut bytes, None),
            _ => move_piece(draws, &mut bytes, Some(other)),
        }
        if bytes.is_empty() {
            break;
        }
    }
    if draws.below(8) > 0 {
        mend_ogg(&mut bytes);
        mend_flac(&mut bytes);
    }
    bytes
}

/// Returns a random position. In three of four cases, it lies in a header.
fn random_position(draws: &mut Draws, bytes: &[u8]) -> usize {
    let anchors = anchors(bytes);
    let position = if anchors.is_empty() || draws.below(4) == 0 {
        draws.below(bytes.len())
    } else {
        draws.pick(&anchors) + draws.below(HEADER)
    };
    position.min(bytes.len() - 1)
}

/// Overwrites one to four or eight bytes with a number. Often, the number is at an end of its range, or near the old one.
fn change_field(draws: &mut Draws, bytes: &mut [u8]) {
    let position = random_position(draws, bytes);
    let width = draws.pick(&[1, 1, 2, 3, 4, 4, 8]).min(bytes.len() - position);
    let mut old = [0; 8];
    old[..width].copy_from_slice(&bytes[position..position + width]);
    let all = u64::MAX >> (64 - 8 * width);
    let value = match draws.below(9) {
        0 => 0,
        1 => 1,
        2 => all,
        3 => all >> 1,
        4 => (all >> 1) + 1,
        5 => bytes.len() as u64,
        6 => u64::from_le_bytes(old).wrapping_add(draws.below(5) as u64).wrapping_sub(2),
        7 => 1 << draws.below(8 * width),
        _ => draws.bits(),
    };
    let new = if draws.below(2) == 0 {
        value.to_le_bytes()
    } else {
        (value << (64 - 8 * width)).to_be_bytes()
    };
    bytes[position..position + width].copy_from_slice(&new[..width]);
}

fn flip_bits(draws: &mut Draws, bytes: &mut [u8]) {
    for _ in 0..1 + draws.below(8) {
        let position = random_position(draws, bytes);
        bytes[position] ^= 1 << draws.below(8);
    }
}

/// Removes a section, or inserts a section of the file itself or of `other`.
fn move_piece(draws: &mut Draws, bytes: &mut Vec<u8>, other: Option<&[u8]>) {
    let source = other.map_or_else(|| bytes.clone(), <[u8]>::to_vec);
    let cut = |draws: &mut Draws, bytes: &[u8]| {
        let anchors = anchors(bytes);
        if anchors.is_empty() { draws.below(bytes.len()) } else { draws.pick(&anchors) }
    };
    let (from, to) = (cut(draws, &source), cut(draws, &source));
    let (from, to) = (from.min(to), from.max(to));
    if other.is_none() && draws.below(2) == 0 {
        bytes.drain(from..to);
    } else {
        let position = cut(draws, bytes);
        bytes.splice(position..position, source[from..to].iter().copied());
    }
}

/// Returns the positions of all magic bytes, and of the frames of MP3 and FLAC.
fn anchors(bytes: &[u8]) -> Vec<usize> {
    let is_frame = |at: &[u8]| matches!(at, [0xFF, 0xE2..=0xFB, ..]);
    let begins = |at: &&usize| {
        let rest = &bytes[**at..];
        is_frame(rest) || ANCHORS.split(' ').any(|anchor| rest.starts_with(anchor.as_bytes()))
    };
    (0..bytes.len()).collect::<Vec<_>>().iter().filter(begins).copied().collect()
}

/// Returns the CRC of `bytes`: the remainder of a division by a polynomial of `bits` bits, the most significant bit first.
fn checksum(bytes: &[u8], bits: u32, polynomial: u32) -> u32 {
    let polynomial = polynomial << (32 - bits);
    let sum = bytes.iter().fold(0u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte) << 24, |sum, _| {
            if sum >> 31 == 1 { sum << 1 ^ polynomial } else { sum << 1 }
        })
    });
    sum >> (32 - bits)
}

/// Corrects the checksums of Ogg pages.
fn mend_ogg(bytes: &mut [u8]) {
    let pages = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(b"OggS")).collect::<Vec<_>>();
    for page in pages {
        let Some(segments) = bytes.get(page + 26).map(|count| usize::from(*count)) else {
            continue;
        };
        let Some(table) = bytes.get(page + 27..page + 27 + segments) else { continue };
        let len = 27 + segments + table.iter().map(|len| usize::from(*len)).sum::<usize>();
        let end = bytes.len().min(page + len);
        bytes[page + 22..page + 26].fill(0);
        let sum = checksum(&bytes[page..end], 32, 0x04C1_1DB7);
        bytes[page + 22..page + 26].copy_from_slice(&sum.to_le_bytes());
    }
}

/// Corrects the checksums of FLAC's frames. A frame ends where the next one begins.
fn mend_flac(bytes: &mut [u8]) {
    if !bytes.starts_with(b"fLaC") {
        return;
    }
    let is_frame = |at: &usize| matches!(bytes[*at..], [0xFF, 0xF8 | 0xF9, ..]);
    let mut frames = (42..bytes.len()).filter(is_frame).collect::<Vec<_>>();
    frames.push(bytes.len());
    for ends in frames.windows(2) {
        let frame = &mut bytes[ends[0]..ends[1]];
        if frame.len() < 16 {
            continue;
        }
        // The frame number has a variable length, coded as in UTF-8.
        let number = frame[4].leading_ones().max(1) as usize;
        let extra = [(frame[2] >> 4, [6, 7, 7]), (frame[2] & 15, [12, 13, 14])];
        let extra = extra.map(|(code, [one, two, also_two])| {
            usize::from(code == one) + 2 * usize::from(code == two || code == also_two)
        });
        let head = 4 + number + extra[0] + extra[1];
        frame[head] = checksum(&frame[..head], 8, 0x07) as u8;
        let body = frame.len() - 2;
        let sum = checksum(&frame[..body], 16, 0x8005) as u16;
        frame[body..].copy_from_slice(&sum.to_be_bytes());
    }
}
