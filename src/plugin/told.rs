//! What the host was last told of the tail and of the keys' names, to tell it when they change.

use super::{
    clap_entry::Guarded,
    clap_extensions::{note_name, tail},
};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// In place of a state of the names that the host knows.
const NOT_ASKED: u32 = u32::MAX;

/// What the host knows.
pub struct Told {
    /// The parameters' changes and the bits of the tempo after the last block, for which nothing was computed yet at the
    /// start.
    seen: (AtomicU32, AtomicU64),
    /// The tail in samples.
    tail: AtomicU32,
    /// Of the keys' names, what [`note_name::state`] returns.
    names: AtomicU32,
    /// A call on the main thread has been requested for new names.
    called: AtomicBool,
}

impl Default for Told {
    fn default() -> Self {
        // A host that has not asked for the tail counts on none; one that has not asked for names has none to change.
        let (tail, names) = (AtomicU32::new(0), AtomicU32::new(NOT_ASKED));
        // No tempo has the bits 0.
        let seen = (AtomicU32::new(0), AtomicU64::new(0));
        Self { seen, tail, names, called: AtomicBool::new(false) }
    }
}

impl Told {
    /// Computes what the host must know after the next block, at another sample rate.
    pub fn look_again(&self) {
        self.seen.1.store(0, Ordering::Relaxed);
    }

    /// The host has been told that the tail is `tail` samples long.
    pub fn tail(&self, tail: u32) {
        self.tail.store(tail, Ordering::Relaxed);
    }

    /// The host has been told the names in the state `names`.
    pub fn names(&self, names: u32) {
        self.names.store(names, Ordering::Relaxed);
    }

    fn names_changed(&self, guarded: &Guarded) -> bool {
        let known = self.names.load(Ordering::Relaxed);
        known != NOT_ASKED && known != note_name::state(guarded)
    }

    /// Requests a restart if the latency must change, which it can in an activation only.
    fn check_latency(guarded: &Guarded) {
        if guarded.latency.is_outdated(guarded.params.settings().lookahead) {
            guarded.host.request_restart();
        }
    }

    /// Tells the host of a changed tail, and prepares to tell it of changed names, which is done on the main thread.
    ///
    /// # Safety
    /// On the audio thread only, of an active plugin.
    pub unsafe fn on_audio_thread(&self, guarded: &Guarded) {
        let (changes, tempo) = (guarded.params.changes(), guarded.tempo().to_bits());
        let changed = self.seen.0.swap(changes, Ordering::Relaxed) != changes;
        let other_tempo = self.seen.1.swap(tempo, Ordering::Relaxed) != tempo;
        if !changed && !other_tempo {
            return;
        }
        Self::check_latency(guarded);
        let tail = tail::samples(guarded);
        if self.tail.swap(tail, Ordering::Relaxed) != tail {
            // SAFETY: the caller is on the audio thread.
            unsafe { guarded.host.tail_changed() };
        }
        if self.names_changed(guarded) && !self.called.swap(true, Ordering::Relaxed) {
            guarded.host.request_callback();
        }
    }

    /// Tells the host of changed names.
    ///
    /// # Safety
    /// On the main thread only.
    pub unsafe fn on_main_thread(&self, guarded: &Guarded) {
        self.called.store(false, Ordering::Relaxed);
        Self::check_latency(guarded);
        if self.names_changed(guarded) {
            self.names(note_name::state(guarded));
            // SAFETY: the caller is on the main thread.
            unsafe { guarded.host.note_names_changed() };
        }
    }
}
