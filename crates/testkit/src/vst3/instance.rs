//! Plugin instance, with its three interfaces: component, controller and processor.

use super::{Factory, stream::Stream};
use std::{
    ffi::c_void,
    mem,
    ptr::{self, null_mut},
};
use vst3::{
    Class, ComPtr, ComWrapper,
    Steinberg::{Vst::*, *},
};

/// Sample rate in Hz of an instance from [`Instance::set_up_stereo`].
const RATE: f64 = 48_000.0;

/// Automation points of a parameter within a buffer.
pub struct Queue {
    /// Id of the parameter.
    pub parameter: ParamID,
    /// Points: sample offset in the buffer, and normalised value.
    pub points: Vec<(int32, ParamValue)>,
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
        // SAFETY: VST3 promises room for both.
        unsafe { (*offset, *value) = *point };
        kResultOk
    }

    unsafe fn addPoint(&self, _: int32, _: ParamValue, _: *mut int32) -> tresult {
        kResultFalse
    }
}

/// Automation points of all parameters within a buffer.
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

/// Converts VST3's null-terminated UTF-16 to a `String`.
pub fn text(units: &[u16]) -> String {
    let end = units.iter().position(|unit| *unit == 0).unwrap_or(units.len());
    String::from_utf16(&units[..end]).expect("UTF-16")
}

/// Plugin instance. Dropping it deactivates and terminates the plugin.
pub struct Instance {
    /// Component interface.
    pub component: ComPtr<IComponent>,
    /// Edit controller interface.
    pub controller: ComPtr<IEditController>,
    /// Audio processor interface.
    pub processor: ComPtr<IAudioProcessor>,
    /// Wrapper around each call of `process`, for monitoring. It must run the closure.
    pub call: fn(&mut dyn FnMut()),
    /// List of the events that the plugin gets with each buffer.
    pub events: Option<ComPtr<IEventList>>,
    /// Sidechain for the next buffers, with as many samples as they have. For an empty channel, the plugin gets a null pointer.
    pub sidechain: Option<Vec<Vec<f32>>>,
    /// Tempo of the song in beats per minute; `None` for a host without one.
    pub tempo: Option<f64>,
    /// Whether the host has set a component handler.
    has_handler: bool,
}

impl Instance {
    /// Creates an inactive instance for stereo at 48 kHz, and for buffers of at most `max_block` samples. The host has the
    /// component handler `handler`.
    pub fn set_up_stereo(
        factory: &Factory,
        max_block: usize,
        handler: Option<&ComPtr<IComponentHandler>>,
    ) -> Self {
        let instance = Self::new(factory, handler);
        let (mut input, mut output) = (SpeakerArr::kStereo, SpeakerArr::kStereo);
        // SAFETY: every pointer is of the type that the function expects.
        let arranged =
            unsafe { instance.processor.setBusArrangements(&mut input, 1, &mut output, 1) };
        assert_eq!(arranged, kResultOk);
        instance.set_up(RATE, max_block);
        instance
    }

    /// Creates an instance in a host with the component handler `handler`. The bus arrangement and the sample rate are not set
    /// yet.
    pub fn new(factory: &Factory, handler: Option<&ComPtr<IComponentHandler>>) -> Self {
        let component = factory.component();
        // SAFETY: a host may pass null.
        assert_eq!(unsafe { component.initialize(null_mut()) }, kResultOk);
        let controller: ComPtr<IEditController> = component.cast().expect("a controller");
        let processor: ComPtr<IAudioProcessor> = component.cast().expect("a processor");
        if let Some(handler) = handler {
            // SAFETY: the handler is reference-counted.
            assert_eq!(unsafe { controller.setComponentHandler(handler.as_ptr()) }, kResultOk);
        }
        let (call, has_handler) = ((|call| call()) as fn(&mut dyn FnMut()), handler.is_some());
        let (events, sidechain, tempo) = (None, None, None);
        Self { component, controller, processor, call, events, sidechain, tempo, has_handler }
    }

    /// Sets the sample rate in Hz and the maximum buffer length.
    pub fn set_up(&self, rate: f64, max_block: usize) {
        let mut setup = ProcessSetup {
            processMode: ProcessModes_::kRealtime as int32,
            symbolicSampleSize: SymbolicSampleSizes_::kSample32 as int32,
            maxSamplesPerBlock: max_block as int32,
            sampleRate: rate,
        };
        // SAFETY: the pointer is of the type that the function expects.
        assert_eq!(unsafe { self.processor.setupProcessing(&mut setup) }, kResultOk);
    }

    /// Like [`Instance::set_up_stereo`] in a host without a component handler, but active.
    pub fn active(factory: &Factory, max_block: usize) -> Self {
        let instance = Self::set_up_stereo(factory, max_block, None);
        instance.activate();
        instance
    }

    /// Activates the instance and starts processing.
    pub fn activate(&self) {
        // SAFETY: the instance was set up.
        let results = unsafe { [self.component.setActive(1), self.processor.setProcessing(1)] };
        assert_eq!(results, [kResultOk; 2]);
    }

    /// Stops processing and deactivates the instance. Does no harm to an inactive one.
    pub fn deactivate(&self) {
        // SAFETY: the calls are in VST3's order. `setProcessing` may fail.
        unsafe {
            let _ = self.processor.setProcessing(0);
            assert_eq!(self.component.setActive(0), kResultOk);
        }
    }

    /// Returns the tail in samples; `kInfiniteTail` if it never ends.
    pub fn tail(&self) -> u32 {
        // SAFETY: the call only reads.
        unsafe { self.processor.getTailSamples() }
    }

    /// Returns the latency in samples.
    pub fn latency(&self) -> usize {
        // SAFETY: the call only reads.
        unsafe { self.processor.getLatencySamples() as usize }
    }

    /// Returns the descriptions of all parameters.
    pub fn parameters(&self) -> Vec<ParameterInfo> {
        // SAFETY: there is room for the description; zeros are valid numbers and an empty text.
        let info = |index| unsafe {
            let mut info: ParameterInfo = mem::zeroed();
            assert_eq!(self.controller.getParameterInfo(index, &mut info), kResultOk);
            info
        };
        // SAFETY: the call only reads.
        (0..unsafe { self.controller.getParameterCount() }).map(info).collect()
    }

    /// Returns the id of the parameter called `title`.
    pub fn id(&self, title: &str) -> ParamID {
        let parameter = self.parameters().into_iter().find(|info| text(&info.title) == title);
        parameter.unwrap_or_else(|| panic!("no parameter {title}")).id
    }

    /// Returns the normalised value of a parameter.
    pub fn get(&self, id: ParamID) -> f64 {
        // SAFETY: the call only reads.
        unsafe { self.controller.getParamNormalized(id) }
    }

    /// Sets the normalised value of a parameter in the controller.
    pub fn set(&self, id: ParamID, value: f64) {
        // SAFETY: the call passes numbers only.
        assert_eq!(unsafe { self.controller.setParamNormalized(id, value) }, kResultOk);
    }

    /// Returns the plugin's text for a normalised `value` of a parameter.
    pub fn value_text(&self, id: ParamID, value: f64) -> String {
        // SAFETY: there is room for the text; zeros are an empty text.
        unsafe {
            let mut units: String128 = mem::zeroed();
            assert_eq!(self.controller.getParamStringByValue(id, value, &mut units), kResultOk);
            text(&units)
        }
    }

    /// Returns the normalised value that the plugin parses from `typed`; `None` if it refuses the text.
    pub fn text_value(&self, id: ParamID, typed: &str) -> Option<f64> {
        let mut units: Vec<_> = typed.encode_utf16().chain([0]).collect();
        let mut value = f64::NAN;
        // SAFETY: the text ends with a zero, and there is room for the value.
        let result =
            unsafe { self.controller.getParamValueByString(id, units.as_mut_ptr(), &mut value) };
        (result == kResultOk).then_some(value)
    }

    /// Opens the editor in the X11 window `parent` and in the host's `frame`. Both must outlive the editor.
    pub fn open_editor(&self, frame: &ComPtr<IPlugFrame>, parent: u32) -> ComPtr<IPlugView> {
        let parent = parent as usize as *mut c_void;
        // SAFETY: the calls are in VST3's order, and `createView` passes ownership of a view.
        unsafe {
            let view = self.controller.createView(ViewType::kEditor);
            let view = ComPtr::from_raw(view).expect("an editor");
            assert_eq!(view.setFrame(frame.as_ptr()), kResultOk);
            assert_eq!(view.attached(parent, kPlatformTypeX11EmbedWindowID), kResultOk);
            view
        }
    }

    /// Closes an editor and removes its frame.
    pub fn close_editor(view: &ComPtr<IPlugView>) {
        // SAFETY: the calls are in VST3's order.
        unsafe {
            assert_eq!(view.removed(), kResultOk);
            assert_eq!(view.setFrame(null_mut()), kResultOk);
        }
    }

    /// Returns the saved state of the plugin.
    pub fn save(&self) -> Vec<u8> {
        let stream = ComWrapper::new(Stream::default());
        let pointer = stream.to_com_ptr::<IBStream>().expect("a stream");
        // SAFETY: the stream outlives the call.
        assert_eq!(unsafe { self.component.getState(pointer.as_ptr()) }, kResultOk);
        stream.bytes()
    }

    /// Loads a state from [`Instance::save`].
    pub fn load(&self, state: &[u8]) {
        let stream = ComWrapper::new(Stream::of(state)).to_com_ptr::<IBStream>().expect("a stream");
        // SAFETY: the stream outlives the call.
        assert_eq!(unsafe { self.component.setState(stream.as_ptr()) }, kResultOk);
    }

    /// Processes a buffer from `input` to `output`; without `input`, in place in `output`. Returns the plugin's result.
    pub fn process(
        &self,
        input: Option<&[Vec<f32>]>,
        output: &mut [Vec<f32>],
        changes: Vec<Queue>,
    ) -> tresult {
        let frames = output.iter().map(Vec::len).max().unwrap_or(0);
        let queues = changes.into_iter().map(|queue| ComWrapper::new(queue).to_com_ptr());
        let changes = Changes(queues.collect::<Option<_>>().expect("queues"));
        let changes = (!changes.0.is_empty())
            .then(|| ComWrapper::new(changes).to_com_ptr::<IParameterChanges>().expect("changes"));
        let mut to: Vec<_> = output.iter_mut().map(|channel| channel.as_mut_ptr()).collect();
        let mut from = input.map_or_else(
            || to.clone(),
            |input| input.iter().map(|channel| channel.as_ptr().cast_mut()).collect(),
        );
        let bus = |buffers: &mut Vec<*mut f32>| AudioBusBuffers {
            numChannels: buffers.len() as int32,
            silenceFlags: 0,
            __field0: AudioBusBuffers__type0 { channelBuffers32: buffers.as_mut_ptr() },
        };
        let pointer = |channel: &Vec<f32>| match channel.is_empty() {
            true => null_mut(),
            false => channel.as_ptr().cast_mut(),
        };
        let mut sidechain: Vec<_> = self.sidechain.iter().flatten().map(pointer).collect();
        let (mut inputs, mut outputs) = ([bus(&mut from), bus(&mut sidechain)], bus(&mut to));
        #[allow(clippy::unnecessary_cast, reason = "its type depends on the system")]
        let mut context = self.tempo.map(|tempo| ProcessContext {
            state: ProcessContext_::StatesAndFlags_::kTempoValid as u32,
            tempo,
            // SAFETY: zeros are valid for all fields.
            ..unsafe { mem::zeroed() }
        });
        let mut data = ProcessData {
            processMode: ProcessModes_::kRealtime as int32,
            symbolicSampleSize: SymbolicSampleSizes_::kSample32 as int32,
            numSamples: frames as int32,
            numInputs: 1 + int32::from(self.sidechain.is_some()),
            numOutputs: 1,
            inputs: inputs.as_mut_ptr(),
            outputs: &mut outputs,
            inputParameterChanges: changes.as_ref().map_or(null_mut(), ComPtr::as_ptr),
            outputParameterChanges: null_mut(),
            inputEvents: self.events.as_ref().map_or(null_mut(), ComPtr::as_ptr),
            outputEvents: null_mut(),
            processContext: context.as_mut().map_or(null_mut(), ptr::from_mut),
        };
        let mut result = kResultFalse;
        // SAFETY: everything that `data` points to outlives the call, and all channels are equally long or null. The plugin does
        // not write to inputs.
        (self.call)(&mut || result = unsafe { self.processor.process(&mut data) });
        result
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: the calls are in VST3's order. Their results do not matter any more.
        unsafe {
            let _ = self.processor.setProcessing(0);
            let _ = self.component.setActive(0);
            if self.has_handler {
                let _ = self.controller.setComponentHandler(null_mut());
            }
            let _ = self.component.terminate();
        }
    }
}
