//! Key and tuning that `bands` detects.

use crate::{Folder, SILENT, float_wav};
use serde_json::Value;
use std::f64::consts::TAU;

const RATE: u32 = 44_100;

/// Returns a WAV file with the chords I, IV, V, I of C major, `cents` sharp, 1 s each.
fn cadence(cents: f64) -> Vec<u8> {
    let chords = [[48, 60, 64, 67], [53, 60, 65, 69], [55, 59, 62, 67], [48, 60, 64, 67]];
    let sample = |t: u32| {
        let second = f64::from(t) / f64::from(RATE);
        let tone = |note: i32| {
            let hertz = 440.0 * ((f64::from(note - 69) + cents / 100.0) / 12.0).exp2();
            (TAU * hertz * second).sin()
        };
        (0.1 * chords[second as usize].map(tone).iter().sum::<f64>()) as f32
    };
    float_wav(RATE, &[(0..4 * RATE).map(sample).collect()])
}

fn found(folder: &Folder, flags: &str) -> (String, Value) {
    let said = folder.run(&format!("bands in.wav --json out.json --force {flags}"));
    (said, folder.json("out.json"))
}

#[test]
fn bands_has_key_and_tuning_of_the_whole_file() {
    let folder = Folder::with(&cadence(15.0));
    // `--transpose` does not change the key, which is the input's.
    for flags in ["", "--transpose 2", "--auto-tuning", "--scale auto"] {
        let (said, json) = found(&folder, flags);
        let key = &json["key"];
        assert_eq!((&key["root"], &key["scale"]), (&"C".into(), &"major".into()), "{flags}");
        assert!(key["certainty"].as_f64().unwrap() > 0.5, "{flags}: {key}");
        let cents = 1200.0 * (json["tuning"].as_f64().unwrap() / 440.0).log2();
        assert!((cents - 15.0).abs() < 2.0, "{flags}: {cents}");
        assert!(said.contains(" s, C major ") && said.contains(", A4 = 443."), "{said}");
    }
    let (_, json) = found(&folder, "--tuning 466.16");
    let cents = 1200.0 * (json["tuning"].as_f64().unwrap() / 466.16).log2();
    assert!((cents - 15.0).abs() < 2.0, "{cents}");
    assert_eq!(json["key"]["root"], "B", "A is a semitone higher");
}

#[test]
fn silence_has_neither() {
    let folder = Folder::with(&float_wav(RATE, &[vec![0.0; RATE as usize]]));
    let (said, json) = found(&folder, "");
    assert_eq!((&json["key"], &json["tuning"]), (&Value::Null, &Value::Null));
    assert_eq!(said, format!("{SILENT}in.wav -> out.json: 1.00 s\n"));
}
