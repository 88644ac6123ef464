//! Songs in Furnace itself, which must be on the `PATH`: it loads them without a warning, and sounds as the chips in [`super::synth`] do.
//!
//! `TRACKER_SONGS` may name further songs, with `:` between them.

use super::{Module, fur, song, synth, tags, to_furnace};
use std::{path::Path, process::Command};
use tone_filter_offline::{timeline::Timeline, tracker::Chip};

/// Greatest difference of the third octaves from 63 Hz to 8 kHz in dB: with the 2A03, and with the other chips, of whose analogue output the data
/// sheets tell less.
const NEAR: [f64; 2] = [1.5, 2.0];

/// Level in dB, relative to the loudest third octave, below which a third octave is not compared.
const HEARD: f64 = -30.0;

/// Returns the sound that Furnace makes of the song, mixed to one channel.
fn rendered(file: &Path) -> Vec<f64> {
    let folder = tempfile::tempdir().unwrap();
    let wav = folder.path().join("out.wav");
    let mut furnace = Command::new("furnace");
    furnace.args(["-loglevel", "warning", "-loops", "0", "-output"]).arg(&wav).arg(file);
    let output = furnace.output().expect("furnace is on the PATH");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    // A player without MIDI says so.
    let complaint = |line: &&str| {
        (line.contains("[warning]") || line.contains("[ERROR]")) && !line.contains("MIDI")
    };
    let complaints: Vec<_> = said.lines().filter(complaint).collect();
    assert!(output.status.success() && complaints.is_empty(), "{}: {complaints:?}", file.display());
    let mut reader = hound::WavReader::open(wav).unwrap();
    assert_eq!((f64::from(reader.spec().sample_rate), reader.spec().channels), (synth::RATE, 2));
    let samples: Vec<f64> = match reader.spec().sample_format {
        hound::SampleFormat::Int => {
            reader.samples::<i32>().map(|own| f64::from(own.unwrap())).collect()
        }
        hound::SampleFormat::Float => {
            reader.samples::<f32>().map(|own| f64::from(own.unwrap())).collect()
        }
    };
    samples.chunks(2).map(|pair| pair[0] + pair[1]).collect()
}

/// Compares Furnace's sound of a song with ours.
fn compare(file: &Path) {
    let read = fur::read(&std::fs::read(file).unwrap());
    let own = synth::play(&read, 60.0);
    let mut theirs = rendered(file);
    let seconds = [&own, &theirs].map(|sound| sound.len() as f64 / synth::RATE);
    assert!((seconds[0] - seconds[1]).abs() < 0.1 || seconds[1] > 60.0, "{seconds:?} s");
    theirs.truncate(own.len());
    let [own, theirs] = [own, theirs].map(|sound| synth::thirds(&sound));
    let loudest = own.iter().copied().fold(f64::MIN, f64::max);
    let differences: Vec<f64> = own.iter().zip(&theirs).map(|(a, b)| b - a).collect();
    let heard: Vec<_> = (0..own.len()).filter(|third| own[*third] > loudest + HEARD).collect();
    // One gain for all: the median.
    let mut sorted: Vec<f64> = heard.iter().map(|third| differences[*third]).collect();
    sorted.sort_by(f64::total_cmp);
    let gain = sorted[sorted.len() / 2];
    let far: Vec<f64> =
        differences.iter().map(|own| (10.0 * (own - gain)).round() / 10.0).collect();
    println!("{}: {far:?} dB", file.display());
    let near = NEAR[usize::from(read.chip != 6)];
    for third in heard {
        assert!(far[third].abs() <= near, "{}: {far:?} dB", file.display());
    }
}

#[test]
fn furnace_sounds_like_the_chips() {
    let folder = tempfile::tempdir().unwrap();
    for chip in Chip::ALL {
        let mut own = song(Timeline::fixed(122.0), 8);
        if chip != Chip::Nes {
            // A few hits of noise sound as their registers happen to stand, which the other chips' data sheets do not tell.
            own.drums.clear();
        }
        let module = Module::new(&own, chip, None).unwrap();
        let file = folder.path().join(format!("{}.fur", chip.id()));
        std::fs::write(&file, to_furnace(&module, &tags())).unwrap();
        compare(&file);
    }
}

#[test]
fn furnace_sounds_like_the_chips_in_songs() {
    let songs = std::env::var_os("TRACKER_SONGS").unwrap_or_default();
    for file in std::env::split_paths(&songs).filter(|file| !file.as_os_str().is_empty()) {
        compare(&file);
    }
}
