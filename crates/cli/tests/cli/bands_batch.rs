//! `bands` with many files, and outputs that exist.

use crate::{
    batch::{names, samples, tree},
    text,
};
use std::fs;

#[test]
fn each_file_of_a_folder_has_the_outputs_of_a_single_run() {
    let folder = samples();
    let said = folder.run("bands in --midi notes --csv tables/ --json tables --png pictures/ -j 2");
    assert!(said.contains("5 files done: "), "{said}");
    let stems = ["a", "b", "drums/deep/snare", "drums/kick", "x y"];
    assert_eq!(names(&tree(&folder, "notes")), stems.map(|stem| format!("{stem}.mid")));
    assert_eq!(names(&tree(&folder, "pictures")), stems.map(|stem| format!("{stem}.png")));
    assert_eq!(tree(&folder, "tables").len(), 10);
    folder.run("bands in/drums/kick.wav --midi k.mid --csv k.csv --json k.json --png k.png");
    for (one, many) in [
        ("k.mid", "notes/drums/kick.mid"),
        ("k.csv", "tables/drums/kick.csv"),
        ("k.json", "tables/drums/kick.json"),
        ("k.png", "pictures/drums/kick.png"),
    ] {
        let [one, many] = [one, many].map(|name| folder.bytes(name));
        assert!(one == many, "{}", one.len());
    }
    // The output of one file goes into a folder, too.
    folder.run("bands in/a.wav --score scores/");
    assert_eq!(names(&tree(&folder, "scores")), ["a.tfs"]);
}

#[test]
fn lists_and_patterns_are_read_and_an_interrupted_run_goes_on() {
    let folder = samples();
    folder.put("list.txt", b"in/a.wav\nin/drums/kick.wav\n");
    folder.run("bands --input-list list.txt --midi notes");
    assert_eq!(names(&tree(&folder, "notes")), ["in/a.mid", "in/drums/kick.mid"]);
    let said = folder.run("bands in/*.wav --midi flat");
    assert!(said.contains("2 files done: "), "{said}");
    fs::write(folder.path("flat/a.mid"), b"old").unwrap();
    fs::remove_file(folder.path("flat/x y.mid")).unwrap();
    let said = folder.command("bands in/*.wav --midi flat").output().unwrap();
    let said = text(said.stderr);
    assert!(!said.contains("outputs exist"), "only a.mid does: {said}");
    fs::remove_file(folder.path("flat/x y.mid")).unwrap();
    let said = folder.run("bands in/*.wav --midi flat --csv flat --skip-existing");
    assert!(said.contains("2 files done: "), "a table is missing of both: {said}");
    assert_eq!(folder.bytes("flat/a.mid"), b"old");
    let said = folder.run("bands in/*.wav --midi flat --csv flat --skip-existing --verbose");
    assert!(said.contains("in/a.wav: all outputs exist, skipped\n"), "{said}");
    assert!(said.contains("2 files skipped: "), "{said}");
}

#[test]
fn a_bad_file_fails_alone() {
    let folder = samples();
    folder.put("in/broken.wav", b"RIFF");
    folder.put("notes/a.mid", b"old");
    let output = folder.command("bands in --midi notes --quiet").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(output.stderr);
    assert_eq!(said.lines().count(), 2, "{said}");
    assert!(said.contains("error: notes/a.mid: already exists;"), "{said}");
    assert!(said.contains("error: in/broken.wav: "), "{said}");
    assert_eq!(folder.bytes("notes/a.mid"), b"old");
    assert!(folder.path("notes/drums/kick.mid").exists());
}

#[test]
fn outputs_that_exist_are_kept_with_a_hint_at_the_flags_that_go_on() {
    let folder = samples();
    folder.run("render in -o out");
    let before = tree(&folder, "out");
    let output = folder.command("render in -o out").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(output.stderr);
    let hint =
        "5 outputs exist; --skip-existing leaves them as they are, --force overwrites them\n";
    assert!(said.contains(hint), "{said}");
    assert!(tree(&folder, "out") == before);
}
