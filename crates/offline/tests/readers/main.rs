//! Faulty files are read, or refused with one line that names the file, in bounded time and with memory in proportion to
//! their size.
//!
//! The faults are the same in every run, 1000 cases for each file of `crates/cli/tests/cli/corpus`. `FUZZ_CASES=100000 cargo test
//! -p tone-filter-offline --release --test readers` tries more.

#[path = "../../../../fuzz/src/decode.rs"]
mod decode;
mod mutation;

use decode::Verdict;
use mutation::Mutator;
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
use tone_filter_testkit::heap;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

/// Maximum memory in bytes that does not depend on the size of a file: read-ahead buffers, the tables of a decoder, and the
/// longest block of a format (FLAC: 65 535 frames of 8 channels, as integers and as floats).
const FIXED: usize = 12 << 20;

/// Maximum memory in bytes for each byte of a file: an 8-bit sample becomes a float of four bytes, metadata may be stored as
/// bytes and as text, and a vector that grows is stored twice.
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

/// Silences the panics of decoders: a backtrace takes memory, which would count as the file's.
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

/// Asserts all bounds. Returns whether a file with `bytes` can be read. If `rendered`, asserts that its output is complete or
/// missing.
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

/// Runs [`check`], and prints the case if it panics.
fn checked(what: &str, bytes: &[u8], rendered: bool) -> bool {
    let extension = what.split([' ', '.']).nth(1).unwrap();
    let done =
        watched(what, || catch_unwind(AssertUnwindSafe(|| check(extension, bytes, rendered))));
    done.unwrap_or_else(|_| panic!("{what}: see above"))
}

fn fuzz(names: &[&str]) {
    silence_decoders();
    let cases = std::env::var("FUZZ_CASES").map_or(1000, |cases| cases.parse().unwrap());
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/cli/corpus");
    let files: Vec<Vec<u8>> =
        names.iter().map(|name| fs::read(corpus.join(name)).unwrap()).collect();
    for (index, (name, bytes)) in names.iter().zip(&files).enumerate() {
        assert!(checked(name, bytes, true), "{name} itself can be read");
        let mut readable = 0;
        for case in 0..cases {
            let mut mutator = Mutator::new(case);
            let other = &files[(index + mutator.below(files.len())) % files.len()];
            let mutated = mutator.mutate(bytes, other);
            // Rendering is slow because of the disk, so only some cases are rendered.
            let rendered = case % 4 == 0;
            let what = format!("{name} case {case}");
            readable += u64::from(checked(&what, &mutated, rendered));
        }
        // Some files must still be readable, or the faults would test only the first checks.
        assert!(readable > cases / 50, "{name}: only {readable} of {cases} were read");
    }
}

#[test]
fn wav_is_read_or_refused() {
    fuzz(&["bext.wav", "rf64.wav", "surround.wav"]);
}

#[test]
fn flac_is_read_or_refused() {
    fuzz(&["tone.flac", "tagged.flac"]);
}

#[test]
fn aiff_is_read_or_refused() {
    fuzz(&["tone.aiff", "tagged.aifc"]);
}

#[test]
fn mp3_is_read_or_refused() {
    fuzz(&["tone.mp3", "tagged.mp3"]);
}

#[test]
fn ogg_is_read_or_refused() {
    fuzz(&["tone.ogg", "tagged.ogg", "tone.oga"]);
}

/// Appends the lowest `count` bits of `value`, the lowest first.
fn push_bits(bits: &mut Vec<bool>, value: u64, count: u32) {
    bits.extend((0..count).map(|bit| value.checked_shr(bit).unwrap_or(0) & 1 == 1));
}

/// Returns a file with the headers of `original` up to the codebooks, followed by 256 codebooks. Each has 131 072 entries of
/// equal length with 31 dimensions, all of one value.
fn with_great_codebooks(original: &[u8]) -> Vec<u8> {
    let mut bits = Vec::new();
    push_bits(&mut bits, 255, 8);
    for _ in 0..256 {
        for (value, count) in [
            (0x0056_4342, 24),
            (31, 16),
            (1 << 17, 24),
            // Ordered by length: 17 bits for all.
            (1, 1),
            (16, 5),
            (1 << 17, 18),
            // Lookup type 1, with values of one bit.
            (1, 4),
            (0, 64),
            (0, 4),
            (0, 1),
            (1, 1),
        ] {
            push_bits(&mut bits, value, count);
        }
    }
    // The rest is minimal: no transform, a floor, a residue, a mapping, a mode, the end.
    for (value, count) in [(0, 6 + 16 + 6), (1, 16), (0, 11 + 112 + 50 + 47), (1, 1)] {
        push_bits(&mut bits, value, count);
    }
    let setup = original.windows(7).position(|bytes| bytes == b"\x05vorbis").unwrap() + 7;
    let page = original[..setup].windows(4).rposition(|bytes| bytes == b"OggS").unwrap();
    let head = original[page + 27 + usize::from(original[page + 26])..setup].to_vec();
    let bytes = bits
        .chunks(8)
        .map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit)));
    let body: Vec<u8> = head.into_iter().chain(bytes).collect();

    let comment =
        original[page..setup].windows(7).position(|bytes| bytes == b"\x03vorbis").unwrap();
    let start = page + 27 + usize::from(original[page + 26]);
    let comment_len = setup - 7 - (page + comment);
    assert_eq!(page + comment, start, "the page begins with the comments");
    // Lengths of the two packets, in segments of up to 255 bytes.
    let lengths = [comment_len, body.len() - comment_len];
    let table: Vec<u8> = lengths
        .iter()
        .flat_map(|len| std::iter::repeat_n(255, len / 255).chain([(len % 255) as u8]))
        .collect();
    let mut file = original[..page + 26].to_vec();
    file.push(table.len() as u8);
    file.extend(table);
    file.extend(body);
    // Continues with the first page with sound, found by the time in its header.
    let has_sound =
        |at: &usize| original[*at..].starts_with(b"OggS") && original[at + 6..at + 14] != [0; 8];
    file.extend(&original[(setup..original.len()).find(has_sound).unwrap()..]);
    mutation::mend_ogg(&mut file);
    file
}

#[test]
fn tables_that_unpack_to_gigabytes_are_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/cli/corpus");
    let original = fs::read(corpus.join("tone.ogg")).unwrap();
    let file = with_great_codebooks(&original);
    assert!(file.len() < 10_000, "{}", file.len());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.ogg");
    fs::write(&path, &file).unwrap();
    let (done, peak) = heap::peak_of(|| read(&path, file.len()));
    let error = done.unwrap_err().to_string();
    assert!(error.contains("the size of its codebooks"), "{error}");
    assert!(peak < FIXED, "{peak}");
}

#[test]
fn all_formats_have_one_limit_of_channels() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/cli/corpus");
    let folder = tempfile::tempdir().unwrap();
    for (name, chunk, place) in
        [("surround.wav", b"fmt ", 10), ("bext.wav", b"fmt ", 10), ("tone.aiff", b"COMM", 8)]
    {
        let mut bytes = fs::read(corpus.join(name)).unwrap();
        let at = bytes.windows(4).position(|own| own == chunk).unwrap();
        if name == "bext.wav" {
            // Not PCM, but mu-law.
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

/// Returns a file made by ffmpeg of `original` with the coding `codec`, as `name`.
fn coded(original: &Path, codec: &str, name: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let mut ffmpeg = std::process::Command::new("ffmpeg");
    ffmpeg.args(["-v", "error", "-i"]).arg(original).args(["-c:a", codec]).arg(&path);
    assert!(ffmpeg.status().expect("this test needs ffmpeg").success(), "{name}");
    fs::read(path).unwrap()
}

/// Compares lossless formats only: how a decoder conceals faults in a lossy stream is not specified. `DECODE_CASES=1000 cargo
/// test -p tone-filter-offline --release --test readers decoded` tries more.
#[test]
fn faulty_files_are_decoded_as_by_ffmpeg_or_refused() {
    silence_decoders();
    let cases = std::env::var("DECODE_CASES").map_or(4, |cases| cases.parse().unwrap());
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/cli/corpus");
    let names = [
        "bext.wav",
        "rf64.wav",
        "surround.wav",
        "tone.aiff",
        "tagged.aifc",
        "tone.flac",
        "tagged.flac",
    ];
    let mut files = names.map(|name| (name, fs::read(corpus.join(name)).unwrap())).to_vec();
    let original = corpus.join("tone.flac");
    for (codec, name) in [
        ("pcm_s24le", "s24.wav"),
        ("pcm_mulaw", "mulaw.wav"),
        ("adpcm_ima_wav", "ima.wav"),
        ("adpcm_ms", "ms.wav"),
        ("pcm_s16be", "s16.caf"),
        ("alac", "alac.caf"),
        ("alac", "alac.m4a"),
    ] {
        files.push((name, coded(&original, codec, name)));
    }
    let mut judged = 0;
    for (name, bytes) in &files {
        assert_eq!(decode::compare(bytes), Verdict::Same, "{name}");
        for case in 0..cases {
            let mut mutator = Mutator::new(case);
            let other = &files[mutator.below(files.len())].1;
            let mutated = mutator.mutate(bytes, other);
            let what = format!("{name} case {case}");
            match watched(&what, || decode::compare(&mutated)) {
                Verdict::Differs(how) => panic!("{what}: {how}"),
                Verdict::Same => judged += 1,
                Verdict::Refused | Verdict::Doubtful => {}
            }
        }
    }
    assert!(judged >= cases, "only {judged} were compared");
}
