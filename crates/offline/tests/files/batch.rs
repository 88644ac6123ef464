//! Plans of batches: the inputs of a request, their outputs, inputs that are left out, and requests that contradict themselves.

use crate::{Folder, silence};
use std::path::{Path, PathBuf};
use tone_filter_offline::batch::{Fate, Inputs, Job, Plan, Reason, Refused, Request};

/// Returns a folder with audio files in `in` and its subfolders, and files that no batch reads.
fn samples() -> Folder {
    let folder = Folder::new();
    for (index, name) in
        ["a.wav", "b.WAV", "drums/kick.wav", "drums/deep/snare.wav", "x y.wav"].iter().enumerate()
    {
        let longer = [silence().bytes(), vec![0; 100 * index]].concat();
        folder.put(&format!("in/{name}"), &longer);
    }
    for name in ["readme.txt", "drums/._kick.wav", ".git/hidden.wav"] {
        folder.put(&format!("in/{name}"), b"no audio");
    }
    folder
}

/// Plans a run with one request for each of `lines`. A line has words like the arguments of `render`: inputs, `-o` and
/// `--suffix` with their values, and flags. Inputs after `--list` come from a list.
fn plans(folder: &Folder, lines: &[String]) -> Vec<Result<Plan, Refused>> {
    let path = |word: &str| if word == "-" { word.into() } else { folder.path(word) };
    let read = |line: &str| {
        let (mut inputs, mut out, mut suffix, mut listed) = (Vec::new(), None, String::new(), None);
        let mut words = line.split(' ');
        while let Some(word) = words.next() {
            match word {
                "-o" => out = words.next().map(path),
                "--suffix" => suffix = words.next().unwrap().into(),
                "--list" => listed = Some(inputs.len()),
                "--presets" | "--force" | "--skip-existing" => {}
                input => inputs.push(path(input)),
            }
        }
        let (has_list, listed) = (listed.is_some(), listed.map_or(0, |named| inputs.len() - named));
        let listed_in = if has_list { folder.path("") } else { PathBuf::new() };
        (Inputs { all: inputs, listed, listed_in, has_list }, out, suffix)
    };
    let read: Vec<_> = lines.iter().map(|line| read(line)).collect();
    let requests = lines.iter().zip(&read).map(|(line, (inputs, out, suffix))| Request {
        inputs,
        out: out.as_deref(),
        suffix,
        named_after_preset: line.contains("--presets"),
        extensions: &["wav"],
        force: line.contains("--force"),
        skip_existing: line.contains("--skip-existing"),
    });
    let requests: Vec<Request> = requests.collect();
    requests.iter().map(|request| Plan::new(request, &requests)).collect()
}

/// Plans a run of the single request `line`; see [`plans`].
pub fn plan(folder: &Folder, line: &str) -> Result<Plan, Refused> {
    plans(folder, &[line.into()]).remove(0)
}

/// Returns `path` relative to `folder`.
fn short(folder: &Folder, path: &Path) -> String {
    path.strip_prefix(folder.path("")).unwrap().display().to_string()
}

/// Returns the sorted outputs of `jobs`, separated by commas.
fn outputs(folder: &Folder, jobs: &[Job]) -> String {
    let mut outputs: Vec<_> = jobs.iter().map(|job| short(folder, &job.output)).collect();
    outputs.sort();
    outputs.join(", ")
}

#[test]
fn files_folders_patterns_and_lists_have_their_outputs() {
    let folder = samples();
    for name in ["there/old.wav", "in/out/a.wav", "[a].wav", ".hidden.wav", "CD[1]/[2]/b.wav"] {
        folder.put(name, &silence().bytes());
    }
    const ALL: &str = "a.wav, b.wav, drums/deep/snare.wav, drums/kick.wav, x y.wav";
    let all = |out: &str| format!("{out}{}", ALL.replace(", ", &format!(", {out}")));
    for (line, expected) in [
        ("in -o in/out --force", &*all("in/out/")),
        ("in/drums --suffix -8bit", "in/drums/deep/snare-8bit.wav, in/drums/kick-8bit.wav"),
        ("in/a.wav in/b.WAV -o new/deep --suffix _{ext}", "new/deep/a_wav.wav, new/deep/b_WAV.wav"),
        ("in/a.wav -o new.wav", "new.wav"),
        ("in/a.wav -o there", "there/a.wav"),
        ("in/a.wav -o new/", "new/a.wav"),
        ("in/drums -o out.wav/", "out.wav/deep/snare.wav, out.wav/kick.wav"),
        // As in a shell, `*` does not match hidden files, and case matters.
        ("in/?.wav in/dr*/*.wav -o out", "out/a.wav, out/kick.wav"),
        // Brackets in the part of a path that exists are literal.
        ("[a].wav -o out/", "out/[a].wav"),
        ("CD[1]/[2]/?.wav -o out/", "out/b.wav"),
        ("CD[1]/*/[b].wav -o out/", "out/b.wav"),
        ("CD[1]/* -o out/", "out/b.wav"),
        (".hidden.wav -o out/", "out/.hidden.wav"),
        (
            "in/a.wav --list in/drums -o out",
            "out/a.wav, out/in/drums/deep/snare.wav, out/in/drums/kick.wav",
        ),
        ("--list in/a.wav there/old.wav -o out", "out/in/a.wav, out/there/old.wav"),
    ] {
        let plan = plan(&folder, line).unwrap();
        assert_eq!(outputs(&folder, &plan.jobs), expected, "{line}");
        assert!(plan.jobs.is_sorted_by_key(|job| std::cmp::Reverse(job.work)), "{line}");
    }
    let repeated = plan(&folder, "in/a.wav in ./in/a.wav -o out").unwrap().repeated;
    let repeated: Vec<_> = repeated.iter().map(|path| short(&folder, path)).collect();
    assert_eq!(repeated, ["in/a.wav"; 2]);
}

#[test]
fn requests_that_contradict_themselves_are_refused() {
    let folder = samples();
    for name in ["in/a.flac", "other/a.wav", "own/take.wav", "own/take2.wav"] {
        folder.put(name, b"");
    }
    let over_input = ".wav: is an input; choose another name or folder for the output";
    let file_name = ": is a file's name, and several outputs need a folder";
    let one = "- stands for one file";
    let earlier =
        "own/take2.wav: is an input that --force would overwrite; go on with --skip-existing";
    for (line, reason) in [
        ("in/a.wav other/a.wav -o out", "in/a.wav and other/a.wav would both become out/a.wav; "),
        ("in -o out", "with {ext} in --out"),
        ("in/drums -o in/drums --force", over_input),
        ("in/a.wav in/drums -o in --force", over_input),
        ("in/drums -o in/a.wav --force", file_name),
        ("in/drums -o out.wav", file_name),
        ("in/a.wav in/b.WAV -o out.flac", file_name),
        ("in/a.wav -o out.mp3", "out.mp3: unsupported output format; use .wav or .flac"),
        ("in/a.wav -o out", "out: ambiguous, a folder or a file; write out/ or out.wav"),
        ("- in/a.wav -o out", one),
        ("in/drums -o -", one),
        ("- -o in", one),
        ("- --suffix x", one),
        ("own/take.wav own/take2.wav --suffix 2 --force", earlier),
        ("own/*.wav --suffix 2 --force", earlier),
        ("own --suffix 2 --force", earlier),
    ] {
        let said = plan(&folder, line).unwrap_err().to_string();
        let said = said.replace(&folder.path("").display().to_string(), "");
        assert!(said.contains(reason), "{line}: {said}");
    }
    assert_eq!(plan(&folder, "own --suffix 2 -o out --force").unwrap().jobs.len(), 2);
}

#[test]
fn inputs_that_are_left_out_have_a_reason() {
    let folder = samples();
    for name in ["b.m4a", "c.Opus", "deep/d.w64", "e.ape", ".f.m4a"] {
        folder.put(&format!("in/{name}"), b"");
    }
    folder.put("in/.b.wav", &silence().bytes());
    folder.put("in/g.ogg", &[b"OggS", &[0; 24][..], b"OpusHead", &[0; 60]].concat());
    let left_out = |line: &str| {
        let left_out = plan(&folder, line).unwrap().left_out;
        let left_out = left_out.iter().map(|left| (short(&folder, &left.input), left.reason));
        left_out.collect::<Vec<_>>()
    };
    let mut expected = vec![("in/.b.wav".to_owned(), Reason::Hidden)];
    let unread = ["b.m4a", "c.Opus", "deep/d.w64", "e.ape", "g.ogg"];
    expected.extend(unread.map(|name| (format!("in/{name}"), Reason::Format)));
    #[cfg(unix)]
    {
        for (target, link) in [(".", "in/up"), ("..", "in/up2")] {
            std::os::unix::fs::symlink(target, folder.path(link)).unwrap();
            expected.push((link.into(), Reason::Loop));
        }
    }
    assert_eq!(left_out("in -o out"), expected);
}

#[test]
fn outputs_of_an_earlier_run_are_left_out() {
    let folder = samples();
    let made = ["in/a-8bit.wav", "in/x y-8bit.wav", "in/drums/kick-8bit.wav"];
    made.iter().for_each(|name| folder.put(name, &silence().bytes()));
    let line = "in/*.wav in/drums/*.wav --suffix -8bit --skip-existing";
    let again = plan(&folder, line).unwrap();
    let left_out = again.left_out.iter().map(|left| short(&folder, &left.input));
    assert_eq!(left_out.collect::<Vec<_>>(), made);
    assert!(again.left_out.iter().all(|left| left.reason == Reason::Output));
    assert!(again.jobs.is_empty() && again.decided().all(|it| matches!(it.fate, Fate::Skipped)));
    assert_eq!(again.decided().count(), 3);
    // Beside a compressed input, an output has the input's name.
    ["mus/a.flac", "mus/a.wav"].iter().for_each(|name| folder.put(name, &silence().bytes()));
    let beside = plan(&folder, "mus -o mus --skip-existing").unwrap();
    assert_eq!(short(&folder, &beside.left_out[0].input), "mus/a.wav");
    assert!(beside.jobs.is_empty() && beside.decided().count() == 1);
    // If it is the only input, an output of an earlier run is read like any file.
    let alone = plan(&folder, "in/a-8bit.wav --suffix -8bit").unwrap();
    assert_eq!(outputs(&folder, &alone.jobs), "in/a-8bit-8bit.wav");
    // A file whose name only looks like an output is an input.
    folder.put("own/take1.wav", &silence().bytes());
    folder.put("own/take2.wav", &silence().bytes());
    let other = plan(&folder, "own --suffix 2").unwrap();
    assert_eq!(outputs(&folder, &other.jobs), "own/take12.wav, own/take22.wav");
    assert!(other.left_out.is_empty());
}

#[test]
fn outputs_of_several_presets_are_no_inputs() {
    for line in [
        "in --suffix -{preset}",
        "in -o in --suffix -{preset}",
        "in -o in/by/ --suffix -{preset}",
        "in -o in/{preset}",
        "in/*.wav -o in --suffix -{preset}",
        "in/**/*.wav -o in/by/{preset}/",
    ] {
        let folder = Folder::new();
        folder.put("in/a.wav", &silence().bytes());
        let mut made = Vec::new();
        for (again, count) in [("", 2), (" --skip-existing", 0), (" --force", 2)] {
            let line = format!("{line} --presets{again}");
            let lines = ["organ", "arcade"].map(|preset| line.replace("{preset}", preset));
            let jobs = plans(&folder, &lines).into_iter().flat_map(|plan| plan.unwrap().jobs);
            let jobs: Vec<Job> = jobs.collect();
            assert_eq!(jobs.len(), count, "{line}: {jobs:?}");
            jobs.iter().for_each(|job| {
                folder.put(&short(&folder, &job.output), &silence().bytes());
            });
            made.push(outputs(&folder, &jobs));
        }
        assert_eq!(made[0], made[2], "{line}");
    }
}
