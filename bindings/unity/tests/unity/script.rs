//! Tests of the functions that `ToneFilter.cs` calls.

use crate::host::{Instance, RATE, expected, music, owned};
use AudioPluginToneFilter as unity;
use std::{ffi::c_int, ptr, sync::Arc};
use tone_filter_dsp::{KeyEvent, Keys, NoteValue, Score, Settings, ToneFilter, notes::TONES};
use tone_filter_presets::Preset;
use tone_filter_testkit::signals::sine;

type TextCall = unsafe extern "C" fn(c_int, *const u8, c_int) -> unity::Answer;

/// Effect with an instance number of its own, and the functions with which scripts reach it. `Host.cs` tests the functions in the
/// library's file, and their errors.
struct Scripted {
    number: c_int,
    effect: Instance,
}

impl Scripted {
    fn new(number: c_int) -> Self {
        let mut effect = Instance::new();
        effect.set("Instance", number as f32);
        Self { number, effect }
    }

    fn text(&self, call: TextCall, text: Option<&str>) -> Result<(), String> {
        let (pointer, length) = text.map_or((ptr::null(), 0), |text| (text.as_ptr(), text.len()));
        // SAFETY: the pointer is null, or the text has `length` bytes.
        answer(unsafe { call(self.number, pointer, length as c_int) })
    }

    fn score(&self, score: Option<&str>) -> Result<(), String> {
        self.text(unity::tone_filter_unity_set_score, score)
    }

    fn preset(&self, preset: Option<&str>) -> Result<(), String> {
        self.text(unity::tone_filter_unity_set_preset, preset)
    }

    fn seek(&self, seconds: f64, dsp_time: f64, length: f64) -> Result<(), String> {
        answer(unity::tone_filter_unity_seek(self.number, seconds, dsp_time, length))
    }

    fn key(&self, note: c_int, velocity: f32) -> Result<(), String> {
        answer(unity::tone_filter_unity_key(self.number, note, velocity))
    }

    fn read(&self, sounding: bool, count: usize) -> Vec<f32> {
        let mut levels = vec![9.0; count];
        let (number, sounding, to) = (self.number, sounding.into(), levels.as_mut_ptr());
        // SAFETY: `levels` has `count` numbers.
        let read = unsafe { unity::tone_filter_unity_read_bands(number, sounding, to, count as _) };
        answer(read).unwrap();
        levels
    }
}

fn answer(error: unity::Answer) -> Result<(), String> {
    if error.is_null() { Ok(()) } else { Err(owned(error)) }
}

fn filter() -> Box<ToneFilter> {
    Box::new(ToneFilter::new(RATE.into(), &Settings::default()).unwrap())
}

#[test]
fn scripts_and_the_editor_read_bands_by_pitch() {
    // The first band is the MIDI note 28.
    const A4: usize = 69 - 28;
    let mut scripted = Scripted::new(1);
    let mono = sine(440.0, 0.3, 1.0, RATE.into());
    let stereo: Vec<f32> = mono.iter().flat_map(|sample| [*sample; 2]).collect();
    scripted.effect.play(&stereo, &[]);
    let bands = scripted.read(false, TONES + 3);
    assert_eq!(bands[TONES..], [0.0; 3]);
    let strongest = (0..TONES).max_by(|a, b| bands[*a].total_cmp(&bands[*b]));
    assert_eq!(strongest, Some(A4));
    // A sine without other sound is at the ceiling.
    assert!((0.9..=1.0).contains(&bands[A4]), "{}", bands[A4]);
    let notes = scripted.read(true, TONES);
    let sounding: Vec<_> = (0..TONES).filter(|band| notes[*band] > 0.0).collect();
    assert_eq!((sounding, notes[A4]), (vec![A4], bands[A4]));
    assert_eq!(scripted.effect.read("Bands", TONES + 3), Some(bands));
    assert_eq!(scripted.effect.read("Notes", TONES), Some(notes));
    assert_eq!(scripted.effect.read("Spectrum", 4), None);
}

#[test]
fn a_score_starts_where_a_script_seeks() {
    const SCORE: &str = "tone-filter-score 1\n0 0.05 69\n0.3 2 69\n";
    let sound = music(2, 10_240);
    let of_filter = |seconds: f64| {
        let mut filter = filter();
        filter.set_score(Some(Arc::new(SCORE.parse::<Score>().unwrap())));
        filter.seek(seconds);
        expected(&mut filter, &sound, &[], 2)
    };
    let none = expected(&mut filter(), &sound, &[], 2);
    let mut scripted = Scripted::new(2);
    scripted.score(Some(SCORE)).unwrap();
    let played = scripted.effect.play(&sound, &[]);
    assert!(played == of_filter(0.0) && played != none);

    scripted.seek(0.25, f64::NAN, 0.0).unwrap();
    scripted.effect.reset();
    assert!(scripted.effect.play(&sound, &[]) == of_filter(0.25));

    // The clock is at 20 blocks; the music starts 5 blocks later.
    let block = 1024.0 / f64::from(RATE);
    scripted.seek(0.0, 25.0 * block, 0.0).unwrap();
    scripted.effect.reset();
    assert!(scripted.effect.play(&sound, &[]) == of_filter(-5.0 * block));

    // An effect that is created later is in time, too, and so is one whose mixer has rested.
    let mut late = Scripted::new(2);
    late.effect.skip(30 * 1024);
    assert!(late.effect.play(&sound, &[]) == of_filter(5.0 * block));
    late.effect.skip(7 * 1024);
    late.effect.reset();
    assert!(late.effect.play(&sound, &[]) == of_filter((5.0 + 10.0 + 7.0) * block));
    assert!(late.effect.play(&sound, &[]) != of_filter(0.0));

    scripted.score(None).unwrap();
    scripted.effect.reset();
    assert!(scripted.effect.play(&sound, &[]) == none);
}

#[test]
fn a_score_repeats_with_its_music() {
    // The music starts after 5 blocks, and is 12 blocks long.
    let block = 1024.0 / f64::from(RATE);
    let score = "tone-filter-score 1\n0 0.1 69\n";
    let of_filter = |sound: &[f32], seconds: f64, first: usize| {
        let mut filter = filter();
        filter.set_score(Some(Arc::new(score.parse().unwrap())));
        filter.seek(seconds);
        let (first, rest) = sound.split_at(first * 2048);
        let mut output = expected(&mut filter, first, &[], 2);
        for sound in rest.chunks(12 * 2048) {
            filter.seek(0.0);
            output.extend(expected(&mut filter, sound, &[], 2));
        }
        output
    };
    let mut scripted = Scripted::new(8);
    scripted.score(Some(score)).unwrap();
    scripted.seek(0.0, 5.0 * block, 12.0 * block).unwrap();
    let sound = music(2, 60 * 1024);
    assert!(scripted.effect.play(&sound, &[]) == of_filter(&sound, -5.0 * block, 5));

    // An effect whose mixer has rested continues in the 30th repetition, 3 blocks from its start.
    let mut late = Scripted::new(8);
    late.effect.skip((5 + 29 * 12 + 3) * 1024);
    assert!(late.effect.play(&sound, &[]) == of_filter(&sound, 3.0 * block, 9));
}

#[test]
fn each_instance_number_has_its_own_requests() {
    let (three, mut moved) = (Scripted::new(3), Scripted::new(4));
    three.score(Some("tone-filter-score 1\n0 2 69\n")).unwrap();
    let sound = music(2, 6144);
    let none = moved.effect.play(&sound, &[]);
    assert!(none == expected(&mut filter(), &sound, &[], 2));
    moved.effect.set("Instance", 3.0);
    moved.effect.reset();
    let scored = moved.effect.play(&sound, &[]);
    assert!(scored != none);
    moved.effect.set("Instance", 4.0);
    moved.effect.reset();
    assert!(moved.effect.play(&sound, &[]) == none);
}

#[test]
fn presets_tempo_and_keys_reach_the_filter() {
    let sound = music(2, 8192);
    let settings =
        Settings { mix: 60.0, keys: Keys::Hold, sync: NoteValue::new(6), ..Settings::default() };
    let mut scripted = Scripted::new(5);
    scripted.preset(Some(&Preset::new("Mine", settings).to_json())).unwrap();
    answer(unity::tone_filter_unity_set_tempo(5, 90.0)).unwrap();
    scripted.key(69, 0.5).unwrap();
    let mut filter = filter();
    filter.set_settings(&settings.at_tempo(90.0)).unwrap();
    filter.play(KeyEvent::Key(69, 0.5));
    assert!(scripted.effect.play(&sound, &[]) == expected(&mut filter, &sound, &[], 2));

    answer(unity::tone_filter_unity_release_keys(5)).unwrap();
    filter.play(KeyEvent::ReleaseAll);
    assert!(scripted.effect.play(&sound, &[]) == expected(&mut filter, &sound, &[], 2));

    scripted.preset(None).unwrap();
    filter.set_settings(&Settings::default()).unwrap();
    assert!(scripted.effect.play(&sound, &[]) == expected(&mut filter, &sound, &[], 2));
}
