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
mod symphonia;
pub mod tags;

use self::symphonia::SymphoniaDecoder;
use crate::{
    error::Fault,
    shared_file::{SharedFile, Spliced},
    wav::{CodedSamples, Depth, Format},
};
use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

/// Maximum magnitude of a decoded sample: +24 dB full scale. Codings in floating point have no limit. Music exceeds full scale
/// by some 3 dB, test streams for decoders by 18 dB, a decoding error by 80 dB.
const LOUDEST: f32 = 16.0;

/// Properties of a decoder's file.
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
    fn next(&mut self, packet: &mut Vec<Vec<f32>>) -> Result<bool, Fault>;
}

/// Format that the first bytes of a file show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Flac,
    Mpeg,
    Aiff,
    /// Formats that `symphonia` tells apart: CAF, Ogg and MP4.
    Other,
}

/// Opens the file called `path`, whose extension is a hint for `symphonia`. The content begins at `start`, after tags.
pub fn open(
    path: &Path,
    file: &SharedFile,
    kind: Kind,
    start: u64,
) -> Result<Box<dyn Decoder>, Fault> {
    let len = file.metadata()?.len();
    let replaced = match kind {
        Kind::Flac => return Ok(Box::new(flac::Flac::open(file, start)?)),
        Kind::Mpeg => return Ok(Box::new(mp3::Mp3::open(file, 0..len)?)),
        Kind::Aiff => aiff::splice(file, start, len)?,
        Kind::Other => {
            let closed = mp4::closed(file, len)?.or(open_end::closed_caf(file, len)?);
            closed.or(open_end::closed_ogg(file, len)?)
        }
    };
    let source = replaced.unwrap_or_else(|| file.part(0..len));
    Ok(Box::new(SymphoniaDecoder::open(path, source, None)?))
}

/// Opens `samples`, the non-PCM samples of the WAV file called `path`.
pub fn open_coded_samples(
    path: &Path,
    file: &SharedFile,
    samples: CodedSamples,
) -> Result<Box<dyn Decoder>, Fault> {
    Ok(match samples {
        CodedSamples::Mp3(bytes) => Box::new(mp3::Mp3::open(file, bytes)?),
        CodedSamples::Wave { head, body, zeros, frames } => {
            let spliced = Spliced::new(head, file, body).with_tail(vec![0; zeros]);
            Box::new(SymphoniaDecoder::open(path, spliced, Some(frames))?)
        }
    })
}

pub struct Reader {
    decoder: Box<dyn Decoder>,
    /// Decoded samples of the last packet, by channel.
    packet: Vec<Vec<f32>>,
    /// Number of frames of `packet` that the caller has already got.
    used: usize,
    /// Whether the end has been reached. Decoders are not called again after it.
    ended: bool,
}

impl Reader {
    pub fn new(decoder: Box<dyn Decoder>) -> Result<Self, Fault> {
        let mut reader = Self { decoder, packet: Vec::new(), used: 0, ended: false };
        // Decodes the first packet now: only it shows the true number of channels and the true rate.
        if !reader.decode()? {
            let states_frames = reader.about().frames > Some(0);
            return Err(if states_frames { Fault::CutShort } else { Fault::Empty });
        }
        Ok(reader)
    }

    pub fn about(&self) -> About {
        self.decoder.about()
    }

    /// Replaces the content of `channels` by the next samples, at most `frames` for each channel. At the end of the file, all
    /// channels become empty.
    pub fn read(&mut self, channels: &mut [Vec<f32>], frames: usize) -> Result<(), Fault> {
        channels.iter_mut().for_each(Vec::clear);
        let mut room = frames;
        while room > 0 {
            if self.used == self.packet[0].len() && !self.decode()? {
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
    fn decode(&mut self) -> Result<bool, Fault> {
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
    fn check_level(&self) -> Result<(), Fault> {
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
            _ => Err(Fault::Broken("it decodes to more than +24 dB full scale".into())),
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
