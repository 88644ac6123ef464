//! The audio processor of [`Vst3Shim`], its MIDI mapping, and interfaces whose calls go to nice-plug unchanged.

use super::{
    super::{host_calls::HostCall, sidechain::is_sidechain},
    Vst3Shim,
};
use nice_plug::wrapper::vst3::vst3::Steinberg::{
    Vst::{ChannelContext::IInfoListenerTrait, *},
    *,
};
use std::sync::atomic::Ordering;

impl Vst3Shim {
    pub(super) fn set_default_rate(&self) {
        let mut setup = ProcessSetup {
            processMode: ProcessModes_::kRealtime as int32,
            symbolicSampleSize: SymbolicSampleSizes_::kSample32 as int32,
            maxSamplesPerBlock: 8192,
            sampleRate: 44_100.0,
        };
        // SAFETY: the pointer is of the type that the function expects.
        let _ = unsafe { self.setupProcessing(&mut setup) };
    }

    /// Returns whether nice-plug can process the channel counts in `data`: inputs <= outputs <= layout.
    fn channels_fit(&self, data: &ProcessData) -> bool {
        let count = |buses: *mut AudioBusBuffers, number: int32| {
            // SAFETY: VST3 promises as many buses as the number.
            unsafe { buses.as_ref() }.filter(|_| number > 0).map_or(0, |bus| bus.numChannels)
        };
        let inputs = count(data.inputs, data.numInputs);
        let outputs = count(data.outputs, data.numOutputs);
        let mut layout: SpeakerArrangement = 0;
        let output = BusDirections_::kOutput as BusDirection;
        // SAFETY: `layout` has room for the answer, which has a bit for each channel.
        let known = unsafe { self.processor.getBusArrangement(output, 0, &mut layout) };
        known == kResultOk && inputs <= outputs && outputs <= layout.count_ones() as int32
    }
}

impl IAudioProcessorTrait for Vst3Shim {
    pass_on! { processor:
        fn canProcessSampleSize(size: int32) -> tresult;
    }

    unsafe fn getTailSamples(&self) -> uint32 {
        let [rate, tempo] = [&self.rate, &self.tempo].map(|bits| bits.load(Ordering::Relaxed));
        let tempo = Some(f64::from_bits(tempo)).filter(|tempo| !tempo.is_nan());
        self.instance.tail(f64::from_bits(rate), tempo)
    }

    unsafe fn setProcessing(&self, state: TBool) -> tresult {
        self.processing.store(state != 0, Ordering::Relaxed);
        // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
        unsafe { self.processor.setProcessing(state) }
    }

    /// Returns the latency in samples; see [`Latency::read`](crate::Latency::read).
    unsafe fn getLatencySamples(&self) -> uint32 {
        self.instance.latency().read(self.wanted_latency())
    }

    unsafe fn setupProcessing(&self, setup: *mut ProcessSetup) -> tresult {
        // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
        let result = self.while_inactive(|| unsafe { self.processor.setupProcessing(setup) });
        if result == kResultOk {
            // nice-plug rounds the rate to `f32`, too.
            // SAFETY: nice-plug has accepted `setup`, so it is valid.
            let rate = f64::from(unsafe { (*setup).sampleRate } as f32);
            self.rate.store(rate.to_bits(), Ordering::Relaxed);
        }
        result
    }

    unsafe fn setBusArrangements(
        &self,
        inputs: *mut SpeakerArrangement,
        input_count: int32,
        outputs: *mut SpeakerArrangement,
        output_count: int32,
    ) -> tresult {
        if input_count != 2 || inputs.is_null() {
            // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
            return self.while_inactive(|| unsafe {
                self.processor.setBusArrangements(inputs, input_count, outputs, output_count)
            });
        }
        // SAFETY: VST3 promises as many inputs as the count.
        let (main, speakers) = unsafe { (*inputs, *inputs.add(1)) };
        // nice-plug accepts a sidechain with the main input's channel count only; the shim also accepts one without channels.
        if speakers != 0 && speakers.count_ones() != main.count_ones() {
            return kResultFalse;
        }
        let mut both = [main; 2];
        // SAFETY: there are two inputs, and the host guarantees the outputs.
        let result = self.while_inactive(|| unsafe {
            self.processor.setBusArrangements(both.as_mut_ptr(), 2, outputs, output_count)
        });
        if result == kResultOk {
            self.sidechain.arrangement.store(speakers, Ordering::Relaxed);
        }
        result
    }

    unsafe fn getBusArrangement(
        &self,
        direction: BusDirection,
        index: int32,
        arrangement: *mut SpeakerArrangement,
    ) -> tresult {
        if index < 0 {
            return kInvalidArgument;
        }
        // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
        let result = unsafe { self.processor.getBusArrangement(direction, index, arrangement) };
        if let Some(speakers) = self.sidechain.arrangement()
            && result == kResultOk
            && is_sidechain(direction, index)
        {
            // SAFETY: nice-plug has filled in `arrangement`.
            unsafe { arrangement.write(speakers) };
        }
        result
    }

    unsafe fn process(&self, data: *mut ProcessData) -> tresult {
        self.blocks.fetch_add(1, Ordering::Relaxed);
        // SAFETY: VST3 promises data that live as long as the call.
        let Some(block) = (unsafe { data.as_ref() }).filter(|block| self.channels_fit(block))
        else {
            return kInvalidArgument;
        };
        let sounds = block.numSamples > 0 && block.numOutputs > 0 && !block.outputs.is_null();
        if sounds && !self.active.load(Ordering::Relaxed) {
            return kResultFalse;
        }
        let mut block = *block;
        // SAFETY: VST3 promises a list, which lives as long as the call, or null.
        block.inputEvents = unsafe { self.events.of(block.inputEvents) };
        let mut inputs = self.sidechain.replaced(&block);
        if let Some(inputs) = &mut inputs {
            (block.inputs, block.numInputs) = (inputs.as_mut_ptr(), 2);
        }
        // SAFETY: the host guarantees the data, except inputs and events, which live until the call returns.
        let result = unsafe { self.processor.process(&mut block) };
        // SAFETY: VST3 promises a context, which lives as long as the call, or null.
        let context = unsafe { block.processContext.as_ref() };
        #[allow(clippy::unnecessary_cast, reason = "its type depends on the system")]
        let timed = |context: &&ProcessContext| {
            context.state & ProcessContext_::StatesAndFlags_::kTempoValid as u32 != 0
        };
        let tempo = context.filter(timed).map_or(f64::NAN, |context| context.tempo);
        self.tempo.store(tempo.to_bits(), Ordering::Relaxed);
        self.check_latency();
        if self.programs.chosen_in(&block) {
            self.ask(HostCall::LoadProgram);
        }
        result
    }
}

impl IMidiMappingTrait for Vst3Shim {
    unsafe fn getMidiControllerAssignment(
        &self,
        bus: int32,
        _channel: int16,
        controller: CtrlNumber,
        id: *mut ParamID,
    ) -> tresult {
        if !self.controllers.contains(&controller) {
            return kResultFalse;
        }
        // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
        unsafe { self.midi.getMidiControllerAssignment(bus, 0, controller, id) }
    }
}

impl INoteExpressionControllerTrait for Vst3Shim {
    pass_on! { expressions:
        fn getNoteExpressionCount(bus: int32, channel: int16) -> int32;
        fn getNoteExpressionInfo(
            bus: int32, channel: int16, index: int32, info: *mut NoteExpressionTypeInfo
        ) -> tresult;
        fn getNoteExpressionStringByValue(
            bus: int32, channel: int16, id: NoteExpressionTypeID, value: NoteExpressionValue,
            string: *mut String128
        ) -> tresult;
        fn getNoteExpressionValueByString(
            bus: int32, channel: int16, id: NoteExpressionTypeID, string: *const TChar,
            value: *mut NoteExpressionValue
        ) -> tresult;
    }
}

impl IProcessContextRequirementsTrait for Vst3Shim {
    pass_on! { requirements:
        fn getProcessContextRequirements() -> uint32;
    }
}

impl IInfoListenerTrait for Vst3Shim {
    pass_on! { listener:
        fn setChannelContextInfos(list: *mut IAttributeList) -> tresult;
    }
}
