//! Tests of the built plugin's editor in a window of a host that plays, by screenshots.
#![cfg(target_os = "linux")]

mod drops;
mod endurance;
mod look;
mod stage;

use look::{Area, Look, is_drawn, is_lit};
use stage::Stage;
use std::f64::consts::TAU;
use tone_filter_dsp::{
    Settings,
    notes::{PUBLISHED, frequency, name},
};
use tone_filter_testkit::{
    display::{Display, Picture},
    plugin::{demo, instance},
};

// A single test, because there is one display.
#[test]
fn the_editor_in_a_window() {
    let display = stage::display();
    let mut stage = Stage::open(&display);
    each_band_is_in_its_place_and_has_the_colour_of_its_state(&mut stage);
    it_is_drawn_at_every_size(&mut stage);
    it_is_drawn_however_late_it_is_shown(&mut stage);
    drops::files_are_dropped(&mut stage);
    the_session_remembers_the_size_and_the_zoom(stage, &display);
    endurance::opening_and_closing_leaks_nothing_and_is_not_heard(&display);
}

/// Returns a sum of sines at the frequencies of `notes`, given as names and amplitudes.
fn chord(notes: &[(&str, f64)]) -> impl Fn(f64) -> f64 + Sync + use<> {
    let tones = notes.iter().map(|&(note, level)| {
        let tone = (0..PUBLISHED).find(|&tone| name(tone) == note).unwrap();
        (TAU * frequency(tone, 440.0, 0.0), level)
    });
    let tones: Vec<_> = tones.collect();
    move |t| tones.iter().map(|(turns, level)| level * (turns * t).sin()).sum()
}

/// Returns the demo tune from 7 s on, whose last chord then repeats.
fn tune() -> impl Fn(f64) -> f64 + Sync + use<> {
    let left = demo().remove(0);
    move |t| {
        let time = 7.0 + if t < 6.2 { t } else { 6.2 + (t - 6.2) % 1.6 };
        f64::from(left[(time * 44_100.0) as usize])
    }
}

/// Returns the expected look of the cell of `note` after `notes` have sounded for long, by `docs/dsp.md`.
fn due(notes: &[(&str, f64)], note: &str) -> Look {
    let power = |decibels: f32| 10f64.powf(f64::from(decibels) / 10.0);
    let Settings { threshold, floor, ceiling, .. } = Settings::REFERENCE;
    let total: f64 = notes.iter().map(|(_, level)| level * level / 2.0).sum();
    let gate = power(floor).max(power(threshold) * total);
    match notes.iter().find(|(own, _)| *own == note).map(|(_, level)| level * level / 2.0) {
        Some(own) if own > power(ceiling) * total => Look::Red,
        Some(own) if own > gate => Look::Green,
        Some(_) => Look::Blue,
        None => Look::Dark,
    }
}

/// Positions of the published bands' cells in a picture.
struct Grid {
    first: [usize; 4],
    last: [usize; 4],
}

impl Grid {
    /// Finds the grid by the cells of its first and last band. A single tone has all the power, so its cell is red.
    fn find(stage: &mut Stage) -> Self {
        let silent = stage.show("editor-silent", &|_| 0.0, is_drawn);
        let mut corner = |note: &str| {
            let appeared = |picture: &Picture| Area::appeared(&silent, picture, Look::Red);
            let title = format!("editor-{note}");
            let picture = stage.show(&title, &chord(&[(note, 0.4)]), |picture| {
                appeared(picture).map(drop).ok_or_else(|| format!("{note} is not red"))
            });
            let Area(area) = appeared(&picture).unwrap();
            area
        };
        let (first, last) = (corner("A3"), corner("G#7"));
        assert!(first[2] < last[0] && first[3] < last[1], "A3 is top left: {first:?} {last:?}");
        Self { first, last }
    }

    fn cell(&self, tone: usize) -> Area {
        let (column, row) = (tone % 12, tone / 12);
        Area(std::array::from_fn(|side| {
            let (index, count) = if side % 2 == 0 { (column, 11) } else { (row, 3) };
            self.first[side] + (self.last[side] - self.first[side]) * index / count
        }))
    }

    /// Checks that every cell has the look that `notes` must cause.
    fn check(&self, picture: &Picture, notes: &[(&str, f64)]) -> Result<(), String> {
        for tone in 0..PUBLISHED {
            let (look, due) = (self.cell(tone).look(picture), due(notes, name(tone)));
            // A little of a loud note leaks into the bands beside it.
            if look != due && (due, look) != (Look::Dark, Look::Blue) {
                return Err(format!("{} looks {look:?}, not {due:?}", name(tone)));
            }
        }
        Ok(())
    }
}

fn each_band_is_in_its_place_and_has_the_colour_of_its_state(stage: &mut Stage) {
    let grid = Grid::find(stage);
    let a_major = [("A4", 0.3), ("C#5", 0.04), ("E5", 0.06)];
    assert_eq!(
        ["A4", "C#5", "E5"].map(|note| due(&a_major, note)),
        [Look::Red, Look::Green, Look::Green]
    );
    stage.show("editor-a-major", &chord(&a_major), |picture| grid.check(picture, &a_major));

    // The total power is 0.136. A3, C#5 and E6 have 0.045 each, far above the ceiling of a tenth. A4 (0.0018) and G#7 (0.0008)
    // are between gate and ceiling. C4 has -39 dB full scale, 2.3 dB below the floor.
    let all = [("A3", 0.3), ("C#5", 0.3), ("E6", 0.3), ("A4", 0.06), ("G#7", 0.04), ("C4", 0.0159)];
    assert_eq!(
        ["A3", "G#7", "C4"].map(|note| due(&all, note)),
        [Look::Red, Look::Green, Look::Blue]
    );
    stage.show("editor-chord", &chord(&all), |picture| grid.check(picture, &all));
}

fn it_is_drawn_at_every_size(stage: &mut Stage) {
    let sound = tune();
    // Default sound and size, as in the README's picture.
    stage.load(&Settings::default());
    stage.window.resize([1000, 640]);
    stage.show("editor", &sound, is_lit);
    // These settings show the gains of Auto level in the bar.
    stage.load(&Settings { focus: 0.0, ..Settings::default() });
    let wide = [("A3", 0.3), ("A4", 0.06), ("G#7", 0.04)];
    for size in [[1000, 640], [480, 300], [1600, 1000], [3840, 2160], [700, 500]] {
        stage.window.resize(size);
        let title = |what: &str| format!("editor-{what}-{}x{}", size[0], size[1]);
        stage.show(&title("chord"), &chord(&wide), |picture| {
            // A3 and A4 are near the left edge, beside the octaves' names, and G#7 is near the right edge, at every size.
            let column = |index: usize, wanted: Look| {
                let edge = |index| picture.width * index / 12;
                Area([edge(index), 0, edge(index + 2), picture.height]).count(picture, wanted)
            };
            let [red, green] = [column(0, Look::Red), column(10, Look::Green)];
            if red.min(green) > 50 { Ok(()) } else { Err(format!("{red} red, {green} green")) }
        });
        stage.show(&title("tune"), &sound, is_lit);
        for (view, field) in [("more", "editor-more"), ("roll", "editor-roll")] {
            stage.set(field, true);
            stage.show(&title(view), &sound, is_drawn);
            stage.set(field, false);
        }
    }
}

fn it_is_drawn_however_late_it_is_shown(stage: &mut Stage) {
    stage.window.close();
    assert!(is_drawn(&stage.window.picture()).is_err(), "the window is still there");
    stage.reopen_late();
    let (_, complaint) = stage.window.wait(is_drawn);
    assert_eq!(complaint, None);
}

fn the_session_remembers_the_size_and_the_zoom(mut stage: Stage, display: &Display) {
    let saved = stage.window.instance.save().unwrap();
    let mut reloaded = instance();
    reloaded.load(&saved).unwrap();
    assert_eq!(reloaded.editor_size().unwrap(), [700, 500], "the session remembers the size");
    stage.window.close();
    stage.window.reopen();
    assert_eq!(stage.window.size, [700, 500]);
    stage.close();

    // The saved state is eight bytes of length, then JSON.
    let mut state: serde_json::Value = serde_json::from_slice(&saved[8..]).unwrap();
    state["fields"]["editor-zoom"] = "2.0".into();
    state["fields"]["editor-size"] = "[2000,1280]".into();
    let json = serde_json::to_vec(&state).unwrap();
    let state = [&(json.len() as u64).to_le_bytes()[..], &json].concat();

    let mut stage = Stage::open(display);
    stage.window.close();
    stage.window.instance.load(&state).unwrap();
    stage.window.reopen();
    assert_eq!(stage.window.size, [2000, 1280]);
    let sound = tune();
    stage.show("editor-tune-zoom-200", &sound, is_lit);
    stage.close();
}
