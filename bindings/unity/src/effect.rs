//! The effect's definition, callbacks and instances.

use crate::{
    interface::{
        API_VERSION, EffectDefinition, EffectState, IS_SIDE_CHAIN_TARGET, OK, ParameterDefinition,
        UNSUPPORTED,
    },
    levels::Levels,
    parameters::{PARAMETERS, Parameter, RawValues, text},
    player::{Block, MAX_CHANNELS, Player},
};
use std::{
    cell::UnsafeCell,
    ffi::{CStr, c_char, c_float, c_int, c_uint},
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
    sync::atomic::{AtomicBool, Ordering},
};

/// Returns the definition of the effect. Its parameters are never freed.
pub fn definition() -> EffectDefinition {
    let parameters = PARAMETERS.iter().map(Parameter::definition).collect::<Vec<_>>().leak();
    let version = env!("CARGO_PKG_VERSION").split(['.', '-', '+']).take(3);
    let version = version.map(|part| part.parse().unwrap_or(0_u32));
    EffectDefinition {
        struct_size: size_of::<EffectDefinition>() as u32,
        parameter_struct_size: size_of::<ParameterDefinition>() as u32,
        api_version: API_VERSION,
        plugin_version: version.fold(0, |version, part| version << 8 | part),
        channels: 0,
        parameter_count: parameters.len() as u32,
        flags: IS_SIDE_CHAIN_TARGET,
        name: text("Tone Filter"),
        create: Some(create),
        release: Some(release),
        reset: Some(reset),
        process: Some(process),
        set_position: None,
        parameters: parameters.as_ptr(),
        set_parameter: Some(set_parameter),
        get_parameter: Some(get_parameter),
        get_buffer: Some(get_buffer),
    }
}

/// Instance of the effect. Unity calls `process` on one thread at a time, but the other callbacks on any thread at any time. So
/// these use only the atomics.
struct Effect {
    values: RawValues,
    levels: Levels,
    resets: AtomicBool,
    /// Filter; only `process` may access it.
    player: UnsafeCell<Player>,
}

/// Returns the instance of `state`; `None` if `state` is null or has no instance.
///
/// # Safety
/// `state` must be null, or Unity's state of an instance that is not released during `'a`.
unsafe fn effect<'a>(state: *mut EffectState) -> Option<&'a Effect> {
    // SAFETY: the caller guarantees it; `effect_data` is null or comes from `create`.
    unsafe { state.as_ref()?.effect_data.cast::<Effect>().as_ref() }
}

/// Runs a callback's body. A `None` or a panic becomes [`UNSUPPORTED`].
fn guard(body: impl FnOnce() -> Option<()>) -> c_int {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Some(())) => OK,
        _ => UNSUPPORTED,
    }
}

unsafe extern "system" fn create(state: *mut EffectState) -> c_int {
    guard(|| {
        // SAFETY: Unity passes the state of the new instance, which only this call uses.
        let state = unsafe { state.as_mut() }?;
        state.effect_data = ptr::null_mut();
        let player = UnsafeCell::new(Player::new(state.sample_rate).ok()?);
        let (values, levels) = (RawValues::default(), Levels::default());
        let effect = Effect { values, levels, resets: AtomicBool::new(false), player };
        state.effect_data = Box::into_raw(Box::new(effect)).cast();
        Some(())
    })
}

unsafe extern "system" fn release(state: *mut EffectState) -> c_int {
    guard(|| {
        // SAFETY: Unity passes the state of the instance to release, which only this call uses.
        let state = unsafe { state.as_mut() }?;
        let effect = std::mem::replace(&mut state.effect_data, ptr::null_mut()).cast::<Effect>();
        if !effect.is_null() {
            // SAFETY: the pointer comes from `create`, and no other callback follows.
            drop(unsafe { Box::from_raw(effect) });
        }
        Some(())
    })
}

unsafe extern "system" fn reset(state: *mut EffectState) -> c_int {
    guard(|| {
        // SAFETY: Unity passes null or the state of an instance.
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
        // SAFETY: Unity passes `frames` frames of these channels.
        let input = unsafe { move_input(input, output, frames, inputs, outputs) };
        // SAFETY: Unity passes null or the state of an instance.
        let effect = unsafe { effect(state) };
        let Some(effect) = effect.filter(|_| (1..=MAX_CHANNELS).contains(&inputs)) else {
            // SAFETY: Unity passes `frames` frames of these channels.
            unsafe { pass(input, output, frames, inputs, outputs) };
            return None;
        };
        // SAFETY: `state` is not null, as there is an effect. Unity does not write to it during this call.
        let (sidechain, tick) = unsafe { ((*state).sidechain, (*state).current_dsp_tick) };
        let reset = effect.resets.swap(false, Ordering::Relaxed);
        let block = Block { input, sidechain, output, inputs, outputs, frames, tick, reset };
        // SAFETY: Unity calls `process` on one thread at a time, and nothing else uses the player.
        let player = unsafe { &mut *effect.player.get() };
        // SAFETY: Unity passes `frames` frames of these channels; the sidechain has the input's channels.
        unsafe { player.process(&effect.values, &effect.levels, &block) };
        Some(())
    })
}

/// Moves the input to the end of the output buffer if it has fewer channels than the output. From there, each frame is read
/// before the output overwrites it, also if both buffers are one. Returns the input's address.
///
/// # Safety
/// The buffers must have `frames` frames of `inputs` and `outputs` channels. They may overlap.
unsafe fn move_input(
    input: *const f32,
    output: *mut f32,
    frames: usize,
    inputs: usize,
    outputs: usize,
) -> *const f32 {
    let Some(surplus @ 1..) = outputs.checked_sub(inputs) else { return input };
    // SAFETY: behind `frames * surplus` samples, the output has room for the input.
    unsafe {
        let end = output.add(frames * surplus);
        ptr::copy(input, end, frames * inputs);
        end
    }
}

/// Copies the input to the output. Surplus input channels are dropped; surplus output channels become silent.
///
/// # Safety
/// The buffers must have `frames` frames of `inputs` and `outputs` channels. They may overlap only if they are the same, or if
/// [`move_input`] has moved the input.
unsafe fn pass(input: *const f32, output: *mut f32, frames: usize, inputs: usize, outputs: usize) {
    for frame in 0..frames {
        for channel in 0..outputs {
            // SAFETY: the caller guarantees it.
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
        // SAFETY: Unity passes null or the state of an instance.
        unsafe { effect(state) }?.values.set(index, value).then_some(())
    })
}

/// Writes the value of a parameter, and an empty text, as Unity's own effects do: Unity does not document the size of the
/// text's buffer.
unsafe extern "system" fn get_parameter(
    state: *mut EffectState,
    index: c_int,
    value: *mut c_float,
    text: *mut c_char,
) -> c_int {
    guard(|| {
        let index = usize::try_from(index).ok()?;
        // SAFETY: Unity passes null or the state of an instance.
        let current = unsafe { effect(state) }?.values.get(index)?;
        // SAFETY: Unity passes null, or pointers that are valid for a write.
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
        // SAFETY: Unity passes a C string.
        let sounding = match unsafe { CStr::from_ptr(name) }.to_bytes() {
            b"Bands" => false,
            b"Notes" => true,
            _ => return None,
        };
        // SAFETY: Unity passes null or the state of an instance, and a buffer of `count` numbers.
        unsafe { effect(state)?.levels.read(sounding, buffer, count) };
        Some(())
    })
}
