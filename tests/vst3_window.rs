//! The VST3 plugin in the project's own host, which opens and closes its editor while the audio thread changes parameters. `cargo
//! xtask soak` repeats this thousands of times.
#![cfg(target_os = "linux")]

use std::{
    ffi::c_void,
    fs, ptr,
    sync::mpsc,
    thread::{self, sleep},
    time::{Duration, Instant},
};
use tone_filter_testkit::{
    display::Display,
    soak::{
        memory::Memory,
        windows::{EditorTest, come_and_go, open_and_close},
    },
    vst3::{Factory, Host, Instance, Queue, Setup},
};
use vst3::{
    ComPtr, ComWrapper,
    Steinberg::{
        IPlugFrame, IPlugViewTrait,
        Vst::{IEditControllerTrait, ViewType},
        kPlatformTypeX11EmbedWindowID, kResultOk,
    },
};

const SETUP: Setup = Setup { rate: 48_000.0, channels: 2, max_block: 64 };

/// Timeout, far longer than a software renderer on a busy machine needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Pixels of the menu of the zoom, of a band, and of the value of Mix, in a window of default size.
const ZOOM: [i16; 2] = [645, 29];
const BAND: [i16; 2] = [330, 275];
const VALUE: [i16; 2] = [225, 72];

/// X11's symbols of keys.
const SPACE: u32 = 0x20;
const ENTER: u32 = 0xFF0D;
const TAB: u32 = 0xFF09;

// A single test, because there is one display, and all instances of a process share nice-plug's worker thread.
#[test]
fn a_host_survives_its_windows() {
    let display = Display::start([1600, 1200]).unwrap_or_else(|error| panic!("{error:#}"));
    // SAFETY: this is the only test in its process. No other thread uses the environment: the test harness only waits for this
    // test.
    unsafe { display.set_environment() };
    // SAFETY: `GetPluginFactory` returns an owned reference to a factory.
    let factory = unsafe { Factory::linked(tone_filter::GetPluginFactory) };
    openings_leave_nothing_behind(&factory);
    the_host_decides_on_the_size(&factory, &display);
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

/// Returns the numbers of open files and of bytes from `malloc`.
fn used() -> (usize, usize) {
    (fs::read_dir("/proc/self/fd").unwrap().count(), Memory::now().heap)
}

/// Frames 1,000 views in a host's run loop. What a view draws is another test's.
fn openings_leave_nothing_behind(factory: &Factory) {
    let host = ComWrapper::new(Host::<true>::default());
    let frame = host.to_com_ptr::<IPlugFrame>().unwrap();
    let instance = Instance::new(factory, SETUP);
    let open = |let_go: bool| {
        // SAFETY: this is the main thread, and nice-plug passes ownership of a view. Some hosts release it in its frame.
        unsafe {
            let view = instance.controller.createView(ViewType::kEditor);
            let view = ComPtr::from_raw(view).unwrap();
            assert_eq!(view.setFrame(frame.as_ptr()), kResultOk);
            assert_eq!(host.handlers(), [1, 1]);
            host.idle();
            if let_go {
                assert_eq!(view.setFrame(ptr::null_mut()), kResultOk);
            }
        }
        assert_eq!(host.handlers(), [0, 0]);
    };
    open(true);
    let (files, bytes) = used();
    (0..1000).for_each(|opening| open(opening % 2 == 0));
    let after = used();
    assert_eq!(after.0, files, "open files");
    assert!(after.1 < bytes + 1000 * 16, "{} bytes an opening", (after.1 - bytes) / 1000);
}

/// Picks 200 % in the menu of the zoom, in hosts that refuse another size, grant it, or grant less.
fn the_host_decides_on_the_size(factory: &Factory, display: &Display) {
    type Grant = Option<fn([i32; 2]) -> [i32; 2]>;
    let grants: [(Grant, [u32; 2], f64); 3] = [
        (None, [1000, 640], 1.0),
        (Some(|size| size), [1600, 1024], 1.6),
        (Some(|_| [1250, 800]), [1250, 800], 1.25),
    ];
    for (resize, reached, zoom) in grants {
        let mut host = Host::<true>::default();
        host.resize = resize;
        let host = ComWrapper::new(host);
        let handler = host.to_com_ptr();
        let instance = Instance::with_handler(factory, SETUP, handler.as_ref());
        let frame = host.to_com_ptr::<IPlugFrame>().unwrap();
        let parent = display.window() as usize as *mut c_void;
        // SAFETY: this is the main thread, the calls are in VST3's order, and frame and parent window outlive the view.
        let view = unsafe {
            let view = instance.controller.createView(ViewType::kEditor);
            let view = ComPtr::from_raw(view).unwrap();
            assert_eq!(view.setFrame(frame.as_ptr()), kResultOk);
            assert_eq!(view.attached(parent, kPlatformTypeX11EmbedWindowID), kResultOk);
            view
        };
        let zoomed = || {
            host.idle();
            sleep(Duration::from_millis(20));
            let saved = instance.save();
            let state: serde_json::Value = serde_json::from_slice(&saved).unwrap();
            state["fields"]["editor-zoom"].as_str().unwrap().parse::<f64>().unwrap()
        };
        let begun = Instant::now();
        let mut asked = vec![];
        // 200 % is the lowest entry, wherever the font puts it.
        for y in (60..180).rev().step_by(6).cycle() {
            assert!(begun.elapsed() < PATIENCE, "the host is not asked");
            display.click(ZOOM, 1).unwrap();
            display.click([ZOOM[0], y], 1).unwrap();
            (0..5).for_each(|_| _ = zoomed());
            asked = host.sizes();
            if !asked.is_empty() {
                break;
            }
        }
        // The screen has 1600 x 1200 pixels, so there is no room for 200 %.
        assert_eq!(asked[0], [1600, 1024]);
        while zoomed() != zoom {
            assert!(begun.elapsed() < PATIENCE, "{} is not {zoom}", zoomed());
        }
        assert_eq!(display.editor_size().unwrap(), reached);
        if resize.is_none() {
            the_host_keeps_the_focus_and_the_unused_keys(display);
        }
        // SAFETY: as above.
        unsafe { assert_eq!(view.removed(), kResultOk) };
    }
}

/// Clicks and types in an editor of default size.
fn the_host_keeps_the_focus_and_the_unused_keys(display: &Display) {
    let (host, editor) = (display.window(), display.editor().unwrap());
    let wait = |what: &str, done: &mut dyn FnMut() -> bool| {
        let begun = Instant::now();
        while !done() {
            assert!(begun.elapsed() < PATIENCE, "{what}");
            sleep(Duration::from_millis(20));
        }
    };
    let focused = || display.focused().unwrap();
    let press = |keys: &[u32]| keys.iter().for_each(|key| display.key(*key).unwrap());
    display.focus(host).unwrap();
    display.keys().unwrap();
    for _ in 0..4 {
        display.click(BAND, 1).unwrap();
        assert_eq!(focused(), host, "a click leaves the focus");
    }
    press(&[SPACE]);
    assert_eq!(display.keys().unwrap(), 1);

    // A field takes the focus, and all keys until Enter.
    wait("a field", &mut || {
        display.click(VALUE, 1).unwrap();
        focused() == editor
    });
    press(&[SPACE, ENTER]);
    wait("the focus comes back", &mut || focused() == host);
    assert_eq!(display.keys().unwrap(), 0);

    // The host gives the window the focus, for a user of the keyboard.
    display.focus(editor).unwrap();
    press(&[TAB, SPACE, TAB]);
    let mut got = 0;
    wait("Space alone", &mut || {
        got += display.keys().unwrap();
        got == 1
    });
    assert_eq!(focused(), editor, "the window keeps what it was given");
    display.focus(host).unwrap();
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
    let instance = Instance::with_handler(factory, SETUP, host.to_com_ptr().as_ref());
    instance.activate();
    let lookahead = Queue { parameter: instance.id("Lookahead"), points: vec![(0, 1.0)] };
    let play = || instance.process(None, &mut [&mut [0.0; 64], &mut [0.0; 64]], vec![lookahead]);
    assert_eq!(thread::scope(|scope| scope.spawn(play).join()).unwrap(), kResultOk);
    asked.recv().unwrap();
    drop(instance);
    released.send(()).unwrap();
}
