//! The VST3 plugin in the project's own host, which opens and closes its editor while the audio thread changes parameters. `cargo
//! xtask soak` repeats this thousands of times.
#![cfg(target_os = "linux")]

use std::{sync::mpsc, thread};
use tone_filter_testkit::{
    display::Display,
    soak::windows::{EditorTest, come_and_go, open_and_close},
    vst3::{Factory, Host, Instance, Queue, Setup},
};
use vst3::{ComWrapper, Steinberg::kResultOk};

// A single test, because there is one display, and all instances of a process share nice-plug's worker thread.
#[test]
fn a_host_survives_its_windows() {
    let display = Display::start([1600, 1200]).unwrap_or_else(|error| panic!("{error:#}"));
    // SAFETY: this is the only test in its process. No other thread uses the environment: the test harness only waits for this
    // test.
    unsafe { display.set_environment() };
    // SAFETY: `GetPluginFactory` returns an owned reference to a factory.
    let factory = unsafe { Factory::linked(tone_filter::GetPluginFactory) };
    for (run_loop, with_second_instance) in
        [(true, false), (true, true), (false, false), (false, true)]
    {
        let test = EditorTest { instances: 3, openings: 4, run_loop, with_second_instance };
        let counts = open_and_close(&factory, &display, test);
        let counts = counts.unwrap_or_else(|error| panic!("{test:?}: {error:#}"));
        println!("{counts}");
        assert!(counts.changes > 100 * counts.openings, "{counts}: hardly any");
    }
    let counts = come_and_go(&factory, 200);
    println!("{}", counts.unwrap_or_else(|error| panic!("{error:#}")));
    a_request_that_waits_for_the_release_ends(&factory);
}

/// Releases the plugin while its request blocks nice-plug's worker thread: a host without a run loop waits there for its main
/// thread. Afterwards the worker thread may end.
fn a_request_that_waits_for_the_release_ends(factory: &Factory) {
    let (asks, asked) = mpsc::channel();
    let (released, release) = mpsc::channel();
    let host = ComWrapper::new(Host::<false>::calling_back(move || {
        asks.send(()).unwrap();
        release.recv().unwrap();
    }));
    let setup = Setup { rate: 48_000.0, channels: 2, max_block: 64 };
    let instance = Instance::with_handler(factory, setup, host.to_com_ptr().as_ref());
    instance.activate();
    let lookahead = Queue { parameter: instance.id("Lookahead"), points: vec![(0, 1.0)] };
    let play = || instance.process(None, &mut [&mut [0.0; 64], &mut [0.0; 64]], vec![lookahead]);
    assert_eq!(thread::scope(|scope| scope.spawn(play).join()).unwrap(), kResultOk);
    asked.recv().unwrap();
    drop(instance);
    released.send(()).unwrap();
}
