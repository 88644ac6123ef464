//! Test of the editor's integration with a host: track colour, parameter indications, context menus and changes of the state.

use crate::{display, raw::RawHost};
use clap_sys::{
    color::clap_color,
    ext::{
        gui::{
            CLAP_EXT_GUI, CLAP_WINDOW_API_X11, clap_plugin_gui, clap_window, clap_window_handle,
        },
        param_indication::{
            CLAP_EXT_PARAM_INDICATION, CLAP_EXT_PARAM_INDICATION_COMPAT,
            CLAP_PARAM_INDICATION_AUTOMATION_NONE, CLAP_PARAM_INDICATION_AUTOMATION_PLAYING,
            clap_plugin_param_indication,
        },
        track_info::{CLAP_EXT_TRACK_INFO, CLAP_EXT_TRACK_INFO_COMPAT, clap_plugin_track_info},
    },
};
use std::{
    fs,
    ptr::null,
    sync::atomic::Ordering,
    thread::sleep,
    time::{Duration, Instant},
};
use tone_filter_testkit::{clap::parameter_id, display::Picture, plugin};

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
    let near = |pixel: &[u8; 3]| pixel.iter().zip(colour).all(|(own, it)| own.abs_diff(it) < 70);
    picture.pixels.iter().any(near)
}

fn colour([red, green, blue]: [u8; 3]) -> clap_color {
    clap_color { alpha: 255, red, green, blue }
}

/// Serves main-thread callbacks until `done` returns a result.
fn wait<T>(host: &RawHost, what: &str, mut done: impl FnMut() -> Option<T>) -> T {
    plugin::wait(what, || {
        host.idle();
        done()
    })
}

/// Returns the plugin's next call. Panics if it comes on the wrong thread.
fn next_call(host: &RawHost, what: &str) -> String {
    let call = wait(host, what, || host.take().into_iter().next());
    assert!(!call.contains("WRONG"), "{call}");
    call
}

pub fn the_editor_and_its_host() {
    let display = display([1000, 640]);
    display.resize(SIZE).unwrap();
    for compat in [true, false] {
        let host = RawHost::new(compat, Some(("Lead Guitar", Some(TRACK))));
        let gui: &clap_plugin_gui = host.extension(CLAP_EXT_GUI, CLAP_EXT_GUI);
        let parent = clap_window {
            api: CLAP_WINDOW_API_X11.as_ptr(),
            specific: clap_window_handle { x11: display.window().into() },
        };
        // SAFETY: this is the main thread, and the display outlives the editor.
        unsafe {
            assert!(gui.create.unwrap()(host.plugin(), CLAP_WINDOW_API_X11.as_ptr(), false));
            assert!(gui.set_parent.unwrap()(host.plugin(), &parent));
            assert!(gui.show.unwrap()(host.plugin()));
        }
        let picture = || display.picture(SIZE).unwrap();
        let seen = |what: &str, check: &dyn Fn(&Picture) -> bool| {
            wait(&host, what, || Some(picture()).filter(check))
        };
        seen("the track", &|picture| find(picture, TRACK).is_some());
        *host.track.lock().unwrap() = Some(("Bass", Some(OTHER)));
        let track: &clap_plugin_track_info =
            host.extension(CLAP_EXT_TRACK_INFO, CLAP_EXT_TRACK_INFO_COMPAT);
        // SAFETY: this is the main thread.
        unsafe { track.changed.unwrap()(host.plugin()) };
        seen("another track", &|it| find(it, TRACK).is_none() && find(it, OTHER).is_some());

        let indication: &clap_plugin_param_indication =
            host.extension(CLAP_EXT_PARAM_INDICATION, CLAP_EXT_PARAM_INDICATION_COMPAT);
        let (map, automate) = (indication.set_mapping.unwrap(), indication.set_automation.unwrap());
        let (mapped, automated) = (colour(MAPPED), colour(AUTOMATED));
        let playing = CLAP_PARAM_INDICATION_AUTOMATION_PLAYING;
        // SAFETY: this is the main thread, and the texts end with a zero.
        unsafe {
            let (plugin, mix) = (host.plugin(), parameter_id("mix"));
            map(plugin, mix, true, &mapped, c"K1".as_ptr(), c"a knob".as_ptr());
            automate(plugin, parameter_id("focus"), playing, &automated);
            automate(plugin, mix, playing, &automated);
            // Calls without optional arguments, and for an unknown parameter.
            map(plugin, parameter_id("ring"), true, null(), null(), null());
            automate(plugin, parameter_id("tone"), playing, null());
            map(plugin, 12, true, &mapped, null(), null());
        }
        let marked =
            seen("the marks", &|it| find(it, MAPPED).is_some() && has_nearly(it, AUTOMATED));

        // The mark is left of the slider's name.
        let [x, y] = find(&marked, MAPPED).unwrap();
        let slider = [x + 20, y + 20];
        assert!(host.take().is_empty());
        display.click(slider, 3).unwrap();
        let call = next_call(&host, "a menu");
        assert_eq!(call, format!("populate 1 {}", parameter_id("mix")));
        // The menu opens to the right of the pointer. Its first entry is below its title.
        sleep(Duration::from_millis(500));
        let folder = tone_filter_testkit::target().join("pictures");
        fs::create_dir_all(&folder).unwrap();
        picture().save(&folder.join("editor-host-menu.png")).unwrap();
        display.click([slider[0] + 40, slider[1] + 33], 1).unwrap();
        let call = next_call(&host, "an entry of the menu");
        assert_eq!(call, format!("perform {} 7", parameter_id("mix")));

        host.pops_up.store(true, Ordering::Relaxed);
        let expected = format!("popup {} on 0 at {} {}", parameter_id("mix"), slider[0], slider[1]);
        // A click in the frame after the menu has closed is lost, so it is repeated.
        let mut clicked: Option<Instant> = None;
        let call = wait(&host, "the host's own menu", || {
            if clicked.is_none_or(|at| at.elapsed() > Duration::from_secs(2)) {
                display.click(slider, 3).unwrap();
                clicked = Some(Instant::now());
            }
            host.take().into_iter().next()
        });
        assert_eq!(call, expected);
        // The middle of the window has only bands.
        display.click([330, 275], 1).unwrap();
        let call = wait(&host, "a changed state", || {
            host.take().into_iter().find(|call| *call != expected)
        });
        assert_eq!(call, "dirty");

        // SAFETY: as above.
        unsafe {
            map(host.plugin(), parameter_id("mix"), false, null(), null(), null());
            let none = CLAP_PARAM_INDICATION_AUTOMATION_NONE;
            automate(host.plugin(), parameter_id("mix"), none, null());
        }
        seen("no mark", &|it| find(it, MAPPED).is_none());
        *host.track.lock().unwrap() = None;
        // SAFETY: as above.
        unsafe { track.changed.unwrap()(host.plugin()) };
        seen("no track", &|it| find(it, OTHER).is_none());
        // SAFETY: as above.
        unsafe { gui.destroy.unwrap()(host.plugin()) };
    }
}
