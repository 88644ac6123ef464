//! Tests of the functions that JavaScript calls. `bindings/web/test/song.mjs` compares the songs with the command's.

use super::*;
use tone_filter_dsp::{Controls, Settings, Voice};
use tone_filter_testkit::{root, wav};

fn write(web: &mut Web, text: &str) {
    song_write(web, text.len());
    web.bytes.copy_from_slice(text.as_bytes());
}

fn start(web: &mut Web, format: Format, preset: &Preset) -> bool {
    write(web, &preset.to_json());
    song_start(web, format as usize, 44_100.0, 2)
}

/// Returns the file of a song of the demo tune, made by the calls of a worker, with `length` frames a call.
fn made(format: Format, preset: &Preset, length: usize) -> Vec<u8> {
    let (signal, _) = wav::read(&root().join("assets/demo.wav")).unwrap();
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

#[test]
fn any_voice_becomes_the_voice_chip_with_calls_of_any_length() {
    let organ = Preset::factory("organ").unwrap();
    let chip = Settings { voice: Voice::Chip, ..organ.settings };
    let chip = Preset::new("Chip", chip);
    assert!(made(Format::Nsf, &organ, 44_100) == made(Format::Nsf, &chip, 10_007));
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
    // No samples, and a second of silence in stereo: neither has notes.
    for samples in [0, 88_200] {
        assert!(start(&mut web, Format::Midi, &Preset::factory("tone-filter").unwrap()));
        song_input(&mut web, samples);
        song_process(&mut web);
        write(&mut web, "silence");
        assert!(!song_finish(&mut web));
        assert!(web.text().unwrap().starts_with("No notes were found."));
    }
    assert!(start(&mut web, Format::Nsf, &Preset::factory("reference").unwrap()));
    song_input(&mut web, 88_200);
    let (left, right) = web.input.split_at_mut(44_100);
    left.iter_mut().enumerate().for_each(|(t, sample)| *sample = (t as f32 / 16.0).sin());
    right.iter_mut().zip(left).for_each(|(right, left)| *right = -*left);
    song_process(&mut web);
    write(&mut web, "opposite");
    assert!(!song_finish(&mut web));
    assert!(web.text().unwrap().contains("opposite polarity"), "{}", web.text().unwrap());
}
