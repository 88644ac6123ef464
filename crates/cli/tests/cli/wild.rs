//! Files as other programs write them: unknown lengths, odd headers, tags in wrong positions, loops. All are made here, after
//! public reports of faults.

use crate::{
    Folder, Wav, float_wav,
    interop::{in_16_bits, read_by, read_by_us, tool},
    signals, silence,
};
use std::{fs, process::Command};

/// Returns a folder with a chord of `frames` frames in `in.wav`, 16 bits, mono.
fn chord(frames: usize) -> Folder {
    let chord = signals::noisy_chord(frames as f64 / 44_100.0, 44_100.0);
    in_16_bits(&[chord[..frames].to_vec()])
}

/// Returns `bytes` with `new` written over the bytes from `at` on.
fn patched(mut bytes: Vec<u8>, at: usize, new: &[u8]) -> Vec<u8> {
    bytes[at..at + new.len()].copy_from_slice(new);
    bytes
}

fn position(bytes: &[u8], of: &[u8]) -> usize {
    bytes.windows(of.len()).position(|here| here == of).unwrap()
}

/// Every container with the placeholders that programs write for a length that they do not know: name, what writes the whole
/// file, and the bytes that are written over, each with a place, the distance from it and the bytes in hexadecimal.
const OPEN: &str = "\
zero.wav | ffmpeg -c:a pcm_s16le | RIFF 4 00000000, data 4 00000000
most.wav | ffmpeg -c:a pcm_s24le | RIFF 4 ffffffff, data 4 ffffffff
less.wav | ffmpeg -c:a pcm_u8 | RIFF 4 ffffffff, data 4 9bffffff
less2.wav | ffmpeg -c:a pcm_s16le | RIFF 4 ffffffff, data 4 dbffffff
sox.wav | ffmpeg -c:a pcm_f32le | RIFF 4 24f0ff7f, data 4 00f0ff7f
half.wav | ffmpeg -c:a pcm_f64le | RIFF 4 00000000, data 4 00000080
near.wav | ffmpeg -c:a pcm_s16le | RIFF 4 00000000, data 4 0000007f
mulaw.wav | ffmpeg -c:a pcm_mulaw | RIFF 4 ffffffff, data 4 ffffffff
ima.wav | ffmpeg -c:a adpcm_ima_wav | RIFF 4 ffffffff, data 4 ffffffff
big.wav | sox -B | RIFX 4 ffffffff, data 4 ffffffff
zero.rf64 | ffmpeg -rf64 always -f wav | ds64 8 00000000000000000000000000000000
most.rf64 | ffmpeg -rf64 always -f wav | ds64 8 ffffffffffffffffffffffffffffffff
zero.aiff | ffmpeg -c:a pcm_s16be | FORM 4 00000000, COMM 10 00000000, SSND 4 00000000
sox.aiff | ffmpeg -c:a pcm_s16be | FORM 4 7f00004e, SSND 4 7f000008
sowt.aiff | ffmpeg -c:a pcm_s16le | FORM 4 00000000, COMM 10 00000000, SSND 4 00000000
mulaw.aiff | ffmpeg -c:a pcm_mulaw | FORM 4 00000000, COMM 10 00000000, SSND 4 00000000
minus.caf | ffmpeg -c:a pcm_s16be | data 4 ffffffffffffffff
zero.caf | ffmpeg -c:a pcm_s24le | data 4 0000000000000000
most.caf | ffmpeg -c:a pcm_f32be | data 4 7fffffffffffffff
zero.flac | ffmpeg -sample_fmt s16 | fLaC 22 00000000
zero.m4a | ffmpeg -c:a alac -movflags +faststart | mdat -4 00000000
page.ogg | sox -C 6 |
pages.ogg | sox -C 6 |";

/// Removes the mark of the last page from an Ogg file.
fn without_end(mut file: Vec<u8>) -> Vec<u8> {
    let last = file.windows(4).rposition(|bytes| bytes == b"OggS").unwrap();
    let page = &mut file[last..];
    assert_eq!(page[5], 4, "it has the mark");
    [5, 22, 23, 24, 25].into_iter().for_each(|at| page[at] = 0);
    // The checksum of Ogg, bit by bit.
    let bit = |sum: u32, _| (sum << 1) ^ ((sum >> 31) * 0x04C1_1DB7);
    let sum = page.iter().fold(0, |sum, byte| (0..8).fold(sum ^ (u32::from(*byte) << 24), bit));
    page[22..26].copy_from_slice(&sum.to_le_bytes());
    file
}

#[test]
fn a_length_that_the_writer_could_not_know_reaches_to_the_end() {
    let (short, long) = (chord(5000), chord(200_000));
    for row in OPEN.lines() {
        let [name, writer, patches] = row.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let folder = if name == "pages.ogg" { &long } else { &short };
        let (program, flags) = writer.split_once(' ').unwrap();
        match program {
            "sox" => tool(folder, &format!("sox -D in.wav {flags} {name}")),
            _ => tool(folder, &format!("ffmpeg -v error -i in.wav {flags} {name}")),
        };
        let whole = fs::read(folder.path(name)).unwrap();
        let expected = read_by_us(folder, name);
        assert!(expected.len() >= 5000, "{name}");
        let open = match patches {
            "" => without_end(whole),
            _ => patches.split(", ").fold(whole, |file, patch| {
                let [place, distance, new] = patch.split(' ').collect::<Vec<_>>()[..] else {
                    panic!("{row}")
                };
                let at = position(&file, place.as_bytes());
                let at = at.strict_add_signed(distance.parse().unwrap());
                let byte = |at| u8::from_str_radix(&new[at..at + 2], 16).unwrap();
                patched(file, at, &(0..new.len()).step_by(2).map(byte).collect::<Vec<_>>())
            }),
        };
        folder.put(name, &open);
        assert!(read_by_us(folder, name) == expected, "{name}");
    }
    // A recording of a stream begins at any page, behind the headers, and is not marked at its end.
    let pages = fs::read(long.path("pages.ogg")).unwrap();
    let starts: Vec<usize> =
        (0..pages.len()).filter(|at| pages[*at..].starts_with(b"OggS")).collect();
    long.put("stream.ogg", &[&pages[..starts[2]], &pages[starts[4]..]].concat());
    let lengths = [read_by("ffmpeg", &long, "stream.ogg"), read_by_us(&long, "stream.ogg")];
    let [theirs, ours] = lengths.map(|samples| samples.len());
    assert!(ours > 5000 && ours.abs_diff(theirs) < 2048, "{ours}, {theirs}");
    // Other lengths are believed: these files are truncated.
    let [wav, caf] = ["zero.wav", "minus.caf"].map(|name| fs::read(short.path(name)).unwrap());
    let stated = |file: &[u8], len: &[u8]| patched(file.to_vec(), position(file, b"data") + 4, len);
    for (name, file) in [
        ("1.wav", stated(&wav, &20_000u32.to_le_bytes())),
        ("2.wav", stated(&wav, &(1u32 << 30).to_le_bytes())),
        ("3.wav", stated(&wav, &0xF000_0000u32.to_le_bytes())),
        ("4.caf", stated(&caf, &20_000u64.to_be_bytes())),
        ("5.ogg", pages[..pages.len() - 100].to_vec()),
    ] {
        short.put(name, &file);
        let line = short.fail(&format!("render {name} -o out.wav"), 1);
        assert!(line.starts_with(&format!("{name}: truncated")), "{line}");
    }
}

#[test]
fn mu_law_and_a_law_are_read_behind_every_format_chunk() {
    let folder = chord(4001);
    for (coding, tag) in [("pcm_mulaw", 7u16), ("pcm_alaw", 6)] {
        tool(&folder, &format!("ffmpeg -v error -y -i in.wav -c:a {coding} theirs.wav"));
        let expected = read_by_us(&folder, "theirs.wav");
        let theirs = fs::read(folder.path("theirs.wav")).unwrap();
        let data = theirs[position(&theirs, b"data") + 8..].to_vec();
        let data = data[..4001].to_vec();
        let guid =
            [&tag.to_le_bytes()[..], &[0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]];
        let extensible = [&[22, 0, 8, 0, 4, 0, 0, 0][..], &guid.concat()].concat();
        for (tag, extension) in
            [(tag, vec![]), (tag, vec![0; 2]), (tag, vec![2, 0, 0, 0]), (0xFFFE, extensible)]
        {
            let wav = Wav {
                tag,
                channels: 1,
                rate: 44_100,
                bits: 8,
                extension,
                between: vec![],
                data: data.clone(),
            };
            folder.put("ours.wav", &wav.bytes());
            assert!(read_by_us(&folder, "ours.wav") == expected, "{coding}: {:?}", wav.extension);
        }
    }
}

#[test]
fn adpcm_is_read_to_the_last_sample_of_its_last_block() {
    let folder = chord(5003);
    for coding in ["adpcm_ima_wav", "adpcm_ms"] {
        tool(&folder, &format!("ffmpeg -v error -y -i in.wav -c:a {coding} theirs.wav"));
        let theirs = read_by("ffmpeg", &folder, "theirs.wav");
        let ours = read_by_us(&folder, "theirs.wav");
        assert!(ours.len() >= 5003 && theirs[..ours.len()] == ours, "{coding}: {}", ours.len());
        // The last block without its padding; `fact` has the number of samples.
        let bytes = fs::read(folder.path("theirs.wav")).unwrap();
        let data = position(&bytes, b"data");
        let len = u32::from_le_bytes(bytes[data + 4..data + 8].try_into().unwrap()) - 200;
        let cut = bytes[..data + 8 + len as usize].to_vec();
        let cut = patched(
            patched(cut, data + 4, &len.to_le_bytes()),
            4,
            &(data as u32 + len).to_le_bytes(),
        );
        folder.put("cut.wav", &cut);
        let cut = read_by_us(&folder, "cut.wav");
        assert!(
            cut.len() + 420 >= ours.len().min(5003) && cut == ours[..cut.len()],
            "{coding}: {}",
            cut.len()
        );
    }
}

#[test]
fn big_endian_riff_and_a_block_of_no_bytes_are_read() {
    let folder = chord(3000);
    let expected = read_by_us(&folder, "in.wav");
    let whole = fs::read(folder.path("in.wav")).unwrap();
    folder.put("zero.wav", &patched(whole.clone(), 32, &[0, 0]));
    assert!(read_by_us(&folder, "zero.wav") == expected);
    let data = position(&whole, b"data") + 8;
    let mut swapped = whole.clone();
    swapped[3] = b'X';
    for (start, len) in
        [(4, 4), (16, 4), (20, 2), (22, 2), (24, 4), (28, 4), (32, 2), (34, 2), (data - 4, 4)]
    {
        swapped[start..start + len].reverse();
    }
    swapped[data..].chunks_exact_mut(2).for_each(<[u8]>::reverse);
    folder.put("rifx.wav", &swapped);
    assert!(read_by_us(&folder, "rifx.wav") == expected);
}

#[test]
fn what_stands_around_the_frames_of_flac_concerns_no_sample() {
    let folder = chord(9000);
    let expected = read_by_us(&folder, "in.wav");
    tool(&folder, "ffmpeg -v error -i in.wav in.flac");
    let whole = fs::read(folder.path("in.flac")).unwrap();
    let (stream, frames) = (&whole[..42], &whole[position(&whole, &[0xFF, 0xF8])..]);
    let block = |kind: u8, content: &[u8]| {
        let [_, a, b, c] = (content.len() as u32).to_be_bytes();
        [&[kind, a, b, c], content].concat()
    };
    let id3v1 = [&b"TAG"[..], &[b'x'; 125]].concat();
    let ape = [
        b"old \0\0\0\0item\0x",
        &b"APETAGEX"[..],
        &2000u32.to_le_bytes(),
        &46u32.to_le_bytes(),
        &[1, 0, 0, 0, 0, 0, 0, 0],
        &[0; 8],
    ]
    .concat();
    let comments = block(0x84, &[&[0xFF, 0xFF, 0xFF, 0][..], b"xx"].concat());
    let picture = block(0x86, &[0xFF; 9]);
    for (name, file) in [
        ("comments", [stream, &comments, frames].concat()),
        ("picture", [stream, &picture, frames].concat()),
        ("id3v1", [&whole[..], &id3v1].concat()),
        ("ape", [&whole[..], &ape].concat()),
        ("both", [&whole[..], &ape, &id3v1].concat()),
        ("zeros", [&whole[..], &[0; 5000]].concat()),
    ] {
        folder.put("odd.flac", &file);
        assert!(read_by_us(&folder, "odd.flac") == expected, "{name}");
    }
    // Two streams in one file, without numbers of samples.
    let mut open = whole.clone();
    open[21] &= 0xF0;
    open[22..26].fill(0);
    folder.put("joined.flac", &[&open[..], &open].concat());
    assert!(read_by_us(&folder, "joined.flac") == [&expected[..], &expected].concat());
    let cut = [&whole[..], b"junk that is no frame"].concat();
    folder.put("junk.flac", &cut);
    let line = folder.fail("render junk.flac -o out.wav", 1);
    assert!(line.starts_with("junk.flac: damaged ("), "{line}");
}

#[test]
fn mp3_begins_with_its_first_whole_frame() {
    let folder = chord(20_000);
    tool(&folder, "ffmpeg -v error -i in.wav -b:a 128k -id3v2_version 0 in.mp3");
    let expected = read_by_us(&folder, "in.mp3");
    assert_eq!(expected.len(), 20_000);
    let whole = fs::read(folder.path("in.mp3")).unwrap();
    let id3v1 = [&b"TAG"[..], &[b'x'; 125]].concat();
    for front in [&[0][..], &[0; 1000], &id3v1, b"junk", &vec![0; 40_000]] {
        folder.put("late.mp3", &[front, &whole].concat());
        assert!(read_by_us(&folder, "late.mp3") == expected, "{} bytes", front.len());
    }
    // The file begins within a frame, behind the encoder's header: all whole frames are read.
    folder.put("cut.mp3", &whole[1000..]);
    let cut = read_by_us(&folder, "cut.mp3").len();
    assert_eq!(cut, read_by("ffmpeg", &folder, "cut.mp3").len());
    assert_eq!(cut % 1152, 0);
    // Zeros are refused: a wrong decoder would make noise of them.
    folder.put("no.mp3", &[0; 5000]);
    let line = folder.fail("render no.mp3 -o out.wav", 1);
    assert_eq!(line, "no.mp3: damaged (it has no frames of MPEG audio); copy or export it again");
}

#[test]
fn other_codings_of_mpeg_are_refused_with_a_command_that_reads_them() {
    let folder = chord(20_000);
    for (name, coding, what) in
        [("in.mp2", "mp2", "MPEG layer 2 (MP2)"), ("in.aac", "aac", "AAC stream (ADTS)")]
    {
        tool(&folder, &format!("ffmpeg -v error -i in.wav -c:a {coding} {name}"));
        let line = folder.fail(&format!("render {name} -o out.wav"), 1);
        let start =
            format!("{name}: unsupported coding {what}; convert the file: ffmpeg -i {name} ");
        assert!(line.starts_with(&start), "{line}");
    }
}

#[test]
fn aiff_with_a_chunk_that_is_longer_than_its_content_is_read() {
    let folder = chord(3000);
    tool(&folder, "ffmpeg -v error -i in.wav -c:a pcm_f32be in.aif");
    let expected = read_by_us(&folder, "in.aif");
    let whole = fs::read(folder.path("in.aif")).unwrap();
    let common = position(&whole, b"COMM") + 4;
    let len = u32::from_be_bytes(whole[common..common + 4].try_into().unwrap());
    let end = common + 4 + len as usize;
    let longer = [&whole[..end], &[0; 6], &whole[end..]].concat();
    folder.put("in.aif", &patched(longer, common, &(len + 6).to_be_bytes()));
    assert!(read_by_us(&folder, "in.aif") == expected);
}

#[test]
fn chained_ogg_files_are_read_to_the_last_link() {
    let folder = chord(20_000);
    tool(&folder, "sox -D in.wav -C 6 in.ogg");
    let one = read_by_us(&folder, "in.ogg");
    let bytes = fs::read(folder.path("in.ogg")).unwrap();
    folder.put("chain.ogg", &[&bytes[..], &bytes].concat());
    let both = read_by_us(&folder, "chain.ogg");
    assert_eq!(both.len(), 2 * one.len());
    assert!(both[..one.len()] == one);
}

#[test]
fn a_loop_stays_a_loop_with_what_is_before_and_behind_it() {
    let rate = 44_100.0;
    // 100 periods of 441 Hz are 10,000 frames.
    let tone = signals::sine(441.0, 0.4, 1.0, rate);
    let folder = Folder::new();
    let smpl = |start: u32, last: u32| {
        let words = [0, 0, 22_675, 60, 0, 0, 0, 1, 0, 0, 0, start, last, 0, 0];
        let content: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        [&b"smpl\x3C\0\0\0"[..], &content].concat()
    };
    let looped = |frames: usize, own: Option<(u32, u32)>| {
        let mut wav = float_wav(44_100, &[tone[..frames].to_vec()]);
        wav.extend(own.map_or(Vec::new(), |(start, last)| smpl(start, last)));
        let len = wav.len() as u32 - 8;
        patched(wav, 4, &len.to_le_bytes())
    };
    let rms = |samples: &[f32]| {
        (samples.iter().map(|x| x * x).sum::<f32>() / samples.len() as f32).sqrt()
    };
    let check = |flags: &str, start: usize, end: usize, len: usize| {
        folder.run(&format!("render in.wav -o out.wav --force --mix 100 {flags}"));
        let out = folder.floats("out.wav").remove(0);
        assert_eq!(out.len(), len, "{flags}");
        let own = &out[start..end];
        let inside = own.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f32::max);
        let wrap = (own[0] - own[own.len() - 1]).abs();
        assert!(wrap <= inside, "{flags}: {wrap} at the wrap, {inside} inside");
        let [first, last] = [&own[..2205], &own[own.len() - 2205..]].map(rms);
        let step = 20.0 * (first / last).log10();
        assert!(step.abs() < 0.5, "{flags}: {step} dB");
        assert!(last > 0.05, "{flags}: it sounds");
        out
    };
    folder.put("in.wav", &looped(10_000, Some((0, 9999))));
    for flags in
        ["", "--voice square", "--focus 0", "--voice chip", "--glide 0.1s --sample-rate 44100"]
    {
        check(flags, 0, 10_000, 10_000);
    }
    folder.put("in.wav", &looped(10_000, None));
    check("--loop", 0, 10_000, 10_000);
    let plain = {
        folder.run("render in.wav -o out.wav --force --mix 100");
        folder.floats("out.wav").remove(0)
    };
    // A note's first 2 ms, 12 dB below the note that sounds.
    let begins = |out: &[f32]| 4.0 * rms(&out[..100]) < rms(&out[5000..10_000]);
    assert!(begins(&plain), "without a loop, the note begins");
    // A loop that is shorter than the latency.
    folder.put("in.wav", &looped(1000, Some((0, 999))));
    folder.run("render in.wav -o out.wav --force --mix 100");
    let out = folder.floats("out.wav").remove(0);
    let halves = [&out[..500], &out[500..]].map(rms);
    assert!(out.len() == 1000 && halves.iter().all(|own| *own > 0.05), "{halves:?}");
    assert!((20.0 * (halves[0] / halves[1]).log10()).abs() < 0.1, "{halves:?}");
    folder.put("in.wav", &looped(30_000, Some((10_000, 19_999))));
    let out = check("--voice square", 10_000, 20_000, 30_000);
    assert!(begins(&out), "the attack is no part of the loop");
    let seams = [10_000, 20_000].map(|at| (out[at] - out[at - 1]).abs());
    let inside = out[12_000..18_000].windows(2).map(|pair| (pair[1] - pair[0]).abs());
    let inside = inside.fold(0.0, f32::max);
    assert!(seams.iter().all(|step| *step <= inside), "{seams:?}, {inside} inside");
}

/// Python script that prints, as JSON, each file's tags under the names of FLAC and a hash of its cover, as mutagen reads them.
const MUTAGEN: &str = r#"
import hashlib, json, mutagen, sys
from mutagen.flac import FLAC
found = {}
for name in sys.argv[1:]:
    file = mutagen.File(name)
    tags = {}
    if isinstance(file, FLAC):
        tags = {key.upper(): value for key, value in file.tags or []}
        covers = [picture.data for picture in file.pictures]
    else:
        names = {"TIT2": "TITLE", "TPE1": "ARTIST", "TALB": "ALBUM", "TRCK": "TRACKNUMBER", "TCON": "GENRE"}
        for key, frame in (file.tags or {}).items():
            if key in names:
                tags[names[key]] = str(frame.text[0])
            elif key.startswith("TXXX:"):
                tags[key[5:].upper()] = str(frame.text[0])
        covers = [frame.data for key, frame in (file.tags or {}).items() if key.startswith("APIC")]
    found[name] = [tags, [hashlib.sha1(cover).hexdigest()[:8] for cover in covers]]
print(json.dumps(found))
"#;

#[test]
fn tags_and_covers_go_from_every_format_to_both() {
    let folder = chord(20_000);
    // A red picture of 8 x 8 pixels.
    tool(&folder, "ffmpeg -v error -f lavfi -i color=red:s=8x8 -frames:v 1 cover.png");
    let tags = "-metadata title=Fugue -metadata artist=Bach -metadata album=Art -metadata genre=Baroque -metadata track=7 -metadata replaygain_track_gain=-3dB";
    let cover = "-i cover.png -map 0:a -map 1:v -c:v copy -disposition:v attached_pic";
    for (name, flags) in [
        ("a.flac", format!("{cover} -metadata curator=calm")),
        ("a.mp3", format!("{cover} -metadata curator=calm")),
        ("a.m4a", cover.into()),
        ("a.ogg", "-c:a vorbis -strict -2 -ac 2 -metadata curator=calm".into()),
        ("a.aiff", "-write_id3v2 1 -metadata curator=calm".into()),
        ("a.wav", "-c:a pcm_s16le".into()),
    ] {
        tool(&folder, &format!("ffmpeg -v error -i in.wav {flags} {tags} {name}"));
        for to in ["wav", "flac"] {
            folder.run(&format!("render {name} -o {name}.{to} --mix 0 -q"));
            folder.run(&format!("render {name} -o {name}.bare.{to} --mix 0 -q --strip-metadata"));
        }
    }
    let files: Vec<String> = ["flac", "mp3", "m4a", "ogg", "aiff", "wav"]
        .iter()
        .flat_map(|from| {
            ["wav", "flac", "bare.wav", "bare.flac"].map(|to| format!("a.{from}.{to}"))
        })
        .collect();
    let found: serde_json::Value =
        serde_json::from_slice(&python(&folder, MUTAGEN, &files)).unwrap();
    for file in &files {
        let (tags, covers) = (&found[file][0], found[file][1].as_array().unwrap());
        if file.contains("bare") {
            assert!(tags.get("TITLE").is_none() && covers.is_empty(), "{file}: {tags}");
            continue;
        }
        // ffmpeg writes no cover to WAV, and only fields of INFO, which mutagen does not read.
        if file == "a.wav.wav" {
            continue;
        }
        for (name, value) in
            [("TITLE", "Fugue"), ("ARTIST", "Bach"), ("ALBUM", "Art"), ("GENRE", "Baroque")]
        {
            assert_eq!(tags[name], value, "{file}: {tags}");
        }
        assert!(
            tags["TRACKNUMBER"].as_str().is_some_and(|track| track.starts_with('7')),
            "{file}: {tags}"
        );
        assert!(tags.get("REPLAYGAIN_TRACK_GAIN").is_none(), "{file}: {tags}");
        let has_cover = ["a.flac", "a.mp3", "a.m4a"].iter().any(|from| file.starts_with(from));
        assert_eq!(covers.len(), usize::from(has_cover), "{file}");
        let has_own = ["a.flac", "a.mp3", "a.ogg"].iter().any(|from| file.starts_with(from));
        assert!(!has_own || tags["CURATOR"] == "calm", "{file}: {tags}");
    }
}

/// Adds a title and a cover to the files that mutagen can tag.
const TAGGER: &str = r#"
import base64, mutagen, sys
from mutagen.flac import FLAC, Picture
from mutagen.id3 import APIC, TIT2
from mutagen.mp4 import MP4, MP4Cover
cover = open("cover.png", "rb").read()
picture = Picture()
picture.type, picture.mime, picture.data = 3, "image/png", cover
for name in sys.argv[1:]:
    file = mutagen.File(name)
    if file.tags is None:
        file.add_tags()
    if isinstance(file, MP4):
        file["\xa9nam"], file["covr"] = ["Fugue"], [MP4Cover(cover, MP4Cover.FORMAT_PNG)]
    elif isinstance(file, FLAC):
        file["title"] = "Fugue"
        file.add_picture(picture)
    elif hasattr(file.tags, "add"):
        file.tags.add(TIT2(encoding=3, text=["Fugue"]))
        file.tags.add(APIC(encoding=3, mime="image/png", type=3, desc="", data=cover))
    else:
        file["title"] = "Fugue"
        file["metadata_block_picture"] = [base64.b64encode(picture.write()).decode()]
    file.save()
"#;

/// Runs `script` in the tests' Python with `arguments` in `folder`, and returns its output.
fn python(folder: &Folder, script: &str, arguments: &[String]) -> Vec<u8> {
    let python = tone_filter_testkit::target().join("venv/bin/python");
    let mut command = Command::new(&python);
    command.args(["-c", script]).args(arguments).current_dir(folder.path(""));
    let output = command.output().unwrap_or_else(|error| {
        panic!("{}: {error}; `cargo xtask test` makes it", python.display())
    });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// The rows of the manual's table of formats, each with files of that format: ffmpeg's coding, and extension.
const TABLE: [(&str, &[(&str, &str)]); 9] = [
    (
        "WAV, RIFX, RF64, BW64",
        &[
            ("pcm_u8", "wav"),
            ("pcm_s16le", "wav"),
            ("pcm_s24le", "wav"),
            ("pcm_s32le", "wav"),
            ("pcm_f32le", "wav"),
            ("pcm_f64le", "wav"),
        ],
    ),
    (
        "WAV with mu-law, A-law, MS or IMA ADPCM, or MP3",
        &[
            ("pcm_mulaw", "wav"),
            ("pcm_alaw", "wav"),
            ("adpcm_ms", "wav"),
            ("adpcm_ima_wav", "wav"),
            ("libmp3lame", "wav"),
        ],
    ),
    ("AIFF, AIFF-C", &[("pcm_s16be", "aiff"), ("pcm_s24be", "aif"), ("pcm_f32be", "aifc")]),
    ("CAF", &[("pcm_s16be", "caf"), ("pcm_s32le", "caf"), ("alac", "caf")]),
    ("FLAC, also in Ogg", &[("flac", "flac"), ("flac", "oga")]),
    ("MP4 with ALAC (m4a)", &[("alac", "m4a")]),
    ("MP4 with AAC (m4a, m4b, mp4, mov)", &[("aac", "m4a"), ("aac", "mp4"), ("aac", "mov")]),
    ("MP3", &[("libmp3lame", "mp3")]),
    ("Ogg Vorbis", &[("vorbis -strict -2 -ac 2", "ogg")]),
];

#[test]
fn each_row_of_the_manuals_table_of_formats_is_true() {
    let manual = tone_filter_testkit::root().join("docs/manual/command-line.md");
    let manual = fs::read_to_string(manual).unwrap();
    let (_, table) =
        manual.split_once("| format | what is read | what is kept |\n|---|---|---|\n").unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), TABLE.map(|(row, _)| row));
    let folder = chord(20_000);
    tool(&folder, "ffmpeg -v error -f lavfi -i color=red:s=8x8 -frames:v 1 cover.png");
    let (mut files, mut outputs) = (vec![], vec![]);
    for (row, (_, codings)) in rows.iter().zip(TABLE) {
        for (index, (coding, extension)) in codings.iter().enumerate() {
            let name = format!("{}{index}.{extension}", row[0].replace([' ', '/'], "-"));
            tool(
                &folder,
                &format!("ffmpeg -v error -i in.wav -map_metadata -1 -c:a {coding} {name}"),
            );
            if row[2] != "nothing" {
                files.push(name.clone());
            }
            outputs.push((name, row[2]));
        }
    }
    python(&folder, TAGGER, &files);
    let mut made = vec![];
    for (name, kept) in &outputs {
        for to in ["wav", "flac"] {
            folder.run(&format!("render {name} -o {name}.{to} --mix 0 -q"));
            made.push((format!("{name}.{to}"), *kept));
        }
    }
    let names: Vec<String> = made.iter().map(|(name, _)| name.clone()).collect();
    let found: serde_json::Value =
        serde_json::from_slice(&python(&folder, MUTAGEN, &names)).unwrap();
    for (name, kept) in made {
        let (tags, covers) = (&found[&name][0], found[&name][1].as_array().unwrap());
        let is_kept = kept.starts_with("tags and covers");
        assert!(is_kept || kept == "nothing", "{name}: {kept}");
        assert_eq!(tags.get("TITLE").is_some(), is_kept, "{name}: {tags}");
        assert_eq!(covers.len(), usize::from(is_kept), "{name}");
    }
}

#[test]
fn names_tell_files_of_one_stem_apart_and_links_that_go_round_are_noted() {
    let folder = chord(3000);
    folder.put("set/a.wav", &fs::read(folder.path("in.wav")).unwrap());
    tool(&folder, "ffmpeg -v error -i in.wav set/a.flac");
    let line = folder.fail("render set -o out", 2);
    assert!(line.contains("add {ext} to the --out of render"), "{line}");
    folder.run("render set -o out/{name}-{ext}.wav");
    assert!(["out/a-wav.wav", "out/a-flac.wav"].iter().all(|name| folder.path(name).exists()));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("..", folder.path("set/up")).unwrap();
        fs::remove_file(folder.path("set/a.flac")).unwrap();
        let said = folder.run("render set -o round");
        assert!(said.contains("left out, a link to a folder that holds it"), "{said}");
    }
}

#[test]
fn lists_and_presets_may_begin_with_byte_order_marks() {
    let folder = Folder::with(&silence().bytes());
    let units: Vec<u16> = "in.wav\r\n".encode_utf16().collect();
    for (name, bytes) in [
        ("le.txt", units.iter().flat_map(|unit| unit.to_le_bytes()).collect::<Vec<u8>>()),
        ("be.txt", units.iter().flat_map(|unit| unit.to_be_bytes()).collect()),
    ] {
        let mark: [u8; 2] = if name == "le.txt" { [0xFF, 0xFE] } else { [0xFE, 0xFF] };
        folder.put(name, &[&mark[..], &bytes].concat());
        folder.run(&format!("render --input-list {name} -o {name}-out"));
        assert!(folder.path(&format!("{name}-out/in.wav")).exists());
    }
    folder.put(
        "preset.json",
        b"\xEF\xBB\xBF{ \"version\": 1, \"name\": \"Marked\", \"settings\": {} }",
    );
    folder.run("render in.wav -o out.wav --preset preset.json");
}
