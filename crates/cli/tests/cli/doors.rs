//! The output is equal for every way of input and output, and on any number of cores.
//!
//! Covers every pair of values of two axes; `DOORS=all cargo test -p tone-filter-cli --test cli doors` runs every combination.

use crate::{Folder, float_wav, signals};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write,
    process::{Command, Stdio},
    thread,
};

/// Way of input and output.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Door {
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

const DOORS: [Door; 9] = [
    Door::File,
    Door::Folder,
    Door::Pattern,
    Door::List,
    Door::Redirected,
    Door::Pipe,
    Door::NamedPipe,
    Door::Stdout,
    Door::Pipes,
];

/// Length of the input, and how its header states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Length {
    Short,
    /// Enough frames for rendering on several threads.
    Long,
    /// Long, with the header that ffmpeg writes into a pipe.
    Streamed,
    Rf64,
    /// FLAC whose header has no length, which is read on several threads at any length.
    Unknown,
}

const LENGTHS: [Length; 5] =
    [Length::Short, Length::Long, Length::Streamed, Length::Rf64, Length::Unknown];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verb {
    Render,
    Bands,
    Chip,
}

const VERBS: [Verb; 3] = [Verb::Render, Verb::Bands, Verb::Chip];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Cores {
    /// This number of jobs.
    Jobs(u8),
    /// A job for each core.
    All,
    /// The process is restricted to one core.
    One,
}

const CORES: [Cores; 5] = [Cores::Jobs(1), Cores::Jobs(2), Cores::Jobs(8), Cores::All, Cores::One];

/// Sound flags: the default, and a filter without a listener.
const SOUNDS: [&str; 2] = ["", "--focus 0"];

/// Combination of values, as their indices on the axes: door, length, verb, cores, sound.
type Cell = [usize; 5];

/// Returns all combinations that the command and the system support.
fn cells() -> Vec<Cell> {
    let mut cells = vec![[0; 5]];
    let axes = [DOORS.len(), LENGTHS.len(), VERBS.len(), CORES.len(), SOUNDS.len()];
    for (axis, len) in axes.into_iter().enumerate() {
        let with = |cell: Cell, place| {
            let mut cell = cell;
            cell[axis] = place;
            cell
        };
        cells = cells.into_iter().flat_map(|cell| (0..len).map(move |n| with(cell, n))).collect();
    }
    cells.retain(|&[door, _, verb, cores, _]| {
        let (door, verb, cores) = (DOORS[door], VERBS[verb], CORES[cores]);
        let one_file = !matches!(door, Door::Folder | Door::Pattern | Door::List);
        let has_system =
            cfg!(target_os = "linux") || cores != Cores::One && door != Door::NamedPipe;
        has_system && (verb != Verb::Chip || one_file && !matches!(cores, Cores::Jobs(_)))
    });
    cells
}

/// Returns the pairs of values in `cell`, each value as its axis and index.
fn pairs(cell: Cell) -> impl Iterator<Item = [(usize, usize); 2]> {
    let values = move |a| (a + 1..5).map(move |b| [(a, cell[a]), (b, cell[b])]);
    (0..5).flat_map(values)
}

/// Returns a subset of `cells` that contains every pair of values in `cells`.
fn cover(cells: &[Cell]) -> Vec<Cell> {
    let mut left: BTreeSet<_> = cells.iter().flat_map(|cell| pairs(*cell)).collect();
    let mut chosen = Vec::new();
    while !left.is_empty() {
        let new = |cell: &&Cell| pairs(**cell).filter(|pair| left.contains(pair)).count();
        let best = *cells.iter().max_by_key(new).unwrap();
        left.retain(|pair| !pairs(best).any(|own| own == *pair));
        chosen.push(best);
    }
    chosen
}

/// Returns a WAV file of `frames` frames with the kind of header that `length` names.
fn wav(length: Length, frames: usize) -> Vec<u8> {
    // At a high rate, the listener makes fewer decisions for the same number of frames.
    let rate = 192_000;
    let chord = signals::noisy_chord(2.0, f64::from(rate));
    let softer: Vec<f32> = chord.iter().map(|sample| 0.5 * sample).rev().collect();
    let channels = [chord, softer].map(|own| own.into_iter().cycle().take(frames).collect());
    let mut bytes = float_wav(rate, &channels);
    let data = bytes.windows(4).position(|id| id == b"data").unwrap();
    if matches!(length, Length::Streamed | Length::Rf64) {
        bytes[4..8].fill(0xFF);
        bytes[data + 4..data + 8].fill(0xFF);
    }
    if length == Length::Rf64 {
        let samples = (bytes.len() - data - 8) as u64;
        let sizes = [bytes.len() as u64 + 36 - 8, samples, frames as u64];
        let sizes = sizes.into_iter().flat_map(u64::to_le_bytes);
        let chunk = b"ds64\x1C\0\0\0".iter().copied().chain(sizes).chain([0; 4]);
        bytes.splice(12..12, chunk);
        bytes[..4].copy_from_slice(b"RF64");
    }
    bytes
}

/// Returns a folder with a subfolder and a list for each [`Length`]. Each subfolder also has a shorter file.
fn inputs() -> Folder {
    let folder = Folder::new();
    for length in LENGTHS {
        let frames = if matches!(length, Length::Short | Length::Unknown) {
            1 << 18
        } else {
            (1 << 21) + 100
        };
        let place = format!("{length:?}/deep/in.wav");
        folder.put(&place, &wav(length, frames));
        folder.put(&format!("{length:?}/other.wav"), &wav(Length::Short, 1000));
        folder.put(&format!("{length:?}.txt"), format!("{place}\n").as_bytes());
    }
    let line = "render Short/deep/in.wav -o short.flac --bit-depth 24 --mix 0";
    folder.run(line);
    let mut flac = fs::read(folder.path("short.flac")).unwrap();
    // The last 36 bits before the checksum state the number of samples. Clears the lower 32 bits.
    assert!(flac.starts_with(b"fLaC") && flac[22..26] == (1u32 << 18).to_be_bytes());
    flac[22..26].fill(0);
    folder.put("Unknown/deep/in.wav", &flac);
    folder
}

/// Runs `cell`, and returns the content of its output.
fn run(folder: &Folder, [door, length, verb, cores, sound]: Cell) -> Vec<u8> {
    let (door, verb, cores) = (DOORS[door], VERBS[verb], CORES[cores]);
    let length = format!("{:?}", LENGTHS[length]);
    let file = format!("{length}/deep/in.wav");
    let (verb, flags, extension) = match verb {
        Verb::Render => ("render", "", "wav"),
        Verb::Bands => ("bands", "--hop 100", "csv"),
        Verb::Chip => ("chip", "--title Doors", "vgm"),
    };
    let input = match door {
        Door::File | Door::Stdout => file.clone(),
        Door::Folder => length.clone(),
        Door::Pattern => format!("{length}/*/in.w*"),
        Door::List => format!("--input-list {length}.txt"),
        Door::Redirected | Door::Pipe | Door::Pipes => "-".into(),
        Door::NamedPipe => "/dev/stdin".into(),
    };
    let (out, made) = match door {
        Door::Folder => ("out/", format!("out/deep/in.{extension}")),
        Door::Pattern => ("out/", format!("out/in.{extension}")),
        Door::List => ("out/", format!("out/{length}/deep/in.{extension}")),
        Door::Stdout | Door::Pipes => ("-", String::new()),
        _ => ("out", format!("out.{extension}")),
    };
    let out = if out == "out" { made.clone() } else { out.into() };
    let flag = if verb == "bands" { "--csv" } else { "-o" };
    let jobs = match cores {
        Cores::Jobs(jobs) => format!("--jobs {jobs}"),
        _ => String::new(),
    };
    let line = format!("{verb} {input} {flag} {out} {flags} {jobs} {} --quiet", SOUNDS[sound]);
    let program = assert_cmd::cargo::cargo_bin!("tone-filter");
    let mut command = Command::new(program);
    if cores == Cores::One {
        command = Command::new("taskset");
        command.args(["--cpu-list", &first_core()]).arg(program);
    }
    let stdin = match door {
        Door::Redirected => fs::File::open(folder.path(&file)).unwrap().into(),
        Door::Pipe | Door::NamedPipe | Door::Pipes => Stdio::piped(),
        _ => Stdio::null(),
    };
    command.current_dir(folder.path("")).args(line.split_whitespace()).stdin(stdin);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pipe = child.stdin.take();
    let output = thread::scope(|scope| {
        scope.spawn(|| pipe.map(|mut pipe| pipe.write_all(&fs::read(folder.path(&file)).unwrap())));
        child.wait_with_output().unwrap()
    });
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), &*said), (Some(0), ""), "{line}");
    if made.is_empty() {
        return output.stdout;
    }
    let bytes = fs::read(folder.path(&made)).unwrap();
    if out == "out/" {
        fs::remove_dir_all(folder.path("out")).unwrap();
    } else {
        fs::remove_file(folder.path(&made)).unwrap();
    }
    bytes
}

/// Returns the first core that this process may use.
fn first_core() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    list.trim().split([',', '-']).next().unwrap().into()
}

#[test]
fn every_door_has_the_same_result() {
    let folder = inputs();
    let all = cells();
    let chosen = match std::env::var("DOORS").as_deref() {
        Ok("all") => all.clone(),
        Ok(other) => panic!("DOORS={other} is unknown; use all"),
        Err(_) => cover(&all),
    };
    let mut references: BTreeMap<_, Vec<u8>> = BTreeMap::new();
    for cell in &chosen {
        let [_, length, verb, _, sound] = *cell;
        let reference = |length: Length| {
            let length = LENGTHS.iter().position(|own| *own == length).unwrap();
            let cores = if VERBS[verb] == Verb::Chip { CORES.len() - 2 } else { 0 };
            run(&folder, [0, length, verb, cores, sound])
        };
        // Files with these headers have the same samples as `Long`.
        let length = match LENGTHS[length] {
            Length::Streamed | Length::Rf64 => Length::Long,
            other => other,
        };
        let expected = references.entry((length, verb, sound)).or_insert_with(|| reference(length));
        assert!(run(&folder, *cell) == *expected, "{}", name(*cell));
    }
    eprintln!("{} of {} combinations", chosen.len(), all.len());
}

/// Formats `cell` for messages.
fn name([door, length, verb, cores, sound]: Cell) -> String {
    let (door, length, verb) = (DOORS[door], LENGTHS[length], VERBS[verb]);
    format!("{door:?}, {length:?}, {verb:?}, {:?}, {:?}", CORES[cores], SOUNDS[sound])
}
