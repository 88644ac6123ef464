//! Test host: as Unity does, it reads the definition and calls the callbacks.

use AudioPluginToneFilter::{
    UnityGetAudioEffectDefinitions,
    interface::{EffectDefinition, EffectState, OK},
    parameters::{PARAMETERS, Parameter},
};
use std::{
    ffi::{CStr, CString, c_char, c_int},
    ptr,
};
use tone_filter_dsp::{Controls, ToneFilter};
use tone_filter_testkit::{Draws, channels, heap::counted};

pub const RATE: u32 = 48_000;

pub type Entry = unsafe extern "C" fn(*mut *const *const EffectDefinition) -> c_int;

/// Returns the only definition that `entry` lists.
pub fn definition(entry: Entry) -> &'static EffectDefinition {
    let mut list = ptr::null();
    // SAFETY: `list` is valid for a write; the definition lives as long as the library.
    unsafe {
        assert_eq!(entry(&raw mut list), 1);
        &**list
    }
}

pub fn owned(text: *const c_char) -> String {
    // SAFETY: the library's texts are C strings.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned()
}

/// Instance of the effect. Setting a parameter and processing a block must not allocate.
pub struct Instance {
    pub definition: &'static EffectDefinition,
    state: Box<EffectState>,
}

impl Instance {
    /// Creates an instance at [`RATE`].
    pub fn new() -> Self {
        Self::of(RATE)
    }

    pub fn of(sample_rate: u32) -> Self {
        let definition = definition(UnityGetAudioEffectDefinitions);
        let mut state = Box::new(EffectState {
            struct_size: size_of::<EffectState>() as u32,
            sample_rate,
            flags: 1,
            dsp_buffer_size: 1024,
            host_api_version: definition.api_version,
            ..EffectState::default()
        });
        // SAFETY: the state is valid until `drop`.
        let created = unsafe { definition.create.unwrap()(&raw mut *state) } == OK;
        assert_eq!(created, (1000..=1_000_000_000).contains(&sample_rate));
        Self { definition, state }
    }

    pub fn index(&self, name: &str) -> c_int {
        PARAMETERS.iter().position(|parameter| parameter.name() == name).unwrap() as c_int
    }

    pub fn set(&mut self, name: &str, value: f32) {
        assert_eq!(self.set_index(self.index(name), value), OK, "{name} = {value}");
    }

    pub fn get(&mut self, name: &str) -> f32 {
        let (mut value, mut text) = (f32::NAN, [9; 4]);
        let (get, index) = (self.definition.get_parameter.unwrap(), self.index(name));
        // SAFETY: all pointers are valid.
        let status = unsafe { get(&raw mut *self.state, index, &raw mut value, text.as_mut_ptr()) };
        assert_eq!((status, text), (OK, [0, 9, 9, 9]));
        value
    }

    pub fn set_all(&mut self, controls: &Controls) {
        for (index, parameter) in PARAMETERS.iter().enumerate() {
            if let Parameter::Setting(setting) = parameter {
                assert_eq!(self.set_index(index as c_int, setting.value(controls)), OK, "{index}");
            }
        }
    }

    /// Sets a parameter by its index, which may be unknown. Returns the status.
    pub fn set_index(&mut self, index: c_int, value: f32) -> c_int {
        let set = self.definition.set_parameter.unwrap();
        // SAFETY: the state is valid.
        let (status, allocations) = counted(|| unsafe { set(&raw mut *self.state, index, value) });
        assert_eq!(allocations, 0);
        status
    }

    pub fn reset(&mut self) {
        // SAFETY: the state is valid.
        assert_eq!(unsafe { self.definition.reset.unwrap()(&raw mut *self.state) }, OK);
    }

    pub fn read(&mut self, name: &str, count: usize) -> Option<Vec<f32>> {
        let (name, mut levels) = (CString::new(name).unwrap(), vec![9.0; count]);
        let (get, state) = (self.definition.get_buffer.unwrap(), &raw mut *self.state);
        // SAFETY: all pointers are valid.
        let status = unsafe { get(state, name.as_ptr(), levels.as_mut_ptr(), count as c_int) };
        (status == OK).then_some(levels)
    }

    /// Advances Unity's clock by `frames`, as while the mixer rests.
    pub fn skip(&mut self, frames: u64) {
        self.state.current_dsp_tick += frames;
    }

    /// Processes interleaved stereo in blocks of 1024 frames, with a sidechain unless `sidechain` is empty. Returns the
    /// output's bits.
    pub fn play(&mut self, sound: &[f32], sidechain: &[f32]) -> Vec<u32> {
        let mut output = vec![9.0; sound.len()];
        for (index, output) in output.chunks_mut(2048).enumerate() {
            let start = 2048 * index;
            let sidechain = sidechain.get(start..).unwrap_or_default();
            assert_eq!(self.process(sound[start..].as_ptr(), sidechain, output, [2, 2]), OK);
        }
        bits(&output)
    }

    /// Processes a block with a sidechain; an empty slice stands for no sidechain.
    pub fn process(
        &mut self,
        input: *const f32,
        sidechain: &[f32],
        output: &mut [f32],
        [inputs, outputs]: [usize; 2],
    ) -> c_int {
        let (frames, to) = (output.len() / outputs, output.as_mut_ptr());
        self.state.sidechain = if sidechain.is_empty() { ptr::null() } else { sidechain.as_ptr() };
        let (process, state) = (self.definition.process.unwrap(), &raw mut *self.state);
        // SAFETY: all pointers are valid for `frames` frames of their channels.
        let (status, allocations) = counted(|| unsafe {
            process(state, input, to, frames as u32, inputs as c_int, outputs as c_int)
        });
        assert_eq!(allocations, 0);
        self.skip(frames as u64);
        status
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: the state is valid, and is not used again.
        assert_eq!(unsafe { self.definition.release.unwrap()(&raw mut *self.state) }, OK);
        assert!(self.state.effect_data.is_null());
    }
}

/// Returns `frames` frames of interleaved music with `count` different channels.
pub fn music(count: usize, frames: usize) -> Vec<f32> {
    let sound = channels(&mut Draws::seeded(1), count, RATE.into(), frames);
    (0..frames * count).map(|i| sound[i % count][i / count]).collect()
}

fn planar(sound: &[f32], channels: usize) -> Vec<Vec<f32>> {
    (0..channels).map(|c| sound.iter().skip(c).step_by(channels).copied().collect()).collect()
}

/// Returns the bits of the library's output for interleaved `sound`. An empty `sidechain` is not connected.
pub fn expected(
    filter: &mut ToneFilter,
    sound: &[f32],
    sidechain: &[f32],
    channels: usize,
) -> Vec<u32> {
    let mut main = planar(sound, channels);
    let sidechain = if sidechain.is_empty() { Vec::new() } else { planar(sidechain, channels) };
    let mut slices: Vec<_> = main.iter_mut().map(Vec::as_mut_slice).collect();
    let sidechain: Vec<_> = sidechain.iter().map(Vec::as_slice).collect();
    filter.process_events(&mut slices, &sidechain, [], |_, _| ());
    (0..sound.len()).map(|i| main[i % channels][i / channels].to_bits()).collect()
}

pub fn bits(sound: &[f32]) -> Vec<u32> {
    sound.iter().map(|sample| sample.to_bits()).collect()
}
