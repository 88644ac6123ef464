//! Files with unknown lengths, and with bytes around the sound that do not affect it. All files are generated here, after public
//! reports of faults.

use crate::{Wav, chord, in_16_bits, noise, patched, position, silence};
use tone_filter_testkit::{signals, sweep};

/// Files with the placeholders that programs write for an unknown length. A line has the name, the writer of the whole file,
/// and patches. A patch has a text to search for, the distance of the new bytes from its start, and these bytes in hexadecimal.
/// Without patches, the end-of-stream flag is cleared.
const OPEN: &str = "\
zero.wav | ffmpeg -c:a pcm_s16le | RIFF 4 00000000, data 4 00000000
most.wav | ffmpeg -c:a pcm_s24le | RIFF 4 ffffffff, data 4 ffffffff
less.wav | ffmpeg -c:a pcm_u8 | RIFF 4 ffffffff, data 4 9bffffff
less2.wav | ffmpeg -c:a pcm_s16le | RIFF 4 ffffffff, data 4 fffffffe
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

/// Clears the end-of-stream flag of an Ogg file.
fn without_end(mut file: Vec<u8>) -> Vec<u8> {
    let last = file.windows(4).rposition(|bytes| bytes == b"OggS").unwrap();
    let page = &mut file[last..];
    assert_eq!(page[5], 4, "it has the mark");
    page[5] = 0;
    page[22..26].fill(0);
    let sum = ogg_pager::crc32(page);
    page[22..26].copy_from_slice(&sum.to_le_bytes());
    file
}

#[test]
fn an_unknown_length_reaches_to_the_end() {
    let (short, long) = (chord(5000), chord(200_000));
    for row in sweep::tenth(OPEN.lines()) {
        let [name, writer, patches] = row.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let folder = if name == "pages.ogg" { &long } else { &short };
        match writer.split_once(' ').unwrap() {
            ("sox", flags) => folder.tool(&format!("sox -D in.wav {flags} {name}")),
            (_, flags) => folder.tool(&format!("ffmpeg -v error -i in.wav {flags} {name}")),
        };
        let expected = folder.read(name);
        assert!(expected.len() >= 5000, "{name}");
        let open = match patches {
            "" => without_end(folder.bytes(name)),
            _ => patches.split(", ").fold(folder.bytes(name), |file, patch| {
                let [text, distance, new] = patch.split(' ').collect::<Vec<_>>()[..] else {
                    panic!("{row}")
                };
                let at = position(&file, text.as_bytes());
                let at = at.strict_add_signed(distance.parse().unwrap());
                let byte = |at| u8::from_str_radix(&new[at..at + 2], 16).unwrap();
                patched(file, at, &(0..new.len()).step_by(2).map(byte).collect::<Vec<_>>())
            }),
        };
        folder.put(name, &open);
        assert!(folder.read(name) == expected, "{name}");
    }
}

#[test]
fn a_stated_length_is_believed() {
    let folder = chord(5000);
    folder.tool("ffmpeg -v error -i in.wav in.caf");
    folder.tool("sox -D in.wav -C 6 in.ogg");
    let [wav, caf, ogg] = ["in.wav", "in.caf", "in.ogg"].map(|name| folder.bytes(name));
    let stated = |file: &[u8], len: &[u8]| patched(file.to_vec(), position(file, b"data") + 4, len);
    for (name, file) in [
        ("1.wav", stated(&wav, &20_000u32.to_le_bytes())),
        ("2.wav", stated(&wav, &(1u32 << 30).to_le_bytes())),
        ("3.wav", stated(&wav, &0xF000_0000u32.to_le_bytes())),
        ("4.caf", stated(&caf, &20_000u64.to_be_bytes())),
        ("5.ogg", ogg[..ogg.len() - 100].to_vec()),
    ] {
        folder.put(name, &file);
        let line = folder.error(name);
        assert!(line.starts_with(&format!("{name}: truncated")), "{line}");
    }
}

#[test]
fn a_stream_of_vorbis_begins_at_any_page_and_links_are_joined() {
    let folder = chord(200_000);
    folder.tool("sox -D in.wav -C 6 in.ogg");
    let one = folder.read("in.ogg");
    let pages = folder.bytes("in.ogg");
    folder.put("chain.ogg", &[&pages[..], &pages].concat());
    assert!(folder.read("chain.ogg") == [&one[..], &one].concat());
    let starts: Vec<usize> =
        (0..pages.len()).filter(|at| pages[*at..].starts_with(b"OggS")).collect();
    folder.put("stream.ogg", &[&pages[..starts[2]], &pages[starts[4]..]].concat());
    let [theirs, ours] = [folder.read_by_ffmpeg("stream.ogg"), folder.read("stream.ogg")];
    let [theirs, ours] = [theirs.len(), ours.len()];
    assert!(ours > 5000 && ours.abs_diff(theirs) < 2048, "{ours}, {theirs}");
}

#[test]
fn adpcm_is_read_to_the_last_sample_of_its_last_block() {
    let folder = chord(5003);
    for coding in ["adpcm_ima_wav", "adpcm_ms"] {
        folder.tool(&format!("ffmpeg -v error -y -i in.wav -c:a {coding} theirs.wav"));
        let (theirs, ours) = (folder.read_by_ffmpeg("theirs.wav"), folder.read("theirs.wav"));
        assert!(ours.len() >= 5003 && theirs[..ours.len()] == ours, "{coding}: {}", ours.len());
        // A number of 0 in `fact` is unknown.
        let bytes = folder.bytes("theirs.wav");
        folder.put("open.wav", &patched(bytes.clone(), position(&bytes, b"fact") + 8, &[0; 4]));
        assert!(folder.read("open.wav").starts_with(&ours), "{coding}");
        // Cuts off the padding of the last block. `fact` has the number of samples.
        let data = position(&bytes, b"data");
        let len = u32::from_le_bytes(bytes[data + 4..data + 8].try_into().unwrap()) - 200;
        let cut = patched(bytes, data + 4, &len.to_le_bytes());
        let mut cut = patched(cut, 4, &(data as u32 + len).to_le_bytes());
        cut.truncate(data + 8 + len as usize);
        folder.put("cut.wav", &cut);
        let cut = folder.read("cut.wav");
        let is_whole = cut.len() + 420 >= ours.len().min(5003);
        assert!(is_whole && cut == ours[..cut.len()], "{coding}: {}", cut.len());
    }
}

#[test]
fn odd_headers_of_wav_and_aiff_change_no_sample() {
    let folder = chord(3000);
    let expected = folder.read("in.wav");
    let whole = folder.bytes("in.wav");
    folder.put("zero.wav", &patched(whole, 32, &[0, 0]));
    // Big-endian, RIFX.
    folder.tool("sox -D in.wav -B rifx.wav");
    // Makes a chunk state a length that exceeds its content.
    folder.tool("ffmpeg -v error -i in.wav -c:a pcm_f32be in.aif");
    let whole = folder.bytes("in.aif");
    let common = position(&whole, b"COMM") + 4;
    let len = u32::from_be_bytes(whole[common..common + 4].try_into().unwrap());
    let end = common + 4 + len as usize;
    let longer = [&whole[..end], &[0; 6], &whole[end..]].concat();
    folder.put("in.aif", &patched(longer, common, &(len + 6).to_be_bytes()));
    // A text of odd length, and samples four bytes behind the start of their chunk.
    let (sound, text) = (position(&whole, b"SSND") + 4, b"NAME\0\0\0\x03abc\0");
    let len = u32::from_be_bytes(whole[sound..sound + 4].try_into().unwrap()) + 4;
    let chunk =
        [&len.to_be_bytes()[..], &[0, 0, 0, 4, 0, 0, 0, 0, 9, 9, 9, 9], &whole[sound + 12..]];
    folder.put("odd.aif", &[&whole[..12], text, &whole[12..sound], &chunk.concat()].concat());
    for name in ["zero.wav", "rifx.wav", "in.aif", "odd.aif"] {
        assert!(folder.read(name) == expected, "{name}");
    }
}

#[test]
fn mu_law_and_a_law_are_read_behind_every_format_chunk() {
    let folder = chord(4001);
    for (coding, tag) in [("pcm_mulaw", 7u16), ("pcm_alaw", 6)] {
        folder.tool(&format!("ffmpeg -v error -y -i in.wav -c:a {coding} theirs.wav"));
        let expected = folder.read("theirs.wav");
        let theirs = folder.bytes("theirs.wav");
        let data = theirs[position(&theirs, b"data") + 8..][..4001].to_vec();
        for (tag, extension) in [
            (tag, vec![]),
            (tag, vec![0; 2]),
            (tag, vec![2, 0, 0, 0]),
            (0xFFFE, crate::extensible(8, 4, tag)),
        ] {
            let (channels, bits, data) = (1, 8, data.clone());
            let wav = Wav { tag, channels, bits, extension, data, ..silence() };
            folder.put("ours.wav", &wav.bytes());
            assert!(folder.read("ours.wav") == expected, "{coding}: {:?}", wav.extension);
        }
    }
}

#[test]
fn bytes_around_the_frames_of_flac_concern_no_sample() {
    let folder = chord(9000);
    let expected = folder.read("in.wav");
    folder.tool("ffmpeg -v error -i in.wav in.flac");
    let whole = folder.bytes("in.flac");
    let (stream, frames) = (&whole[..42], &whole[position(&whole, &[0xFF, 0xF8])..]);
    let block = |kind: u8, content: &[u8]| {
        let [_, a, b, c] = (content.len() as u32).to_be_bytes();
        [&[kind, a, b, c], content].concat()
    };
    let id3v1 = [&b"TAG"[..], &[b'x'; 125]].concat();
    let mut ape = b"old \0\0\0\0item\0xAPETAGEX".to_vec();
    ape.extend([2000u32, 46, 1, 0, 0, 0].map(u32::to_le_bytes).as_flattened());
    let comments = block(0x84, &[&[0xFF, 0xFF, 0xFF, 0][..], b"xx"].concat());
    let picture = block(0x86, &[0xFF; 9]);
    // The header has no number of samples, so another stream may follow.
    let mut open = patched(whole.clone(), 22, &[0; 4]);
    open[21] &= 0xF0;
    for (name, file) in [
        ("comments", [stream, &comments, frames].concat()),
        ("picture", [stream, &picture, frames].concat()),
        ("id3v1", [&whole[..], &id3v1].concat()),
        ("ape", [&whole[..], &ape].concat()),
        ("both", [&whole[..], &ape, &id3v1].concat()),
        ("zeros", [&whole[..], &[0; 5000]].concat()),
        ("joined", [&open[..], &open].concat()),
    ] {
        folder.put("odd.flac", &file);
        let count = if name == "joined" { 2 } else { 1 };
        assert!(folder.read("odd.flac") == expected.repeat(count), "{name}");
    }
}

#[test]
fn mp3_reaches_from_its_first_whole_frame_to_its_last() {
    let folder = chord(20_000);
    folder.tool("ffmpeg -v error -i in.wav -b:a 128k -id3v2_version 0 in.mp3");
    let expected = folder.read("in.mp3");
    assert_eq!(expected.len(), 20_000);
    let whole = folder.bytes("in.mp3");
    let id3v1 = [&b"TAG"[..], &[b'x'; 125]].concat();
    for front in [&[0][..], &[0; 1000], &id3v1, b"junk", &vec![0; 40_000]] {
        folder.put("late.mp3", &[front, &whole].concat());
        assert!(folder.read("late.mp3") == expected, "{} bytes", front.len());
    }
    for zeros in [1, 3, 4, 1000] {
        folder.put("long.mp3", &[&whole[..], &vec![0; zeros]].concat());
        assert!(folder.read("long.mp3") == expected, "{zeros} zeros");
    }
    // Cuts the start of the file, with the encoder's header, up to the middle of a frame. All whole frames must be read.
    folder.put("cut.mp3", &whole[1000..]);
    let cut = folder.read("cut.mp3").len();
    assert_eq!(cut, folder.read_by_ffmpeg("cut.mp3").len());
    assert_eq!(cut % 1152, 0);
}

#[test]
fn joined_mp3_files_are_read_each_without_its_padding() {
    let sound = signals::noisy_chord(3.0, 44_100.0);
    let folder = in_16_bits(&[sound[44_100..].to_vec()]);
    folder.put("one.wav", &in_16_bits(&[sound[..44_100].to_vec()]).bytes("in.wav"));
    folder.tool("ffmpeg -v error -i one.wav -b:a 192k -metadata title=One -write_id3v1 1 one.mp3");
    folder.tool("ffmpeg -v error -i in.wav -q:a 2 -id3v2_version 0 two.mp3");
    folder.tool("ffmpeg -v error -i in.wav -b:a 192k -write_xing 0 -id3v2_version 0 bare.mp3");
    let [one, two, bare] = ["one.mp3", "two.mp3", "bare.mp3"].map(|name| folder.read(name));
    assert_eq!([one.len(), two.len()], [44_100, 88_200]);
    // Without a header, the length of the padding is unknown.
    assert!((88_200..92_000).contains(&bare.len()), "{}", bare.len());
    for (names, expected) in [
        (&["one.mp3", "two.mp3"][..], [&one[..], &two].concat()),
        (&["two.mp3", "one.mp3", "two.mp3"], [&two[..], &one, &two].concat()),
        (&["one.mp3", "bare.mp3"], [&one[..], &bare].concat()),
    ] {
        let all: Vec<u8> = names.iter().flat_map(|name| folder.bytes(name)).collect();
        folder.put("all.mp3", &all);
        assert!(folder.read("all.mp3") == expected, "{names:?}");
    }
}

#[test]
fn mp3_of_varying_rate_without_a_header_is_read_to_its_end() {
    // Silence takes fewer bits than noise, so the bit rate of the first frames differs from that of the rest.
    let (quiet, loud) = (vec![0.0; 88_200], signals::white(2.0, 44_100.0));
    let folder = noise(1, 1);
    for (name, sound) in [("a", [&quiet[..], &loud]), ("b", [&loud, &quiet])] {
        folder.put("in.wav", &in_16_bits(&[sound.concat()]).bytes("in.wav"));
        folder.tool(&format!("ffmpeg -v error -i in.wav -q:a 2 -write_xing 0 {name}.mp3"));
        let len = folder.read(&format!("{name}.mp3")).len();
        assert!((176_400..180_000).contains(&len), "{name}: {len}");
    }
}
