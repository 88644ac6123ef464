//! Scores, which `bands` writes and `render` plays.

use crate::{Folder, float_wav, signals::sine};
use std::fs;

const RATE: u32 = 44_100;

/// Returns a WAV file with 1 s of silence, 2 s of A4 with overtones, mainly on the left, and 1 s of silence.
fn note() -> Vec<u8> {
    let partials = [1.0, 2.0, 3.0].map(|n| sine(440.0 * n, 0.3 / n, 2.0, f64::from(RATE)));
    let silence = vec![0.0; RATE as usize];
    let sum = (0..2 * RATE as usize).map(|frame| partials.iter().map(|tone| tone[frame]).sum());
    let left: Vec<f32> = silence.iter().copied().chain(sum).chain(silence.clone()).collect();
    let right = left.iter().map(|sample| 0.2 * sample).collect();
    float_wav(RATE, &[left, right])
}

#[test]
fn what_bands_writes_render_follows() {
    let folder = Folder::with(&note());
    let said = folder.run("bands in.wav --score in.tfs --midi in.mid");
    // The message has no key, because a single note has none.
    assert!(said.starts_with("in.wav -> in.mid, in.tfs: 4.00 s, A4 = 440."), "{said}");
    let text = fs::read_to_string(folder.path("in.tfs")).unwrap();
    let notes: Vec<Vec<f64>> = text
        .lines()
        .skip(2)
        .map(|line| line.split(' ').map(|word| word.parse().unwrap()).collect())
        .collect();
    // The second harmonic may count as a note, too.
    let note = notes.iter().find(|note| note[2] == 69.0).unwrap();
    assert!((note[0] - 1.0).abs() < 0.03 && (note[1] - 3.0).abs() < 0.1, "{text}");
    // The expected pan is (1 - 0.2) / (1 + 0.2) = 67 % to the left.
    assert!((note[4] - 67.0).abs() < 10.0, "{text}");

    let rendered = |flags: &str| {
        folder.run(&format!("render in.wav -o out.wav --force --mix 100 {flags}"));
        folder.floats("out.wav")
    };
    folder.put("late.tfs", b"tone-filter-score 1\n2 2.5 69\n");
    for flags in ["", "--lookahead"] {
        let late = rendered(&format!("--auto=off --score late.tfs {flags}"));
        let peak = |from: f64, to: f64| {
            let part = [from, to].map(|seconds| (seconds * f64::from(RATE)) as usize);
            let samples = late.iter().flat_map(|channel| &channel[part[0]..part[1]]);
            samples.fold(0.0, |peak: f32, sample| peak.max(sample.abs()))
        };
        assert!(peak(2.1, 2.4) > 0.05, "{flags}");
        assert!(peak(0.0, 1.98).max(peak(2.53, 4.0)) < 1e-4, "{flags}");
    }

    // A MIDI file is a score, too. Times differ by at most one tick, about a millisecond.
    let [one, other] = ["in.tfs", "in.mid"]
        .map(|name| rendered(&format!("--stereo mono --score {name}")).concat());
    let power = |samples: &[f32]| samples.iter().map(|x| f64::from(x * x)).sum::<f64>();
    let difference: Vec<f32> = one.iter().zip(&other).map(|(a, b)| a - b).collect();
    assert!(power(&difference) < 0.01 * power(&one));
}

#[test]
fn what_is_no_score_is_refused_with_its_line() {
    let folder = Folder::with(&crate::silence());
    folder.put("bad.tfs", b"tone-filter-score 1\n1 0 69\n");
    let remedy = "write one with `tone-filter bands song.wav --score song.tfs`";
    let reason = "line 2: ends at 0, which is not after its start";
    for (flags, start) in [
        ("bad.tfs", format!("bad.tfs: not a score ({reason}); {remedy}")),
        ("bad.tfs --preset reference", "bad.tfs: not a score".into()),
        ("in.wav", "in.wav: not a score (line 1: ".into()),
        ("none.tfs", "none.tfs: cannot be read (".into()),
    ] {
        let line = folder.fail(&format!("render in.wav -o out.wav --score {flags}"), 1);
        assert!(line.starts_with(&start), "{line}");
    }
    let filled = [&b"tone-filter-score 1\n0 1 69\n"[..], &vec![b'#'; 64 << 20]].concat();
    folder.put("large.tfs", &filled);
    let line = folder.fail("render in.wav -o out.wav --score large.tfs", 1);
    assert_eq!(line, "large.tfs: exceeds the 64 MiB of a score; give a shorter one");
    folder.put("good.tfs", b"tone-filter-score 1\n0 1 69\n1 0 69\n");
    let said = folder.run("render in.wav -o good.wav --score good.tfs");
    let note = format!("note: good.tfs: left out line 3{}\n", &reason[6..]);
    assert!(said.starts_with(&note), "{said}");
    let line = "render in.wav -o out.wav --score good.tfs --preset reference --quiet";
    let line = folder.fail(line, 2);
    assert_eq!(line, "score has no effect with a focus of 0 %; add --focus 100");
}
