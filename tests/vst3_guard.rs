//! The VST3 plugin with hosts that do what nice-plug does not expect, through the interfaces that they see.
#![cfg(any(target_os = "linux", windows))]

// The plugin is linked into this program.
// The plugin, which exports `GetPluginFactory`.
use tone_filter as _;
use tone_filter_dsp::{CHOICES, SPECS};

use std::{ffi::c_void, ptr::null_mut, sync::Mutex};
use vst3::{
    Class, ComPtr, ComWrapper, Interface,
    Steinberg::{
        IBStream,
        IBStream_::IStreamSeekMode_,
        IBStreamTrait, IPluginFactory, IPluginFactoryTrait, PClassInfo,
        Vst::{
            AudioBusBuffers, AudioBusBuffers__type0, BusDirections_, BusInfo, IAudioProcessor,
            IAudioProcessorTrait, IComponent, IComponentTrait, IEditController,
            IEditControllerTrait, IMidiMapping, IMidiMappingTrait, MediaTypes_, ParamID,
            ParameterInfo, ProcessData, ProcessModes_, ProcessSetup, SpeakerArr,
            SymbolicSampleSizes_,
        },
        int32, int64, kInvalidArgument, kResultOk, tresult,
    },
};

unsafe extern "system" {
    fn GetPluginFactory() -> *mut c_void;
}

const FRAMES: usize = 64;

/// A file in memory, and where it is read and written.
#[derive(Default)]
struct Stream(Mutex<(Vec<u8>, usize)>);

impl Class for Stream {
    type Interfaces = (IBStream,);
}

impl IBStreamTrait for Stream {
    unsafe fn read(&self, to: *mut c_void, count: int32, read: *mut int32) -> tresult {
        let (bytes, at) = &mut *self.0.lock().unwrap();
        let part = &bytes[*at..bytes.len().min(*at + count as usize)];
        *at += part.len();
        // SAFETY: VST3 promises room for `count` bytes, and for the number of them or null.
        unsafe {
            to.cast::<u8>().copy_from_nonoverlapping(part.as_ptr(), part.len());
            if let Some(read) = read.as_mut() {
                *read = part.len() as int32;
            }
        }
        kResultOk
    }

    unsafe fn write(&self, from: *mut c_void, count: int32, written: *mut int32) -> tresult {
        let (bytes, at) = &mut *self.0.lock().unwrap();
        // SAFETY: VST3 promises `count` bytes, and room for the number of them or null.
        unsafe {
            bytes.extend(std::slice::from_raw_parts(from.cast::<u8>(), count as usize));
            if let Some(written) = written.as_mut() {
                *written = count;
            }
        }
        *at = bytes.len();
        kResultOk
    }

    unsafe fn seek(&self, by: int64, mode: int32, now: *mut int64) -> tresult {
        let (bytes, at) = &mut *self.0.lock().unwrap();
        // The modes' type is another one on Windows.
        let [set, current] =
            [IStreamSeekMode_::kIBSeekSet, IStreamSeekMode_::kIBSeekCur].map(|mode| mode as int32);
        let from = match mode {
            _ if mode == set => 0,
            _ if mode == current => *at as i64,
            _ => bytes.len() as i64,
        };
        *at = (from + by) as usize;
        // SAFETY: VST3 promises room or null.
        if let Some(now) = unsafe { now.as_mut() } {
            *now = *at as i64;
        }
        kResultOk
    }

    unsafe fn tell(&self, now: *mut int64) -> tresult {
        // SAFETY: VST3 promises room.
        unsafe { *now = self.0.lock().unwrap().1 as i64 };
        kResultOk
    }
}

/// An instance in stereo.
struct Instance {
    component: ComPtr<IComponent>,
    controller: ComPtr<IEditController>,
    processor: ComPtr<IAudioProcessor>,
}

impl Instance {
    /// That believes that it processes.
    fn new() -> Self {
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
            let factory: ComPtr<IPluginFactory> =
                ComPtr::from_raw(GetPluginFactory().cast()).unwrap();
            let mut class: PClassInfo = std::mem::zeroed();
            assert_eq!((factory.countClasses(), factory.getClassInfo(0, &mut class)), (1, 0));
            assert_eq!(factory.getClassInfo(1, &mut class), kInvalidArgument);
            let mut object = null_mut();
            let id = IComponent::IID.as_ptr().cast();
            assert_eq!(factory.createInstance(class.cid.as_ptr(), id, &mut object), kResultOk);
            let component: ComPtr<IComponent> = ComPtr::from_raw(object.cast()).unwrap();
            let controller = component.cast().unwrap();
            let processor: ComPtr<IAudioProcessor> = component.cast().unwrap();
            assert_eq!(processor.setBusArrangements(&mut input, 1, &mut output, 1), kResultOk);
            assert_eq!(processor.setupProcessing(&mut setup), kResultOk);
            assert_eq!(component.setActive(1), kResultOk);
            assert_eq!(processor.setProcessing(1), kResultOk);
            Self { component, controller, processor }
        }
    }

    fn infos(&self) -> Vec<ParameterInfo> {
        // SAFETY: there is room for what is asked for; zeros are an empty text, and numbers.
        let info = |index| unsafe {
            let mut info: ParameterInfo = std::mem::zeroed();
            assert_eq!(self.controller.getParameterInfo(index, &mut info), kResultOk);
            info
        };
        // SAFETY: it only asks.
        (0..unsafe { self.controller.getParameterCount() }).map(info).collect()
    }

    /// The id of the parameter `title`.
    fn id(&self, title: &str) -> ParamID {
        let is = |info: &ParameterInfo| {
            let text = info.title.iter().take_while(|unit| **unit != 0).copied();
            String::from_utf16(&text.collect::<Vec<_>>()).unwrap() == title
        };
        self.infos().into_iter().find(is).unwrap_or_else(|| panic!("no {title}")).id
    }

    fn get(&self, id: ParamID) -> f64 {
        // SAFETY: it only asks.
        unsafe { self.controller.getParamNormalized(id) }
    }

    fn set(&self, id: ParamID, value: f64) {
        // SAFETY: the value is one.
        assert_eq!(unsafe { self.controller.setParamNormalized(id, value) }, kResultOk);
    }

    fn save(&self) -> ComPtr<IBStream> {
        let stream = ComWrapper::new(Stream::default()).to_com_ptr::<IBStream>().unwrap();
        // SAFETY: the stream outlives the calls.
        unsafe {
            assert_eq!(self.component.getState(stream.as_ptr()), kResultOk);
            let set = IStreamSeekMode_::kIBSeekSet as int32;
            assert_eq!(stream.seek(0, set, null_mut()), kResultOk);
        }
        stream
    }

    fn load(&self, stream: &ComPtr<IBStream>) {
        // SAFETY: the stream outlives the call.
        assert_eq!(unsafe { self.component.setState(stream.as_ptr()) }, kResultOk);
    }

    /// What `process` answers to so many channels.
    fn process(&self, inputs: usize, outputs: usize) -> tresult {
        let mut from = [[0.1f32; FRAMES]; 4];
        let mut to = [[0.0f32; FRAMES]; 4];
        let mut from: [*mut f32; 4] = from.each_mut().map(|channel| channel.as_mut_ptr());
        let mut to: [*mut f32; 4] = to.each_mut().map(|channel| channel.as_mut_ptr());
        let bus = |channels: usize, buffers: &mut [*mut f32; 4]| AudioBusBuffers {
            numChannels: channels as int32,
            silenceFlags: 0,
            __field0: AudioBusBuffers__type0 { channelBuffers32: buffers.as_mut_ptr() },
        };
        let (mut input, mut output) = (bus(inputs, &mut from), bus(outputs, &mut to));
        let mut data = ProcessData {
            processMode: ProcessModes_::kRealtime as int32,
            symbolicSampleSize: SymbolicSampleSizes_::kSample32 as int32,
            numSamples: FRAMES as int32,
            numInputs: 1,
            numOutputs: 1,
            inputs: &mut input,
            outputs: &mut output,
            inputParameterChanges: null_mut(),
            outputParameterChanges: null_mut(),
            inputEvents: null_mut(),
            outputEvents: null_mut(),
            processContext: null_mut(),
        };
        // SAFETY: all that `data` points to outlives the call, and every channel has `FRAMES` samples.
        unsafe { self.processor.process(&mut data) }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: the instance is active and processing. What it answers changes nothing any more.
        unsafe {
            let _ = self.processor.setProcessing(0);
            let _ = self.component.setActive(0);
        }
    }
}

#[test]
fn four_controllers_of_all_channels_have_a_parameter_each() {
    let instance = Instance::new();
    let midi: ComPtr<IMidiMapping> = instance.component.cast().unwrap();
    let parameter = |channel: i16, controller: i16| {
        let mut id = 0;
        // SAFETY: there is room for the answer.
        let result = unsafe { midi.getMidiControllerAssignment(0, channel, controller, &mut id) };
        (result == kResultOk).then_some(id)
    };
    let ids: Vec<ParamID> = instance.infos().iter().map(|info| info.id).collect();
    assert_eq!(ids.len(), SPECS.len() + CHOICES.len() + 4);
    let controllers = [64, 120, 123, 129];
    for (controller, id) in controllers.into_iter().zip(&ids[SPECS.len() + CHOICES.len()..]) {
        assert!([0, 5, 15].iter().all(|channel| parameter(*channel, controller) == Some(*id)));
    }
    assert_eq!(parameter(0, 1), None);
    // SAFETY: there is room for what is asked for; zeros are an empty text, and numbers.
    let beyond = unsafe {
        let mut info: ParameterInfo = std::mem::zeroed();
        instance.controller.getParameterInfo(ids.len() as int32, &mut info)
    };
    assert_eq!(beyond, kInvalidArgument);
}

#[test]
fn what_is_set_while_no_block_comes_is_read_and_saved() {
    let instance = Instance::new();
    let [mix, bypass] = ["Mix", "Bypass"].map(|title| instance.id(title));
    instance.set(mix, 0.868);
    instance.set(bypass, 1.0);
    assert!((instance.get(mix) - 0.868).abs() < 1e-6, "{}", instance.get(mix));
    assert_eq!(instance.get(bypass), 1.0);
    let state = instance.save();
    assert!((instance.get(mix) - 0.868).abs() < 1e-6, "{}", instance.get(mix));

    let other = Instance::new();
    assert_eq!(other.get(bypass), 0.0);
    other.load(&state);
    assert!((other.get(mix) - 0.868).abs() < 1e-6, "{}", other.get(mix));
    assert_eq!(other.get(bypass), 1.0);
}

#[test]
fn what_a_host_shows_of_its_automation_does_not_change_what_is_heard() {
    let instance = Instance::new();
    let mix = instance.id("Mix");
    let before = instance.get(mix);
    instance.set(mix, 0.9);
    assert_eq!(instance.process(2, 2), kResultOk);
    assert_eq!(instance.get(mix), before);
    let _ = instance.save();
    assert_eq!(instance.get(mix), before);
}

#[test]
fn a_state_replaces_what_was_set_before_it() {
    let instance = Instance::new();
    let (mix, state) = (instance.id("Mix"), instance.save());
    let before = instance.get(mix);
    instance.set(mix, 0.9);
    instance.load(&state);
    assert_eq!(instance.get(mix), before);
}

#[test]
fn numbers_of_channels_that_are_not_the_layout_s_are_refused() {
    let instance = Instance::new();
    for (inputs, outputs) in [(2, 3), (4, 4), (2, 1), (2, 0)] {
        assert_eq!(instance.process(inputs, outputs), kInvalidArgument, "{inputs} to {outputs}");
    }
    assert_eq!(instance.process(2, 2), kResultOk);
}

#[test]
fn a_host_may_leave_the_sidechain_out() {
    let instance = Instance::new();
    let (audio, input) = (MediaTypes_::kAudio as i32, BusDirections_::kInput as i32);
    let bus = || {
        // SAFETY: all zeros are valid, and there is room for the answer.
        unsafe {
            let mut info: BusInfo = std::mem::zeroed();
            assert_eq!(instance.component.getBusInfo(audio, input, 1, &mut info), kResultOk);
            info
        }
    };
    let arrange = |main: u64, own: u64, out: u64| {
        let (mut inputs, mut outputs) = ([main, own], [out]);
        let (inputs, outputs) = (inputs.as_mut_ptr(), outputs.as_mut_ptr());
        let mut told = [9; 2];
        // SAFETY: there are as many arrangements as the counts say, and there is room for the answers.
        unsafe {
            let result = instance.processor.setBusArrangements(inputs, 2, outputs, 1);
            for (index, told) in (0..).zip(&mut told) {
                let answer = instance.processor.getBusArrangement(input, index, told);
                assert_eq!(answer, kResultOk);
            }
            (result == kResultOk, told)
        }
    };
    let (mono, stereo) = (SpeakerArr::kMono, SpeakerArr::kStereo);
    assert_eq!(arrange(stereo, stereo, stereo), (true, [stereo; 2]));
    assert_eq!((bus().channelCount, bus().flags), (2, 0), "it is off until it is switched on");
    assert_eq!(arrange(stereo, 0, stereo), (true, [stereo, 0]));
    assert_eq!(bus().channelCount, 0);
    assert!(arrange(mono, mono, mono).0);
    assert!(!arrange(stereo, mono, stereo).0);
    assert_eq!(arrange(stereo, stereo, stereo), (true, [stereo; 2]));
    // One input only, and nothing where the second one's samples would be.
    assert_eq!(instance.process(2, 2), kResultOk);
}
