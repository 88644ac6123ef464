//! Bit depths, channel counts and headers of WAV: unprocessed samples are exact, but for dither and clipping.

use crate::{Folder, Wav, float_wav, formats::chunks, signals, silence, text};
use hound::{SampleFormat, WavSpec, WavWriter};
use std::fs;

/// Returns a folder with an integer file of 1000 frames, and its samples: both extremes, zero, 1 LSB up and down, and noise whose
/// lowest `blank` bits are zero.
fn integer_file(channels: u16, bits: u16, blank: u32) -> (Folder, Vec<i32>) {
    let folder = Folder::new();
    let spec = WavSpec {
        channels,
        sample_rate: 48_000,
        bits_per_sample: bits,
        sample_format: SampleFormat::Int,
    };
    let (min, max) = (i32::MIN >> (32 - bits), i32::MAX >> (32 - bits));
    let mut noise = signals::noise(3);
    let mut samples = vec![min, max, 0, 1, -1, min + (1 << blank)];
    samples.resize_with(1000 * usize::from(channels), || {
        (noise() * f64::from(max)) as i32 >> blank << blank
    });
    let mut wav = WavWriter::create(folder.path("in.wav"), spec).unwrap();
    samples.iter().for_each(|sample| wav.write_sample(*sample).unwrap());
    wav.finalize().unwrap();
    (folder, samples)
}

#[test]
fn integers_of_every_depth_and_channel_count_come_back_exactly() {
    for channels in [1, 2, 6] {
        for bits in [8, 16, 24, 32] {
            // The filter computes in f32, which has 24 bits.
            let (folder, samples) = integer_file(channels, bits, u32::from(bits.max(24)) - 24);
            let said = folder.run("render in.wav -o out.wav --mix 0");
            assert_eq!(folder.spec("out.wav"), folder.spec("in.wav"));
            assert_eq!(folder.integers("out.wav"), samples, "{channels} x {bits} bit");
            assert!(!said.contains("clipped"), "{said}");
        }
    }
}

#[test]
fn of_32_bit_integers_24_bits_are_kept() {
    let (folder, samples) = integer_file(2, 32, 0);
    folder.run("render in.wav -o out.wav --mix 0");
    for (out, sample) in folder.integers("out.wav").into_iter().zip(samples) {
        let error = (f64::from(out) - f64::from(sample)).abs();
        // The error is at most half the last bit of the mantissa.
        assert!(error <= f64::from(sample).abs() * 2f64.powi(-24), "{sample} became {out}");
    }
}

#[test]
fn floats_come_back_exactly_even_beyond_full_scale() {
    for channels in [1, 2, 6] {
        let mut noise = signals::noise(4);
        let channels: Vec<Vec<f32>> =
            (0..channels).map(|_| (0..1000).map(|_| (3.0 * noise()) as f32).collect()).collect();
        let folder = Folder::with(&float_wav(96_000, &channels));
        let said = folder.run("render in.wav -o out.wav --mix 0");
        assert_eq!(folder.spec("out.wav"), folder.spec("in.wav"));
        assert_eq!(folder.floats("out.wav"), channels);
        assert!(!said.contains("clipped"), "{said}");
    }
}

#[test]
fn of_64_bit_floats_32_are_kept() {
    let values = [0.1f64, -0.7, 1e-9, 1.5, 1e300, -0.0, 0.5, 2f64.powi(-140)];
    let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let wav = Wav { tag: 3, bits: 64, data, ..silence() };
    let folder = Folder::with(&wav.bytes());
    folder.run("render in.wav -o out.wav --mix 0");
    assert_eq!(folder.spec("out.wav").bits_per_sample, 32);
    let out = folder.floats("out.wav");
    for (frame, pair) in values.chunks(2).enumerate() {
        // The filter replaces values beyond f32 by silence, and may set denormals to 0.
        let kept = |value: f64| if value > 1e38 { 0.0 } else { value as f32 };
        for (channel, value) in out.iter().zip(pair) {
            assert!((channel[frame] - kept(*value)).abs() < 1e-38, "{value}");
        }
    }
}

#[test]
fn growing_depths_are_exact() {
    let (folder, samples) = integer_file(2, 16, 0);
    folder.run("render in.wav -o out.wav --mix 0 --bit-depth 24");
    let grown: Vec<i32> = samples.iter().map(|sample| sample << 8).collect();
    assert_eq!(folder.integers("out.wav"), grown);
    folder.run("render in.wav -o float.wav --mix 0 --bit-depth 32f");
    let floats = folder.floats("float.wav");
    assert_eq!(floats[0][0], -1.0, "full scale is 1");
    assert_eq!(floats[1][0], 32_767.0 / 32_768.0);
}

#[test]
fn shrinking_depths_are_dithered_the_same_way_every_time() {
    // The signal is a constant of a quarter of an LSB, which rounding without dither would silence.
    let steps = 0.25;
    let folder = Folder::with(&float_wav(44_100, &[vec![steps / 32_768.0; 40_000]]));
    folder.run("render in.wav -o a.wav --mix 0 --bit-depth 16");
    folder.run("render in.wav -o b.wav --mix 0 --bit-depth 16");
    let samples = folder.integers("a.wav");
    assert_eq!(samples, folder.integers("b.wav"));
    assert!(samples.iter().all(|sample| (-1..=1).contains(sample)), "two steps wide");
    let mean = samples.iter().sum::<i32>() as f32 / samples.len() as f32;
    // Dither and rounding have a variance of 1/4 LSB^2 together, so the standard deviation of the mean is 0.0025 LSB.
    assert!((mean - steps).abs() < 0.01, "{mean}");
}

#[test]
fn what_exceeds_full_scale_is_cut_counted_and_told() {
    let folder = Folder::with(&float_wav(44_100, &[vec![0.5, 2.0, -2.0, 1.0, -1.0, 0.0]]));
    let said = folder.run("render in.wav -o out.wav --mix 0 --bit-depth 16");
    assert!(
        said.contains("warning: out.wav: 2 samples clipped; lower --output by 6.1 dB"),
        "{said}"
    );
    let samples = folder.integers("out.wav");
    assert_eq!(samples[1..3], [32_767, -32_768]);
}

#[test]
fn extensible_headers_are_read() {
    // 20 valid bits in the upper bits of three bytes; quadraphonic; the subformat is PCM.
    let mut extension = vec![22, 0, 20, 0, 0x33, 0, 0, 0, 1, 0];
    extension.extend([0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]);
    let values = [0x7FFFF0, -0x800000, 0x10, -0x10];
    let data = values.iter().flat_map(|v: &i32| v.to_le_bytes()[..3].to_vec()).collect();
    let wav = Wav { tag: 0xFFFE, channels: 4, bits: 24, extension, data, ..silence() };
    let folder = Folder::with(&wav.bytes());
    folder.run("render in.wav -o out.wav --mix 0");
    assert_eq!(folder.integers("out.wav"), values);
    assert_eq!(folder.spec("out.wav").bits_per_sample, 24);
}

#[test]
fn what_a_plain_header_adds_is_ignored() {
    for extension in [vec![0; 2], vec![9; 4], vec![0; 24]] {
        let wav = Wav { bits: 32, extension, data: [0, 1, 2, 3].repeat(4), ..silence() };
        let folder = Folder::with(&wav.bytes());
        folder.run("render in.wav -o out.wav --mix 0");
        assert_eq!(folder.integers("out.wav"), [0x0302_0100; 4]);
    }
}

#[test]
fn other_chunks_are_skipped_with_their_padding() {
    let data = vec![1, 2, 3, 4];
    let between = b"LIST\x03\0\0\0abc\0fact\x04\0\0\0\x01\0\0\0".to_vec();
    let mut bytes = Wav { between, data, ..silence() }.bytes();
    bytes.extend(b"id3 \x02\0\0\0hi");
    let folder = Folder::with(&bytes);
    folder.run("render in.wav -o out.wav --mix 0");
    // The test does not use hound, which does not know that chunks begin at even offsets.
    let out = chunks(&std::fs::read(folder.path("out.wav")).unwrap());
    assert!(out.contains(&(*b"data", vec![1, 2, 3, 4])), "{out:?}");
}

#[test]
fn a_chunk_of_odd_length_is_padded() {
    let wav = Wav { channels: 1, bits: 8, data: vec![0, 128, 255], ..silence() };
    let folder = Folder::with(&wav.bytes());
    folder.run("render in.wav -o out.wav --mix 0");
    let bytes = std::fs::read(folder.path("out.wav")).unwrap();
    assert_eq!(bytes.len(), 48);
    assert_eq!(bytes[4..8], 40u32.to_le_bytes(), "all but the RIFF head");
    assert_eq!(bytes[40..44], 3u32.to_le_bytes(), "the samples");
    assert_eq!(bytes[44..], [0, 128, 255, 0]);
}

#[test]
fn what_was_processed_is_dithered_to_16_bits_and_fewer() {
    let sine = signals::sine(1000.0, 0.5, 0.1, 48_000.0);
    let quiet = [vec![0.0; 100], sine].concat();
    let folder = Folder::with(&float_wav(48_000, &[quiet.clone(), quiet]));
    let rendered = |input: &str, flags: &str| {
        folder.run(&format!("render {input} -o out.wav --force {flags}"));
        folder.integers("out.wav")
    };
    for bits in [16, 24] {
        folder.run(&format!("render in.wav -o deep{bits}.wav --mix 0 --bit-depth {bits}"));
    }
    for (input, flags, dithered) in [
        ("deep16.wav", "--mix 100", true),
        ("deep16.wav", "--mix 0 --output -1", true),
        ("deep16.wav", "--bypass --normalize-peak -1", true),
        ("deep16.wav", "--bypass", false),
        ("deep16.wav", "--mix 0", false),
        ("deep16.wav", "--morph 0", false),
        ("deep24.wav", "--mix 100", false),
        ("deep16.wav", "--mix 100 --bit-depth 24", false),
    ] {
        let out = rendered(input, flags);
        assert_eq!(out, rendered(input, flags), "{input} {flags}: the same every time");
        assert!(out[..200].iter().all(|sample| *sample == 0), "silence stays silent");
        let plain = rendered(input, &format!("{flags} --no-dither"));
        assert_eq!(out != plain, dithered, "{input} {flags}");
        let error = out.iter().zip(&plain).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(error <= Some(1), "{input} {flags}: {error:?} steps");
    }
}

#[test]
fn lengths_that_nobody_knew_reach_to_the_end() {
    let whole = Wav { data: (0..40).collect(), ..silence() }.bytes();
    for len in [0, 0x7FFF_F000, 0x7FFF_FFFF, 0x8000_0000, u32::MAX] {
        for riff in [0, 36, u32::MAX] {
            let mut bytes = whole.clone();
            bytes[4..8].copy_from_slice(&u32::to_le_bytes(riff));
            bytes[40..44].copy_from_slice(&u32::to_le_bytes(len));
            let folder = Folder::with(&bytes);
            folder.run("render in.wav -o out.wav --mix 0");
            assert!(std::fs::read(folder.path("out.wav")).unwrap() == whole, "{len:#x}");
        }
    }
    // If the file is as long as its header says, a length of 0 is believed.
    let mut empty = Wav { data: vec![], ..silence() }.bytes();
    empty.extend(b"LIST\x04\0\0\0INFO");
    let riff = empty.len() as u32 - 8;
    empty[4..8].copy_from_slice(&riff.to_le_bytes());
    let line = Folder::with(&empty).fail("render in.wav -o out.wav", 1);
    assert!(line.starts_with("in.wav: holds no samples;"), "{line}");
}

#[test]
fn a_byte_after_the_last_whole_frame_is_no_harm() {
    let folder = Folder::with(&Wav { data: (0..41).collect(), ..silence() }.bytes());
    folder.run("render in.wav -o out.wav --mix 0");
    let expected = Wav { data: (0..40).collect(), ..silence() }.bytes();
    assert!(std::fs::read(folder.path("out.wav")).unwrap() == expected);
}

#[test]
fn twenty_bits_in_three_bytes_are_read() {
    let values = [0x7FFFF0, -0x800000, 0x10, -0x10];
    let data = values.iter().flat_map(|v: &i32| v.to_le_bytes()[..3].to_vec()).collect();
    let mut bytes = Wav { bits: 24, data, ..silence() }.bytes();
    bytes[34] = 20;
    let folder = Folder::with(&bytes);
    folder.run("render in.wav -o out.wav --mix 0");
    assert_eq!(folder.integers("out.wav"), values);
    assert_eq!(folder.spec("out.wav").bits_per_sample, 24);
}

#[test]
fn samples_that_are_not_finite_are_replaced_by_silence_counted_and_reported() {
    let sine = signals::sine(440.0, 0.25, 1.0, 44_100.0);
    let (mut broken, mut clean) = (vec![sine.clone(), sine.clone()], vec![sine.clone(), sine]);
    let places = [(0, 0, f32::NAN), (0, 20_000, f32::INFINITY), (1, 44_099, f32::NEG_INFINITY)];
    for (channel, frame, value) in places {
        (broken[channel][frame], clean[channel][frame]) = (value, 0.0);
    }
    let folder = Folder::new();
    folder.put("in/broken.wav", &float_wav(44_100, &broken));
    folder.put("in/clean.wav", &float_wav(44_100, &clean));
    let warning =
        "warning: in/broken.wav: 3 samples replaced by silence, as they are NaN or infinite";
    let warnings = |line: &str| {
        let output = folder.command(line).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}");
        let lines: Vec<String> = text(output.stderr).lines().map(str::to_owned).collect();
        let warnings = lines.into_iter().filter(|line| line.starts_with("warning")).collect();
        (warnings, text(output.stdout))
    };
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();

    // A batch, with all measurements.
    let (said, report): (Vec<_>, _) = warnings("render in -o out --json");
    assert_eq!(said, [warning]);
    let report = json(&report);
    let [mut first, mut second] = [0, 1].map(|index| report["files"][index].clone());
    assert_eq!((&first["not_finite"], &second["not_finite"]), (&3.into(), &0.into()));
    assert!(first["loudness_before_lufs"].is_f64() && first["loudness_after_lufs"].is_f64());
    for file in [&mut first, &mut second] {
        for own in ["input", "output", "not_finite", "times_real_time"] {
            file.as_object_mut().unwrap().remove(own);
        }
    }
    assert_eq!(first, second, "the rest is measured");
    assert!(folder.floats("out/broken.wav") == folder.floats("out/clean.wav"));

    let table = |name: &str| {
        let (said, csv) = warnings(&format!("bands in/{name}.wav --csv - --json {name}.json"));
        (said, csv, json(&fs::read_to_string(folder.path(&format!("{name}.json"))).unwrap()))
    };
    let (of_broken, of_clean): ((Vec<_>, _, _), _) = (table("broken"), table("clean"));
    assert_eq!((of_broken.0, of_clean.0), (vec![warning.to_owned()], vec![]));
    assert_eq!(of_broken.1, of_clean.1);
    assert_eq!(of_broken.2["moments"], of_clean.2["moments"]);
    assert_eq!((&of_broken.2["not_finite"], &of_clean.2["not_finite"]), (&3.into(), &0.into()));

    // Normalising reads the file twice, but the samples are counted once.
    let line = "render in/broken.wav -o again.wav --normalize-peak -1";
    assert_eq!(warnings(line).0, [warning]);
    let (said, report) = warnings("render in/broken.wav -o quiet.wav --quiet --json");
    assert_eq!((said, &json(&report)["files"][0]["not_finite"]), (vec![], &3.into()));
    assert!(warnings("bands in/broken.wav --midi quiet.mid --quiet").0.is_empty());
}
