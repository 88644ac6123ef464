//! Counts changes of the parameters, so that they are read only when there are any.

use crossbeam::atomic::AtomicCell;
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

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

/// A value that is no parameter, whose changes are counted, too.
pub struct Watched<T> {
    value: AtomicCell<T>,
    changes: Changes,
}

impl<T: Copy + Default> Watched<T> {
    /// The default value.
    pub fn new(changes: &Changes) -> Self {
        Self { value: AtomicCell::default(), changes: changes.clone() }
    }

    /// The value.
    pub fn load(&self) -> T {
        self.value.load()
    }

    /// Replaces the value.
    pub fn store(&self, value: T) {
        self.value.store(value);
        self.changes.add();
    }
}
