//! Laws of the settings that decide which notes sound, and at which pitch.

use super::{
    Outcome,
    hearing::{LEAD, Stage, audible, band, cadence, note, octaves, prelude, target},
    with,
};
use std::collections::BTreeMap;
use tone_filter_dsp::{
    Arp, BandMask, BandRange, Controls, Keys, Map, PitchClass, Routing, Scale, Score, SentEvent,
    SentNotes, Settings, Voice,
    listener::Model,
    notes::{A4, frequency},
};
use tone_filter_testkit::Note;

/// MIDI notes of a melody: no overtone lies near another note, and every transposition keeps them in range.
const MELODY: [i32; 4] = [61, 70, 64, 76];

/// Plays the melody, after a cadence if the scale follows the music, and compares its pitches with those by scale, map and
/// targets. Relative to the strongest, expected notes must be above -20 dB, and other pitches within 2 semitones below -30 dB.
pub fn sounds_on_target(controls: &Controls) -> Outcome {
    let start = prelude(&controls.settings);
    let begin = |index: usize| start + 0.7 * index as f64;
    let melody = MELODY.iter().enumerate();
    let mut notes: Vec<_> =
        melody.map(|(index, pitch)| note(f64::from(*pitch), begin(index), 0.55)).collect();
    if controls.settings.scale == Scale::Auto {
        notes.extend(cadence());
    }
    let heard = Stage::new(controls, notes).run();
    let settings = heard.filter.resolved();
    ensure!(settings.scale != Scale::Auto, "no key was found");
    let part = |index: usize| (begin(index) + 0.15, begin(index) + 0.52);
    let loudest = |pitch: f64, (from, to): (f64, f64)| heard.level(pitch, from, to);
    let all = MELODY.iter().enumerate();
    let most = all.clone().fold(-80f64, |most, (index, pitch)| {
        target(&settings, *pitch).map_or(most, |target| most.max(loudest(target, part(index))))
    });
    for (index, pitch) in all {
        let nominal = f64::from(*pitch) + octaves(&settings);
        let expected = target(&settings, *pitch);
        for offset in -2..=2 {
            let at = nominal + f64::from(offset);
            if !heard.is_resolved(at, 0.37) {
                continue;
            }
            let level = loudest(at, part(index)) - most;
            match expected {
                Some(target) if target == at => {
                    ensure!(level > -20.0, "{pitch} sounds at {level:.1} dB at {at}");
                }
                // Within the width of the analysis window.
                Some(target) if (target - at).abs() < 1.5 => {}
                _ => ensure!(level < -30.0, "{pitch} sounds at {at}, at {level:.1} dB"),
            }
        }
    }
    Ok(())
}

/// MIDI notes of a chord. No note lies at a low overtone of another one.
const CHORD: [i32; 5] = [58, 61, 65, 71, 76];

/// Minimum level of a sounding note in dB, relative to the strongest one. With the voice Soft, silent notes leak through the
/// bands of sounding ones.
const SOUNDS: f64 = -15.0;

/// Returns [`CHORD`] with each note moved by up to two semitones to fit the scale. If that is impossible, returns the chord
/// transposed as a whole.
fn fitting(controls: &Controls) -> [f64; 5] {
    let whole = audible(controls, CHORD);
    let moves = (0..5usize.pow(5)).map(|code| {
        let mut digits = code;
        CHORD.map(|pitch| {
            let moved = pitch + [0, 1, -1, 2, -2][digits % 5];
            digits /= 5;
            moved
        })
    });
    let fits = |chord: &[i32; 5]| {
        let overtones = [12, 19, 24, 28, 31];
        let apart = |low: &i32| chord.iter().all(|high| !overtones.contains(&(high - low)));
        chord.is_sorted_by(|low, high| high - low > 1)
            && chord
                .iter()
                .all(|pitch| audible(controls, [*pitch]) == [f64::from(*pitch)] && apart(pitch))
    };
    moves.into_iter().find(fits).map_or(whole, |chord| chord.map(f64::from))
}

/// Returns the levels of the notes of [`fitting`] in dB, relative to the strongest, in the last 0.3 s of 1 s.
fn chord(controls: &Controls) -> [f64; 5] {
    let pitches = fitting(controls);
    let notes = pitches.into_iter().zip([0.1, 0.09, 0.08, 0.07, 0.06]);
    let notes = notes.map(|(pitch, amplitude)| Note { amplitude, ..note(pitch, LEAD, 1.0) });
    let heard = Stage::new(controls, notes).run();
    let shift = octaves(&controls.settings);
    let levels = pitches.map(|pitch| heard.level(pitch + shift, LEAD + 0.65, LEAD + 0.98));
    let most = levels.iter().fold(-80f64, |most, level| most.max(*level));
    levels.map(|level| level - most)
}

pub fn voices(controls: &Controls) -> Outcome {
    for count in [1, 2, 3] {
        let levels = chord(&with(controls, |own| own.voices = count as f32));
        let sounding = levels.iter().filter(|level| **level > SOUNDS).count();
        ensure!((1..=count).contains(&sounding), "{sounding} notes, {count} at most: {levels:.0?}");
    }
    Ok(())
}

/// Counts the notes that sound. Notes that take turns are weaker than a note that stays.
pub fn arp(controls: &Controls) -> Outcome {
    for (arp, counts, level) in
        [(Arp::Off, 1..4, SOUNDS), (Arp::Up, 4..6, -30.0), (Arp::Fast, 4..6, -30.0)]
    {
        let most = controls.settings.voices.min(3.0);
        let levels = chord(&with(controls, |own| (own.arp, own.voices) = (arp, most)));
        let sounding = levels.iter().filter(|own| **own > level).count();
        ensure!(counts.contains(&sounding), "{arp:?}: {sounding} notes: {levels:.0?}");
    }
    Ok(())
}

/// Plays a chord and holds a key: of one of its notes, or two octaves above one. The listener does not choose the notes then, so
/// neighbouring notes leak through the bands of the held key.
pub fn keys(controls: &Controls) -> Outcome {
    let pitches = audible(controls, CHORD);
    for (keys, index, octaves_up) in [(Keys::Hold, 2, 0), (Keys::HoldAny, 1, 2)] {
        let controls = with(controls, |own| own.keys = keys);
        let held = vec![pitches[index] as u8 + 12 * octaves_up];
        let notes = pitches.map(|pitch| note(pitch, LEAD, 0.8));
        let levels = Stage { held, ..Stage::new(&controls, notes) }.run().note_levels(pitches);
        ensure!(levels[index] > -70.0, "{keys:?}: the held note is silent: {levels:.0?}");
        let others = levels.iter().enumerate().filter(|(other, _)| *other != index);
        let most = others.fold(-80f64, |most, (_, level)| most.max(*level)) - levels[index];
        ensure!(most < -12.0, "{keys:?}: another note sounds at {most:.1} dB");
    }
    Ok(())
}

/// Plays a note below the published range, but within the whole range.
pub fn range(controls: &Controls) -> Outcome {
    let lowered = 54 + controls.settings.transpose.round() as i32;
    let [pitch] = audible(&with(controls, |own| own.range = BandRange::Whole), [lowered]);
    let [[published], [whole]] = [BandRange::Published, BandRange::Whole].map(|range| {
        let controls = with(controls, |own| own.range = range);
        Stage::new(&controls, [note(pitch, LEAD, 0.8)]).run().note_levels([pitch])
    });
    ensure!(whole > published + 25.0, "{published:.1} dB published, {whole:.1} dB whole");
    Ok(())
}

pub fn bands(controls: &Controls) -> Outcome {
    let pitches = audible(controls, [69, 77]);
    let tone = band(&controls.settings, pitches[0] as i32).ok_or("out of reach")?;
    let controls = with(controls, |own| own.bands = BandMask::ALL.with(tone, false));
    let notes = pitches.map(|pitch| note(pitch, LEAD, 0.8));
    let [muted, kept] = Stage::new(&controls, notes).run().note_levels(pitches);
    ensure!(kept > -70.0 && muted < kept - 25.0, "{muted:.1} dB muted, {kept:.1} dB beside it");
    Ok(())
}

pub fn listen(controls: &Controls) -> Outcome {
    use tone_filter_dsp::Listen::{Main, Sidechain};
    let pitches = audible(controls, [72, 64]);
    for listen in [Main, Sidechain] {
        let mut controls = *controls;
        controls.routing.listen = listen;
        let [mut main, side] = pitches.map(|pitch| Stage::new(&controls, [note(pitch, LEAD, 0.8)]));
        main.held.extend(side.held);
        let [main, side] = Stage { side: Some(side.music), ..main }.run().note_levels(pitches);
        let (on, off) = if listen == Main { (main, side) } else { (side, main) };
        ensure!(on > -70.0 && off < on - 25.0, "{listen:?}: main {main:.1} dB, side {side:.1} dB");
    }
    Ok(())
}

/// Uses a score without notes, so that everything in the music counts as not played.
pub fn focus(controls: &Controls) -> Outcome {
    let [pitch] = audible(controls, [70]);
    let [[all], [half], [none]] = [0.0, 50.0, 100.0].map(|focus| {
        let controls = with(controls, |own| own.focus = focus);
        let score = Some(Score::default());
        Stage { score, ..Stage::new(&controls, [note(pitch, LEAD, 0.8)]) }
            .run()
            .note_levels([pitch])
    });
    ensure!(all > -70.0, "{all:.1} dB without focus");
    ensure!((all - half - 24.0).abs() < 3.0, "{:.1} dB of attenuation at 50 %", all - half);
    ensure!(none < all - 60.0, "{none:.1} dB at 100 %, {all:.1} dB at 0 %");
    Ok(())
}

/// Returns the number of played notes, added up over all blocks, for a chord under noise.
fn decisions(controls: &Controls) -> usize {
    let mut stage = Stage::new(
        controls,
        audible(controls, CHORD).map(|pitch| Note { amplitude: 0.02, ..note(pitch, LEAD, 0.6) }),
    );
    stage.music.drum_hits = (0..8).map(|turn| (0.1 * f64::from(turn), 0.05)).collect();
    let mut count = 0;
    stage.watch(|_, filter| count += filter.decisions().on.iter().filter(|on| **on).count());
    count
}

pub fn sensitivity(controls: &Controls) -> Outcome {
    let counts = [0.0, 50.0, 100.0]
        .map(|sensitivity| decisions(&with(controls, |own| own.sensitivity = sensitivity)));
    ensure!(
        counts[0] <= counts[1] && counts[1] <= counts[2] && counts[0] < counts[2],
        "{counts:?}"
    );
    Ok(())
}

/// Checks [`sounds_on_target`] for each of `values`, which `set` sets.
fn each_on_target<T: Copy, const N: usize>(
    controls: &Controls,
    values: [T; N],
    set: fn(&mut Settings, T),
) -> Outcome {
    values
        .into_iter()
        .try_for_each(|value| sounds_on_target(&with(controls, |own| set(own, value))))
}

pub fn listener(controls: &Controls) -> Outcome {
    each_on_target(controls, Model::ALL, |own, model| own.listener = model)
}

pub fn octave(controls: &Controls) -> Outcome {
    each_on_target(controls, [-2.0, 0.0, 1.0], |own, octave| own.octave = octave)
}

pub fn tuning(controls: &Controls) -> Outcome {
    each_on_target(controls, [415.0, 466.0], |own, tuning| own.tuning = tuning)
}

pub fn map(controls: &Controls) -> Outcome {
    each_on_target(controls, Map::ALL, |own, map| own.map = map)
}

pub fn any_root(controls: &Controls) -> Outcome {
    each_on_target(controls, [0, 7].map(PitchClass::new), |own, root| own.root = root)
}

pub fn transpose(controls: &Controls) -> Outcome {
    for transpose in [-7.0, 5.0] {
        let controls = with(controls, |own| own.transpose = transpose);
        let heard = Stage::new(&controls, [note(70.0, LEAD, 0.3)]).run();
        let band =
            f64::from(heard.filter.bands().bands[A4].angular_frequency) / std::f64::consts::TAU;
        let expected =
            frequency(A4, f64::from(heard.filter.resolved().tuning), f64::from(transpose));
        ensure!((band / expected - 1.0).abs() < 1e-3, "A4 at {band} Hz, not {expected}");
        sounds_on_target(&controls)?;
    }
    Ok(())
}

pub fn auto_tuning(controls: &Controls) -> Outcome {
    let notes = cadence().filter(|note| note.start < 5.0);
    let sharp = notes.map(|note| Note { pitch: note.pitch + 0.3, ..note });
    let heard = Stage::new(controls, sharp).run();
    let cents = 1200.0 * (heard.filter.resolved().tuning / controls.settings.tuning).log2();
    ensure!((cents - 30.0).abs() < 6.0, "{cents:.1} cents, not 30");
    Ok(())
}

/// Compares the keys of the sent note-ons with the pitch at which the note must sound.
pub fn midi_out(controls: &Controls) -> Outcome {
    for on in [false, true] {
        let mut controls = *controls;
        controls.routing = Routing { midi_out: on, ..controls.routing };
        let stage = Stage::new(&controls, [note(70.0, LEAD, 0.5)]);
        let (mut sent, mut keys) = (SentNotes::new(), Vec::new());
        let heard = stage.watch(|_, filter| {
            sent.push(filter, |event| {
                if let SentEvent::On { key, .. } = event {
                    keys.push(f64::from(key));
                }
            });
        });
        let expected =
            target(&heard.filter.resolved(), 70).filter(|_| on && !controls.routing.bypass);
        ensure!(
            keys.is_empty() == expected.is_none() || expected.is_none_or(|key| key > 127.0),
            "{keys:?}"
        );
        ensure!(keys.iter().all(|key| Some(*key) == expected), "{keys:?}, not {expected:?}");
    }
    Ok(())
}

/// Plays a note that is 20 cents sharp. The last pitch that was sent must be its key's; with MPE, it must be the pitch at which
/// the note sounds.
pub fn mpe(controls: &Controls) -> Outcome {
    for mpe in [false, true] {
        let mut controls = *controls;
        controls.routing = Routing { midi_out: true, mpe, ..controls.routing };
        let stage = Stage::new(&controls, [note(70.2, LEAD, 0.5)]);
        let (mut sent, mut pitches) = (SentNotes::new(), BTreeMap::new());
        let heard = stage.watch(|_, filter| {
            sent.push(filter, |event| match event {
                SentEvent::On { channel, key, bend, .. } => {
                    assert_eq!((channel > 0, bend.is_some()), (mpe, mpe), "{event:?}");
                    pitches.insert(key, f64::from(key) + f64::from(bend.unwrap_or(0.0)));
                }
                SentEvent::Bend { key, semitones, .. } => {
                    pitches.insert(key, f64::from(key) + f64::from(semitones));
                }
                SentEvent::Off { .. } | SentEvent::Zone { .. } => {}
            });
        });
        let settings = heard.filter.resolved();
        let expected = target(&settings, 70).filter(|key| !controls.routing.bypass && *key < 128.0);
        ensure!(pitches.len() == usize::from(expected.is_some()), "{pitches:?}, not {expected:?}");
        let Some(key) = expected else { continue };
        let [tuning, set] = [settings.tuning, controls.settings.tuning]
            .map(|tuning| 12.0 * (f64::from(tuning) / 440.0).log2());
        let share = if settings.voice == Voice::Soft { 1.0 } else { settings.vibrato / 100.0 };
        let sharp = tuning + f64::from(share) * (0.2 + set - tuning);
        let pitch = key + if mpe { sharp } else { 0.0 };
        let error = pitches.values().next().map_or(f64::NAN, |sent| sent - pitch);
        ensure!(error.abs() < 0.05, "{pitches:?}, not {pitch}");
    }
    Ok(())
}

/// Glides from E4 to G#4, and measures in the middle of the glide.
pub fn glide(controls: &Controls) -> Outcome {
    // Four semitones apart, as some scales have no fourth.
    let [from, to] = audible(controls, [64, 68]);
    let notes = [note(from, LEAD, 0.7), note(to, LEAD + 0.7, 0.8)];
    let [at_once, sliding] = [0.0, 300.0].map(|glide| {
        let heard = Stage::new(&with(controls, |own| own.glide = glide), notes).run();
        let shift = octaves(&controls.settings);
        let at = |start: f64, end: f64| {
            heard.pitch(to - 1.5 + shift, LEAD + start, LEAD + end) - shift - to
        };
        (at(0.80, 0.9), at(1.2, 1.45))
    });
    for (_, end) in [at_once, sliding] {
        ensure!(end.abs() < 0.15, "it ends {end:.2} off");
    }
    ensure!(at_once.0.abs() < 0.3, "{:.2} without a glide", at_once.0);
    ensure!((-3.5..-0.5).contains(&sliding.0), "{:.2} in the middle of a glide", sliding.0);
    Ok(())
}

/// Plays a note that is 20 cents sharp.
pub fn vibrato(controls: &Controls) -> Outcome {
    let [pitch] = audible(controls, [70]);
    for (vibrato, expected) in [(0.0, 0.0), (50.0, 10.0), (100.0, 20.0)] {
        let heard = Stage::new(
            &with(controls, |own| own.vibrato = vibrato),
            [note(pitch + 0.2, LEAD, 0.9)],
        )
        .run();
        let nominal = pitch + octaves(&controls.settings);
        let base =
            f64::from(heard.filter.resolved().tuning / controls.settings.tuning).log2() * 1200.0;
        let cents = 100.0 * (heard.pitch(nominal, LEAD + 0.45, LEAD + 0.85) - nominal);
        let expected = base + (expected / 20.0) * (20.0 - base);
        ensure!(
            (cents - expected).abs() < 3.0,
            "{cents:.1} cents at {vibrato} %, not {expected:.1}"
        );
    }
    Ok(())
}
