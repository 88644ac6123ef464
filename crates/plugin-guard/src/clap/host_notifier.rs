//! Notifies the host of changes of the tail and of the keys' names.

use super::shim::ClapShim;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// In place of a version of the names.
const NOT_ASKED: u32 = u32::MAX;

/// What the host was last notified of.
pub struct HostNotifier {
    /// The parameters' changes and the bits of the tempo after the last block, for which nothing was computed yet at the
    /// start.
    seen: (AtomicU32, AtomicU64),
    /// The tail in samples.
    tail: AtomicU32,
    /// The version of the keys' names.
    names: AtomicU32,
    /// A call on the main thread has been requested for new names.
    called: AtomicBool,
}

/// Bits of no tempo: those of a NaN, where a tempo is finite.
const NO_TEMPO: u64 = u64::MAX;

impl Default for HostNotifier {
    fn default() -> Self {
        // A host that has not asked for the tail counts on none; one that has not asked for names has none to change.
        let (tail, names) = (AtomicU32::new(0), AtomicU32::new(NOT_ASKED));
        let seen = (AtomicU32::new(0), AtomicU64::new(NO_TEMPO));
        Self { seen, tail, names, called: AtomicBool::new(false) }
    }
}

impl HostNotifier {
    /// Computes what the host must know after the next block, at another sample rate.
    pub fn look_again(&self) {
        self.seen.1.store(NO_TEMPO, Ordering::Relaxed);
    }

    /// The host has read that the tail is `tail` samples long.
    pub fn tail(&self, tail: u32) {
        self.tail.store(tail, Ordering::Relaxed);
    }

    /// The host has read the names of version `names`.
    pub fn names(&self, names: u32) {
        self.names.store(names, Ordering::Relaxed);
    }

    fn names_changed(&self, shim: &ClapShim) -> bool {
        let known = self.names.load(Ordering::Relaxed);
        known != NOT_ASKED && known != shim.instance.note_names_version()
    }

    /// Requests a restart if the latency must change, which it can in an activation only.
    fn check_latency(shim: &ClapShim) {
        if shim.instance.latency().is_outdated(shim.instance.wanted_latency(shim.rate())) {
            shim.host.request_restart();
        }
    }

    /// Notifies the host of a changed tail, and requests a call on the main thread for changed names.
    ///
    /// # Safety
    /// On the audio thread only, of an active plugin.
    pub unsafe fn on_audio_thread(&self, shim: &ClapShim) {
        let (changes, tempo) =
            (shim.instance.changes(), shim.tempo().unwrap_or(f64::NAN).to_bits());
        let changed = self.seen.0.swap(changes, Ordering::Relaxed) != changes;
        let other_tempo = self.seen.1.swap(tempo, Ordering::Relaxed) != tempo;
        if !changed && !other_tempo {
            return;
        }
        Self::check_latency(shim);
        let tail = shim.tail();
        if self.tail.swap(tail, Ordering::Relaxed) != tail {
            // SAFETY: the caller is on the audio thread.
            unsafe { shim.host.tail_changed() };
        }
        if self.names_changed(shim) && !self.called.swap(true, Ordering::Relaxed) {
            shim.host.request_callback();
        }
    }

    /// Notifies the host of changed names.
    ///
    /// # Safety
    /// On the main thread only.
    pub unsafe fn on_main_thread(&self, shim: &ClapShim) {
        self.called.store(false, Ordering::Relaxed);
        Self::check_latency(shim);
        if self.names_changed(shim) {
            self.names(shim.instance.note_names_version());
            // SAFETY: the caller is on the main thread.
            unsafe { shim.host.note_names_changed() };
        }
    }
}
