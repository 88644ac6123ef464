//! Screenshot tests of the built plugin's editor in a host that plays.

mod drops;
mod stage;

pub use stage::save;

use crate::display;
use stage::{Stage, fixed, is_drawn, is_lit};
use tone_filter_dsp::Settings;
use tone_filter_testkit::{
    plugin::{demo, instance},
    sweep::part,
};

/// Sizes of a window, each with places in points: x of the buttons Preset, File and Zoom, y of the buttons, and y of the entry
/// for notes in the menu of files.
const BUTTONS: [([u32; 2], [i16; 5]); 3] = [
    ([480, 300], [135, 255, 408, 16, 154]),
    ([1000, 640], [206, 321, 565, 29, 201]),
    ([1600, 1000], [553, 920, 1165, 29, 201]),
];

pub fn the_editor_in_a_window() {
    let display = display([3840, 2160]);
    let mut stage = Stage::open(&display);
    it_is_drawn_at_every_size(&mut stage);
    it_is_drawn_however_late_it_is_shown(&mut stage);
    drops::files_are_dropped(&mut stage);
    the_session_remembers_the_size(stage);
}

/// Returns the left channel of the demo tune from 7 s on, as a function of the time in seconds. The last chord repeats for
/// ever.
fn tune() -> impl Fn(f64) -> f64 + Sync + use<> {
    let left = demo().remove(0);
    move |t| {
        let time = 7.0 + if t < 6.2 { t } else { 6.2 + (t - 6.2) % 1.6 };
        f64::from(left[(time * 44_100.0) as usize])
    }
}

fn it_is_drawn_at_every_size(stage: &mut Stage) {
    let sound = tune();
    // Default sound and size, as in the README's picture.
    stage.load(&Settings::default());
    stage.window.resize([1000, 640]);
    stage.show("editor", &sound, is_lit);
    // These settings show the gains of Auto level in the bar.
    stage.load(&Settings { focus: 0.0, ..Settings::default() });
    let sizes = [1, 2].map(|zoom| BUTTONS.map(|(size, buttons)| (size, zoom, Some(buttons))));
    let sizes = sizes.into_iter().flatten().chain([([3840, 2160], 1, None)]);
    for (size, zoom, buttons) in part(7, sizes).into_iter().chain([([700, 500], 1, None)]) {
        stage.set("editor-zoom", &format!("{zoom}.0"));
        let pixels = size.map(|length| zoom * length);
        for theme in ["false", "true"] {
            stage.set("editor-contrast", theme);
            stage.window.close();
            stage.set("editor-size", &format!("{pixels:?}"));
            stage.window.reopen();
            assert_eq!(stage.window.size, pixels);
            let [width, height] = size;
            let percent = 100 * zoom;
            let title = |what: &str| {
                format!("editor-{what}-{width}x{height}-{percent}-high-contrast-{theme}")
            };
            let picture = stage.show(&title("tune"), &sound, is_lit);
            // Only the theme of high contrast has a black background.
            assert_eq!(picture.pixel(2, 2) == [0; 3], theme == "true", "{size:?}: another theme");
            for (view, field) in [("more", "editor-more"), ("roll", "editor-roll")] {
                stage.set(field, "true");
                stage.show(&title(view), &sound, is_drawn);
                stage.set(field, "false");
            }
            let Some([presets, file, size, y, notes]) = buttons else { continue };
            for (view, clicks) in [
                ("presets", &[[presets, y]][..]),
                ("file", &[[file, y]]),
                ("zoom", &[[size, y]]),
                ("notes", &[[file, y], [file, notes]]),
            ] {
                stage.window.close();
                stage.window.reopen();
                for point in clicks {
                    let before = fixed(&drops::still(&mut stage.window));
                    let pixel = point.map(|length| zoom as i16 * length);
                    stage.window.display.click(pixel, 1).unwrap();
                    stage.window.wait(&title(view), |picture| match fixed(picture) != before {
                        true => is_drawn(picture),
                        false => Err("it is not open".to_owned()),
                    });
                }
                stage.show(&title(view), &sound, is_drawn);
            }
        }
        stage.set("editor-contrast", "false");
    }
}

fn it_is_drawn_however_late_it_is_shown(stage: &mut Stage) {
    stage.window.close();
    assert!(is_drawn(&stage.window.picture()).is_err(), "the window is still there");
    stage.reopen_late();
    stage.window.wait("editor-late", is_drawn);
}

fn the_session_remembers_the_size(mut stage: Stage) {
    let mut reloaded = instance();
    reloaded.load(&stage.window.instance.save().unwrap()).unwrap();
    assert_eq!(reloaded.editor_size().unwrap(), stage.window.size);
    stage.window.close();
}
