//! Keyboard focus of the editor in a host.

use crate::stage::{PATIENCE, Stage};
use std::{
    thread::sleep,
    time::{Duration, Instant},
};

/// X11's symbols of keys.
const SPACE: u32 = 0x20;
const ENTER: u32 = 0xFF0D;
const TAB: u32 = 0xFF09;

/// Pixel of the value of Mix, in a window of 700 x 500 pixels.
const VALUE: [i16; 2] = [150, 70];

/// Pixel of a band there.
const BAND: [i16; 2] = [300, 250];

pub fn the_host_keeps_the_focus_and_the_unused_keys(stage: &mut Stage) {
    let display = stage.window.display;
    let (host, editor) = (display.window(), display.editor().unwrap());
    let mut wait = |what: &str, done: &mut dyn FnMut() -> bool| {
        let begun = Instant::now();
        while !done() {
            stage.window.instance.idle();
            assert!(begun.elapsed() < PATIENCE, "{what}");
            sleep(Duration::from_millis(20));
        }
    };
    let focused = || display.focused().unwrap();
    display.focus(host).unwrap();
    display.keys().unwrap();
    for _ in 0..5 {
        display.click(BAND, 1).unwrap();
        assert_eq!(focused(), host, "a click leaves the focus");
    }
    display.key(SPACE).unwrap();
    assert_eq!(display.keys().unwrap(), 1);

    // A field takes the focus, and all keys until Enter.
    wait("a field", &mut || {
        display.click(VALUE, 1).unwrap();
        focused() == editor
    });
    [SPACE, ENTER].map(|key| display.key(key).unwrap());
    wait("the focus comes back", &mut || focused() == host);
    assert_eq!(display.keys().unwrap(), 0);

    // The host gives the window the focus, for a user of the keyboard.
    display.focus(editor).unwrap();
    [TAB, SPACE, TAB].map(|key| display.key(key).unwrap());
    let mut got = 0;
    wait("Space alone", &mut || {
        got += display.keys().unwrap();
        got == 1
    });
    assert_eq!(focused(), editor, "the window keeps what it was given");
    display.focus(host).unwrap();
}
