//! Tests of the VST3 plugin's editor: its size, focus and keys, and its opening and closing while the audio thread changes
//! parameters. `cargo xtask soak` repeats opening and closing thousands of times.
//!
//! nice-plug's thread `bg-worker` passes the changes to the editor. With the unpatched crates `atomic_refcell` and `fragile`,
//! this thread panics, and nice-plug then ends the process when the last instance is released.

use crate::{SetOnDrop, display, memory::Memory};
use std::{
    fs, ptr,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread::{self, scope, sleep},
    time::Duration,
};
use tone_filter_testkit::{
    Draws,
    display::Display,
    plugin::{factory, thread_names, wait},
    vst3::{Factory, Host, Instance, Queue},
};
use vst3::{
    ComPtr, ComWrapper,
    Steinberg::{
        Vst::{ParameterInfo_::ParameterFlags_, *},
        *,
    },
};

/// Buffer length in frames. It is short, for many changes per second.
const FRAMES: usize = 16;

/// Pixel of the zoom menu in a window of default size.
const ZOOM: [i16; 2] = [565, 29];
/// Pixel of a band's cell.
const BAND: [i16; 2] = [330, 275];
/// Pixel of the number beside the slider Mix.
const VALUE: [i16; 2] = [225, 72];

// X11 keysyms.
const SPACE: u32 = 0x20;
const ENTER: u32 = 0xFF0D;
const TAB: u32 = 0xFF09;

pub fn a_host_survives_its_windows() {
    let (display, factory) = (display([1600, 1200]), factory());
    openings_leave_nothing_behind(&factory);
    the_host_decides_on_the_size(&factory, &display);
    open_often(&factory, &display, [2, 3, 60]);
    a_request_that_waits_for_the_release_ends(&factory);
}

/// Opens and closes the editors of `instances` instances, each `openings` times while its parameters change.
///
/// Does this in four kinds of host: with and without the run loop that VST3 requires on Linux, and with and without a second
/// instance. Then creates and releases `releases` instances, each right after a burst of changes.
pub fn open_often(
    factory: &Factory,
    display: &Display,
    [instances, openings, releases]: [usize; 3],
) {
    let draws = &mut Draws::seeded(3);
    for (has_loop, has_second) in [(true, false), (true, true), (false, false), (false, true)] {
        let mut changes = 0;
        for _ in 0..instances {
            let _second = has_second.then(|| Instance::active(factory, FRAMES));
            let instance = Instance::active(factory, FRAMES);
            let done = AtomicBool::new(false);
            changes += scope(|scope| {
                let audio = scope.spawn(|| play(&instance, &done));
                // Ends the audio thread even if an editor does not open.
                let end = SetOnDrop(&done);
                (0..openings).for_each(|_| visit(&instance, display, has_loop, draws));
                drop(end);
                audio.join().unwrap()
            });
            check_worker();
        }
        let openings = instances * openings;
        println!("{openings} editors opened and closed, {changes} changes of parameters meanwhile");
        assert!(changes > 100 * openings, "hardly any changes");
    }
    let _second = Instance::active(factory, FRAMES);
    for _ in 0..releases {
        let instance = Instance::active(factory, FRAMES);
        scope(|scope| scope.spawn(|| play(&instance, &AtomicBool::new(true))).join().unwrap());
        drop(instance);
        check_worker();
    }
    println!("{releases} instances released after changes");
}

/// Checks that nice-plug's worker thread is running. An instance must exist.
fn check_worker() {
    let has_ended = thread_names().iter().all(|name| name.trim() != "bg-worker");
    assert!(!has_ended, "nice-plug's worker thread has ended");
}

/// Opens the editor, serves it for a while, and closes it.
fn visit(instance: &Instance, display: &Display, has_loop: bool, draws: &mut Draws) {
    let host = has_loop.then(|| ComWrapper::new(Host::<true>::default()));
    let frame: Option<ComPtr<IPlugFrame>> = match &host {
        Some(host) => host.to_com_ptr(),
        None => ComWrapper::new(Host::<false>::default()).to_com_ptr(),
    };
    let view = instance.open_editor(&frame.unwrap(), display.window());
    for _ in 0..3 {
        sleep(Duration::from_micros(draws.below(5000) as u64));
        host.iter().for_each(|host| host.idle());
    }
    Instance::close_editor(&view);
}

/// Plays until `done` is set, at least three buffers. Each one changes all automatable parameters. Returns the number of changes.
fn play(instance: &Instance, done: &AtomicBool) -> usize {
    // Excludes the program, as hosts do not automate presets.
    let automated = |info: &ParameterInfo| info.flags & ParameterFlags_::kCanAutomate as int32 != 0;
    let parameters = instance.parameters().into_iter().filter(automated);
    let parameters: Vec<ParamID> = parameters.map(|info| info.id).collect();
    let (draws, input) = (&mut Draws::seeded(7), vec![vec![0.1; FRAMES]; 2]);
    let (mut blocks, mut output) = (0, input.clone());
    while blocks < 3 || !done.load(Ordering::Relaxed) {
        let changes = parameters.iter().map(|parameter| {
            let points = vec![((blocks % FRAMES) as int32, draws.share())];
            Queue { parameter: *parameter, points }
        });
        let result = instance.process(Some(&input), &mut output, changes.collect());
        assert_eq!(result, kResultOk);
        blocks += 1;
        // Pauses about as long as a sound card between callbacks.
        if blocks % 8 == 0 {
            sleep(Duration::from_micros(500));
        }
    }
    blocks * parameters.len()
}

/// Returns the number of open files, and the heap use in bytes.
fn used() -> (usize, usize) {
    (fs::read_dir("/proc/self/fd").unwrap().count(), Memory::now().heap)
}

/// Checks that 300 views in a frame with a run loop, without windows, leave neither open files nor memory behind.
fn openings_leave_nothing_behind(factory: &Factory) {
    let host = ComWrapper::new(Host::<true>::default());
    let frame = host.to_com_ptr::<IPlugFrame>().unwrap();
    let instance = Instance::set_up_stereo(factory, FRAMES, None);
    let open = |let_go: bool| {
        // SAFETY: this is the main thread, and nice-plug passes ownership of a view. Some hosts release a view that still
        // has its frame.
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
    // The first openings start threads, whose memory stays.
    (0..30).for_each(|_| open(true));
    let (files, bytes) = used();
    (0..300).for_each(|opening| open(opening % 2 == 0));
    let after = used();
    assert_eq!(after.0, files, "open files");
    assert!(after.1 < bytes + 300 * 16, "{} bytes an opening", (after.1 - bytes) / 300);
}

/// Selects 200 % in the zoom menu, in hosts that refuse the new size, grant it, or grant a smaller one.
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
        let instance = Instance::set_up_stereo(factory, FRAMES, handler.as_ref());
        let frame = host.to_com_ptr::<IPlugFrame>().unwrap();
        let view = instance.open_editor(&frame, display.window());
        let zoomed = || {
            host.idle();
            sleep(Duration::from_millis(20));
            let saved = instance.save();
            let state: serde_json::Value = serde_json::from_slice(&saved).unwrap();
            state["fields"]["editor-zoom"].as_str().unwrap().parse::<f64>().unwrap()
        };
        // 200 % is the lowest entry, wherever the font puts it.
        let mut entries = (60..180).rev().step_by(6).cycle();
        let asked = wait("the host is not asked", || {
            display.click(ZOOM, 1).unwrap();
            display.click([ZOOM[0], entries.next()?], 1).unwrap();
            (0..5).for_each(|_| _ = zoomed());
            Some(host.sizes()).filter(|sizes| !sizes.is_empty())
        });
        // The screen has 1600 x 1200 pixels, so there is no room for 200 %.
        assert_eq!(asked[0], [1600, 1024]);
        wait("the zoom is another one", || (zoomed() == zoom).then_some(()));
        assert_eq!(display.editor_size().unwrap(), reached);
        if resize.is_none() {
            the_host_keeps_the_focus_and_the_unused_keys(display);
        }
        Instance::close_editor(&view);
    }
}

/// Clicks and types in an editor of default size.
fn the_host_keeps_the_focus_and_the_unused_keys(display: &Display) {
    let (host, editor) = (display.window(), display.editor().unwrap());
    let wait = |what: &str, done: &mut dyn FnMut() -> bool| wait(what, || done().then_some(()));
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

    // A text field takes the focus, and all keys until Enter.
    wait("a field", &mut || {
        display.click(VALUE, 1).unwrap();
        focused() == editor
    });
    press(&[SPACE, ENTER]);
    wait("the focus comes back", &mut || focused() == host);
    assert_eq!(display.keys().unwrap(), 0);

    // The host focuses the window, for keyboard navigation.
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

/// Releases the plugin while a request blocks nice-plug's worker thread, as a host without a run loop may do.
///
/// After this test, the worker thread may end.
fn a_request_that_waits_for_the_release_ends(factory: &Factory) {
    let (asks, asked) = mpsc::channel();
    let (released, release) = mpsc::channel();
    let host = ComWrapper::new(Host::<false>::calling_back(move || {
        asks.send(()).unwrap();
        release.recv().unwrap();
    }));
    let instance = Instance::set_up_stereo(factory, FRAMES, host.to_com_ptr().as_ref());
    instance.activate();
    let lookahead = Queue { parameter: instance.id("Lookahead"), points: vec![(0, 1.0)] };
    let play = || instance.process(None, &mut vec![vec![0.0; FRAMES]; 2], vec![lookahead]);
    assert_eq!(thread::scope(|scope| scope.spawn(play).join()).unwrap(), kResultOk);
    asked.recv().unwrap();
    drop(instance);
    released.send(()).unwrap();
}
