//! Readers of one open file, each with its own position.
//!
//! Duplicated file descriptors would share one position. Opening the path again could yield another file.

use std::{
    fs::{File, Metadata},
    io::{self, Read, Seek, SeekFrom},
    sync::Arc,
};

/// Reader of an open file. Other readers may read the file at the same time, on other threads, too.
#[derive(Debug)]
pub struct SharedFile {
    file: Arc<File>,
    position: u64,
}

impl SharedFile {
    pub fn new(file: File) -> Self {
        Self { file: Arc::new(file), position: 0 }
    }

    /// Returns another reader of the file, at `position`.
    pub fn at(&self, position: u64) -> Self {
        Self { file: Arc::clone(&self.file), position }
    }

    pub fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }
}

impl Read for SharedFile {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = read_at(&self.file, to, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for SharedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
            SeekFrom::End(offset) => self.metadata()?.len().checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

#[cfg(unix)]
fn read_at(file: &File, to: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, to, position)
}

/// Reads at `position`. Also moves the file's own position, which nothing uses.
#[cfg(windows)]
fn read_at(file: &File, to: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, to, position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn positions_count_from_start_place_and_end() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let mut reader = SharedFile::new(file);
        let mut byte_at = |to: SeekFrom| {
            let (position, mut byte) = (reader.seek(to).unwrap(), [0]);
            reader.read_exact(&mut byte).unwrap();
            (position, byte[0])
        };
        assert_eq!(byte_at(SeekFrom::Start(3)), (3, b'3'));
        assert_eq!(byte_at(SeekFrom::Current(2)), (6, b'6'));
        assert_eq!(byte_at(SeekFrom::End(-1)), (9, b'9'));
        assert_eq!(reader.read(&mut [0]).unwrap(), 0, "the end");
        assert!(reader.seek(SeekFrom::Current(-11)).is_err());
        assert_eq!(reader.stream_position().unwrap(), 10, "an error moves nothing");
    }
}
