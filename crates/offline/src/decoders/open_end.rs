//! Repair of CAF and Ogg files that do not state their end: programs that write into pipes, or record streams, write such
//! files.

use super::tags::{long, peek, word};
use crate::{
    formats::is_placeholder,
    shared_file::{SharedFile, Spliced},
};
use std::io;

/// Maximum length of an Ogg page in bytes.
const LONGEST_PAGE: u64 = 27 + 255 + 255 * 255;

/// Returns `file`, a CAF file of `len` bytes, with the length of the samples filled in. Returns `None` if the file states the
/// length, or is not CAF.
pub fn closed_caf(file: &SharedFile, len: u64) -> io::Result<Option<Spliced>> {
    let (mut position, mut packet) = (8, 1);
    if !peek(file, 0, position)?.starts_with(b"caff") {
        return Ok(None);
    }
    loop {
        let head = peek(file, position, 32)?;
        let Some(size) = long(&head, 4) else { return Ok(None) };
        let start = position + 12;
        match &head[..4] {
            b"desc" => packet = word(&head, 28).map_or(1, |bytes| u64::from(bytes).max(1)),
            b"data" if is_placeholder(size, u64::MAX, len - start) => {
                // The chunk begins with a counter of edits, four bytes long. The samples follow.
                let whole = (len - start).saturating_sub(4) / packet * packet + 4;
                let mut front = peek(file, 0, start)?;
                front.truncate(position as usize + 4);
                front.extend(whole.to_be_bytes());
                let body = start..(start + whole).min(len);
                return Ok(Some(Spliced::new(front, file, body)));
            }
            _ => {}
        }
        match start.checked_add(size) {
            Some(next) if next < len => position = next,
            _ => return Ok(None),
        }
    }
}

/// Returns `file`, of `len` bytes, with the end-of-stream flag set in its last Ogg page. Returns `None` if the flag is already
/// set, or the file does not end with a whole page.
pub fn closed_ogg(file: &SharedFile, len: u64) -> io::Result<Option<Spliced>> {
    const LAST: u8 = 4;
    let tail = peek(file, len.saturating_sub(LONGEST_PAGE), LONGEST_PAGE)?;
    let Some(page) = (0..tail.len()).find(|at| is_page(&tail[*at..])) else { return Ok(None) };
    let mut page = tail[page..].to_vec();
    if page[5] & LAST != 0 {
        return Ok(None);
    }
    page[5] |= LAST;
    page[22..26].fill(0);
    let sum = ogg_pager::crc32(&page).to_le_bytes();
    page[22..26].copy_from_slice(&sum);
    Ok(Some(file.part(0..len - page.len() as u64).with_tail(page)))
}

fn is_page(bytes: &[u8]) -> bool {
    let lengths = bytes.get(26).and_then(|count| bytes.get(27..27 + usize::from(*count)));
    lengths.is_some_and(|lengths| {
        let content: usize = lengths.iter().map(|len| usize::from(*len)).sum();
        bytes.starts_with(b"OggS") && bytes.len() == 27 + lengths.len() + content
    })
}
