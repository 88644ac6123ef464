//! The effect's definition and callbacks, and its instances.

use crate::{
    interface::{
        API_VERSION, EffectDefinition, EffectState, IS_SIDE_CHAIN_TARGET, OK, ParameterDefinition,
        UNSUPPORTED,
    },
    levels::{Levels, Picture},
    parameters::{PARAMETERS, Parameter, Values, text},
    player::{Block, MAX_CHANNELS, Player},
};
use std::{
    cell::UnsafeCell,
    ffi::{CStr, c_char, c_float, c_int, c_uint},
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
    sync::{
        LazyLock,
        atomic::{AtomicBool, Ordering},
    },
};

/// The effect's name in Unity.
pub const NAME: &str = "Tone Filter";

/// Definitions, which Unity reads once.
pub struct Definitions {
    effect: EffectDefinition,
    _parameters: Vec<ParameterDefinition>,
}

// SAFETY: its pointers lead to what is neither changed nor freed.
unsafe impl Send for Definitions {}
// SAFETY: likewise.
unsafe impl Sync for Definitions {}

impl Definitions {
    /// Returns the effect's definition, which is valid as long as this is.
    pub fn effect(&self) -> *const EffectDefinition {
        &raw const self.effect
    }
}

/// The library's definitions.
pub static DEFINITIONS: LazyLock<Definitions> = LazyLock::new(|| {
    let parameters: Vec<_> = PARAMETERS.iter().map(Parameter::definition).collect();
    let part = |text: &str| text.parse().unwrap_or(0_u32);
    let version = [
        part(env!("CARGO_PKG_VERSION_MAJOR")),
        part(env!("CARGO_PKG_VERSION_MINOR")),
        part(env!("CARGO_PKG_VERSION_PATCH")),
    ];
    let effect = EffectDefinition {
        struct_size: size_of::<EffectDefinition>() as u32,
        parameter_struct_size: size_of::<ParameterDefinition>() as u32,
        api_version: API_VERSION,
        plugin_version: version[0] << 16 | version[1] << 8 | version[2],
        channels: 0,
        parameter_count: parameters.len() as u32,
        flags: IS_SIDE_CHAIN_TARGET,
        name: text(NAME),
        create: Some(create),
        release: Some(release),
        reset: Some(reset),
        process: Some(process),
        set_position: None,
        parameters: parameters.as_ptr(),
        set_parameter: Some(set_parameter),
        get_parameter: Some(get_parameter),
        get_buffer: Some(get_buffer),
    };
    Definitions { effect, _parameters: parameters }
});

/// Instance. Unity calls `process` on one thread at a time, and the other callbacks on any thread meanwhile, which access atomics only.
struct Effect {
    values: Values,
    levels: Levels,
    resets: AtomicBool,
    /// Filter, for `process` alone.
    player: UnsafeCell<Player>,
}

/// Returns the instance behind `state`, if there is one.
///
/// # Safety
/// `state` is null, or Unity's state of an instance that is not released during `'a`.
unsafe fn effect<'a>(state: *mut EffectState) -> Option<&'a Effect> {
    // SAFETY: by the caller; its data is null or that of `create`.
    unsafe { state.as_ref()?.effect_data.cast::<Effect>().as_ref() }
}

/// Runs a callback's body without letting a panic out.
fn guard(body: impl FnOnce() -> Option<()>) -> c_int {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Some(())) => OK,
        _ => UNSUPPORTED,
    }
}

unsafe extern "system" fn create(state: *mut EffectState) -> c_int {
    guard(|| {
        // SAFETY: Unity's state of the instance that it creates, which only this call uses.
        let state = unsafe { state.as_mut() }?;
        state.effect_data = ptr::null_mut();
        let player = UnsafeCell::new(Player::new(state.sample_rate).ok()?);
        let (values, levels) = (Values::default(), Levels::default());
        let effect = Effect { values, levels, resets: AtomicBool::new(false), player };
        state.effect_data = Box::into_raw(Box::new(effect)).cast();
        Some(())
    })
}

unsafe extern "system" fn release(state: *mut EffectState) -> c_int {
    guard(|| {
        // SAFETY: Unity's state of the instance that it releases, which only this call uses.
        let state = unsafe { state.as_mut() }?;
        let effect = std::mem::replace(&mut state.effect_data, ptr::null_mut()).cast::<Effect>();
        if !effect.is_null() {
            // SAFETY: it comes from `create`, and no other callback follows.
            drop(unsafe { Box::from_raw(effect) });
        }
        Some(())
    })
}

unsafe extern "system" fn reset(state: *mut EffectState) -> c_int {
    guard(|| {
        // SAFETY: Unity's state of an instance.
        unsafe { effect(state) }?.resets.store(true, Ordering::Relaxed);
        Some(())
    })
}

unsafe extern "system" fn process(
    state: *mut EffectState,
    input: *const c_float,
    output: *mut c_float,
    frames: c_uint,
    inputs: c_int,
    outputs: c_int,
) -> c_int {
    guard(|| {
        let (inputs, outputs) = (usize::try_from(inputs).ok()?, usize::try_from(outputs).ok()?);
        let frames = frames as usize;
        if input.is_null() || output.is_null() {
            return None;
        }
        // SAFETY: Unity's state of an instance.
        let effect = unsafe { effect(state) };
        let Some(effect) = effect.filter(|_| (1..=MAX_CHANNELS).contains(&inputs)) else {
            // SAFETY: both have so many frames and channels.
            unsafe { pass(input, output, frames, inputs, outputs) };
            return None;
        };
        // SAFETY: it is not null, as the effect was behind it. Unity writes there before and after this call only.
        let (sidechain, tick) = unsafe { ((*state).sidechain, (*state).current_dsp_tick) };
        let reset = effect.resets.swap(false, Ordering::Relaxed);
        let block = Block { input, sidechain, output, inputs, outputs, frames, tick, reset };
        // SAFETY: Unity calls this on one thread at a time, and nothing else uses the player.
        let player = unsafe { &mut *effect.player.get() };
        // SAFETY: the buffers have so many frames and channels, the sidechain as many as the input.
        unsafe { player.process(&effect.values, &effect.levels, &block) };
        Some(())
    })
}

/// Copies the input to the output.
///
/// # Safety
/// The buffers have so many frames and channels. They may overlap if they are the same.
unsafe fn pass(input: *const f32, output: *mut f32, frames: usize, inputs: usize, outputs: usize) {
    for frame in 0..frames {
        for channel in 0..outputs {
            // SAFETY: by the caller.
            unsafe {
                let sample = match channel < inputs {
                    true => input.add(frame * inputs + channel).read(),
                    false => 0.0,
                };
                output.add(frame * outputs + channel).write(sample);
            }
        }
    }
}

unsafe extern "system" fn set_parameter(
    state: *mut EffectState,
    index: c_int,
    value: c_float,
) -> c_int {
    guard(|| {
        let index = usize::try_from(index).ok()?;
        // SAFETY: Unity's state of an instance.
        unsafe { effect(state) }?.values.set(index, value).then_some(())
    })
}

/// The text is left empty, as in Unity's own effects: how much room there is for one is nowhere written.
unsafe extern "system" fn get_parameter(
    state: *mut EffectState,
    index: c_int,
    value: *mut c_float,
    text: *mut c_char,
) -> c_int {
    guard(|| {
        let index = usize::try_from(index).ok()?;
        // SAFETY: Unity's state of an instance.
        let current = unsafe { effect(state) }?.values.get(index)?;
        // SAFETY: null, or valid for a write.
        unsafe {
            if !value.is_null() {
                value.write(current);
            }
            if !text.is_null() {
                text.write(0);
            }
        }
        Some(())
    })
}

unsafe extern "system" fn get_buffer(
    state: *mut EffectState,
    name: *const c_char,
    buffer: *mut c_float,
    count: c_int,
) -> c_int {
    guard(|| {
        let count = usize::try_from(count).ok()?;
        if name.is_null() || buffer.is_null() {
            return None;
        }
        // SAFETY: a text that ends with a NUL.
        let picture = Picture::named(unsafe { CStr::from_ptr(name) }.to_bytes())?;
        // SAFETY: Unity's state of an instance.
        let levels = &unsafe { effect(state) }?.levels;
        for index in 0..count {
            // SAFETY: the buffer has room for so many.
            unsafe { buffer.add(index).write(levels.read(picture, index)) };
        }
        Some(())
    })
}
