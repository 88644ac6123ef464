//! Warnings if no note sounds: they name the cause and a remedy.

use crate::{Folder, float_wav, signals, silence};

const RATE: f64 = 44_100.0;

/// Returns a folder with a chord of `keys` in `in.wav`: tones with overtones, `cents` sharp. It lasts 1 s; if it is out of tune
/// 2 s, as the tuning takes time to be detected.
fn chord(keys: &[u8], amplitude: f64, cents: f64) -> Folder {
    let seconds = if cents == 0.0 { 1.0 } else { 2.0 };
    let mut sum = vec![0.0; (seconds * RATE) as usize];
    for key in keys {
        let frequency = 440.0 * ((f64::from(*key) - 69.0 + cents / 100.0) / 12.0).exp2();
        for overtone in 1..=6 {
            let times = f64::from(overtone);
            let tone = signals::sine(times * frequency, amplitude / times, seconds, RATE);
            sum.iter_mut().zip(tone).for_each(|(sum, tone)| *sum += tone);
        }
    }
    Folder::with(&float_wav(RATE as u32, &[sum]))
}

fn c_major(amplitude: f64) -> Folder {
    chord(&[60, 64, 67], amplitude, 0.0)
}

/// Checks that `bands` and `render` warn of `cause` in one line with `flags`, and of nothing with the flags `mended`.
fn hint(folder: &Folder, flags: &str, cause: &str, mended: &str) {
    for verb in ["bands in.wav --csv out.csv", "render in.wav -o out.wav"] {
        hint_of(folder, verb, flags, cause);
        let said = folder.run(&format!("{verb} --force {mended}"));
        assert!(!said.contains("warning: "), "{verb} {mended}: {said}");
    }
}

fn hint_of(folder: &Folder, verb: &str, flags: &str, cause: &str) {
    let line = format!("{verb} --force {flags}");
    let said = folder.run(&line);
    let warnings: Vec<&str> = said.lines().filter(|line| line.contains("warning: ")).collect();
    assert_eq!(warnings.len(), 1, "{line}: {said}");
    assert!(warnings[0].contains(cause), "{line}: {said}");
}

#[test]
fn bands_that_are_frozen_in_silence() {
    let cause = "frozen in the silence before the file; add --freeze=off";
    hint(&c_major(0.1), "--freeze", cause, "--freeze=off");
}

#[test]
fn notes_that_are_muted() {
    let folder = c_major(0.1);
    let cause =
        "--scale mutes all that were detected, like C4; choose another --scale, --root or --custom";
    let scale = "--scale custom --custom 010000000000";
    hint(&folder, scale, cause, "--scale custom --custom 000100000000");
    let (last, all) = (format!("--bands {}1", "0".repeat(47)), "1".repeat(48));
    let cause = "--bands mutes all that were detected, like C4; switch more of them on";
    hint(&folder, &last, cause, &format!("--bands {all}"));
    let cause = "--range mutes all that were detected, like G2; add --range whole";
    hint(&chord(&[43], 0.2, 0.0), "--range published", cause, "--range whole");
}

#[test]
fn sound_that_is_too_quiet_for_the_floor() {
    let folder = c_major(0.0005);
    let cause = "dB and --floor at -37 dB; add --auto, which adapts to any level, or lower --floor";
    hint(&folder, "--preset reference", cause, "--preset reference --auto");
    // Three notes with six partials have the level 10 log10(3 * 0.0005^2 / 2 * 1.491) = -62.5 dB.
    let said = folder.run("render in.wav -o out.wav --force --preset reference");
    let level = said.split("the sound is at ").last().unwrap().split(' ').next().unwrap();
    assert!((level.parse::<f64>().unwrap() + 62.5).abs() <= 1.5, "{said}");
}

#[test]
fn music_between_the_notes() {
    let folder = chord(&[60, 64, 67], 0.1, 50.0);
    // A quarter tone above 440 Hz is 452.9 Hz, and a quarter tone below is 427.5 Hz.
    for verb in ["bands in.wav --csv out.csv", "render in.wav -o out.wav"] {
        let said = folder.run(&format!("{verb} --force --preset reference"));
        let a4 = said.split("--tuning ").last().unwrap().split('\n').next().unwrap();
        let hertz: f64 = a4.parse().expect(&said);
        assert!([452.9, 427.5].iter().any(|own| (own - hertz).abs() < 0.5), "{said}");
        assert!(
            said.contains("between the notes of --tuning 440; add --auto-tuning, or"),
            "{said}"
        );
        for mended in ["--auto-tuning", &format!("--tuning {a4}")] {
            let said = folder.run(&format!("{verb} --force --preset reference {mended}"));
            assert!(!said.contains("warning: "), "{verb} {mended}: {said}");
        }
    }
}

#[test]
fn drums_and_noise() {
    let noise = signals::white(1.0, RATE);
    let hit = |at: usize| (-60.0 * (at % 22_050) as f64 / RATE).exp() as f32;
    let drums = noise.iter().enumerate().map(|(at, sample)| sample * hit(at)).collect();
    for sound in [noise, drums] {
        let folder = Folder::with(&float_wav(RATE as u32, &[sound]));
        let cause = "as in drums, noise and speech; raise --sensitivity, or render with --focus 0";
        for verb in ["bands in.wav --csv out.csv", "render in.wav -o out.wav"] {
            hint_of(&folder, verb, "", cause);
        }
    }
    let quieter = signals::white(1.0, RATE);
    let folder = Folder::with(&float_wav(RATE as u32, &[quieter]));
    let cause = "as in drums, noise and speech; lower --threshold";
    hint_of(&folder, "render in.wav -o out.wav", "--preset reference --auto", cause);
}

#[test]
fn files_that_are_silent() {
    let folder = Folder::with(&float_wav(RATE as u32, &[vec![0.0; RATE as usize]]));
    let cause = "no note sounds, as the input is silent; check the recording";
    for verb in ["bands in.wav --csv out.csv", "render in.wav -o out.wav"] {
        for flags in ["", "--preset reference", "--focus 0 --freeze"] {
            hint_of(&folder, verb, flags, cause);
        }
    }
    let output = folder.command("render in.wav -o out.wav --force --json").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(said.contains(&format!("warning: out.wav: {cause}\n")), "{said}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["files"][0]["active_notes"], serde_json::json!([]));
    assert_eq!(folder.run("render in.wav -o out.wav --force --quiet"), "");
    assert_eq!(folder.run("bands in.wav --csv out.csv --force --quiet"), "");
    // The output is dry.
    for flags in ["--bypass", "--mix 0"] {
        let said = folder.run(&format!("render in.wav -o out.wav --force {flags}"));
        assert!(!said.contains("warning"), "{flags}: {said}");
    }
}

/// Cancellation that is exact, and up to the rounding of 24 bits.
#[test]
fn left_and_right_that_cancel() {
    let chord = signals::noisy_chord(1.0, RATE);
    for error in [0.0, 1.2e-7] {
        let folder = Folder::new();
        let right = chord.iter().enumerate().map(|(t, x)| (t % 3) as f32 * error - x).collect();
        folder.put("in.wav", &float_wav(RATE as u32, &[chord.clone(), right]));
        let cause = "left and right are of opposite polarity and cancel in their mean, which the bands hear; \
                     add --stereo stereo";
        hint(&folder, "", cause, "--stereo stereo");
        let line = folder.fail("render in.wav -o out.wav --force --mix 100 --normalize-peak -1", 1);
        assert!(line.starts_with("in.wav: the output is silent"), "{line}");
        folder.put("left.wav", &float_wav(RATE as u32, std::slice::from_ref(&chord)));
        let notes = |line: &str| -> f64 {
            let said = folder.run(&format!("chip {line} --force"));
            let words: Vec<&str> = said.split(' ').collect();
            assert!(!said.contains("warning"), "{said}");
            let place = words.iter().position(|word| *word == "notes,").unwrap();
            words[place - 1].parse().unwrap()
        };
        for out in ["out.vgm", "out.fur"] {
            let [both, left] = ["in.wav", "left.wav"].map(|own| notes(&format!("{own} -o {out}")));
            assert!(left > 0.0 && (both / left - 1.0).abs() < 0.1, "{out}: {both}, not {left}");
        }
    }
}

#[test]
fn scores_of_other_music() {
    let folder = c_major(0.1);
    folder.put("late.tfs", b"tone-filter-score 1\n100 101 69\n");
    let cause = "no note of the score is played in the file";
    hint_of(&folder, "render in.wav -o out.wav", "--score late.tfs", cause);
}

#[test]
fn in_a_batch_each_cause_has_one_line() {
    let folder = c_major(0.1);
    let white = float_wav(RATE as u32, &[signals::white(1.0, RATE)]);
    for (name, bytes) in [("a", &white), ("b", &white), ("silent", &silence())] {
        folder.put(&format!("songs/{name}.wav"), bytes);
    }
    folder.put("songs/c.wav", &folder.bytes("in.wav"));
    for verb in ["render songs -o out", "bands songs --csv out"] {
        let said = folder.run(&format!("{verb} --scale custom --custom 010000000000"));
        let warnings: Vec<&str> = said.lines().filter(|line| line.starts_with("warning")).collect();
        assert_eq!(warnings.len(), 3, "{said}");
        let causes = [("as in drums", 2), ("--scale mutes all", 1), ("is silent", 1)];
        for (warning, count) in causes {
            let start = format!("warning: {count} of 4 files: no note ");
            let found = |line: &&str| line.starts_with(&start) && line.contains(warning);
            assert!(warnings.iter().any(found), "{said}");
        }
    }
}
