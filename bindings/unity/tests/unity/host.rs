//! Test host: as Unity does, it loads the library's file, reads the definition and calls the callbacks.

use AudioPluginToneFilter::{
    interface::{EffectDefinition, EffectState, OK},
    parameters::{PARAMETERS, Parameter},
};
use libloading::Library;
use std::{
    env::{consts, current_exe},
    ffi::{CStr, CString, c_char, c_int},
    ptr,
    sync::LazyLock,
};
use tone_filter_dsp::{Controls, ToneFilter};
use tone_filter_testkit::{Draws, channels};

pub const RATE: u32 = 48_000;

pub type Entry = unsafe extern "C" fn(*mut *const *const EffectDefinition) -> c_int;

/// Returns the entry point of the library's file.
pub fn loaded() -> Entry {
    static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
        let name = format!("{}AudioPluginToneFilter{}", consts::DLL_PREFIX, consts::DLL_SUFFIX);
        let path = current_exe().unwrap().with_file_name(name);
        // SAFETY: the library runs no code when it is loaded.
        unsafe { Library::new(path) }.unwrap()
    });
    // SAFETY: the function has this type.
    unsafe { *LIBRARY.get(b"UnityGetAudioEffectDefinitions").unwrap() }
}

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

/// Instance of the effect. Other threads may set its parameters while it processes.
pub struct Instance {
    pub definition: &'static EffectDefinition,
    state: *mut EffectState,
}

// SAFETY: as in Unity, any thread may call methods with `&self`, and one thread at a time methods with `&mut self`.
unsafe impl Send for Instance {}
// SAFETY: as for `Send`.
unsafe impl Sync for Instance {}

impl Instance {
    /// Creates an instance from the library's file, at [`RATE`].
    pub fn new() -> Self {
        Self::of(loaded(), RATE)
    }

    pub fn of(entry: Entry, sample_rate: u32) -> Self {
        let definition = definition(entry);
        let state = Box::into_raw(Box::new(EffectState {
            struct_size: size_of::<EffectState>() as u32,
            sample_rate,
            flags: 1,
            dsp_buffer_size: 1024,
            host_api_version: definition.api_version,
            ..EffectState::default()
        }));
        // SAFETY: the state is valid until `drop`.
        let created = unsafe { definition.create.unwrap()(state) } == OK;
        assert_eq!(created, (1000..=1_000_000_000).contains(&sample_rate));
        Self { definition, state }
    }

    pub fn index(&self, name: &str) -> c_int {
        PARAMETERS.iter().position(|own| own.name() == name).unwrap() as c_int
    }

    pub fn set(&self, name: &str, value: f32) {
        assert_eq!(self.set_index(self.index(name), value), OK, "{name} = {value}");
    }

    pub fn get(&self, name: &str) -> f32 {
        let (mut value, mut text) = (f32::NAN, [9; 4]);
        let (get, index) = (self.definition.get_parameter.unwrap(), self.index(name));
        // SAFETY: all pointers are valid.
        let status = unsafe { get(self.state, index, &raw mut value, text.as_mut_ptr()) };
        assert_eq!((status, text), (OK, [0, 9, 9, 9]));
        value
    }

    /// Returns the indices and values of the parameters for `controls`.
    pub fn indexed(&self, controls: &Controls) -> Vec<(c_int, f32)> {
        let value = |(index, own): (usize, &Parameter)| match own {
            Parameter::Setting(own) => Some((index as c_int, own.value(controls))),
            Parameter::Preset | Parameter::Instance => None,
        };
        PARAMETERS.iter().enumerate().filter_map(value).collect()
    }

    pub fn set_all(&self, controls: &Controls) {
        for (index, value) in self.indexed(controls) {
            assert_eq!(self.set_index(index, value), OK, "{index}");
        }
    }

    /// Sets a parameter by its index, which may be unknown. Returns the status.
    pub fn set_index(&self, index: c_int, value: f32) -> c_int {
        // SAFETY: the state is valid.
        unsafe { self.definition.set_parameter.unwrap()(self.state, index, value) }
    }

    pub fn reset(&self) {
        // SAFETY: the state is valid.
        assert_eq!(unsafe { self.definition.reset.unwrap()(self.state) }, OK);
    }

    pub fn read(&self, name: &str, count: usize) -> Option<Vec<f32>> {
        let (name, mut levels) = (CString::new(name).unwrap(), vec![9.0; count]);
        let get = self.definition.get_buffer.unwrap();
        // SAFETY: all pointers are valid.
        let status = unsafe { get(self.state, name.as_ptr(), levels.as_mut_ptr(), count as c_int) };
        (status == OK).then_some(levels)
    }

    /// Advances Unity's clock by `frames`, as while the mixer rests.
    pub fn skip(&mut self, frames: u64) {
        // SAFETY: the state is valid, and nothing else uses it now.
        unsafe { (*self.state).current_dsp_tick += frames };
    }

    pub fn process(&mut self, input: &[f32], output: &mut [f32], channels: [usize; 2]) -> c_int {
        self.process_raw(input.as_ptr(), &[], output, channels)
    }

    /// Processes a stereo block while other threads may set parameters.
    pub fn process_shared(&self, input: &[f32], output: &mut [f32]) -> c_int {
        let (process, frames) = (self.definition.process.unwrap(), output.len() as u32 / 2);
        // SAFETY: all pointers are valid for `frames` frames.
        unsafe { process(self.state, input.as_ptr(), output.as_mut_ptr(), frames, 2, 2) }
    }

    /// Processes a block with a sidechain; an empty slice stands for no sidechain.
    pub fn process_raw(
        &mut self,
        input: *const f32,
        sidechain: &[f32],
        output: &mut [f32],
        [inputs, outputs]: [usize; 2],
    ) -> c_int {
        let frames = output.len() / outputs;
        let process = self.definition.process.unwrap();
        // SAFETY: all pointers are valid for `frames` frames, and nothing else uses these fields.
        unsafe {
            let sidechain = if sidechain.is_empty() { ptr::null() } else { sidechain.as_ptr() };
            (*self.state).sidechain = sidechain;
            let (inputs, outputs) = (inputs as c_int, outputs as c_int);
            let to = output.as_mut_ptr();
            let status = process(self.state, input, to, frames as u32, inputs, outputs);
            (*self.state).previous_dsp_tick = (*self.state).current_dsp_tick;
            (*self.state).current_dsp_tick += frames as u64;
            status
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: the state comes from `of`, and is not used again.
        unsafe {
            assert_eq!(self.definition.release.unwrap()(self.state), OK);
            assert!((*self.state).effect_data.is_null());
            drop(Box::from_raw(self.state));
        }
    }
}

/// Returns `frames` frames of music that differs between channels, interleaved.
pub fn music(count: usize, frames: usize) -> Vec<f32> {
    let sound = channels(&mut Draws::seeded(1), count, RATE.into(), frames);
    (0..frames * count).map(|i| sound[i % count][i / count]).collect()
}

pub fn planar(sound: &[f32], channels: usize) -> Vec<Vec<f32>> {
    (0..channels).map(|c| sound.iter().skip(c).step_by(channels).copied().collect()).collect()
}

/// Returns the bits of the library's output for interleaved `sound`. `side` is the sidechain; empty: none.
pub fn expected(filter: &mut ToneFilter, sound: &[f32], side: &[f32], channels: usize) -> Vec<u32> {
    let mut main = planar(sound, channels);
    let side = if side.is_empty() { Vec::new() } else { planar(side, channels) };
    let mut slices: Vec<_> = main.iter_mut().map(Vec::as_mut_slice).collect();
    let side: Vec<_> = side.iter().map(Vec::as_slice).collect();
    filter.process_events(&mut slices, &side, [], |_, _| ());
    (0..sound.len()).map(|i| main[i % channels][i / channels].to_bits()).collect()
}

pub fn bits(sound: &[f32]) -> Vec<u32> {
    sound.iter().map(|sample| sample.to_bits()).collect()
}
