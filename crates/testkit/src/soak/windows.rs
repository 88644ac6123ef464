//! VST3 host that opens and closes the editor while its audio thread changes parameters.
//!
//! nice-plug's thread `bg-worker` passes these changes to the editor. With the original crates `atomic_refcell` and `fragile`,
//! that thread panics, and nice-plug then ends the process when the last instance is released.

use crate::{
    display::Display,
    signals::noise,
    vst3::{Factory, Host, Instance, Queue, Setup},
};
use anyhow::{Context, Result, ensure};
use std::{
    ffi::c_void,
    fmt, fs,
    ptr::null_mut,
    sync::atomic::{AtomicBool, Ordering},
    thread::{scope, sleep},
    time::Duration,
};
use vst3::{
    ComPtr, ComWrapper,
    Steinberg::{
        IPlugFrame, IPlugViewTrait,
        Vst::{
            IEditControllerTrait, ParamID, ParameterInfo, ParameterInfo_::ParameterFlags_, ViewType,
        },
        int32, kPlatformTypeX11EmbedWindowID, kResultOk,
    },
};

/// Length of a buffer in frames: short, for many changes per second.
const FRAMES: usize = 16;

const SETUP: Setup = Setup { rate: 48_000.0, channels: 2, max_block: FRAMES };

/// Test of editors that open and close.
#[derive(Debug, Clone, Copy)]
pub struct EditorTest {
    /// Number of instances, one after the other.
    pub instances: usize,
    /// Number of times that the editor of each instance is opened.
    pub openings: usize,
    /// Whether the host has VST3's run loop for the main thread, which the specification demands on Linux.
    pub run_loop: bool,
    /// Whether a second, idle instance exists beside each instance; it is released last.
    pub with_second_instance: bool,
}

/// Counts of a test.
#[derive(Debug, Clone, Copy, Default)]
pub struct EditorCounts {
    /// Number of editors that were opened and closed.
    pub openings: usize,
    /// Number of parameter changes that the audio thread has passed on meanwhile.
    pub changes: usize,
}

impl fmt::Display for EditorCounts {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { openings, changes } = self;
        write!(
            f,
            "VST3: {openings} editors opened and closed, {changes} changes of parameters meanwhile"
        )
    }
}

/// Runs all tests and prints their results.
///
/// # Errors
/// As for [`open_and_close`], and if the bundle does not load.
pub fn soak() -> Result<()> {
    let factory = Factory::bundled()?;
    let display = Display::start([1600, 1200])?;
    // SAFETY: the threads of earlier tests have ended, and no other code of this program accesses the environment now.
    unsafe { display.set_environment() };
    for (run_loop, with_second_instance) in
        [(true, false), (true, true), (false, false), (false, true)]
    {
        let test = EditorTest { instances: 50, openings: 20, run_loop, with_second_instance };
        println!("{}", open_and_close(&factory, &display, test)?);
    }
    println!("{}", come_and_go(&factory, 10_000)?);
    Ok(())
}

/// Opens and closes the editor of the plugin of `factory` as `test` says. `$DISPLAY` must name `display`.
///
/// # Errors
/// If an editor does not open or close, or nice-plug's worker thread has ended early.
///
/// # Panics
/// If the plugin refuses any other call.
pub fn open_and_close(
    factory: &Factory,
    display: &Display,
    test: EditorTest,
) -> Result<EditorCounts> {
    let mut any = noise(test.instances as u64);
    let mut total = EditorCounts::default();
    for _ in 0..test.instances {
        let second = test.with_second_instance.then(|| Instance::active(factory, SETUP));
        let instance = Instance::active(factory, SETUP);
        let (done, parameters) = (AtomicBool::new(false), ids(&instance));
        let changes = scope(|scope| {
            let audio = scope.spawn(|| play(&instance, &parameters, &done));
            // Ends the audio thread even if an editor does not open.
            let end = End(&done);
            visit(&instance, display, test, &mut any)?;
            drop(end);
            audio.join().ok().context("the audio thread has panicked")
        })?;
        let alive = ensure_worker();
        drop(instance);
        drop(second);
        alive?;
        total.openings += test.openings;
        total.changes += changes;
    }
    Ok(total)
}

/// Creates and releases `instances` instances, each right after a burst of parameter changes for the worker thread.
///
/// # Errors
/// If nice-plug's worker thread has ended early.
///
/// # Panics
/// If the plugin refuses a call.
pub fn come_and_go(factory: &Factory, instances: usize) -> Result<EditorCounts> {
    let mut total = EditorCounts::default();
    let _second = Instance::active(factory, SETUP);
    for _ in 0..instances {
        let instance = Instance::active(factory, SETUP);
        let parameters = ids(&instance);
        total.changes += scope(|scope| {
            let burst = scope.spawn(|| play(&instance, &parameters, &AtomicBool::new(true)));
            burst.join().ok().context("the audio thread has panicked")
        })?;
        drop(instance);
        ensure_worker()?;
    }
    Ok(total)
}

/// Guard that sets the flag when dropped.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Checks that nice-plug's worker thread is running. An instance must exist.
fn ensure_worker() -> Result<()> {
    let mut threads = fs::read_dir("/proc/self/task")?.filter_map(|thread| {
        // A thread that has just ended has no name.
        fs::read_to_string(thread.ok()?.path().join("comm")).ok()
    });
    ensure!(threads.any(|name| name.trim() == "bg-worker"), "nice-plug's worker thread has ended");
    Ok(())
}

fn ids(instance: &Instance) -> Vec<ParamID> {
    let parameters = instance.parameters().into_iter();
    // Not the program: a host automates no presets.
    let automated = |info: &ParameterInfo| info.flags & ParameterFlags_::kCanAutomate as int32 != 0;
    parameters.filter(automated).map(|info| info.id).collect()
}

/// Opens and closes the instance's editor on the main thread, as often as `test` says.
fn visit(
    instance: &Instance,
    display: &Display,
    test: EditorTest,
    any: &mut impl FnMut() -> f64,
) -> Result<()> {
    let own: ComWrapper<Host<true>>;
    let (frame, run_loop): (Option<ComPtr<IPlugFrame>>, _) = if test.run_loop {
        own = ComWrapper::new(Host::default());
        (own.to_com_ptr(), Some(&own))
    } else {
        (ComWrapper::new(Host::<false>::default()).to_com_ptr(), None)
    };
    let frame = frame.context("a host is a frame")?;
    let parent = display.window() as usize as *mut c_void;
    // SAFETY: this is the main thread, the calls are in VST3's order, and frame and parent window outlive the view.
    unsafe {
        let view = instance.controller.createView(ViewType::kEditor);
        let view = ComPtr::from_raw(view).context("there is no editor")?;
        for _ in 0..test.openings {
            ensure!(view.setFrame(frame.as_ptr()) == kResultOk, "the frame is refused");
            let attached = view.attached(parent, kPlatformTypeX11EmbedWindowID);
            ensure!(attached == kResultOk, "the editor does not open");
            for _ in 0..3 {
                sleep(Duration::from_micros((2_500.0 * (1.0 + any())) as u64));
                run_loop.iter().for_each(|run_loop| run_loop.idle());
            }
            ensure!(view.removed() == kResultOk, "the editor does not close");
            ensure!(view.setFrame(null_mut()) == kResultOk, "the frame is not let go of");
        }
    }
    Ok(())
}

/// Plays at least three buffers, until `done` is set. Every parameter changes in each buffer. Returns the number of changes.
fn play(instance: &Instance, parameters: &[ParamID], done: &AtomicBool) -> usize {
    let mut changed = 0;
    let mut any = noise(7);
    let input = vec![vec![0.1; FRAMES]; 2];
    for block in 0.. {
        if block >= 3 && done.load(Ordering::Relaxed) {
            break;
        }
        let changes = parameters.iter().map(|parameter| {
            let points = vec![(block % FRAMES as i32, (1.0 + any()) / 2.0)];
            Queue { parameter: *parameter, points }
        });
        let mut output = [[0.0; FRAMES]; 2];
        let mut output = output.each_mut().map(|channel| &mut channel[..]);
        let result = instance.process(Some(&input), &mut output, changes.collect());
        assert_eq!(result, kResultOk);
        changed += parameters.len();
        // Waits, but not much longer than a sound card between its callbacks.
        if block % 8 == 7 {
            sleep(Duration::from_micros(500));
        }
    }
    changed
}
