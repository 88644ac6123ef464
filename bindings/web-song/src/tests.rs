//! Tests of the functions that JavaScript calls, against the commands' way through a file.

use super::*;
use std::path::PathBuf;
use tone_filter_dsp::{Arp, Controls, Kernel, Settings, Voice};
use tone_filter_offline::{
    Input,
    analyse::analyse,
    arrangement::Arranger,
    beats::BeatRecorder,
    console::{self, Tags, nsf},
    found::Finder,
    timeline::Layout,
    tracker::{Chip, Module, furnace},
    transcribe::{Transcriber, midi},
};
use tone_filter_presets::Preset;
use tone_filter_testkit::{root, wav};

fn tune() -> PathBuf {
    root().join("assets/demo.wav")
}

fn write(web: &mut Web, text: &str) {
    song_write(web, text.len());
    web.bytes.copy_from_slice(text.as_bytes());
}

fn start(web: &mut Web, format: Format, preset: &Preset) -> bool {
    write(web, &preset.to_json());
    song_start(web, format as usize, 44_100.0, 2)
}

/// Makes a song of the demo tune as a worker does, with calls of `length` frames.
fn made(format: Format, preset: &Preset, length: usize) -> Vec<u8> {
    let (signal, _) = wav::read(&tune()).unwrap();
    let mut web = song_new();
    assert!(start(&mut web, format, preset));
    for begin in (0..signal[0].len()).step_by(length) {
        let end = signal[0].len().min(begin + length);
        let samples: Vec<f32> =
            signal.iter().flat_map(|channel| &channel[begin..end]).copied().collect();
        song_input(&mut web, samples.len());
        web.input.copy_from_slice(&samples);
        song_process(&mut web);
    }
    write(&mut web, "demo");
    assert!(song_finish(&mut web), "{}", web.text().unwrap());
    assert_eq!(song_length(&web), web.bytes.len());
    web.bytes
}

/// Reads the demo tune as the commands do, with a recorder.
fn read<T: Default>(
    settings: &Settings,
    push: fn(&mut T, &tone_filter_dsp::ToneFilter),
) -> (T, f64) {
    let mut own = T::default();
    let input = Input::new(&tune()).unwrap();
    let analysed = analyse(
        &input,
        (settings, &Default::default()),
        Kernel::default(),
        0.1,
        |filter| push(&mut own, filter),
        |_, _| Ok(()),
        |_| (),
    );
    (own, analysed.unwrap().seconds)
}

fn tags() -> Tags {
    Tags { title: "demo".into(), author: String::new() }
}

#[test]
fn a_tracker_song_is_that_of_the_command() {
    let preset = Preset::factory("sound-chip").unwrap();
    let settings = Settings { arp: Arp::Fast, lookahead: true, ..preset.settings };
    let (arranger, seconds) = read(&settings, Arranger::push);
    let arrangement = arranger.finish(seconds, &settings, None);
    let song = Module::new(&arrangement, Chip::Nes, None).unwrap();
    assert!(made(Format::Furnace, &preset, 44_100) == furnace(&song, &tags()));
}

#[test]
fn a_console_song_is_that_of_the_command() {
    let preset = Preset::factory("sound-chip").unwrap();
    let settings = Settings { lookahead: true, ..preset.settings };
    let (recorder, seconds) = read(&settings, console::Recorder::push);
    let song = console::Song::new(&recorder.finish(seconds), None);
    assert!(made(Format::Nsf, &preset, 10_007) == nsf(&song, &tags()).unwrap());
}

#[test]
fn a_midi_file_is_that_of_the_command() {
    struct Own(Transcriber, BeatRecorder, Finder);
    impl Default for Own {
        fn default() -> Self {
            Self(Transcriber::new(false), BeatRecorder::default(), Finder::default())
        }
    }
    let preset = Preset::factory("tone-filter").unwrap();
    let settings = Settings { lookahead: true, ..preset.settings };
    let push = |own: &mut Own, filter: &_| {
        own.0.push(filter);
        own.1.push(filter);
        own.2.push(filter);
    };
    let (Own(notes, beats, key), seconds) = read(&settings, push);
    let layout = Layout::new(None, beats.beats(seconds).as_ref(), key.found(&settings).key);
    let expected = midi(&notes.finish(seconds), 0.0, &layout);
    assert!(made(Format::Midi, &preset, 64) == expected);
}

#[test]
fn any_voice_becomes_the_voice_chip() {
    let organ = Preset::factory("organ").unwrap();
    let chip = Settings { voice: Voice::Chip, ..organ.settings };
    let chip = Preset::new("Chip", chip);
    let [own, expected] = [&organ, &chip].map(|preset| made(Format::Nsf, preset, 44_100));
    assert!(own == expected);
}

#[test]
fn errors_are_sentences() {
    let mut web = song_new();
    write(&mut web, "demo");
    assert!(!song_finish(&mut web));
    assert_eq!(web.text().unwrap(), "No song was begun.");
    write(&mut web, "{}");
    assert!(!song_start(&mut web, 0, 44_100.0, 2));
    assert!(!web.text().unwrap().is_empty());
    write(&mut web, &Preset::new("", Controls::default().settings).to_json());
    assert!(!song_start(&mut web, 0, 10.0, 2));
    assert!(web.text().unwrap().contains("10"), "{}", web.text().unwrap());
    for (format, channels, named) in
        [(3, 2, "format"), (usize::MAX, 2, "format"), (0, 0, "channels")]
    {
        write(&mut web, &Preset::factory("tone-filter").unwrap().to_json());
        assert!(!song_start(&mut web, format, 44_100.0, channels), "{format} {channels}");
        assert!(web.text().unwrap().contains(named), "{}", web.text().unwrap());
    }
    // Silence has no notes, and a file without samples has none either.
    for samples in [0, 88_200] {
        assert!(start(&mut web, Format::Midi, &Preset::factory("tone-filter").unwrap()));
        song_input(&mut web, samples);
        song_process(&mut web);
        write(&mut web, "silence");
        assert!(!song_finish(&mut web));
        assert!(web.text().unwrap().starts_with("No notes were found."));
    }
}
