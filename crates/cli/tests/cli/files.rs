//! Output files: links, modes of replaced files, plain file systems, pipes and devices, and a closed standard output.
#![cfg(unix)]

use crate::{Folder, silence};
use std::fs;
use tone_filter_testkit::sweep;

#[test]
fn links_to_the_input_are_seen_through() {
    let folder = Folder::with(&silence());
    std::os::unix::fs::symlink("in.wav", folder.path("link.wav")).unwrap();
    let said = folder.fail("render in.wav -o link.wav --force", 2);
    assert!(said.contains("is an input"), "{said}");
    let said = folder.fail("render link.wav -o in.wav --force", 2);
    assert!(said.contains("is an input"), "{said}");
    fs::hard_link(folder.path("in.wav"), folder.path("hard.wav")).unwrap();
    folder.fail("render in.wav -o hard.wav", 1);
    folder.run("render in.wav -o hard.wav --force --mix 0");
    assert_eq!(folder.bytes("in.wav"), silence(), "only a name was replaced");
}

#[test]
fn force_keeps_the_mode_and_the_links_of_what_it_replaces() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let folder = Folder::with(&silence());
    folder.run("render in.wav -o new.wav");
    let mode = |name: &str| fs::metadata(folder.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("new.wav"), mode("in.wav"), "the mode of any new file");
    folder.put("real/old.wav", b"old");
    let set = |mode| fs::Permissions::from_mode(mode);
    symlink("real/old.wav", folder.path("first.wav")).unwrap();
    symlink(folder.path("first.wav"), folder.path("second.wav")).unwrap();
    symlink("real/new.png", folder.path("nowhere.png")).unwrap();
    let owner = |name: &str| {
        let metadata = fs::metadata(folder.path(name)).unwrap();
        (metadata.uid(), metadata.gid(), metadata.mode() & 0o7777)
    };
    for mode in [0o640, 0o444] {
        fs::set_permissions(folder.path("real/old.wav"), set(mode)).unwrap();
        // Only root may change the owner of a file.
        let (uid, gid, _) = owner("real/old.wav");
        let given = std::os::unix::fs::chown(folder.path("real/old.wav"), Some(12), Some(34));
        let (uid, gid) = if given.is_ok() { (12, 34) } else { (uid, gid) };
        for name in ["real/old.wav", "second.wav"] {
            folder.run(&format!("render in.wav -o {name} --force"));
            assert!(folder.bytes("real/old.wav").starts_with(b"RIFF"));
            assert_eq!(owner("real/old.wav"), (uid, gid, mode), "{name}");
        }
    }
    folder.run("bands in.wav --png nowhere.png --force");
    assert!(folder.bytes("real/new.png").starts_with(b"\x89PNG"));
    for link in ["first.wav", "second.wav", "nowhere.png"] {
        assert!(folder.path(link).is_symlink(), "{link}");
    }
    assert_eq!(fs::read_dir(folder.path("real")).unwrap().count(), 2, "nothing temporary is left");
}

/// Uses strace to make calls fail that some network file systems refuse: hard links, rename flags, fsync, chmod and chown.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_knows_only_plain_files_is_written() {
    let folder = Folder::with(&silence());
    let strace = "strace -f -o /dev/null -e trace=link,linkat,renameat2,fsync,fchmod,fchown";
    let refuse = "-e inject=link,linkat:error=EIO -e inject=renameat2,fsync:error=EINVAL -e inject=fchmod,fchown:error=EPERM";
    for line in [
        "render in.wav -o 1.wav",
        "render in.wav -o 1.wav --force",
        "render in.wav -o 2.flac",
        "bands in.wav --png 3.png --csv 4.csv --json 5.json --midi 6.mid --score 7.tfs",
        "chip in.wav -o 8.vgm",
        "presets export organ 9.json",
    ] {
        let (code, _, said) = folder.shell(&format!("{strace} {refuse} \"$0\" {line}"));
        assert_eq!(code, 0, "{line}: {said}; this test needs strace: apt-get install strace");
    }
    let files = folder.files();
    assert!(files.len() == 10 && files.values().all(|file| !file.is_empty()), "{:?}", files.keys());
    let line = "-e inject=fsync:error=EIO \"$0\" render in.wav -o lost.wav";
    assert_eq!(folder.shell(&format!("{strace} {line}")).0, 1);
    assert!(!folder.path("lost.wav").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn pipes_and_devices_are_outputs_as_standard_output_is() {
    let folder = Folder::with(&silence());
    let lines = [
        "render in.wav -q -o",
        "bands in.wav -q --midi",
        "bands in.wav -q --csv",
        "chip in.wav -q -o",
    ];
    for line in sweep::part(2, lines) {
        let [expected, pipe, device, _] = [
            format!("\"$0\" {line} -"),
            format!("mkfifo pipe; {{ \"$0\" {line} pipe || : > pipe; }} & cat pipe; rm pipe"),
            format!("\"$0\" {line} /dev/stdout | cat"),
            format!("\"$0\" {line} /dev/null"),
        ]
        .map(|script| {
            let (code, read, said) = folder.shell(&script);
            assert_eq!(code, 0, "{script}: {said}");
            read
        });
        assert!(!expected.is_empty() && pipe == expected && device == expected, "{line}");
    }
    assert_eq!(folder.files().len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_standard_output_is_told_if_it_is_needed() {
    let folder = Folder::with(&silence());
    for line in [
        "render in.wav -o -",
        "render in.wav -o out.wav --json --force",
        "bands in.wav --csv -",
        "presets list",
        "completions bash",
        "--help",
    ] {
        for closed in [">&-", "<&- >&-"] {
            let (code, _, said) = folder.shell(&format!("\"$0\" {line} {closed}"));
            assert_eq!(code, 1, "{line}: {said}");
            assert!(said.contains("standard output is closed"), "{line}: {said}");
        }
    }
    assert_eq!(folder.shell("\"$0\" render in.wav -o needless.wav -q >&-").0, 0);
}

/// The program writes to a pipe whose reader has closed it, as `head` does early; to standard error, too, as with `2>&1`.
#[test]
fn whoever_has_read_enough_is_no_failure() {
    let folder = Folder::with(&crate::float_wav(8000, &[vec![0.5; 40_000]]));
    for line in [
        "bands in.wav --csv -",
        "bands in.wav --json -",
        "render in.wav -o -",
        "render in.wav -o all/ -v --force",
        "render in.wav -o {name}-{preset}.wav --preset organ,arcade --json --force",
        "render in.wav -o out/ --dry-run",
        "presets list",
        "presets show reference",
        "completions bash",
        "bench --seconds 0.1 --kernel scalar",
    ] {
        for errors_too in [false, true] {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            let mut program = folder.program(line);
            if errors_too {
                program.stderr(writer.try_clone().unwrap());
            }
            let output = program.stdout(writer).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(0), "{line}: {said}");
            assert!(!said.contains("error") && !said.contains("panicked"), "{line}: {said}");
        }
    }
    assert!(folder.path("in-arcade.wav").exists(), "the other preset is rendered, too");
}
