//! The CLAP entry point: nice-plug's plugin, with checks of what the host passes to `process`.
//!
//! nice-plug 0.4.2 splits a block at the times of its events without checking that they lie within the block
//! (`handle_in_events_until` in `wrapper/clap/wrapper.rs`), and then copies the host's buffers beyond their ends. If
//! event times are not sorted, a subtraction underflows. Here, an event that is too late is moved to the block's last
//! sample, as nice-plug's VST3 wrapper does, and one that is out of order to the time of the event before it.
//!
//! nice-plug also trusts the host's channel counts (`wrapper/util/buffer_management.rs`): with more channels than the
//! layout has it panics, which ends the process, and with fewer outputs than inputs it reads pointers that do not
//! exist. Here, `process` returns an error in both cases.

use super::{ToneFilterPlugin, clap_extensions, handover};
use crate::{dsp::ToneFilter, params::ToneFilterParams};
use clap_sys::{
    audio_buffer::clap_audio_buffer,
    events::{clap_event_header, clap_input_events},
    ext::audio_ports::{CLAP_EXT_AUDIO_PORTS, clap_audio_port_info, clap_plugin_audio_ports},
    process::{CLAP_PROCESS_ERROR, clap_process, clap_process_status},
};
use nice_plug::wrapper::clap::{
    CLAP_PLUGIN_FACTORY_ID, CLAP_VERSION, PluginDescriptor, Wrapper, clap_host, clap_plugin,
    clap_plugin_descriptor, clap_plugin_entry, clap_plugin_factory,
};
use std::{
    cell::{Cell, UnsafeCell},
    ffi::{CStr, c_char, c_void},
    mem::MaybeUninit,
    ptr,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

/// The symbol that a CLAP host looks up in the plugin's file. Hosts that link the plugin use it directly.
#[unsafe(no_mangle)]
#[used]
#[allow(non_upper_case_globals, reason = "CLAP calls it so")]
pub static clap_entry: clap_plugin_entry = clap_plugin_entry {
    clap_version: CLAP_VERSION,
    init: Some(init),
    deinit: Some(deinit),
    get_factory: Some(get_factory),
};

static FACTORY: clap_plugin_factory = clap_plugin_factory {
    get_plugin_count: Some(get_plugin_count),
    get_plugin_descriptor: Some(get_plugin_descriptor),
    create_plugin: Some(create_plugin),
};

static DESCRIPTOR: LazyLock<PluginDescriptor> =
    LazyLock::new(PluginDescriptor::for_plugin::<ToneFilterPlugin>);

unsafe extern "C" fn init(_path: *const c_char) -> bool {
    true
}

unsafe extern "C" fn deinit() {}

unsafe extern "C" fn get_factory(id: *const c_char) -> *const c_void {
    // SAFETY: CLAP promises a string that ends with a zero.
    if !id.is_null() && unsafe { CStr::from_ptr(id) } == CLAP_PLUGIN_FACTORY_ID {
        (&raw const FACTORY).cast()
    } else {
        ptr::null()
    }
}

unsafe extern "C" fn get_plugin_count(_factory: *const clap_plugin_factory) -> u32 {
    1
}

unsafe extern "C" fn get_plugin_descriptor(
    _factory: *const clap_plugin_factory,
    index: u32,
) -> *const clap_plugin_descriptor {
    if index == 0 { DESCRIPTOR.clap_plugin_descriptor() } else { ptr::null() }
}

unsafe extern "C" fn create_plugin(
    _factory: *const clap_plugin_factory,
    host: *const clap_host,
    id: *const c_char,
) -> *const clap_plugin {
    // SAFETY: CLAP promises a string that ends with a zero.
    if host.is_null() || id.is_null() || unsafe { CStr::from_ptr(id) } != DESCRIPTOR.clap_id() {
        return ptr::null();
    }
    // nice-plug drops this reference when the host destroys the plugin.
    // SAFETY: the pointer comes from an `Arc` whose count includes it.
    let wrapper = unsafe { &*Arc::into_raw(Wrapper::<ToneFilterPlugin>::new(host)) };
    let Some(params) = handover::take() else { return ptr::null() };
    let inner = *wrapper.clap_plugin.borrow();
    let plugin = clap_plugin {
        activate: Some(activate),
        process: Some(process),
        destroy: Some(destroy),
        get_extension: Some(get_extension),
        ..inner
    };
    let (channels, rate) = (AtomicU32::new(0), AtomicU64::new(0));
    Box::into_raw(Box::new(Guarded { plugin, inner, params, channels, rate })).cast()
}

/// The plugin that the host gets: nice-plug's, with its data pointer, and three of its functions replaced.
#[repr(C)]
pub(super) struct Guarded {
    /// The first field, so that a pointer to it is a pointer to the struct.
    plugin: clap_plugin,
    /// nice-plug's own functions.
    pub(super) inner: clap_plugin,
    pub(super) params: Arc<ToneFilterParams>,
    /// The number of channels of the active layout.
    channels: AtomicU32,
    /// The bits of the sample rate in Hz, 0 before it was active.
    rate: AtomicU64,
}

impl Guarded {
    /// `seconds` and the latency of `lookahead` in samples; 0 before it was active.
    pub(super) fn samples(&self, seconds: f64, lookahead: bool) -> u32 {
        let rate = f64::from_bits(self.rate.load(Ordering::Relaxed));
        let latency = if lookahead { ToneFilter::lookahead(rate) } else { 0 };
        (seconds * rate).ceil() as u32 + latency as u32
    }
}

/// The guarded plugin behind the host's pointer.
///
/// # Safety
/// `plugin` must come from `create_plugin`, and not be destroyed while the reference is in use.
pub(super) unsafe fn guarded<'a>(plugin: *const clap_plugin) -> &'a Guarded {
    // SAFETY: as the caller says; the plugin is the first field.
    unsafe { &*plugin.cast::<Guarded>() }
}

unsafe extern "C" fn get_extension(plugin: *const clap_plugin, id: *const c_char) -> *const c_void {
    // SAFETY: CLAP promises a string that ends, and the host has the plugin from `create_plugin`.
    unsafe {
        let own = if id.is_null() { None } else { clap_extensions::find(CStr::from_ptr(id)) };
        let inner = || guarded(plugin).inner.get_extension.map(|get| get(plugin, id));
        own.or_else(inner).unwrap_or(ptr::null())
    }
}

unsafe extern "C" fn activate(
    plugin: *const clap_plugin,
    sample_rate: f64,
    min_frames: u32,
    max_frames: u32,
) -> bool {
    // SAFETY: the host got the pointer from `create_plugin`.
    let guarded = unsafe { guarded(plugin) };
    guarded.rate.store(sample_rate.to_bits(), Ordering::Relaxed);
    // SAFETY: as above; CLAP calls `activate` on the main thread.
    guarded.channels.store(unsafe { layout_channels(plugin) }, Ordering::Relaxed);
    let inner = guarded.inner.activate;
    // SAFETY: the arguments are the host's.
    inner.is_some_and(|inner| unsafe { inner(plugin, sample_rate, min_frames, max_frames) })
}

unsafe extern "C" fn destroy(plugin: *const clap_plugin) {
    // SAFETY: the host got the pointer from `create_plugin`, which made it from a box, and does not use it any more.
    let guarded = unsafe { Box::from_raw(plugin.cast_mut().cast::<Guarded>()) };
    if let Some(inner) = guarded.inner.destroy {
        // SAFETY: nice-plug's own data still exists.
        unsafe { inner(&guarded.plugin) };
    }
}

unsafe extern "C" fn process(
    plugin: *const clap_plugin,
    block: *const clap_process,
) -> clap_process_status {
    // SAFETY: the host got the pointer from `create_plugin`.
    let guarded = unsafe { guarded(plugin) };
    // SAFETY: CLAP promises a block that lives as long as the call.
    let (Some(inner), Some(block)) = (guarded.inner.process, unsafe { block.as_ref() }) else {
        return CLAP_PROCESS_ERROR;
    };
    let channels = guarded.channels.load(Ordering::Relaxed);
    if !channels_fit(block, channels) {
        return CLAP_PROCESS_ERROR;
    }
    let mut block = *block;
    let inputs = with_sidechain(&block, channels);
    if let Some(inputs) = &inputs {
        (block.audio_inputs, block.audio_inputs_count) = (inputs.as_ptr(), 2);
    }
    // SAFETY: CLAP promises a list that lives as long as the call.
    let Some(events) = (unsafe { block.in_events.as_ref() }) else {
        // SAFETY: the block is the host's but for the inputs, which live until the call returns.
        return unsafe { inner(plugin, &block) };
    };
    let last = block.frames_count.saturating_sub(1);
    let clamped = ClampedEvents { events, last, now: Cell::new(0), moved: UnsafeCell::new([0; _]) };
    let ctx = (&raw const clamped).cast_mut().cast();
    let events = clap_input_events { ctx, size: Some(size), get: Some(get) };
    block.in_events = &events;
    // SAFETY: the block is the host's but for inputs and events, which live until the call returns.
    unsafe { inner(plugin, &block) }
}

/// The main input also as the sidechain, if the host has no sidechain of as many `channels`: nice-plug reads the second
/// port of a layout whether it is there or not.
fn with_sidechain(block: &clap_process, channels: u32) -> Option<[clap_audio_buffer; 2]> {
    // SAFETY: CLAP promises as many ports as the number says.
    let port = |index| unsafe {
        (index < block.audio_inputs_count).then(|| *block.audio_inputs.add(index as usize))
    };
    let fits = port(1).is_some_and(|own| own.channel_count == channels && !own.data32.is_null());
    port(0).filter(|_| !fits).map(|main| [main; 2])
}

/// Whether nice-plug can process the channel counts of `block` in a layout of `channels`.
fn channels_fit(block: &clap_process, channels: u32) -> bool {
    let count = |ports: *const clap_audio_buffer, number: u32| {
        // SAFETY: CLAP promises as many ports as the number says.
        unsafe { ports.as_ref() }.filter(|_| number > 0).map_or(0, |port| port.channel_count)
    };
    let inputs = count(block.audio_inputs, block.audio_inputs_count);
    let outputs = count(block.audio_outputs, block.audio_outputs_count);
    inputs <= outputs && outputs <= channels
}

/// The channels of the main output in the layout that the host has chosen.
///
/// # Safety
/// `plugin` must come from [`create_plugin`], and the caller must be on the main thread.
unsafe fn layout_channels(plugin: *const clap_plugin) -> u32 {
    let mut info = MaybeUninit::<clap_audio_port_info>::uninit();
    // SAFETY: the pointers come from the plugin, and `get` fills in `info` if it returns true.
    unsafe {
        let ports = (*plugin).get_extension.map(|get| get(plugin, CLAP_EXT_AUDIO_PORTS.as_ptr()));
        let ports = ports.and_then(|ports| ports.cast::<clap_plugin_audio_ports>().as_ref());
        let found = ports
            .and_then(|ports| ports.get)
            .is_some_and(|get| get(plugin, 0, false, info.as_mut_ptr()));
        if found { (*info.as_ptr()).channel_count } else { 0 }
    }
}

/// A host's events, with their times clamped between the time of the event before and the block's last sample.
struct ClampedEvents<'a> {
    events: &'a clap_input_events,
    /// The block's last sample.
    last: u32,
    /// The time of the event that was requested last.
    now: Cell<u32>,
    /// A copy of the last event that had to be moved. A caller is done with it before it requests the next one.
    moved: UnsafeCell<EventBuffer>,
}

/// A buffer for any event that CLAP defines: the largest, that of the transport, has 104 bytes.
type EventBuffer = [u64; 16];

unsafe extern "C" fn size(list: *const clap_input_events) -> u32 {
    // SAFETY: `process` made the list, and its context is a `ClampedEvents` that outlives it.
    let events = unsafe { &*(*list).ctx.cast::<ClampedEvents>() }.events;
    // SAFETY: it is the host's own function, on the host's list.
    events.size.map_or(0, |size| unsafe { size(events) })
}

unsafe extern "C" fn get(list: *const clap_input_events, index: u32) -> *const clap_event_header {
    // SAFETY: as in `size`.
    let clamped = unsafe { &*(*list).ctx.cast::<ClampedEvents>() };
    let Some(get) = clamped.events.get else { return ptr::null() };
    // SAFETY: it is the host's own function, on the host's list.
    let event = unsafe { get(clamped.events, index) };
    // SAFETY: CLAP promises an event or null.
    let Some(header) = (unsafe { event.as_ref() }) else { return event };
    let time = header.time.clamp(clamped.now.get(), clamped.last);
    clamped.now.set(time);
    if header.time == time {
        return event;
    }
    let bytes = header.size as usize;
    if !(size_of::<clap_event_header>()..=size_of::<EventBuffer>()).contains(&bytes) {
        // No event that CLAP defines; nice-plug ignores null.
        return ptr::null();
    }
    let moved = clamped.moved.get().cast::<u8>();
    // SAFETY: the event has `bytes` bytes, and the buffer has room for them; it is aligned for a header, and there are
    // no references into it.
    unsafe {
        ptr::copy_nonoverlapping(event.cast(), moved, bytes);
        let moved = moved.cast::<clap_event_header>();
        (*moved).time = time;
        moved
    }
}
