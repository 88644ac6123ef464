//! A VST3 host that records on which thread the plugin calls it.

use std::{
    ffi::c_void,
    ptr::null_mut,
    sync::Mutex,
    thread::{self, ThreadId},
};
// The plugin, which exports `GetPluginFactory`.
use tone_filter as _;
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

pub const RATE: f64 = 48_000.0;
pub const FRAMES: usize = 512;

/// A host's handler, which writes down when it is asked to restart, and on which thread.
#[derive(Default)]
pub struct Handler {
    pub restarts: Mutex<Vec<(int32, ThreadId)>>,
    pub timers: Mutex<Vec<usize>>,
}

/// The same with a run loop.
#[derive(Default)]
pub struct WithRunLoop(pub Handler);

impl Handler {
    pub fn restart(&self, flags: int32) -> tresult {
        self.restarts.lock().unwrap().push((flags, thread::current().id()));
        kResultOk
    }

    /// How often it was asked to read another latency since the last time; on this thread, and for nothing else.
    pub fn take(&self) -> usize {
        #[allow(clippy::unnecessary_cast, reason = "its type depends on the system")]
        let flags = RestartFlags_::kLatencyChanged as int32;
        let restarts = std::mem::take(&mut *self.restarts.lock().unwrap());
        assert!(restarts.iter().all(|restart| *restart == (flags, thread::current().id())));
        restarts.len()
    }

    /// Lets the run loop run.
    pub fn idle(&self) {
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
pub struct Queue(ParamID, Vec<(int32, ParamValue)>);

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

pub struct Changes(ComPtr<IParamValueQueue>);

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
pub struct Instance {
    component: ComPtr<IComponent>,
    controller: ComPtr<IEditController>,
    processor: ComPtr<IAudioProcessor>,
}

impl Instance {
    pub fn new(handler: Option<&ComPtr<IComponentHandler>>) -> Self {
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
    pub fn id(&self, title: &str) -> ParamID {
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
    pub fn set(&self, title: &str, value: f64) {
        // SAFETY: the value is one.
        let result = unsafe { self.controller.setParamNormalized(self.id(title), value) };
        assert_eq!(result, kResultOk);
    }

    pub fn activate(&self, active: TBool) {
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

    pub fn latency(&self) -> usize {
        // SAFETY: it only asks.
        unsafe { self.processor.getLatencySamples() as usize }
    }

    /// What becomes of `signal` in both channels on an audio thread, where Lookahead changes at the samples of the first
    /// block that `changes` has.
    pub fn play(&self, signal: &[f32], changes: &[(int32, ParamValue)]) -> Vec<f32> {
        let id = self.id("Lookahead");
        let blocks = signal.chunks_exact(FRAMES).enumerate();
        let blocks = blocks.map(|(index, block)| (block, if index == 0 { changes } else { &[] }));
        thread::scope(|scope| {
            let audio = || blocks.flat_map(|(block, changes)| self.block(block, id, changes));
            scope.spawn(move || audio().collect()).join().unwrap()
        })
    }

    pub fn block(&self, block: &[f32], id: ParamID, changes: &[(int32, ParamValue)]) -> Vec<f32> {
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
