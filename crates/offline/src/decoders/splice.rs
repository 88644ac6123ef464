//! Reader of a part of a file, with a new head before it and a new tail after it. These replace headers and tails that a
//! decoder would refuse.

use crate::shared_file::SharedFile;
use std::{
    io::{self, Read, Seek, SeekFrom},
    ops::Range,
};
use symphonia::core::io::MediaSource;

/// Reader of a head, then a range of a file, then a tail.
pub struct Spliced {
    head: Vec<u8>,
    file: SharedFile,
    body: Range<u64>,
    tail: Vec<u8>,
    position: u64,
}

impl Spliced {
    /// Creates a reader of `head`, followed by the bytes `body` of `file`.
    pub fn new(head: Vec<u8>, file: SharedFile, body: Range<u64>) -> Self {
        Self { head, file, body, tail: Vec::new(), position: 0 }
    }

    /// Creates a reader of the bytes `body` of `file` alone.
    pub fn plain(file: &SharedFile, body: Range<u64>) -> Self {
        Self::new(Vec::new(), file.at(0), body)
    }

    pub fn with_tail(self, tail: Vec<u8>) -> Self {
        Self { tail, ..self }
    }

    fn len(&self) -> u64 {
        self.head.len() as u64 + (self.body.end - self.body.start) + self.tail.len() as u64
    }
}

impl Read for Spliced {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let head = self.head.len() as u64;
        let body_end = head + self.body.end - self.body.start;
        let read = if self.position < head {
            (&self.head[self.position as usize..]).read(to)?
        } else if self.position < body_end {
            self.file.seek(SeekFrom::Start(self.body.start + self.position - head))?;
            self.file.by_ref().take(body_end - self.position).read(to)?
        } else {
            let read = (self.position - body_end).min(self.tail.len() as u64) as usize;
            (&self.tail[read..]).read(to)?
        };
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for Spliced {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
            SeekFrom::End(offset) => self.len().checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

impl MediaSource for Spliced {
    fn is_seekable(&self) -> bool {
        true
    }

    fn byte_len(&self) -> Option<u64> {
        Some(self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn head_body_and_tail_are_read_as_one() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let file = SharedFile::new(file);
        let mut spliced = Spliced::new(b"head".to_vec(), file, 3..7).with_tail(b"tail".to_vec());
        let mut all = Vec::new();
        spliced.read_to_end(&mut all).unwrap();
        assert_eq!(all, b"head3456tail");
        for start in 0..=all.len() {
            let mut rest = Vec::new();
            spliced.seek(SeekFrom::End(start as i64 - all.len() as i64)).unwrap();
            assert_eq!(spliced.stream_position().unwrap(), start as u64);
            spliced.read_to_end(&mut rest).unwrap();
            assert_eq!(rest, all[start..], "{start}");
        }
    }
}
