//! The VST3 plugin in a host of ours that opens and closes its editor while the audio thread changes parameters.
//! `cargo xtask soak` does it thousands of times.
#![cfg(target_os = "linux")]

// The plugin is linked into this program.
use tone_filter as _;

use std::ffi::c_void;
use xtask::{
    display::Display,
    soak::windows::{Plan, come_and_go, open_and_close},
};

unsafe extern "system" {
    fn GetPluginFactory() -> *mut c_void;
}

// A single test, because there is one display, and because all instances of a process share nice-plug's worker thread.
#[test]
fn a_host_survives_its_windows() {
    let display = Display::start([1600, 1200]).unwrap_or_else(|error| panic!("{error:#}"));
    // SAFETY: this is the only test in its process, and no other thread of it reads or writes the environment
    // meanwhile: the test harness only waits for this test.
    unsafe {
        std::env::set_var("DISPLAY", display.name());
        std::env::set_var("LIBGL_ALWAYS_SOFTWARE", "1");
    }
    for (run_loop, company) in [(true, false), (true, true), (false, false), (false, true)] {
        let plan = Plan { instances: 3, openings: 4, run_loop, company };
        // SAFETY: the function gives away a reference to a factory.
        let windows = unsafe { open_and_close(GetPluginFactory(), &display, plan) };
        let windows = windows.unwrap_or_else(|error| panic!("{plan:?}: {error:#}"));
        println!("{windows}");
        assert!(windows.changes > 100 * windows.openings, "{windows}: hardly any");
    }
    // SAFETY: as above.
    let windows = unsafe { come_and_go(GetPluginFactory(), 200) };
    println!("{}", windows.unwrap_or_else(|error| panic!("{error:#}")));
}
