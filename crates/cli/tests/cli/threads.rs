//! One file on several cores.

use crate::{Folder, float_wav, signals};
use std::fs;

/// Number of frames, just above the number from which a file is rendered on several threads.
const FRAMES: usize = (1 << 21) + 12_345;

/// Returns a folder with a chord of [`FRAMES`] frames at `rate` in `in.wav`.
fn long(rate: u32) -> Folder {
    let chord = signals::noisy_chord(4.0, f64::from(rate));
    Folder::with(&float_wav(rate, &[chord.iter().copied().cycle().take(FRAMES).collect()]))
}

#[test]
fn a_long_file_is_the_same_with_the_listener_on_a_thread_of_its_own() {
    // The listener also runs in the tail.
    let folder = long(48_000);
    for jobs in [1, 2] {
        folder.run(&format!("render in.wav -o {jobs}.wav --jobs {jobs} --tail 1"));
    }
    let [one, two] = ["1.wav", "2.wav"].map(|name| fs::read(folder.path(name)).unwrap());
    assert!(one == two);
}

#[test]
fn a_long_pipe_is_read_on_two_threads() {
    // At a high rate, the listener makes fewer decisions.
    let folder = long(192_000);
    let piped = fs::read(folder.path("in.wav")).unwrap();
    for flags in ["--tail auto", "--normalize-peak -1", "--sample-rate 48000"] {
        folder.run(&format!("render in.wav -o file.wav --force --jobs 1 {flags}"));
        let mut command = folder.command(&format!("render - -o - --jobs 2 {flags}"));
        let output = command.write_stdin(piped.clone()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{flags}: {said}");
        assert!(output.stdout == fs::read(folder.path("file.wav")).unwrap(), "{flags}");
    }
}
