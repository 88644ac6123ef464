//! The same tests for blocks that are processed through VST3.

use super::{MAX_BLOCK, RATE, watch_system_calls, watched};
use crate::hosting::music;
use ::vst3::{
    Class, ComPtr, ComWrapper, Interface,
    Steinberg::{
        IPluginFactory, IPluginFactoryTrait, PClassInfo,
        Vst::{
            AudioBusBuffers, AudioBusBuffers__type0, IAudioProcessor, IAudioProcessorTrait,
            IComponent, IComponentTrait, IEditController, IEditControllerTrait, IParamValueQueue,
            IParamValueQueueTrait, IParameterChanges, IParameterChangesTrait, ParamID, ParamValue,
            ParameterInfo, ProcessData, ProcessModes_, ProcessSetup, SpeakerArr,
            SymbolicSampleSizes_,
        },
        int32, kResultFalse, kResultOk, tresult,
    },
};
use std::{
    ffi::{CString, c_void},
    os::unix::ffi::OsStrExt,
    ptr::null_mut,
};
use tone_filter_testkit::{Draws, rate};

unsafe extern "system" {
    /// Of the plugin that is linked into this program.
    fn GetPluginFactory() -> *mut c_void;
}

/// The factories of the debug build and of the bundle.
fn factories() -> [ComPtr<IPluginFactory>; 2] {
    let bundle = xtask::bundle::vst3().unwrap_or_else(|error| panic!("{error}"));
    let library = bundle.join("Contents/x86_64-linux/Tone Filter.so");
    let library = CString::new(library.as_os_str().as_bytes()).unwrap();
    // SAFETY: the library is our own, stays in memory, and has a function of this name and type, as VST3 requires. The
    // function returns an owned reference to a factory.
    unsafe {
        let handle = libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        assert!(!handle.is_null(), "{library:?} cannot be loaded");
        let symbol = libc::dlsym(handle, c"GetPluginFactory".as_ptr());
        assert!(!symbol.is_null(), "{library:?} is no VST3 plugin");
        let get = std::mem::transmute::<*mut c_void, extern "system" fn() -> *mut c_void>(symbol);
        [GetPluginFactory(), get()].map(|factory| ComPtr::from_raw(factory.cast()).unwrap())
    }
}

/// The new values of a parameter in a block.
struct Queue {
    parameter: ParamID,
    points: Vec<(int32, ParamValue)>,
}

impl Class for Queue {
    type Interfaces = (IParamValueQueue,);
}

impl IParamValueQueueTrait for Queue {
    unsafe fn getParameterId(&self) -> ParamID {
        self.parameter
    }

    unsafe fn getPointCount(&self) -> int32 {
        self.points.len() as int32
    }

    unsafe fn getPoint(&self, index: int32, offset: *mut int32, value: *mut ParamValue) -> tresult {
        let Some(point) = self.points.get(index as usize) else { return kResultFalse };
        // SAFETY: VST3 promises that there is room for both.
        unsafe { (*offset, *value) = *point };
        kResultOk
    }

    unsafe fn addPoint(&self, _: int32, _: ParamValue, _: *mut int32) -> tresult {
        kResultFalse
    }
}

/// The new values of all parameters in a block.
struct Changes(Vec<ComPtr<IParamValueQueue>>);

impl Class for Changes {
    type Interfaces = (IParameterChanges,);
}

impl IParameterChangesTrait for Changes {
    unsafe fn getParameterCount(&self) -> int32 {
        self.0.len() as int32
    }

    unsafe fn getParameterData(&self, index: int32) -> *mut IParamValueQueue {
        self.0.get(index as usize).map_or(null_mut(), ComPtr::as_ptr)
    }

    unsafe fn addParameterData(&self, _: *const ParamID, _: *mut int32) -> *mut IParamValueQueue {
        null_mut()
    }
}

/// An instance that plays.
struct Player {
    component: ComPtr<IComponent>,
    processor: ComPtr<IAudioProcessor>,
    parameters: Vec<ParamID>,
}

impl Player {
    fn new(factory: &ComPtr<IPluginFactory>, rate: f64, channels: usize) -> Self {
        let mut arrangement = [SpeakerArr::kMono, SpeakerArr::kStereo][channels - 1];
        let mut outputs = arrangement;
        let mut setup = ProcessSetup {
            processMode: ProcessModes_::kRealtime as int32,
            symbolicSampleSize: SymbolicSampleSizes_::kSample32 as int32,
            maxSamplesPerBlock: MAX_BLOCK as int32,
            sampleRate: rate,
        };
        // SAFETY: the calls are in VST3's order, and every pointer is to a value of the type that the function
        // requires; these may be all zeros.
        unsafe {
            let mut class: PClassInfo = std::mem::zeroed();
            assert_eq!(factory.getClassInfo(0, &mut class), kResultOk);
            let mut object = null_mut();
            let id = IComponent::IID.as_ptr().cast();
            assert_eq!(factory.createInstance(class.cid.as_ptr(), id, &mut object), kResultOk);
            let component: ComPtr<IComponent> = ComPtr::from_raw(object.cast()).unwrap();
            let processor: ComPtr<IAudioProcessor> = component.cast().unwrap();
            let controller: ComPtr<IEditController> = component.cast().unwrap();
            let parameters = (0..controller.getParameterCount()).map(|index| {
                let mut info: ParameterInfo = std::mem::zeroed();
                assert_eq!(controller.getParameterInfo(index, &mut info), kResultOk);
                info.id
            });
            let parameters = parameters.collect();
            let result = processor.setBusArrangements(&mut arrangement, 1, &mut outputs, 1);
            assert_eq!(result, kResultOk);
            assert_eq!(processor.setupProcessing(&mut setup), kResultOk);
            assert_eq!(component.setActive(1), kResultOk);
            assert_eq!(processor.setProcessing(1), kResultOk);
            Self { component, processor, parameters }
        }
    }

    /// Replaces `signal` by the plugin's output while a few parameters change; in place or not.
    fn play(&self, signal: &mut [&mut [f32]], in_place: bool, draws: &mut Draws) {
        let frames = signal[0].len();
        let queues = (0..3).map(|_| {
            let mut points: Vec<_> = (0..4)
                .map(|_| {
                    let any = draws.share();
                    (draws.below(frames) as int32, draws.pick(&[0.0, 1.0, any, any, any, any]))
                })
                .collect();
            points.sort_by_key(|(offset, _)| *offset);
            let parameter = draws.pick(&self.parameters);
            ComWrapper::new(Queue { parameter, points }).to_com_ptr().unwrap()
        });
        let changes = ComWrapper::new(Changes(queues.collect()));
        let changes: ComPtr<IParameterChanges> = changes.to_com_ptr().unwrap();

        let mut copy: Vec<Vec<f32>> = signal.iter().map(|channel| channel.to_vec()).collect();
        let mut to: Vec<*mut f32> = signal.iter_mut().map(|channel| channel.as_mut_ptr()).collect();
        let mut own: Vec<*mut f32> = copy.iter_mut().map(|channel| channel.as_mut_ptr()).collect();
        let from = if in_place { to.as_mut_ptr() } else { own.as_mut_ptr() };
        let bus = |channels| AudioBusBuffers {
            numChannels: signal.len() as int32,
            silenceFlags: 0,
            __field0: AudioBusBuffers__type0 { channelBuffers32: channels },
        };
        let (mut input, mut output) = (bus(from), bus(to.as_mut_ptr()));
        let mut data = ProcessData {
            processMode: ProcessModes_::kRealtime as int32,
            symbolicSampleSize: SymbolicSampleSizes_::kSample32 as int32,
            numSamples: frames as int32,
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
        let mut result = kResultFalse;
        // SAFETY: all that `data` points to outlives the call, and every channel has `frames` samples.
        watched(&mut || result = unsafe { self.processor.process(&mut data) });
        assert_eq!(result, kResultOk);
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        // SAFETY: the instance is active and processing. What it answers changes nothing any more.
        unsafe {
            let _ = self.processor.setProcessing(0);
            let _ = self.component.setActive(0);
        }
    }
}

/// Plays in blocks of all sizes, mono and stereo, in place and not.
pub fn neither_allocates_nor_calls_the_system() {
    watch_system_calls();
    let draws = &mut Draws::seeded(3);
    let mut changed = 0;
    for factory in factories() {
        for channels in [1, 2] {
            let player = Player::new(&factory, rate(draws), channels);
            for size in [1, 2, 63, 64, 65, 512, MAX_BLOCK] {
                let input = music(if size < 64 { 0.02 } else { 0.5 }, RATE);
                let mut output = input.clone();
                for start in (0..input[0].len()).step_by(size) {
                    let end = input[0].len().min(start + size);
                    let mut block: Vec<&mut [f32]> = output[..channels]
                        .iter_mut()
                        .map(|channel| &mut channel[start..end])
                        .collect();
                    player.play(&mut block, start / size % 2 == 0, draws);
                }
                assert!(output.iter().flatten().all(|sample| sample.is_finite()));
                changed += usize::from(output[..channels] != input[..channels]);
            }
        }
    }
    // Of 28 runs, some end up bypassed or dry.
    assert!(changed > 7, "{changed} outputs are not the input");
}
