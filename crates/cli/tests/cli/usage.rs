//! Usage errors: no file is written, and the message says what to write instead.

use crate::{Folder, silence, text};

#[test]
fn wrong_usage_is_told_from_failure() {
    let folder = Folder::with(&silence());
    for line in [
        "",
        "rendr in.wav",
        "render -o out.wav",
        "render in.wav -o out.wav --force --skip-existing",
        "render in.wav -0 -o out.wav",
        "bands in.wav",
        "bands in.wav --json out.json --quantize 1/16",
    ] {
        let output = folder.command(line).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}");
        let said = text(output.stderr);
        assert!(!said.is_empty(), "{line}");
        assert!(line != "rendr in.wav" || said.contains("unrecognized subcommand"), "{said}");
        assert_eq!(folder.files().len(), 1, "{line}");
    }
}

/// Wrong lines, each with the start of its message.
const HINTS: &str = "\
render in.wav -o out.wav --auto off | --auto off names a file called off; write --auto=off
bands --auto off in.wav --csv - | --auto off names a file called off; write --auto=off
render in.wav -o hacked | hacked: ambiguous, a folder or a file; write hacked/ or hacked.wav
bands in.wav --midi notes | notes: ambiguous, a folder or a file; write notes/ or notes.mid
render in.wav out.wav | out.wav: input not found; to write it, give -o out.wav
render in.wav hacked/ | hacked/: input not found; to write it, give -o hacked/
render in.wav | no output; give --out FILE or FOLDER, or --suffix TEXT
render none.wav | no output; give --out FILE
render none.wav in.wav | no output; give --out FILE
render in.wav none*.wav | no output; give --out FILE
in.wav -o out.wav | in.wav: a verb comes first; to filter a file, write render in.wav -o OUT
render in.wav -o - --json | --json: the report would be mixed with the sound on standard output; give --out a file
render in.wav -o out.flac --bit-depth 32f | FLAC has no floating point; use --bit-depth 24, or end the name of --out in .wav
bands in.wav --png out.jpg | out.jpg: --png writes PNG; use .png
bands in.wav --csv out.png | out.png: --csv writes CSV; use .csv
render in.wav -o in.wav --force | in.wav: is an input; choose another name
render in.wav -o -x.wav | -o -x.wav: -x.wav looks like a flag; write ./-x.wav
render in.wav --out -x.wav | --out -x.wav: -x.wav looks like a flag; write ./-x.wav
bands in.wav --csv - --json - | - stands for one output; name files for the others
bands in.wav --csv - --midi - | - stands for one output; name files for the others
bands in.wav --json - --png - | - stands for one output; name files for the others";

#[test]
fn wrong_lines_get_a_hint() {
    let folder = Folder::with(&silence());
    for (line, hint) in HINTS.lines().map(|row| row.split_once(" | ").unwrap()) {
        let said = folder.fail(line, 2);
        assert!(said.starts_with(hint), "{line}: {said}");
    }
    folder.run("render in.wav -o out.BWF");
    folder.run("bands in.wav --csv table.TXT");
    folder.run("render in.wav -o ./-x.wav");
    folder.run("render in.wav -o hacked/");
    folder.run("render in.wav -o hacked --force");
    assert!(folder.path("-x.wav").exists() && folder.path("hacked/in.wav").exists());
    // A name without an extension means a file if that file exists. It is not overwritten.
    folder.put("old", b"old");
    let said = folder.fail("render in.wav -o old", 1);
    assert_eq!(said, "old: already exists; choose another name, or overwrite it with --force");
    // If there is a file called `off`, it is an input.
    folder.put("off", &silence());
    let said = folder.run("render --bypass off -o out.wav");
    assert!(said.contains("off -> out.wav: 0.00 s, 2 x 44100 Hz, 16 bit, silent\n"), "{said}");
}
