//! Lists of inputs, and outputs of an earlier run among the inputs.

use crate::{
    Folder,
    batch::{names, samples, tree},
    silence, slashes,
};

#[test]
fn a_list_names_inputs_with_blanks_and_any_line_ends() {
    let folder = samples();
    folder.put("list.txt", b"\xEF\xBB\xBFin/x y.wav\r\n\nin/drums\n");
    folder.run("render --input-list list.txt in/a.wav -o out");
    // Inputs from the list keep the folders that they name.
    let expected = ["a.wav", "in/drums/deep/snare.wav", "in/drums/kick.wav", "in/x y.wav"];
    assert_eq!(names(&tree(&folder, "out")), expected);
    // Some editors write UTF-16.
    let units: Vec<u16> = "\u{feff}in/a.wav\r\n".encode_utf16().collect();
    for (out, bytes) in [("le", u16::to_le_bytes as fn(u16) -> _), ("be", u16::to_be_bytes)] {
        folder.put("utf16.txt", &units.iter().flat_map(|unit| bytes(*unit)).collect::<Vec<_>>());
        folder.run(&format!("render --input-list utf16.txt -o {out}"));
        assert_eq!(names(&tree(&folder, out)), ["in/a.wav"]);
    }
    let mut command = folder.command("render --input-list - -o out2");
    assert!(command.write_stdin("in/a.wav\n").output().unwrap().status.success());
    assert_eq!(names(&tree(&folder, "out2")), ["in/a.wav"]);
    let line = folder.fail("render --input-list none.txt -o out3", 1);
    assert!(line.starts_with("none.txt: cannot be read ("), "{line}");
}

#[test]
fn a_playlist_names_files_from_its_folder_on() {
    let folder = samples();
    let names_of = |out: &str| names(&tree(&folder, out));
    let lines = "#EXTM3U\r\n#EXTINF:1,First\r\na.wav\r\n\r\ndrums/kick.wav\r\n";
    folder.put("in/list.m3u8", lines.as_bytes());
    folder.put("in/list.txt", lines.as_bytes());
    folder.put("in/plain.M3U", b"#no mark at the start\na.wav\ndrums/kick.wav\n");
    let absolute = slashes(folder.path("in/list.m3u8").to_str().unwrap());
    for (out, list) in
        [("o1", "in/list.m3u8"), ("o2", "in/list.txt"), ("o3", "in/plain.M3U"), ("o4", &absolute)]
    {
        folder.run(&format!("render --input-list {list} -o {out}"));
        assert_eq!(names_of(out), ["a.wav", "drums/kick.wav"], "{list}");
    }
    // In other lists, # begins a name.
    folder.put("#1.wav", &silence());
    folder.put("list.txt", b"#1.wav\n");
    folder.run("render --input-list list.txt -o o5");
    assert_eq!(names_of("o5"), ["#1.wav"]);
}

#[test]
fn a_list_may_end_its_names_in_nul_and_keeps_folders_apart() {
    let folder = samples();
    // Windows allows no line feed in a name.
    let separator = if cfg!(windows) { " " } else { "\n" };
    let name = format!("in/two{separator}lines.wav");
    folder.put(&name, &silence());
    folder.put("other/a.wav", &silence());
    folder.put("list", format!("{name}\0in/a.wav\0./other/a.wav\0").as_bytes());
    folder.run("render --input-list list -0 -o out");
    assert_eq!(names(&tree(&folder, "out")), ["in/a.wav", name.as_str(), "other/a.wav"]);
    let output = folder.command("render in -0 -o out2").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "there is no list");
}

#[test]
fn a_list_with_nul_is_refused_without_its_flag() {
    let folder = samples();
    folder.put("list", b"in/a.wav\0in/x y.wav\0");
    let line = folder.fail("render --input-list list -o out", 2);
    assert_eq!(line, "list: is not text; write one name a line, or add -0 if its names end in NUL");
}

#[test]
fn a_list_on_standard_input_serves_all_presets() {
    let folder = samples();
    let line = "render --input-list - -o out/{name}-{preset}.wav --preset organ,arcade";
    let output = folder.command(line).write_stdin("in/a.wav\n").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(names(&tree(&folder, "out")), ["in/a-arcade.wav", "in/a-organ.wav"]);
}

#[test]
fn several_presets_of_a_pipe_are_refused() {
    let folder = samples();
    let mut pipes = vec!["-"];
    if cfg!(target_os = "linux") {
        pipes.push("/dev/stdin");
    }
    for pipe in pipes {
        let mut command =
            folder.command(&format!("render {pipe} -o {{preset}}.wav --preset organ,arcade"));
        let output = command.write_stdin(silence()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let reason = "can be read once only; give one preset, or name a file";
        assert_eq!(said, format!("error: {pipe}: {reason}\n"));
        assert_eq!(output.status.code(), Some(2));
    }
}

#[cfg(unix)]
#[test]
fn links_that_go_round_are_noted() {
    let folder = samples();
    std::os::unix::fs::symlink("..", folder.path("in/up")).unwrap();
    folder.run("render in -o out/{name}-{ext}.wav");
    assert!(folder.path("out/a-wav.wav").exists());
    let said = folder.run("render in -o round");
    assert!(said.contains("left out, a link to a folder that holds it"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_list_may_have_names_that_are_not_utf_8() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let folder = Folder::new();
    let name = OsStr::from_bytes(b"caf\xE9.wav");
    std::fs::write(folder.path("").join(name), silence()).unwrap();
    folder.put("list", b"caf\xE9.wav\n");
    folder.run("render --input-list list -o out");
    assert!(folder.path("out").join(name).exists());
}

#[test]
fn outputs_of_an_earlier_run_among_the_inputs_are_left_out_and_told() {
    let folder = samples();
    let line = "render in/*.wav in/drums/*.wav --suffix -8bit";
    folder.run(line);
    let made = tree(&folder, "in");
    let said = folder.run(&format!("{line} --skip-existing"));
    let note = "note: in/a-8bit.wav and 2 more: left out, the output of another input, from an earlier run\n";
    assert_eq!(said, format!("{note}3 files skipped, 3 left out\n"));
    let said = folder.run(&format!("{line} --skip-existing --verbose"));
    let note = "note: in/drums/kick-8bit.wav: left out, the output of another input, ";
    assert!(said.contains(note), "{said}");
    assert!(tree(&folder, "in") == made);
    // Passes the names to which a shell would expand a pattern.
    let said = folder.run("render in/a-8bit.wav in/a.wav --suffix -8bit --skip-existing");
    assert_eq!(said.lines().last(), Some("1 file skipped, 1 left out"), "{said}");
    // Named alone, an output of an earlier run is an input.
    folder.run("render in/a-8bit.wav --suffix -8bit");
    assert!(folder.path("in/a-8bit-8bit.wav").exists());
}

#[test]
fn force_overwrites_no_input_that_has_the_name_of_an_output() {
    let folder = Folder::new();
    folder.put("in/take.wav", &silence());
    folder.put("in/take2.wav", &silence());
    for inputs in ["in/take.wav in/take2.wav", "in/*.wav", "in"] {
        let before = tree(&folder, "in");
        let said = folder.fail(&format!("render {inputs} --suffix 2 --force"), 2);
        let expected = "in/take2.wav: is an input that --force would overwrite; go on with --skip-existing, \
                        or choose an --out or another --suffix";
        assert_eq!(said, expected, "{inputs}");
        assert!(tree(&folder, "in") == before, "{inputs}");
    }
    folder.run("render in --suffix 2 -o out --force");
    folder.run("render in --suffix 2 -o out --force");
}

#[test]
fn only_what_has_the_name_of_an_output_is_left_out() {
    let folder = Folder::new();
    folder.put("in/take1.wav", &silence());
    folder.put("in/take2.wav", &silence());
    let said = folder.run("render in --suffix 2");
    assert!(said.contains("\n2 files done: ") && !said.contains("left out"), "{said}");
    assert_eq!(names(&tree(&folder, "in")), ["take1.wav", "take12.wav", "take2.wav", "take22.wav"]);
}
