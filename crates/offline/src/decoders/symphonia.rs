//! Decoder, by `symphonia`, of AIFF, CAF, Ogg Vorbis, MP4 with ALAC or AAC, and WAV in other codings than PCM and MP3.

use super::{About, Decoder, codebooks, guard, mp4};
use crate::{
    error::Fault,
    formats::extension,
    shared_file::Spliced,
    wav::{Depth, Format},
};
use std::path::Path;
use symphonia::core::{
    audio::{Channels, sample::SampleFormat},
    codecs::audio::{
        AudioCodecId, AudioCodecParameters, AudioDecoder, AudioDecoderOptions,
        well_known::{
            CODEC_ID_AAC, CODEC_ID_ADPCM_IMA_QT, CODEC_ID_ADPCM_IMA_WAV, CODEC_ID_ADPCM_MS,
            CODEC_ID_ALAC, CODEC_ID_PCM_ALAW, CODEC_ID_PCM_F32BE, CODEC_ID_PCM_F32LE,
            CODEC_ID_PCM_F64BE, CODEC_ID_PCM_F64LE, CODEC_ID_PCM_MULAW, CODEC_ID_VORBIS,
        },
    },
    errors::Error as DecodingError,
    formats::{FormatOptions, FormatReader, TrackType, probe::Hint, well_known::FORMAT_ID_CAF},
    io::MediaSourceStream,
    meta::MetadataOptions,
};
use symphonia_codec_aac::AacDecoder;

/// Codings that decode to more bits than they store.
const COMPANDED: [AudioCodecId; 5] = [
    CODEC_ID_PCM_ALAW,
    CODEC_ID_PCM_MULAW,
    CODEC_ID_ADPCM_MS,
    CODEC_ID_ADPCM_IMA_QT,
    CODEC_ID_ADPCM_IMA_WAV,
];

/// Codings in floating point. Some containers do not declare them as such.
const FLOAT: [AudioCodecId; 4] =
    [CODEC_ID_PCM_F32BE, CODEC_ID_PCM_F32LE, CODEC_ID_PCM_F64BE, CODEC_ID_PCM_F64LE];

pub struct SymphoniaDecoder {
    reader: Box<dyn FormatReader>,
    stream: Stream,
    /// Format of the samples; channels and rate are 0 until some are decoded.
    format: Format,
    natural_depth: Depth,
}

/// Track being decoded. Chained files have several, one after the other.
struct Stream {
    decoder: Box<dyn AudioDecoder>,
    /// Id of the track.
    track: u32,
    /// Number of frames that the file states for the track, if it does.
    frames: Option<u64>,
    /// Number of frames still to be dropped before the music.
    skipped: u64,
    /// Whether samples after `frames` are dropped.
    drops_rest: bool,
    /// Number of frames decoded so far, without dropped ones.
    read: u64,
    /// Position at which the last decoded packet ends, in samples from the start of the track.
    packet_end: u64,
}

impl SymphoniaDecoder {
    /// Opens `source`. The extension of `path` is a hint for the format. `frames` overrides the number of frames in the header.
    pub fn open(path: &Path, mut source: Spliced, frames: Option<u64>) -> Result<Self, Fault> {
        let index = mp4::index(&mut source).map_err(|error| fault(error.into()))?;
        let source = MediaSourceStream::new(Box::new(source), Default::default());
        let mut hint = Hint::new();
        if let Some(extension) = extension(path) {
            hint.with_extension(&extension);
        }
        let (options, tags) = (FormatOptions::default(), MetadataOptions::default());
        let probe = symphonia::default::get_probe();
        let reader = guarded(|| probe.probe(&hint, source, options, tags)).map_err(fault)?;
        let mut stream = Stream::open(&*reader, index.as_ref())?;
        if let Some(frames) = frames {
            (stream.frames, stream.drops_rest) = (Some(frames), true);
        }
        let parameters = stream.decoder.codec_params();
        // Companded codings decode to more bits than they store. Containers state wrong bit depths for ALAC; the header of ALAC
        // itself has the right one.
        let bits = match parameters.codec {
            CODEC_ID_ALAC => parameters.extra_data.as_deref().and_then(alac_bits),
            CODEC_ID_AAC => None,
            codec => parameters.bits_per_sample.filter(|_| !COMPANDED.contains(&codec)),
        };
        let natural_depth = match (bits, parameters.sample_format) {
            _ if FLOAT.contains(&parameters.codec) => Depth::Float32,
            (_, Some(SampleFormat::F64)) | (Some(_), Some(SampleFormat::F32)) => Depth::Float32,
            (Some(..=8), _) => Depth::Int8,
            (Some(..=16), _) => Depth::Int16,
            (Some(..=24), _) => Depth::Int24,
            (Some(_), _) => Depth::Int32,
            // AAC and Vorbis have no bit depth. The output gets 16 bits, as from sox and ffmpeg.
            (None, _) => Depth::Int16,
        };
        let depth = if bits.is_some() { natural_depth } else { Depth::Float32 };
        let format = Format { channels: 0, rate: 0, depth, speakers: 0 };
        Ok(Self { reader, stream, format, natural_depth })
    }
}

impl Decoder for SymphoniaDecoder {
    fn about(&self) -> About {
        let Self { format, natural_depth, .. } = *self;
        About { format, natural_depth, frames: self.stream.frames }
    }

    fn next(&mut self, packet: &mut Vec<Vec<f32>>) -> Result<bool, Fault> {
        let (reader, stream) = (&mut self.reader, &mut self.stream);
        packet.iter_mut().for_each(Vec::clear);
        let next = match guarded(|| reader.next_packet()) {
            Ok(Some(next)) => next,
            Ok(None) => return stream.check_length().map(|()| false),
            // Another stream, in a chained Ogg file.
            Err(DecodingError::ResetRequired) => {
                stream.check_length()?;
                *stream = Stream::open(&**reader, None)?;
                // The header of the first stream does not count the frames of this one.
                stream.frames = None;
                return Ok(true);
            }
            Err(other) => return Err(fault(other)),
        };
        if next.track_id != stream.track {
            return Ok(true);
        }
        let samples = guarded(|| stream.decoder.decode(&next)).map_err(fault)?;
        let (channels, rate) = (samples.num_planes(), samples.spec().rate());
        if samples.frames() == 0 {
            return Ok(true);
        }
        let Ok(channels @ 1..) = u16::try_from(channels) else {
            return Err(fault(DecodingError::Unsupported("its number of channels")));
        };
        if self.format.channels == 0 {
            (self.format.channels, self.format.rate) = (channels, rate);
            self.format.speakers = speakers(samples.spec().channels());
        } else if (self.format.channels, self.format.rate) != (channels, rate) {
            return Err(fault(DecodingError::DecodeError("channels or rate change on the way")));
        }
        stream.packet_end = next.pts.saturating_add(next.dur).get().max(0) as u64;
        samples.copy_to_vecs_planar(packet);
        stream.cut_to_audible(packet);
        Ok(true)
    }
}

impl Stream {
    fn open(reader: &dyn FormatReader, index: Option<&mp4::Index>) -> Result<Self, Fault> {
        let track = reader.default_track(TrackType::Audio);
        let track = track.ok_or(Fault::NotAudio("it has no audio track"))?;
        let parameters = track.codec_params.as_ref().and_then(|parameters| parameters.audio());
        let parameters = parameters.ok_or(Fault::NotAudio("its coding is unknown"))?;
        let count = parameters.channels.as_ref().map_or(0, Channels::count);
        Fault::check_channels(count)?;
        if let (CODEC_ID_VORBIS, Some(headers)) = (parameters.codec, &parameters.extra_data) {
            codebooks::check(headers).map_err(fault)?;
            // symphonia garbles Vorbis with more than two channels; docs/dependencies.md describes it.
            if count > 2 {
                return Err(Fault::Coding(format!("{count}-channel Vorbis")));
            }
        }
        let decoder = decoder(parameters)?;
        let is_aac = parameters.codec == CODEC_ID_AAC;
        // For ALAC, CAF counts whole packets, so its number of frames is rounded up.
        let format_and_codec = (reader.format_info().format, parameters.codec);
        let is_exact = format_and_codec != (FORMAT_ID_CAF, CODEC_ID_ALAC);
        // Ogg states the time at which the track ends. A recording of a stream may begin at any time, so this is no length.
        let is_exact = is_exact && track.start_ts.get() <= 0;
        let (id, frames) = (track.id, track.num_frames.filter(|_| is_exact));
        let audible = index.filter(|_| is_aac).and_then(|index| index.audible(frames));
        let rate = decoder.codec_params().sample_rate;
        // If the time unit is 1 / (2 x the decoder's rate), the file is HE-AAC, which codes the upper half of the spectrum
        // separately.
        let timescale = index.filter(|_| is_aac).and_then(mp4::Index::timescale);
        let is_he = timescale.is_some() && timescale == rate.map(|rate| 2 * rate);
        let extra_data = parameters.extra_data.as_deref().filter(|_| is_aac);
        if is_he
            || extra_data.is_some_and(has_upper_half)
            || audible.is_some_and(|audible| Some(audible.timescale) != rate)
        {
            return Err(Fault::Coding("HE-AAC".into()));
        }
        // For AAC, samples after `frames` are dropped, even if the file has no edit list.
        let (skipped, drops_rest) = (audible.map_or(0, |audible| audible.start), is_aac);
        let frames = audible.map_or(frames, |audible| Some(audible.frames));
        Ok(Self { decoder, track: id, frames, skipped, drops_rest, read: 0, packet_end: 0 })
    }

    /// Cuts `packet` to the samples of the music.
    fn cut_to_audible(&mut self, packet: &mut [Vec<f32>]) {
        let len = packet[0].len() as u64;
        let dropped = self.skipped.min(len);
        self.skipped -= dropped;
        let mut audible = len - dropped;
        if let Some(frames) = self.frames.filter(|_| self.drops_rest) {
            audible = audible.min(frames.saturating_sub(self.read));
        }
        for channel in packet {
            channel.truncate((dropped + audible) as usize);
            channel.drain(..dropped as usize);
        }
        self.read += audible;
    }

    /// Checks at the end that the track has as many samples as its header states, if it states a number.
    fn check_length(&self) -> Result<(), Fault> {
        match self.frames {
            Some(frames) if frames > self.read && self.read > 0 => {
                let missing = frames - self.read;
                // The packets reach the end of the track, so the missing ones are damaged: decoders skip damaged packets.
                if self.packet_end >= frames {
                    return Err(Fault::Damaged { missing, frames });
                }
                Err(Fault::Truncated { missing, frames })
            }
            _ => Ok(()),
        }
    }
}

fn decoder(parameters: &AudioCodecParameters) -> Result<Box<dyn AudioDecoder>, Fault> {
    let options = AudioDecoderOptions::default();
    let is_aac = parameters.codec == CODEC_ID_AAC;
    let made = guarded(|| {
        if is_aac {
            return Ok(Box::new(AacDecoder::try_new(parameters, &options)?) as _);
        }
        symphonia::default::get_codecs().make_audio_decoder(parameters, &options)
    });
    made.map_err(|error| match error {
        // symphonia decodes only AAC Low Complexity with one or two channels.
        DecodingError::Unsupported(_) if is_aac => Fault::Coding("HE-AAC or surround AAC".into()),
        DecodingError::Unsupported(_) => Fault::Coding("of an unknown kind".into()),
        other => fault(other),
    })
}

/// Runs `decode`. Returns its result, or a fault if it panics.
fn guarded<T>(decode: impl FnOnce() -> Result<T, DecodingError>) -> Result<T, DecodingError> {
    guard(decode).unwrap_or(Err(DecodingError::DecodeError("its content contradicts itself")))
}

/// Returns whether a configuration of AAC Low Complexity signals SBR, the upper half of the spectrum in HE-AAC (ISO 14496-3,
/// 1.6.2.1: `syncExtensionType` 0x2B7, object type 5, `sbrPresentFlag`).
fn has_upper_half(configuration: &[u8]) -> bool {
    matches!(configuration, [_, _, 0x56, 0xE5, 0x80..=0xFF, ..])
}

/// Returns the bits per sample that ALAC's own header states. The atoms `frma` and `alac` may precede it.
fn alac_bits(header: &[u8]) -> Option<u32> {
    let is_wrapped = header.get(4..8) == Some(b"frma");
    header.get(if is_wrapped { 24 } else { 0 } + 5).map(|bits| u32::from(*bits))
}

/// Returns the speaker layout of `channels`, as the bit mask of WAV; 0 for mono, stereo, and unknown layouts.
fn speakers(channels: &Channels) -> u32 {
    match channels {
        // The channels are in the order of the mask's bits. The first 18 bits mean the same in WAV.
        Channels::Positioned(positions) if channels.count() > 2 && positions.bits() < 1 << 18 => {
            positions.bits() as u32
        }
        _ => 0,
    }
}

fn fault(error: DecodingError) -> Fault {
    match error {
        // At the end of the data, decoders return I/O errors without an error code of the system.
        DecodingError::IoError(source) if source.raw_os_error().is_some() => Fault::Read(source),
        DecodingError::IoError(_) => Fault::CutShort,
        other => Fault::Broken(other.to_string().replace('\n', " ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_of_an_upper_half_is_seen_behind_low_complexity() {
        // Configuration of Low Complexity at 22.05 kHz, mono, then the signal of an upper half up to 44.1 kHz.
        assert!(has_upper_half(&[0x13, 0x88, 0x56, 0xE5, 0xA5, 0x48, 0x80]));
        // Configurations without the signal.
        for plain in [&[0x13, 0x88, 0x56, 0xE5, 0x25][..], &[0x13, 0x88], &[]] {
            assert!(!has_upper_half(plain), "{plain:?}");
        }
    }
}
