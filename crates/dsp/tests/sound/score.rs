//! Scores, which replace the listener's decisions.

use std::sync::Arc;
use tone_filter_dsp::{
    BLOCK, BandMask, Map, Routing, Scale, Score, ScoreNote, SentNotes, Settings, ToneFilter, Voice,
    listener::notes::Notes,
    notes::{A4, TONES, midi_note, of_listener, to_listener},
};
use tone_filter_testkit::{signals::sine, sweep};

const RATE: f64 = 48_000.0;

fn note(tone: usize, start: f64, end: f64) -> ScoreNote {
    ScoreNote { tone, start, end, velocity: 100, place: 0.0 }
}

/// Returns notes of all tones, some of them simultaneous and some repeated.
fn song() -> Score {
    let note = |index: usize| {
        let start = 0.05 * index as f64;
        note(index * 31 % TONES, start, start + 0.02 + 0.013 * (index % 40) as f64)
    };
    Score::new((0..200).map(note))
}

fn filter(score: Score, settings: &Settings) -> ToneFilter {
    let mut filter = ToneFilter::new(RATE, settings).unwrap();
    filter.set_score(Some(Arc::new(score)));
    filter.reset();
    filter
}

fn played(filter: &ToneFilter) -> BandMask {
    let on = &filter.decisions().on;
    (0..TONES).fold(BandMask::NONE, |notes, tone| notes.with(tone, on[to_listener(tone)]))
}

#[test]
fn notes_that_map_moves_to_one_key_are_sent_as_one() {
    // C4 and C#4: in C major, C#4 moves to C4.
    let notes = |spans: [(f64, f64); 2]| {
        let tone = |key| (0..TONES).find(|tone| midi_note(*tone, 0.0) == key).unwrap();
        let [own, moved] = spans;
        Score::new([note(tone(60), own.0, own.1), note(tone(61), moved.0, moved.1)])
    };
    let settings = Settings {
        map: Map::Snap,
        scale: Scale::Major,
        root: "C".parse().unwrap(),
        voice: Voice::Sine,
        ..Settings::default()
    };
    // Returns the sent note-ons and note-offs: key, whether it is a note-on, and time.
    let sent = |score: Score| {
        let (mut filter, mut notes) = (filter(score, &settings), SentNotes::new());
        filter.set_routing(Routing { midi_out: true, ..Routing::default() });
        let latency = filter.latency() as f64 / RATE;
        let mut sent = Vec::new();
        filter.process_with(&mut [&mut [0.0; 120_000]], |samples, filter| {
            let time = samples as f64 / RATE - latency;
            notes.push(filter, |event| {
                event.midi(|[status, key, _]| sent.push((key, status == 0x90, time)));
            });
        });
        sent
    };
    for spans in [[(0.5, 2.0), (1.0, 1.5)], [(0.5, 1.5), (1.0, 2.0)], [(1.0, 1.5), (0.5, 2.0)]] {
        let sent = sent(notes(spans));
        let &[(60, true, on), (60, false, off)] = &sent[..] else { panic!("{sent:?}") };
        // A note is held for 35 ms after its end, and decisions are 12 ms apart.
        let is_due = |time: f64, due: f64| (0.0..0.06).contains(&(time - due));
        assert!(is_due(on, 0.5) && is_due(off, 2.0), "{sent:?}");
    }
}

#[test]
fn decisions_follow_the_score_after_a_seek() {
    [false, true].into_iter().for_each(seek);
}

fn seek(lookahead: bool) {
    let score = song();
    let mut filter = filter(score.clone(), &Settings { lookahead, ..Settings::default() });
    let (mut notes, mut held) = (Notes::live(), [false; TONES]);
    let mut random = 1_u64;
    for _ in 0..if sweep::all() { 1000 } else { 200 } {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let time = (random >> 33) as f64 / (1_u64 << 31) as f64 * 14.0 - 2.0;
        filter.seek(time);
        // Lasts as long as a player's note is held after its end, plus a block.
        let mut sound = [0.1; 45 * BLOCK];
        filter.process_with(&mut [&mut sound], |_, filter| {
            filter.report_notes(&mut notes, |event| {
                held[of_listener(event.note).unwrap()] = event.velocity.is_some();
            });
        });
        assert!((filter.score_time() - time - sound.len() as f64 / RATE).abs() < 1e-9);
        // The decisions are about the sound that leaves the delay.
        let end = time + (sound.len() - BLOCK - filter.bank_delay()) as f64 / RATE;
        let now = played(&filter);
        for (tone, held) in held.iter().enumerate() {
            let is = |from: f64| {
                score.notes().any(|note| note.tone == tone && note.start <= end && from < note.end)
            };
            assert_eq!(now.contains(tone), is(end), "{tone} at {end}");
            assert!(!held || is(end - 0.05), "{tone} is held at {end}");
        }
    }
}

#[test]
fn a_frozen_note_outlasts_the_score() {
    let settings = Settings { mix: 100.0, auto: false, ..Settings::default() };
    let mut filter = filter(Score::new([note(A4, 0.0, 1.0)]), &settings);
    for (freeze, sounds) in [(false, true), (true, true), (false, false)] {
        filter.set_settings(&Settings { freeze, ..settings }).unwrap();
        // The first sound is the note, the others are silent.
        let mut sound = sine(440.0, if freeze == sounds { 0.0 } else { 0.2 }, 0.9, RATE);
        filter.process(&mut [&mut sound]);
        let end = sound[sound.len() - 4800..].iter().fold(0f32, |peak, x| peak.max(x.abs()));
        assert_eq!(end > 0.01, sounds, "{freeze}: {end}");
    }
}

#[test]
fn without_a_score_the_listener_decides_again() {
    let settings = Settings::default();
    let mut filter = filter(Score::default(), &settings);
    let a4 = sine(440.0, 0.2, 1.0, RATE);
    filter.process(&mut [&mut a4.clone()]);
    assert_eq!(played(&filter), BandMask::NONE);
    let before = filter.set_score(None).unwrap();
    assert_eq!(*before, Score::default());
    filter.process(&mut [&mut a4.clone()]);
    assert!(played(&filter).contains(A4));
}
