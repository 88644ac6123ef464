//! Tests of the piano roll, which replaces the grid.

use super::{TestEditor, band};
use crate::{
    capture::HeardNote,
    editor::{DEFAULT_SIZE, Layout, MIN_SIZE, roll::COLUMNS, theme},
};
use egui::{
    Color32, Event, ImageData, Key, Modifiers, OutputCommand, Rect, Shape, TextureId, pos2,
};
use std::fs;
use tone_filter_dsp::{
    BandRange, BandState, Bands,
    listener::beats::Beat,
    notes::A4,
    roll::{Cell, Rows},
};
use tone_filter_song::transcribe::Note;
use tone_filter_testkit::signals::noisy_chord;

/// Appends `bands` to the roll. `now` is the time of both the window and the capture.
fn push(editor: &mut TestEditor, bands: &Bands, bar: Option<i32>, now: f64) {
    editor.panel().roll.push(bands, bar, now, now);
}

/// Whether the roll is shown. Asserts that exactly one of roll and grid is shown.
fn is_shown(editor: &TestEditor) -> bool {
    let roll = mesh(editor).is_some();
    assert_ne!(editor.offers("Band A4"), roll, "one of the two is shown");
    roll
}

/// Returns the roll's texture, its area in the window, and the texture columns at the left and the right edge of the area.
fn mesh(editor: &TestEditor) -> Option<(TextureId, Rect, [f32; 2])> {
    editor.shapes().find_map(|(shape, _)| match shape {
        Shape::Mesh(mesh) if mesh.texture_id != TextureId::default() => {
            let columns = [0, 1].map(|corner| mesh.vertices[corner].uv.x * COLUMNS as f32);
            Some((mesh.texture_id, mesh.calc_bounds(), columns))
        }
        _ => None,
    })
}

/// Returns bands in which each tone of `states` has its state, at -10 dB. All other bands are silent.
fn bands<const N: usize>(states: [(usize, BandState); N]) -> Bands {
    let mut bands = Bands::default();
    states.into_iter().for_each(|(tone, state)| bands.bands[tone] = band(tone, state));
    bands
}

#[test]
fn the_key_and_the_button_switch_the_view() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    // The last key is typed into the search field of the list of presets.
    for (step, shown) in [
        ("<Escape>", false),
        ("<R>", true),
        ("<R>", false),
        ("Piano roll", true),
        ("Piano roll", false),
        ("Preset: Tone Filter | <R>", false),
    ] {
        editor.run(step);
        assert_eq!(is_shown(&editor), shown, "{step}");
    }
    editor.key(Key::Escape);

    // During a drag, the key does nothing, either.
    let [from, to] = [12, 13].map(|tone| editor.cell(tone).center());
    editor.button(from, true);
    editor.frame(vec![Event::PointerMoved(to)]);
    editor.key(Key::R);
    assert!(!is_shown(&editor));
    editor.button(to, false);
    let bands = editor.settings().bands;
    assert_eq!((0..77).filter(|tone| bands.contains(*tone)).count(), 75);
    assert!(editor.edit(|edits| edits.state.history.can_undo()), "the drag has ended");
}

/// Returns the images sent for the roll since the last call. Each has its first column (`None` for the whole texture), its
/// width, and its pixels row by row from the top left.
fn uploads(editor: &TestEditor) -> Vec<(Option<usize>, usize, Vec<Color32>)> {
    let (texture, ..) = mesh(editor).unwrap();
    let own = editor.uploads().into_iter().filter(|(id, _)| *id == texture);
    let image = own.map(|(_, delta)| {
        let ImageData::Color(image) = delta.image;
        (delta.pos.map(|[x, _]| x), image.size[0], image.pixels.clone())
    });
    image.collect()
}

#[test]
fn only_new_columns_are_sent_to_the_texture() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    editor.params().editor_roll.store(true);
    push(&mut editor, &Bands::default(), None, 0.0);
    editor.frame(vec![]);
    let whole = uploads(&editor);
    let [(None, COLUMNS, silence)] = &whole[..] else { panic!("{}", whole.len()) };
    let height = silence.len() / COLUMNS;

    let a4 = || bands([(A4, BandState::Saturated)]);
    let mut columns = vec![];
    for (frame, bands) in [Bands::default(), a4(), Bands::default()].iter().enumerate() {
        push(&mut editor, bands, None, (frame + 1) as f64 / 60.0 + 0.001);
        editor.frame(vec![]);
        let sent = uploads(&editor);
        let [(Some(x), 1, pixels)] = &sent[..] else { panic!("{}", sent.len()) };
        assert_eq!((*x, pixels.len()), (frame + 1, height));
        columns.push(pixels.clone());
        // The mesh spans the middle of the oldest column to the middle of the newest one.
        let (_, _, edges) = mesh(&editor).unwrap();
        for (edge, expected) in std::iter::zip(edges, [2.5, COLUMNS as f32 + 1.5]) {
            assert!((edge - expected - frame as f32).abs() < 1e-3, "{edges:?}");
        }
    }
    let [red, green, blue] = Cell { state: BandState::Saturated, level_db: -10.0 }.colour();
    let colour = Color32::from_rgb(red, green, blue);
    let rows = Rows::new(BandRange::Whole, 0.0);
    let row = rows.0.iter().position(|row| row.tone == A4).unwrap();
    let span = rows.span(row, height);
    let lit: Vec<usize> = (0..height).filter(|y| columns[1][*y] == colour).collect();
    assert!(!lit.is_empty() && lit.iter().all(|y| span.contains(y)), "{lit:?} {span:?}");
    assert!([0, 2].iter().all(|column| !columns[*column].contains(&colour)));

    // A frame without an update sends nothing. Two updates in one column keep the stronger level.
    editor.frame(vec![]);
    assert!(uploads(&editor).is_empty());
    push(&mut editor, &a4(), None, 3.0 / 60.0 + 0.002);
    push(&mut editor, &Bands::default(), None, 3.0 / 60.0 + 0.003);
    editor.frame(vec![]);
    assert_eq!(uploads(&editor), [(Some(3), 1, columns[1].clone())]);

    // After a change of the window or the range, the whole texture is sent, with the columns so far.
    editor.resize(MIN_SIZE);
    editor.frame(vec![]);
    editor.frame(vec![]);
    let sent = uploads(&editor);
    let [(None, COLUMNS, pixels)] = &sent[..] else { panic!("{}", sent.len()) };
    let lit = |column: usize| pixels.iter().skip(column).step_by(COLUMNS).any(|c| *c == colour);
    let columns: Vec<usize> = (0..COLUMNS).filter(|column| lit(*column)).collect();
    assert_eq!(columns, [2, 3]);
}

#[test]
fn the_roll_has_eight_seconds_at_any_frame_rate() {
    for rate in [20.0, 60.0, 144.0] {
        let mut editor = TestEditor::new(DEFAULT_SIZE);
        editor.params().editor_roll.store(true);
        push(&mut editor, &bands([(A4, BandState::Sounding)]), None, 0.0);
        let frames = (8.0 * rate) as usize;
        for frame in 1..frames {
            push(&mut editor, &Bands::default(), None, frame as f64 / rate);
        }
        // After a pause of a minute, an update adds one column only.
        push(&mut editor, &Bands::default(), None, 68.0);
        editor.frame(vec![]);
        let (_, _, [oldest, _]) = mesh(&editor).unwrap();
        // The texture, a ring buffer, begins again after 8 s.
        let half = 0.5 * COLUMNS as f32;
        let off = (oldest - 0.5 + half) % COLUMNS as f32 - half;
        assert!(off.abs() <= 3.0, "{rate} frames a second: {off} columns");
    }
}

#[test]
fn every_octave_is_labelled_legibly_at_every_size() {
    for size in [MIN_SIZE, DEFAULT_SIZE, [1600.0, 1000.0]] {
        let mut editor = TestEditor::new(size);
        editor.key(Key::R);
        let (_, roll, _) = mesh(&editor).unwrap();
        // The roll begins and ends at a whole pixel.
        let layout = Layout::new(editor.window(), false, false);
        let grid = layout.grid.union(layout.octaves).expand(0.5);
        assert!(grid.contains_rect(roll) && roll.height() > grid.height() - 3.0);
        let labels = (2..=7).map(|octave| editor.text(&format!("C{octave}")));
        let labels: Vec<Rect> = labels.collect();
        for (label, above) in labels.iter().zip(&labels[1..]) {
            assert!(grid.contains_rect(*label) && label.right() < roll.left(), "{size:?}");
            assert!(above.bottom() <= label.top() + 1.0, "{size:?}: {above} {label}");
            let octave = label.center().y - above.center().y;
            assert!((octave - roll.height() * 12.0 / 77.0).abs() < 1.5, "{size:?}: {octave}");
        }
    }
    assert!(theme::contrast(theme::DIM, theme::BACKGROUND) >= 4.5);
}

#[test]
fn the_pointer_and_a_screen_reader_find_the_notes() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    editor.key(Key::R);
    editor.display(bands([(A4, BandState::Saturated), (0, BandState::Sounding)]));
    editor.node("Piano roll of the last 8 s. Notes that sound now: A3, A4");
    let (_, roll, _) = mesh(&editor).unwrap();
    for (row, tone) in [(0, 48), (41, 12), (76, 47)] {
        let y = roll.bottom() - roll.height() * (row as f32 + 0.5) / 77.0;
        editor.frame(vec![Event::PointerMoved(pos2(roll.center().x, y))]);
        assert_eq!(editor.panel().grid.hovered, Some(tone));
    }
    editor.edit(|edits| edits.set_once("transpose", 0.75));
    editor.frame(vec![]);
    editor.node("Piano roll of the last 8 s. Notes that sound now: A4, A5");
    editor.edit(|edits| edits.set_once("transpose", 0.5));
    (0..480).for_each(|n| {
        push(&mut editor, &bands([(A4, BandState::Saturated)]), None, f64::from(n) / 60.0);
    });
    editor.hover(pos2(roll.right() - 1.0, roll.bottom() - roll.height() * 41.5 / 77.0));
    editor.node("A4   440.0 Hz   At ceiling, -10 dB   0:08.0");
}

#[test]
fn bars_begin_with_a_line_and_a_number() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    editor.key(Key::R);
    // The host plays bars of 3 s, from the middle of the fourth bar on, and then stops.
    for column in 0..450 {
        let bar = (column < 400).then_some((column + 90) / 180 + 3);
        push(&mut editor, &Bands::default(), bar, f64::from(column) / 60.0);
    }
    editor.frame(vec![]);
    let (_, roll, _) = mesh(&editor).unwrap();
    let lines = |editor: &TestEditor| -> Vec<f32> {
        let lines = editor.shapes().filter_map(|(shape, _)| match shape {
            Shape::LineSegment { points: [from, to], .. }
                if from.x == to.x && from.y < roll.top() + 20.0 && to.y == roll.bottom() =>
            {
                Some(from.x)
            }
            _ => None,
        });
        lines.collect()
    };
    let found = lines(&editor);
    // The newest column, at the right, is the 450th.
    let expected = [90, 270]
        .map(|column| roll.right() - roll.width() * (449.5 - column as f32) / (COLUMNS - 1) as f32);
    assert_eq!(found.len(), 2, "{found:?}");
    for ((line, expected), number) in found.iter().zip(expected).zip(["5", "6"]) {
        assert!((line - expected).abs() < 0.01, "{line} {expected}");
        let text = editor.text(number);
        assert!(text.left() > *line && text.left() < line + 6.0 && text.top() < roll.top() + 20.0);
    }
    for column in 450..1000 {
        push(&mut editor, &Bands::default(), None, f64::from(column) / 60.0);
    }
    editor.frame(vec![]);
    assert!(lines(&editor).is_empty(), "they have scrolled away");
}

/// Creates an editor with a roll of ten minutes, in which A4 sounds for a second from 300 s on.
fn long() -> TestEditor {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    editor.key(Key::R);
    for step in 0..3000 {
        let state =
            if (1500..1505).contains(&step) { BandState::Saturated } else { BandState::Inactive };
        push(&mut editor, &bands([(A4, state)]), None, 0.2 * f64::from(step));
    }
    editor.frame(vec![]);
    editor
}

/// Returns the picture columns in view that show a note, counted from the left, and the number of columns in view.
fn lit(editor: &mut TestEditor) -> (Vec<usize>, usize) {
    let colour = Cell { state: BandState::Saturated, level_db: -10.0 }.colour();
    let colour = Color32::from_rgb(colour[0], colour[1], colour[2]);
    // A change of the window's height sends the whole picture again.
    editor.uploads();
    editor.resize([1000.0, 660.0]);
    editor.frames(2);
    editor.resize(DEFAULT_SIZE);
    editor.frames(2);
    let sent = uploads(editor);
    let (_, _, pixels) = sent.last().unwrap();
    let (_, _, [first, last]) = mesh(editor).unwrap();
    let is_lit = |column: &usize| {
        let x = (first as usize + column) % COLUMNS;
        pixels.iter().skip(x).step_by(COLUMNS).any(|pixel| *pixel == colour)
    };
    let count = (last - first).round() as usize + 1;
    ((0..count).filter(is_lit).collect(), count)
}

fn wheel(editor: &mut TestEditor, delta: f32, modifiers: Modifiers) {
    let (_, roll, _) = mesh(editor).unwrap();
    editor.frame(vec![Event::PointerMoved(roll.center())]);
    editor.wheel(delta, modifiers);
    editor.frame(vec![]);
}

#[test]
fn the_view_goes_through_ten_minutes() {
    let mut editor = long();
    let label = |time: &str| format!("Piano roll {time}. Notes that sound now: none");
    assert_eq!(lit(&mut editor), (vec![], COLUMNS));
    // 600 s have 480 columns of 1.25 s. The last push is at 599.8 s.
    editor.focus(&label("of the last 8 s"));
    (0..6).for_each(|_| editor.key(Key::Minus));
    editor.node(&label("of the last 600 s"));
    let (columns, _) = lit(&mut editor);
    assert!(matches!(columns[..], [240] | [240, 241] | [239, 240]), "{columns:?}");
    // The shortest view shows 2 s.
    (0..8).for_each(|_| editor.key(Key::Plus));
    editor.node(&label("of the last 2 s"));
    assert_eq!(lit(&mut editor).1, 120);
    wheel(&mut editor, -1.0, Modifiers::CTRL);
    editor.node(&label("of the last 4 s"));
    // Each notch and each arrow key moves by an eighth of the view. The columns between two pushes have the time of the second
    // push.
    editor.key(Key::ArrowLeft);
    editor.node(&label("of 4 s up to 9:59.4"));
    wheel(&mut editor, 3.0, Modifiers::NONE);
    editor.node(&label("of 4 s up to 9:58.0"));
    editor.key(Key::Home);
    editor.node(&label("of 4 s up to 0:04.0"));
    editor.key(Key::End);
    editor.node(&label("of the last 4 s"));
}

#[test]
fn the_pitch_is_zoomed_and_scrolled() {
    let mut editor = long();
    editor.focus("Piano roll of the last 8 s. Notes that sound now: none");
    assert!(editor.shows("C7") && editor.shows("C2"));
    editor.hold(Modifiers::SHIFT);
    (0..4).for_each(|_| editor.key(Key::ArrowUp));
    editor.hold(Modifiers::NONE);
    // The 12 rows in the middle of 77 are in view. They begin at C4, above 32 other rows.
    let octave = |editor: &TestEditor| {
        (1..9).filter(|octave| editor.shows(&format!("C{octave}"))).collect::<Vec<_>>()
    };
    assert_eq!(octave(&editor), [4]);
    (0..12).for_each(|_| editor.key(Key::ArrowUp));
    assert_eq!(octave(&editor), [5]);
    wheel(&mut editor, -100.0, Modifiers::NONE);
    assert_eq!(octave(&editor), [2]);
    wheel(&mut editor, -4.0, Modifiers::ALT);
    assert_eq!(octave(&editor), [2, 3, 4, 5, 6, 7]);
}

/// Puts 20 beats into the capture of `editor`, one each half second from 590 s on, and a note of the lead on each beat.
fn capture_beats(editor: &mut TestEditor) {
    let time = |n: u8| 590.0 + 0.5 * f64::from(n);
    let note = |n: u8| Note {
        tone: usize::from(n % 12),
        offset: 0,
        start: time(n),
        end: time(n) + 0.25,
        velocity: 90,
        place: 0.0,
    };
    let mut heard = editor.panel().capture.capture.heard();
    heard.notes = (0..20).map(|n| HeardNote { note: note(n), lead: true }).collect();
    heard.beats = (0..20).map(|n| Beat { time: time(n), place: n % 4, meter: 4 }).collect();
}

#[test]
fn a_part_is_selected_from_beat_to_beat_and_copied() {
    let mut editor = long();
    capture_beats(&mut editor);
    editor.frame(vec![]);
    let (_, roll, _) = mesh(&editor).unwrap();
    // The view ends at 600 s. Bars begin at 594 s (the third), 596 s and 598 s.
    for number in ["3", "4", "5"] {
        editor.text(number);
    }
    let at = |seconds: f64| {
        pos2(roll.right() - roll.width() * ((600.0 - seconds) / 8.0) as f32, roll.center().y)
    };
    let name = |editor: &TestEditor| {
        let mut names = editor.controls().into_iter();
        names.rfind(|name| name.starts_with("Piano roll of")).unwrap()
    };
    let selected =
        |own: &TestEditor| name(own).split_once("Selected: ").map(|(_, text)| text.to_owned());
    editor.drag(at(594.1), at(596.9) - at(594.1));
    assert_eq!(selected(&editor).as_deref(), Some("9:54.0 to 9:57.0, 6 notes"));
    editor.focus(&name(&editor));
    editor.frame(vec![Event::Copy]);
    let copied =
        editor.output().platform_output.commands.iter().find_map(|command| match command {
            OutputCommand::CopyText(text) => Some(text.clone()),
            _ => None,
        });
    let is_note = |line: &&str| line.starts_with(|char: char| char.is_ascii_digit());
    assert_eq!(copied.unwrap().lines().filter(is_note).count(), 6);
    // Shift moves the start, Ctrl and Shift the end.
    editor.hold(Modifiers::SHIFT);
    editor.key(Key::ArrowLeft);
    assert_eq!(selected(&editor).as_deref(), Some("9:53.5 to 9:57.0, 7 notes"));
    editor.hold(Modifiers::SHIFT | Modifiers::COMMAND);
    editor.key(Key::ArrowRight);
    assert_eq!(selected(&editor).as_deref(), Some("9:53.5 to 9:57.5, 8 notes"));
    editor.hold(Modifiers::NONE);
    editor.key(Key::Escape);
    assert_eq!(selected(&editor), None);
    editor.hold(Modifiers::SHIFT);
    editor.key(Key::ArrowLeft);
    assert_eq!(selected(&editor).as_deref(), Some("9:55.5 to 9:59.5, 8 notes"));
    editor.hold(Modifiers::NONE);
    editor.click(at(593.0));
    assert_eq!(selected(&editor), None);
}

const PANEL: &str = "Save and load presets: File | Save notes as ...";

#[test]
fn notes_are_saved_from_the_menu() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    editor.run(&format!("{PANEL} | File := {} | MIDI", path("none.mid")));
    editor.panel().capture.finish();
    editor.frames(2);
    assert!(editor.shows("There are no notes to save yet"), "{:?}", editor.texts());

    let chord = noisy_chord(3.0, 48_000.0);
    editor.hear(&chord);
    for (extent, format, name, written, magic) in [
        ("Everything (10 minutes)", "MIDI", "all", "all.mid", &b"MThd"[..]),
        ("The last 2 bars", "MIDI in parts", "parts.mid", "parts.mid", b"MThd"),
        ("The last 16 bars", "Furnace", "song", "song.fur", &[0x78]),
        ("Since the song started", "NSF", "song.nsf", "song.nsf", b"NESM"),
        ("The last 8 bars", "Score", "song", "song.tfs", b"tone-filter-score"),
    ] {
        editor.run(&format!("{PANEL} | {extent} | File := {} | {format}", path(name)));
        assert!(!editor.offers("Back"), "the menu has closed");
        editor.panel().capture.finish();
        editor.frames(2);
        assert!(editor.shows("notes saved: "), "{format}: {:?}", editor.texts());
        assert!(fs::read(path(written)).unwrap().starts_with(magic), "{format}");
    }
    // A typed path never replaces an existing file.
    editor.run(&format!("{PANEL} | File := {} | MIDI", path("all")));
    assert!(editor.shows("all.mid exists; choose another name"), "{:?}", editor.texts());
}

#[test]
fn the_panel_of_notes_has_names_and_the_selection() {
    for size in [MIN_SIZE, DEFAULT_SIZE] {
        let mut editor = TestEditor::new(size);
        editor.run(PANEL);
        assert!(editor.offers("The last 8 bars") && !editor.offers("The selection"));
        assert!(editor.controls().iter().all(|name| !name.trim().is_empty()));
        let area = editor.node("The last 2 bars").rect();
        let stands_out = |(shape, _): (&Shape, _)| {
            matches!(shape, Shape::Circle(mark) if area.contains(mark.center)
                && theme::contrast(mark.stroke.color, theme::SURFACE) >= 3.0)
        };
        assert!(editor.shapes().any(stands_out), "the radio buttons are visible");
        editor.run("Back");
        assert!(!editor.offers("Back"), "the dialog has closed");
        // The keyboard closes menus, too.
        editor.run("Save and load presets: File");
        editor.focus("Save notes as ...");
        editor.run("<Enter>");
        assert!(editor.offers("Back") && !editor.offers("New"), "{size:?}");
        editor.run("Back");
        editor.panel().roll.selection = Some(1.0..2.0);
        editor.run(PANEL);
        assert!(editor.offers("The selection"), "{size:?}");
    }
}
