//! Interruptions: if the program is killed or interrupted, or the disk is full, each output is complete or missing. Also
//! memory: its use does not grow with the length of a file.
#![cfg(unix)]

use crate::{Folder, float_wav, signals};
use libc::{SIG_DFL, SIGHUP, SIGINT, SIGTERM};
use std::{
    fs,
    os::unix::process::CommandExt,
    process::{Command, Output, Stdio},
    time::Duration,
};
use tone_filter_testkit::sweep;

/// Returns a folder with twenty files of noise in `in`, and their outputs in `whole`. With eight channels, each output takes
/// more than one write, and little more time than mono.
fn twenty() -> Folder {
    let folder = Folder::new();
    let noise = signals::white(0.6, 44_100.0);
    for index in 0..20 {
        let channel = noise[..15_000 + 500 * index].to_vec();
        folder.put(&format!("in/{index:02}.wav"), &float_wav(44_100, &vec![channel; 8]));
    }
    folder.run("render in -o whole");
    folder
}

/// Checks that each file in `out` is either temporary or equal to the one in `whole`. Returns the number of temporary files,
/// and that of complete ones.
fn check(folder: &Folder) -> (usize, usize) {
    let (mut hidden, mut whole) = (0, 0);
    for entry in fs::read_dir(folder.path("out")).into_iter().flatten() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.starts_with(".tone-filter-") {
            hidden += 1;
        } else {
            let read = |subfolder: &str| fs::read(folder.path(subfolder).join(&name)).unwrap();
            assert!(read("out") == read("whole"), "{name} is not whole");
            whole += 1;
        }
    }
    (hidden, whole)
}

/// States of `out` at which the program is killed: at least this number of complete files, and a temporary file of at least
/// this size in bytes.
const MOMENTS: [(usize, u64); 8] =
    [(0, 0), (0, 1), (0, 1 << 16), (1, 0), (2, 1), (5, 1 << 16), (10, 0), (18, 1)];

/// Returns whether `out` has reached a state of [`MOMENTS`].
fn reached(folder: &Folder, (whole, bytes): (usize, u64)) -> bool {
    let files = fs::read_dir(folder.path("out")).into_iter().flatten().flatten();
    let (parts, others): (Vec<_>, Vec<_>) =
        files.partition(|file| file.file_name().to_string_lossy().ends_with(".part"));
    // A temporary file whose metadata cannot be read has just been renamed: it is complete.
    let len = parts.iter().filter_map(|part| Some(part.metadata().ok()?.len())).max();
    others.len() >= whole && len.is_some_and(|len| len >= bytes)
}

#[test]
fn killed_at_any_moment_and_started_again_it_completes_the_set() {
    let folder = twenty();
    for moment in sweep::part(8, MOMENTS) {
        let killed = (0..50).any(|_| {
            let _ = fs::remove_dir_all(folder.path("out"));
            let mut child =
                folder.program("render in -o out --jobs 2").stderr(Stdio::null()).spawn().unwrap();
            // The program may end before this loop sees the state.
            while !reached(&folder, moment) && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_micros(200));
            }
            child.kill().unwrap();
            !child.wait().unwrap().success()
        });
        assert!(killed, "it was always too fast to be killed at {moment:?}");
        let (_, whole) = check(&folder);
        assert!((moment.0..20).contains(&whole), "{whole} files at {moment:?}");
        let said = folder.run("render in -o out --skip-existing");
        let summary = said.lines().last().unwrap();
        assert!(summary.starts_with(&format!("{} file", 20 - whole)), "{said}");
        assert_eq!(check(&folder), (0, 20), "what was left unfinished is swept");
    }
    assert_eq!(folder.run("render in -o out --skip-existing"), "20 files skipped\n");
}

#[test]
fn two_runs_that_go_on_in_one_folder_share_the_work() {
    let folder = twenty();
    for line in ["render in -o out --skip-existing", "bands in --csv notes --skip-existing"] {
        let mut runs =
            [(); 2].map(|()| folder.program(line).stderr(Stdio::null()).spawn().unwrap());
        runs.iter_mut().for_each(|run| assert_eq!(run.wait().unwrap().code(), Some(0), "{line}"));
    }
    assert_eq!(check(&folder), (0, 20));
    assert_eq!(fs::read_dir(folder.path("notes")).unwrap().count(), 20);
}

/// Interrupts the program, started with `line`, by `signal`, also if the tests themselves were started to ignore it. It must exit with code 130 and leave no temporary file. Returns its
/// stderr.
fn interrupt(folder: &Folder, line: &str, signal: &str) -> String {
    let mut program = folder.program(line);
    // SAFETY: `signal` may be called between fork and exec.
    unsafe {
        program.pre_exec(|| {
            for signal in [SIGHUP, SIGINT, SIGTERM] {
                libc::signal(signal, SIG_DFL);
            }
            Ok(())
        });
    }
    let output = signalled(folder, &mut program, signal);
    assert_eq!(output.status.code(), Some(130), "{line}: {signal}");
    assert_eq!(parts(folder), 0, "{line}: {signal}");
    String::from_utf8(output.stderr).unwrap()
}

/// Starts `program`, and sends `signal` once a temporary file is in `out`.
fn signalled(folder: &Folder, program: &mut Command, signal: &str) -> Output {
    let mut child = program.stderr(Stdio::piped()).spawn().unwrap();
    // Once there is a temporary file, the signal handler is installed, too.
    while parts(folder) == 0 {
        assert!(child.try_wait().unwrap().is_none(), "too fast for a signal");
        std::thread::yield_now();
    }
    let kill = format!("kill -{signal} {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    child.wait_with_output().unwrap()
}

/// Returns the number of temporary files in `out`.
fn parts(folder: &Folder) -> usize {
    let files = fs::read_dir(folder.path("out")).into_iter().flatten();
    files.filter(|file| file.as_ref().unwrap().file_name().as_encoded_bytes()[0] == b'.').count()
}

#[test]
fn interrupted_it_removes_what_is_not_complete_and_says_how_far_it_came() {
    let folder = twenty();
    for signal in ["INT", "TERM", "HUP"] {
        let said = interrupt(&folder, "render in none.wav -o out --force --jobs 1", signal);
        let last = said.lines().last().unwrap();
        let done = last.strip_prefix("interrupted: of 21 files ").expect(&said);
        let done = done.strip_suffix(" done, 0 skipped, 1 failed; --skip-existing goes on");
        assert!(done.expect(&said).parse::<usize>().unwrap() < 20, "{said}");
        check(&folder);
    }
    assert_eq!(interrupt(&folder, "render in -o out --force --jobs 1 --quiet", "INT"), "");
    // The file is so long that the signal comes before the end.
    folder.put("long.wav", &float_wav(8000, &[signals::white(120.0, 8000.0)]));
    let line = "bands long.wav --png out/a.png --midi out/a.mid --csv out/a.csv --hop 1ms";
    assert_eq!(interrupt(&folder, line, "TERM"), "");
}

#[test]
fn a_signal_that_it_was_started_to_ignore_is_ignored() {
    let folder = twenty();
    let program = folder.program("render in -o out --force --jobs 1");
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"trap '' HUP; exec "$0" "$@""#]).arg(program.get_program());
    shell.args(program.get_args()).current_dir(program.get_current_dir().unwrap());
    assert_eq!(signalled(&folder, &mut shell, "HUP").status.code(), Some(0));
    assert_eq!(interrupt(&folder, "render in -o out --force --jobs 1 --quiet", "HUP"), "");
}

#[test]
fn what_was_left_unfinished_is_swept_unless_somebody_works_on_it() {
    let folder = Folder::with(&crate::silence());
    let names = [".tone-filter-dead.part", ".tone-filter-live.part", ".tone-filter-dead.wav"];
    names.iter().for_each(|name| folder.put(&format!("out/{name}"), b"half"));
    let live = fs::File::open(folder.path("out").join(names[1])).unwrap();
    live.lock().unwrap();
    let left = || names.map(|name| folder.path("out").join(name).exists());
    folder.run("bands in.wav --csv out/in.csv");
    assert_eq!(left(), [false, true, true]);
    drop(live);
    folder.run("render in.wav -o out/");
    assert_eq!(left(), [false, false, true]);
}

/// Runs `script`, which renders `in` onto a disk that is too small, and checks its messages. `"$0"` in `script` is the program.
fn on_a_full_disk(folder: &Folder, script: &str) {
    let (code, left, said) = folder.shell(script);
    assert_eq!(code, 1, "{said}");
    for line in said.lines().filter(|line| line.starts_with("error: ")) {
        let cause = ".wav: cannot be written (";
        assert!(line.starts_with("error: out/") && line.contains(cause), "{line}");
        assert!(line.ends_with("; check the folder, its permissions and the space left"), "{line}");
    }
    assert!(said.ends_with("20 files failed\n"), "{said}");
    assert!(left.is_empty(), "left behind: {}", String::from_utf8_lossy(&left));
}

#[test]
fn a_disk_that_is_full_is_told_and_left_as_it_was() {
    let folder = twenty();
    fs::create_dir(folder.path("out")).unwrap();
    const RENDER: &str = "\"$0\" render in -o out --jobs 2; code=$?; ls -A out; exit $code";
    // Limits the size of files to 100 blocks of 512 bytes, which a program cannot tell from a full disk.
    on_a_full_disk(&folder, &format!("trap '' XFSZ; ulimit -f 100; {RENDER}"));

    // A disk in memory that is really full, if the system lets users mount one.
    const MOUNT: &str = "mount -t tmpfs -o size=128k none out";
    let alone = |script: &str| format!("unshare --mount --map-root-user sh -c '{script}' \"$0\"");
    if folder.shell(&alone(MOUNT)).0 == 0 {
        on_a_full_disk(&folder, &alone(&format!("{MOUNT} && {RENDER}")));
    } else {
        eprintln!("no disk in memory may be mounted here; only the limit was tested");
    }
}

/// Processes a file of 35 MiB, which is 70 MiB as floats, with less than 48 MiB of memory.
#[cfg(target_os = "linux")]
#[test]
fn memory_stays_flat_however_long_the_file() {
    // The file has many channels, which take more memory than many frames, and less time.
    let (rate, channels, seconds) = (96_000, 32, 6);
    let lines = [
        "render in.wav -o out.wav",
        "render in.wav -o out.wav --normalize-peak -1 --tail 1 --sample-rate 48000",
        "bands in.wav --png out.png --csv out.csv --midi out.mid --hop 100ms",
    ];
    for line in sweep::part(3, lines) {
        let folder = Folder::new();
        let len = rate * seconds * 2 * channels;
        let mut head = crate::integer_wav(rate, &[]);
        for (at, bytes) in
            [(22, channels), (28, rate * 2 * channels), (32, 2 * channels), (40, len)]
        {
            let count = if at < 28 || at == 32 { 2 } else { 4 };
            head[at..at + count].copy_from_slice(&bytes.to_le_bytes()[..count]);
        }
        // Adds a click, because silence has no peak to normalise.
        head.extend([0, 64].repeat(channels as usize));
        folder.put("in.wav", &head);
        // Extends the file with zeros that take no space on the disk.
        let file = fs::File::options().write(true).open(folder.path("in.wav")).unwrap();
        file.set_len(44 + u64::from(len)).unwrap();

        let mut child = folder.program(line).stderr(Stdio::null()).spawn().unwrap();
        let mut peak = 0;
        while child.try_wait().unwrap().is_none() {
            let status = fs::read_to_string(format!("/proc/{}/status", child.id()));
            let status = status.unwrap_or_default();
            let kib = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = kib.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
            peak = peak.max(kib.unwrap_or(0));
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(child.wait().unwrap().success(), "{line}");
        assert!(peak > 1000, "it was never seen: {peak}");
        assert!(peak < 48 * 1024, "{line}: {peak} KiB");
        eprintln!("{line}: {peak} KiB for {seconds} s");
        if line.contains("--tail") {
            let out = fs::metadata(folder.path("out.wav")).unwrap().len();
            let head = out - u64::from(len / 2 + rate / 2 * 2 * channels);
            assert!(head < 100, "{head} bytes before the samples");
        }
    }
}
