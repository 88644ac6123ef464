//! Decoders of all formats except PCM in WAV: MP3 by `nanomp3`, FLAC by `flac-codec`, others by `symphonia`. Each call decodes
//! one packet.
//!
//! A file is either decoded to its last sample or refused with an error that names the fault:
//!
//! * A decoder gets only the necessary parts of a file. A header that it would refuse, although the sound is intact, is
//!   replaced by a plain one (`aiff`, `open_end`, `mp4`, [`Spliced`]).
//! * At the end, each decoder compares its number of samples with the one in the header: decoders skip what they cannot decode.
//! * Samples that an encoder put before and after the music are cut off by the numbers in the file (`mp3`, `mp4`).
//! * A panic is an error ([`guard`]), and sizes are checked before memory is allocated (`codebooks`).
//!
//! `tests/readers` tries all formats with faults, and compares lossless ones with ffmpeg.

mod aiff;
mod codebooks;
mod flac;
mod mp3;
mod mp4;
mod open_end;
mod splice;
mod symphonia;
pub mod tags;

pub use splice::Spliced;

use self::symphonia::SymphoniaDecoder;
use crate::{
    error::Error,
    shared_file::SharedFile,
    wav::{CodedSamples, Depth, Format},
};
use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

/// Maximum magnitude of a decoded sample: +24 dB full scale. Codings in floating point have no limit. Music exceeds full scale
/// by some 3 dB, test streams for decoders by 18 dB, a decoding error by 80 dB.
const LOUDEST: f32 = 16.0;

/// Properties of the file that a decoder reads.
#[derive(Debug, Clone, Copy)]
pub struct About {
    pub format: Format,
    /// Default bit depth of an output.
    pub natural_depth: Depth,
    /// Number of frames in the file; `None` if the header does not state it.
    pub frames: Option<u64>,
}

pub trait Decoder: Send {
    fn about(&self) -> About;

    /// Replaces `packet` by the samples of the next packet, which may have none. Returns `false` at the end.
    fn next(&mut self, packet: &mut Vec<Vec<f32>>) -> Result<bool, Error>;
}

/// Format that the first bytes of a file show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Flac,
    Mpeg,
    Aiff,
    /// All formats that `symphonia` recognises.
    Other,
}

pub struct Reader {
    path: PathBuf,
    decoder: Box<dyn Decoder>,
    /// Decoded samples of the last packet, by channel.
    packet: Vec<Vec<f32>>,
    /// Number of frames of `packet` that the caller has already got.
    used: usize,
    /// Whether the end has been reached. Decoders are not called again after it.
    ended: bool,
}

impl Reader {
    /// Opens `file`, called `path`. Its sound begins at `start`, after tags.
    pub fn open(path: &Path, file: SharedFile, kind: Kind, start: u64) -> Result<Self, Error> {
        let unreadable = |source| Error::Read { path: path.into(), source };
        let len = file.metadata().map_err(unreadable)?.len();
        let whole = Spliced::plain(&file, 0..len);
        Self::of(
            path,
            match kind {
                Kind::Flac => Box::new(flac::Flac::open(path, file, start)?),
                Kind::Mpeg => Box::new(mp3::Mp3::open(path, file, 0..len)?),
                Kind::Aiff => {
                    let spliced = aiff::splice(&file, start, len).map_err(unreadable)?;
                    Box::new(SymphoniaDecoder::open(path, spliced.unwrap_or(whole), None)?)
                }
                Kind::Other => {
                    let closed = mp4::closed(&file, len).map_err(unreadable)?;
                    let closed = closed.or(open_end::closed_caf(&file, len).map_err(unreadable)?);
                    let closed = closed.or(open_end::closed_ogg(&file, len).map_err(unreadable)?);
                    Box::new(SymphoniaDecoder::open(path, closed.unwrap_or(whole), None)?)
                }
            },
        )
    }

    /// Opens `samples`, the non-PCM samples of a WAV file.
    pub fn open_coded_samples(
        path: &Path,
        file: SharedFile,
        samples: CodedSamples,
    ) -> Result<Self, Error> {
        Self::of(
            path,
            match samples {
                CodedSamples::Mp3(bytes) => Box::new(mp3::Mp3::open(path, file, bytes)?),
                CodedSamples::Wave { head, body, zeros, frames } => {
                    let spliced = Spliced::new(head, file, body).with_tail(vec![0; zeros]);
                    Box::new(SymphoniaDecoder::open(path, spliced, Some(frames))?)
                }
            },
        )
    }

    fn of(path: &Path, decoder: Box<dyn Decoder>) -> Result<Self, Error> {
        let mut reader =
            Self { path: path.into(), decoder, packet: Vec::new(), used: 0, ended: false };
        // Decodes the first packet now: only it shows the true number of channels and the true rate.
        if !reader.decode()? {
            let (path, frames) = (path.into(), reader.about().frames);
            return Err(if frames > Some(0) { Error::CutShort(path) } else { Error::Empty(path) });
        }
        Ok(reader)
    }

    pub fn about(&self) -> About {
        self.decoder.about()
    }

    /// Replaces the content of `channels` by the next samples, at most `frames` for each channel. At the end of the file, all
    /// channels become empty.
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

    /// Decodes the next packet that has samples. Returns `false` at the end.
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

    /// Refuses a packet that exceeds [`LOUDEST`]. Such a level comes from a decoding error, and harms ears and loudspeakers.
    fn check_level(&self) -> Result<(), Error> {
        // Floating-point samples may have any level.
        if self.about().natural_depth.is_float() {
            return Ok(());
        }
        let is_loud = |sample: &f32| sample.abs() > LOUDEST;
        // A sum without branches is vectorised.
        let loud: usize =
            self.packet.iter().flatten().map(|sample| usize::from(is_loud(sample))).sum();
        match loud {
            0 => Ok(()),
            _ => Err(Error::broken(&self.path, "it decodes to more than +24 dB full scale")),
        }
    }
}

thread_local! {
    static IS_DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread is running a decoder. A panic hook should print nothing then, because the panic becomes an error.
pub fn is_decoding() -> bool {
    IS_DECODING.get()
}

/// Runs `decode`, which calls third-party code. Returns its result, or `None` if it panics: one file must not end a batch.
/// After a panic, the caller must not use anything that `decode` has modified.
pub fn guard<T>(decode: impl FnOnce() -> T) -> Option<T> {
    IS_DECODING.set(true);
    let done = catch_unwind(AssertUnwindSafe(decode));
    IS_DECODING.set(false);
    done.ok()
}
