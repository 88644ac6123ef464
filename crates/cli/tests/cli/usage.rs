//! Wrong usage: nothing is started, and the message says what to write instead.

use crate::{Folder, silence, text};
use std::fs;

#[test]
fn wrong_usage_is_told_from_failure() {
    let folder = Folder::with(&silence().bytes());
    for line in [
        "",
        "sing in.wav",
        "render",
        "render in.wav",
        "render -o out.wav",
        "render in.wav -o out.wav --force --skip-existing",
        "render in.wav -o out.wav --jobs 0",
        "render in.wav -o out.wav --loud",
        "render in.wav -o out.wav --bit-depth 12",
        "render in.wav -o out.wav --mix",
        "bands in.wav",
    ] {
        let output = folder.command(line).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(!output.stderr.is_empty(), "{line}");
        assert_eq!(folder.files().len(), 1, "{line}");
    }
    let said = |flag: &str| folder.fail(&format!("render in.wav -o out.wav {flag}"), 2);
    assert!(said("--jobs x").contains("jobs = \"x\" is out of range; use 1 to 1024"));
    assert!(said("--sample-rate fast").contains("sample-rate = \"fast\" is not a number in Hz"));
    assert!(said("--sample-rate 900").contains("use 1000 to 768000 Hz"));
}

#[test]
fn a_switch_with_its_state_apart_gets_a_hint() {
    let folder = Folder::with(&silence().bytes());
    for line in ["render in.wav -o out.wav --auto off", "bands --auto off in.wav --csv -"] {
        let said = folder.fail(line, 2);
        assert_eq!(said, "--auto off names a file called off; write --auto=off");
    }
    // A file called off is an input.
    folder.put("off", &silence().bytes());
    folder.run("render --bypass off -o out.wav");
}

#[test]
fn a_key_is_a_root_and_a_scale() {
    let folder = Folder::with(&silence().bytes());
    for (key, flags) in [
        ("C minor", "--root C --scale natural-minor"),
        ("Bb-Major", "--root A# --scale major"),
        ("f# harmonic minor", "--root F# --scale harmonic-minor"),
        ("Am", "--root A --scale natural-minor"),
        ("ebmaj", "--root D# --scale major"),
    ] {
        let output = folder.command("render in.wav -o out.wav --scale").arg(key).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let hint = format!("scale = {key:?} names a key; give its root and its scale: {flags}");
        assert_eq!((output.status.code(), said), (Some(2), format!("error: {hint}\n")));
        folder.run(&format!("render in.wav -o out.wav --force {flags}"));
        fs::remove_file(folder.path("out.wav")).unwrap();
    }
    let said = folder.fail("render in.wav -o out.wav --scale b", 2);
    assert_eq!(said, "scale = \"b\" is a root; give --root B, and a scale like --scale minor");
    let said = folder.fail("render in.wav -o out.wav --root Dm", 2);
    let flags = "--root D --scale natural-minor";
    assert_eq!(said, format!("root = \"Dm\" names a key; give its root and its scale: {flags}"));
    // A misspelt scale is not taken for a key, whatever its first letter; and only root and scale are parts of a key.
    let said = folder.fail("render in.wav -o out.wav --scale blu", 2);
    assert_eq!(said, "scale = \"blu\" is unknown; did you mean blues?");
    let said = folder.fail("render in.wav -o out.wav --stereo A", 2);
    assert_eq!(said, "stereo = \"A\" is unknown; did you mean place?");
}

#[test]
fn an_output_that_may_be_a_folder_or_a_file_is_refused() {
    let folder = Folder::with(&silence().bytes());
    let said = folder.fail("render in.wav -o hacked", 2);
    assert_eq!(said, "hacked: ambiguous, a folder or a file; write hacked/ or hacked.wav");
    let said = folder.fail("bands in.wav --midi notes", 2);
    assert_eq!(said, "notes: ambiguous, a folder or a file; write notes/ or notes.mid");
    folder.run("render in.wav -o hacked/");
    folder.run("render in.wav -o hacked --force");
    assert!(folder.path("hacked/in.wav").is_file());
    // A name without an extension is a file if that file exists. It is not overwritten.
    folder.put("old", b"old");
    let said = folder.fail("render in.wav -o old", 1);
    assert_eq!(said, "old: already exists; choose another name, or overwrite it with --force");
}

#[test]
fn an_output_among_the_inputs_gets_a_hint() {
    let folder = Folder::with(&silence().bytes());
    for out in ["out.wav", "hacked/"] {
        let said = folder.fail(&format!("render in.wav {out}"), 2);
        assert_eq!(said, format!("{out}: input not found; to write it, give -o {out}"));
    }
    for inputs in ["none.wav", "none.wav in.wav", "in.wav none*.wav"] {
        let said = folder.fail(&format!("render {inputs}"), 2);
        assert!(said.starts_with("no output; give --out FILE"), "{inputs}: {said}");
    }
}

#[test]
fn a_file_in_place_of_a_verb_gets_a_hint() {
    let folder = Folder::with(&silence().bytes());
    let said = folder.fail("in.wav -o out.wav", 2);
    let hint = "a verb comes first; to filter a file, write render in.wav -o OUT";
    assert_eq!(said, format!("in.wav: {hint}"));
    let misspelt = folder.command("rendr in.wav").output().unwrap();
    assert!(text(misspelt.stderr).contains("unrecognized subcommand"));
}

#[test]
fn silence_is_called_silent() {
    let folder = Folder::with(&silence().bytes());
    let said = folder.run("render in.wav -o out.wav");
    assert!(said.contains(" 16 bit, silent\n"), "{said}");
}

#[test]
fn an_output_that_looks_like_a_flag_is_named() {
    let folder = Folder::with(&silence().bytes());
    for flag in ["-o", "--out"] {
        let said = folder.fail(&format!("render in.wav {flag} -x.wav"), 2);
        assert_eq!(said, format!("{flag} -x.wav: -x.wav looks like a flag; write ./-x.wav"));
    }
    folder.run("render in.wav -o ./-x.wav");
    assert!(folder.path("-x.wav").exists());
}

#[test]
fn standard_output_takes_one_table() {
    let folder = Folder::with(&silence().bytes());
    for line in ["--csv - --json -", "--csv - --midi -", "--json - --png -"] {
        let said = folder.fail(&format!("bands in.wav {line}"), 2);
        assert_eq!(said, "- stands for one output; name files for the others");
    }
}
