//! Plugin functions that a CLAP host calls: nice-plug's, with some replaced. Faults of nice-plug 0.4.2:
//!
//! * It splits a buffer at the times of its events (`handle_in_events_until` in `wrapper/clap/wrapper.rs`). Times after the buffer
//!   make it copy samples beyond the buffer's end, and unsorted times underflow a subtraction. `process` moves an event that is too
//!   late to the buffer's last sample, and an unsorted event to the time of the event before it.
//! * It trusts the host's channel counts (`wrapper/util/buffer_management.rs`): with more channels than the layout has it panics,
//!   with fewer outputs than inputs it reads invalid pointers. `process` returns an error in both cases.
//! * It resets the plugin in `start_processing`. CLAP asks for a reset in `reset` alone, and some hosts stop and start around each
//!   buffer. nice-plug gets only the first start after an activation, and a stop at the deactivation.
//!
//! If the host stops processing before it has fetched the window's edits, the shim calls `request_flush`. `activate` also reports
//! a new latency to the host; see [`Latency`](crate::Latency).

use super::{
    events::{self, ClampedEvents},
    extensions,
    shim::{ClapShim, shim},
};
use clap_sys::{
    audio_buffer::clap_audio_buffer,
    ext::audio_ports::{CLAP_EXT_AUDIO_PORTS, clap_audio_port_info, clap_plugin_audio_ports},
    process::{CLAP_PROCESS_ERROR, clap_process, clap_process_status},
};
use nice_plug::wrapper::clap::clap_plugin;
use std::{
    ffi::{CStr, c_char, c_void},
    hint::black_box,
    mem::MaybeUninit,
    ptr,
    sync::atomic::Ordering,
    thread,
};

/// Returns the functions for the host, around nice-plug's functions `inner`.
pub(super) fn functions(inner: clap_plugin) -> clap_plugin {
    clap_plugin {
        init: Some(init),
        activate: Some(activate),
        deactivate: Some(deactivate),
        start_processing: Some(start_processing),
        stop_processing: Some(stop_processing),
        process: Some(process),
        destroy: Some(destroy),
        get_extension: Some(get_extension),
        on_main_thread: Some(on_main_thread),
        ..inner
    }
}

unsafe extern "C" fn get_extension(plugin: *const clap_plugin, id: *const c_char) -> *const c_void {
    // SAFETY: CLAP promises a zero-terminated string, and the host got `plugin` from `ClapShim::create`.
    unsafe {
        let id_text = if id.is_null() { c"" } else { CStr::from_ptr(id) };
        let replacement = extensions::find(shim(plugin), id_text);
        let inner = || shim(plugin).inner.get_extension.map(|get| get(plugin, id));
        replacement.or_else(inner).unwrap_or(ptr::null())
    }
}

unsafe extern "C" fn init(plugin: *const clap_plugin) -> bool {
    // SAFETY: the host got the pointer from `ClapShim::create`, and calls this first, on its main thread.
    unsafe {
        let shim = shim(plugin);
        if !shim.inner.init.is_some_and(|init| init(plugin)) {
            return false;
        }
        shim.host.init();
        let host = &shim.host;
        shim.instance.link().connect(Some(host.connection()));
        // On other systems the window runs on the main thread and resizes itself.
        shim.instance.link().set_resizable(cfg!(target_os = "linux") && host.has_gui());
        extensions::read_track(shim);
    }
    true
}

unsafe extern "C" fn on_main_thread(plugin: *const clap_plugin) {
    // SAFETY: the host got the pointer from `ClapShim::create`, and calls this on its main thread.
    unsafe {
        let shim = shim(plugin);
        if let Some(inner) = shim.inner.on_main_thread {
            inner(plugin);
        }
        extensions::on_main_thread(shim);
    }
}

unsafe extern "C" fn activate(
    plugin: *const clap_plugin,
    sample_rate: f64,
    min_frames: u32,
    max_frames: u32,
) -> bool {
    // SAFETY: the host got the pointer from `ClapShim::create`.
    let shim = unsafe { shim(plugin) };
    // nice-plug rounds the rate to `f32`, too.
    shim.rate.store(f64::from(sample_rate as f32).to_bits(), Ordering::Relaxed);
    shim.forget_seen();
    // SAFETY: as above; CLAP calls `activate` on the main thread.
    shim.channels.store(unsafe { layout_channels(shim) }, Ordering::Relaxed);
    let inner = shim.inner.activate;
    // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
    let activated =
        inner.is_some_and(|inner| unsafe { inner(plugin, sample_rate, min_frames, max_frames) });
    shim.active.store(activated, Ordering::Relaxed);
    if activated && shim.instance.latency().report().is_some() {
        // SAFETY: the plugin is being activated.
        unsafe { shim.host.latency_changed() };
    }
    activated
}

unsafe extern "C" fn deactivate(plugin: *const clap_plugin) {
    // SAFETY: the host got the pointer from `ClapShim::create`.
    let shim = unsafe { shim(plugin) };
    shim.active.store(false, Ordering::Relaxed);
    if shim.started.swap(false, Ordering::Relaxed)
        && let Some(stop) = shim.inner.stop_processing
    {
        // SAFETY: the host guarantees the pointer, and does not process any more.
        unsafe { stop(plugin) };
    }
    if let Some(inner) = shim.inner.deactivate {
        // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
        unsafe { inner(plugin) };
    }
    shim.request_flush();
}

unsafe extern "C" fn start_processing(plugin: *const clap_plugin) -> bool {
    // SAFETY: the host got the pointer from `ClapShim::create`.
    let shim = unsafe { shim(plugin) };
    // In hosts without `clap.thread-check`, nice-plug calls `thread::current` in `process`; the first call on a thread allocates.
    black_box(thread::current().id());
    let started = shim.started.swap(true, Ordering::Relaxed)
        // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
        || shim.inner.start_processing.is_some_and(|start| unsafe { start(plugin) });
    shim.processing.store(started, Ordering::Relaxed);
    started
}

unsafe extern "C" fn stop_processing(plugin: *const clap_plugin) {
    // SAFETY: the host got the pointer from `ClapShim::create`.
    let shim = unsafe { shim(plugin) };
    shim.processing.store(false, Ordering::Relaxed);
    if shim.edits_wait() {
        // A flush may not be requested on the audio thread.
        shim.host.request_callback();
    }
}

unsafe extern "C" fn destroy(plugin: *const clap_plugin) {
    // SAFETY: the host got the pointer from `ClapShim::create`, which made it from a box, and does not use the pointer any more.
    let shim = unsafe { Box::from_raw(plugin.cast_mut().cast::<ClapShim>()) };
    // An editor's thread may run on for a moment, and must not call the host any more.
    shim.host.close();
    if let Some(inner) = shim.inner.destroy {
        // SAFETY: nice-plug's own data still exists.
        unsafe { inner(&shim.plugin) };
    }
}

unsafe extern "C" fn process(
    plugin: *const clap_plugin,
    block: *const clap_process,
) -> clap_process_status {
    // SAFETY: the host got the pointer from `ClapShim::create`.
    let shim = unsafe { shim(plugin) };
    // SAFETY: CLAP promises a block that lives as long as the call.
    let (Some(inner), Some(block)) = (shim.inner.process, unsafe { block.as_ref() }) else {
        return CLAP_PROCESS_ERROR;
    };
    let channels = shim.channels.load(Ordering::Relaxed);
    if !channels_fit(block, channels) {
        return CLAP_PROCESS_ERROR;
    }
    shim.edits_sent();
    let mut block = *block;
    let inputs = with_sidechain(&block, channels);
    if let Some(inputs) = &inputs {
        (block.audio_inputs, block.audio_inputs_count) = (inputs.as_ptr(), 2);
    }
    // SAFETY: CLAP promises a list and a transport, if any, that live as long as the call.
    let (events, transport) = unsafe { (block.in_events.as_ref(), block.transport.as_ref()) };
    let (status, tempo) = match events {
        // SAFETY: the block is the host's, except the inputs, which live until the call returns.
        None => (unsafe { inner(plugin, &block) }, events::tempo(transport)),
        Some(events) => {
            let clamped = ClampedEvents::new(events, block.frames_count, transport);
            let events = clamped.list();
            block.in_events = &events;
            // SAFETY: the block is the host's, except inputs and events, which live until the call returns.
            (unsafe { inner(plugin, &block) }, clamped.tempo.get())
        }
    };
    shim.tempo.store(tempo.unwrap_or(f64::NAN).to_bits(), Ordering::Relaxed);
    // SAFETY: this is the audio thread.
    unsafe { shim.notify_on_audio_thread() };
    status
}

/// Returns the main input twice, as input and as sidechain. `None` if the host passes a complete sidechain of `channels` channels,
/// or no main input.
///
/// nice-plug reads the second input port of a layout even if the host passes none. For missing channels, it uses slices of an
/// earlier buffer's length.
fn with_sidechain(block: &clap_process, channels: u32) -> Option<[clap_audio_buffer; 2]> {
    // SAFETY: CLAP promises as many ports as the number.
    let port = |index| unsafe {
        (index < block.audio_inputs_count).then(|| *block.audio_inputs.add(index as usize))
    };
    let fits = port(1).is_some_and(|port| port.channel_count == channels && !port.data32.is_null());
    port(0).filter(|_| !fits).map(|main| [main; 2])
}

/// Returns whether nice-plug can process the channel counts of `block` in a layout of `channels`.
fn channels_fit(block: &clap_process, channels: u32) -> bool {
    let count = |ports: *const clap_audio_buffer, number: u32| {
        // SAFETY: CLAP promises as many ports as the number.
        unsafe { ports.as_ref() }.filter(|_| number > 0).map_or(0, |port| port.channel_count)
    };
    let inputs = count(block.audio_inputs, block.audio_inputs_count);
    let outputs = count(block.audio_outputs, block.audio_outputs_count);
    inputs <= outputs && outputs <= channels
}

/// Returns the channel count of the main output in the layout that the host has chosen; 0 if unknown.
///
/// # Safety
/// Must be called on the main thread.
unsafe fn layout_channels(shim: &ClapShim) -> u32 {
    let mut info = MaybeUninit::<clap_audio_port_info>::uninit();
    // SAFETY: guaranteed by the caller; the extension is of this type, and `get` fills in `info` if it returns true.
    unsafe {
        let ports = shim.inner_extension::<clap_plugin_audio_ports>(CLAP_EXT_AUDIO_PORTS);
        let get = ports.and_then(|ports| ports.get);
        let found = get.is_some_and(|get| get(&shim.inner, 0, false, info.as_mut_ptr()));
        if found { (*info.as_ptr()).channel_count } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the channel counts that replace `inputs` in a layout of 2 channels; `None` if the inputs stay. Without `pointer`,
    /// the last input has a null pointer to its samples.
    fn replaced(inputs: &[u32], pointer: bool) -> Option<[u32; 2]> {
        let mut channels: [*mut f32; 4] = [ptr::null_mut(); 4];
        let samples = channels.as_mut_ptr();
        let mut ports: Vec<_> = inputs
            .iter()
            .map(|channel_count| clap_audio_buffer {
                channel_count: *channel_count,
                data32: samples,
                // SAFETY: zeros are valid for all fields, null pointers included.
                ..unsafe { std::mem::zeroed() }
            })
            .collect();
        if !pointer && let Some(last) = ports.last_mut() {
            last.data32 = ptr::null_mut();
        }
        // SAFETY: as above.
        let mut block: clap_process = unsafe { std::mem::zeroed() };
        (block.audio_inputs, block.audio_inputs_count) = (ports.as_ptr(), ports.len() as u32);
        with_sidechain(&block, 2).map(|ports| ports.map(|port| port.channel_count))
    }

    #[test]
    fn an_incomplete_sidechain_is_replaced() {
        assert_eq!(replaced(&[2, 2], true), None);
        for (inputs, pointer) in
            [(&[2][..], true), (&[2, 1], true), (&[2, 3], true), (&[2, 2], false)]
        {
            assert_eq!(replaced(inputs, pointer), Some([2; 2]), "{inputs:?}, {pointer}");
        }
        assert_eq!(replaced(&[], true), None);
    }
}
