//! The output is the same for every kind of input and output, and for every number of jobs.

use crate::{Folder, float_wav, signals};
use std::{collections::BTreeMap, fs, io::Write, process::Stdio, thread};
use tone_filter_testkit::sweep;

/// Combination of a route, a length, a verb, jobs and flags.
type Cell = [&'static str; 5];

/// Ways of a sound into the program and out of it. `redirected` has a file as standard input, `named pipe` reads `/dev/stdin`,
/// and `pipes` uses both standard input and standard output.
const ROUTES: [&str; 9] = [
    "file",
    "folder",
    "pattern",
    "list",
    "redirected",
    "pipe",
    "named pipe",
    "standard output",
    "pipes",
];

/// Kinds of files. A `long` file is rendered on several threads. An `unknown` one is FLAC whose header states no length; it is
/// rendered on several threads at any length.
const LENGTHS: [&str; 3] = ["short", "long", "unknown"];

/// Number of frames of short files and of those of unknown length.
const SHORT: u32 = 1 << 16;

const VERBS: [&str; 3] = ["render", "bands", "chip"];

/// Numbers of jobs: one, and the default of one per core.
const JOBS: [&str; 2] = ["--jobs 1", ""];

/// Sets of flags: none, flags for a filter without a listener, and flags that only `render` has.
const FLAGS: [&str; 3] = ["", "--focus 0", "--tail 0.5 --normalize-peak -1 --sample-rate 48000"];

/// Returns all combinations that the command and the system support.
fn cells() -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![[""; 5]];
    for (axis, values) in [&ROUTES[..], &LENGTHS, &VERBS, &JOBS, &FLAGS].into_iter().enumerate() {
        let with = |mut cell: Cell, value| {
            cell[axis] = value;
            cell
        };
        let all = cells.into_iter();
        cells = all.flat_map(|cell| values.iter().map(move |value| with(cell, value))).collect();
    }
    cells.retain(|&[route, length, verb, jobs, flags]| {
        let is_render = verb == "render";
        // Long files are tested only where most threads work on them: in `render` with the listener.
        let has_threads = length != "long" || is_render && flags != FLAGS[1];
        let one_file = !["folder", "pattern", "list"].contains(&route);
        let has_system = cfg!(target_os = "linux") || route != "named pipe";
        let has_verb = verb != "chip" || one_file && jobs.is_empty();
        has_system && has_threads && has_verb && (is_render || flags != FLAGS[2])
    });
    cells
}

fn wav(frames: usize) -> Vec<u8> {
    // High rates save time: the listener makes fewer decisions for the same number of frames.
    let rate = if frames > SHORT as usize { 768_000 } else { 192_000 };
    let chord = signals::noisy_chord(2.0, f64::from(rate));
    float_wav(rate, &[chord.into_iter().cycle().take(frames).collect()])
}

/// Returns a folder with a subfolder and a list for each of [`LENGTHS`]. Each subfolder also has a shorter file.
fn inputs() -> Folder {
    let folder = Folder::new();
    for length in LENGTHS {
        let frames = if length == "long" { (1 << 21) + 100 } else { SHORT as usize };
        let place = format!("{length}/deep/in.wav");
        folder.put(&place, &wav(frames));
        folder.put(&format!("{length}/other.wav"), &wav(1000));
        folder.put(&format!("{length}.txt"), place.as_bytes());
    }
    folder.run("render short/deep/in.wav -o short.flac --bit-depth 24 --mix 0");
    let mut flac = folder.bytes("short.flac");
    // The number of samples is in the last 36 bits before the checksum. Clears the lower 32 bits; the others are 0.
    assert!(flac.starts_with(b"fLaC") && flac[22..26] == SHORT.to_be_bytes());
    flac[22..26].fill(0);
    folder.put("unknown/deep/in.wav", &flac);
    folder
}

/// Runs `cell`, and returns the content of its output.
fn run(folder: &Folder, [route, length, verb, jobs, flags]: Cell) -> Vec<u8> {
    let file = format!("{length}/deep/in.wav");
    let (verb_flags, extension) = match verb {
        "bands" => ("--hop 100 --csv", "csv"),
        "chip" => ("--title Routes -o", "vgm"),
        _ => ("-o", "wav"),
    };
    let input = match route {
        "file" | "standard output" => file.clone(),
        "folder" => length.into(),
        "pattern" => format!("{length}/*/in.w*"),
        "list" => format!("--input-list {length}.txt"),
        "named pipe" => "/dev/stdin".into(),
        _ => "-".into(),
    };
    let (out, made) = match route {
        "folder" => ("out/", format!("out/deep/in.{extension}")),
        "pattern" => ("out/", format!("out/in.{extension}")),
        "list" => ("out/", format!("out/{length}/deep/in.{extension}")),
        "standard output" | "pipes" => ("-", String::new()),
        _ => ("", format!("out.{extension}")),
    };
    let out = if out.is_empty() { &made } else { out };
    let line = format!("{verb} {input} {verb_flags} {out} {jobs} {flags} --force --quiet");
    let stdin = match route {
        "redirected" => fs::File::open(folder.path(&file)).unwrap().into(),
        "pipe" | "named pipe" | "pipes" => Stdio::piped(),
        _ => Stdio::null(),
    };
    // Removes the output of an earlier run, which could be mistaken for one of this run.
    drop(fs::remove_file(folder.path(&made)));
    let mut command = folder.program(&line);
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let pipe = child.stdin.take();
    let output = thread::scope(|scope| {
        scope.spawn(|| pipe.map(|mut pipe| pipe.write_all(&folder.bytes(&file))));
        child.wait_with_output().unwrap()
    });
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), &*said), (Some(0), ""), "{line}");
    if made.is_empty() { output.stdout } else { folder.bytes(&made) }
}

#[test]
fn every_route_has_the_same_result() {
    let folder = inputs();
    let mut references: BTreeMap<_, Vec<u8>> = BTreeMap::new();
    for cell in sweep::part(50, cells()) {
        let [_, length, verb, _, flags] = cell;
        // The reference has files as input and output, and one job per core: every verb supports this.
        let reference = || run(&folder, ["file", length, verb, "", flags]);
        let expected = references.entry((length, verb, flags)).or_insert_with(reference);
        assert!(run(&folder, cell) == *expected, "{cell:?}");
    }
}
