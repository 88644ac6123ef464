use super::{TestEditor, marker};
use crate::editor::DEFAULT_SIZE;
use egui::{Key, Modifiers};
use tone_filter_dsp::{
    BandMask, BandState, KeyEvent, Keys, Map, PitchClass, PitchClasses, Scale, Settings, Targets,
    ToneFilter, Voice, notes,
};

#[test]
fn clicks_mute_and_alt_clicks_solo_bands_and_octaves() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    let (all, none, octave) = (BandMask::ALL, BandMask::NONE, "Octave 4");
    // C4 is three semitones above A3, the first tone.
    let [muted, solo] = [(all, false), (none, true)]
        .map(|(mask, on)| (3..15).fold(mask, |mask, tone| mask.with(tone, on)));
    editor.run("Band D5");
    assert_eq!(editor.log(), ["begin", "set", "end"], "the host must learn of the change");
    editor.run("Band D5");
    // Whether Alt is held, the step, and the bands that are on afterwards.
    for (alt, step, expected) in [
        (false, "Band D5", all.with(17, false)),
        (false, "Band D5", all),
        (true, "Band D#6", none.with(30, true)),
        (true, "Band E6", none.with(31, true)),
        (true, "Band E6", all),
        (false, octave, muted),
        (false, octave, all),
        (false, octave, muted),
        (false, octave, all),
        (false, "Undo", muted),
        (false, "Undo", all),
        // If one band of the octave is on, a click mutes it.
        (false, "Band D4", all.with(5, false)),
        (false, octave, muted),
        (false, octave, all),
        (true, octave, solo),
        (true, octave, all),
    ] {
        editor.hold(if alt { Modifiers::ALT } else { Modifiers::NONE });
        editor.run(step);
        let expected = Settings { bands: expected, ..Settings::default() };
        assert_eq!(editor.settings(), expected, "{step}");
    }
    // The keyboard does the same.
    for (modifiers, expected) in [(Modifiers::NONE, muted), (Modifiers::ALT, solo)] {
        editor.hold(modifiers);
        editor.focus(octave);
        editor.key(Key::Enter);
        assert_eq!(editor.settings().bands, expected);
    }
    editor.hold(Modifiers::NONE);
    editor.secondary_click(editor.place("Octave 1"));
    assert_eq!(editor.settings().bands, all);
}

#[test]
fn drags_and_right_clicks_switch_bands() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    let drag = |editor: &mut TestEditor, from: &str, to: &str| {
        let [from, to] = [from, to].map(|note| editor.place(note));
        editor.drag(from, to - from);
        editor.settings().bands
    };
    let painted = (15..=18).fold(BandMask::ALL, |mask, tone| mask.with(tone, false));
    assert_eq!(drag(&mut editor, "Band C5", "Band D#5"), painted);
    // The first cell of a drag decides whether the drag switches cells on or off.
    let more = painted.with(16, true);
    assert_eq!(drag(&mut editor, "Band C#5", "Band C#7"), more);
    editor.secondary_click(editor.place("Band B3"));
    assert_eq!(editor.settings(), Settings::default());
    for expected in [more, painted, BandMask::ALL] {
        editor.run("Undo");
        assert_eq!(editor.settings(), Settings { bands: expected, ..Settings::default() });
    }
}

#[test]
fn list_and_keyboard_set_the_scale() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    editor.run("Note C# in the scale");
    let (scale, custom) = (Scale::Custom, PitchClasses::ALL.with(4, false));
    assert_eq!(editor.settings(), Settings { scale, custom, ..Settings::default() });
    editor.run("Undo");
    assert_eq!(editor.settings(), Settings::default());
    editor.log();
    for (list, picked) in [("Scale: Chromatic", "Whole tone"), ("Root: A", "D#")] {
        editor.click(editor.place(list));
        editor.click_text(picked);
        assert_eq!(editor.log(), ["begin", "set", "end"], "{picked}");
    }
    let expected =
        Settings { scale: Scale::WholeTone, root: PitchClass::new(6), ..Settings::default() };
    assert_eq!(editor.settings(), expected);
}

#[test]
fn only_bands_that_may_sound_are_shown_as_sounding() {
    // A4, C5, E5 and G#5 sound. The key of C5 is held, G#5 is not in the scale, and E5 is muted by hand.
    let chord = [12, 15, 19, 23];
    let turns = chord.map(|tone| std::f64::consts::TAU * notes::frequency(tone, 440.0, 0.0) / 48e3);
    let wave = |frame| turns.iter().map(|turn| (turn * f64::from(frame)).sin()).sum::<f64>();
    let mut signal: Vec<f32> = (0..96_000).map(|frame| 0.1 * wave(frame) as f32).collect();
    let mut settings = Settings::REFERENCE;
    settings.bands = BandMask::ALL.with(19, false);
    (settings.scale, settings.custom) = (Scale::Custom, PitchClasses::ALL.with(23 % 12, false));
    let mut filter = ToneFilter::new(48_000.0, &settings).unwrap();
    filter.play(KeyEvent::Key(72, 1.0));
    filter.process(&mut [&mut signal]);

    let mut editor = TestEditor::new(DEFAULT_SIZE);
    for (keys, expected) in [
        (Keys::Off, &[12, 15][..]),
        (Keys::Hold, &[15]),
        (Keys::HoldAny, &[15]),
        (Keys::Add, &[12, 15]),
    ] {
        settings.keys = keys;
        filter.set_settings(&settings).unwrap();
        editor.edit(|edits| edits.change("test", |own| *own = settings));
        editor.display_filter(&filter);
        let sounds = |tone: &usize| {
            let marker = marker(&editor, *tone);
            marker.is_some_and(|(_, state)| state != BandState::Inactive)
        };
        let shown: Vec<usize> = settings.range.tones().filter(sounds).collect();
        assert_eq!(shown, expected, "{keys:?}");
    }

    // A held key makes a muted band sound.
    filter.play(KeyEvent::Key(76, 1.0));
    editor.display_filter(&filter);
    assert!(marker(&editor, 19).is_some_and(|(_, state)| state != BandState::Inactive));
}

#[test]
fn targets_are_dragged_or_picked_from_a_list() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    editor.edit(|edits| {
        edits.change("test", |settings| {
            (settings.map, settings.voice) = (Map::Custom, Voice::Square);
        });
    });
    editor.frame(vec![]);
    let start = editor.settings();
    let targets = |editor: &TestEditor| editor.settings().targets;
    let [own, to] = [(4, "C#"), (7, "E")];
    let [from, over] =
        [own, to].map(|(_, name)| editor.place(&format!("Note {name} sounds at {name}")));
    editor.drag(from, over - from);
    let drawn = Targets::IDENTITY.with(own.0, PitchClass::new(to.0));
    assert_eq!(targets(&editor), drawn);
    assert_eq!(editor.settings(), Settings { targets: drawn, ..start });

    editor.run("Note A sounds at A");
    editor.click_text("G#");
    assert_eq!(targets(&editor), drawn.with(0, PitchClass::new(11)));
    editor.run("Undo");
    assert_eq!(targets(&editor), drawn);

    editor.run("Note F sounds at F");
    editor.click_text("All to F");
    assert!((0..12).all(|class| targets(&editor).of(class).name() == "F"));
    editor.run("Note F sounds at F");
    editor.click_text("Each to itself");
    assert_eq!(editor.settings(), start);
}
