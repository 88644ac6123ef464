//! Tests of the piano roll, which replaces the grid.

use super::{TestEditor, band};
use crate::editor::{DEFAULT_SIZE, Layout, MIN_SIZE, roll::COLUMNS, theme};
use egui::{Color32, Event, ImageData, Key, Rect, Shape, TextureId, pos2};
use tone_filter_dsp::{
    BandRange, BandState, Bands,
    notes::A4,
    roll::{Cell, Rows},
};

/// Whether the roll is shown. Asserts that either the roll or the cells are.
fn is_shown(editor: &TestEditor) -> bool {
    let cells = editor.controls().iter().any(|(name, _)| name == "Band A4");
    let roll = mesh(editor).is_some();
    assert_ne!(cells, roll, "one of the two is shown");
    roll
}

/// Returns the roll's texture, its area in the window, and the texture columns at its left and right edge.
fn mesh(editor: &TestEditor) -> Option<(TextureId, Rect, [f32; 2])> {
    editor.output().shapes.iter().find_map(|clipped| match &clipped.shape {
        Shape::Mesh(mesh) if mesh.texture_id != TextureId::default() => {
            let columns = [0, 1].map(|corner| mesh.vertices[corner].uv.x * COLUMNS as f32);
            Some((mesh.texture_id, mesh.calc_bounds(), columns))
        }
        _ => None,
    })
}

/// Returns bands in these states; all other bands are silent.
fn bands<const N: usize>(states: [(usize, BandState); N]) -> Bands {
    let mut bands = Bands::default();
    states.into_iter().for_each(|(tone, state)| bands.bands[tone] = band(tone, state));
    bands
}

#[test]
fn the_key_and_the_button_switch_the_view() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    assert!(!is_shown(&editor));
    for shown in [true, false] {
        editor.key(Key::R);
        assert_eq!(is_shown(&editor), shown);
    }
    editor.run("Piano roll");
    assert!(is_shown(&editor));
    editor.focus("Piano roll");
    editor.key(Key::Enter);
    assert!(!is_shown(&editor));
}

#[test]
fn the_key_is_for_text_and_not_for_the_view_while_the_user_types_or_drags() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    editor.run("Preset: Tone Filter");
    editor.key(Key::R);
    assert!(!is_shown(&editor));
    editor.key(Key::Escape);

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

/// Returns the images sent for the roll since the last call: first column (`None` for the whole texture), width, and pixels row
/// by row from the top left.
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
fn a_note_is_drawn_in_its_row_and_only_new_columns_are_sent() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    editor.params().editor_roll.store(true);
    editor.panel().roll.push(&Bands::default(), None, 0.0);
    editor.frame(vec![]);
    let whole = uploads(&editor);
    let [(None, COLUMNS, silence)] = &whole[..] else { panic!("{}", whole.len()) };
    let height = silence.len() / COLUMNS;

    let a4 = || bands([(A4, BandState::Saturated)]);
    let mut columns = vec![];
    for (frame, bands) in [Bands::default(), a4(), Bands::default()].iter().enumerate() {
        editor.panel().roll.push(bands, None, (frame + 1) as f64 / 60.0 + 0.001);
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
    editor.panel().roll.push(&a4(), None, 3.0 / 60.0 + 0.002);
    editor.panel().roll.push(&Bands::default(), None, 3.0 / 60.0 + 0.003);
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
fn the_roll_is_eight_seconds_long_at_any_rate_of_frames_and_stands_still_in_a_pause() {
    for rate in [20.0, 60.0, 144.0] {
        let mut editor = TestEditor::new(DEFAULT_SIZE);
        editor.params().editor_roll.store(true);
        editor.panel().roll.push(&bands([(A4, BandState::Sounding)]), None, 0.0);
        let frames = (8.0 * rate) as usize;
        for frame in 1..frames {
            editor.panel().roll.push(&Bands::default(), None, frame as f64 / rate);
        }
        // A pause of a minute is one column.
        editor.panel().roll.push(&Bands::default(), None, 68.0);
        editor.frame(vec![]);
        let (_, _, [oldest, _]) = mesh(&editor).unwrap();
        // The ring begins again after 8 s.
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
}

#[test]
fn the_song_s_bars_begin_with_a_line_and_their_number() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    editor.key(Key::R);
    // Bars of 3 s, beginning in the middle of the fourth bar; then the host stops.
    for column in 0..450 {
        let bar = (column < 400).then_some((column + 90) / 180 + 3);
        editor.panel().roll.push(&Bands::default(), bar, f64::from(column) / 60.0);
    }
    editor.frame(vec![]);
    let (_, roll, _) = mesh(&editor).unwrap();
    let lines = |editor: &TestEditor| -> Vec<f32> {
        let shapes = editor.output().shapes.iter().filter_map(|clipped| match &clipped.shape {
            Shape::LineSegment { points: [from, to], .. }
                if from.x == to.x && from.y == roll.top() && to.y == roll.bottom() =>
            {
                Some(from.x)
            }
            _ => None,
        });
        shapes.collect()
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
        editor.panel().roll.push(&Bands::default(), None, f64::from(column) / 60.0);
    }
    editor.frame(vec![]);
    assert!(lines(&editor).is_empty(), "they have scrolled away");
}
