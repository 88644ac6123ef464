//! Sanitises MIDI files for `midly`, which silently ends a track at any event that it cannot parse.
//!
//! In a sanitised file, each event has its own status byte, and there are no system messages: exclusive, common or real-time. A
//! track ends before its first invalid event. The position of the file's first invalid event is reported.

/// Maximum length of a variable-length quantity in bytes.
const LONGEST_NUMBER: usize = 4;

/// End-of-track event, without its delta time.
const END: [u8; 3] = [0xFF, 0x2F, 0];

pub struct Tidy {
    pub bytes: Vec<u8>,
    /// Description of the first skipped part: track and byte. `None` if nothing was skipped.
    pub left_out: Option<String>,
}

/// Sanitises a file; `None` if it has no MIDI header.
pub fn tidy(bytes: &[u8]) -> Option<Tidy> {
    let file = unwrapped(bytes);
    let header = chunk(file).filter(|(id, content)| *id == b"MThd" && content.len() >= 6)?;
    let mut tidied = Vec::new();
    push_chunk(&mut tidied, b"MThd", &header.1[..6]);
    let mut rest = &file[8 + header.1.len()..];
    let mut left_out = None;
    let mut count = 0;
    while let Some((id, content)) = chunk(rest) {
        rest = &rest[8 + content.len()..];
        if id != b"MTrk" {
            continue;
        }
        count += 1;
        let (track, end) = tidy_track(content);
        if let Some(end) = end {
            let part = || format!("track {count} from its byte {end} on, which is no event");
            left_out.get_or_insert_with(part);
        }
        push_chunk(&mut tidied, b"MTrk", &track);
    }
    Some(Tidy { bytes: tidied, left_out })
}

/// Returns the MIDI file in `bytes`, without RIFF around it.
fn unwrapped(bytes: &[u8]) -> &[u8] {
    if !bytes.starts_with(b"RIFF") || bytes.get(8..12) != Some(b"RMID") {
        return bytes;
    }
    let mut rest = &bytes[12..];
    while let (Some(id), Some(len)) = (rest.get(..4), rest.get(4..8)) {
        let len = u32::from_le_bytes([len[0], len[1], len[2], len[3]]) as usize;
        let content = &rest[8..];
        if id == b"data" {
            return &content[..len.min(content.len())];
        }
        rest = content.get(len + len % 2..).unwrap_or_default();
    }
    bytes
}

/// Returns id and content of the first chunk in `bytes`. The content of a truncated chunk is shorter than its header says.
fn chunk(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let len = u32::from_be_bytes(*bytes.get(4..8)?.first_chunk()?) as usize;
    let content = &bytes[8..];
    Some((&bytes[..4], &content[..len.min(content.len())]))
}

fn push_chunk(to: &mut Vec<u8>, id: &[u8], content: &[u8]) {
    to.extend(id);
    to.extend((content.len() as u32).to_be_bytes());
    to.extend(content);
}

/// Sanitises a track. Also returns the position of the first invalid event; `None` if all are valid.
fn tidy_track(bytes: &[u8]) -> (Vec<u8>, Option<usize>) {
    let mut track = Track { rest: bytes, status: None };
    let (mut tidied, mut wait) = (Vec::new(), 0);
    let invalid = loop {
        let start = bytes.len() - track.rest.len();
        if track.rest.is_empty() {
            break None;
        }
        let Some(event) = track.number().and_then(|delta| {
            // Limited to the maximum of a variable-length quantity.
            wait = (wait + delta).min((1 << 28) - 1);
            track.event()
        }) else {
            break Some(start);
        };
        if event.is_empty() {
            continue;
        }
        push_number(&mut tidied, std::mem::take(&mut wait));
        tidied.extend(&event);
        if event == END {
            return (tidied, None);
        }
    };
    push_number(&mut tidied, wait);
    tidied.extend(END);
    (tidied, invalid)
}

struct Track<'a> {
    /// Bytes that are not read yet.
    rest: &'a [u8],
    /// Running status: status byte of the last channel message.
    status: Option<u8>,
}

impl Track<'_> {
    fn byte(&mut self) -> Option<u8> {
        self.rest.split_off_first().copied()
    }

    fn number(&mut self) -> Option<u32> {
        let mut number = 0;
        for _ in 0..LONGEST_NUMBER {
            let byte = self.byte()?;
            number = number << 7 | u32::from(byte & 0x7F);
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// Reads a length and as many bytes.
    fn counted(&mut self) -> Option<&[u8]> {
        let len = self.number()? as usize;
        self.rest.split_off(..len)
    }

    /// Reads `count` data bytes. `None` if one is 128 or more.
    fn data(&mut self, count: usize) -> Option<&[u8]> {
        let bytes = self.rest.split_off(..count)?;
        bytes.iter().all(|byte| *byte < 0x80).then_some(bytes)
    }

    /// Reads an event after its delta time. Returns it with its status byte; empty for a message to remove; `None` if it is invalid.
    fn event(&mut self) -> Option<Vec<u8>> {
        let first = *self.rest.first()?;
        if first >= 0x80 {
            self.byte();
        }
        match first {
            0xFF => {
                let kind = self.byte()?;
                let content = self.counted()?;
                let mut event = vec![0xFF, kind];
                push_number(&mut event, content.len() as u32);
                event.extend(content);
                Some(event)
            }
            // System exclusive messages are removed.
            0xF0 | 0xF7 => self.counted().map(|_| Vec::new()),
            0xF1 | 0xF3 => self.data(1).map(|_| Vec::new()),
            0xF2 => self.data(2).map(|_| Vec::new()),
            0xF4.. => Some(Vec::new()),
            _ => {
                let status = if first >= 0x80 { first } else { self.status? };
                self.status = Some(status);
                let count = if matches!(status, 0xC0..=0xDF) { 1 } else { 2 };
                let data = self.data(count)?;
                Some([&[status], data].concat())
            }
        }
    }
}

fn push_number(to: &mut Vec<u8>, number: u32) {
    let groups = (1..LONGEST_NUMBER).rev().filter(|group| number >> (7 * group) > 0);
    to.extend(groups.map(|group| 0x80 | (number >> (7 * group)) as u8));
    to.push(number as u8 & 0x7F);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variable_length_quantities_are_read_and_written() {
        for number in [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, (1 << 28) - 1] {
            let mut bytes = Vec::new();
            push_number(&mut bytes, number);
            let mut track = Track { rest: &bytes, status: None };
            assert_eq!((track.number(), track.rest), (Some(number), &[][..]));
        }
        // Examples of the MIDI standard.
        for (number, expected) in
            [(0x40, &[0x40][..]), (0x2000, &[0xC0, 0]), (0x10_0000, &[0xC0, 0x80, 0])]
        {
            let mut bytes = Vec::new();
            push_number(&mut bytes, number);
            assert_eq!(bytes, expected);
        }
    }

    #[test]
    fn events_get_their_status_and_live_messages_are_removed() {
        // Note-on; text; note-off with the running status from before the text; real-time byte; system exclusive; note-on.
        let loose =
            b"\0\x90\x45\x64\x10\xff\x01\x01t\x10\x45\0\x05\xf8\x05\xf0\x02\x7e\xf7\x05\x48\x64";
        let strict = b"\0\x90\x45\x64\x10\xff\x01\x01t\x10\x90\x45\0\x0f\x90\x48\x64\0\xff\x2f\0";
        assert_eq!(tidy_track(loose), (strict.to_vec(), None));
    }

    #[test]
    fn a_track_ends_before_its_first_invalid_event() {
        for (broken, at) in [
            (&b"\0\x90\x45\x64\x10\x45"[..], 4),
            (b"\0\x90\x45\x64\x10\x90\x90\x01", 4),
            (b"\0\x90\x45\x64\xff\xff\xff\xff\xff", 4),
            (b"\0\x90\x45\x64\0\xff\x01\x09t", 4),
            (b"\0\x45\x64", 0),
        ] {
            let (tidied, end) = tidy_track(broken);
            assert_eq!(end, Some(at), "{broken:?}");
            assert!(tidied.ends_with(&END));
        }
    }

    #[test]
    fn riff_is_unwrapped() {
        let file = b"MThd\0\0\0\x06\0\0\0\x01\x01\xe0MTrk\0\0\0\x04\0\xff\x2f\0";
        let mut riff = b"RIFF\0\0\0\0RMIDINFO\x03\0\0\0abc\0data".to_vec();
        riff.extend((file.len() as u32).to_le_bytes());
        riff.extend(file);
        assert_eq!(tidy(&riff).unwrap().bytes, file);
        assert_eq!(tidy(file).unwrap().bytes, file);
        assert!(tidy(b"RIFF\0\0\0\0WAVE").is_none());
    }
}
