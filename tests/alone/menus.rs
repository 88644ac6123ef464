//! Test of the editor's integration with a host: track colour, parameter indications, context menus and changes of the state.

use crate::{display, linux::editor::save};
use std::{
    thread::sleep,
    time::{Duration, Instant},
};
use tone_filter_testkit::{
    clap::{Extensions, Instance, parameter_id},
    display::Picture,
    plugin::{self, library, settle, threads},
};

const SIZE: [u32; 2] = [1000, 640];

// Colours that nothing else in the window has.
const TRACK: [u8; 3] = [255, 128, 0];
const OTHER: [u8; 3] = [0, 200, 255];
const MAPPED: [u8; 3] = [255, 0, 255];
const AUTOMATED: [u8; 3] = [0, 255, 255];

/// Returns x and y of the first pixel of this colour.
fn find(picture: &Picture, colour: [u8; 3]) -> Option<[i16; 2]> {
    let index = picture.pixels.iter().position(|pixel| *pixel == colour)?;
    Some([(index % picture.width) as i16, (index / picture.width) as i16])
}

/// Returns whether any pixel has nearly this colour. Antialiasing changes the colour of thin lines.
fn has_nearly(picture: &Picture, colour: [u8; 3]) -> bool {
    let near = |pixel: &[u8; 3]| pixel.iter().zip(colour).all(|(a, b)| a.abs_diff(b) < 70);
    picture.pixels.iter().any(near)
}

/// Serves main-thread callbacks until `done` returns a result.
fn wait<T>(host: &mut Instance, what: &str, mut done: impl FnMut(&mut Instance) -> Option<T>) -> T {
    plugin::wait(what, || {
        host.idle();
        done(host)
    })
}

fn next_call(host: &mut Instance, what: &str) -> String {
    wait(host, what, |host| host.take_log().into_iter().next())
}

pub fn the_editor_and_its_host() {
    let display = display([1000, 640]);
    display.resize(SIZE).unwrap();
    let (mix, focus) = (parameter_id("mix"), parameter_id("focus"));
    for extensions in [Extensions::Draft, Extensions::All] {
        let host = &mut library().instance_in(extensions).unwrap();
        let before = threads();
        host.set_track(Some(("Lead Guitar", TRACK))).unwrap();
        host.open_editor(display.window()).unwrap();
        let picture = || display.picture(SIZE).unwrap();
        let seen = |host: &mut Instance, what: &str, check: &dyn Fn(&Picture) -> bool| {
            wait(host, what, |_| Some(picture()).filter(check))
        };
        seen(host, "the track", &|it| find(it, TRACK).is_some());
        host.set_track(Some(("Bass", OTHER))).unwrap();
        seen(host, "another track", &|it| find(it, TRACK).is_none() && find(it, OTHER).is_some());

        host.map(mix, true, Some(MAPPED)).unwrap();
        host.automate(focus, true, Some(AUTOMATED)).unwrap();
        host.automate(mix, true, Some(AUTOMATED)).unwrap();
        // Calls without a colour, and for an unknown parameter.
        host.map(parameter_id("ring"), true, None).unwrap();
        host.automate(parameter_id("tone"), true, None).unwrap();
        host.map(12, true, Some(MAPPED)).unwrap();
        let marked =
            seen(host, "the marks", &|it| find(it, MAPPED).is_some() && has_nearly(it, AUTOMATED));

        // The mark is to the left of the slider's name.
        let [x, y] = find(&marked, MAPPED).unwrap();
        let slider = [x + 20, y + 20];
        assert!(host.take_log().is_empty());
        display.click(slider, 3).unwrap();
        assert_eq!(next_call(host, "a menu"), format!("populate {mix}"));
        // The menu opens to the right of the pointer. Its first entry is below its title.
        sleep(Duration::from_millis(500));
        save(&picture(), "editor-host-menu");
        display.click([slider[0] + 40, slider[1] + 33], 1).unwrap();
        assert_eq!(next_call(host, "an entry of the menu"), format!("perform {mix} 7"));

        host.pop_up_menus();
        let expected = format!("popup {mix} on 0 at {} {}", slider[0], slider[1]);
        // A click in the frame after the menu has closed is lost, so it is repeated.
        let mut clicked: Option<Instant> = None;
        let call = wait(host, "the host's own menu", |host| {
            if clicked.is_none_or(|at| at.elapsed() > Duration::from_secs(2)) {
                display.click(slider, 3).unwrap();
                clicked = Some(Instant::now());
            }
            host.take_log().into_iter().next()
        });
        assert_eq!(call, expected);
        // Bands fill the middle of the window. A click changes the mask, which is not a parameter.
        display.click([330, 275], 1).unwrap();
        let call = wait(host, "a changed state", |host| {
            host.take_log().into_iter().find(|call| *call != expected)
        });
        assert_eq!(call, "dirty");

        host.map(mix, false, None).unwrap();
        host.automate(mix, false, None).unwrap();
        seen(host, "no mark", &|it| find(it, MAPPED).is_none());
        host.set_track(None).unwrap();
        seen(host, "no track", &|it| find(it, OTHER).is_none());
        host.close_editor().unwrap();
        settle(before);
    }
}
