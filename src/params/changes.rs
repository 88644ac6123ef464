//! Counts changes of the parameters, so that they are read only when there are any.

use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering},
};

/// The number of changes so far, modulo 2^32.
#[derive(Clone, Default)]
pub struct Changes(Arc<AtomicU32>);

impl Changes {
    /// Returns the count. Values that are read after it are at least as new.
    pub fn count(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }

    /// Returns a function that counts a change, for nice-plug's parameters.
    pub fn callback<T>(&self) -> Arc<dyn Fn(T) + Send + Sync> {
        let changes = self.clone();
        Arc::new(move |_| changes.add())
    }

    fn add(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// Text, as bits, that is not a parameter, and whose changes are counted, too.
pub struct WatchedText {
    bits: [AtomicU64; 2],
    changes: Changes,
}

impl WatchedText {
    /// A text with these bits.
    pub fn new(bits: [u64; 2], changes: &Changes) -> Self {
        Self { bits: bits.map(AtomicU64::new), changes: changes.clone() }
    }

    /// Returns the bits. During a replacement, some may be old; the change is counted afterwards.
    pub fn load(&self) -> [u64; 2] {
        self.bits.each_ref().map(|bits| bits.load(Ordering::Acquire))
    }

    /// Replaces the bits.
    pub fn store(&self, value: [u64; 2]) {
        for (own, bits) in self.bits.iter().zip(value) {
            own.store(bits, Ordering::Release);
        }
        self.changes.add();
    }
}
