//! The verb `chip`: its songs for consoles, which ffmpeg plays, and for trackers. `crates/song` tests the content of the files.

use crate::{Folder, SILENT, float_wav, signals, silence, tempo::waltz};
use std::{f64::consts::TAU, fs};

const RATE: usize = 44_100;

/// Returns a WAV file with 0.5 s of silence, 1 s of A5 and 1 s of A3, with harmonics.
fn melody() -> Vec<u8> {
    let note = |key: f64| signals::bent(4, 1.0, RATE as f64, |_| key);
    float_wav(RATE as u32, &[[vec![0.0; RATE / 2], note(81.0), note(57.0)].concat()])
}

fn amplitude(samples: &[f32], frequency: f64) -> f64 {
    let (mut re, mut im) = (0.0, 0.0);
    for (frame, sample) in samples.iter().enumerate() {
        let window = 1.0 - (TAU * frame as f64 / samples.len() as f64).cos();
        let (sin, cos) = (TAU * frequency * frame as f64 / RATE as f64).sin_cos();
        re += window * f64::from(*sample) * cos;
        im += window * f64::from(*sample) * sin;
    }
    2.0 * re.hypot(im) / samples.len() as f64
}

/// Asserts that ffmpeg plays the notes of [`melody`] from the file `name`. ffmpeg skips the silence at the start, so A5 comes
/// first.
fn assert_plays_melody(folder: &Folder, name: &str) {
    let heard = folder.tool(&format!("ffmpeg -v error -i {name} -t 2 -ac 1 -ar {RATE} -f f32le -"));
    let heard: Vec<f32> = heard.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    for (from, frequency) in [(0.1, 880.0), (1.1, 220.0)] {
        let part = &heard[(from * RATE as f64) as usize..][..RATE * 4 / 5];
        // Searches for the strongest pitch within 60 cents. The nearest periods of the chips are at most 1.6 cents off, and the
        // resolution is a few cents.
        let at = |cents: f64| (amplitude(part, frequency * (cents / 1200.0).exp2()), cents);
        let all = (-60..=60).map(|cents| at(f64::from(cents)));
        let (strongest, cents) = all.max_by(|(a, _), (b, _)| a.total_cmp(b)).unwrap();
        assert!(cents.abs() < 8.0 && strongest > 0.02, "{name}: {cents} cents, {strongest}");
    }
}

#[test]
fn songs_go_to_files_and_through_pipes() {
    let folder = Folder::with(&melody());
    fs::rename(folder.path("in.wav"), folder.path("Über uns.wav")).unwrap();
    let output = folder.command("chip -o out.vgm").arg("Über uns.wav").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let file = folder.bytes("out.vgm");
    assert_eq!(&file[..4], b"Vgm ");
    // VGM counts in samples at 44.1 kHz. A tick lasts 735 of them.
    assert_eq!(file[0x18..0x1C], (151 * 735_u32).to_le_bytes());
    // The first string of the tags is the title. Its length precedes it; the upper bytes of the length are zero.
    let tags = u32::from_le_bytes(file[0x14..0x18].try_into().unwrap()) as usize + 0x14;
    let has_title = |file: &[u8], title: &str| {
        let title = format!("\0{title}\0");
        let title: Vec<u8> = title.encode_utf16().flat_map(u16::to_le_bytes).collect();
        file[tags + 10..].starts_with(&title)
    };
    assert!(has_title(&file, "Über uns"), "the name of the file");

    let mut piped = folder.command("chip - -o - --quiet");
    let piped = piped.write_stdin(melody()).output().unwrap();
    assert!(piped.stderr.is_empty());
    // The files are equal except for their tags.
    assert_eq!(piped.stdout[0x18..tags], file[0x18..tags]);
    let mut named = folder.command("chip - -o new/deep/named.vgm");
    assert!(named.write_stdin(melody()).output().unwrap().status.success());
    assert!(has_title(&folder.bytes("new/deep/named.vgm"), "named"), "the name of the output");

    fs::rename(folder.path("Über uns.wav"), folder.path("in.wav")).unwrap();
    let said = folder.run("chip in.wav -o out.nsf --title Melody");
    let bytes = folder.bytes("out.nsf").len();
    assert_eq!(said, format!("in.wav -> out.nsf: 2.50 s, 2 notes, {bytes} bytes\n"));
}

#[test]
fn ffmpeg_plays_songs_and_gzip_unpacks_them() {
    let folder = Folder::with(&melody());
    folder.run("chip in.wav -o out.nsf --title Melody");
    folder.run("chip in.wav -o sms.vgm --chip sms");
    for name in ["out.nsf", "sms.vgm"] {
        assert_plays_melody(&folder, name);
    }
    let title = folder.tool("ffprobe -v error -show_entries format_tags=game -of csv=p=0 out.nsf");
    assert_eq!(title, b"Melody\n");
    folder.run("chip in.wav -o out.vgz --loop 1250ms");
    let unpacked = folder.tool("gzip -dc -S .vgz out.vgz");
    assert_eq!(unpacked[0x20..0x24], (75 * 735_u32).to_le_bytes());
}

#[test]
fn arrangements_have_rows_on_the_beats() {
    let folder = Folder::with(&melody());
    // Clock rates in Hz of the Game Boy and the SN76489, which libgme plays.
    for (flag, chip, at, clock) in
        [("GB", "gb", 0x80, 4_194_304_u32), ("sms", "sms", 0x0C, 3_579_545)]
    {
        let said = folder.run(&format!("chip in.wav -o {chip}.vgm --chip {flag} --tempo 120"));
        assert_eq!(folder.bytes(&format!("{chip}.vgm"))[at..at + 4], clock.to_le_bytes());
        assert!(said.starts_with(&format!("in.wav -> {chip}.vgm: 2.50 s, 120.0 BPM, ")), "{said}");
    }
    folder.run("chip in.wav -o out.fur");
    assert_eq!(folder.bytes("out.fur")[0], 0x78, "zlib");
    // At 120 beats per minute, a row lasts 0.125 s. So A5 (FamiTracker's name is A-4) starts at row 4, and A3 at row 12.
    folder.run("chip in.wav -o out.txt --tempo 120 --title Melody --author Me");
    let text = fs::read_to_string(folder.path("out.txt")).unwrap();
    let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap();
    assert!(line("TITLE").ends_with("\"Melody\"") && line("AUTHOR").ends_with("\"Me\""));
    let first = "ROW 04 : A-4 00 F ... : ... .. . ... : ... .. . ...";
    assert!(line("ROW 04 ").starts_with(first), "{text}");
    assert!(line("ROW 0C ").starts_with("ROW 0C : A-2 00 "), "{text}");

    folder.run("bands in.wav --midi out.mid --parts --tempo 120");
    let bytes = folder.bytes("out.mid");
    assert_eq!(midly::Smf::parse(&bytes).unwrap().tracks.len(), 5);
    let both = folder.command("bands in.wav --midi out.mid --parts --quantize 1/16").output();
    assert_eq!(both.unwrap().status.code(), Some(2));
    for (file, end) in [("a.fur --loop 9", "9 s"), ("a.vgm --loop 2.5", "2.5 s")] {
        let line = folder.fail(&format!("chip in.wav -o {file}"), 2);
        assert_eq!(line, format!("loop = {end} is not before the end of the song at 2.5 s"));
    }
}

/// Outputs and flags of lines that are refused, each with its message.
const REFUSED: &str = "\
out.wav | out.wav: unsupported output format; use .vgm, .vgz, .nsf, .fur or .txt
out | out: has no extension; use .vgm, .vgz, .nsf, .fur or .txt
. | .: is a folder; name a file that ends in .vgm, .vgz, .nsf, .fur or .txt
out/ | out/: is a folder; name a file that ends in .vgm, .vgz, .nsf, .fur or .txt
a.vgm --voice square | only the voice chip plays on a console; leave out --voice
a.vgm --chip snes | chip = \"snes\" is unknown; use nes, gb or sms
a.nsf --chip gb | a.nsf: unsupported output format for --chip gb; use .fur, .vgm or .vgz
a.txt --chip sms | a.txt: unsupported output format for --chip sms; use .fur, .vgm or .vgz
a.vgm --tempo fast | tempo = \"fast\" is not a number in BPM; use 10 to 1000 BPM or auto
a.vgm --tempo 90 | tempo has no effect; add --sync, like --sync 1/8
a.vgm --loop 1 | loop = 1 s is not before the end of the song at 0 s
a.vgm --loop -1 | loop = \"-1\" is out of range; use 0 to 86400 s
a.vgm --mix 50 | --mix has no effect on a song, which has the chip's notes alone, without a mix; leave it out
a.vgm --tone=500 | --tone has no effect on a song, which has the chip's notes alone, without a mix; leave it out
a.vgm --bypass | --bypass has no effect on a song, which has the chip's notes alone, without a mix; leave it out
a.fur --drums | drums has no effect; name a MIDI file with --keys";

#[test]
fn what_cannot_be_written_is_said_in_one_line() {
    let folder = Folder::with(&silence());
    for (flags, line) in REFUSED.lines().map(|row| row.split_once(" | ").unwrap()) {
        assert_eq!(folder.fail(&format!("chip in.wav -o {flags}"), 2), line);
    }
    // If the input is missing, no folder is created for the output.
    let line = folder.fail("chip none.wav -o new/out.vgm", 1);
    assert!(line.starts_with("none.wav: cannot be read ("), "{line}");

    let said = folder.run("chip in.wav -o out.vgm --preset organ --voice chip");
    let bytes = folder.bytes("out.vgm").len();
    assert_eq!(said, format!("{SILENT}in.wav -> out.vgm: 0.00 s, 0 notes, {bytes} bytes\n"));
    let line = folder.fail("chip in.wav -o out.vgm", 1);
    assert_eq!(line, "out.vgm: already exists; choose another name, or overwrite it with --force");
    assert_eq!(folder.run("chip in.wav -o out.vgm --force --quiet"), "");
}

/// Returns the tempo in a message of `chip` or `bands`.
fn tempo(said: &str) -> Option<f64> {
    let (before, _) = said.split_once(" BPM")?;
    before.rsplit_once(' ')?.1.parse().ok()
}

#[test]
fn the_tempo_is_told() {
    let folder = Folder::with(&waltz(5));
    let found = tempo(&folder.run("bands in.wav --midi out.mid"));
    assert!(found.is_some_and(|tempo| (98.0..102.0).contains(&tempo)), "{found:?}");
    assert_eq!(tempo(&folder.run("chip in.wav -o gb.vgm --chip gb --tempo auto")), found);
    let followed = tempo(&folder.run("chip in.wav -o followed.vgm --sync 1/8 --tempo auto"));
    assert!(followed.is_some_and(|tempo| (97.0..103.0).contains(&tempo)), "{followed:?}");

    folder.put("in.wav", &waltz(1));
    // A song of the voice Chip's registers has no rows, so it has no tempo of its own.
    for (line, told) in
        [("a.fur --tempo 90", 90.0), ("a.nsf --tempo 90 --sync 1/8", 90.0), ("a.vgm", 0.0)]
    {
        let said = folder.run(&format!("chip in.wav -o {line}"));
        assert_eq!(tempo(&said).unwrap_or(0.0), told, "{line}");
    }
    // Whatever the preset, the voice is Chip, and chords in rows are arpeggios.
    let song = |line: &str| {
        folder.run(&format!("chip in.wav --title a --force {line}"));
        folder.bytes(line.split(' ').nth(1).unwrap())
    };
    let flags = ["", " --voice chip --chip nes"];
    let [default, named] = flags.map(|flags| song(&format!("-o b.vgm --preset organ{flags}")));
    assert!(default == named);
    let arps = ["", " --arp fast", " --arp off"];
    let [plain, fast, off] = arps.map(|arp| song(&format!("-o b.txt --preset pizzicato{arp}")));
    assert!(plain == fast && plain != off);
}

#[test]
fn what_has_no_effect_or_place_is_warned_of() {
    let folder = Folder::with(&silence());
    for (format, name) in [("nsf", "NSF"), ("txt", "FamiTracker")] {
        let warning = format!(
            "warning: out.{format}: {name} stores 31 ASCII letters of title and author; the rest is cut or replaced by ?\n"
        );
        for (title, is_cut) in [("a".repeat(31), false), ("a".repeat(32), true), ("ü".into(), true)]
        {
            let said = folder.run(&format!("chip in.wav -o out.{format} --force --title {title}"));
            assert_eq!(said.starts_with(&warning), is_cut, "{said}");
        }
    }
    let said = folder.run(&format!("chip in.wav -o long.vgm --title {}", "ü".repeat(32)));
    assert!(!said.contains("letters"), "{said}");

    let said = folder.run("chip in.wav -o out.fur --voices 48 --glide 20 --vibrato 0 --arp up");
    let [voices, exact] =
        ["each part plays one note or chord at a time", "their pitches are exact"];
    let warnings = [("voices", voices), ("glide", exact), ("vibrato", exact)].map(|(id, why)| {
        format!("warning: --{id} has no effect on the notes of the song: {why}\n")
    });
    assert!(said.starts_with(&(warnings.concat() + SILENT)), "{said}");
    let said = folder.run("chip in.wav -o out.vgm --arp fast --voices 48");
    let reason = "Voices lets all notes sound, so none is left over; set it to 3 or so";
    assert!(said.starts_with(&format!("warning: --arp has no effect: {reason}\n")), "{said}");

    folder.put("in.wav", &float_wav(48_000, &[signals::white(0.5, 48_000.0)]));
    let said = folder.run("chip in.wav -o noise.vgm");
    assert!(said.starts_with("in.wav -> noise.vgm: 0.50 s, 0 notes, "), "{said}");
}
