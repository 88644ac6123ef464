//! Tests of the functions that JavaScript calls. `bindings/web/test/song.mjs` compares the songs with the command's.

use super::*;

fn write(web: &mut Web, text: &str) {
    song_write(web, text.len());
    web.bytes.copy_from_slice(text.as_bytes());
}

#[test]
fn errors_are_sentences() {
    let mut web = song_new();
    write(&mut web, "demo");
    assert!(!song_finish(&mut web));
    assert_eq!(web.text().unwrap(), "No song was begun.");
    let json = &Preset::factory("reference").unwrap().to_json()[..];
    for (preset, format, rate, channels, words) in [
        ("{}", 0, 44_100.0, 2, ""),
        (json, 0, 10.0, 2, "10"),
        (json, 3, 44_100.0, 2, "format"),
        (json, usize::MAX, 44_100.0, 2, "format"),
        (json, 0, 44_100.0, 0, "channels"),
    ] {
        write(&mut web, preset);
        assert!(!song_start(&mut web, format, rate, channels), "{format} {rate} {channels}");
        let error = web.text().unwrap();
        assert!(!error.is_empty() && error.contains(words), "{error}");
    }
    // Left and right of opposite polarity, and silence in stereo: neither has notes.
    for (amplitude, words) in [(1.0, "opposite polarity"), (0.0, "No notes were found.")] {
        write(&mut web, json);
        assert!(song_start(&mut web, Format::Nsf as usize, 44_100.0, 2));
        song_input(&mut web, 88_200);
        for (index, sample) in web.input.iter_mut().enumerate() {
            let sign = if index < 44_100 { amplitude } else { -amplitude };
            *sample = sign * ((index % 44_100) as f32 / 16.0).sin();
        }
        song_process(&mut web);
        write(&mut web, "demo");
        assert!(!song_finish(&mut web));
        assert!(web.text().unwrap().contains(words), "{}", web.text().unwrap());
    }
}
