//! FLAC, AIFF, CAF, MP3, Ogg Vorbis, ALAC and AAC in MP4 and coded WAV, by `symphonia`.

use super::{
    Error, codebooks,
    formats::extension,
    guard::guarded,
    mp4,
    parts::{Part, Parts},
    shared_file::SharedFile,
    wav::{Depth, Format},
};
use std::{
    io,
    path::{Path, PathBuf},
};
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
    errors::Error as Fault,
    formats::{FormatOptions, FormatReader, TrackType, probe::Hint, well_known::FORMAT_ID_CAF},
    io::MediaSourceStream,
    meta::MetadataOptions,
};
use symphonia_codec_aac::AacDecoder;

/// No coding but PCM has more channels, and decoders set memory aside for each before they see a sample.
const MOST_CHANNELS: usize = 255;

/// Codings with fewer bits than their samples have.
const COMPANDED: [AudioCodecId; 5] = [
    CODEC_ID_PCM_ALAW,
    CODEC_ID_PCM_MULAW,
    CODEC_ID_ADPCM_MS,
    CODEC_ID_ADPCM_IMA_QT,
    CODEC_ID_ADPCM_IMA_WAV,
];

/// Floating point, which containers do not always declare.
const FLOAT: [AudioCodecId; 4] =
    [CODEC_ID_PCM_F32BE, CODEC_ID_PCM_F32LE, CODEC_ID_PCM_F64BE, CODEC_ID_PCM_F64LE];

/// A file being decoded.
pub struct Reader {
    path: PathBuf,
    /// Parts of the file that follow the current stream.
    parts: Parts,
    stream: Stream,
    format: Format,
    natural_depth: Depth,
    /// Samples a channel of the file, if its header has it.
    frames: Option<u64>,
    /// Samples of the last packet, and the number of them that are read.
    packet: Vec<Vec<f32>>,
    used: usize,
}

/// A part of a file being decoded.
struct Stream {
    container: Box<dyn FormatReader>,
    decoder: Box<dyn AudioDecoder>,
    track: u32,
    frames: Option<u64>,
    /// Samples that are still to be left out, and whether those behind `frames` are.
    skipped: u64,
    ends: bool,
    read: u64,
    /// End of the last packet.
    end: u64,
}

impl Reader {
    /// Opens `file`, called `path`.
    ///
    /// # Errors
    /// When the format is unknown, or the file has nothing that can be decoded.
    pub(crate) fn open(path: &Path, file: SharedFile) -> Result<Self, Error> {
        let unreadable = |source| Error::Read { path: path.into(), source };
        let mut parts = Parts::new(file).map_err(unreadable)?;
        let first = parts.next().expect("any file is one part or more");
        let stream = Stream::open(path, first)?;
        let parameters = stream.parameters();
        // Codings of eight bits or fewer have samples of more bits. Containers are wrong about ALAC, whose own header is right.
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
            // MP3, AAC and Vorbis have none; sox and ffmpeg make 16 bits of them, too.
            (None, _) => Depth::Int16,
        };
        let depth = if bits.is_some() { natural_depth } else { Depth::Float32 };
        let frames = stream.frames.filter(|_| parts.left() == 0);
        let mut reader = Self {
            path: path.into(),
            parts,
            stream,
            format: Format { channels: 0, rate: 0, depth, speakers: 0 },
            natural_depth,
            frames,
            packet: Vec::new(),
            used: 0,
        };
        // Only decoded samples show the true channels and rate.
        if !reader.decode()? {
            let path = path.into();
            return Err(if frames > Some(0) { Error::CutShort(path) } else { Error::Empty(path) });
        }
        Ok(reader)
    }

    /// Returns the format of the samples.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the default depth of an output.
    pub fn natural_depth(&self) -> Depth {
        self.natural_depth
    }

    /// Samples a channel in the whole file, if its header has it.
    pub fn frames(&self) -> Option<u64> {
        self.frames
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
        loop {
            let (stream, fault) = (&mut self.stream, |fault| fault_in(&self.path, fault));
            let next = guarded(|| stream.container.next_packet());
            let Some(packet) = next.map_err(fault)? else {
                stream.check_length(&self.path)?;
                let Some(part) = self.parts.next() else { return Ok(false) };
                self.stream = Stream::open(&self.path, part)?;
                continue;
            };
            if packet.track_id != stream.track {
                continue;
            }
            let samples = guarded(|| stream.decoder.decode(&packet)).map_err(fault)?;
            let (channels, rate) = (samples.num_planes(), samples.spec().rate());
            if samples.frames() == 0 {
                continue;
            }
            let Ok(channels @ 1..) = u16::try_from(channels) else {
                return Err(fault(Fault::Unsupported("its number of channels")));
            };
            if self.packet.is_empty() {
                (self.format.channels, self.format.rate) = (channels, rate);
                self.format.speakers = speakers(samples.spec().channels());
            } else if (self.format.channels, self.format.rate) != (channels, rate) {
                return Err(fault(Fault::DecodeError("channels or rate change on the way")));
            }
            stream.end = packet.pts.saturating_add(packet.dur).get().max(0) as u64;
            samples.copy_to_vecs_planar(&mut self.packet);
            self.used = stream.shown(&mut self.packet);
            if self.used < self.packet[0].len() {
                return Ok(true);
            }
        }
    }
}

impl Stream {
    fn open(path: &Path, mut part: Part) -> Result<Self, Error> {
        let fault = |fault| fault_in(path, fault);
        let not_audio = |reason: &str| Error::NotAudio { path: path.into(), reason: reason.into() };
        let index = mp4::index(&mut part).map_err(|error| fault(error.into()))?;
        let stream = MediaSourceStream::new(Box::new(part), Default::default());
        let mut hint = Hint::new();
        if let Some(extension) = extension(path) {
            hint.with_extension(&extension);
        }
        let (options, tags) = (FormatOptions::default(), MetadataOptions::default());
        let probe = symphonia::default::get_probe();
        let container = guarded(|| probe.probe(&hint, stream, options, tags)).map_err(fault)?;
        let track = container
            .default_track(TrackType::Audio)
            .ok_or_else(|| not_audio("it has no audio track"))?;
        let parameters = track
            .codec_params
            .as_ref()
            .and_then(|parameters| parameters.audio())
            .ok_or_else(|| not_audio("its coding is unknown"))?;
        if parameters.channels.as_ref().is_some_and(|channels| channels.count() > MOST_CHANNELS) {
            return Err(not_audio("it has more than 255 channels"));
        }
        if let (CODEC_ID_VORBIS, Some(headers)) = (parameters.codec, &parameters.extra_data) {
            codebooks::check(headers).map_err(fault)?;
            // symphonia garbles them; docs/dependencies.md describes it.
            let count = parameters.channels.as_ref().map_or(0, Channels::count);
            if count > 2 {
                let coding = format!("{count}-channel Vorbis");
                return Err(Error::Coding { path: path.into(), coding });
            }
        }
        let options = AudioDecoderOptions::default();
        let is_aac = parameters.codec == CODEC_ID_AAC;
        let decoder = guarded(|| {
            if is_aac {
                return Ok(Box::new(AacDecoder::try_new(parameters, &options)?) as _);
            }
            symphonia::default::get_codecs().make_audio_decoder(parameters, &options)
        });
        let decoder: Box<dyn AudioDecoder> = decoder.map_err(|error| match error {
            // symphonia decodes AAC of Low Complexity with one or two channels.
            Fault::Unsupported(_) if is_aac => {
                Error::Coding { path: path.into(), coding: "HE-AAC or surround AAC".into() }
            }
            Fault::Unsupported(_) => not_audio("its coding is unknown"),
            other => fault(other),
        })?;
        // CAF counts whole packets.
        let rounded_up = (container.format_info().format, parameters.codec);
        let is_exact = rounded_up != (FORMAT_ID_CAF, CODEC_ID_ALAC);
        let (id, frames) = (track.id, track.num_frames.filter(|_| is_exact));
        let shown = index.filter(|_| is_aac).and_then(|index| index.shown(frames));
        let rate = decoder.codec_params().sample_rate;
        if shown.is_some_and(|shown| Some(shown.timescale) != rate) {
            return Err(Error::Coding { path: path.into(), coding: "HE-AAC".into() });
        }
        let (skipped, ends) = (shown.map_or(0, |shown| shown.start), shown.is_some());
        let frames = shown.map_or(frames, |shown| Some(shown.frames));
        Ok(Self { container, decoder, track: id, frames, skipped, ends, read: 0, end: 0 })
    }

    /// Cuts `packet` at the end of the music, and returns the number of samples before its start.
    fn shown(&mut self, packet: &mut [Vec<f32>]) -> usize {
        let len = packet[0].len() as u64;
        let early = self.skipped.min(len);
        self.skipped -= early;
        let mut shown = len - early;
        if let Some(frames) = self.frames.filter(|_| self.ends) {
            shown = shown.min(frames.saturating_sub(self.read));
        }
        packet.iter_mut().for_each(|channel| channel.truncate((early + shown) as usize));
        self.read += shown;
        early as usize
    }

    /// Returns the container's description of the coding.
    fn parameters(&self) -> &AudioCodecParameters {
        self.decoder.codec_params()
    }

    /// At the end: a header that knows a number of samples must be right.
    fn check_length(&self, path: &Path) -> Result<(), Error> {
        match self.frames {
            Some(frames) if frames > self.read && self.read > 0 => {
                let (path, missing) = (path.into(), frames - self.read);
                // Decoders skip damaged packets.
                if self.end >= frames {
                    return Err(Error::Damaged { path, missing, frames });
                }
                Err(Error::Truncated { path, missing, frames })
            }
            _ => Ok(()),
        }
    }
}

/// Returns the bits that a sample has by ALAC's own header, behind the atoms `frma` and `alac` if it is wrapped in them.
fn alac_bits(header: &[u8]) -> Option<u32> {
    let is_wrapped = header.get(4..8) == Some(b"frma");
    header.get(if is_wrapped { 24 } else { 0 } + 5).map(|bits| u32::from(*bits))
}

/// Returns the loudspeakers that channels are for, as WAV has them. Mono and stereo need none.
fn speakers(channels: &Channels) -> u32 {
    match channels {
        // The positions are in the order of their bits; the first 18 bits are WAV's.
        Channels::Positioned(positions) if channels.count() > 2 && positions.bits() < 1 << 18 => {
            positions.bits() as u32
        }
        _ => 0,
    }
}

fn fault_in(path: &Path, fault: Fault) -> Error {
    let path = path.to_path_buf();
    match fault {
        Fault::IoError(source) if source.kind() != io::ErrorKind::UnexpectedEof => {
            Error::Read { path, source }
        }
        Fault::IoError(_) => Error::CutShort(path),
        other => Error::NotAudio { path, reason: other.to_string().replace('\n', " ") },
    }
}
