//! Tests of the VST3 plugin with calls that nice-plug alone would not handle.
use std::{mem, ptr};
use tone_filter_dsp::{CHOICES, SPECS};
use tone_filter_presets::{Preset, ids};
use tone_filter_testkit::{
    plugin::{TYPED, factory},
    vst3::{Host, Instance, Queue, text},
};
use vst3::{
    ComPtr, ComWrapper,
    Steinberg::{
        Vst::{ParameterInfo_::ParameterFlags_, *},
        *,
    },
};

const FRAMES: usize = 64;

fn active() -> Instance {
    Instance::active(&factory(), FRAMES)
}

/// Processes a buffer with these numbers of channels. Returns the plugin's result.
fn process(instance: &Instance, inputs: usize, outputs: usize) -> tresult {
    let input = vec![vec![0.1; FRAMES]; inputs];
    instance.process(Some(&input), &mut vec![vec![0.0; FRAMES]; outputs], Vec::new())
}

#[test]
fn four_midi_controllers_have_parameters() {
    let instance = active();
    let midi: ComPtr<IMidiMapping> = instance.component.cast().unwrap();
    let parameter = |channel: i16, controller: i16| {
        let mut id = 0;
        // SAFETY: `id` has room for the answer.
        let result = unsafe { midi.getMidiControllerAssignment(0, channel, controller, &mut id) };
        (result == kResultOk).then_some(id)
    };
    let ids: Vec<ParamID> = instance.parameters().iter().map(|info| info.id).collect();
    // The last parameter selects the program.
    assert_eq!(ids.len(), SPECS.len() + CHOICES.len() + 4 + 1);
    let controllers = [64, 120, 123, 129];
    for (controller, id) in controllers.into_iter().zip(&ids[SPECS.len() + CHOICES.len()..]) {
        assert!([0, 5, 15].iter().all(|channel| parameter(*channel, controller) == Some(*id)));
    }
    assert_eq!(parameter(0, 1), None);
    // SAFETY: zeros are valid for all fields of `info`, which has room for the answer.
    let beyond = unsafe {
        let mut info: ParameterInfo = mem::zeroed();
        instance.controller.getParameterInfo(ids.len() as int32, &mut info)
    };
    assert_eq!(beyond, kInvalidArgument);
}

#[test]
fn typed_texts_are_read() {
    let instance = active();
    for (title, typed, shown) in TYPED {
        let id = instance.id(title);
        let value = instance.text_value(id, typed).unwrap_or_else(|| panic!("{title}: {typed}"));
        let number = shown.trim_end_matches(" dB").trim_end_matches(" Hz");
        assert_eq!(instance.value_text(id, value).trim_end(), number, "{title}: {typed}");
        assert_eq!(instance.text_value(id, "nonsense"), None, "{title}");
    }
}

#[test]
fn units_have_no_blanks_and_texts_are_numbers() {
    let instance = active();
    for (spec, info) in SPECS.iter().zip(instance.parameters()) {
        let texts = [0.0, 1.0].map(|value| instance.value_text(info.id, value));
        assert_eq!((text(&info.title), text(&info.units)), (spec.name.into(), spec.unit.into()));
        let numbers = [spec.min, spec.max].map(|value| spec.number(value, spec.decimals));
        assert_eq!(texts.map(|text| text.trim_end().to_owned()), numbers, "{}", spec.id);
    }
}

#[test]
fn the_program_list_has_the_factory_presets() {
    let host = ComWrapper::new(Host::<true>::default());
    let instance = Instance::set_up_stereo(&factory(), FRAMES, host.to_com_ptr().as_ref());
    instance.activate();
    let parameters = instance.parameters();
    #[allow(clippy::unnecessary_cast, reason = "its type depends on the system")]
    let program_change = ParameterFlags_::kIsProgramChange as i32;
    let changes = |info: &&ParameterInfo| info.flags & program_change != 0;
    let [program] = parameters.iter().filter(changes).collect::<Vec<_>>()[..] else { panic!() };
    let presets: Vec<Preset> = ids().filter_map(Preset::factory).collect();
    let last = presets.len() - 1;
    assert_eq!(program.stepCount, last as int32);
    assert!(parameters.iter().filter(|info| info.id == program.id).count() == 1, "its own id");
    let units: ComPtr<IUnitInfo> = instance.component.cast().unwrap();
    // SAFETY: there is room for the answers, and zeros are valid numbers and empty texts.
    let names: Vec<String> = unsafe {
        let (mut unit, mut list): (UnitInfo, ProgramListInfo) = (mem::zeroed(), mem::zeroed());
        assert_eq!(units.getUnitInfo(0, &mut unit), kResultOk);
        assert_eq!((unit.id, units.getProgramListCount()), (program.unitId, 1));
        assert_eq!(units.getProgramListInfo(0, &mut list), kResultOk);
        assert_eq!(list.id, unit.programListId);
        let name = |index| {
            let mut name = [b'x'.into(); 128];
            assert_eq!(units.getProgramName(list.id, index, &mut name), kResultOk);
            text(&name)
        };
        (0..list.programCount).map(name).collect()
    };
    assert!(names.iter().eq(presets.iter().map(|preset| &preset.name)), "{names:?}");

    let value = |index: usize| index as f64 / last as f64;
    let has = |index: usize| {
        let state: serde_json::Value = serde_json::from_slice(&instance.save()).unwrap();
        let name = state["fields"]["preset"].as_str().unwrap().trim_matches('"') == names[index];
        let mix = f64::from(presets[index].settings.mix) / 100.0;
        name && (instance.get(instance.id("Mix")) - mix).abs() < 1e-6
            && (instance.get(program.id) - value(index)).abs() < 1e-9
            && instance.value_text(program.id, value(index)) == names[index]
    };
    for index in (0..=last).rev() {
        let before = host.restarts();
        instance.set(program.id, value(index));
        assert_eq!(host.restarts(), before + 1, "the host reads all parameters at once");
        assert!(has(index), "{}", names[index]);
    }
    // Setting the program that is already selected, as hosts do after loading a state, must keep the edits.
    instance.set(program.id, value(5));
    instance.deactivate();
    instance.set(instance.id("Mix"), 0.123);
    instance.set(program.id, instance.get(program.id));
    assert!((instance.get(instance.id("Mix")) - 0.123).abs() < 1e-6);
    // A buffer chooses a program, which is then loaded on the main thread.
    instance.activate();
    let choose = |index| {
        let change = Queue { parameter: program.id, points: vec![(0, value(index))] };
        let mut output = vec![vec![0.0; FRAMES]; 2];
        assert_eq!(instance.process(None, &mut output, vec![change]), kResultOk);
    };
    choose(3);
    let before = host.restarts();
    host.idle();
    assert!(has(3));
    assert_eq!(host.restarts(), before + 1);
    // What follows at once is saved with the program, or takes its place.
    let third = instance.save();
    choose(4);
    let before = host.restarts();
    assert!(has(4), "saved");
    assert_eq!(host.restarts(), before + 1, "the host's values are those of the state");
    choose(5);
    instance.load(&third);
    host.idle();
    assert!(has(3), "a state is later");
    choose(5);
    instance.set(program.id, value(4));
    host.idle();
    assert!(has(4), "a program is later");
}

#[test]
fn a_choice_is_set_to_the_nearest_entry() {
    let instance = active();
    let choice = CHOICES.iter().find(|choice| choice.id == "voice").unwrap();
    let (voice, third) = (instance.id(choice.name), 2.0 / (choice.entries.len() - 1) as f64);
    instance.set(voice, third + 0.01);
    assert!((instance.get(voice) - third).abs() < 1e-6);
}

#[test]
fn displayed_automation_does_not_change_the_sound() {
    let instance = active();
    let mix = instance.id("Mix");
    let before = instance.get(mix);
    instance.set(mix, 0.9);
    assert_eq!(process(&instance, 2, 2), kResultOk);
    assert_eq!(instance.get(mix), before);
    let _ = instance.save();
    assert_eq!(instance.get(mix), before);
}

#[test]
fn wrong_channel_counts_are_refused() {
    let instance = active();
    for (inputs, outputs) in [(2, 3), (4, 4), (2, 1), (2, 0)] {
        assert_eq!(process(&instance, inputs, outputs), kInvalidArgument, "{inputs} to {outputs}");
    }
    assert_eq!(process(&instance, 2, 2), kResultOk);

    // A buffer without samples or buses changes only parameters; its pointers are not used.
    let bus = AudioBusBuffers {
        numChannels: 9,
        silenceFlags: 0,
        __field0: AudioBusBuffers__type0 { channelBuffers32: ptr::null_mut() },
    };
    let (mut inputs, mut outputs) = (bus, bus);
    // SAFETY: zeros are valid for all fields, null pointers included.
    let result = unsafe {
        let mut data: ProcessData = mem::zeroed();
        (data.inputs, data.outputs) = (&mut inputs, &mut outputs);
        instance.processor.process(&mut data)
    };
    assert_eq!(result, kResultOk);
}

#[test]
fn a_host_may_leave_the_sidechain_out() {
    let instance = active();
    let (audio, input) = (MediaTypes_::kAudio as i32, BusDirections_::kInput as i32);
    let bus = || {
        // SAFETY: zeros are valid for all fields of `info`, which has room for the answer.
        unsafe {
            let mut info: BusInfo = mem::zeroed();
            assert_eq!(instance.component.getBusInfo(audio, input, 1, &mut info), kResultOk);
            info
        }
    };
    let arrange = |main: u64, sidechain: u64, out: u64| {
        let (mut inputs, mut outputs) = ([main, sidechain], [out]);
        let (inputs, outputs) = (inputs.as_mut_ptr(), outputs.as_mut_ptr());
        let mut told = [9; 2];
        // SAFETY: there are as many arrangements as the counts say, and `told` has room for the answers.
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
    // The buffer has one input bus only, without the sidechain.
    assert_eq!(process(&instance, 2, 2), kResultOk);
}

/// Plays up to half a second of silence with a tone in a sidechain of `channels` channels. Returns whether the output sounds.
///
/// If not `complete`, the pointer to the sidechain's second channel is null.
fn hears(instance: &mut Instance, channels: usize, complete: bool) -> bool {
    (0..24_000 / FRAMES).any(|block| {
        let tone = |frame: usize| 0.3 * (0.0576 * (block * FRAMES + frame) as f32).sin();
        let mut sidechain = vec![(0..FRAMES).map(tone).collect::<Vec<_>>(); channels];
        if !complete {
            sidechain[1].clear();
        }
        instance.sidechain = Some(sidechain);
        let mut output = vec![vec![0.0; FRAMES]; 2];
        assert_eq!(instance.process(None, &mut output, Vec::new()), kResultOk);
        output.iter().flatten().any(|sample| sample.abs() > 0.01)
    })
}

#[test]
fn the_sidechain_is_heard_once_it_is_active_and_complete() {
    let mut instance = Instance::set_up_stereo(&factory(), FRAMES, None);
    let mut stereo = [SpeakerArr::kStereo; 3];
    let (audio, notes) = (MediaTypes_::kAudio as i32, MediaTypes_::kEvent as i32);
    let activate = |instance: &Instance, media: i32| {
        let input = BusDirections_::kInput as i32;
        // SAFETY: the arguments are plain values.
        unsafe { instance.component.activateBus(media, input, 1, 1) }
    };
    // SAFETY: there are two inputs and an output.
    let arranged = unsafe {
        let (inputs, output) = (stereo.as_mut_ptr(), stereo.as_mut_ptr().add(2));
        instance.processor.setBusArrangements(inputs, 2, output, 1)
    };
    assert_eq!(arranged, kResultOk);
    instance.set(instance.id("Sidechain"), 1.0);
    instance.set(instance.id("Mix"), 1.0);
    instance.activate();
    assert!(!hears(&mut instance, 2, true), "it is off");
    assert_ne!(activate(&instance, notes), kResultOk);
    assert!(!hears(&mut instance, 2, true), "there is no second bus for notes");
    assert_eq!(activate(&instance, audio), kResultOk);
    assert!(!hears(&mut instance, 1, true), "a channel is missing");
    assert!(!hears(&mut instance, 2, false), "a channel is null");
    assert!(hears(&mut instance, 2, true));
}
