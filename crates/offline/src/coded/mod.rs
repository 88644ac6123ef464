//! Files of other formats than PCM in WAV, decoded packet by packet: MP3 by `nanomp3`, FLAC by `flac-codec`, all others by
//! `symphonia`.
//!
//! A decoder sees no more of a file than it needs: a header that it would refuse, though the sound is whole, is replaced by a
//! plain one (`splice`).

mod aiff;
mod codebooks;
mod containers;
mod flac;
mod mp3;
mod mp4;
pub(crate) mod splice;
pub(crate) mod tags;

use crate::{
    Error,
    shared_file::SharedFile,
    wav::{Depth, Format, Piece},
};
use std::path::{Path, PathBuf};

/// The largest sample that a coding without floating point decodes to: +24 dB full scale. Music exceeds full scale by some
/// 3 dB, streams that test decoders by 18 dB; a wrong decoding does by 80.
const LOUDEST: f32 = 16.0;

/// A decoder of a file's sound.
pub(crate) trait Decoder: Send {
    /// Returns the format of the samples.
    fn format(&self) -> Format;

    /// Returns the default depth of an output.
    fn natural_depth(&self) -> Depth;

    /// Samples a channel of the file, if its header has it.
    fn frames(&self) -> Option<u64>;

    /// Replaces `packet` by the next samples, which may be none; `false` at the end.
    ///
    /// # Errors
    /// When the file cannot be read on, or its content is broken.
    fn next(&mut self, packet: &mut Vec<Vec<f32>>) -> Result<bool, Error>;
}

/// Formats that begin in a way of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// FLAC.
    Flac,
    /// MPEG audio.
    Mpeg,
    /// AIFF and AIFF-C.
    Aiff,
    /// All that `symphonia` finds out.
    Other,
}

/// A file being decoded.
pub struct Reader {
    path: PathBuf,
    decoder: Box<dyn Decoder>,
    /// Samples of the last packet, and the number of them that are read.
    packet: Vec<Vec<f32>>,
    used: usize,
    /// True at the end: decoders need not know it.
    ended: bool,
}

impl Reader {
    /// Opens `file`, called `path`, whose sound begins at `start`, behind tags.
    ///
    /// # Errors
    /// When the file has nothing that can be decoded.
    pub(crate) fn open(
        path: &Path,
        file: SharedFile,
        kind: Kind,
        start: u64,
    ) -> Result<Self, Error> {
        let unreadable = |source| Error::Read { path: path.into(), source };
        let len = file.metadata().map_err(unreadable)?.len();
        let whole = splice::Spliced::plain(&file, 0..len);
        Self::of(
            path,
            match kind {
                Kind::Flac => Box::new(flac::Flac::open(path, file, start)?),
                Kind::Mpeg => Box::new(mp3::Mp3::open(path, file, 0..len)?),
                Kind::Aiff => {
                    let spliced = aiff::splice(&file, start, len).map_err(unreadable)?;
                    Box::new(containers::Container::open(path, spliced.unwrap_or(whole), None)?)
                }
                Kind::Other => {
                    let closed = mp4::closed(&file, len).map_err(unreadable)?;
                    Box::new(containers::Container::open(path, closed.unwrap_or(whole), None)?)
                }
            },
        )
    }

    /// Opens the samples of a WAV file that are not PCM.
    ///
    /// # Errors
    /// When they cannot be decoded.
    pub(crate) fn open_piece(path: &Path, file: SharedFile, piece: Piece) -> Result<Self, Error> {
        Self::of(
            path,
            match piece {
                Piece::Mp3(bytes) => Box::new(mp3::Mp3::open(path, file, bytes)?),
                Piece::Wave { head, body, zeros, frames } => {
                    let spliced = splice::Spliced::new(head, file, body).with_zeros(zeros);
                    Box::new(containers::Container::open(path, spliced, Some(frames))?)
                }
            },
        )
    }

    fn of(path: &Path, decoder: Box<dyn Decoder>) -> Result<Self, Error> {
        let mut reader =
            Self { path: path.into(), decoder, packet: Vec::new(), used: 0, ended: false };
        // Only decoded samples show the true channels and rate.
        if !reader.decode()? {
            let (path, frames) = (path.into(), reader.decoder.frames());
            return Err(if frames > Some(0) { Error::CutShort(path) } else { Error::Empty(path) });
        }
        Ok(reader)
    }

    /// Returns the format of the samples.
    pub fn format(&self) -> Format {
        self.decoder.format()
    }

    /// Returns the default depth of an output.
    pub fn natural_depth(&self) -> Depth {
        self.decoder.natural_depth()
    }

    /// Samples a channel in the whole file, if its header has it.
    pub fn frames(&self) -> Option<u64> {
        self.decoder.frames()
    }

    /// Replaces what `channels` hold by the next samples, at most `frames` for each channel. At the end
    /// of the file, they are empty.
    ///
    /// # Errors
    /// When the file cannot be read on, or its content is broken.
    pub fn read(&mut self, channels: &mut [Vec<f32>], frames: usize) -> Result<(), Error> {
        channels.iter_mut().for_each(Vec::clear);
        let mut room = frames;
        while room > 0 {
            let there = self.packet[0].len() - self.used;
            if there == 0 && !self.decode()? {
                break;
            }
            let taken = room.min(self.packet[0].len() - self.used);
            for (channel, packet) in channels.iter_mut().zip(&self.packet) {
                channel.extend_from_slice(&packet[self.used..][..taken]);
            }
            self.used += taken;
            room -= taken;
        }
        Ok(())
    }

    /// Decodes the next packet that holds samples; `false` at the end.
    fn decode(&mut self) -> Result<bool, Error> {
        self.used = 0;
        while !self.ended && self.decoder.next(&mut self.packet)? {
            if self.packet.first().is_some_and(|channel| !channel.is_empty()) {
                self.check_level()?;
                return Ok(true);
            }
        }
        self.ended = true;
        self.packet.iter_mut().for_each(Vec::clear);
        Ok(false)
    }

    /// A wrong decoding is noise that destroys ears and loudspeakers.
    fn check_level(&self) -> Result<(), Error> {
        // Floating point has any level.
        if self.natural_depth().is_float() {
            return Ok(());
        }
        let is_loud = |sample: &f32| sample.abs() > LOUDEST;
        // Counted without branches, which becomes vector code.
        let loud: usize =
            self.packet.iter().flatten().map(|sample| usize::from(is_loud(sample))).sum();
        match loud {
            0 => Ok(()),
            _ => Err(Error::broken(&self.path, "it decodes to more than +24 dB full scale")),
        }
    }
}
