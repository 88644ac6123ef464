//! Faulty files are refused with one line that names the file and a remedy.

use crate::{Folder, Wav, batch::plan, chord, noise, patched, silence};
use tone_filter_offline::{Fault, Output, options::Options, wav::Depth};

#[test]
fn each_fault_has_its_message() {
    let not_wav = |reason: &str| {
        format!("in.wav: not a WAV file ({reason}); convert it to WAV, with ffmpeg for example")
    };
    let not_audio = |reason: &str| {
        format!(
            "in.wav: cannot be decoded ({reason}); give WAV, FLAC, AIFF, CAF, MP3, Ogg Vorbis, MP4 (AAC, ALAC)"
        )
    };
    let coding = |coding: &str| {
        format!("in.wav: unsupported coding {coding}; convert the file: ffmpeg -i in.wav in.flac")
    };
    let rate = |rate| format!("in.wav: {rate} Hz is not a sample rate; use 1000 Hz to 1 GHz");
    let truncated = |missing| {
        format!("in.wav: truncated, {missing} of 10 frames are missing; copy or export it again")
    };
    for (name, command) in [
        ("it's 1.opus", r"convert the file: ffmpeg -i 'it'\''s 1.opus' 'it'\''s 1.flac'"),
        ("-", "convert the sound before: ffmpeg -i - -f flac -"),
    ] {
        let said = Fault::Coding("Opus".into()).at(name.as_ref()).to_string();
        assert!(cfg!(windows) || said.ends_with(command), "{said}");
    }
    let whole = silence().bytes();
    let ogg = |name: &[u8]| [b"OggS", &[0; 24][..], name, &[0; 60]].concat();
    let rf64 = [b"RF64\xFF\xFF\xFF\xFFWAVE", &whole[12..36], b"data\x28\0\0\0"].concat();
    let mut empty = Wav { data: vec![], ..silence() }.bytes();
    let no_samples = "in.wav: holds no samples; record or export it again".to_owned();
    let wrong_length = not_wav("its format chunk has a wrong length");
    let mut cases = vec![
        (vec![], not_audio("it is empty")),
        (b"An MP3 file".to_vec(), not_audio("its first bytes are of no known format")),
        (b"RIFF\0\0\0\0AVI LIST\0\0\0\0".to_vec(), not_wav("it has no RIFF WAVE header")),
        (rf64, not_wav("it is RF64 without its lengths")),
        (b"RIFF\x24\0\0\0WAVEdata\x04\0\0\0abcd".to_vec(), not_wav("it has no format chunk")),
        (b"RIFF\x24\0\0\0WAVEfmt \x0E\0\0\0".to_vec(), wrong_length.clone()),
        (b"RIFF\x24\0\0\0WAVEfmt \xFF\xFF\xFF\x7F".to_vec(), wrong_length),
        (Wav { channels: 0, ..silence() }.bytes(), not_wav("it has no channels")),
        // The header states 16 bits in 4 bytes per sample.
        (
            patched(Wav { bits: 32, ..silence() }.bytes(), 34, &[16]),
            not_wav("its format chunk contradicts itself"),
        ),
        (Wav { bits: 64, data: vec![0; 64], ..silence() }.bytes(), coding("64-bit integer")),
        (Wav { bits: 12, ..silence() }.bytes(), coding("12-bit integer")),
        (Wav { tag: 2, bits: 4, ..silence() }.bytes(), coding("ADPCM")),
        (Wav { tag: 0x11, bits: 4, ..silence() }.bytes(), coding("ADPCM")),
        (patched(Wav { tag: 0x11, bits: 4, ..silence() }.bytes(), 32, &[8]), coding("ADPCM")),
        (Wav { tag: 0x1234, ..silence() }.bytes(), coding("format 0x1234")),
        (ogg(b"OpusHead"), coding("Opus")),
        (ogg(b"Speex   "), coding("Speex")),
        (empty.clone(), no_samples.clone()),
    ];
    // A stated length of 0 is true, not a placeholder, if the stated length of the file is true.
    empty.extend(b"LIST\x04\0\0\0INFO");
    let riff = (empty.len() as u32 - 8).to_le_bytes();
    cases.push((patched(empty, 4, &riff), no_samples));
    let cut = |len: usize| whole[..len].to_vec();
    let headers = (4..44).map(|len| (cut(len), not_wav("it ends before its samples begin")));
    cases.extend(headers);
    let frames = [(39, 1), (36, 1), (35, 2), (4, 9), (0, 10)];
    cases.extend(frames.map(|(kept, missing)| (cut(44 + kept), truncated(missing))));
    let rates = [0, 1, 999, 1_000_000_001, u32::MAX];
    cases.extend(rates.map(|hertz| (Wav { rate: hertz, ..silence() }.bytes(), rate(hertz))));
    for (bytes, message) in cases {
        assert_eq!(Folder::with(&bytes).error("in.wav"), message);
    }
    let folder = Folder::new();
    let line = folder.error("none.wav");
    assert!(line.starts_with("none.wav: cannot be read ("), "{line}");
    assert!(line.ends_with("); check the name and the permissions"), "{line}");
}

#[test]
fn part_of_a_frame_is_ignored_with_a_note() {
    for (len, ignored) in [(41, false), (42, true), (43, true)] {
        let folder = Folder::with(&Wav { data: vec![1; len], ..silence() }.bytes());
        let report = folder.render("in.wav", "out.wav", &crate::unmixed());
        // A single byte is ignored without a note: it may be padding.
        let note = ignored.then_some("part of a frame behind the last one is ignored");
        assert_eq!(report.ignored, note, "{len}");
        assert_eq!(folder.integers("out.wav"), [257; 20]);
    }
}

#[test]
fn flac_that_is_cut_or_damaged_is_told_apart() {
    let folder = noise(2, 10_000);
    folder.tool("ffmpeg -v error -i in.wav -frame_size 1000 whole.flac");
    let whole = folder.bytes("whole.flac");
    let (len, half) = (whole.len(), whole.len() / 2);
    let damaged = patched(whole.clone(), half, &[whole[half] ^ 1]);
    let missing = " of 10000 frames are missing; copy or export it again";
    for (bytes, start, end) in [
        (&whole[..half], "in.flac: truncated, ", missing),
        (&whole[..len - len / 100], "in.flac: truncated, ", missing),
        (&damaged, "in.flac: damaged (", ""),
        (&[&whole[..], b"junk that is no frame"].concat(), "in.flac: damaged (", ""),
    ] {
        folder.put("in.flac", bytes);
        let line = folder.error("in.flac");
        assert!(line.starts_with(start) && line.ends_with(end), "{line}");
    }
}

#[test]
fn codings_that_are_not_decoded_have_a_command_that_converts_them() {
    let folder = noise(6, 10_000);
    for (name, flags, coding) in [
        ("in.mp2", "-ac 2 -c:a mp2", "MPEG layer 2 (MP2)"),
        ("in.aac", "-ac 2 -c:a aac", "AAC stream (ADTS)"),
        ("in.ogg", "-c:a libvorbis", "6-channel Vorbis"),
        ("in.m4a", "-c:a aac", "HE-AAC or surround AAC"),
    ] {
        folder.tool(&format!("ffmpeg -v error -i in.wav {flags} {name}"));
        let line = folder.error(name);
        let (said, command) = line.split_once("; convert the file: ").unwrap();
        assert_eq!(said, format!("{name}: unsupported coding {coding}"));
        folder.tool(&format!("{command} -v error -y"));
        assert!(folder.read("in.flac").len() >= 20_000, "{name}");
    }
    // If only their folder is named, such files are left out.
    let plan = plan(&folder, ". -o out --suffix -{ext}").unwrap();
    let (left_out, aac) = (&plan.left_out, folder.path("in.m4a"));
    assert!(left_out.iter().any(|left| left.input == aac), "{left_out:?}");
    assert!(!plan.jobs.is_empty() && plan.jobs.iter().all(|job| job.input != aac));
}

#[test]
fn mp3_without_a_frame_is_refused() {
    // Refused, because a decoder of another coding would turn these zeros into noise.
    let folder = Folder::new();
    folder.put("no.mp3", &[0; 5000]);
    let line = folder.error("no.mp3");
    assert_eq!(line, "no.mp3: damaged (it has no frames of MPEG audio); copy or export it again");
    let folder = chord(20_000);
    folder.tool("ffmpeg -v error -i in.wav in.mp3");
    let whole = folder.bytes("in.mp3");
    folder.put("cut.mp3", &[&whole[..], &whole[..whole.len() / 2]].concat());
    let line = folder.error("cut.mp3");
    assert!(line.starts_with("cut.mp3: truncated, "), "{line}");
}

#[test]
fn outputs_that_cannot_be_written_have_their_message() {
    let wide = Wav { channels: 255, rate: 5_000_000, bits: 8, data: vec![0; 255], ..silence() };
    let folder = Folder::with(&wide.bytes());
    folder.put("nine.wav", &Wav { channels: 9, data: vec![0; 180], ..silence() }.bytes());
    folder.put("silent.wav", &silence().bytes());
    folder.put("odd.wav", &Wav { rate: 999_983, ..silence() }.bytes());
    let plain = Options::default();
    let deep = Options { depth: Some(Depth::Float32), ..Options::default() };
    let peak = Options { normalize: Some(-1.0), ..Options::default() };
    let slower = Options { rate: Some(44_100), ..Options::default() };
    for (input, output, options, start) in [
        ("in.wav", "out.wav", deep, "out.wav: 255 channels at 5000000 Hz do not fit"),
        (
            "nine.wav",
            "out.flac",
            plain.clone(),
            "out.flac: 9 channels at 44100 Hz exceed the 8 channels and 1048575 Hz of FLAC",
        ),
        ("silent.wav", "out.wav", peak, "silent.wav: the output is silent, and cannot"),
        ("odd.wav", "out.wav", slower, "odd.wav: 999983 Hz cannot become 44100 Hz ("),
        ("silent.wav", "in.wav/out.wav", plain, "in.wav/out.wav: cannot be written ("),
    ] {
        let line = folder.message(&folder.try_render(input, output, &options).unwrap_err());
        assert!(line.starts_with(start), "{line}");
        assert!(!folder.path(output).exists(), "{line}");
    }
    folder.render("in.wav", "out.wav", &Options::default());
    assert_eq!(folder.spec("out.wav").channels, 255);
}

#[cfg(target_os = "linux")]
#[test]
fn places_that_the_system_refuses_are_named() {
    let folder = Folder::new();
    let refused = |path: &std::path::Path, force| {
        let made = Output::create(path, "in.wav".as_ref(), force);
        folder.message(&made.err().unwrap())
    };
    // Not even root can create files in /proc.
    let reason = "(No such file or directory (os error 2)); check the folder, its permissions and the space left";
    let line = refused("/proc/out.wav".as_ref(), false);
    assert_eq!(line, format!("/proc/out.wav: cannot be written {reason}"));
    let _socket = std::os::unix::net::UnixListener::bind(folder.path("socket")).unwrap();
    let line = refused(&folder.path("socket"), true);
    assert_eq!(line, "socket: is a disk or a socket; choose another name for the output");
}
