//! MPE messages of the detected notes, read by a strict reader, and their pitches.

mod reader;

use reader::Mpe;
use std::sync::Arc;
use tone_filter_dsp::{
    Listen, Routing, Score, ScoreNote, SentNotes, Settings, ToneFilter, Voice, notes::A4,
};
use tone_filter_testkit::signals::{bent, glissando, vibrato};

const SENDS: Routing = Routing { bypass: false, listen: Listen::Main, midi_out: true, mpe: true };

fn filter(rate: f64, settings: &Settings) -> ToneFilter {
    let mut filter = ToneFilter::new(rate, settings).unwrap();
    filter.set_routing(SENDS);
    filter.detect_notes(true);
    filter.reset();
    filter
}

/// Returns the pitches within 1.5 semitones of `truth` that an MPE reader gets for `signal`: for each frame, the time in seconds,
/// and the pitches.
fn heard(
    rate: f64,
    settings: &Settings,
    mut signal: Vec<f32>,
    truth: impl Fn(f64) -> f64,
) -> Vec<(f64, Vec<f64>)> {
    let (mut filter, mut notes, mut mpe) =
        (filter(rate, settings), SentNotes::new(), Mpe::default());
    let (mut frames, mut heard) = (0, Vec::new());
    filter.process_with(&mut [&mut signal], |end, filter| {
        notes.push(filter, |event| event.midi(|message| mpe.read(message)));
        if frames != filter.decisions().frames {
            frames = filter.decisions().frames;
            let time = end as f64 / rate;
            let near = |(.., pitch): &(_, _, f64)| (pitch - truth(time)).abs() < 1.5;
            let pitches = mpe.sounding().filter(near).map(|(.., pitch)| pitch).collect();
            heard.push((time, pitches));
        }
    });
    assert!(mpe.zone && mpe.notes > 0);
    heard
}

/// Returns the delay in seconds at which the pitches best fit `truth` from 0.5 s on, and the maximum error in cents that remains.
fn fit(heard: &[(f64, Vec<f64>)], truth: impl Fn(f64) -> f64) -> (f64, f64) {
    let error = |delay: f64| {
        heard.iter().filter(|(time, _)| *time > 0.5).fold(0f64, |most, (time, pitches)| {
            assert!(!pitches.is_empty(), "no note at {time}");
            let off = |pitch: &f64| 100.0 * (pitch - truth(time - delay)).abs();
            pitches.iter().map(off).fold(most, f64::max)
        })
    };
    let delays = (0..160).map(|step| f64::from(step) * 0.0005);
    let fits = delays.map(|delay| (delay, error(delay)));
    fits.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
}

#[test]
fn vibrato_and_glissando_come_out_within_8_cents() {
    let signals = |rate: f64, note: f64| {
        let alone = [bent(6, 1.6, rate, vibrato(note)), bent(6, 1.6, rate, glissando(note))];
        // A fifth above the highest note.
        let fifth = [note, note + 4.0].map(|note| bent(6, 1.6, rate, move |_| note + 7.0));
        let mixed = |n: usize| alone[n].iter().zip(&fifth[n]).map(|(a, b)| a + b).collect();
        [alone.clone(), [mixed(0), mixed(1)]]
    };
    for (rate, note, voice) in [
        (44_100.0, 57.0, Voice::Soft),
        (48_000.0, 69.0, Voice::Square),
        (96_000.0, 81.0, Voice::Chip),
    ] {
        for [vibrated, gliding] in signals(rate, note) {
            for lookahead in [false, true] {
                // The voice Soft sounds at the detected pitch, whatever this setting.
                let vibrato_setting = if voice == Voice::Soft { 0.0 } else { 100.0 };
                let settings =
                    Settings { lookahead, voice, vibrato: vibrato_setting, ..Settings::default() };
                let pitches = [
                    fit(&heard(rate, &settings, vibrated.clone(), vibrato(note)), vibrato(note)),
                    fit(&heard(rate, &settings, gliding.clone(), glissando(note)), glissando(note)),
                ];
                for (delay, cents) in pitches {
                    let fits = cents <= 8.0 && (0.04..0.06).contains(&delay);
                    assert!(fits, "{rate} {note} {lookahead}: {cents} cents, {delay} s");
                }
            }
        }
    }
}

#[test]
fn twenty_notes_share_fifteen_channels_and_all_end() {
    // The notes begin one after the other, and end in the same order.
    let note = |n: usize| {
        let start = 0.1 * n as f64;
        ScoreNote { tone: A4 - 12 + n, start, end: start + 3.0, velocity: 100, place: 0.0 }
    };
    let score = Score::new((0..20).map(note));
    let mut filter = filter(48_000.0, &Settings::default());
    filter.set_score(Some(Arc::new(score)));
    let (mut notes, mut mpe, mut most) = (SentNotes::new(), Mpe::default(), 0);
    filter.process_with(&mut [&mut vec![0.0; 48_000 * 6]], |_, filter| {
        notes.push(filter, |event| event.midi(|message| mpe.read(message)));
        let channels: std::collections::BTreeSet<_> =
            mpe.sounding().map(|(channel, ..)| channel).collect();
        assert_eq!(channels.len(), mpe.sounding().count().min(15));
        most = most.max(mpe.sounding().count());
    });
    assert_eq!((mpe.notes, most, mpe.sounding().count()), (20, 20, 0));
}

#[test]
fn a_zone_follows_switch_bypass_and_reset() {
    let mut filter = filter(48_000.0, &Settings::default());
    let signal = bent(6, 0.5, 48_000.0, |_| 69.0);
    let (mut notes, mut mpe) = (SentNotes::new(), Mpe::default());
    let off = Routing { midi_out: false, ..SENDS };
    let bypassed = Routing { bypass: true, ..SENDS };
    for (routing, clears, zone) in [
        (SENDS, false, true),
        (off, false, false),
        (SENDS, false, true),
        (SENDS, true, true),
        (bypassed, false, false),
        (SENDS, false, true),
    ] {
        filter.set_routing(routing);
        if clears {
            filter.reset();
            notes.clear();
        }
        let mut zones = 0;
        filter.process_with(&mut [&mut signal.clone()], |_, filter| {
            notes.push(filter, |event| {
                event.midi(|message| {
                    zones += usize::from(message == [0xB0, 100, 6]);
                    mpe.read(message);
                });
            });
        });
        assert_eq!((zones, mpe.zone), (1, zone), "{routing:?}");
        assert_eq!(mpe.sounding().count() > 0, zone, "{routing:?}");
    }
    // As plain notes, all on the first channel.
    filter.set_routing(Routing { mpe: false, ..SENDS });
    let mut plain = Vec::new();
    filter.process_with(&mut [&mut signal.clone()], |_, filter| {
        notes.push(filter, |event| event.midi(|message| plain.push(message)));
    });
    let zone = plain.iter().position(|message| *message == [0xB0, 6, 0]).unwrap();
    plain.drain(..=zone).for_each(|message| mpe.read(message));
    assert!(!mpe.zone && !plain.is_empty());
    assert!(plain.iter().all(|message| matches!(message[0], 0x80 | 0x90)), "{plain:?}");
}
