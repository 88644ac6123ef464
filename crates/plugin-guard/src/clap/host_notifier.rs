//! Notifies the host of changes of the tail, the key names and the latency.
//!
//! The tail is reported on the audio thread and the names on the main thread, as CLAP's headers demand.

use super::host::Host;
use crate::Instance;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Sentinel: the host has not read the names yet.
const NOT_ASKED: u32 = u32::MAX;

/// State that the host was last notified of.
pub struct HostNotifier {
    /// [`Instance::changes`], and the bits of the tempo, after the last buffer.
    seen: (AtomicU32, AtomicU64),
    /// [`Instance::changes`] when the host last fetched the window's edits.
    sent: AtomicU32,
    /// Tail that the host knows, in samples.
    known_tail: AtomicU32,
    /// Version of the key names that the host knows, or [`NOT_ASKED`].
    known_names: AtomicU32,
}

/// Sentinel: no tempo seen yet. Its bits are a NaN other than `f64::NAN`, which stands for a host without tempo.
const NO_TEMPO: u64 = u64::MAX;

impl Default for HostNotifier {
    fn default() -> Self {
        // A host that has not read the tail assumes a tail of 0.
        let (known_tail, known_names) = (AtomicU32::new(0), AtomicU32::new(NOT_ASKED));
        let seen = (AtomicU32::new(0), AtomicU64::new(NO_TEMPO));
        Self { seen, sent: AtomicU32::new(0), known_tail, known_names }
    }
}

impl HostNotifier {
    /// Makes the next buffer check tail and latency again, after a change of the sample rate.
    pub fn forget_seen(&self) {
        self.seen.1.store(NO_TEMPO, Ordering::Relaxed);
    }

    /// Records that the host has read a tail of `tail` samples.
    pub fn tail_read(&self, tail: u32) {
        self.known_tail.store(tail, Ordering::Relaxed);
    }

    /// Records that the host has read version `names` of the key names.
    pub fn names_read(&self, names: u32) {
        self.known_names.store(names, Ordering::Relaxed);
    }

    /// Records that nice-plug is about to send the window's edits to the host.
    pub fn edits_sent(&self, instance: &dyn Instance) {
        self.sent.store(instance.changes(), Ordering::Relaxed);
    }

    /// Returns whether there may be edits that the host has not fetched: something has changed since [`Self::edits_sent`].
    pub fn edits_wait(&self, instance: &dyn Instance) -> bool {
        self.sent.load(Ordering::Relaxed) != instance.changes()
    }

    fn names_changed(&self, instance: &dyn Instance) -> bool {
        let known = self.known_names.load(Ordering::Relaxed);
        known != NOT_ASKED && known != instance.note_names_version()
    }

    /// Requests a restart if the latency must change. The latency changes at an activation only.
    fn check_latency(instance: &dyn Instance, host: &Host, rate: f64) {
        if instance.latency().is_outdated(instance.wanted_latency(rate)) {
            host.request_restart();
        }
    }

    /// Notifies the host of a changed tail. Requests a restart for a changed latency, and a main-thread call for changed names.
    ///
    /// # Safety
    /// Must be called on the audio thread, while the plugin is active.
    pub unsafe fn on_audio_thread(
        &self,
        instance: &dyn Instance,
        host: &Host,
        rate: f64,
        tempo: Option<f64>,
    ) {
        let (changes, tempo_bits) = (instance.changes(), tempo.unwrap_or(f64::NAN).to_bits());
        let changed = self.seen.0.swap(changes, Ordering::Relaxed) != changes;
        let other_tempo = self.seen.1.swap(tempo_bits, Ordering::Relaxed) != tempo_bits;
        if !changed && !other_tempo {
            return;
        }
        Self::check_latency(instance, host, rate);
        let tail = instance.tail(rate, tempo);
        if self.known_tail.swap(tail, Ordering::Relaxed) != tail {
            // SAFETY: the caller is on the audio thread.
            unsafe { host.tail_changed() };
        }
        if self.names_changed(instance) {
            host.request_callback();
        }
    }

    /// Notifies the host of changed names, and requests a restart for a changed latency.
    ///
    /// # Safety
    /// Must be called on the main thread.
    pub unsafe fn on_main_thread(&self, instance: &dyn Instance, host: &Host, rate: f64) {
        Self::check_latency(instance, host, rate);
        if self.names_changed(instance) {
            self.names_read(instance.note_names_version());
            // SAFETY: the caller is on the main thread.
            unsafe { host.note_names_changed() };
        }
    }
}
