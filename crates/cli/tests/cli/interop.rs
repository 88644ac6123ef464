//! Exchange of files with sox and ffmpeg, in both directions.

use crate::{Folder, float_wav, signals};
use std::process::{Command, Stdio};

/// Runs `line` in `folder`, which must succeed without messages, and returns its standard output.
pub fn tool(folder: &Folder, line: &str) -> Vec<u8> {
    let mut words = line.split(' ');
    let name = words.next().unwrap();
    let output =
        Command::new(name).args(words).current_dir(folder.path("")).stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| {
        panic!("{name}: {error}; this test needs sox and ffmpeg: apt-get install sox ffmpeg")
    });
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    // sox prints this for every extensible header with floats, also for ffmpeg's.
    const QUIRK: &str = "sox WARN wav: wave header missing extended part of fmt chunk";
    let said = String::from_utf8_lossy(&output.stderr);
    let complaint = said.lines().find(|said| !said.is_empty() && *said != QUIRK);
    assert_eq!(complaint, None, "{line}");
    output.stdout
}

/// Returns the samples of a file as sox or ffmpeg read them, as 32-bit floats, interleaved.
pub fn read_by(tool_name: &str, folder: &Folder, name: &str) -> Vec<f32> {
    let bytes = match tool_name {
        "sox" => tool(folder, &format!("sox -D {name} -t f32 -")),
        _ => tool(folder, &format!("ffmpeg -v error -i {name} -f f32le -")),
    };
    bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// Returns the samples of a file as we read them, interleaved, by rendering without any change.
pub fn read_by_us(folder: &Folder, name: &str) -> Vec<f32> {
    folder.run(&format!("render {name} -o ours.f32.wav --mix 0 --bit-depth 32f --force"));
    let channels = folder.floats("ours.f32.wav");
    (0..channels[0].len())
        .flat_map(|frame| channels.iter().map(move |c| c[frame]).collect::<Vec<_>>())
        .collect()
}

/// Returns a folder with noise in `in.wav`: `channels` channels of `frames` samples, with 16 bits, which all conversions by sox
/// and ffmpeg keep.
pub fn noise(channels: usize, frames: usize) -> Folder {
    let mut noise = signals::noise(9);
    in_16_bits(
        &(0..channels)
            .map(|_| (0..frames).map(|_| (0.9 * noise()) as f32).collect())
            .collect::<Vec<_>>(),
    )
}

pub fn in_16_bits(channels: &[Vec<f32>]) -> Folder {
    let folder = Folder::with(&float_wav(44_100, channels));
    folder.run("render in.wav -o short.wav --bit-depth 16 --mix 0");
    std::fs::rename(folder.path("short.wav"), folder.path("in.wav")).unwrap();
    folder
}

#[test]
fn sox_and_ffmpeg_read_every_file_we_write_with_equal_samples() {
    for channels in [1, 2, 3, 6] {
        for depth in ["16", "24", "32f"] {
            // An odd number of frames: a data chunk of odd length is padded.
            let folder = noise(channels, 1001);
            folder.run(&format!("render in.wav -o out.wav --bit-depth {depth}"));
            let expected = read_by_us(&folder, "out.wav");
            assert_eq!(expected.len(), 1001 * channels);
            assert!(read_by("ffmpeg", &folder, "out.wav") == expected, "{channels} x {depth}");
            // sox computes in integers with an LSB of 2^-31, and rounds its output to an LSB of 2^-24.
            let step = if depth == "32f" { 2f32.powi(-31) + 2f32.powi(-25) } else { 0.0 };
            let sox = read_by("sox", &folder, "out.wav");
            assert_eq!(sox.len(), expected.len());
            for (sox, ours) in sox.iter().zip(&expected) {
                assert!((sox - ours).abs() <= step, "{channels} x {depth}: {sox}, {ours}");
            }
        }
    }
    // Writes depths that `render` writes only if the input has them.
    for (bits, pads) in [(8, 1001), (32, 1000)] {
        let folder = noise(1, pads);
        let encoding = if bits == 8 { "unsigned" } else { "signed" };
        tool(&folder, &format!("sox -D in.wav -b {bits} -e {encoding} deep.wav"));
        folder.run("render deep.wav -o out.wav");
        let expected = read_by_us(&folder, "out.wav");
        assert!(read_by("ffmpeg", &folder, "out.wav") == expected, "{bits}");
        // The rounding of sox, as above.
        let step = if bits == 32 { 2f32.powi(-31) + 2f32.powi(-25) } else { 0.0 };
        let sox = read_by("sox", &folder, "out.wav");
        assert_eq!(sox.len(), expected.len());
        assert!(sox.iter().zip(&expected).all(|(sox, ours)| (sox - ours).abs() <= step), "{bits}");
    }
}

#[test]
fn we_read_what_sox_and_ffmpeg_write_with_equal_samples() {
    for channels in [1, 2, 6] {
        let folder = noise(channels, 1001);
        let mut written = Vec::new();
        for (bits, encoding) in [
            (8, "unsigned"),
            (16, "signed"),
            (24, "signed"),
            (32, "signed"),
            (32, "float"),
            (64, "float"),
        ] {
            let name = format!("sox{bits}{encoding}.wav");
            tool(&folder, &format!("sox -D in.wav -b {bits} -e {encoding} {name}"));
            written.push(name);
        }
        for codec in ["u8", "s16le", "s24le", "s32le", "f32le", "f64le"] {
            let name = format!("ffmpeg{codec}.wav");
            tool(&folder, &format!("ffmpeg -v error -i in.wav -c:a pcm_{codec} {name}"));
            written.push(name);
        }
        tool(&folder, "ffmpeg -v error -i in.wav -c:a pcm_s16le -rf64 always rf64.wav");
        tool(&folder, "sox -D in.wav -b 24 sox24.flac");
        tool(&folder, "sox -D in.wav -b 16 sox16.flac");
        tool(&folder, "sox -D in.wav -b 24 sox24.aiff");
        tool(&folder, "ffmpeg -v error -i in.wav -c:a pcm_s16be ffmpeg16.aiff");
        written.extend(
            ["rf64.wav", "sox24.flac", "sox16.flac", "sox24.aiff", "ffmpeg16.aiff"]
                .map(String::from),
        );
        for name in written {
            let expected = read_by("ffmpeg", &folder, &name);
            assert_eq!(expected.len(), 1001 * channels, "{name}");
            assert!(read_by_us(&folder, &name) == expected, "{channels} channels: {name}");
        }
    }
}

#[test]
fn what_they_write_into_a_pipe_is_read_from_it() {
    let folder = noise(2, 1001);
    let expected = read_by_us(&folder, "in.wav");
    for line in
        ["ffmpeg -v error -i in.wav -c:a pcm_f32le -f wav -", "sox in.wav -t wav -e float -b 32 -"]
    {
        let mut words = line.split(' ');
        let mut command = Command::new(words.next().unwrap());
        // sox warns on stderr that the length is unknown.
        let piped = command.args(words).current_dir(folder.path("")).output().unwrap().stdout;
        let mut command = folder.command("render - -o out.wav --mix 0 --force");
        assert!(command.write_stdin(piped).output().unwrap().status.success(), "{line}");
        assert!(read_by_us(&folder, "out.wav") == expected, "{line}");
    }
}

#[test]
fn lossy_files_are_decoded_as_ffmpeg_does_from_the_same_sample_on() {
    let tones = signals::noisy_chord(2.0, 44_100.0);
    let folder = in_16_bits(&[tones.clone(), tones]);
    tool(&folder, "ffmpeg -v error -i in.wav -b:a 192k song.mp3");
    tool(&folder, "sox -D in.wav -C 6 song.ogg");
    for name in ["song.mp3", "song.ogg"] {
        let truth: Vec<f64> = read_by("ffmpeg", &folder, name).into_iter().map(f64::from).collect();
        let ours = read_by_us(&folder, name);
        assert_eq!(ours.len(), 2 * 88_200, "{name}: as long as what was coded");
        let snr = signals::snr(&truth[..ours.len()], &ours);
        assert!(snr > 60.0, "{name}: {snr} dB");
    }
}

#[test]
fn coded_files_that_are_damaged_are_told_from_those_that_are_cut_short() {
    let folder = noise(2, 10_000);
    tool(&folder, "ffmpeg -v error -i in.wav -frame_size 1000 whole.flac");
    let whole = std::fs::read(folder.path("whole.flac")).unwrap();
    let said = |bytes: &[u8]| {
        folder.put("broken.flac", bytes);
        folder.fail("render broken.flac -o out.wav", 1)
    };
    for part in [2, 100] {
        let line = said(&whole[..whole.len() - whole.len() / part]);
        assert!(line.starts_with("broken.flac: truncated, "), "{line}");
        assert!(line.ends_with(" of 10000 frames are missing; copy or export it again"), "{line}");
    }
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    let line = said(&damaged);
    assert!(line.starts_with("broken.flac: damaged ("), "{line}");
}
