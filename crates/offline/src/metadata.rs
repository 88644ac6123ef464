//! Metadata (titles, covers, markers) that an output takes from its input. `lofty` reads tags, `chunks_kept` adapts chunks.
//!
//! Fields that describe the old samples are left out: ReplayGain and other loudness, hashes, the encoder.

use crate::{
    chunks_kept::{self, KeptChunk},
    decoders::guard,
    formats::Container,
    shared_file::{SharedFile, Spliced},
    source::Source,
    wav::Chunk,
};
use lofty::{
    TextEncoding,
    config::{ParseOptions, WriteOptions},
    file::TaggedFileExt,
    id3::v2::{ExtendedTextFrame, Frame, Id3v2Tag},
    iff::wav::RiffInfoList,
    mp4::{AtomData, AtomIdent, Ilst},
    ogg::tag::VorbisComments,
    picture::{Picture, PictureInformation, PictureType},
    probe::Probe,
    tag::{ItemKey, Tag, TagExt, TagType},
};
use ogg_pager::Packets;
use std::io::{self, BufReader, Read, Seek};

/// Types of tags, the best first. If several tags have a field of the same name, the first of these types counts.
const KINDS: [TagType; 7] = [
    TagType::VorbisComments,
    TagType::Id3v2,
    TagType::Mp4Ilst,
    TagType::Ape,
    TagType::RiffInfo,
    TagType::AiffText,
    TagType::Id3v1,
];

/// Prefixes of the names of fields that describe the old samples.
const OF_SAMPLES: [&str; 12] = [
    "REPLAYGAIN_",
    "R128_",
    "MP3GAIN_",
    "ITUNNORM",
    "ITUNSMPB",
    "ITUNPGAP",
    "ACCURATERIP",
    "ACOUSTID_FINGERPRINT",
    "ENCODER",
    "ENCODING",
    "LENGTH",
    "MD5",
];

/// Fields that our encoder of FLAC writes itself, so they are not copied.
const OWN: [&str; 2] = ["WAVEFORMATEXTENSIBLE_CHANNEL_MASK", "METADATA_BLOCK_PICTURE"];

/// Maximum size of the data of a picture in FLAC, in bytes. The rest of the block, 4 KiB, is room for its description.
const LARGEST_PICTURE: usize = (1 << 24) - 4096;

/// Metadata that an output gets from its input.
#[derive(Default)]
pub struct Metadata {
    /// Chunks that precede the samples in a WAV output.
    pub before: Vec<KeptChunk>,
    /// Chunks that follow the samples in a WAV output.
    pub after: Vec<KeptChunk>,
    /// Names and values of the fields in a FLAC output.
    pub fields: Vec<(String, String)>,
    /// Pictures in a FLAC output, as contents of picture blocks.
    pub pictures: Vec<Vec<u8>>,
    /// Names of fields and chunks of the input that the output lacks.
    pub left_out: Vec<String>,
}

/// Content of all tags of a file.
#[derive(Default)]
struct Tags {
    /// Names in upper case, and values.
    fields: Vec<(String, String)>,
    pictures: Vec<Picture>,
    /// Names of fields that describe the old samples.
    left_out: Vec<String>,
}

impl Metadata {
    /// Reads the metadata of `file` that `container` can store. `source` must be the reader of `file`. `rates` are the sample
    /// rates of input and output in Hz.
    pub fn read(
        file: &SharedFile,
        source: &mut Source,
        container: Container,
        rates: [u32; 2],
    ) -> io::Result<Self> {
        let mut wav = source.wav();
        let is_wav = wav.is_some();
        let chunks = wav.as_ref().map(|wav| (wav.before.clone(), wav.after.clone()));
        let (before, after) = chunks.unwrap_or_default();
        let holds_tags = |chunk: &Chunk| chunks_kept::holds_tags(chunk.id);
        let has_tags = !is_wav || before.iter().chain(&after).any(holds_tags);
        let tags = if has_tags { Tags::read(file) } else { Tags::default() };
        let mut metadata = Self { left_out: tags.left_out.clone(), ..Self::default() };
        match container {
            Container::Flac => {
                let others = before.iter().chain(&after).filter(|chunk| !holds_tags(chunk));
                metadata.left_out.extend(others.map(|chunk| chunk.name()));
                metadata.pictures = tags.blocks();
                metadata.fields = tags.fields;
            }
            Container::Wav => {
                // Copies the tags of a WAV file unchanged. If it has a field that must be left out, or is another format,
                // writes new tags.
                let keeps = is_wav && tags.left_out.is_empty();
                let mut keep = |chunks: Vec<Chunk>| -> io::Result<Vec<KeptChunk>> {
                    let mut kept = Vec::new();
                    let Some(wav) = &mut wav else { return Ok(kept) };
                    for chunk in chunks {
                        if !keeps && chunks_kept::is_tag(wav, chunk)? {
                            continue;
                        }
                        match chunks_kept::keep(wav, chunk, rates)? {
                            Some(kept_chunk) => kept.push(kept_chunk),
                            None => metadata.left_out.push(chunk.name()),
                        }
                    }
                    Ok(kept)
                };
                metadata.before = keep(before)?;
                metadata.after = keep(after)?;
                let has_any = !tags.fields.is_empty() || !tags.pictures.is_empty();
                if !keeps && has_any {
                    metadata.after.extend(tags.chunks());
                }
            }
        }
        Ok(metadata)
    }
}

/// Returns the metadata of FLAC in Ogg as the head of a FLAC file, because `lofty` reads FLAC only outside of containers.
/// Returns `None` for other files.
///
/// The first packet begins with 9 bytes. The last two of them state how many packets with a metadata block follow. The rest of
/// the packet is the start of a FLAC file (RFC 9639, section 10.1).
fn flac_in_ogg(file: &mut (impl Read + Seek)) -> Option<Vec<u8>> {
    let (first, _) = Packets::read_count(file, 1).ok()?;
    let head = first.get(0).filter(|head| head.starts_with(b"\x7FFLAC"))?;
    let (front, block) = head.split_at_checked(9)?;
    let count = u16::from_be_bytes([front[7], front[8]]) as isize;
    let (blocks, _) = Packets::read_count(file, count).ok()?;
    Some(block.iter().copied().chain(blocks.iter().flatten().copied()).collect())
}

impl Tags {
    /// Reads the tags of `file`. Broken tags count as missing.
    fn read(file: &SharedFile) -> Self {
        let read = guard(|| {
            let whole = || Some(file.part(0..file.metadata().ok()?.len()));
            // Both cases have the same type of reader: `lofty` is large, and would be compiled for each type.
            let from = match flac_in_ogg(&mut BufReader::new(whole()?)) {
                Some(blocks) => Spliced::new(blocks, file, 0..0),
                None => whole()?,
            };
            let mut options = ParseOptions::new();
            let options = options.read_properties(false);
            let probe = Probe::new(BufReader::new(from)).options(options);
            probe.guess_file_type().ok()?.read().ok()
        });
        let mut tags = Self::default();
        let Some(file) = read.flatten() else { return tags };
        for tag in
            KINDS.iter().flat_map(|kind| file.tags().iter().filter(|tag| tag.tag_type() == *kind))
        {
            tags.add(tag);
        }
        tags
    }

    /// Adds the fields of `tag` whose names no earlier tag has. Adds its pictures if no earlier tag has any.
    fn add(&mut self, tag: &Tag) {
        let known: Vec<String> = self.fields.iter().map(|(name, _)| name.clone()).collect();
        let mut fields: Vec<(String, String)> =
            VorbisComments::from(tag.clone()).take_items().collect();
        // The conversion loses this field, and may lose those with custom names.
        let tempo = match tag.tag_type() {
            TagType::Mp4Ilst => tempo(&Ilst::from(tag.clone())),
            _ => tag.get_string(ItemKey::IntegerBpm).map(str::to_owned),
        };
        if let Some(tempo) = tempo.filter(|_| tag.get_string(ItemKey::Bpm).is_none()) {
            fields.push(("BPM".into(), tempo));
        }
        if tag.tag_type() == TagType::Id3v2 {
            for frame in &Id3v2Tag::from(tag.clone()) {
                if let Frame::UserText(text) = frame {
                    let field = (text.description.to_uppercase(), text.content.to_string());
                    if !fields.iter().any(|(name, _)| name.eq_ignore_ascii_case(&field.0)) {
                        fields.push(field);
                    }
                }
            }
        }
        for (name, value) in fields {
            let name = name.to_uppercase();
            if OF_SAMPLES.iter().any(|start| name.starts_with(start)) {
                if !self.left_out.contains(&name) {
                    self.left_out.push(name);
                }
            } else if is_name(&name) && !OWN.contains(&&*name) && !known.contains(&name) {
                self.fields.push((name, value));
            }
        }
        if self.pictures.is_empty() {
            self.pictures.extend(tag.pictures().iter().cloned());
        }
    }

    /// Returns the pictures as contents of FLAC picture blocks. Leaves out those that FLAC forbids.
    fn blocks(&self) -> Vec<Vec<u8>> {
        let mut icons = Vec::new();
        let fits = |picture: &&Picture| {
            // FLAC permits one icon of each kind.
            let kind = picture.pic_type();
            let is_icon = matches!(kind, PictureType::Icon | PictureType::OtherIcon);
            let is_first = !is_icon || !icons.contains(&kind.as_u8());
            icons.push(kind.as_u8());
            is_first && picture.data().len() <= LARGEST_PICTURE
        };
        let block = |picture: &Picture| {
            let information = PictureInformation::from_picture(picture).unwrap_or_default();
            picture.as_flac_bytes(information, false)
        };
        self.pictures.iter().filter(fits).map(block).collect()
    }

    fn chunks(self) -> Vec<KeptChunk> {
        let mut comments = VorbisComments::default();
        for (name, value) in &self.fields {
            comments.push(name.clone(), value.clone());
        }
        let mut tag = Tag::from(comments);
        self.pictures.into_iter().for_each(|picture| tag.push_picture(picture));
        let tempo = tag.get_string(ItemKey::Bpm).filter(|tempo| tempo.parse::<u16>().is_ok());
        if let Some(tempo) = tempo.map(str::to_owned) {
            tag.insert_text(ItemKey::IntegerBpm, tempo);
        }
        let mut id3 = Id3v2Tag::from(tag.clone());
        for (name, value) in self.fields {
            let key = ItemKey::from_key(TagType::VorbisComments, &name);
            if key.and_then(|key| key.map_key(TagType::Id3v2)).is_none() {
                let text = ExtendedTextFrame::new(TextEncoding::UTF8, name, value);
                id3.insert(Frame::UserText(text));
            }
        }
        let options = WriteOptions::default().preferred_padding(0);
        let mut chunks = Vec::new();
        let mut info = Vec::new();
        if RiffInfoList::from(tag).dump_to(&mut info, options).is_ok() && info.len() > 8 {
            chunks.push(KeptChunk::Made(*b"LIST", info.split_off(8)));
        }
        let mut content = Vec::new();
        if id3.dump_to(&mut content, options).is_ok() && !content.is_empty() {
            chunks.push(KeptChunk::Made(*b"id3 ", content));
        }
        chunks
    }
}

/// Returns the tempo in beats per minute that MP4 has as a number.
fn tempo(tags: &Ilst) -> Option<String> {
    match tags.get(&AtomIdent::Fourcc(*b"tmpo"))?.data().next()? {
        AtomData::SignedInteger(tempo) => Some(tempo.to_string()),
        _ => None,
    }
}

/// Returns whether `name` is a valid name of a field in FLAC.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| matches!(byte, 0x20..=0x7D) && byte != b'=')
}
