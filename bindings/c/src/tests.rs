//! Tests of the C functions against the filter in Rust.

use super::*;
use std::{
    ffi::{CStr, CString, c_char},
    ptr,
};
use tone_filter_dsp::{Controls, Routing, Score, Setting, Settings, ToneFilter};
use tone_filter_presets::{self as presets, Preset, settings::from_json};
use tone_filter_testkit::{
    Automation, Draws, assert_same_bits, channels,
    heap::{self, counted},
};

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

const RATE: f64 = 44_100.0;

/// Returns a filter, which is never freed. `tests/programs.rs` tests [`tf_destroy`] with valgrind.
fn create(channels: u32, preset: &str) -> *mut Filter {
    let (preset, mut filter) = (CString::new(preset).unwrap(), ptr::null_mut());
    // SAFETY: both are valid.
    let status = unsafe { tf_create(RATE, channels, preset.as_ptr(), &raw mut filter) };
    assert_eq!(status, Status::Ok);
    filter
}

fn owned(text: *const c_char) -> String {
    // SAFETY: the library's texts are C strings.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned()
}

fn json(filter: *mut Filter) -> String {
    let mut buffer = [0; TF_TEXT_SIZE];
    // SAFETY: both are valid.
    let status = unsafe { tf_get_json(filter, buffer.as_mut_ptr(), buffer.len()) };
    assert_eq!(status, Status::Ok);
    owned(buffer.as_ptr())
}

fn set_json(filter: *mut Filter, json: &str) -> Status {
    let json = CString::new(json).unwrap();
    // SAFETY: both are valid.
    unsafe { tf_set_json(filter, json.as_ptr()) }
}

/// Returns `frames` frames of planar music with `count` different channels.
fn music(count: usize, frames: usize) -> Vec<Vec<f32>> {
    channels(&mut Draws::seeded(1), count, RATE, frames)
}

#[test]
fn real_time_functions_do_not_allocate() {
    let filter = create(2, "sound-chip");
    let (mut sound, mut bands) = (music(2, 4096), Vec::with_capacity(TF_BANDS));
    let channels = [sound[0].as_mut_ptr(), sound[1].as_mut_ptr()];
    let (mut frames, mut seconds, mut number) = (0, 0.0, 0.0);
    // SAFETY: all are valid.
    unsafe { tf_set_score(filter, c"tone-filter-score 1\n0 1 69\n0.01 2 70\n".as_ptr()) };
    let (statuses, calls) = counted(|| {
        tf_version();
        tf_error_message(3);
        // SAFETY: all pointers are valid.
        unsafe {
            [
                tf_set_text(filter, c"keys".as_ptr(), c" ADD".as_ptr()),
                tf_set_text(filter, c"root".as_ptr(), c"Bb".as_ptr()),
                tf_set_tempo(filter, 99.0),
                tf_set_number(filter, c"mix".as_ptr(), 70.0),
                tf_get_number(filter, c"mix".as_ptr(), &raw mut number),
                tf_key(filter, 69, 0.5),
                tf_sustain(filter, 1),
                tf_bend(filter, 1.5),
                tf_process(filter, channels.as_ptr().cast(), channels.as_ptr(), 4096),
                tf_process_interleaved(filter, channels[0], channels[0], 2048),
                tf_get_bands(filter, bands.as_mut_ptr()),
                tf_latency(filter, &raw mut frames),
                tf_tail(filter, &raw mut seconds),
                tf_release_keys(filter),
                tf_seek(filter, 0.5),
                tf_process_interleaved(filter, channels[0], channels[0], 2048),
                tf_seek(filter, 1.5),
                tf_reset(filter),
            ]
        }
    });
    assert_eq!(calls, 0);
    assert_eq!(statuses, [Status::Ok; 18]);
    assert_eq!(number, 70.0);
    // SAFETY: `tf_get_bands` has written all of them.
    unsafe { bands.set_len(TF_BANDS) };
    let sounding = bands.iter().filter(|band| band.state != BandState::Muted).count();
    assert!(sounding > 0 && bands[12].note == 69, "{bands:?}");
}

#[test]
fn automation_matches_the_library_bit_for_bit() {
    let automation = Automation::new(1, RATE);
    let filter = create(2, "tone-filter");
    let output = automation.play(256, |new, mut block| {
        for setting in Setting::all() {
            let Some(new) = new else { break };
            let [id, text] = [setting.id(), &setting.text(new)].map(|s| CString::new(s).unwrap());
            let number = setting.value(new);
            // SAFETY: all are valid.
            let status = unsafe {
                match setting {
                    Setting::Number(_) => tf_set_number(filter, id.as_ptr(), number),
                    _ => tf_set_text(filter, id.as_ptr(), text.as_ptr()),
                }
            };
            assert_eq!(status, Status::Ok, "{id:?}");
        }
        let block = block.each_mut().map(|channel| channel.as_mut_ptr());
        // SAFETY: both point to a block of two channels.
        let status = unsafe { tf_process(filter, block.as_ptr().cast(), block.as_ptr(), 256) };
        assert_eq!(status, Status::Ok);
    });
    assert_same_bits(&output, &automation.expected());
}

#[test]
fn interleaved_samples_and_scores_match_the_library() {
    let filter = create(2, "tone-filter");
    let text = c"tone-filter-score 1\n1 2 69\n";
    let [mut left, mut right] = music(2, 44_100).try_into().unwrap();
    let mut interleaved: Vec<f32> = left.iter().zip(&right).flat_map(|(l, r)| [*l, *r]).collect();
    // SAFETY: all are valid, or may be NULL.
    unsafe {
        assert_eq!(tf_set_score(filter, ptr::null()), Status::Ok);
        assert_eq!(tf_set_score(filter, text.as_ptr()), Status::Ok);
        assert_eq!(tf_seek(filter, 0.5), Status::Ok);
        assert_eq!(tf_set_score(filter, c"nonsense".as_ptr()), Status::Score);
        let samples = interleaved.as_mut_ptr();
        assert_eq!(tf_process_interleaved(filter, samples, samples, 44_100), Status::Ok);
    }
    assert!(owned(tf_last_error()).starts_with("line 1: is not "), "{}", owned(tf_last_error()));
    let mut library = ToneFilter::new(RATE, &Settings::default()).unwrap();
    library.set_score(Some(text.to_str().unwrap().parse::<Score>().unwrap().into()));
    library.seek(0.5);
    library.process(&mut [&mut left, &mut right]);
    let expected = left.iter().zip(&right).flat_map(|(left, right)| [left, right]);
    assert!(interleaved.iter().map(|x| x.to_bits()).eq(expected.map(|x| x.to_bits())));
}

#[test]
fn tables_match_the_library() {
    let filter = create(2, "reference");
    let mut count = 0;
    for (index, setting) in Setting::all().enumerate() {
        // SAFETY: the library's own table entries are valid.
        let info = unsafe { tf_setting_at(index).as_ref() }.unwrap();
        let texts = [info.id, info.name, info.unit].map(owned);
        assert_eq!(texts, [setting.id(), setting.name(), setting.unit()]);
        assert_eq!(info.entry_count, setting.entries().len(), "{texts:?}");
        if let Some((id, _)) = setting.entries().last() {
            // SAFETY: there are as many entries.
            assert_eq!(owned(unsafe { *info.entries.add(info.entry_count - 1) }), *id);
        }
        if !matches!(setting, Setting::Text(_)) {
            let initial = setting.value(&Controls::default());
            assert_eq!(([info.min, info.max], info.initial), (setting.range(), initial));
        }
        let mut buffer = [0; TF_TEXT_SIZE];
        // SAFETY: all are valid.
        let read = unsafe { tf_get_text(filter, info.id, buffer.as_mut_ptr(), buffer.len()) };
        let expected = match setting {
            Setting::Number(_) => (Status::Setting, String::new()),
            _ => (Status::Ok, setting.text(&Settings::REFERENCE.into())),
        };
        assert_eq!((read, owned(buffer.as_ptr())), expected);
        count += 1;
    }
    assert!(tf_setting_at(count).is_null());
    // The JSON has each setting once.
    let fields: serde_json::Map<_, _> = serde_json::from_str(&json(filter)).unwrap();
    assert_eq!(count, fields.len());
    assert!(json(filter).len() < TF_TEXT_SIZE / 2);
    assert_eq!(set_json(filter, r#"{"bypass": true}"#), Status::Ok);
    let routing = Routing { bypass: true, ..Routing::default() };
    for (index, id) in presets::ids().enumerate() {
        // SAFETY: the library's own table entries are valid.
        let info = unsafe { tf_preset_at(index).as_ref() }.unwrap();
        let preset = Preset::factory(id).unwrap();
        assert_eq!([owned(info.id), owned(info.name)], [id.to_owned(), preset.name]);
        // SAFETY: both are valid.
        assert_eq!(unsafe { tf_set_preset(filter, info.id) }, Status::Ok);
        let controls = Controls { settings: preset.settings, routing };
        assert_eq!(from_json(&json(filter)).unwrap(), controls);
    }
    assert!(tf_preset_at(presets::ids().count()).is_null());
}

#[test]
fn json_is_settings_or_a_preset() {
    let filter = create(2, "reference");
    let preset = Preset::new("Mine", Settings { mix: 12.5, ..Settings::REFERENCE });
    for (json, bypass) in [(preset.to_json(), true), (r#"{ "mix": 12.5 }"#.to_owned(), false)] {
        assert_eq!(set_json(filter, r#"{"mix": 1, "auto": true, "bypass": true}"#), Status::Ok);
        assert_eq!(set_json(filter, &json), Status::Ok, "{json}");
        let routing = Routing { bypass, ..Routing::default() };
        let controls = Controls { settings: preset.settings, routing };
        assert_eq!(from_json(&self::json(filter)).unwrap(), controls);
    }
}

#[test]
fn tail_and_latency_follow_tempo_and_lookahead() {
    let filter = create(2, "reference");
    assert_eq!(set_json(filter, r#"{"sync": "1/4", "lookahead": true}"#), Status::Ok);
    let settings = from_json(&json(filter)).unwrap().settings;
    let (mut before, mut after, mut frames) = (0.0, 0.0, 0);
    // SAFETY: all are valid.
    let statuses = unsafe {
        [
            tf_tail(filter, &raw mut before),
            tf_set_tempo(filter, 90.0),
            tf_tail(filter, &raw mut after),
            tf_latency(filter, &raw mut frames),
        ]
    };
    assert_eq!(statuses, [Status::Ok; 4]);
    let expected = [120.0, 90.0].map(|tempo| ToneFilter::tail(&settings.at_tempo(tempo)));
    assert_eq!(([before, after], frames), (expected, ToneFilter::lookahead(RATE)));
}

#[test]
fn a_panic_becomes_a_code_and_every_code_has_a_text() {
    assert_eq!(status::guard(|| panic!("on purpose")), Status::Panic);
    let texts: Vec<String> = (0..=12).map(|code| owned(tf_error_message(code))).collect();
    for (index, text) in texts.iter().enumerate() {
        assert!(text != "unknown status" && !texts[..index].contains(text), "{text}");
    }
    for code in [-1, 13, i32::MIN, i32::MAX] {
        assert_eq!(owned(tf_error_message(code)), "unknown status");
    }
}

#[test]
fn details_name_the_remedy_of_the_last_failure() {
    let filter = create(2, "reference");
    // SAFETY: both are valid.
    let number = |id: &CStr| unsafe { tf_set_number(filter, id.as_ptr(), 1.0) };
    // SAFETY: all are valid.
    let entry = |id: &CStr, text: &CStr| unsafe { tf_set_text(filter, id.as_ptr(), text.as_ptr()) };
    for (fault, words) in [
        (&(|| number(c"mixx")) as &dyn Fn() -> Status, "tf_setting_at() lists them"),
        (&|| number(c"voice"), "for tf_set_text()"),
        (&|| entry(c"mix", c"1"), "for tf_set_number()"),
        (&|| entry(c"keys", c"holds"), "use one of off, hold, hold-any, add"),
        (&|| set_json(filter, "{\n\"mix\" 3}"), "line 2"),
        (&|| set_json(filter, r#"{"mixx": 3}"#), "mixx"),
        (&|| set_json(filter, r#"{"mix": 300}"#), "use 0 to 100 %"),
        (&|| set_json(filter, r#"{"version": 9, "settings": {}}"#), "version 9"),
    ] {
        assert!(matches!(fault(), Status::Setting | Status::Entry | Status::Json), "{words}");
        assert!(owned(tf_last_error()).contains(words), "{}", owned(tf_last_error()));
    }
    // SAFETY: NULL is allowed.
    assert_eq!(unsafe { tf_reset(ptr::null_mut()) }, Status::Null);
    assert_eq!(owned(tf_last_error()), "");
}

#[test]
fn details_are_cut_and_belong_to_their_thread() {
    status::fail(Status::Range, "é".repeat(1000));
    assert_eq!(owned(tf_last_error()), "é".repeat(255));
    std::thread::spawn(|| assert_eq!(owned(tf_last_error()), "")).join().unwrap();
}

#[test]
fn the_version_is_the_plugin_s() {
    let version = format!("\nversion = {:?}\n", owned(tf_version()));
    assert!(include_str!("../../../Cargo.toml").contains(&version));
    let versions = include_str!("../Cargo.toml").matches(&version);
    assert_eq!(versions.count(), 2, "the package's and cargo-c's");
}
