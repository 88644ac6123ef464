//! Key, tuning and tempo of the music: estimates, and settings that follow them.

use crate::filtered;
use std::f64::consts::TAU;
use tone_filter_dsp::{
    Keys, NoteValue, PitchClass, Routing, Scale, SentNotes, Settings, SyncTo, ToneFilter,
    listener::Model,
    notes::{A4, pitch_class},
};
use tone_filter_testkit::{heap, signals::noise};

const RATE: f64 = 44_100.0;

/// Returns the default sound with scale, tuning and times following the music.
fn following() -> Settings {
    // A quarter note.
    let (sync, sync_to) = (NoteValue::new(8), SyncTo::Music);
    Settings { scale: Scale::Auto, auto_tuning: true, sync, sync_to, ..Settings::default() }
}

/// Enables or disables all searches.
fn find(filter: &mut ToneFilter, find: bool) {
    filter.find_key_and_tuning(find);
    filter.find_tempo(find);
}

/// Returns the chords I, IV, V, I, which repeat for `seconds`: 0.7 s each, of notes with overtones. The key is major with the
/// root `root` semitones above A, tuned `cents` above 440 Hz.
fn cadence(root: i32, cents: f64, seconds: f64, rate: f64) -> Vec<f32> {
    let chords = [[45, 57, 61, 64], [50, 57, 62, 66], [52, 56, 59, 64], [45, 57, 61, 64]];
    let tone = |note: i32, t: f64| {
        let f = 440.0 * ((f64::from(note + root - 69) + cents / 100.0) / 12.0).exp2();
        (1..=5).map(|n| (TAU * f64::from(n) * f * t).sin() / f64::from(n)).sum::<f64>()
    };
    (0..(seconds * rate) as usize)
        .map(|t| {
            let t = t as f64 / rate;
            let (turn, since) = ((t / 0.7) as usize, t % 0.7);
            let chord = chords[turn % 4].map(|note| tone(note, since));
            (0.1 * (-since).exp() * chord.iter().sum::<f64>()) as f32
        })
        .collect()
}

/// Returns the distance from 440 Hz in cents.
fn cents(hertz: f64) -> f64 {
    1200.0 * (hertz / 440.0).log2()
}

#[test]
fn bands_follow_the_tuning_at_any_rate_and_level() {
    for (rate, off, gain) in [
        (RATE, -38.0, 1.0),
        (RATE, 22.0, 0.001),
        (48_000.0, 40.0, 1.0),
        (22_050.0, 9.0, 0.1),
        (96_000.0, -20.0, 1.0),
    ] {
        let mut music = cadence(3, off, 8.0, rate);
        music.iter_mut().for_each(|sample| *sample *= gain);
        let mut filter = ToneFilter::new(rate, &following()).unwrap();
        filtered(&mut filter, &music);
        let found = cents(filter.found_tuning().unwrap());
        // The fifth partial is 14 cents flat of its semitone.
        assert!((found - off).abs() < 4.0, "{rate} {off}: {found}");
        let bands = cents(f64::from(filter.resolved().tuning));
        assert!((bands - found).abs() <= 2.5, "{rate} {off}: {bands}, found {found}");
        let band = filter.bands().bands[A4].angular_frequency / TAU as f32;
        assert!((cents(f64::from(band)) - bands).abs() < 0.1, "{rate} {off}: {band} Hz");
        assert_eq!(filter.settings().tuning, 440.0);
        // A tempo that is expected chooses among half and double tempi.
        let tempo = filter.found_tempo().unwrap();
        for times in [0.5, 1.0, 2.0] {
            filter.expect_tempo(Some(1.1 * times * tempo));
            assert_eq!(filter.found_tempo(), Some(times * tempo), "{rate}");
        }
    }
}

#[test]
fn a_steady_tempo_becomes_certain() {
    let mut filter = ToneFilter::new(RATE, &following()).unwrap();
    filtered(&mut filter, &cadence(0, 0.0, 30.0, RATE));
    let (tempo, certainty) = (filter.found_tempo().unwrap(), filter.tempo_certainty());
    assert!((tempo * 0.7 / 60.0 - 1.0).abs() < 0.01, "{tempo}");
    assert!((0.5..=1.0).contains(&certainty), "{certainty}");
}

#[test]
fn the_scale_follows_the_key() {
    let settings = Settings { root: PitchClass::new(5), ..following() };
    for root in [0, 3, 7] {
        let music = cadence(root, 0.0, 12.0, RATE);
        let mut filter = ToneFilter::new(RATE, &settings).unwrap();
        assert_eq!(filter.sounding_bands(), settings.range.bands(), "all, while there is no key");
        filtered(&mut filter, &music);
        let key = filter.found_key().unwrap();
        assert_eq!((key.root.index() as i32, key.scale), (root, Scale::Major));
        assert!(key.certainty > 0.6, "{root}: {}", key.certainty);
        let kept = Scale::Major.pitch_classes(key.root, settings.custom);
        let bands = filter.bands().bands;
        for tone in settings.range.tones() {
            let in_key = kept.contains(pitch_class(tone));
            assert_eq!(filter.sounding_bands().contains(tone), in_key, "{root} {tone}");
            assert_eq!(bands[tone].enabled, in_key, "{root} {tone}");
        }
        assert_eq!(filter.settings(), &settings);
    }
}

/// A search for the display changes no bit, neither at once nor after the settings have begun to follow key and tuning.
#[test]
fn a_search_for_display_changes_no_bit() {
    let music = cadence(2, 30.0, 6.0, RATE);
    for settings in [Settings::default(), Settings::REFERENCE, following()] {
        let [(plain, hidden), (shown, found)] = [false, true].map(|find| {
            let mut filter = ToneFilter::new(RATE, &settings).unwrap();
            self::find(&mut filter, find);
            let mut output = filtered(&mut filter, &music[..132_000]);
            let found = [filter.found_key().is_some(), filter.found_tempo().is_some()];
            filter.set_settings(&following()).unwrap();
            output.extend(filtered(&mut filter, &music[132_000..]));
            (output, found)
        });
        assert!(plain == shown);
        assert_eq!(found, [settings != Settings::REFERENCE; 2], "the listener is off there");
        assert_eq!(hidden, [settings == following(); 2]);
    }
}

#[test]
fn following_and_sending_notes_allocate_nothing() {
    let music = [0, 6].map(|root| cadence(root, 33.0, 8.0, RATE)).concat();
    let mut filter = ToneFilter::new(RATE, &following()).unwrap();
    filter.set_routing(Routing { midi_out: true, mpe: true, ..Routing::default() });
    let other = Settings {
        keys: Keys::Add,
        tuning: 430.0,
        lookahead: true,
        listener: Model::Light,
        sensitivity: 100.0,
        ..following()
    };
    let (mut notes, mut sent) = (SentNotes::new(), 0);
    let mut odd = noise(7);
    let mut output = music.clone();
    let ((), bytes) = heap::peak_of(|| {
        for (index, block) in output.chunks_mut(512).enumerate() {
            match index % 300 {
                100 => find(&mut filter, odd() > 0.0),
                150 => block[7] = f32::NAN,
                200 => filter.set_settings(&other).unwrap(),
                280 => filter.set_settings(&following()).unwrap(),
                _ => {}
            }
            filter.process_with(&mut [block], |_, filter| {
                notes.push(filter, |event| event.midi(|_| sent += 1));
            });
            assert!(filter.snapshot().tuning.is_none_or(f64::is_finite));
            assert!(filter.snapshot().tempo.is_none_or(f64::is_finite));
        }
    });
    assert_eq!(bytes, 0);
    assert!(output.iter().all(|sample| sample.is_finite()) && sent > 100);
    let found = |filter: &ToneFilter| {
        [
            filter.found_key().is_some(),
            filter.found_tuning().is_some(),
            filter.found_tempo().is_some(),
        ]
    };
    assert_eq!(found(&filter), [true; 3]);
    filter.reset();
    assert_eq!((found(&filter), filter.resolved().tuning), ([false; 3], 440.0));
}
