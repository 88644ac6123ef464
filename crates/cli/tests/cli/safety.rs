//! Killed, interrupted, out of space: a file is whole or not there.
#![cfg(unix)]

use crate::{Folder, float_wav, signals};
use std::{
    fs,
    process::{Child, Command, Stdio},
    time::Duration,
};

/// Twenty files of noise in the folder `in`, and what becomes of them in `whole`.
fn twenty() -> Folder {
    let folder = Folder::new();
    // Longer than what is written at a time.
    let noise = signals::white(5.0, 44_100.0);
    for index in 0..20 {
        let samples = noise[..100_000 + 5000 * index].to_vec();
        folder.put(&format!("in/{index:02}.wav"), &float_wav(44_100, &[samples]));
    }
    folder.run("render in -o whole");
    folder
}

fn start(folder: &Folder, line: &str) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin!("tone-filter"))
        .current_dir(folder.path(""))
        .args(line.split(' '))
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Every file in `out` is hidden or the same as in `whole`. Gives the numbers of both.
fn check(folder: &Folder) -> (usize, usize) {
    let (mut hidden, mut whole) = (0, 0);
    for entry in fs::read_dir(folder.path("out")).into_iter().flatten() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.starts_with(".tone-filter-") {
            hidden += 1;
        } else {
            let read = |of: &str| fs::read(folder.path(of).join(&name)).unwrap();
            assert!(read("out") == read("whole"), "{name} is not whole");
            whole += 1;
        }
    }
    (hidden, whole)
}

/// When to kill: once so many files are whole, and one is under way of which at least so many bytes are written.
const MOMENTS: [(usize, u64); 8] =
    [(0, 0), (0, 1), (0, 1 << 18), (1, 0), (2, 1), (5, 1 << 18), (10, 0), (18, 1)];

/// Whether `out` is that far.
fn reached(folder: &Folder, (whole, bytes): (usize, u64)) -> bool {
    let files = fs::read_dir(folder.path("out")).into_iter().flatten().flatten();
    let (parts, others): (Vec<_>, Vec<_>) =
        files.partition(|file| file.file_name().to_string_lossy().ends_with(".part"));
    // One that is renamed meanwhile is not under way any more.
    let len = parts.iter().filter_map(|part| Some(part.metadata().ok()?.len())).max();
    others.len() >= whole && len.is_some_and(|len| len >= bytes)
}

#[test]
fn killed_at_any_moment_and_started_again_it_completes_the_set() {
    let folder = twenty();
    for moment in MOMENTS {
        let killed = (0..50).any(|_| {
            let _ = fs::remove_dir_all(folder.path("out"));
            let mut child = start(&folder, "render in -o out --jobs 2");
            // It may be through before it is seen to be that far.
            while !reached(&folder, moment) && child.try_wait().unwrap().is_none() {}
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

/// Starts `line`, sends it `signal` once a temporary file is in `out`, and gives what it says.
fn interrupt(folder: &Folder, line: &str, signal: &str) -> String {
    let child = Command::new(assert_cmd::cargo::cargo_bin!("tone-filter"))
        .current_dir(folder.path(""))
        .args(line.split(' '))
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.unwrap();
    // Once a temporary file is there, so is the handler.
    while parts(folder) == 0 {
        assert!(child.try_wait().unwrap().is_none(), "too fast to be interrupted");
        std::thread::yield_now();
    }
    let kill = format!("kill -{signal} {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{line}: {signal}");
    assert_eq!(parts(folder), 0, "{line}: {signal}");
    String::from_utf8(output.stderr).unwrap()
}

/// How many temporary files are in `out`.
fn parts(folder: &Folder) -> usize {
    let files = fs::read_dir(folder.path("out")).into_iter().flatten();
    files.filter(|file| file.as_ref().unwrap().file_name().as_encoded_bytes()[0] == b'.').count()
}

#[test]
fn interrupted_it_removes_what_is_not_complete_and_says_how_far_it_came() {
    let folder = twenty();
    for (signal, line) in [
        ("INT", "render in none.wav -o out --jobs 2"),
        ("TERM", "render in none.wav -o out --force --jobs 2"),
        ("HUP", "render in none.wav -o out --force --jobs 2"),
    ] {
        let said = interrupt(&folder, line, signal);
        let last = said.lines().last().unwrap();
        let done = last.strip_prefix("interrupted: of 21 files ").expect(&said);
        let done = done.strip_suffix(" done, 0 skipped, 1 failed; --skip-existing goes on");
        assert!(done.expect(&said).parse::<usize>().unwrap() < 20, "{said}");
        check(&folder);
    }
    assert_eq!(interrupt(&folder, "render in -o out --force --jobs 2 --quiet", "INT"), "");
    // Minutes of it, which nobody waits for.
    folder.put("long.wav", &float_wav(8000, &[signals::white(120.0, 8000.0)]));
    for signal in ["INT", "TERM", "HUP"] {
        let line = "bands long.wav --png out/a.png --midi out/a.mid --csv out/a.csv --hop 1ms";
        assert_eq!(interrupt(&folder, line, signal), "");
    }
}

#[test]
fn what_was_left_unfinished_is_swept_unless_somebody_works_on_it() {
    let folder = Folder::with(&crate::silence().bytes());
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

/// Renders all of `in` by `script`, in which `"$0"` is the tool, onto a disk that is too small.
fn on_a_full_disk(folder: &Folder, script: &str) {
    let mut child = Command::new("sh");
    let child = child.args(["-c", script]).arg(assert_cmd::cargo::cargo_bin!("tone-filter"));
    let output = child.current_dir(folder.path("")).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    for line in said.lines().filter(|line| line.starts_with("error: ")) {
        assert!(
            line.starts_with("error: out/") && line.contains(".wav: cannot be written ("),
            "{line}"
        );
        assert!(line.ends_with("; check the folder, its permissions and the space left"), "{line}");
    }
    assert!(said.ends_with("20 files failed\n"), "{said}");
    assert!(output.stdout.is_empty(), "left behind: {}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_disk_that_is_full_is_told_and_left_as_it_was() {
    let folder = twenty();
    fs::create_dir(folder.path("out")).unwrap();
    const RENDER: &str = "\"$0\" render in -o out --jobs 2; code=$?; ls -A out; exit $code";
    // Files may not be longer than 100 blocks of 512 bytes: to a program, that is a disk without space.
    on_a_full_disk(&folder, &format!("trap '' XFSZ; ulimit -f 100; {RENDER}"));

    // A real one, in memory, where the system lets users mount one of their own.
    const MOUNT: &str = "mount -t tmpfs -o size=256k none out";
    let alone = |script: &str| format!("unshare --mount --map-root-user sh -c '{script}' \"$0\"");
    let may = Command::new("sh").args(["-c", &alone(MOUNT)]).current_dir(folder.path("")).output();
    if may.unwrap().status.success() {
        on_a_full_disk(&folder, &alone(&format!("{MOUNT} && {RENDER}")));
    } else {
        eprintln!("no disk in memory may be mounted here; only the limit was tested");
    }
}

/// Five minutes of stereo take the memory of three seconds.
#[cfg(target_os = "linux")]
#[test]
fn memory_stays_flat_however_long_the_file() {
    let (rate, minutes) = (44_100, 5);
    for line in [
        "render in.wav -o out.wav",
        "render in.wav -o out.wav --normalize-peak -1 --tail 1 --sample-rate 88200",
        "bands in.wav --png out.png --csv out.csv --midi out.mid --hop 1000ms",
    ] {
        let folder = Folder::new();
        // 53 MB, and twice as much as the filter's numbers.
        let len = rate * minutes * 60 * 4;
        let mut head = crate::Wav { rate, data: vec![], ..crate::silence() }.bytes();
        head[40..44].copy_from_slice(&len.to_le_bytes());
        // A click, for there is no peak in silence.
        head.extend([0, 64, 0, 64]);
        folder.put("in.wav", &head);
        // A hole: it takes no space.
        let file = fs::File::options().write(true).open(folder.path("in.wav")).unwrap();
        file.set_len(44 + u64::from(len)).unwrap();

        let mut child = start(&folder, line);
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
        assert!(peak < 64 * 1024, "{line}: {peak} KiB");
        eprintln!("{line}: {peak} KiB for {minutes} min");
        if line.contains("--tail") {
            let out = fs::metadata(folder.path("out.wav")).unwrap().len();
            assert_eq!(out, 44 + 2 * u64::from(len) + 2 * u64::from(rate) * 4);
        }
    }
}
