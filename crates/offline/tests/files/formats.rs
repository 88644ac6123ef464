//! Formats that other programs write and read: equal samples, bit for bit where the coding is lossless.

use crate::{Folder, Wav, chunks, extensible, float_wav, floats, noise, silence, unmixed};
use tone_filter_offline::{options::Options, wav::Depth};
use tone_filter_testkit::{signals, sweep};

/// Lossless formats: extension, flags of ffmpeg, and number of bits of the samples that our reader returns; 32 stands for
/// floats.
const LOSSLESS: [(&str, &str, u16); 22] = [
    ("wav", "-c:a pcm_u8", 8),
    ("wav", "-c:a pcm_s16le", 16),
    ("wav", "-c:a pcm_s24le", 24),
    ("wav", "-c:a pcm_s32le", 32),
    ("wav", "-c:a pcm_f32le", 32),
    ("wav", "-c:a pcm_f64le", 32),
    ("wav", "-c:a pcm_s16le -rf64 always", 16),
    ("wav", "-c:a pcm_mulaw", 16),
    ("wav", "-c:a pcm_alaw", 16),
    ("wav", "-c:a adpcm_ima_wav", 16),
    ("wav", "-c:a adpcm_ms", 16),
    ("flac", "-sample_fmt s16", 16),
    ("flac", "-sample_fmt s32", 24),
    ("aiff", "-c:a pcm_s16be", 16),
    ("aiff", "-c:a pcm_f32be", 32),
    ("aiff", "-c:a pcm_f64be", 32),
    ("caf", "-c:a pcm_s16be", 16),
    ("caf", "-c:a pcm_s24le", 24),
    ("caf", "-c:a pcm_f32be", 32),
    ("caf", "-c:a alac", 16),
    ("m4a", "-c:a alac", 16),
    ("m4a", "-c:a alac -sample_fmt s32p", 24),
];

/// Formats that sox writes: extension and flags.
const BY_SOX: [(&str, &str); 9] = [
    ("wav", "-b 8 -e unsigned"),
    ("wav", "-b 16 -e signed"),
    ("wav", "-b 24 -e signed"),
    ("wav", "-b 32 -e signed"),
    ("wav", "-b 32 -e float"),
    ("wav", "-b 64 -e float"),
    ("flac", "-b 16"),
    ("flac", "-b 24"),
    ("aiff", "-b 24"),
];

#[test]
fn lossless_files_of_sox_and_ffmpeg_have_the_samples_that_ffmpeg_reads() {
    let by_ffmpeg =
        LOSSLESS.map(|(end, flags, bits)| ("ffmpeg -v error -i", end, flags, Some(bits)));
    let by_sox = BY_SOX.map(|(end, flags)| ("sox -D", end, flags, None));
    let rows = by_ffmpeg.into_iter().chain(by_sox);
    let cases = rows.flat_map(|row| [1, 2, 6].map(|channels| (channels, row)));
    let has_channels = |channels, flags: &str| channels <= 2 || !flags.contains("adpcm");
    let cases = cases.filter(|(channels, (_, _, flags, _))| has_channels(*channels, flags));
    for (channels, (program, extension, flags, bits)) in sweep::tenth(cases) {
        let folder = noise(channels, 1001);
        let name = format!("out.{extension}");
        let line = format!("{program} in.wav {flags} {name}");
        folder.tool(&line);
        let (format, ours) = folder.try_read(&name).unwrap();
        assert!(ours.len() >= 1001 * channels && ours == folder.read_by_ffmpeg(&name), "{line}");
        assert!(bits.is_none_or(|bits| format.depth.bits() == bits), "{line}: {format:?}");
    }
}

#[test]
fn sox_and_ffmpeg_read_equal_samples_from_every_file_that_is_written() {
    let depths = [Depth::Int8, Depth::Int16, Depth::Int24, Depth::Int32, Depth::Float32];
    let cases = [1, 2, 3, 6].into_iter().flat_map(|channels| depths.map(|depth| (channels, depth)));
    for (channels, depth) in sweep::tenth(cases) {
        // The number of frames is odd, so that some data chunks have an odd length, and padding.
        let folder = noise(channels, 1001);
        folder.render("in.wav", "out.wav", &Options { depth: Some(depth), ..Options::default() });
        let expected = folder.read("out.wav");
        assert_eq!(expected.len(), 1001 * channels);
        assert!(folder.read_by_ffmpeg("out.wav") == expected, "{channels} x {depth:?}");
        // sox computes in integers with an LSB of 2^-31, and rounds its output to an LSB of 2^-24.
        let step = if depth.bits() == 32 { 2f32.powi(-31) + 2f32.powi(-25) } else { 0.0 };
        let sox = floats(&folder.tool("sox -D out.wav -t f32 -"));
        assert_eq!(sox.len(), expected.len());
        let is_near = |(sox, ours): (&f32, &f32)| (sox - ours).abs() <= step;
        assert!(sox.iter().zip(&expected).all(is_near), "{channels} x {depth:?}");
    }
}

#[test]
fn lossy_files_are_decoded_as_by_ffmpeg_from_the_same_sample_on() {
    let tones = signals::noisy_chord(2.0, 44_100.0);
    let folder = crate::in_16_bits(&[tones.clone(), tones]);
    // AAC is coded without noise substitution (PNS), whose noise differs in every decoder.
    for (name, flags, min_snr) in [
        ("a.mp3", "-b:a 192k", 60.0),
        ("a.ogg", "-c:a libvorbis -q:a 6", 60.0),
        ("a.m4a", "-c:a aac -b:a 160k -aac_pns 0", 90.0),
        ("b.m4a", "-c:a aac -b:a 160k -aac_pns 0 -movflags +faststart", 90.0),
        ("c.mp4", "-c:a aac -b:a 160k -aac_pns 0 -ac 1", 90.0),
    ] {
        folder.tool(&format!("ffmpeg -v error -i in.wav {flags} {name}"));
        let truth = folder.read_by_ffmpeg(name);
        let (format, ours) = folder.try_read(name).unwrap();
        assert_eq!(ours.len(), 88_200 * usize::from(format.channels), "{name}");
        assert_eq!(format.depth, Depth::Int16, "{name}");
        // ffmpeg decodes the last packet whole, beyond the end of the music.
        let truth: Vec<f64> = truth[..ours.len()].iter().map(|sample| f64::from(*sample)).collect();
        let snr = signals::snr(&truth, &ours);
        assert!(snr > min_snr, "{name}: {snr} dB");
    }
    let bytes = folder.bytes("b.m4a");
    folder.put("short.m4a", &bytes[..bytes.len() * 2 / 3]);
    assert!(folder.error("short.m4a").starts_with("short.m4a: "));
}

#[test]
fn loudspeakers_are_named_as_ffmpeg_names_them() {
    let speakers = |folder: &Folder, name: &str| {
        let all = chunks(&folder.bytes(name));
        let (_, fmt) = all.iter().find(|(id, _)| id == b"fmt ").unwrap();
        fmt.get(20..24).map(<[u8]>::to_vec)
    };
    for channels in 1..=8 {
        let folder = noise(channels, 101);
        let samples = folder.read("in.wav");
        let layout = ["mono", "stereo", "3.0", "quad", "5.0", "5.1", "6.1", "7.1"][channels - 1];
        let map: Vec<String> = (0..channels).map(|channel| channel.to_string()).collect();
        let map = format!("channelmap=map={}:channel_layout={layout}", map.join("|"));
        folder.tool(&format!("ffmpeg -v error -i in.wav -af {map} in.flac"));
        folder.tool("ffmpeg -v error -i in.flac theirs.wav");
        folder.render("in.flac", "ours.wav", &unmixed());
        let [ours, theirs] = ["ours.wav", "theirs.wav"].map(|name| speakers(&folder, name));
        assert_eq!(ours, theirs, "{layout}");
        assert_eq!(ours.is_some(), channels > 2, "{layout}");
        assert!(folder.read("in.flac") == samples, "{layout}");
    }
    // The speaker layout of a WAV file is kept, even if the depth changes.
    let (extension, data) = (extensible(16, 0x00FF, 1), vec![0; 160]);
    let wav = Wav { tag: 0xFFFE, channels: 8, extension, data, ..silence() };
    let folder = Folder::with(&wav.bytes());
    folder.render("in.wav", "out.wav", &Options { depth: Some(Depth::Int24), ..unmixed() });
    folder.render("in.wav", "out.flac", &unmixed());
    folder.tool("ffmpeg -v error -i out.flac theirs.wav");
    for name in ["out.wav", "theirs.wav"] {
        assert_eq!(speakers(&folder, name), Some(0x00FFu32.to_le_bytes().to_vec()), "{name}");
    }
}

#[test]
fn flac_has_the_samples_of_wav_and_is_no_larger_than_it_must_be() {
    let mut noise = signals::noise(9);
    // Long enough for several blocks of the encoder, the last of which is incomplete.
    let mut full = || (0..88_200).map(|_| noise() as f32).collect::<Vec<_>>();
    let loud: Vec<_> = (0..8).map(|_| full()).collect();
    let silent = [vec![0.0; 88_200], vec![0.0; 88_200]];
    for (channels, mix, max_ratio) in [
        (&loud[..1], 100.0, 1.02),
        (&loud, 100.0, 1.01),
        (&loud[..2], 0.0, 1.01),
        (&silent, 0.0, 0.1),
    ] {
        for depth in [Depth::Int16, Depth::Int24] {
            let folder = Folder::with(&float_wav(44_100, channels));
            let mut options = Options { depth: Some(depth), ..unmixed() };
            options.settings.mix = mix;
            for name in ["out.wav", "out.flac"] {
                folder.render("in.wav", name, &options);
            }
            let expected = folder.read("out.wav");
            assert!(folder.read("out.flac") == expected, "{depth:?}");
            assert!(folder.read_by_ffmpeg("out.flac") == expected, "{depth:?}");
            // The reference decoder checks all frames, and the checksum of all samples.
            folder.tool("flac --test --silent out.flac");
            let [flac, wav] = ["out.flac", "out.wav"].map(|name| folder.bytes(name).len() as f64);
            assert!(depth == Depth::Int16 || flac < max_ratio * wav, "{flac} of {wav} bytes");
        }
    }
}
