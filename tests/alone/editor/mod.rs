//! Screenshot tests of the built plugin's editor in a host that plays.

mod drops;
mod stage;

use crate::display;
use stage::{Area, Stage, is_drawn, is_lit};
use std::f64::consts::TAU;
use tone_filter_dsp::Settings;
use tone_filter_testkit::{
    display::Display,
    plugin::{demo, instance, saved, state},
    sweep::part,
};

pub fn the_editor_in_a_window() {
    let display = display([3840, 2160]);
    let mut stage = Stage::open(&display);
    a_tone_lights_its_own_corner(&mut stage);
    it_is_drawn_at_every_size(&mut stage);
    it_is_drawn_however_late_it_is_shown(&mut stage);
    drops::files_are_dropped(&mut stage);
    the_session_remembers_the_size_and_the_zoom(stage, &display);
}

/// Returns the demo tune from 7 s on. The last chord repeats for ever.
fn tune() -> impl Fn(f64) -> f64 + Sync + use<> {
    let left = demo().remove(0);
    move |t| {
        let time = 7.0 + if t < 6.2 { t } else { 6.2 + (t - 6.2) % 1.6 };
        f64::from(left[(time * 44_100.0) as usize])
    }
}

/// Plays a low C and a high B. A single tone has all the power, so its cell is at the ceiling, the brightest state.
fn a_tone_lights_its_own_corner(stage: &mut Stage) {
    let silent = stage.show("editor-silent", &|_| 0.0, is_drawn);
    let mut corner = |note: &str, frequency: f64| {
        let tone = move |t: f64| 0.4 * (TAU * frequency * t).sin();
        let appeared = |picture: &_| Area::bright(&silent, picture);
        let picture = stage.show(&format!("editor-{note}"), &tone, |picture| {
            appeared(picture).map(drop).ok_or_else(|| format!("{note} is not lit"))
        });
        appeared(&picture).unwrap().0
    };
    let hertz = |semitones: f64| 440.0 * (semitones / 12.0).exp2();
    let (first, last) = (corner("C4", hertz(-9.0)), corner("B6", hertz(26.0)));
    assert!(first[2] < last[0] && first[3] < last[1], "C4 is left above B6: {first:?} {last:?}");
}

fn it_is_drawn_at_every_size(stage: &mut Stage) {
    let sound = tune();
    // Default sound and size, as in the README's picture.
    stage.load(&Settings::default());
    stage.window.resize([1000, 640]);
    stage.show("editor", &sound, is_lit);
    // These settings show the gains of Auto level in the bar.
    stage.load(&Settings { focus: 0.0, ..Settings::default() });
    let sizes = [
        ([480, 300], 1),
        ([480, 300], 2),
        ([1000, 640], 2),
        ([1600, 1000], 1),
        ([1600, 1000], 2),
        ([3840, 2160], 1),
    ];
    for (size, zoom) in part(6, sizes).into_iter().chain([([700, 500], 1)]) {
        stage.set("editor-zoom", &format!("{zoom}.0"));
        let pixels = size.map(|length| zoom * length);
        stage.window.close();
        stage.set("editor-size", &format!("{pixels:?}"));
        stage.window.reopen();
        for theme in ["false", "true"] {
            stage.set("editor-contrast", theme);
            let [width, height] = size;
            let zoom = 100 * zoom;
            let title =
                |what: &str| format!("editor-{what}-{width}x{height}-{zoom}-high-contrast-{theme}");
            stage.show(&title("tune"), &sound, is_lit);
            for (view, field) in [("more", "editor-more"), ("roll", "editor-roll")] {
                stage.set(field, "true");
                stage.show(&title(view), &sound, is_drawn);
                stage.set(field, "false");
            }
        }
        stage.set("editor-contrast", "false");
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
    let before = stage.window.instance.save().unwrap();
    let mut reloaded = instance();
    reloaded.load(&before).unwrap();
    assert_eq!(reloaded.editor_size().unwrap(), [700, 500], "the session remembers the size");
    stage.window.close();
    stage.window.reopen();
    assert_eq!(stage.window.size, [700, 500]);
    stage.close();

    let mut state = state(&before);
    state["fields"]["editor-zoom"] = "2.0".into();
    state["fields"]["editor-size"] = "[2000,1280]".into();
    let mut stage = Stage::open(display);
    stage.window.close();
    stage.window.instance.load(&saved(&state)).unwrap();
    stage.window.reopen();
    assert_eq!(stage.window.size, [2000, 1280]);
    let sound = tune();
    stage.show("editor-tune-zoom-200", &sound, is_lit);
    stage.close();
}
