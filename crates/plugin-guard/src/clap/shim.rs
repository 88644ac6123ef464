//! An instance of the plugin behind a CLAP host's pointer.

use super::{host::Host, host_notifier::HostNotifier};
use crate::{GuardedPlugin, Instance, Page, Place};
use clap_sys::{
    ext::{
        gui::clap_plugin_gui,
        params::{CLAP_EXT_PARAMS, clap_param_info, clap_plugin_params},
        state::clap_plugin_state,
    },
    id::clap_id,
};
use nice_plug::wrapper::clap::{clap_host, clap_plugin};
use std::{
    ffi::CStr,
    mem::MaybeUninit,
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
};

/// The plugin that the host gets: nice-plug's functions and data pointer, with some functions replaced.
#[repr(C)]
pub(super) struct ClapShim {
    /// Functions for the host. Must be the first field: a pointer to this field is also a pointer to the struct.
    pub(super) plugin: clap_plugin,
    /// nice-plug's own functions.
    pub(super) inner: clap_plugin,
    pub(super) host: Host,
    pub(super) instance: Box<dyn Instance>,
    pub(super) name: &'static str,
    /// Pages of a hardware controller.
    pub(super) pages: Vec<Page>,
    /// Parameter ids, each with the number that nice-plug gives to the host; set by the first [`ClapShim::parameter_ids`].
    parameters: OnceLock<Vec<(String, clap_id)>>,
    pub(super) overridden: Overridden,
    pub(super) notifier: HostNotifier,
    /// Place of the menu that the editor has requested last.
    pub(super) menu: Mutex<Option<Place>>,
    /// Number of channels of the active layout.
    pub(super) channels: AtomicU32,
    /// Bits of the sample rate in Hz; 0 before the first activation.
    pub(super) rate: AtomicU64,
    /// Bits of the song's tempo in beats per minute; NaN if the host reports none.
    pub(super) tempo: AtomicU64,
    /// Whether the plugin is activated.
    pub(super) active: AtomicBool,
    /// Whether the host has started processing since the activation.
    pub(super) started: AtomicBool,
    /// Whether the plugin processes.
    pub(super) processing: AtomicBool,
}

impl ClapShim {
    /// Creates the shim of an instance of `P`. `plugin` holds the functions for the host, `inner` nice-plug's. The shim lives
    /// until the host destroys it.
    pub(super) fn create<P: GuardedPlugin>(
        plugin: clap_plugin,
        inner: clap_plugin,
        host: *const clap_host,
        instance: Box<dyn Instance>,
    ) -> *const clap_plugin {
        let shim = Self {
            plugin,
            inner,
            host: Host::new(host),
            instance,
            name: P::NAME,
            pages: P::pages(),
            parameters: OnceLock::new(),
            overridden: Overridden::default(),
            notifier: HostNotifier::default(),
            menu: Mutex::default(),
            channels: AtomicU32::new(0),
            rate: AtomicU64::new(0),
            tempo: AtomicU64::new(f64::NAN.to_bits()),
            active: AtomicBool::new(false),
            started: AtomicBool::new(false),
            processing: AtomicBool::new(false),
        };
        Box::into_raw(Box::new(shim)).cast()
    }

    /// Returns the song's tempo in beats per minute after the last buffer, if the host has reported one.
    pub(super) fn tempo(&self) -> Option<f64> {
        Some(f64::from_bits(self.tempo.load(Ordering::Relaxed))).filter(|tempo| !tempo.is_nan())
    }

    /// Returns the sample rate in Hz; 0 before the first activation.
    pub(super) fn rate(&self) -> f64 {
        f64::from_bits(self.rate.load(Ordering::Relaxed))
    }

    /// Returns the tail in samples; 0 before the first activation.
    pub(super) fn tail(&self) -> u32 {
        self.instance.tail(self.rate(), self.tempo())
    }

    /// Notifies the host of changes after a buffer.
    ///
    /// # Safety
    /// Must be called on the audio thread, while the plugin is active.
    pub(super) unsafe fn notify_on_audio_thread(&self) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            self.notifier.on_audio_thread(&*self.instance, &self.host, self.rate(), self.tempo());
        }
    }

    /// Notifies the host of changes that only the main thread may report.
    ///
    /// # Safety
    /// Must be called on the main thread.
    pub(super) unsafe fn notify_on_main_thread(&self) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.notifier.on_main_thread(&*self.instance, &self.host, self.rate()) };
    }

    /// Asks the host for a flush, if the window's edits wait for it and the plugin does not process. Not for the audio thread.
    pub(super) fn request_flush(&self) {
        if !self.processing.load(Ordering::Relaxed) && self.notifier.edits_wait(&*self.instance) {
            self.host.request_flush();
        }
    }

    /// Returns the parameter ids, each with the number for the host, which nice-plug assigns in the order of the map.
    ///
    /// # Safety
    /// Must be called on the main thread.
    pub(super) unsafe fn parameter_ids(&self) -> &[(String, clap_id)] {
        self.parameters.get_or_init(|| {
            // SAFETY: guaranteed by the caller; the extension is nice-plug's own, and `info` has room for the answer.
            let number = |index: usize| unsafe {
                let params = self.inner_extension::<clap_plugin_params>(CLAP_EXT_PARAMS)?;
                let mut info = MaybeUninit::<clap_param_info>::uninit();
                let found = params.get_info?(&self.inner, index as u32, info.as_mut_ptr());
                found.then(|| (*info.as_ptr()).id)
            };
            let ids = self.instance.params().param_map().into_iter().enumerate();
            ids.filter_map(|(index, (id, ..))| Some((id, number(index)?))).collect()
        })
    }

    /// Returns nice-plug's extension called `id`.
    ///
    /// # Safety
    /// The extension called `id` must be of type `T`.
    pub(super) unsafe fn inner_extension<T: Copy>(&self, id: &CStr) -> Option<T> {
        let get = self.inner.get_extension?;
        // SAFETY: nice-plug's data pointer is in its own functions, and its extensions live as long as the plugin.
        unsafe { get(&self.inner, id.as_ptr()).cast::<T>().as_ref().copied() }
    }
}

/// nice-plug's extension, and a copy with one function replaced.
pub(super) struct Pair<T> {
    pub(super) inner: T,
    pub(super) own: T,
}

/// nice-plug's extensions with replaced functions, set at the host's first request.
#[derive(Default)]
pub(super) struct Overridden {
    pub(super) gui: OnceLock<Pair<clap_plugin_gui>>,
    pub(super) params: OnceLock<Pair<clap_plugin_params>>,
    pub(super) state: OnceLock<Pair<clap_plugin_state>>,
}

/// Returns the shim behind the host's pointer.
///
/// # Safety
/// `plugin` must come from [`ClapShim::create`], and not be destroyed while the reference is in use.
pub(super) unsafe fn shim<'a>(plugin: *const clap_plugin) -> &'a ClapShim {
    // SAFETY: guaranteed by the caller; the plugin is the first field.
    unsafe { &*plugin.cast::<ClapShim>() }
}
