//! State of a plugin instance behind the host's `clap_plugin` pointer, and its notifications to the host.

use super::host::Host;
use crate::{GuardedPlugin, Instance, Page, Place};
use clap_sys::{
    ext::{
        gui::clap_plugin_gui,
        params::{CLAP_EXT_PARAMS, clap_param_info, clap_plugin_params},
        state::clap_plugin_state,
    },
    id::clap_id,
};
use nice_plug::{
    prelude::ParamPtr,
    wrapper::clap::{clap_host, clap_plugin},
};
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
    /// Functions for the host. The first field, so that a pointer to it is also a pointer to the struct.
    pub(super) plugin: clap_plugin,
    /// nice-plug's functions.
    pub(super) inner: clap_plugin,
    pub(super) host: Host,
    pub(super) instance: Box<dyn Instance>,
    pub(super) name: &'static str,
    pub(super) pages: Vec<Page>,
    /// See [`ClapShim::parameters`].
    parameters: OnceLock<Vec<(String, clap_id, ParamPtr)>>,
    pub(super) overridden: Overridden,
    /// The editor's last request for a menu.
    pub(super) menu: Mutex<Option<Place>>,
    /// Channel count of the main output in the active layout; 0 if unknown.
    pub(super) channels: AtomicU32,
    /// Sample rate in Hz, as the bits of an `f64`; 0 before the first activation.
    pub(super) rate: AtomicU64,
    /// Song tempo in beats per minute, as the bits of an `f64`; NaN if the host reports none.
    pub(super) tempo: AtomicU64,
    pub(super) active: AtomicBool,
    /// Whether the host has started processing since the activation.
    pub(super) started: AtomicBool,
    pub(super) processing: AtomicBool,
    /// Value of [`Instance::changes`] at the last [`ClapShim::notify_on_audio_thread`].
    seen_changes: AtomicU32,
    /// Value of `tempo` at the last [`ClapShim::notify_on_audio_thread`], or [`NO_TEMPO`].
    seen_tempo: AtomicU64,
    /// Value of [`Instance::changes`] when the host last fetched the window's edits.
    sent_changes: AtomicU32,
    /// Tail in samples when the host last read it or was last notified of a change; 0 before both.
    known_tail: AtomicU32,
    /// Version of the key names that the host knows, or [`NOT_ASKED`].
    known_names: AtomicU32,
}

/// Sentinel: the host has not read the key names.
const NOT_ASKED: u32 = u32::MAX;

/// Sentinel: nothing checked since the activation. Differs from the bits of `f64::NAN`, which stand for a host without a tempo.
const NO_TEMPO: u64 = u64::MAX;

impl ClapShim {
    /// Creates a shim, which lives until the host destroys it. `plugin` has the functions for the host, `inner` nice-plug's.
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
            menu: Mutex::default(),
            channels: AtomicU32::new(0),
            rate: AtomicU64::new(0),
            tempo: AtomicU64::new(f64::NAN.to_bits()),
            active: AtomicBool::new(false),
            started: AtomicBool::new(false),
            processing: AtomicBool::new(false),
            seen_changes: AtomicU32::new(0),
            seen_tempo: AtomicU64::new(NO_TEMPO),
            sent_changes: AtomicU32::new(0),
            known_tail: AtomicU32::new(0),
            known_names: AtomicU32::new(NOT_ASKED),
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

    /// Returns the tail in samples (see [`Instance::tail`]), and records that the host knows it.
    pub(super) fn read_tail(&self) -> u32 {
        let tail = self.instance.tail(self.rate(), self.tempo());
        self.known_tail.store(tail, Ordering::Relaxed);
        tail
    }

    /// Records that the host reads the current key names.
    pub(super) fn names_read(&self) {
        self.known_names.store(self.instance.note_names_version(), Ordering::Relaxed);
    }

    fn names_changed(&self) -> bool {
        let known = self.known_names.load(Ordering::Relaxed);
        known != NOT_ASKED && known != self.instance.note_names_version()
    }

    /// Makes the next buffer check latency, tail and key names again. Needed after a change of the sample rate.
    pub(super) fn forget_seen(&self) {
        self.seen_tempo.store(NO_TEMPO, Ordering::Relaxed);
    }

    /// Records that nice-plug is about to send the window's edits to the host.
    pub(super) fn edits_sent(&self) {
        self.sent_changes.store(self.instance.changes(), Ordering::Relaxed);
    }

    /// Returns whether the host may have edits to fetch: whether [`Instance::changes`] differs from the last [`Self::edits_sent`].
    pub(super) fn edits_wait(&self) -> bool {
        self.sent_changes.load(Ordering::Relaxed) != self.instance.changes()
    }

    /// Requests a restart if the latency must change. The latency changes at an activation only.
    fn check_latency(&self) {
        let wanted = self.instance.wanted_latency(self.rate());
        if self.instance.latency().is_outdated(wanted) {
            self.host.request_restart();
        }
    }

    /// Reports a new tail to the host, which CLAP allows on the audio thread only. Requests a restart for a new latency, and a call
    /// on the main thread for new key names.
    ///
    /// # Safety
    /// Must be called on the audio thread, while the plugin is active.
    pub(super) unsafe fn notify_on_audio_thread(&self) {
        let changes = self.instance.changes();
        let tempo = self.tempo().unwrap_or(f64::NAN).to_bits();
        let changed = self.seen_changes.swap(changes, Ordering::Relaxed) != changes;
        let other_tempo = self.seen_tempo.swap(tempo, Ordering::Relaxed) != tempo;
        if !changed && !other_tempo {
            return;
        }
        self.check_latency();
        let known = self.known_tail.load(Ordering::Relaxed);
        if self.read_tail() != known {
            // SAFETY: the caller is on the audio thread.
            unsafe { self.host.tail_changed() };
        }
        if self.names_changed() {
            self.host.request_callback();
        }
    }

    /// Reports new key names to the host, which CLAP allows on the main thread only. Requests a restart for a new latency.
    ///
    /// # Safety
    /// Must be called on the main thread.
    pub(super) unsafe fn notify_on_main_thread(&self) {
        self.check_latency();
        if self.names_changed() {
            self.names_read();
            // SAFETY: the caller is on the main thread.
            unsafe { self.host.note_names_changed() };
        }
    }

    /// Asks the host to fetch the window's edits, if there may be any. Does nothing while the plugin processes: `process` sends
    /// the edits. Not for the audio thread.
    pub(super) fn request_flush(&self) {
        if !self.processing.load(Ordering::Relaxed) && self.edits_wait() {
            self.host.request_flush();
        }
    }

    /// Returns the CLAP id of the parameter called `id`.
    ///
    /// # Safety
    /// Must be called on the main thread.
    pub(super) unsafe fn clap_id(&self, id: &str) -> Option<clap_id> {
        // SAFETY: guaranteed by the caller.
        let parameters = unsafe { self.parameters() };
        parameters.iter().find_map(|(known, number, _)| (known == id).then_some(*number))
    }

    /// Returns the parameters: their ids, their CLAP ids and pointers to them. nice-plug assigns CLAP ids in the order of its
    /// parameter map.
    ///
    /// # Safety
    /// Must be called on the main thread.
    unsafe fn parameters(&self) -> &[(String, clap_id, ParamPtr)] {
        self.parameters.get_or_init(|| {
            // SAFETY: guaranteed by the caller; `info` has room for the answer.
            let number = |index: usize| unsafe {
                let mut info = MaybeUninit::<clap_param_info>::uninit();
                let found =
                    self.inner_params()?.get_info?(&self.inner, index as u32, info.as_mut_ptr());
                found.then(|| (*info.as_ptr()).id)
            };
            let all = self.instance.params().param_map().into_iter().enumerate();
            all.filter_map(|(index, (id, param, _))| Some((id, number(index)?, param))).collect()
        })
    }

    /// Returns the id of the parameter with the CLAP id `number`, and a pointer to it.
    ///
    /// # Safety
    /// Must be called on the main thread.
    pub(super) unsafe fn parameter(&self, number: clap_id) -> Option<(&str, ParamPtr)> {
        // SAFETY: guaranteed by the caller.
        let mut parameters = unsafe { self.parameters() }.iter();
        parameters.find_map(|(id, known, param)| (*known == number).then_some((&**id, *param)))
    }

    /// Returns nice-plug's own functions for parameters.
    pub(super) fn inner_params(&self) -> Option<clap_plugin_params> {
        // SAFETY: the extension is of this type.
        unsafe { self.inner_extension(CLAP_EXT_PARAMS) }
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

/// Copies of nice-plug's extensions with some functions replaced, made at the host's first request.
#[derive(Default)]
pub(super) struct Overridden {
    pub(super) gui: OnceLock<clap_plugin_gui>,
    pub(super) params: OnceLock<clap_plugin_params>,
    pub(super) state: OnceLock<clap_plugin_state>,
}

/// Returns the shim behind the host's pointer.
///
/// # Safety
/// `plugin` must come from [`ClapShim::create`], and not be destroyed while the reference is in use.
pub(super) unsafe fn shim<'a>(plugin: *const clap_plugin) -> &'a ClapShim {
    // SAFETY: guaranteed by the caller; the plugin is the first field.
    unsafe { &*plugin.cast::<ClapShim>() }
}
