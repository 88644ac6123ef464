//! The output does not depend on the kind of input and output, nor on the number of cores.

use crate::{Folder, float_wav, signals};
use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    process::{Command, Stdio},
    thread,
};
use tone_filter_testkit::sweep;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Route {
    File,
    Folder,
    Pattern,
    List,
    /// Standard input, redirected from a file.
    Redirected,
    Pipe,
    /// A pipe that is named by a path, `/dev/stdin`.
    NamedPipe,
    Stdout,
    /// Standard input and output, both pipes.
    Pipes,
}

const ROUTES: [Route; 9] = [
    Route::File,
    Route::Folder,
    Route::Pattern,
    Route::List,
    Route::Redirected,
    Route::Pipe,
    Route::NamedPipe,
    Route::Stdout,
    Route::Pipes,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Length {
    Short,
    /// Enough frames for rendering on several threads.
    Long,
    /// FLAC whose header has no length, which is read on several threads at any length.
    Unknown,
}

/// Number of frames of [`Length::Short`] and [`Length::Unknown`] files.
const SHORT: u32 = 1 << 16;

const LENGTHS: [Length; 3] = [Length::Short, Length::Long, Length::Unknown];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verb {
    Render,
    Bands,
    Chip,
}

const VERBS: [Verb; 3] = [Verb::Render, Verb::Bands, Verb::Chip];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Cores {
    Jobs(u8),
    /// One job per core, the default.
    All,
    /// The process is restricted to one core.
    One,
}

const CORES: [Cores; 3] = [Cores::Jobs(1), Cores::All, Cores::One];

/// Sets of flags: the default, a filter without a listener, and flags that only `render` has.
const FLAGS: [&str; 3] = ["", "--focus 0", "--tail 0.5 --normalize-peak -1 --sample-rate 48000"];

/// Number of sets in [`FLAGS`] that every verb has; they come first.
const COMMON: usize = 2;

/// Combination of values, as their indices on the axes: route, length, verb, cores, flags.
type Cell = [usize; 5];

/// Returns all combinations that the command and the system support.
fn cells() -> Vec<Cell> {
    let mut cells = vec![[0; 5]];
    let axes = [ROUTES.len(), LENGTHS.len(), VERBS.len(), CORES.len(), FLAGS.len()];
    for (axis, len) in axes.into_iter().enumerate() {
        let with = |cell: Cell, place| {
            let mut cell = cell;
            cell[axis] = place;
            cell
        };
        cells = cells.into_iter().flat_map(|cell| (0..len).map(move |n| with(cell, n))).collect();
    }
    cells.retain(|&[route, length, verb, cores, flags]| {
        let (route, verb, cores) = (ROUTES[route], VERBS[verb], CORES[cores]);
        // The other verbs, and `render` without a listener, use one thread for each file.
        let has_threads = LENGTHS[length] != Length::Long || verb == Verb::Render && flags != 1;
        let one_file = !matches!(route, Route::Folder | Route::Pattern | Route::List);
        let has_system =
            cfg!(target_os = "linux") || cores != Cores::One && route != Route::NamedPipe;
        let has_verb = verb != Verb::Chip || one_file && !matches!(cores, Cores::Jobs(_));
        has_system && has_threads && has_verb && (verb == Verb::Render || flags < COMMON)
    });
    cells
}

fn wav(frames: usize) -> Vec<u8> {
    // At a high rate, the listener makes fewer decisions for the same number of frames.
    let rate = if frames > SHORT as usize { 768_000 } else { 192_000 };
    let chord = signals::noisy_chord(2.0, f64::from(rate));
    float_wav(rate, &[chord.into_iter().cycle().take(frames).collect()])
}

/// Returns a folder with a subfolder and a list for each [`Length`]. Each subfolder also has a shorter file.
fn inputs() -> Folder {
    let folder = Folder::new();
    for length in LENGTHS {
        let frames = if length == Length::Long { (1 << 21) + 100 } else { SHORT as usize };
        let place = format!("{length:?}/deep/in.wav");
        folder.put(&place, &wav(frames));
        folder.put(&format!("{length:?}/other.wav"), &wav(1000));
        folder.put(&format!("{length:?}.txt"), place.as_bytes());
    }
    let line = "render Short/deep/in.wav -o short.flac --bit-depth 24 --mix 0";
    folder.run(line);
    let mut flac = folder.bytes("short.flac");
    // The last 36 bits before the checksum state the number of samples. Clears the lower 32 bits.
    assert!(flac.starts_with(b"fLaC") && flac[22..26] == SHORT.to_be_bytes());
    flac[22..26].fill(0);
    folder.put("Unknown/deep/in.wav", &flac);
    folder
}

/// Runs `cell`, and returns the content of its output.
fn run(folder: &Folder, [route, length, verb, cores, flags]: Cell) -> Vec<u8> {
    let (route, verb, cores) = (ROUTES[route], VERBS[verb], CORES[cores]);
    let length = format!("{:?}", LENGTHS[length]);
    let file = format!("{length}/deep/in.wav");
    let (verb, own, extension) = match verb {
        Verb::Render => ("render", "", "wav"),
        Verb::Bands => ("bands", "--hop 100", "csv"),
        Verb::Chip => ("chip", "--title Routes", "vgm"),
    };
    let input = match route {
        Route::File | Route::Stdout => file.clone(),
        Route::Folder => length.clone(),
        Route::Pattern => format!("{length}/*/in.w*"),
        Route::List => format!("--input-list {length}.txt"),
        Route::Redirected | Route::Pipe | Route::Pipes => "-".into(),
        Route::NamedPipe => "/dev/stdin".into(),
    };
    let (out, made) = match route {
        Route::Folder => ("out/", format!("out/deep/in.{extension}")),
        Route::Pattern => ("out/", format!("out/in.{extension}")),
        Route::List => ("out/", format!("out/{length}/deep/in.{extension}")),
        Route::Stdout | Route::Pipes => ("-", String::new()),
        _ => ("out", format!("out.{extension}")),
    };
    let out = if out == "out" { made.clone() } else { out.into() };
    let flag = if verb == "bands" { "--csv" } else { "-o" };
    let jobs = match cores {
        Cores::Jobs(jobs) => format!("--jobs {jobs}"),
        _ => String::new(),
    };
    let line = format!("{verb} {input} {flag} {out} {own} {jobs} {} --quiet", FLAGS[flags]);
    let program = assert_cmd::cargo::cargo_bin!("tone-filter");
    let mut command = Command::new(program);
    if cores == Cores::One {
        command = Command::new("taskset");
        command.args(["--cpu-list", &first_core()]).arg(program);
    }
    let stdin = match route {
        Route::Redirected => fs::File::open(folder.path(&file)).unwrap().into(),
        Route::Pipe | Route::NamedPipe | Route::Pipes => Stdio::piped(),
        _ => Stdio::null(),
    };
    command.current_dir(folder.path("")).args(line.split_whitespace()).stdin(stdin);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pipe = child.stdin.take();
    let output = thread::scope(|scope| {
        scope.spawn(|| pipe.map(|mut pipe| pipe.write_all(&folder.bytes(&file))));
        child.wait_with_output().unwrap()
    });
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), &*said), (Some(0), ""), "{line}");
    if made.is_empty() {
        return output.stdout;
    }
    let bytes = folder.bytes(&made);
    if out == "out/" {
        fs::remove_dir_all(folder.path("out")).unwrap();
    } else {
        fs::remove_file(folder.path(&made)).unwrap();
    }
    bytes
}

fn first_core() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    list.trim().split([',', '-']).next().unwrap().into()
}

#[test]
fn every_route_has_the_same_result() {
    let folder = inputs();
    let mut references: BTreeMap<_, Vec<u8>> = BTreeMap::new();
    for cell in sweep::tenth(cells()) {
        let [_, length, verb, _, flags] = cell;
        // Files and all cores, which every verb supports.
        let reference = || run(&folder, [0, length, verb, CORES.len() - 2, flags]);
        let expected = references.entry((length, verb, flags)).or_insert_with(reference);
        assert!(run(&folder, cell) == *expected, "{}", name(cell));
    }
}

fn name([route, length, verb, cores, flags]: Cell) -> String {
    let (route, length, verb) = (ROUTES[route], LENGTHS[length], VERBS[verb]);
    format!("{route:?}, {length:?}, {verb:?}, {:?}, {:?}", CORES[cores], FLAGS[flags])
}
