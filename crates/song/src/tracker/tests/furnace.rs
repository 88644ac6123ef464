//! Tests with Furnace, which must be on the `PATH`: it loads songs without warnings and plays the right notes.
//!
//! `TRACKER_SONGS` may list further songs to load, separated by `:`.

use super::*;
use std::{f64::consts::TAU, path::Path, process::Command};

/// Sample rate of Furnace's sound in Hz.
const RATE: f64 = 44_100.0;

/// Renders a song with Furnace, mixed to mono.
fn rendered(file: &Path) -> Vec<f64> {
    let folder = tempfile::tempdir().unwrap();
    let wav = folder.path().join("out.wav");
    let mut furnace = Command::new("furnace");
    furnace.args(["-loglevel", "warning", "-loops", "0", "-output"]).arg(&wav).arg(file);
    let output = furnace.output().expect("furnace is on the PATH");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    // Furnace warns if there are no MIDI devices.
    let complaint = |line: &&str| {
        (line.contains("[warning]") || line.contains("[ERROR]")) && !line.contains("MIDI")
    };
    let complaints: Vec<_> = said.lines().filter(complaint).collect();
    assert!(output.status.success() && complaints.is_empty(), "{}: {complaints:?}", file.display());
    let mut reader = hound::WavReader::open(wav).unwrap();
    assert_eq!((f64::from(reader.spec().sample_rate), reader.spec().channels), (RATE, 2));
    let samples: Vec<f64> = match reader.spec().sample_format {
        hound::SampleFormat::Int => {
            reader.samples::<i32>().map(|sample| f64::from(sample.unwrap())).collect()
        }
        hound::SampleFormat::Float => {
            reader.samples::<f32>().map(|sample| f64::from(sample.unwrap())).collect()
        }
    };
    samples.chunks(2).map(|pair| pair[0] + pair[1]).collect()
}

/// Returns the level of a frequency in dB, with a Hann window.
fn level(sound: &[f64], hertz: f64) -> f64 {
    let [mut real, mut imaginary] = [0.0; 2];
    for (t, sample) in sound.iter().enumerate() {
        let window = 1.0 - (TAU * t as f64 / sound.len() as f64).cos();
        let (sin, cos) = (TAU * hertz * t as f64 / RATE).sin_cos();
        real += window * sample * cos;
        imaginary += window * sample * sin;
    }
    10.0 * f64::max(real * real + imaginary * imaginary, 1e-20).log10()
}

#[test]
fn furnace_plays_the_notes() {
    let folder = tempfile::tempdir().unwrap();
    for chip in Chip::ALL {
        let file = folder.path().join(format!("{}.fur", chip.id()));
        for channel in 0..3 {
            // Two notes per part, without envelope, at different octaves. The second is quieter.
            let mut song = steady(0);
            song.rows = 32;
            song.sound = Sound { attack: 0, decay: 0, ..song.sound };
            let part = [&mut song.lead, &mut song.harmony, &mut song.bass];
            let keys = [72, 79, 60, 48];
            let volumes = [15, 9, 15, 15];
            let notes = (0..4).map(|n| note(8 * n, 8, keys[n], &[], volumes[n]));
            *part.into_iter().nth(channel).unwrap() = notes.collect();
            std::fs::write(&file, super::furnace(&module(&song, chip), &tags())).unwrap();
            let sound = rendered(&file);
            assert!((sound.len() as f64 / RATE - 4.0).abs() < 0.1, "{} samples", sound.len());
            let mut levels = Vec::new();
            for (n, key) in keys.into_iter().enumerate() {
                let start = ((n as f64 + 0.2) * RATE) as usize;
                // A chip's periods are whole numbers, so its pitch is off by up to 12 cents.
                let level = |key: f64| {
                    let cents = (-12..=12).step_by(4).map(f64::from);
                    let hertz = cents.map(|off| 440.0 * ((key - 69.0 + off / 100.0) / 12.0).exp2());
                    let levels =
                        hertz.map(|hertz| level(&sound[start..start + RATE as usize / 2], hertz));
                    levels.fold(f64::NEG_INFINITY, f64::max)
                };
                let key_level = level(key.into());
                let others = [-12.0, -1.0, 1.0].map(|far| level(f64::from(key) + far));
                assert!(
                    others.iter().all(|far| far + 15.0 < key_level),
                    "{chip:?}, {channel}, {n}"
                );
                levels.push(key_level);
            }
            // 9 of 15 are -4.4 dB, in steps of 2 dB on the SN76489. Triangle and wave have no volume.
            let quieter = if chip != Chip::Sms && channel == 2 { 0.0 } else { -4.4 };
            let far = levels[1] - levels[0] - quieter;
            assert!(far.abs() < 1.5, "{chip:?}, {channel}: {far} dB");
        }
    }
    let songs = std::env::var_os("TRACKER_SONGS").unwrap_or_default();
    for file in std::env::split_paths(&songs).filter(|file| !file.as_os_str().is_empty()) {
        rendered(&file);
    }
}
