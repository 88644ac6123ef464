//! Counts changes of the parameters, so that they are read only when there are any.

use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering},
};
use tone_filter_dsp::{PitchClass, Switches, Targets};

/// The number of changes so far, modulo 2^32.
#[derive(Clone, Default)]
pub struct Changes(Arc<AtomicU32>);

impl Changes {
    /// The number now. What is read after it is at least as new.
    pub fn count(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }

    /// A function that counts a change, for nice-plug's parameters.
    pub fn callback<T>(&self) -> Arc<dyn Fn(T) + Send + Sync> {
        let changes = self.clone();
        Arc::new(move |_| changes.add())
    }

    fn add(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// Switches that are no parameter, whose changes are counted, too.
pub struct Watched<const N: usize> {
    bits: [AtomicU64; 2],
    changes: Changes,
}

impl<const N: usize> Watched<N> {
    /// All on.
    pub fn new(changes: &Changes) -> Self {
        let bits = Switches::<N>::ALL.to_bits().map(AtomicU64::new);
        Self { bits, changes: changes.clone() }
    }

    /// The switches. While they are replaced, some may be those of before; the change is counted afterwards.
    pub fn load(&self) -> Switches<N> {
        Switches::from_bits(self.bits.each_ref().map(|bits| bits.load(Ordering::Acquire)))
    }

    /// Replaces the switches.
    pub fn store(&self, value: Switches<N>) {
        for (own, bits) in self.bits.iter().zip(value.to_bits()) {
            own.store(bits, Ordering::Release);
        }
        self.changes.add();
    }
}

/// The targets of the pitch classes, whose changes are counted, too.
pub struct WatchedTargets {
    /// Four bits for each target, the first lowest.
    bits: AtomicU64,
    changes: Changes,
}

impl WatchedTargets {
    /// Every pitch class is its own target.
    pub fn new(changes: &Changes) -> Self {
        Self { bits: AtomicU64::new(packed(Targets::IDENTITY)), changes: changes.clone() }
    }

    /// The targets.
    pub fn load(&self) -> Targets {
        let bits = self.bits.load(Ordering::Acquire);
        (0..12).fold(Targets::IDENTITY, |targets, class| {
            targets.with(class, PitchClass::new((bits >> (4 * class) & 15) as usize))
        })
    }

    /// Replaces the targets.
    pub fn store(&self, value: Targets) {
        self.bits.store(packed(value), Ordering::Release);
        self.changes.add();
    }
}

fn packed(targets: Targets) -> u64 {
    (0..12).fold(0, |bits, class| bits | (targets.of(class).index() as u64) << (4 * class))
}
