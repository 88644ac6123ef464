//! The latency of the sound. Host and plugin must agree on it at any time, so that the host can compensate it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use tone_filter_dsp::ToneFilter;

/// The latency of an instance. Lock-free: the audio thread reads it, too.
///
/// The parameter Lookahead has the latency that is wanted. The sound gets it when the host activates the plugin, for
/// which the host is asked, or when the host reads it.
#[derive(Debug, Default)]
pub struct Latency {
    /// Whether the sound is delayed.
    lookahead: AtomicBool,
    /// Samples by which lookahead delays the sound; 0 before the sample rate is known.
    length: AtomicU32,
    /// The latency in samples that the host knows.
    known: AtomicU32,
    /// Between activation and deactivation.
    active: AtomicBool,
    /// [`Latency::is_outdated`] has been true since the activation.
    outdated: AtomicBool,
}

impl Latency {
    /// The plugin is to be activated at a sample rate in Hz.
    pub fn set_rate(&self, sample_rate: f64) {
        self.length.store(ToneFilter::lookahead(sample_rate) as u32, Ordering::Relaxed);
    }

    /// The plugin is activated with `lookahead` or without.
    pub fn activate(&self, lookahead: bool) {
        self.lookahead.store(lookahead, Ordering::Relaxed);
        self.outdated.store(false, Ordering::Relaxed);
        self.active.store(true, Ordering::Relaxed);
    }

    /// The plugin is deactivated.
    pub fn deactivate(&self) {
        self.active.store(false, Ordering::Relaxed);
    }

    /// Whether the sound is delayed.
    pub fn lookahead(&self) -> bool {
        self.lookahead.load(Ordering::Relaxed)
    }

    /// The latency in samples.
    pub fn samples(&self) -> u32 {
        self.samples_with(self.lookahead())
    }

    fn samples_with(&self, lookahead: bool) -> u32 {
        if lookahead { self.length.load(Ordering::Relaxed) } else { 0 }
    }

    /// Whether the host must be asked to activate the plugin again, where it does not know the latency or the parameter
    /// has the value `wanted`. True once, and again when nothing had to be changed in between.
    pub fn is_outdated(&self, wanted: bool) -> bool {
        let known = self.known.load(Ordering::Relaxed) == self.samples();
        let outdated =
            self.active.load(Ordering::Relaxed) && (!known || wanted != self.lookahead());
        !self.outdated.swap(outdated, Ordering::Relaxed) && outdated
    }

    /// The latency in samples has to be reported to a host that does not read it on its own; `None` if it knows it.
    pub fn report(&self) -> Option<u32> {
        let samples = self.samples();
        (self.known.swap(samples, Ordering::Relaxed) != samples).then_some(samples)
    }

    /// The latency in samples for a host that reads it on its own, where the parameter has the value `wanted`. Before an
    /// activation it is that to come. A host that has been asked to activate the plugin again may read the new one
    /// without doing so: from then on, the sound has it.
    pub fn read(&self, wanted: bool) -> u32 {
        let active = self.active.load(Ordering::Relaxed);
        if active && self.outdated.swap(false, Ordering::Relaxed) {
            self.lookahead.store(wanted, Ordering::Relaxed);
        }
        let samples = if active { self.samples() } else { self.samples_with(wanted) };
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
        assert!(!latency.is_outdated(true), "the plugin is not active");
        latency.set_rate(44_100.0);
        latency.activate(false);
        assert_eq!((latency.lookahead(), latency.samples(), latency.report()), (false, 0, None));
        assert!(latency.is_outdated(true) && !latency.is_outdated(true), "once");
        assert!(!latency.is_outdated(false) && latency.is_outdated(true), "and again");
        assert_eq!((latency.lookahead(), latency.samples()), (false, 0));
        latency.deactivate();
        latency.activate(true);
        assert_eq!((latency.lookahead(), latency.report()), (true, Some(2048)));
        assert_eq!(latency.report(), None);
        assert!(!latency.is_outdated(true) && latency.is_outdated(false));
    }

    #[test]
    fn a_host_that_reads_it_after_it_was_asked_gets_the_new_one() {
        let latency = Latency::default();
        latency.set_rate(44_100.0);
        assert_eq!(latency.read(true), 2048, "that of the next activation");
        latency.activate(true);
        assert!(!latency.is_outdated(true));
        assert_eq!((latency.read(false), latency.lookahead()), (2048, true), "not asked");
        assert!(latency.is_outdated(false));
        assert_eq!((latency.read(false), latency.lookahead()), (0, false));
        assert!(!latency.is_outdated(false));

        // One that has not read it since the activation.
        latency.deactivate();
        latency.activate(true);
        assert!(latency.is_outdated(true) && !latency.is_outdated(true), "once");
        assert_eq!((latency.read(true), latency.lookahead()), (2048, true));
        assert!(!latency.is_outdated(true));
    }
}
