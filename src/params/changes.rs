//! Counter of parameter changes. Readers compare it, so as to read the parameters only after a change.

use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering},
};

/// Number of changes so far, modulo 2^32. Clones share one count.
#[derive(Clone, Default)]
pub struct Changes(Arc<AtomicU32>);

impl Changes {
    /// Returns the count. Values that are read afterwards are at least as new as the count.
    pub fn count(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }

    /// Returns a callback for nice-plug's parameters that counts a change.
    pub fn callback<T>(&self) -> Arc<dyn Fn(T) + Send + Sync> {
        let changes = self.clone();
        Arc::new(move |_| changes.add())
    }

    fn add(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// Bits of a setting that is not a parameter. Each store counts as a change.
pub struct WatchedText {
    bits: [AtomicU64; 2],
    changes: Changes,
}

impl WatchedText {
    pub fn new(bits: [u64; 2], changes: &Changes) -> Self {
        Self { bits: bits.map(AtomicU64::new), changes: changes.clone() }
    }

    /// Returns the bits. During a store on another thread, one half may be old. The store counts its change last, so that
    /// readers then read again.
    pub fn load(&self) -> [u64; 2] {
        self.bits.each_ref().map(|bits| bits.load(Ordering::Acquire))
    }

    pub fn store(&self, value: [u64; 2]) {
        for (half, bits) in self.bits.iter().zip(value) {
            half.store(bits, Ordering::Release);
        }
        self.changes.add();
    }
}
