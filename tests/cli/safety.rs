//! Killed, interrupted, out of space: a file is whole or not there.
#![cfg(unix)]

use crate::{Folder, common, float_wav};
use std::{
    fs,
    io::Read,
    process::{Child, Command, Stdio},
    time::Duration,
};

/// Twenty files of noise in the folder `in`, and what becomes of them in `whole`.
fn twenty() -> Folder {
    let folder = Folder::new();
    let noise = common::white(1.0, 44_100.0);
    for index in 0..20 {
        let samples = noise[..20_000 + 1000 * index].to_vec();
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

#[test]
fn killed_at_any_moment_and_started_again_it_completes_the_set() {
    let folder = twenty();
    let mut seen = Vec::new();
    // Later and later, until one run comes through; the moments need not be exact.
    for attempt in 1.. {
        let mut child = start(&folder, "render in -o out --skip-existing --jobs 2");
        std::thread::sleep(Duration::from_millis(7 * attempt));
        child.kill().unwrap();
        let through = child.wait().unwrap().success();
        let (_, whole) = check(&folder);
        seen.push(whole);
        if through {
            break;
        }
    }
    assert_eq!(check(&folder).1, 20);
    assert!(seen.is_sorted(), "nothing that was whole goes away: {seen:?}");
    assert!(seen.len() > 1, "it was never killed");
    let said = folder.run("render in -o out --skip-existing");
    assert_eq!(said, "20 files skipped\n");
}

#[test]
fn interrupted_it_removes_what_is_not_complete() {
    let folder = twenty();
    for signal in ["INT", "TERM", "HUP"] {
        let mut child = start(&folder, "render in -o out --force --jobs 2");
        // Once a temporary file is there, so is the handler.
        while check(&folder).0 == 0 {
            assert!(child.try_wait().unwrap().is_none(), "too fast to be interrupted");
            std::thread::yield_now();
        }
        let line = format!("kill -{signal} {}", child.id());
        assert!(Command::new("sh").args(["-c", &line]).status().unwrap().success());
        let code = child.wait().unwrap().code();
        assert_eq!(code, Some(130), "{signal}");
        assert_eq!(check(&folder).0, 0, "{signal}");
    }
}

#[test]
fn a_disk_that_is_full_is_told_and_left_as_it_was() {
    let folder = twenty();
    // Files may not be longer than 100 blocks of 512 bytes: to a program, that is a disk without space.
    let limit = "trap '' XFSZ; ulimit -f 100; exec \"$0\" render in -o out --bit-depth 24 --jobs 2";
    let mut child = Command::new("sh")
        .args(["-c", limit])
        .arg(assert_cmd::cargo::cargo_bin!("tone-filter"))
        .current_dir(folder.path(""))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{said}");
    for line in said.lines().filter(|line| line.starts_with("error: ")) {
        assert!(
            line.starts_with("error: out/") && line.contains(".wav: cannot be written ("),
            "{line}"
        );
        assert!(line.ends_with("; check the folder, its permissions and the space left"), "{line}");
    }
    assert!(said.ends_with("20 files failed\n"), "{said}");
    assert_eq!(fs::read_dir(folder.path("out")).unwrap().count(), 0);
}

/// Three hours of stereo: the same memory as for three seconds.
#[cfg(target_os = "linux")]
#[test]
fn memory_stays_flat_however_long_the_file() {
    let folder = Folder::new();
    let (rate, seconds) = (1000u32, 3 * 3600);
    let len = rate * seconds * 4;
    let mut head = crate::Wav { rate, data: vec![], ..crate::silence() }.bytes();
    head[40..44].copy_from_slice(&len.to_le_bytes());
    folder.put("in.wav", &head);
    // A hole: it takes no space.
    let file = fs::File::options().write(true).open(folder.path("in.wav")).unwrap();
    file.set_len(44 + u64::from(len)).unwrap();
    let all = "--normalize-peak -1";
    for line in [
        "render in.wav -o out.wav --tail 1 --sample-rate 2000".to_owned(),
        "bands in.wav --png out.png --csv out.csv --midi out.mid --hop 1000ms".to_owned(),
        format!("render in.wav -o loud.wav {all}"),
    ] {
        let mut child = start(&folder, &line);
        let mut peak = 0;
        while child.try_wait().unwrap().is_none() {
            let status = fs::read_to_string(format!("/proc/{}/status", child.id()));
            let status = status.unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
            peak = peak.max(kib.unwrap_or(0));
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(peak > 1000, "it was never seen: {peak}");
        assert!(peak < 64 * 1024, "{line}: {peak} KiB");
    }
    let out = fs::metadata(folder.path("out.wav")).unwrap().len();
    assert_eq!(out, 44 + 2 * u64::from(len) + 2 * 1000 * 4);
}
