//! MIDI files that play the keys (`--keys`), and the tempo (`--tempo`).

use crate::{
    Folder,
    batch::json,
    float_wav,
    notes::written,
    signals::{noisy_chord, sine},
};
use midly::{
    Format, Fps, Header, MetaMessage, MidiMessage, PitchBend, Smf, Timing, TrackEvent,
    TrackEventKind,
    num::{u4, u15, u24, u28},
};
use std::fs;
use tone_filter_dsp::{KeyEvent, Keys, Settings, ToneFilter};
use tone_filter_presets::Preset;

const RATE: usize = 48_000;

/// Event of a track, with its time in ticks.
type Event = (u32, TrackEventKind<'static>);

fn midi(message: MidiMessage) -> TrackEventKind<'static> {
    TrackEventKind::Midi { channel: u4::new(3), message }
}

fn on(key: u8, velocity: u8) -> TrackEventKind<'static> {
    midi(MidiMessage::NoteOn { key: key.into(), vel: velocity.into() })
}

fn off(key: u8) -> TrackEventKind<'static> {
    midi(MidiMessage::NoteOff { key: key.into(), vel: 64.into() })
}

fn controller(controller: u8, value: u8) -> TrackEventKind<'static> {
    midi(MidiMessage::Controller { controller: controller.into(), value: value.into() })
}

fn tempo(quarter: u32) -> TrackEventKind<'static> {
    TrackEventKind::Meta(MetaMessage::Tempo(u24::new(quarter)))
}

fn song(format: Format, timing: Timing, tracks: &[&[Event]]) -> Vec<u8> {
    let track = |events: &&[Event]| {
        let mut now = 0;
        let delta = |(tick, kind): &Event| {
            let delta = u28::new(tick - now);
            now = *tick;
            TrackEvent { delta, kind: *kind }
        };
        let mut track: Vec<_> = events.iter().map(delta).collect();
        let kind = TrackEventKind::Meta(MetaMessage::EndOfTrack);
        track.push(TrackEvent { delta: u28::new(0), kind });
        track
    };
    let mut file = Vec::new();
    let header = Header::new(format, timing);
    Smf { header, tracks: tracks.iter().map(track).collect() }.write_std(&mut file).unwrap();
    file
}

/// Time unit of the tracks: 480 ticks per quarter note, which are 960 per second at the default tempo.
const TICKS: Timing = Timing::Metrical(u15::new(480));

fn track(events: &[Event]) -> Vec<u8> {
    song(Format::SingleTrack, TICKS, &[events])
}

/// Returns a folder with a second of A4 in `in.wav`, and `events` in `keys.mid`.
fn folder(events: &[Event]) -> Folder {
    let folder = Folder::with(&float_wav(RATE as u32, &[sine(440.0, 0.3, 1.0, RATE as f64)]));
    folder.put("keys.mid", &track(events));
    folder
}

fn rendered(folder: &Folder, flags: &str) -> Vec<f32> {
    folder.run(&format!("render in.wav -o out.wav --force --mix 100 {flags}"));
    folder.floats("out.wav").remove(0)
}

fn peak(samples: &[f32]) -> f32 {
    samples.iter().fold(0.0, |peak, sample| peak.max(sample.abs()))
}

#[test]
fn all_that_a_player_does_reaches_the_bands_at_its_time_in_every_kind_of_file() {
    type Play = fn(&mut ToneFilter);
    let bend = MidiMessage::PitchBend { bend: PitchBend::from_f32(0.5) };
    let played: [(u32, TrackEventKind<'static>, Play); 7] = [
        (2400, on(69, 100), |f| f.play(KeyEvent::Key(69, 100.0 / 127.0))),
        (4800, on(64, 64), |f| f.play(KeyEvent::Key(64, 64.0 / 127.0))),
        (9600, controller(64, 127), |f| f.play(KeyEvent::Sustain(true))),
        (14_400, midi(bend), |f| f.play(KeyEvent::Bend(1.0))),
        (26_400, controller(64, 0), |f| f.play(KeyEvent::Sustain(false))),
        (28_800, on(64, 0), |f| f.play(KeyEvent::Key(64, 0.0))),
        (33_600, controller(123, 0), |f| f.play(KeyEvent::ReleaseAll)),
    ];
    let input = noisy_chord(1.0, RATE as f64);
    let expected = [true, false].map(|lookahead| {
        let settings = Settings { mix: 100.0, keys: Keys::Hold, lookahead, ..Settings::default() };
        let mut filter = ToneFilter::new(RATE as f64, &settings).unwrap().with_channels(1);
        let (latency, delay) = (filter.latency(), filter.bank_delay());
        let mut expected = [&input[..], &vec![0.0; latency]].concat();
        let mut start = 0;
        for (sample, _, play) in &played {
            let end = *sample as usize + delay;
            filter.process(&mut [&mut expected[start..end]]);
            play(&mut filter);
            start = end;
        }
        filter.process(&mut [&mut expected[start..]]);
        expected.split_off(latency)
    });

    // A tick lasts 50 samples, and 25 samples from 0.5 s on, where the tempo doubles.
    let metrical = |sample: u32| if sample < 24_000 { sample / 50 } else { sample / 25 - 480 };
    let metre = [(0, tempo(500_000)), (480, tempo(250_000))];
    // A tick lasts 48 samples.
    let timecode = Timing::Timecode(Fps::Fps25, 40);
    let at = |tick: &dyn Fn(u32) -> u32| -> Vec<Event> {
        played.iter().map(|(sample, kind, _)| (tick(*sample), *kind)).collect()
    };
    let mut together = [&metre[..], &at(&metrical)].concat();
    together.sort_by_key(|event| event.0);
    // Note-on and note-off of E4 are in the same track.
    let is_e4 = |(_, kind): &Event| [on(64, 64), on(64, 0)].contains(kind);
    let (first, second): (Vec<_>, Vec<_>) = at(&metrical).into_iter().partition(is_e4);
    let folder = Folder::with(&float_wav(RATE as u32, &[input]));
    let smpte = song(Format::SingleTrack, timecode, &[&at(&|sample| sample / 48)]);
    for (name, file, flags, expected) in [
        ("format 0", song(Format::SingleTrack, TICKS, &[&together]), "", &expected[0]),
        (
            "format 1",
            song(Format::Parallel, TICKS, &[&metre, &second, &first]),
            "--lookahead=off",
            &expected[1],
        ),
        ("SMPTE", smpte, "", &expected[0]),
    ] {
        folder.put("keys.mid", &file);
        let out = rendered(&folder, &format!("--keys keys.mid {flags}"));
        assert!(out == *expected, "{name}");
    }
}

#[test]
fn a_key_that_two_tracks_share_is_released_by_the_last_one() {
    let folder = folder(&[]);
    let [one, two] = [[(0, on(69, 127)), (480, off(69))], [(480, on(69, 127)), (720, off(69))]];
    for tracks in [[&one[..], &two], [&two, &one]] {
        folder.put("keys.mid", &song(Format::Parallel, TICKS, &tracks));
        let out = rendered(&folder, "--keys keys.mid");
        assert!(peak(&out[30_000..35_000]) > 0.1 && peak(&out[40_000..]) < 1e-6);
    }
}

#[test]
fn modes_come_from_flags_and_presets() {
    // The key is an octave above the tone of the input.
    let folder = folder(&[(0, on(81, 127))]);
    let plain = rendered(&folder, "");
    let heard = |flags: &str| peak(&rendered(&folder, flags)[RATE / 2..]) > 0.1;
    assert!(!heard("--keys keys.mid"));
    assert!(heard("--keys keys.mid --key-mode add"));
    let any = Settings { keys: Keys::HoldAny, ..Settings::default() };
    folder.put("any.json", Preset::new("Any", any).to_json().as_bytes());
    assert!(heard("--keys keys.mid --preset any.json"));
    assert!(!heard("--keys keys.mid --preset any.json --key-mode hold"));
    assert!(rendered(&folder, "--preset any.json --key-mode off") == plain);

    let fail = |flags: &str| folder.fail(&format!("render in.wav -o new.wav {flags}"), 2);
    let unplayed = "nothing plays the keys; name a MIDI file with --keys, or add --key-mode off";
    assert_eq!(fail("--key-mode hold"), unplayed);
    assert_eq!(fail("--key-mode add"), unplayed);
    assert_eq!(fail("--preset any.json"), unplayed);
    let unused = "keys has no effect; leave out --key-mode off";
    assert_eq!(fail("--keys keys.mid --key-mode off"), unused);
    let line = fail("--keys keys.mid --key-mode all");
    assert_eq!(line, "key-mode = \"all\" is unknown; use off, hold, hold-any or add");
}

#[test]
fn bands_shows_what_the_keys_let_through() {
    let folder = folder(&[(240, on(69, 127)), (720, off(69))]);
    folder.run("bands in.wav --csv out.csv --json out.json --midi out.mid --keys keys.mid");
    let csv = fs::read_to_string(folder.path("out.csv")).unwrap();
    let lit = csv.lines().filter(|line| line.ends_with(",A4"));
    let times: Vec<f64> =
        lit.map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
    let [first, .., last] = times[..] else { panic!("{csv}") };
    assert!((0.24..0.27).contains(&first) && (0.73..0.76).contains(&last), "{times:?}");
    assert_eq!(csv.lines().filter(|line| !line.ends_with(",A4")).count(), 101 - times.len());
    let table = folder.json("out.json");
    let state = |moment: usize| table["moments"][moment]["states"][41].clone();
    assert_eq!([state(20), state(50), state(90)], ["muted", "saturated", "muted"]);
    // The written file is valid for `--keys`.
    assert_eq!(written(&folder, "out.mid").notes.len(), 1);
    rendered(&folder, "--keys out.mid");

    // The keys are played in the middle of the tone, because at its start and end every band has some signal.
    folder.put("keys.mid", &track(&[(480, on(88, 127)), (720, off(88))]));
    let said = folder.run("bands in.wav --csv out.csv --force --keys keys.mid");
    assert!(said.contains("no note was detected while its key was held; try other keys"), "{said}");
}

#[test]
fn a_held_key_is_an_active_note_whatever_the_listener_decides() {
    // The input is white noise, in which no note is detected.
    let folder = folder(&[(0, on(69, 127))]);
    folder.put("in.wav", &float_wav(RATE as u32, &[crate::signals::white(1.0, RATE as f64)]));
    let line = "render in.wav -o out.wav --json --keys keys.mid --threshold -60 --floor -90";
    let report = json(&folder, line, 0);
    assert_eq!(report["files"][0]["active_notes"], serde_json::json!(["A4"]));
}

#[test]
fn files_that_play_no_keys_are_named() {
    let folder = folder(&[(0, off(69)), (0, controller(64, 127)), (0, on(69, 0))]);
    folder.put("noise.mid", b"RIFF of another kind");
    folder.put("still.mid", &song(Format::SingleTrack, Timing::Metrical(0.into()), &[&[]]));
    for verb in ["render in.wav -o out.wav", "bands in.wav --csv out.csv"] {
        let fail = |name: &str| folder.fail(&format!("{verb} --keys {name}"), 1);
        let line = fail("none.mid");
        assert!(line.starts_with("none.mid: cannot be read ("), "{line}");
        assert_eq!(fail("keys.mid"), "keys.mid: holds no notes; give a MIDI file with notes");
        for (name, reason) in
            [("noise.mid", ""), ("in.wav", ""), ("still.mid", "its ticks have no length")]
        {
            let line = fail(name);
            let start = format!("{name}: not a MIDI file to play ({reason}");
            let end = "); give a standard MIDI file";
            assert!(line.starts_with(&start) && line.ends_with(end), "{line}");
        }
    }
}

#[test]
fn the_tempo_is_that_of_the_keys_unless_a_flag_sets_it() {
    let folder = folder(&[(0, on(69, 127)), (0, tempo(400_000)), (480, tempo(600_000))]);
    let played = |flags: &str| rendered(&folder, &format!("--keys keys.mid --sync 1/4 {flags}"));
    assert!(played("") == played("--tempo 150"), "the file's first tempo");
    assert!(played("") != played("--tempo 90"));

    let fail = |flags: &str| folder.fail(&format!("render in.wav -o new.wav {flags}"), 2);
    assert_eq!(fail("--tempo 90"), "tempo has no effect; add --sync, like --sync 1/8");
    let line = fail("--sync 1/4 --tempo 1001");
    assert_eq!(line, "tempo = \"1001\" is out of range; use 10 to 1000 BPM or auto");
    assert!(fail("--sync 1/5").starts_with("sync = \"1/5\" is unknown; use off, 1/1d, 1/1"));
}
