//! The VST3 plugin in the project's own host, which opens and closes its editor while the audio thread changes parameters. `cargo
//! xtask soak` repeats this thousands of times.
#![cfg(target_os = "linux")]

use tone_filter_testkit::{
    display::Display,
    soak::windows::{Plan, come_and_go, open_and_close},
    vst3::Factory,
};

// A single test, because there is one display, and all instances of a process share nice-plug's worker thread.
#[test]
fn a_host_survives_its_windows() {
    let display = Display::start([1600, 1200]).unwrap_or_else(|error| panic!("{error:#}"));
    // SAFETY: this is the only test in its process. No other thread uses the environment: the test harness only waits for this
    // test.
    unsafe { display.set_environment() };
    // SAFETY: `GetPluginFactory` returns an owned reference to a factory.
    let factory = unsafe { Factory::linked(tone_filter::GetPluginFactory) };
    for (run_loop, company) in [(true, false), (true, true), (false, false), (false, true)] {
        let plan = Plan { instances: 3, openings: 4, run_loop, company };
        let windows = open_and_close(&factory, &display, plan);
        let windows = windows.unwrap_or_else(|error| panic!("{plan:?}: {error:#}"));
        println!("{windows}");
        assert!(windows.changes > 100 * windows.openings, "{windows}: hardly any");
    }
    let windows = come_and_go(&factory, 200);
    println!("{}", windows.unwrap_or_else(|error| panic!("{error:#}")));
}
