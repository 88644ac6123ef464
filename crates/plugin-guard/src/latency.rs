//! Latency of the output. Host and plugin must always agree on it, so that the host can compensate it.
//!
//! The delay of the output and the reported latency change together. While the plugin is active, moving Lookahead changes only
//! the parameter. Delay and latency stay until the next activation, for which the host is asked once. A change that is reverted
//! within one call of `process` has no effect.
//!
//! * CLAP: `clap_host.request_restart`; within `activate`, `clap_host_latency.changed` if the host knows another latency.
//! * VST3: `restartComponent(kLatencyChanged)` on the host's main thread, never within `setActive` or `process`. VST3 then
//!   expects `setActive(false)`, `setActive(true)` and `getLatencySamples`. JUCE's hosts and newer versions of Ardour only call
//!   `getLatencySamples`, so after the request this call changes the delay of an active plugin, by a crossfade. JUCE's hosts also
//!   call it before `setActive(true)`, when it returns the latency of the next activation.
//! * The host's main thread is reached by a timer in the run loop that hosts on Linux provide, or else by nice-plug's queue. On
//!   Linux, that queue uses the host's run loop while the editor is open, and otherwise a thread of nice-plug. If a host without a
//!   run loop calls `process` on its main thread, the request waits until the editor makes a request, too.
//! * The standalone program has no host: the delay follows the parameter at once, as in `ToneFilter` itself.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Latency of an instance in samples. Lock-free, as the audio thread reads it, too.
#[derive(Debug, Default)]
pub struct Latency {
    /// Delay of the output in samples.
    samples: AtomicU32,
    /// Latency that the host knows, in samples.
    known: AtomicU32,
    active: AtomicBool,
    /// Whether the last [`Latency::is_outdated`] found the latency outdated; cleared by [`Latency::activate`], and by
    /// [`Latency::read`] while active.
    outdated: AtomicBool,
}

impl Latency {
    /// Records that the plugin is activated with an output delay of `samples`.
    pub fn activate(&self, samples: u32) {
        self.samples.store(samples, Ordering::Relaxed);
        self.outdated.store(false, Ordering::Relaxed);
        self.active.store(true, Ordering::Relaxed);
    }

    /// Records that the plugin is deactivated.
    pub fn deactivate(&self) {
        self.active.store(false, Ordering::Relaxed);
    }

    /// Returns the delay of the output in samples.
    pub fn samples(&self) -> u32 {
        self.samples.load(Ordering::Relaxed)
    }

    /// Returns true when the latency of an active plugin becomes outdated, so that the host is asked once to activate it again.
    /// The latency is outdated if the host does not know it, or if the parameters require another one, `wanted`.
    pub(crate) fn is_outdated(&self, wanted: u32) -> bool {
        let samples = self.samples();
        let known = self.known.load(Ordering::Relaxed) == samples;
        let outdated = self.active.load(Ordering::Relaxed) && (!known || wanted != samples);
        !self.outdated.swap(outdated, Ordering::Relaxed) && outdated
    }

    /// Returns the latency to report to a CLAP host, which then counts as known; `None` if the host knows it already.
    pub(crate) fn report(&self) -> Option<u32> {
        let samples = self.samples();
        (self.known.swap(samples, Ordering::Relaxed) != samples).then_some(samples)
    }

    /// Returns the latency to a VST3 host: while inactive, `wanted`, which the parameters require; while active, the delay of the
    /// output. If the host has been asked to activate the plugin again, the delay changes to `wanted` first.
    pub(crate) fn read(&self, wanted: u32) -> u32 {
        let active = self.active.load(Ordering::Relaxed);
        if active && self.outdated.swap(false, Ordering::Relaxed) {
            self.samples.store(wanted, Ordering::Relaxed);
        }
        let samples = if active { self.samples() } else { wanted };
        self.known.store(samples, Ordering::Relaxed);
        samples
    }
}
