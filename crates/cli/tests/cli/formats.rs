//! Input formats other than WAV, chunks that are carried over, and the output flags of `render`.

use crate::{Folder, Wav, float_wav, signals, silence};
use std::fs;

/// Files made by sox and ffmpeg: 0.25 s of A4 left and E5 right at 8 kHz, -3 dB, 16 bits.
pub const CORPUS: [(&str, &[u8]); 4] = [
    ("tone.flac", include_bytes!("corpus/tone.flac")),
    ("tone.aiff", include_bytes!("corpus/tone.aiff")),
    ("tone.mp3", include_bytes!("corpus/tone.mp3")),
    ("tone.ogg", include_bytes!("corpus/tone.ogg")),
];

/// Returns a chunk with `id` and `content`, padded to an even length.
fn chunk(id: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let mut chunk = [&id[..], &(content.len() as u32).to_le_bytes(), content].concat();
    chunk.resize(chunk.len().next_multiple_of(2), 0);
    chunk
}

/// Returns the chunks of a WAV file: id and content.
pub fn chunks(mut bytes: &[u8]) -> Vec<([u8; 4], Vec<u8>)> {
    let riff = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    assert_eq!(bytes.len(), 8 + riff, "RIFF counts all of the file");
    bytes = &bytes[12..];
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let len = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
        all.push((bytes[..4].try_into().unwrap(), bytes[8..8 + len].to_vec()));
        bytes = &bytes[8 + len.next_multiple_of(2)..];
    }
    all
}

#[test]
fn every_format_is_decoded_in_time_with_its_sound() {
    for (name, bytes) in CORPUS {
        let folder = Folder::new();
        folder.put(name, bytes);
        folder.run(&format!("render {name} -o out.wav --mix 0 --bit-depth 32f"));
        let channels = folder.floats("out.wav");
        assert_eq!(folder.spec("out.wav").sample_rate, 8000, "{name}");
        let lossless = name.ends_with("flac") || name.ends_with("aiff");
        for (channel, frequency) in channels.iter().zip([440.0, 660.0]) {
            assert_eq!(channel.len(), 2000, "{name}");
            // The amplitude is sox's -3 dB.
            let sine = signals::sine(frequency, 10f64.powf(-0.15), 0.25, 8000.0);
            let sine: Vec<f64> = sine.into_iter().map(f64::from).collect();
            let snr = signals::snr(&sine, channel);
            // Allows the error of 16 bits, or of a lossy codec, also at the ends.
            assert!(snr > if lossless { 80.0 } else { 20.0 }, "{name}: {snr} dB");
        }
        folder.run(&format!("render {name} -o natural.wav"));
        assert_eq!(folder.spec("natural.wav").bits_per_sample, 16, "{name}");
    }
}

#[test]
fn a_name_may_lie_about_the_format() {
    let folder = Folder::new();
    folder.put("in.wav", CORPUS[0].1);
    folder.put("in.flac", CORPUS[1].1);
    folder.run("render in.wav -o a.wav");
    folder.run("render in.flac -o b.wav");
    assert_eq!(fs::read(folder.path("a.wav")).unwrap(), fs::read(folder.path("b.wav")).unwrap());
}

#[test]
fn coded_files_that_end_early_are_told_from_whole_ones() {
    for (name, bytes) in &CORPUS[..2] {
        let folder = Folder::new();
        folder.put(name, &bytes[..bytes.len() / 2]);
        let said = folder.fail(&format!("render {name} -o out.wav"), 1);
        assert!(said.starts_with(&format!("{name}: ")), "{said}");
    }
}

#[test]
fn chunks_with_metadata_are_carried_over_unchanged() {
    // Version 1 of the broadcast extension, which has no loudness.
    let mut bext = [7; 603];
    bext[346..348].copy_from_slice(&[1, 0]);
    let before =
        [chunk(b"bext", &bext), chunk(b"JUNK", &[0; 28]), chunk(b"iXML", b"<x/>")].concat();
    let mut wav =
        Wav { between: before, channels: 1, bits: 8, data: vec![128; 1001], ..silence() }.bytes();
    wav.push(0);
    let after = [
        chunk(b"smpl", &[1; 60]),
        chunk(b"cue ", &[2; 28]),
        chunk(b"LIST", b"INFOINAM\x03\0\0\0abc"),
    ];
    after.iter().for_each(|chunk| wav.extend(chunk));
    wav.extend(b"garbage at the end");
    let folder = Folder::with(&wav);
    folder.run("render in.wav -o out.wav");
    let out = chunks(&fs::read(folder.path("out.wav")).unwrap());
    let ids: Vec<&[u8; 4]> = out.iter().map(|(id, _)| id).collect();
    assert_eq!(ids, [b"fmt ", b"bext", b"iXML", b"data", b"smpl", b"cue ", b"LIST"]);
    assert_eq!(out[1].1, bext);
    assert_eq!(out[2].1, b"<x/>");
    assert_eq!(out[4].1, [1; 60]);
    assert_eq!(out[6].1, b"INFOINAM\x03\0\0\0abc");

    folder.run("render in.wav -o other.wav --sample-rate 48kHz");
    let out = chunks(&fs::read(folder.path("other.wav")).unwrap());
    let ids: Vec<&[u8; 4]> = out.iter().map(|(id, _)| id).collect();
    assert_eq!(ids, [b"fmt ", b"bext", b"iXML", b"data", b"smpl", b"cue ", b"LIST"]);
    let scaled = |samples: u64| (samples * 48_000 + 22_050) / 44_100;
    let point = u32::from_le_bytes(out[5].1[8..12].try_into().unwrap());
    assert_eq!(u64::from(point), scaled(0x0202_0202), "places follow the rate");
}

#[test]
fn any_number_of_chunks_is_carried_over() {
    let many = b"tiny\0\0\0\0".repeat(200_000);
    let wav = Wav { between: many.clone(), ..silence() }.bytes();
    let folder = Folder::with(&[wav, many].concat());
    folder.run("render in.wav -o out.wav");
    assert_eq!(chunks(&fs::read(folder.path("out.wav")).unwrap()).len(), 400_002);
}

#[test]
fn loudspeakers_keep_their_channels() {
    let mut extension = vec![22, 0, 16, 0, 0x3F, 0x06, 0, 0, 1, 0];
    extension.extend([0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]);
    let wav = Wav { tag: 0xFFFE, channels: 8, extension, data: vec![0; 160], ..silence() };
    let folder = Folder::with(&wav.bytes());
    folder.run("render in.wav -o out.wav --bit-depth 24");
    let fmt = &chunks(&fs::read(folder.path("out.wav")).unwrap())[0].1;
    assert_eq!(fmt[20..24], [0x3F, 0x06, 0, 0]);
}

#[test]
fn a_peak_that_is_asked_for_is_reached() {
    let folder =
        Folder::with(&float_wav(44_100, &[signals::white(0.5, 44_100.0), vec![0.0; 22_050]]));
    for (flags, peak) in
        [("--normalize-peak -1", 0.891_25f32), ("--normalize-peak=-12dB --mix 100", 0.251_19)]
    {
        folder.run(&format!("render in.wav -o out.wav --force {flags}"));
        let out = folder.floats("out.wav");
        let reached = out.iter().flatten().fold(0f32, |peak, sample| peak.max(sample.abs()));
        assert!((reached - peak).abs() < 1e-4, "{flags}: {reached}");
    }
    let silent = Folder::with(&silence().bytes());
    let line = silent.fail("render in.wav -o out.wav --normalize-peak -1", 1);
    assert!(line.starts_with("in.wav: the output is silent, and cannot be normalized"), "{line}");
}

#[test]
fn without_dither_samples_are_only_rounded() {
    let folder = Folder::with(&float_wav(
        44_100,
        &[vec![0.25 / 32_768.0; 1000], vec![0.75 / 32_768.0; 1000]],
    ));
    folder.run("render in.wav -o out.wav --mix 0 --bit-depth 16 --no-dither");
    assert_eq!(folder.integers("out.wav"), [0, 1].repeat(1000));
}

#[test]
fn the_kernel_is_the_one_that_is_named() {
    let folder = Folder::with(&float_wav(44_100, &[signals::noisy_chord(0.5, 44_100.0)]));
    folder.run("render in.wav -o flag.wav --preset reference --kernel scalar");
    let mut command = folder.command("render in.wav -o variable.wav --preset reference");
    assert!(command.env("TONE_FILTER_KERNEL", "scalar").output().unwrap().status.success());
    let bytes = |name: &str| fs::read(folder.path(name)).unwrap();
    assert!(bytes("flag.wav") == bytes("variable.wav"));
    folder.run("render in.wav -o other.wav --preset reference --kernel portable");
    assert!(bytes("other.wav") != bytes("flag.wav"), "kernels differ in the last bits");
    folder.run("bands in.wav --csv flag.csv --kernel scalar");
    let mut command = folder.command("bands in.wav --csv variable.csv");
    assert!(command.env("TONE_FILTER_KERNEL", "scalar").output().unwrap().status.success());
    assert!(bytes("flag.csv") == bytes("variable.csv"));
    let line = folder.fail("render in.wav -o out.wav --kernel mmx", 2);
    assert!(line.starts_with("this CPU has no kernel 'mmx'; use one of scalar, "), "{line}");
}

#[test]
fn another_sample_rate_keeps_pitch_and_time() {
    let folder = Folder::with(&float_wav(48_000, &[signals::sine(1000.0, 0.5, 1.0, 48_000.0)]));
    folder.run("render in.wav -o out.wav --mix 0 --sample-rate 44100");
    assert_eq!(folder.spec("out.wav").sample_rate, 44_100);
    let out = &folder.floats("out.wav")[0];
    assert_eq!(out.len(), 44_100);
    let sine = signals::sine(1000.0, 0.5, 1.0, 44_100.0);
    for (t, (out, sine)) in out.iter().zip(sine).enumerate().skip(2000).take(40_000) {
        assert!((out - sine).abs() < 1e-4, "sample {t}: {out} is not {sine}");
    }
    let odd = Folder::with(&Wav { rate: 999_983, ..silence() }.bytes());
    let line = odd.fail("render in.wav -o out.wav --sample-rate 44100", 1);
    assert!(line.starts_with("in.wav: 999983 Hz cannot become 44100 Hz ("), "{line}");
}

#[test]
fn a_tail_rings_on_and_the_rest_stays_as_it_is() {
    let folder = Folder::with(&float_wav(44_100, &[signals::sine(440.0, 0.5, 1.0, 44_100.0)]));
    let out = |tail: &str| {
        folder.run(&format!("render in.wav -o out.wav --force --preset reference {tail}"));
        folder.floats("out.wav").remove(0)
    };
    let none = out("");
    assert_eq!(none.len(), 44_100, "an output is as long as its input");
    assert!(out("--tail none") == none);
    let two = out("--tail 2");
    assert_eq!(two.len(), 3 * 44_100);
    assert!(two[..44_100] == none, "the tail changes nothing before it");
    let rms = |samples: &[f32]| {
        (samples.iter().map(|s| s * s).sum::<f32>() / samples.len() as f32).sqrt()
    };
    assert!(rms(&two[44_100..50_000]) > 0.01, "it rings on");
    let auto = out("--tail auto");
    assert!((46_000..44_100 * 10).contains(&auto.len()), "{}", auto.len());
    assert!(auto[..44_100] == none);
    let last = auto[auto.len() - 2048..].iter().fold(0f32, |peak, sample| peak.max(sample.abs()));
    assert!((1e-5..1e-3).contains(&last), "it ends where it cannot be heard: {last}");
    assert_eq!(out("--tail auto --bypass").len(), 44_100, "what does not ring has no tail");
}
