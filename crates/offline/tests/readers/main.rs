//! Faulty files are either read, or refused with one line that names the file. This takes bounded time, and memory in
//! proportion to the size of the file. The test is a program of its own, because it needs its own allocator and panic hook.
//!
//! There are 1000 cases for each file of `crates/cli/tests/cli/corpus`, each the same in every run. An ordinary run draws a
//! tenth of them. For more cases: `TONE_FILTER_SWEEP=all FUZZ_CASES=100000 cargo test -p tone-filter-offline --release --test
//! readers`.

#[path = "../../../../fuzz/src/decode.rs"]
mod decode;
mod mutation;

use decode::Verdict;
use mutation::mutate;
use std::{
    fs,
    panic::{self, AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{
        Once,
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};
use tone_filter_offline::{Error, Input, Source, is_decoding, options::Options, render::render};
use tone_filter_testkit::{Draws, heap, sweep};

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

/// Maximum memory in bytes that does not depend on the size of a file: read-ahead buffers, the tables of a decoder, and the
/// longest block of a format (FLAC: 65 535 frames of 8 channels, as integers and as floats).
const FIXED: usize = 12 << 20;

/// Maximum memory in bytes for each byte of a file. An 8-bit sample becomes a float of four bytes. Metadata may be stored
/// twice, as bytes and as text. A vector that grows exists twice.
const PER_BYTE: usize = 16;

/// Maximum number of frames per byte of any format: FLAC codes 65 535 equal values in 12 bytes.
const FRAMES_PER_BYTE: usize = 65_535 / 12;

/// Timeout of a case; all take milliseconds.
const HANGS: Duration = Duration::from_secs(100);

/// Reads the file at `path`, of `len` bytes. Returns the number of its frames.
fn read(path: &Path, len: usize) -> Result<usize, Error> {
    let mut source = Source::open(&Input::new(path)?)?;
    let mut channels = vec![Vec::new(); usize::from(source.format().channels)];
    let mut frames = 0;
    loop {
        source.read(&mut channels, 4096)?;
        frames += channels[0].len();
        assert!(frames <= FRAMES_PER_BYTE * len, "it does not end");
        if channels[0].is_empty() {
            return Ok(frames);
        }
    }
}

/// Suppresses the panic messages of decoders: a backtrace takes memory, which would count as memory for the file.
fn silence_decoders() {
    static SILENCED: Once = Once::new();
    SILENCED.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !is_decoding() {
                print(panic);
            }
        }));
    });
}

/// Aborts the program if `work` does not end within the timeout.
fn watched<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let what = what.to_owned();
    let (done, wait) = channel::<()>();
    thread::spawn(move || {
        if wait.recv_timeout(HANGS) == Err(RecvTimeoutError::Timeout) {
            eprintln!("{what}: hangs");
            std::process::abort();
        }
    });
    let result = work();
    drop(done);
    result
}

/// Asserts all bounds for a file with the content `bytes`. Returns whether it can be read. If `rendered`, also renders it, and
/// asserts that the output is complete or missing.
fn check(extension: &str, bytes: &[u8], rendered: bool) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) =
        (folder.path().join("in").with_extension(extension), folder.path().join("out.wav"));
    fs::write(&input, bytes).unwrap();
    let check_message = |error: Error| {
        let line = error.to_string();
        assert!(!line.contains('\n'), "more than a line: {line}");
        assert!(line.starts_with(&*folder.path().to_string_lossy()), "it names no file: {line}");
    };
    let (done, peak) = heap::peak_of(|| read(&input, bytes.len()));
    assert!(peak <= FIXED + PER_BYTE * bytes.len(), "{peak} bytes of memory for {}", bytes.len());
    let readable = done.map_err(check_message).is_ok();
    if !rendered {
        return readable;
    }
    match render(&input, &output, &Options::default(), |_| ()) {
        Ok(report) => {
            assert!(readable, "rendered without being read");
            let out = fs::metadata(&output).unwrap().len() as usize;
            assert_eq!(read(&output, out).unwrap() as u64, report.frames);
        }
        // Rendering may fail for other reasons, such as a sample rate that is too low for the filter.
        Err(error) => {
            check_message(error);
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "something was left behind");
        }
    }
    readable
}

fn checked(what: &str, bytes: &[u8], rendered: bool) -> bool {
    let extension = what.split([' ', '.']).nth(1).unwrap();
    let done =
        watched(what, || catch_unwind(AssertUnwindSafe(|| check(extension, bytes, rendered))));
    done.unwrap_or_else(|_| panic!("{what}: see above"))
}

fn corpus(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/cli/corpus").join(name))
        .unwrap()
}

/// Runs [`checked`] on mutations of files of one format.
fn fuzz(names: &[&str]) {
    let cases = std::env::var("FUZZ_CASES").map_or(1000, |cases| cases.parse().unwrap());
    let files: Vec<Vec<u8>> = names.iter().map(|name| corpus(name)).collect();
    for (index, (name, bytes)) in names.iter().zip(&files).enumerate() {
        assert!(checked(name, bytes, true), "{name} itself can be read");
        let (mut readable, drawn) = (0, sweep::tenth(0..cases));
        for case in &drawn {
            let mut draws = Draws::seeded(*case);
            let other = &files[(index + draws.below(files.len())) % files.len()];
            let mutated = mutate(&mut draws, bytes, other);
            // Renders only some cases, because this writes to the disk, and is slow.
            let rendered = case % 4 == 0;
            let what = format!("{name} case {case}");
            readable += usize::from(checked(&what, &mutated, rendered));
        }
        // Some of the faulty files must still be readable. Otherwise the faults would test only the first checks of the
        // readers.
        let count = drawn.len();
        println!("{name}: {readable} of {count} were read");
        assert!(readable > count / 50, "{name}: only {readable} of {count} were read");
    }
}

#[test]
fn faulty_files_are_read_or_refused() {
    silence_decoders();
    thread::scope(|scope| {
        for names in [
            &["bext.wav", "rf64.wav", "surround.wav"][..],
            &["tone.flac", "tagged.flac"],
            &["tone.aiff", "tagged.aifc"],
            &["tone.mp3", "tagged.mp3"],
            &["tone.ogg", "tagged.ogg", "tone.oga"],
        ] {
            scope.spawn(move || fuzz(names));
        }
    });
}

#[test]
fn tables_that_unpack_to_gigabytes_are_refused() {
    // The file has 256 codebooks, each with 131 072 entries of 31 dimensions and one value.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers/codebooks.ogg");
    let (done, peak) = heap::peak_of(|| read(&path, 10_000));
    let error = done.unwrap_err().to_string();
    assert!(error.contains("the size of its codebooks"), "{error}");
    assert!(peak < FIXED, "{peak}");
}

#[test]
fn all_formats_have_one_limit_of_channels() {
    let folder = tempfile::tempdir().unwrap();
    for (name, chunk, place) in
        [("surround.wav", b"fmt ", 10), ("bext.wav", b"fmt ", 10), ("tone.aiff", b"COMM", 8)]
    {
        let mut bytes = corpus(name);
        let at = bytes.windows(4).position(|bytes| bytes == chunk).unwrap();
        if name == "bext.wav" {
            // Makes it mu-law, which has another decoder than PCM.
            bytes[at + 8] = 7;
        }
        for channels in [256u16, 4000] {
            let little = chunk == b"fmt ";
            let count = if little { channels.to_le_bytes() } else { channels.to_be_bytes() };
            bytes[at + place..][..2].copy_from_slice(&count);
            let path = folder.path().join(name);
            fs::write(&path, &bytes).unwrap();
            let error = read(&path, bytes.len()).unwrap_err().to_string();
            let reason = format!("has {channels} channels, more than 255; split the channels");
            assert_eq!(error, format!("{}: {reason}", path.display()));
        }
    }
}

/// Returns the file `name` that ffmpeg makes with `arguments`.
fn coded(name: &str, arguments: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let mut ffmpeg = std::process::Command::new("ffmpeg");
    ffmpeg.args(["-v", "error"]).args(arguments).arg(&path);
    assert!(ffmpeg.status().expect("this test needs ffmpeg").success(), "{name}");
    fs::read(path).unwrap()
}

/// Compares lossless formats only: how a decoder conceals faults in a lossy stream is not specified. For more cases:
/// `DECODE_CASES=1000 cargo test -p tone-filter-offline --release --test readers decoded`.
#[test]
fn faulty_files_are_decoded_as_by_ffmpeg_or_refused() {
    silence_decoders();
    let cases = std::env::var("DECODE_CASES").map_or(4, |cases| cases.parse().unwrap());
    let names = [
        "bext.wav",
        "rf64.wav",
        "surround.wav",
        "tone.aiff",
        "tagged.aifc",
        "tone.flac",
        "tagged.flac",
    ];
    let mut files = names.map(|name| (name, corpus(name))).to_vec();
    let original = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/cli/corpus/tone.flac");
    for (codec, name) in [
        ("pcm_s24le", "s24.wav"),
        ("pcm_mulaw", "mulaw.wav"),
        ("adpcm_ima_wav", "ima.wav"),
        ("adpcm_ms", "ms.wav"),
        ("pcm_s16be", "s16.caf"),
        ("alac", "alac.caf"),
        ("alac", "alac.m4a"),
    ] {
        files.push((name, coded(name, &["-i", original, "-c:a", codec])));
    }
    let mut judged = 0;
    for (name, bytes) in &files {
        assert_eq!(decode::compare(bytes), Verdict::Same, "{name}");
        for case in 0..cases {
            let mut draws = Draws::seeded(case);
            let other = &files[draws.below(files.len())].1;
            let mutated = mutate(&mut draws, bytes, other);
            let what = format!("{name} case {case}");
            match watched(&what, || decode::compare(&mutated)) {
                Verdict::Differs(how) => panic!("{what}: {how}"),
                Verdict::Same => judged += 1,
                Verdict::Unknown => {}
            }
        }
    }
    assert!(judged >= cases, "only {judged} were compared");
}
