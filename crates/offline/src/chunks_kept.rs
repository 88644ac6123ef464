//! Chunks that an output takes from a WAV input. Positions and lengths in samples are converted to the rate of the output.
//! Descriptions of the old samples, such as hash and loudness, are left out.

use crate::wav::{Chunk, Reader};
use std::io;

/// Chunk for a WAV output.
pub enum KeptChunk {
    /// A chunk of the input, unchanged.
    Copied(Chunk),
    /// A new or changed chunk: its identifier and its content.
    Made([u8; 4], Vec<u8>),
}

/// Maximum length in bytes of a chunk that is adapted; longer chunks are copied unchanged.
const LONGEST: u32 = 16 << 20;

/// Identifier of the chunk with a hash of the old samples.
const HASH: [u8; 4] = *b"MD5 ";

/// Value of a loudness field in `bext` that is unknown (EBU Tech 3285, version 2).
const UNKNOWN: [u8; 2] = 0x7FFF_u16.to_le_bytes();

/// Returns whether chunks called `id` may hold tags. A `LIST` may hold labels instead.
pub fn holds_tags(id: [u8; 4]) -> bool {
    matches!(&id, b"LIST" | b"id3 " | b"ID3 ")
}

/// Returns whether `chunk` of `source` holds tags.
pub fn is_tag(source: &mut Reader, chunk: Chunk) -> io::Result<bool> {
    let mut kind = Vec::new();
    if chunk.id == *b"LIST" && chunk.len >= 4 {
        source.copy_chunk(Chunk { len: 4, ..chunk }, &mut kind)?;
        return Ok(kind == b"INFO");
    }
    Ok(holds_tags(chunk.id) && chunk.id != *b"LIST")
}

/// Returns `chunk` of `source`, adapted to the output; `None` if it is left out. `rates` are the sample rates of input and
/// output in Hz.
pub fn keep(source: &mut Reader, chunk: Chunk, rates: [u32; 2]) -> io::Result<Option<KeptChunk>> {
    let [from, to] = rates;
    if chunk.id == HASH {
        return Ok(None);
    }
    let counts = matches!(&chunk.id, b"cue " | b"plst" | b"smpl" | b"LIST");
    if chunk.len > LONGEST || chunk.id != *b"bext" && (from == to || !counts) {
        return Ok(Some(KeptChunk::Copied(chunk)));
    }
    let mut content = Vec::new();
    source.copy_chunk(chunk, &mut content)?;
    let scale = Scale { from, to };
    match &chunk.id {
        b"bext" => broadcast(&mut content, scale),
        b"cue " => scale.each(&mut content, 4, 24, &[4, 20]),
        b"plst" => scale.each(&mut content, 4, 12, &[4]),
        b"smpl" => {
            // Field with the duration of a sample in nanoseconds.
            if let Some(period) = content.get_mut(8..12) {
                period.copy_from_slice(&(1_000_000_000 / to).to_le_bytes());
            }
            for entry in content.get_mut(36..).unwrap_or_default().as_chunks_mut::<24>().0 {
                let bounds = entry[8..16].as_chunks_mut().0;
                let scaled = scale.looped([bounds[0], bounds[1]].map(u32::from_le_bytes));
                bounds.copy_from_slice(&scaled.map(u32::to_le_bytes));
            }
        }
        b"LIST" if content.starts_with(b"adtl") => labels(&mut content, scale),
        _ => {}
    }
    Ok(Some(KeptChunk::Made(chunk.id, content)))
}

/// Conversion of counts of samples from a rate in Hz to another one.
#[derive(Clone, Copy)]
struct Scale {
    from: u32,
    to: u32,
}

impl Scale {
    fn scaled(self, samples: u64) -> u64 {
        let (from, to) = (u128::from(self.from), u128::from(self.to));
        ((u128::from(samples) * to + from / 2) / from) as u64
    }

    /// Scales the first and the last frame of a loop, which stays in the sound and has at least one frame.
    fn looped(self, [first, last]: [u32; 2]) -> [u32; 2] {
        let last = self.scaled(u64::from(last) + 1).clamp(1, 1 << 32) - 1;
        [self.scaled(first.into()).min(last), last].map(|frame| frame as u32)
    }

    /// Scales the 32-bit number at `at`, if `content` reaches that far.
    fn number(self, content: &mut [u8], at: usize) {
        if let Some(number) = content.get_mut(at..at + 4) {
            let samples = u32::from_le_bytes([number[0], number[1], number[2], number[3]]);
            let scaled = u32::try_from(self.scaled(samples.into())).unwrap_or(u32::MAX);
            number.copy_from_slice(&scaled.to_le_bytes());
        }
    }

    /// Scales numbers in a list whose entries have `size` bytes each and begin at `start`. `fields` are the offsets of the
    /// numbers in an entry.
    fn each(self, content: &mut [u8], start: usize, size: usize, fields: &[usize]) {
        for entry in (start..content.len()).step_by(size) {
            fields.iter().for_each(|field| self.number(content, entry + field));
        }
    }
}

/// Scales the timestamp of a chunk `bext`. From version 2 on, the chunk has loudness fields, which become unknown.
fn broadcast(content: &mut [u8], scale: Scale) {
    if let Some(time) = content.get_mut(338..346) {
        let samples = u64::from_le_bytes(time.try_into().expect("eight bytes"));
        time.copy_from_slice(&scale.scaled(samples).to_le_bytes());
    }
    let version = content.get(346..348).map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
    if let Some(loudness) = content.get_mut(412..422).filter(|_| version >= 2) {
        loudness.as_chunks_mut().0.fill(UNKNOWN);
    }
}

/// Scales the lengths of the labelled texts (`ltxt`) in a list of labels (`adtl`).
fn labels(content: &mut [u8], scale: Scale) {
    let mut at = 4;
    while let Some(head) = content.get(at..at + 8) {
        let (is_text, len) =
            (head.starts_with(b"ltxt"), u32::from_le_bytes([head[4], head[5], head[6], head[7]]));
        if is_text {
            scale.number(content, at + 12);
        }
        at += 8 + (len + len % 2) as usize;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOUBLED: Scale = Scale { from: 44_100, to: 88_200 };

    #[test]
    fn points_loops_and_labels_follow_the_rate() {
        let words =
            |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let mut cues = words(&[2, 1, 100, 7, 0, 0, 100, 2, 250, 7, 0, 0, 250]);
        DOUBLED.each(&mut cues, 4, 24, &[4, 20]);
        assert_eq!(cues, words(&[2, 1, 200, 7, 0, 0, 200, 2, 500, 7, 0, 0, 500]));
        let before = b"adtllabl\x05\0\0\0abcde\0ltxt";
        let text = |len| [&before[..], &words(&[20, 1, len]), &[0; 12]].concat();
        let mut scaled = text(33);
        labels(&mut scaled, DOUBLED);
        assert_eq!(scaled, text(66));
    }

    #[test]
    fn loops_stay_in_the_sound() {
        for (from, to, frames, scaled) in [
            (44_100, 88_200, [0, 44_099], [0, 88_199]),
            (96_000, 48_000, [0, 95_999], [0, 47_999]),
            (48_000, 44_100, [24_000, 47_999], [22_050, 44_099]),
            (96_000, 24_000, [95_998, 95_999], [23_999, 23_999]),
            (44_100, 88_200, [0, u32::MAX], [0, u32::MAX]),
        ] {
            assert_eq!(Scale { from, to }.looped(frames), scaled, "{from} to {to}");
        }
    }

    #[test]
    fn a_broadcast_extension_keeps_its_time_and_loses_its_loudness() {
        let mut content = vec![1; 602];
        content[338..346].copy_from_slice(&44_100u64.to_le_bytes());
        content[346..348].copy_from_slice(&[2, 0]);
        let mut old = content.clone();
        broadcast(&mut content, DOUBLED);
        assert_eq!(content[338..346], 88_200u64.to_le_bytes());
        assert_eq!(content[412..422], [0xFF, 0x7F].repeat(5));
        assert_eq!(content[422..], vec![1; 180]);
        old[346] = 1;
        broadcast(&mut old, DOUBLED);
        assert_eq!(old[412..422], [1; 10], "version 1 has no loudness");
    }
}
