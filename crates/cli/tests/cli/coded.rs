//! Coded files as other programs write them, compared with ffmpeg's decoding.

use crate::{
    Folder,
    formats::chunks,
    interop::{in_16_bits, noise, read_by, read_by_us, tool},
    signals,
};

/// Returns a folder with two chords in `one.wav` and `two.wav`, the second one longer.
fn two_chords() -> Folder {
    let chord = signals::noisy_chord(3.0, 44_100.0);
    let folder = in_16_bits(&[chord[..44_100].to_vec()]);
    folder.put("one.wav", &std::fs::read(folder.path("in.wav")).unwrap());
    let other = in_16_bits(&[chord[44_100..].to_vec()]);
    folder.put("two.wav", &std::fs::read(other.path("in.wav")).unwrap());
    folder
}

#[test]
fn mp3_files_joined_to_one_are_decoded_to_the_last_each_without_its_padding() {
    let folder = two_chords();
    let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
    tool(
        &folder,
        "ffmpeg -v error -i one.wav -b:a 192k -metadata title=One -write_id3v1 1 one.mp3",
    );
    tool(&folder, "ffmpeg -v error -i two.wav -q:a 2 -id3v2_version 0 two.mp3");
    tool(&folder, "ffmpeg -v error -i two.wav -b:a 192k -write_xing 0 -id3v2_version 0 bare.mp3");
    let [one, two, bare] = ["one.mp3", "two.mp3", "bare.mp3"].map(|name| read_by_us(&folder, name));
    assert_eq!([one.len(), two.len()], [44_100, 88_200]);
    // Without a header, the length of the padding is unknown.
    assert!((88_200..92_000).contains(&bare.len()), "{}", bare.len());
    for (names, expected) in [
        (vec!["one.mp3", "two.mp3"], [&one[..], &two].concat()),
        (vec!["two.mp3", "one.mp3", "two.mp3"], [&two[..], &one, &two].concat()),
        (vec!["one.mp3", "bare.mp3"], [&one[..], &bare].concat()),
    ] {
        folder.put("all.mp3", &names.iter().flat_map(|name| bytes(name)).collect::<Vec<u8>>());
        assert!(read_by_us(&folder, "all.mp3") == expected, "{names:?}");
    }
    folder.put("short.mp3", &[&bytes("one.mp3")[..], &bytes("two.mp3")[..20_000]].concat());
    let line = folder.fail("render short.mp3 -o out.wav", 1);
    assert!(line.starts_with("short.mp3: truncated, "), "{line}");
}

#[test]
fn an_mp3_of_varying_rate_without_a_header_is_read_to_its_end() {
    let folder = Folder::new();
    // Silence before noise, and noise before silence: the first frames do not show the rate of the rest.
    let silence = vec![0.0; 88_200];
    let noise = signals::white(2.0, 44_100.0);
    for (index, sound) in [[&silence[..], &noise], [&noise, &silence]].into_iter().enumerate() {
        let name = format!("{index}.wav");
        folder.put(&name, &crate::float_wav(44_100, &[sound.concat()]));
        tool(&folder, &format!("ffmpeg -v error -i {name} -ac 1 -q:a 2 -write_xing 0 {index}.mp3"));
        let len = read_by_us(&folder, &format!("{index}.mp3")).len();
        assert!((176_400..180_000).contains(&len), "{index}: {len}");
    }
}

/// Returns the mask of loudspeakers in the header of a WAV file, if there is one.
fn speakers(folder: &Folder, name: &str) -> Option<[u8; 4]> {
    let bytes = std::fs::read(folder.path(name)).unwrap();
    let fmt = chunks(&bytes).into_iter().find(|(id, _)| id == b"fmt ").unwrap().1;
    Some(*fmt.get(20..)?.first_chunk().unwrap())
}

#[test]
fn loudspeakers_are_named_as_ffmpeg_names_them() {
    for channels in 1..=8 {
        let folder = noise(channels, 1001);
        let samples = read_by_us(&folder, "in.wav");
        let layout = ["mono", "stereo", "3.0", "quad", "5.0", "5.1", "6.1", "7.1"][channels - 1];
        let map: Vec<String> = (0..channels).map(|channel| channel.to_string()).collect();
        let map = format!("channelmap=map={}:channel_layout={layout}", map.join("|"));
        tool(&folder, &format!("ffmpeg -v error -i in.wav -af {map} in.flac"));
        tool(&folder, "ffmpeg -v error -i in.flac theirs.wav");
        folder.run("render in.flac -o ours.wav --mix 0");
        let [ours, theirs] = ["ours.wav", "theirs.wav"].map(|name| speakers(&folder, name));
        assert_eq!(ours, theirs, "{layout}");
        assert_eq!(ours.is_some(), channels > 2, "{layout}");
        assert!(read_by_us(&folder, "in.flac") == samples, "{layout}");
    }
}

#[test]
fn vorbis_of_more_channels_than_are_decoded_right_is_refused() {
    let folder = noise(6, 10_000);
    tool(&folder, "ffmpeg -v error -i in.wav in.ogg");
    let line = folder.fail("render in.ogg -o out.wav", 1);
    assert_eq!(
        line,
        "in.ogg: unsupported coding 6-channel Vorbis; convert the file: ffmpeg -i in.ogg in.flac"
    );
}

#[test]
fn coded_wav_caf_and_alac_are_decoded_as_ffmpeg_does_to_the_last_bit() {
    let folder = two_chords();
    for (name, flags, bits) in [
        ("mu.wav", "-c:a pcm_mulaw", 16),
        ("a.wav", "-c:a pcm_alaw", 16),
        ("ima.wav", "-c:a adpcm_ima_wav", 16),
        ("ms.wav", "-c:a adpcm_ms", 16),
        ("pcm16.caf", "-c:a pcm_s16be", 16),
        ("pcm24.caf", "-c:a pcm_s24le", 24),
        ("alac.caf", "-c:a alac", 16),
        ("alac.m4a", "-c:a alac", 16),
        ("alac24.m4a", "-c:a alac -sample_fmt s32p", 24),
        ("float.caf", "-c:a pcm_f32be", 32),
        ("float.aiff", "-c:a pcm_f32be", 32),
        ("double.aiff", "-c:a pcm_f64be", 32),
    ] {
        tool(&folder, &format!("ffmpeg -v error -i two.wav -ac 2 {flags} {name}"));
        let ours = read_by_us(&folder, name);
        assert!(ours == read_by("ffmpeg", &folder, name), "{name}");
        assert!(ours.len() >= 2 * 88_200, "{name}");
        folder.run(&format!("render {name} -o depth.wav --force"));
        let spec = folder.spec("depth.wav");
        assert_eq!(spec.bits_per_sample, bits, "{name}");
        assert_eq!(spec.sample_format == hound::SampleFormat::Float, bits == 32, "{name}");
    }
}

#[test]
fn aac_is_decoded_in_time_and_to_the_sample() {
    let folder = two_chords();
    let original = read_by_us(&folder, "two.wav");
    // Without noise substitution (PNS), which is random in every decoder.
    for (name, flags) in [
        ("a.m4a", "-aac_pns 0"),
        ("b.m4a", "-aac_pns 0 -movflags +faststart"),
        ("c.mp4", "-aac_pns 0 -ac 2"),
    ] {
        tool(&folder, &format!("ffmpeg -v error -i two.wav -c:a aac -b:a 160k {flags} {name}"));
        let (ours, theirs) = (read_by_us(&folder, name), read_by("ffmpeg", &folder, name));
        assert_eq!(ours.len(), original.len() * if name == "c.mp4" { 2 } else { 1 }, "{name}");
        // ffmpeg does not cut the last packet.
        let theirs: Vec<f64> = theirs[..ours.len()].iter().map(|s| f64::from(*s)).collect();
        let snr = signals::snr(&theirs, &ours);
        assert!(snr > 90.0, "{name}: {snr} dB");
    }
    folder.run("render a.m4a -o natural.wav");
    assert_eq!(folder.spec("natural.wav").bits_per_sample, 16);
    folder.put("films/c.mp4", &std::fs::read(folder.path("c.mp4")).unwrap());
    folder.run("render films -o sounds/");
    assert_eq!(folder.spec("sounds/c.wav").channels, 2);
    let bytes = std::fs::read(folder.path("b.m4a")).unwrap();
    folder.put("short.m4a", &bytes[..bytes.len() * 2 / 3]);
    let said = folder.fail("render short.m4a -o out.wav", 1);
    assert!(said.starts_with("short.m4a: "), "{said}");
}

#[test]
fn what_is_not_read_is_refused_with_a_command_that_helps_and_left_out_of_folders() {
    let folder = noise(6, 10_000);
    tool(&folder, "ffmpeg -v error -i in.wav -c:a aac songs.m4a");
    let line = folder.fail("render songs.m4a -o out.wav", 1);
    let (said, command) = line.split_once("; convert the file: ").unwrap();
    assert_eq!(said, "songs.m4a: unsupported coding HE-AAC or surround AAC");
    tool(&folder, &format!("{command} -v error"));
    folder.run("render songs.flac -o out.wav");

    std::fs::create_dir(folder.path("songs")).unwrap();
    tool(&folder, "ffmpeg -v error -i in.wav -ac 2 -c:a aac songs/aac.m4a");
    tool(&folder, "ffmpeg -v error -i in.wav -ac 2 -c:a alac songs/alac.m4a");
    std::fs::rename(folder.path("songs.m4a"), folder.path("songs/six.m4a")).unwrap();
    let said = folder.run("render songs -o done");
    assert!(said.contains("note: songs/six.m4a: left out, an unsupported format, "), "{said}");
    for name in ["alac.wav", "aac.wav"] {
        assert!(folder.path("done").join(name).exists(), "{name}");
    }
    assert!(!folder.path("done/six.wav").exists());
}
