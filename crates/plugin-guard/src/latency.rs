//! The latency of the sound. Host and plugin must agree on it at any time, so that the host can compensate it.
//!
//! Latency and sound change together. While the plugin is active, a change of Lookahead changes the parameter only; sound and
//! reported latency stay until the host activates the plugin again, which it is asked for once. A host that does not do so gets
//! the change at the next activation. A change that is taken back within its block is no change.
//!
//! * CLAP: `clap_host.request_restart`; `clap_host_latency.changed` is called within `activate`, if the host knows another
//!   latency.
//! * VST3: `restartComponent(kLatencyChanged)` on the host's own thread, never within `setActive` or `process`. VST3 then
//!   expects `setActive(false)`, `setActive(true)` and `getLatencySamples`. JUCE's hosts and newer versions of Ardour only call
//!   `getLatencySamples`: after the request, the sound of an active plugin changes with that call, by a crossfade. Before
//!   `setActive(true)`, it returns the latency to come, as JUCE's hosts read it there.
//! * The host's own thread is reached by a timer in the run loop that hosts on Linux give, or by nice-plug's queue. On Linux,
//!   that queue is the host's run loop while the editor is open, and otherwise a thread of nice-plug's. A host without a run
//!   loop that processes on its own thread is not asked.
//! * The standalone program has no host: there the sound follows at once, as in `ToneFilter` itself.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The latency of an instance. Lock-free: the audio thread reads it, too.
///
/// The parameters have the latency that is wanted, [`Instance::latency`](crate::Instance::latency). The sound gets it when
/// the host activates the plugin, for which the host is asked, or when the host reads it. All figures are in samples.
#[derive(Debug, Default)]
pub struct Latency {
    /// Delay of the sound.
    samples: AtomicU32,
    /// The latency that the host knows.
    known: AtomicU32,
    /// Between activation and deactivation.
    active: AtomicBool,
    /// [`Latency::is_outdated`] has been true since the activation.
    outdated: AtomicBool,
}

impl Latency {
    /// The plugin is activated with a sound that is delayed by so many `samples`.
    pub fn activate(&self, samples: u32) {
        self.samples.store(samples, Ordering::Relaxed);
        self.outdated.store(false, Ordering::Relaxed);
        self.active.store(true, Ordering::Relaxed);
    }

    /// The plugin is deactivated.
    pub fn deactivate(&self) {
        self.active.store(false, Ordering::Relaxed);
    }

    /// Returns the delay of the sound in samples.
    pub fn samples(&self) -> u32 {
        self.samples.load(Ordering::Relaxed)
    }

    /// Returns whether the host must be asked to activate the plugin again: it does not know the latency, or another one is
    /// `wanted`. True once, and again after a time without need of a change.
    pub(crate) fn is_outdated(&self, wanted: u32) -> bool {
        let samples = self.samples();
        let known = self.known.load(Ordering::Relaxed) == samples;
        let outdated = self.active.load(Ordering::Relaxed) && (!known || wanted != samples);
        !self.outdated.swap(outdated, Ordering::Relaxed) && outdated
    }

    /// Returns the latency that has to be reported to a host that does not read it on its own; `None` if it knows it.
    pub(crate) fn report(&self) -> Option<u32> {
        let samples = self.samples();
        (self.known.swap(samples, Ordering::Relaxed) != samples).then_some(samples)
    }

    /// Returns the latency for a host that reads it on its own, where another one may be `wanted`. Before an activation it is that
    /// to come. A host that has been asked to activate the plugin again may read the new one without doing so: from then
    /// on, the sound has it.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_changes_with_the_activation_and_is_outdated_until_then() {
        let latency = Latency::default();
        assert_eq!(latency.samples(), 0);
        assert!(!latency.is_outdated(2048), "the plugin is not active");
        latency.activate(0);
        assert_eq!((latency.samples(), latency.report()), (0, None));
        assert!(latency.is_outdated(2048) && !latency.is_outdated(2048), "once");
        assert!(!latency.is_outdated(0) && latency.is_outdated(2048), "and again");
        assert_eq!(latency.samples(), 0);
        latency.deactivate();
        latency.activate(2048);
        assert_eq!((latency.samples(), latency.report()), (2048, Some(2048)));
        assert_eq!(latency.report(), None);
        assert!(!latency.is_outdated(2048) && latency.is_outdated(0));
    }

    #[test]
    fn a_host_that_reads_it_after_it_was_asked_gets_the_new_one() {
        let latency = Latency::default();
        assert_eq!(latency.read(2048), 2048, "that of the next activation");
        latency.activate(2048);
        assert!(!latency.is_outdated(2048));
        assert_eq!((latency.read(0), latency.samples()), (2048, 2048), "not asked");
        assert!(latency.is_outdated(0));
        assert_eq!((latency.read(0), latency.samples()), (0, 0));
        assert!(!latency.is_outdated(0));

        // A host that has not read the latency since the activation.
        latency.deactivate();
        latency.activate(2048);
        assert!(latency.is_outdated(2048) && !latency.is_outdated(2048), "once");
        assert_eq!((latency.read(2048), latency.samples()), (2048, 2048));
        assert!(!latency.is_outdated(2048));
    }
}
