//! An open file, and readers of its parts, each with its own position.
//!
//! Duplicated file descriptors would share one position. Opening the path again could yield another file.

use std::{
    fs::{File, Metadata},
    io::{self, Read, Seek, SeekFrom},
    ops::Range,
    sync::Arc,
};
use symphonia::core::io::MediaSource;

/// Open file. Clones are the same file, and may be read at the same time, on other threads, too.
#[derive(Debug, Clone)]
pub struct SharedFile(Arc<File>);

impl SharedFile {
    pub fn new(file: File) -> Self {
        Self(Arc::new(file))
    }

    pub fn metadata(&self) -> io::Result<Metadata> {
        self.0.metadata()
    }

    /// Returns a reader of the bytes `range`.
    pub fn part(&self, range: Range<u64>) -> Spliced {
        Spliced::new(Vec::new(), self, range)
    }

    #[cfg(unix)]
    fn read_at(&self, to: &mut [u8], position: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&*self.0, to, position)
    }

    /// Reads at `position`. Also moves the file's own position, which nothing uses.
    #[cfg(windows)]
    fn read_at(&self, to: &mut [u8], position: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&*self.0, to, position)
    }
}

/// Reader of a head, then a part of a file, then a tail. Head and tail replace those of the file that a decoder would refuse.
pub struct Spliced {
    head: Vec<u8>,
    file: SharedFile,
    body: Range<u64>,
    tail: Vec<u8>,
    position: u64,
}

impl Spliced {
    /// Creates a reader of `head`, followed by the bytes `body` of `file`.
    pub fn new(head: Vec<u8>, file: &SharedFile, body: Range<u64>) -> Self {
        Self { head, file: file.clone(), body, tail: Vec::new(), position: 0 }
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
            let count = (to.len() as u64).min(body_end - self.position) as usize;
            self.file.read_at(&mut to[..count], self.body.start + self.position - head)?
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
        let mut spliced = Spliced::new(b"head".to_vec(), &file, 3..7).with_tail(b"tail".to_vec());
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
        assert!(spliced.seek(SeekFrom::Current(-13)).is_err());
        assert_eq!(spliced.stream_position().unwrap(), 12, "an error moves nothing");
    }
}
