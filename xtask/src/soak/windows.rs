//! A VST3 host that opens and closes the editor while its audio thread changes parameters.
//!
//! nice-plug has a thread, `bg-worker`, that passes such changes to the editor. The original crates `atomic_refcell` and
//! `fragile` end it by a panic, and nice-plug then ends the process when the last instance is released.

mod host;

use crate::{bundle, display::Display};
use anyhow::{Context, Result, ensure};
use host::{Changes, Frame, Queue, RunLoop};
use libloading::Library;
use std::{
    ffi::c_void,
    fmt, fs, mem,
    ptr::null_mut,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{scope, sleep},
    time::Duration,
};
use tone_filter_testkit::signals::noise;
use vst3::{
    Class, ComPtr, ComRef, ComWrapper, Interface,
    Steinberg::{
        IPlugFrame, IPlugFrameTrait, IPlugView, IPlugViewTrait, IPluginBaseTrait, IPluginFactory,
        IPluginFactoryTrait,
        Linux::{
            FileDescriptor, IEventHandler, IEventHandlerTrait, IRunLoop, IRunLoopTrait,
            ITimerHandler, TimerInterval,
        },
        PClassInfo, ViewRect,
        Vst::{
            AudioBusBuffers, AudioBusBuffers__type0, IAudioProcessor, IAudioProcessorTrait,
            IComponent, IComponentTrait, IEditController, IEditControllerTrait, IParamValueQueue,
            IParamValueQueueTrait, IParameterChanges, IParameterChangesTrait, ParamID, ParamValue,
            ParameterInfo, ProcessData, ProcessModes_, ProcessSetup, SpeakerArr,
            SymbolicSampleSizes_, ViewType,
        },
        int32, kPlatformTypeX11EmbedWindowID, kResultFalse, kResultOk, tresult,
    },
};

/// Frames in a block: few, for many changes in a second.
const FRAMES: usize = 16;

/// How often the editor is opened.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// How many instances there are, one after the other.
    pub instances: usize,
    /// How often the editor of each of them is opened.
    pub openings: usize,
    /// Whether the host has VST3's run loop for the main thread, as the specification wants it on Linux.
    pub run_loop: bool,
    /// Whether another instance, which does nothing, is released after each of them.
    pub company: bool,
}

/// What was done.
#[derive(Debug, Clone, Copy, Default)]
pub struct Windows {
    /// Editors opened and closed.
    pub openings: usize,
    /// Parameter changes that the audio thread has passed on meanwhile.
    pub changes: usize,
}

impl fmt::Display for Windows {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { openings, changes } = self;
        write!(
            f,
            "VST3: {openings} editors opened and closed, {changes} changes of parameters meanwhile"
        )
    }
}

/// Opens and closes the editor of the VST3 bundle thousands of times, and prints how often.
///
/// # Errors
/// As for [`open_and_close`], and when the bundle does not load.
pub fn soak() -> Result<()> {
    let library = bundle::vst3()?.join("Contents/x86_64-linux/Tone Filter.so");
    // SAFETY: the library is our own, and has a function of this name and type, as VST3 requires.
    let get = unsafe {
        let library = mem::ManuallyDrop::new(Library::new(&library)?);
        *library.get::<unsafe extern "system" fn() -> *mut c_void>(b"GetPluginFactory\0")?
    };
    let display = Display::start([1600, 1200])?;
    // SAFETY: the threads of earlier tests have ended, and nothing else of this program reads or writes the environment
    // at this time.
    unsafe {
        std::env::set_var("DISPLAY", display.name());
        std::env::set_var("LIBGL_ALWAYS_SOFTWARE", "1");
    }
    for (run_loop, company) in [(true, false), (true, true), (false, false), (false, true)] {
        let plan = Plan { instances: 50, openings: 20, run_loop, company };
        // SAFETY: the function gives away a reference to a factory.
        println!("{}", unsafe { open_and_close(get(), &display, plan) }?);
    }
    // SAFETY: as above.
    println!("{}", unsafe { come_and_go(get(), 10_000) }?);
    Ok(())
}

/// Opens and closes the editor of the plugin of `factory` as planned. `$DISPLAY` must be that of `display`.
///
/// # Errors
/// When the plugin refuses something, or its worker thread has ended early.
///
/// # Safety
/// `factory` must be a reference to an `IPluginFactory` of VST3's, for this function to give back.
pub unsafe fn open_and_close(
    factory: *mut c_void,
    display: &Display,
    plan: Plan,
) -> Result<Windows> {
    // SAFETY: it is one, by this function's contract.
    let factory = unsafe { ComPtr::<IPluginFactory>::from_raw(factory.cast()) };
    let factory = factory.context("no factory")?;
    let mut any = noise(plan.instances as u64);
    let mut total = Windows::default();
    for _ in 0..plan.instances {
        let company = plan.company.then(|| Instance::new(&factory)).transpose()?;
        let instance = Instance::new(&factory)?;
        let done = AtomicBool::new(false);
        let player = instance.player();
        let changes = scope(|scope| {
            let audio = scope.spawn(|| player.play(&done));
            // Ends the player, also when a window does not open.
            let end = End(&done);
            let opened = instance.visit(display, plan, &mut any);
            drop(end);
            let changes = audio.join().ok().context("the audio thread has panicked")?;
            opened.and(changes)
        })?;
        let alive = ensure_worker();
        drop(player);
        instance.release();
        if let Some(company) = company {
            company.release();
        }
        alive?;
        total.openings += plan.openings;
        total.changes += changes;
    }
    Ok(total)
}

/// Creates and releases `instances`, each right after a burst of changes that the worker thread handles.
///
/// # Errors
/// When the plugin refuses something, or its worker thread has ended early.
///
/// # Safety
/// As for [`open_and_close`].
pub unsafe fn come_and_go(factory: *mut c_void, instances: usize) -> Result<Windows> {
    // SAFETY: it is one, by this function's contract.
    let factory = unsafe { ComPtr::<IPluginFactory>::from_raw(factory.cast()) };
    let factory = factory.context("no factory")?;
    let mut total = Windows::default();
    let company = Instance::new(&factory)?;
    for _ in 0..instances {
        let instance = Instance::new(&factory)?;
        let player = instance.player();
        total.changes += scope(|scope| {
            let burst = scope.spawn(|| player.play(&AtomicBool::new(true)));
            burst.join().ok().context("the audio thread has panicked")?
        })?;
        drop(player);
        instance.release();
        ensure_worker()?;
    }
    company.release();
    Ok(total)
}

/// Sets the flag when dropped.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// That nice-plug's worker thread lives, as long as there is an instance.
fn ensure_worker() -> Result<()> {
    let mut threads = fs::read_dir("/proc/self/task")?.filter_map(|thread| {
        // A thread that has just ended has no name.
        fs::read_to_string(thread.ok()?.path().join("comm")).ok()
    });
    ensure!(threads.any(|name| name.trim() == "bg-worker"), "nice-plug's worker thread has ended");
    Ok(())
}

/// An instance in stereo that plays.
struct Instance {
    component: ComPtr<IComponent>,
    controller: ComPtr<IEditController>,
    processor: ComPtr<IAudioProcessor>,
}

impl Instance {
    fn new(factory: &ComPtr<IPluginFactory>) -> Result<Self> {
        let mut setup = ProcessSetup {
            processMode: ProcessModes_::kRealtime as int32,
            symbolicSampleSize: SymbolicSampleSizes_::kSample32 as int32,
            maxSamplesPerBlock: FRAMES as int32,
            sampleRate: 48_000.0,
        };
        let (mut input, mut output) = (SpeakerArr::kStereo, SpeakerArr::kStereo);
        // SAFETY: the calls are in VST3's order, and every pointer is to what the function wants, or to room for it;
        // zeros are an empty text, and numbers.
        unsafe {
            let mut class: PClassInfo = mem::zeroed();
            ensure!(factory.getClassInfo(0, &mut class) == kResultOk, "there is no class");
            let mut object = null_mut();
            let id = IComponent::IID.as_ptr().cast();
            let result = factory.createInstance(class.cid.as_ptr(), id, &mut object);
            ensure!(result == kResultOk, "no instance is made");
            let component: ComPtr<IComponent> =
                ComPtr::from_raw(object.cast()).context("the instance is null")?;
            ensure!(component.initialize(null_mut()) == kResultOk, "initialize fails");
            let controller = component.cast().context("there is no controller")?;
            let processor: ComPtr<IAudioProcessor> =
                component.cast().context("there is no processor")?;
            let arranged = processor.setBusArrangements(&mut input, 1, &mut output, 1);
            ensure!(arranged == kResultOk, "stereo is refused");
            ensure!(processor.setupProcessing(&mut setup) == kResultOk, "setupProcessing fails");
            ensure!(component.setActive(1) == kResultOk, "setActive fails");
            ensure!(processor.setProcessing(1) == kResultOk, "setProcessing fails");
            Ok(Self { component, controller, processor })
        }
    }

    /// For the audio thread.
    fn player(&self) -> Player {
        // SAFETY: it only asks, and there is room for what it asks for; zeros are an empty text, and numbers.
        let parameters = unsafe {
            let id = |index| {
                let mut info: ParameterInfo = mem::zeroed();
                let result = self.controller.getParameterInfo(index, &mut info);
                (result == kResultOk).then_some(info.id)
            };
            (0..self.controller.getParameterCount()).filter_map(id).collect()
        };
        Player { processor: self.processor.clone(), parameters }
    }

    /// Opens and closes its editor on the main thread.
    fn visit(&self, display: &Display, plan: Plan, any: &mut impl FnMut() -> f64) -> Result<()> {
        let own: ComWrapper<Frame<true>>;
        let bare: ComWrapper<Frame<false>>;
        let (frame, run_loop) = if plan.run_loop {
            own = ComWrapper::new(Frame(RunLoop::default()));
            (own.to_com_ptr::<IPlugFrame>(), Some(&own.0))
        } else {
            bare = ComWrapper::new(Frame(RunLoop::default()));
            (bare.to_com_ptr::<IPlugFrame>(), None)
        };
        let frame = frame.context("a frame is one")?;
        let parent = display.window() as usize as *mut c_void;
        // SAFETY: this is the main thread, the calls are in VST3's order, and the frame and the parent outlive the
        // view.
        unsafe {
            let view = self.controller.createView(ViewType::kEditor);
            let view = ComPtr::from_raw(view).context("there is no editor")?;
            ensure!(view.setFrame(frame.as_ptr()) == kResultOk, "the frame is refused");
            for _ in 0..plan.openings {
                let attached = view.attached(parent, kPlatformTypeX11EmbedWindowID);
                ensure!(attached == kResultOk, "the editor does not open");
                for _ in 0..3 {
                    sleep(Duration::from_micros((2_500.0 * (1.0 + any())) as u64));
                    if let Some(run_loop) = run_loop {
                        run_loop.turn();
                    }
                }
                ensure!(view.removed() == kResultOk, "the editor does not close");
            }
            // nice-plug leaks its handler, and with it two files, for each frame; so there is one for each instance.
            ensure!(view.setFrame(null_mut()) == kResultOk, "the frame is not let go of");
        }
        Ok(())
    }

    /// As a host does it.
    fn release(self) {
        // SAFETY: the calls are in VST3's order. What they answer changes nothing any more.
        unsafe {
            let _ = self.processor.setProcessing(0);
            let _ = self.component.setActive(0);
            let _ = self.component.terminate();
        }
    }
}

/// What the audio thread plays.
struct Player {
    processor: ComPtr<IAudioProcessor>,
    parameters: Vec<ParamID>,
}

impl Player {
    /// Plays blocks in which every parameter changes until `done`, at least three; the number of changes.
    fn play(&self, done: &AtomicBool) -> Result<usize> {
        let mut changed = 0;
        let mut any = noise(7);
        for block in 0.. {
            if block >= 3 && done.load(Ordering::Relaxed) {
                break;
            }
            let queues = self.parameters.iter().map(|parameter| {
                let points = vec![(block % FRAMES as int32, (1.0 + any()) / 2.0)];
                ComWrapper::new(Queue(*parameter, points)).to_com_ptr().context("it is a queue")
            });
            let changes = ComWrapper::new(Changes(queues.collect::<Result<_>>()?));
            let changes = changes.to_com_ptr::<IParameterChanges>().context("they are changes")?;
            self.process(&changes)?;
            changed += self.parameters.len();
            // Not much slower than a sound card's.
            if block % 8 == 7 {
                sleep(Duration::from_micros(500));
            }
        }
        Ok(changed)
    }

    fn process(&self, changes: &ComPtr<IParameterChanges>) -> Result<()> {
        let (mut from, mut to) = ([[0.1f32; FRAMES]; 2], [[0.0f32; FRAMES]; 2]);
        let mut from = from.each_mut().map(|channel| channel.as_mut_ptr());
        let mut to = to.each_mut().map(|channel| channel.as_mut_ptr());
        let bus = |buffers: &mut [*mut f32; 2]| AudioBusBuffers {
            numChannels: 2,
            silenceFlags: 0,
            __field0: AudioBusBuffers__type0 { channelBuffers32: buffers.as_mut_ptr() },
        };
        let (mut input, mut output) = (bus(&mut from), bus(&mut to));
        let mut data = ProcessData {
            processMode: ProcessModes_::kRealtime as int32,
            symbolicSampleSize: SymbolicSampleSizes_::kSample32 as int32,
            numSamples: FRAMES as int32,
            numInputs: 1,
            numOutputs: 1,
            inputs: &mut input,
            outputs: &mut output,
            inputParameterChanges: changes.as_ptr(),
            outputParameterChanges: null_mut(),
            inputEvents: null_mut(),
            outputEvents: null_mut(),
            processContext: null_mut(),
        };
        // SAFETY: all that `data` points to outlives the call, and every channel has `FRAMES` samples.
        let result = unsafe { self.processor.process(&mut data) };
        ensure!(result == kResultOk, "process fails");
        Ok(())
    }
}
