//! FLAC outputs, read by ffmpeg and by the reference decoder.

use crate::{
    Folder,
    batch::{names, samples, tree},
    float_wav,
    interop::{noise, read_by, read_by_us, tool},
    signals,
};

/// Has the reference decoder check all frames, and the checksum of all samples.
fn check(folder: &Folder) {
    if cfg!(target_os = "linux") {
        tool(folder, "flac --test --silent out.flac");
    }
}

#[test]
fn it_has_the_samples_of_the_wav_file() {
    for channels in [1, 2, 8] {
        for depth in ["16", "24"] {
            // Several blocks of the encoder, and an incomplete one.
            let folder = noise(channels, 20_001);
            folder.run(&format!("render in.wav -o out.wav --bit-depth {depth} --mix 100"));
            folder.run(&format!("render in.wav -o out.flac --bit-depth {depth} --mix 100"));
            let expected = read_by_us(&folder, "out.wav");
            assert_eq!(expected.len(), 20_001 * channels);
            for (reader, own) in [
                ("ffmpeg", read_by("ffmpeg", &folder, "out.flac")),
                ("we", read_by_us(&folder, "out.flac")),
            ] {
                assert!(own == expected, "{channels} x {depth}: {reader}");
            }
            check(&folder);
        }
    }
}

#[test]
fn loud_noise_and_silence_are_exact_and_no_larger_than_they_must_be() {
    let white = signals::white(2.0, 44_100.0);
    let peak = white.iter().fold(0f32, |peak, sample| peak.max(sample.abs()));
    let full: Vec<f32> = white.iter().map(|sample| sample / peak).collect();
    for (channel, most) in [(full, 1.01), (vec![0.0; 88_200], 0.1)] {
        let folder = Folder::with(&float_wav(44_100, &[channel.clone(), channel]));
        for name in ["out.wav", "out.flac"] {
            folder.run(&format!("render in.wav -o {name} --bit-depth 24 --mix 0"));
        }
        assert!(read_by("ffmpeg", &folder, "out.flac") == read_by_us(&folder, "out.wav"));
        let size = |name: &str| std::fs::metadata(folder.path(name)).unwrap().len() as f64;
        assert!(size("out.flac") < most * size("out.wav"), "{}", size("out.flac"));
        check(&folder);
    }
}

#[test]
fn folders_become_flac_by_a_pattern_and_what_flac_has_not_is_refused() {
    let folder = samples();
    folder.run("render in -o out/{name}.flac");
    let expected = ["a.flac", "b.flac", "drums/deep/snare.flac", "drums/kick.flac", "x y.flac"];
    assert_eq!(names(&tree(&folder, "out")), expected);
    folder.run("render in/a.wav -o one.flac");
    // A float input becomes a FLAC file of 24 bits.
    assert_eq!(
        String::from_utf8(tool(
            &folder,
            "ffprobe -v error -of csv=p=0 -show_entries stream=bits_per_raw_sample one.flac"
        ))
        .unwrap()
        .trim(),
        "24"
    );

    let said = folder.fail("render in/a.wav -o two.flac --bit-depth 32f", 2);
    assert_eq!(
        said,
        "FLAC has no floating point; use --bit-depth 24, or end the name of --out in .wav"
    );
    let said = folder.fail("render in/a.wav in/b.WAV -o two.flac", 2);
    assert!(
        said.starts_with("two.flac: is a file's name, and several outputs need a folder"),
        "{said}"
    );
    let many = noise(9, 100);
    let said = many.fail("render in.wav -o out.flac", 1);
    assert!(
        said.starts_with(
            "out.flac: 9 channels at 44100 Hz exceed the 8 channels and 1048575 Hz of FLAC"
        ),
        "{said}"
    );
}
