//! The latency of the VST3 plugin: how hosts learn of a change, and when the sound has it.
#![cfg(any(target_os = "linux", windows))]

use std::{
    ffi::c_void,
    ptr::null_mut,
    sync::Mutex,
    thread::{self, ThreadId},
};
use tone_filter_dsp::ToneFilter;
use vst3::{
    Class, ComPtr, ComWrapper, Interface,
    Steinberg::{
        IPluginFactory, IPluginFactoryTrait,
        Linux::{
            FileDescriptor, IEventHandler, IRunLoop, IRunLoopTrait, ITimerHandler,
            ITimerHandlerTrait, TimerInterval,
        },
        PClassInfo, TBool,
        Vst::{
            AudioBusBuffers, AudioBusBuffers__type0, IAudioProcessor, IAudioProcessorTrait,
            IComponent, IComponentHandler, IComponentHandlerTrait, IComponentTrait,
            IEditController, IEditControllerTrait, IParamValueQueue, IParamValueQueueTrait,
            IParameterChanges, IParameterChangesTrait, ParamID, ParamValue, ParameterInfo,
            ProcessData, ProcessModes_, ProcessSetup, RestartFlags_, SpeakerArr,
            SymbolicSampleSizes_,
        },
        int32, kResultFalse, kResultOk, tresult,
    },
};

unsafe extern "system" {
    fn GetPluginFactory() -> *mut c_void;
}

const RATE: f64 = 48_000.0;
const FRAMES: usize = 512;

/// A host's handler, which writes down when it is asked to restart, and on which thread.
#[derive(Default)]
struct Handler {
    restarts: Mutex<Vec<(int32, ThreadId)>>,
    timers: Mutex<Vec<usize>>,
}

/// The same with a run loop.
#[derive(Default)]
struct WithRunLoop(Handler);

impl Handler {
    fn restart(&self, flags: int32) -> tresult {
        self.restarts.lock().unwrap().push((flags, thread::current().id()));
        kResultOk
    }

    /// How often it was asked to read another latency since the last time; on this thread, and for nothing else.
    fn take(&self) -> usize {
        #[allow(clippy::unnecessary_cast, reason = "its type depends on the system")]
        let flags = RestartFlags_::kLatencyChanged as int32;
        let restarts = std::mem::take(&mut *self.restarts.lock().unwrap());
        assert!(restarts.iter().all(|restart| *restart == (flags, thread::current().id())));
        restarts.len()
    }

    /// Lets the run loop run.
    fn idle(&self) {
        let timers = self.timers.lock().unwrap().clone();
        for timer in timers {
            // SAFETY: the plugin has registered it.
            unsafe { vst3::ComRef::from_raw(timer as *mut ITimerHandler).unwrap().onTimer() };
        }
    }
}

impl Class for Handler {
    type Interfaces = (IComponentHandler,);
}

impl Class for WithRunLoop {
    type Interfaces = (IComponentHandler, IRunLoop);
}

macro_rules! handler {
    ($type:ty, $self:ident => $handler:expr) => {
        impl IComponentHandlerTrait for $type {
            unsafe fn beginEdit(&self, _: ParamID) -> tresult {
                kResultOk
            }
            unsafe fn performEdit(&self, _: ParamID, _: ParamValue) -> tresult {
                kResultOk
            }
            unsafe fn endEdit(&self, _: ParamID) -> tresult {
                kResultOk
            }
            unsafe fn restartComponent(&$self, flags: int32) -> tresult {
                $handler.restart(flags)
            }
        }
    };
}
handler!(Handler, self => self);
handler!(WithRunLoop, self => self.0);

impl IRunLoopTrait for WithRunLoop {
    unsafe fn registerEventHandler(&self, _: *mut IEventHandler, _: FileDescriptor) -> tresult {
        kResultFalse
    }
    unsafe fn unregisterEventHandler(&self, _: *mut IEventHandler) -> tresult {
        kResultFalse
    }
    unsafe fn registerTimer(&self, timer: *mut ITimerHandler, _: TimerInterval) -> tresult {
        self.0.timers.lock().unwrap().push(timer as usize);
        kResultOk
    }
    unsafe fn unregisterTimer(&self, timer: *mut ITimerHandler) -> tresult {
        self.0.timers.lock().unwrap().retain(|other| *other != timer as usize);
        kResultOk
    }
}

/// New values of a parameter in a block, by the sample.
struct Queue(ParamID, Vec<(int32, ParamValue)>);

impl Class for Queue {
    type Interfaces = (IParamValueQueue,);
}

impl IParamValueQueueTrait for Queue {
    unsafe fn getParameterId(&self) -> ParamID {
        self.0
    }
    unsafe fn getPointCount(&self) -> int32 {
        self.1.len() as int32
    }
    unsafe fn getPoint(&self, index: int32, offset: *mut int32, value: *mut ParamValue) -> tresult {
        // SAFETY: VST3 promises room for both.
        unsafe { (*offset, *value) = self.1[index as usize] };
        kResultOk
    }
    unsafe fn addPoint(&self, _: int32, _: ParamValue, _: *mut int32) -> tresult {
        kResultFalse
    }
}

struct Changes(ComPtr<IParamValueQueue>);

impl Class for Changes {
    type Interfaces = (IParameterChanges,);
}

impl IParameterChangesTrait for Changes {
    unsafe fn getParameterCount(&self) -> int32 {
        1
    }
    unsafe fn getParameterData(&self, _: int32) -> *mut IParamValueQueue {
        self.0.as_ptr()
    }
    unsafe fn addParameterData(&self, _: *const ParamID, _: *mut int32) -> *mut IParamValueQueue {
        null_mut()
    }
}

/// An instance in stereo, which is not active yet.
struct Instance {
    component: ComPtr<IComponent>,
    controller: ComPtr<IEditController>,
    processor: ComPtr<IAudioProcessor>,
}

impl Instance {
    fn new(handler: Option<&ComPtr<IComponentHandler>>) -> Self {
        let mut setup = ProcessSetup {
            processMode: ProcessModes_::kRealtime as int32,
            symbolicSampleSize: SymbolicSampleSizes_::kSample32 as int32,
            maxSamplesPerBlock: FRAMES as int32,
            sampleRate: RATE,
        };
        let (mut input, mut output) = (SpeakerArr::kStereo, SpeakerArr::kStereo);
        // SAFETY: the calls are in VST3's order, and every pointer is to what the function wants, or to room for it;
        // zeros are an empty text, and numbers.
        unsafe {
            let factory: ComPtr<IPluginFactory> =
                ComPtr::from_raw(GetPluginFactory().cast()).unwrap();
            let mut class: PClassInfo = std::mem::zeroed();
            assert_eq!(factory.getClassInfo(0, &mut class), kResultOk);
            let mut object = null_mut();
            let id = IComponent::IID.as_ptr().cast();
            assert_eq!(factory.createInstance(class.cid.as_ptr(), id, &mut object), kResultOk);
            let component: ComPtr<IComponent> = ComPtr::from_raw(object.cast()).unwrap();
            let controller: ComPtr<IEditController> = component.cast().unwrap();
            let processor: ComPtr<IAudioProcessor> = component.cast().unwrap();
            if let Some(handler) = handler {
                assert_eq!(controller.setComponentHandler(handler.as_ptr()), kResultOk);
            }
            assert_eq!(processor.setBusArrangements(&mut input, 1, &mut output, 1), kResultOk);
            assert_eq!(processor.setupProcessing(&mut setup), kResultOk);
            Self { component, controller, processor }
        }
    }

    /// The id of the parameter `title`.
    fn id(&self, title: &str) -> ParamID {
        // SAFETY: there is room for what is asked for; zeros are an empty text, and numbers.
        let info = |index| unsafe {
            let mut info: ParameterInfo = std::mem::zeroed();
            assert_eq!(self.controller.getParameterInfo(index, &mut info), kResultOk);
            info
        };
        let is = |info: &ParameterInfo| {
            let text = info.title.iter().take_while(|unit| **unit != 0).copied();
            String::from_utf16(&text.collect::<Vec<_>>()).unwrap() == title
        };
        // SAFETY: it only asks.
        (0..unsafe { self.controller.getParameterCount() }).map(info).find(is).unwrap().id
    }

    /// Sets a parameter while the plugin does not process.
    fn set(&self, title: &str, value: f64) {
        // SAFETY: the value is one.
        let result = unsafe { self.controller.setParamNormalized(self.id(title), value) };
        assert_eq!(result, kResultOk);
    }

    fn activate(&self, active: TBool) {
        // SAFETY: the plugin was set up.
        unsafe {
            if active == 0 {
                // Its answer changes nothing.
                let _ = self.processor.setProcessing(0);
            }
            assert_eq!(self.component.setActive(active), kResultOk);
            if active != 0 {
                assert_eq!(self.processor.setProcessing(1), kResultOk);
            }
        }
    }

    fn latency(&self) -> usize {
        // SAFETY: it only asks.
        unsafe { self.processor.getLatencySamples() as usize }
    }

    /// What becomes of `signal` in both channels on an audio thread, where Lookahead changes at the samples of the first
    /// block that `changes` has.
    fn play(&self, signal: &[f32], changes: &[(int32, ParamValue)]) -> Vec<f32> {
        let id = self.id("Lookahead");
        let blocks = signal.chunks_exact(FRAMES).enumerate();
        let blocks = blocks.map(|(index, block)| (block, if index == 0 { changes } else { &[] }));
        thread::scope(|scope| {
            let audio = || blocks.flat_map(|(block, changes)| self.block(block, id, changes));
            scope.spawn(move || audio().collect()).join().unwrap()
        })
    }

    fn block(&self, block: &[f32], id: ParamID, changes: &[(int32, ParamValue)]) -> Vec<f32> {
        let queue = ComWrapper::new(Queue(id, changes.to_vec())).to_com_ptr().unwrap();
        let changes = ComWrapper::new(Changes(queue)).to_com_ptr::<IParameterChanges>().unwrap();
        let mut from = [block.to_vec(), block.to_vec()];
        let mut to = [vec![0.0f32; FRAMES], vec![0.0; FRAMES]];
        let mut inputs = from.each_mut().map(|channel| channel.as_mut_ptr());
        let mut outputs = to.each_mut().map(|channel| channel.as_mut_ptr());
        let bus = |buffers: &mut [*mut f32; 2]| AudioBusBuffers {
            numChannels: 2,
            silenceFlags: 0,
            __field0: AudioBusBuffers__type0 { channelBuffers32: buffers.as_mut_ptr() },
        };
        let (mut input, mut output) = (bus(&mut inputs), bus(&mut outputs));
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
        assert_eq!(unsafe { self.processor.process(&mut data) }, kResultOk);
        let [left, _] = to;
        left
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.activate(0);
        // SAFETY: the plugin is not active. VST3 wants it to be terminated. What it answers changes nothing any more.
        unsafe {
            let _ = self.controller.setComponentHandler(null_mut());
            let _ = vst3::Steinberg::IPluginBaseTrait::terminate(&self.component);
        }
    }
}

/// The latency of Lookahead.
fn late() -> usize {
    ToneFilter::lookahead(RATE)
}

fn silence() -> Vec<f32> {
    vec![0.0; 20 * FRAMES]
}

fn impulse(at: usize) -> Vec<f32> {
    let mut signal = silence();
    signal[at] = 0.5;
    signal
}

fn music() -> Vec<f32> {
    (0..20 * FRAMES).map(|frame| 0.3 * (0.03 * frame as f32).sin()).collect()
}

fn with_run_loop() -> (ComWrapper<WithRunLoop>, ComPtr<IComponentHandler>) {
    let host = ComWrapper::new(WithRunLoop::default());
    let handler = host.to_com_ptr().unwrap();
    (host, handler)
}

#[test]
fn a_new_latency_is_asked_for_on_the_host_s_thread_and_comes_with_the_activation() {
    let (host, handler) = with_run_loop();
    let (instance, still) = (Instance::new(Some(&handler)), Instance::new(None));
    let plain = |instance: &Instance| instance.set("Mix", 0.0);
    instance.activate(1);
    still.activate(1);
    for (lookahead, latency) in [(1.0, late()), (0.0, 0)] {
        let before = still.play(&music(), &[]);
        assert!(instance.play(&music(), &[(100, lookahead)]) == before, "the sound stays");
        assert_eq!(host.0.take(), 0, "not on the audio thread");
        host.0.idle();
        host.0.idle();
        assert_eq!(host.0.take(), 1);
        assert!(instance.play(&music(), &[]) == still.play(&music(), &[]), "until then");

        instance.activate(0);
        still.activate(0);
        plain(&instance);
        plain(&still);
        still.set("Lookahead", lookahead);
        instance.activate(1);
        still.activate(1);
        assert_eq!((instance.latency(), still.latency()), (latency, latency));
        let delayed = instance.play(&impulse(100), &[]);
        assert!(delayed == impulse(100 + latency), "by as much as is reported");
        assert!(still.play(&impulse(100), &[]) == delayed);
        host.0.idle();
        assert_eq!(host.0.take(), 0, "the host knows it");
    }
}

#[test]
fn a_host_that_only_reads_the_latency_again_gets_the_sound_with_it() {
    let (host, handler) = with_run_loop();
    let instance = Instance::new(Some(&handler));
    instance.set("Mix", 0.0);
    assert_eq!(instance.latency(), 0);
    instance.activate(1);
    for (lookahead, before, latency) in [(1.0, 0, late()), (0.0, late(), 0)] {
        assert_eq!(instance.latency(), before);
        let sound = instance.play(&impulse(100), &[(0, lookahead)]);
        assert!(sound == impulse(100 + before), "not before the host knows it");
        host.0.idle();
        assert_eq!((host.0.take(), instance.latency()), (1, latency));
        // The old latency and the new one are crossfaded.
        assert!(instance.play(&silence(), &[]) == silence());
        assert!(instance.play(&impulse(100), &[]) == impulse(100 + latency));
        host.0.idle();
        assert_eq!((host.0.take(), instance.latency()), (0, latency));
    }
}

#[test]
fn the_latency_is_known_before_the_activation() {
    let (host, handler) = with_run_loop();
    let instance = Instance::new(Some(&handler));
    instance.set("Lookahead", 1.0);
    instance.set("Mix", 0.0);
    assert_eq!(instance.latency(), late());
    instance.activate(1);
    assert!(instance.play(&impulse(100), &[]) == impulse(100 + late()));
    host.0.idle();
    assert_eq!(host.0.take(), 0);

    // A host that has read it too early is asked to read it again.
    instance.activate(0);
    instance.set("Lookahead", 0.0);
    instance.activate(1);
    assert!(instance.play(&impulse(100), &[]) == impulse(100));
    host.0.idle();
    assert_eq!((host.0.take(), instance.latency()), (1, 0));
}

#[test]
fn a_change_that_is_taken_back_within_its_block_is_none() {
    let (host, handler) = with_run_loop();
    let instance = Instance::new(Some(&handler));
    instance.activate(1);
    instance.play(&music(), &[(100, 1.0), (200, 0.0)]);
    host.0.idle();
    assert_eq!((host.0.take(), instance.latency()), (0, 0));
}

#[test]
fn the_run_loop_is_left_with_the_plugin() {
    let (host, handler) = with_run_loop();
    let instance = Instance::new(Some(&handler));
    assert_eq!(host.0.timers.lock().unwrap().len(), 1);
    drop(instance);
    assert!(host.0.timers.lock().unwrap().is_empty());
}

/// nice-plug's thread has to do where a host on Linux has none to offer.
#[cfg(target_os = "linux")]
#[test]
fn a_host_without_a_run_loop_is_asked_too_but_not_on_the_audio_thread() {
    let host = ComWrapper::new(Handler::default());
    let handler = host.to_com_ptr().unwrap();
    let instance = Instance::new(Some(&handler));
    instance.activate(1);
    // On the thread that has made the instance, the call could only come within `process`.
    instance.block(&music()[..FRAMES], instance.id("Lookahead"), &[(0, 1.0)]);
    assert!(host.restarts.lock().unwrap().is_empty());
    instance.activate(0);
    instance.activate(1);
    assert_eq!(instance.latency(), late());

    instance.play(&music(), &[(0, 0.0)]);
    let start = std::time::Instant::now();
    while host.restarts.lock().unwrap().is_empty() && start.elapsed().as_secs() < 10 {
        thread::yield_now();
    }
    assert_eq!(host.restarts.lock().unwrap().len(), 1);
    assert_eq!(instance.latency(), 0);
}
