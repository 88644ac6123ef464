//! The verb `chip`: its songs for consoles, as played by ffmpeg, and for trackers.

use crate::{Folder, SILENT, float_wav, signals::sine, silence, tempo::waltz};
use std::{f64::consts::TAU, fs};

const RATE: usize = 44_100;

/// Returns a WAV file with 1 s of silence, 2 s of A5 and 2 s of A3, with harmonics.
fn melody() -> Vec<u8> {
    let rate = RATE as f64;
    let note = |frequency: f64| {
        let partial = |n: f64| sine(n * frequency, 0.3 / n, 2.0, rate);
        let partials = [1.0, 2.0, 3.0, 4.0].map(partial);
        (0..2 * RATE).map(move |frame| partials.iter().map(|partial| partial[frame]).sum())
    };
    float_wav(
        RATE as u32,
        &[vec![0.0; RATE].into_iter().chain(note(880.0)).chain(note(220.0)).collect()],
    )
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

/// Returns the strongest pitch within 60 cents of `frequency`, in cents relative to it.
fn cents(samples: &[f32], frequency: f64) -> f64 {
    let at = |cents: f64| (amplitude(samples, frequency * (cents / 1200.0).exp2()), cents);
    let all = (-60..=60).map(|cents| at(f64::from(cents)));
    all.max_by(|(a, _), (b, _)| a.total_cmp(b)).unwrap().1
}

#[test]
fn ffmpeg_plays_the_notes() {
    let folder = Folder::with(&melody());
    let said = folder.run("chip in.wav -o out.nsf --title Melody");
    let bytes = folder.bytes("out.nsf").len();
    assert_eq!(said, format!("in.wav -> out.nsf: 5.00 s, 2 notes, {bytes} bytes\n"));
    let title = folder.tool("ffprobe -v error -show_entries format_tags=game -of csv=p=0 out.nsf");
    assert_eq!(title, b"Melody\n");
    // ffmpeg leaves out the silence at the start, and ends with a second of silence.
    let line = format!("ffmpeg -v error -i out.nsf -t 5 -ac 1 -ar {RATE} -f f32le -");
    let heard = folder.tool(&line);
    let heard: Vec<f32> = heard.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    let part =
        |from: f64, to: f64| &heard[(from * RATE as f64) as usize..(to * RATE as f64) as usize];
    let rms = |part: &[f32]| {
        (part.iter().map(|sample| f64::from(*sample).powi(2)).sum::<f64>() / part.len() as f64)
            .sqrt()
    };
    assert!(rms(part(0.3, 1.8)) > 0.05 && rms(part(2.3, 3.8)) > 0.05);
    assert!(rms(part(4.2, 4.7)) < 1e-3, "{}", rms(part(4.2, 4.7)));
    // The chip's nearest periods are 1.6 cents off. A5 is above C5, so it is a pulse of 25 %, without a 4th harmonic.
    let high = part(0.3, 1.8);
    let sharp = cents(high, 880.0);
    assert!(sharp.abs() < 8.0, "{sharp}");
    let sounds = 880.0 * (sharp / 1200.0).exp2();
    let [third, fourth] = [3.0, 4.0].map(|n| amplitude(high, n * sounds));
    assert!(fourth < 0.1 * third, "{fourth}, {third}");
    // The triangle channel plays the A3; it has odd harmonics only.
    let low = part(2.3, 3.8);
    assert!(cents(low, 220.0).abs() < 8.0, "{}", cents(low, 220.0));
    let [first, second] = [1.0, 2.0].map(|n| amplitude(low, n * 220.0));
    assert!(second < 0.02 * first, "{second}, {first}");
}

#[test]
fn vgm_goes_to_files_and_through_pipes() {
    let folder = Folder::new();
    folder.put("Über uns.wav", &melody());
    let mut command = folder.command("chip -o out.vgm");
    let output = command.arg("Über uns.wav").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let file = folder.bytes("out.vgm");
    assert_eq!(&file[..4], b"Vgm ");
    assert_eq!(file[0x18..0x1C], (301 * 735_u32).to_le_bytes());
    let title: Vec<u8> = "\0Über uns\0".encode_utf16().flat_map(u16::to_le_bytes).collect();
    // The first string of the tags follows a length whose upper bytes are zero.
    let tags = u32::from_le_bytes(file[0x14..0x18].try_into().unwrap()) as usize + 0x14;
    assert_eq!(file[tags + 10..][..title.len()], title, "the name of the file");

    let mut command = folder.command("chip - -o - --title out --quiet");
    let piped = command.write_stdin(melody()).output().unwrap();
    assert!(piped.stderr.is_empty());
    // The files are equal except for their tags.
    assert_eq!(piped.stdout[0x18..tags], file[0x18..tags]);

    let mut command = folder.command("chip - -o named.vgm");
    assert!(command.write_stdin(melody()).output().unwrap().status.success());
    let named: Vec<u8> = "\0named\0".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let own = folder.bytes("named.vgm");
    assert_eq!(own[tags + 10..][..named.len()], named, "the name of the output");

    fs::rename(folder.path("Über uns.wav"), folder.path("in.wav")).unwrap();
    folder.run("chip in.wav -o out.vgz");
    let unpacked = folder.tool("gzip -dc -S .vgz out.vgz");
    assert_eq!(unpacked[0x18..tags], file[0x18..tags]);
    folder.run("chip in.wav -o loop.vgm --loop 2500ms");
    let repeated = folder.bytes("loop.vgm");
    assert_eq!(repeated[0x20..0x24], (150 * 735_u32).to_le_bytes());
}

#[test]
fn what_cannot_be_written_is_said_in_one_line() {
    let folder = Folder::with(&silence());
    let extensions = ".vgm, .vgz, .nsf, .fur or .txt";
    let unsupported = format!("unsupported output format; use {extensions}");
    let folder_named = format!("is a folder; name a file that ends in {extensions}");
    for (flags, line) in [
        ("out.wav", format!("out.wav: {unsupported}")),
        ("out", format!("out: has no extension; use {extensions}")),
        (".", format!(".: {folder_named}")),
        ("out/", format!("out/: {folder_named}")),
        (
            "out.vgm --voice square",
            "only the voice chip plays on a console; leave out --voice".into(),
        ),
        ("out.vgm --chip snes", "chip = \"snes\" is unknown; use nes, gb or sms".into()),
        (
            "out.vgm --tempo fast",
            "tempo = \"fast\" is not a number in BPM; use 10 to 1000 BPM or auto".into(),
        ),
        ("out.vgm --loop 1", "loop = 1 s is not before the end of the song at 0 s".into()),
        ("out.vgm --loop -1", "loop = \"-1\" is out of range; use 0 to 86400 s".into()),
    ] {
        assert_eq!(folder.fail(&format!("chip in.wav -o {flags}"), 2), line);
    }
    // No folder is created.
    for out in ["out.vgm", "new/out.vgm"] {
        let line = folder.fail(&format!("chip none.wav -o {out}"), 1);
        assert!(line.starts_with("none.wav: cannot be read ("), "{line}");
    }

    let said = folder.run("chip in.wav -o out.vgm --preset organ --voice chip");
    let bytes = folder.bytes("out.vgm").len();
    assert_eq!(said, format!("{SILENT}in.wav -> out.vgm: 0.00 s, 0 notes, {bytes} bytes\n"));
    let line = folder.fail("chip in.wav -o out.vgm", 1);
    assert_eq!(line, "out.vgm: already exists; choose another name, or overwrite it with --force");
    assert_eq!(folder.run("chip in.wav -o out.vgm --force --quiet"), "");
}

#[test]
fn trackers_get_rows_on_the_beats() {
    let folder = Folder::with(&melody());
    for chip in ["nes", "gb", "sms"] {
        let said = folder.run(&format!("chip in.wav -o {chip}.fur --chip {chip} --title Melody"));
        let bytes = folder.bytes(&format!("{chip}.fur"));
        assert_eq!(bytes[0], 0x78, "zlib");
        assert!(said.starts_with(&format!("in.wav -> {chip}.fur: 5.00 s, ")), "{said}");
        assert!(said.ends_with(&format!(" notes, {} bytes\n", bytes.len())), "{said}");
    }
    // At 120 beats per minute, a row is 0.125 s: A5, FamiTracker's A-4, starts at row 8, and A3 at row 24.
    folder.run("chip in.wav -o out.txt --tempo 120 --title Melody --author Me");
    let text = fs::read_to_string(folder.path("out.txt")).unwrap();
    let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap();
    assert!(line("TITLE").ends_with("\"Melody\"") && line("AUTHOR").ends_with("\"Me\""));
    assert!(
        line("ROW 08 ").starts_with("ROW 08 : A-4 00 F ... : ... .. . ... : ... .. . ..."),
        "{text}"
    );
    assert!(line("ROW 18 ").starts_with("ROW 18 : A-2 00 "), "{text}");

    for (out, chip) in [("out.nsf", "gb"), ("out.txt", "sms")] {
        let line = folder.fail(&format!("chip in.wav -o {out} --chip {chip}"), 2);
        let reason = "unsupported output format for --chip";
        assert_eq!(line, format!("{out}: {reason} {chip}; use .fur, .vgm or .vgz"));
    }
    let line = folder.fail("chip in.wav -o again.fur --loop 9", 2);
    assert_eq!(line, "loop = 9 s is not before the end of the song at 5 s");
    let line = folder.fail("chip in.wav -o again.vgm --loop 5", 2);
    assert_eq!(line, "loop = 5 s is not before the end of the song at 5 s");
    let said = folder.run(&format!("chip in.wav -o again.txt --title {}", "a".repeat(32)));
    assert!(said.starts_with("warning: again.txt: FamiTracker stores 31 ASCII letters"), "{said}");
}

/// Returns the tempo in a message of `chip` or `bands`.
fn tempo(said: &str) -> Option<f64> {
    let (before, _) = said.split_once(" BPM")?;
    before.rsplit_once(' ')?.1.parse().ok()
}

#[test]
fn the_tempo_is_told() {
    let folder = Folder::with(&waltz(6));
    let found = tempo(&folder.run("bands in.wav --midi out.mid"));
    assert!(found.is_some_and(|tempo| (98.0..102.0).contains(&tempo)), "{found:?}");
    for line in ["out.fur", "out.txt --tempo auto", "gb.vgm --chip gb --force"] {
        assert_eq!(tempo(&folder.run(&format!("chip in.wav -o {line}"))), found, "{line}");
    }
    let followed = tempo(&folder.run("chip in.wav -o followed.vgm --sync 1/8 --tempo auto"));
    assert!(followed.is_some_and(|tempo| (97.0..103.0).contains(&tempo)), "{followed:?}");
    folder.put("in.wav", &waltz(1));
    for line in ["set.fur --tempo 90", "set.nsf --tempo 90 --sync 1/8"] {
        assert_eq!(tempo(&folder.run(&format!("chip in.wav -o {line}"))), Some(90.0), "{line}");
    }
    // The voice Chip's song has no rows, so it has no tempo.
    let said = folder.run("chip in.wav -o free.vgm");
    assert!(!said.contains("BPM"), "{said}");
    let line = folder.fail("chip in.wav -o idle.vgm --tempo 90", 2);
    assert_eq!(line, "tempo has no effect; add --sync, like --sync 1/8");
}

#[test]
fn any_preset_gets_the_voice_chip_and_arpeggios_in_rows() {
    let folder = Folder::with(&waltz(2));
    let song = |line: &str| {
        folder.run(&format!("chip in.wav --title a --force {line}"));
        folder.bytes(line.split(' ').nth(1).unwrap())
    };
    assert!(song("-o out.vgm --preset organ") == song("-o out.vgm --preset organ --voice chip"));
    let [fast, plain] =
        ["", " --arp fast"].map(|arp| song(&format!("-o out.txt --preset pizzicato{arp}")));
    assert!(fast == plain);
    assert!(fast != song("-o out.txt --preset pizzicato --arp off"));
}

#[test]
fn folders_are_made_and_chips_are_named_in_any_case() {
    let folder = Folder::with(&waltz(1));
    folder.run("chip in.wav -o new/deep/upper.vgm --chip GB --title a");
    folder.run("chip in.wav -o lower.vgm --chip gb --title a");
    let [upper, lower] = ["new/deep/upper.vgm", "lower.vgm"].map(|name| folder.bytes(name));
    assert!(upper == lower);
}

#[test]
fn ffmpeg_plays_the_registers_of_another_chip() {
    let folder = Folder::with(&melody());
    // Clock rates in Hz of the Game Boy and the SN76489.
    for (chip, at, clock) in [("gb", 0x80, 4_194_304_u32), ("sms", 0x0C, 3_579_545)] {
        let said = folder.run(&format!("chip in.wav -o {chip}.vgm --chip {chip} --tempo 120"));
        let file = folder.bytes(&format!("{chip}.vgm"));
        assert_eq!(file[at..at + 4], clock.to_le_bytes());
        assert!(said.starts_with(&format!("in.wav -> {chip}.vgm: 5.00 s, ")), "{said}");
    }
    folder.put("in.wav", &waltz(1));
    let default = folder.run("chip in.wav -o default.vgm --title nes");
    let nes = folder.run("chip in.wav -o nes.vgm --chip nes --title nes");
    assert_eq!(default.replace("default", "nes"), nes);
    let [default, nes] = ["default.vgm", "nes.vgm"].map(|own| folder.bytes(own));
    assert_eq!(default, nes);
    // libgme plays the SN76489, without the silence at the start: A5 for 2 s, then A3.
    let heard = folder.tool(&format!("ffmpeg -v error -i sms.vgm -ac 1 -ar {RATE} -f f32le -"));
    let heard: Vec<f32> = heard.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    for (from, frequency) in [(0.3, 880.0), (2.3, 220.0)] {
        let part = &heard[(from * RATE as f64) as usize..][..RATE * 5 / 4];
        // The chip's nearest periods are 0.9 and 0.2 cents off, and the window resolves a few cents.
        assert!(cents(part, frequency).abs() < 8.0, "{}", cents(part, frequency));
        assert!(amplitude(part, frequency) > 0.02, "{}", amplitude(part, frequency));
    }
}

#[test]
fn parts_are_tracks_of_a_midi_file() {
    let folder = Folder::with(&melody());
    folder.run("bands in.wav --midi out.mid --parts --tempo 120");
    let bytes = folder.bytes("out.mid");
    let file = midly::Smf::parse(&bytes).unwrap();
    let keys = |track: usize| {
        let mut now = 0;
        let notes = file.tracks[track].iter().filter_map(|event| {
            now += event.delta.as_int();
            let midly::TrackEventKind::Midi { message, .. } = event.kind else { return None };
            let midly::MidiMessage::NoteOn { key, .. } = message else { return None };
            Some((now, key.as_int()))
        });
        notes.collect::<Vec<_>>()
    };
    assert_eq!(file.tracks.len(), 5);
    // Clicks at the starts of notes may be detected as drums.
    assert_eq!([keys(1), keys(2), keys(3)], [vec![(960, 81), (2880, 57)], vec![], vec![]]);
    let both =
        folder.command("bands in.wav --midi out.mid --parts --quantize 1/16").output().unwrap();
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn a_title_that_nsf_cuts_is_warned_of() {
    let folder = Folder::with(&silence());
    let warning = "warning: out.nsf: NSF stores 31 ASCII letters of title and author; the rest is cut or replaced by ?\n";
    for (title, is_cut) in [("a".repeat(31), false), ("a".repeat(32), true), ("ü".into(), true)] {
        let said = folder.run(&format!("chip in.wav -o out.nsf --force --title {title}"));
        assert_eq!(said.starts_with(warning), is_cut, "{said}");
        let said = folder.run(&format!("chip in.wav -o out.vgm --force --title {title}"));
        assert!(!said.contains("NSF"), "{said}");
    }
}

#[test]
fn flags_without_an_effect_are_refused_or_warned_of() {
    let folder = Folder::with(&silence());
    for (flag, id) in [("--mix 50", "mix"), ("--tone=500", "tone"), ("--bypass", "bypass")] {
        let line = folder.fail(&format!("chip in.wav -o out.vgm {flag}"), 2);
        let reason = "a song, which has the chip's notes alone, without a mix; leave it out";
        assert_eq!(line, format!("--{id} has no effect on {reason}"));
    }
    for verb in ["chip in.wav -o out.fur", "render in.wav -o out.wav"] {
        let line = folder.fail(&format!("{verb} --drums"), 2);
        assert_eq!(line, "drums has no effect; name a MIDI file with --keys");
    }
    let said = folder.run("chip in.wav -o out.fur --voices 48 --glide 20 --vibrato 0 --arp up");
    let idle = "has no effect on the notes of the song";
    let [voices, exact] =
        ["each part plays one note or chord at a time", "their pitches are exact"];
    let warnings = [("voices", voices), ("glide", exact), ("vibrato", exact)]
        .map(|(id, reason)| format!("warning: --{id} {idle}: {reason}\n"));
    assert!(said.starts_with(&(warnings.concat() + SILENT)), "{said}");
    let said = folder.run("chip in.wav -o out.vgm --arp fast --voices 48");
    let reason = "Voices lets all notes sound, so none is left over; set it to 3 or so";
    assert!(said.starts_with(&format!("warning: --arp has no effect: {reason}\n")), "{said}");
    let said = folder.run("render in.wav -o out.wav --duty 50 --decay 3");
    for id in ["duty", "decay"] {
        let line = format!("warning: --{id} has no effect: it shapes the voice Chip only\n");
        assert!(said.contains(&line), "{said}");
    }
    let said = folder.run("render in.wav -o out.wav --force --duty 50 --quiet");
    assert_eq!(said, "");
}

#[test]
fn where_no_note_is_heard_there_is_advice() {
    let folder = Folder::with(&float_wav(48_000, &[crate::signals::white(1.0, 48_000.0)]));
    let said = folder.run("chip in.wav -o out.vgm");
    let advice = "warning: in.wav: no note was detected, as in drums, noise and speech; raise --";
    assert!(said.starts_with(advice) && said.contains(" 0 notes, "), "{said}");
}

#[test]
fn the_words_under_the_help_fill_their_lines() {
    let folder = Folder::new();
    let mut command = folder.command("chip --help");
    let help = String::from_utf8(command.env("COLUMNS", "80").output().unwrap().stdout).unwrap();
    let words: Vec<&str> =
        help.lines().skip_while(|line| !line.starts_with("For the NES")).collect();
    assert!(words.len() > 8, "{help}");
    for pair in words.windows(2).filter(|pair| !pair.contains(&"")) {
        let next = pair[1].split(' ').next().unwrap();
        assert!(pair[0].len() <= 80 && pair[0].len() + 1 + next.len() > 80, "{}", pair[0]);
    }
}
