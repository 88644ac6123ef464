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
//!
//! A new latency is reported here, too, while the plugin is activated; `plugin/latency.rs` says when there is one.

use super::{
    ToneFilterPlugin,
    clap_events::{self, ClampedEvents},
    clap_extensions::{self, Overridden},
    clap_host::Host,
    handover::{self, Shared},
    latency::Latency,
    preset_discovery,
    told::Told,
};
use crate::{
    editor::{Connection, PresetLoader},
    params::ToneFilterParams,
};
use clap_sys::{
    audio_buffer::clap_audio_buffer,
    ext::audio_ports::{CLAP_EXT_AUDIO_PORTS, clap_audio_port_info, clap_plugin_audio_ports},
    process::{CLAP_PROCESS_ERROR, clap_process, clap_process_status},
};
use nice_plug::wrapper::clap::{
    CLAP_PLUGIN_FACTORY_ID, CLAP_VERSION, PluginDescriptor, Wrapper, clap_host, clap_plugin,
    clap_plugin_descriptor, clap_plugin_entry, clap_plugin_factory,
};
use std::{
    ffi::{CStr, c_char, c_void},
    mem::MaybeUninit,
    ptr,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
};
use tone_filter_dsp::DEFAULT_TEMPO;

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
    let id = if id.is_null() { c"" } else { unsafe { CStr::from_ptr(id) } };
    if id == CLAP_PLUGIN_FACTORY_ID {
        (&raw const FACTORY).cast()
    } else {
        preset_discovery::factory(id).unwrap_or(ptr::null())
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
    let Some(Shared { presets, latency, .. }) = handover::take() else { return ptr::null() };
    let inner = *wrapper.clap_plugin.borrow();
    let plugin = clap_plugin {
        init: Some(init_plugin),
        activate: Some(activate),
        deactivate: Some(deactivate),
        process: Some(process),
        destroy: Some(destroy),
        get_extension: Some(get_extension),
        on_main_thread: Some(on_main_thread),
        ..inner
    };
    let guarded = Guarded {
        plugin,
        inner,
        host: Host::new(host),
        params: presets.params.clone(),
        presets,
        latency,
        overridden: Overridden::default(),
        told: Told::default(),
        channels: AtomicU32::new(0),
        rate: AtomicU64::new(0),
        tempo: AtomicU64::new(DEFAULT_TEMPO.to_bits()),
        active: AtomicBool::new(false),
    };
    Box::into_raw(Box::new(guarded)).cast()
}

/// The plugin that the host gets: nice-plug's, with its data pointer, and some of its functions replaced.
#[repr(C)]
pub(super) struct Guarded {
    /// The first field, so that a pointer to it is a pointer to the struct.
    plugin: clap_plugin,
    /// nice-plug's own functions.
    pub(super) inner: clap_plugin,
    pub(super) host: Host,
    pub(super) params: Arc<ToneFilterParams>,
    /// With the link between editor and host.
    pub(super) presets: PresetLoader,
    pub(super) latency: Arc<Latency>,
    pub(super) overridden: Overridden,
    /// What the host knows of the tail and of the keys' names.
    pub(super) told: Told,
    /// The number of channels of the active layout.
    channels: AtomicU32,
    /// The bits of the sample rate in Hz, 0 before it was active.
    rate: AtomicU64,
    /// The bits of the song's beats a minute.
    tempo: AtomicU64,
    /// Between activation and deactivation.
    pub(super) active: AtomicBool,
}

impl Guarded {
    /// `seconds` and the latency in samples; 0 before it was active.
    pub(super) fn samples(&self, seconds: f64) -> u32 {
        let rate = f64::from_bits(self.rate.load(Ordering::Relaxed));
        (seconds * rate).ceil() as u32 + self.latency.samples()
    }

    /// The song's beats a minute in the last block.
    pub(super) fn tempo(&self) -> f64 {
        f64::from_bits(self.tempo.load(Ordering::Relaxed))
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
        let id_text = if id.is_null() { c"" } else { CStr::from_ptr(id) };
        let own = clap_extensions::find(guarded(plugin), id_text);
        let inner = || guarded(plugin).inner.get_extension.map(|get| get(plugin, id));
        own.or_else(inner).unwrap_or(ptr::null())
    }
}

unsafe extern "C" fn init_plugin(plugin: *const clap_plugin) -> bool {
    // SAFETY: the host got the pointer from `create_plugin`, and calls this first, on its main thread.
    unsafe {
        let guarded = guarded(plugin);
        if !guarded.inner.init.is_some_and(|init| init(plugin)) {
            return false;
        }
        guarded.host.init();
        let host = &guarded.host;
        let connection = Connection {
            wake: host.waker(),
            marks_dirty: host.marks_dirty(),
            has_menus: host.has_menus(),
        };
        guarded.presets.host.connect(Some(connection));
        clap_extensions::track_info::read(guarded);
    }
    true
}

unsafe extern "C" fn on_main_thread(plugin: *const clap_plugin) {
    // SAFETY: the host got the pointer from `create_plugin`, and calls this on its main thread.
    unsafe {
        let guarded = guarded(plugin);
        if let Some(inner) = guarded.inner.on_main_thread {
            inner(plugin);
        }
        clap_extensions::on_main_thread(plugin, guarded);
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
    guarded.told.look_again();
    // SAFETY: as above; CLAP calls `activate` on the main thread.
    guarded.channels.store(unsafe { layout_channels(plugin) }, Ordering::Relaxed);
    let inner = guarded.inner.activate;
    // SAFETY: the arguments are the host's.
    let activated =
        inner.is_some_and(|inner| unsafe { inner(plugin, sample_rate, min_frames, max_frames) });
    guarded.active.store(activated, Ordering::Relaxed);
    if activated && guarded.latency.report().is_some() {
        // SAFETY: the plugin is being activated.
        unsafe { guarded.host.latency_changed() };
    }
    activated
}

unsafe extern "C" fn deactivate(plugin: *const clap_plugin) {
    // SAFETY: the host got the pointer from `create_plugin`.
    let guarded = unsafe { guarded(plugin) };
    guarded.active.store(false, Ordering::Relaxed);
    if let Some(inner) = guarded.inner.deactivate {
        // SAFETY: the argument is the host's.
        unsafe { inner(plugin) };
    }
}

unsafe extern "C" fn destroy(plugin: *const clap_plugin) {
    // SAFETY: the host got the pointer from `create_plugin`, which made it from a box, and does not use it any more.
    let guarded = unsafe { Box::from_raw(plugin.cast_mut().cast::<Guarded>()) };
    // An editor's thread may run on for a moment, and must not call the host any more.
    guarded.presets.host.connect(None);
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
    // SAFETY: CLAP promises a list and a transport, if any, that live as long as the call.
    let (events, transport) = unsafe { (block.in_events.as_ref(), block.transport.as_ref()) };
    let (status, tempo) = match events {
        // SAFETY: the block is the host's but for the inputs, which live until the call returns.
        None => (unsafe { inner(plugin, &block) }, clap_events::tempo(transport)),
        Some(events) => {
            let clamped = ClampedEvents::new(events, block.frames_count, transport);
            let events = clamped.list();
            block.in_events = &events;
            // SAFETY: the block is the host's but for inputs and events, which live until the call returns.
            (unsafe { inner(plugin, &block) }, clamped.tempo())
        }
    };
    guarded.tempo.store(tempo.to_bits(), Ordering::Relaxed);
    // SAFETY: this is the audio thread.
    unsafe { guarded.told.on_audio_thread(guarded) };
    status
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
