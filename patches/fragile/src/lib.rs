//! Replacement for the parts of `fragile` that nice-plug 0.4.2 uses: other threads may read values of types that [`share`] names.
//!
//! # Invariants
//!
//! * Only the owner, the thread that made a value, drops it or takes it out. Other threads get shared references at most, and
//!   only to a `Sync` type that was shared.
//! * A value that another thread drops is leaked; the original panics. A read of a type that is not shared panics, as in the
//!   original.
//!
//! # The fault
//!
//! nice-plug keeps the editor's handle and window in a `Fragile`, which panics when a thread other than the window's reads it. On
//! Linux, nice-plug's own thread `bg-worker` reads it to pass new values to the editor (`wrapper/vst3/inner.rs`, `execute`).
//! These are values set before the window was opened and, in a host without VST3's run loop, all values. The panic ends that
//! thread, and later the host, when the last instance is released. Only a read of the `Fragile` shows whether a window is open,
//! so code outside cannot avoid the read.
//!
//! # The cure
//!
//! The plugin's handle and window are safe to use from several threads, and the plugin [shares](share) their types.
//!
//! This crate becomes obsolete when nice-plug's `bg-worker` no longer touches the window. `patches/atomic_refcell` is the other
//! half of the cure.

use std::{
    any::TypeId,
    mem::ManuallyDrop,
    sync::{PoisonError, RwLock},
    thread::{self, ThreadId},
};

/// Shared types, all of which are `Sync`.
static SHARED: RwLock<Vec<TypeId>> = RwLock::new(Vec::new());

/// Allows all threads to read values of the type `T` from now on. Each [`Fragile`] still belongs to the thread that made it.
pub fn share<T: Sync + 'static>() {
    let id = TypeId::of::<T>();
    let mut shared = SHARED.write().unwrap_or_else(PoisonError::into_inner);
    if !shared.contains(&id) {
        shared.push(id);
    }
}

fn is_shared<T: 'static>() -> bool {
    SHARED.read().unwrap_or_else(PoisonError::into_inner).contains(&TypeId::of::<T>())
}

/// Value that belongs to the thread that made it. Other threads read it only if its type is [shared](share).
pub struct Fragile<T: 'static> {
    value: ManuallyDrop<T>,
    owner: ThreadId,
}

// SAFETY: another thread than the owner neither drops nor moves the value. It gets a reference to it only from
// `try_get`, and only if `share` was called for the type, which is then `Sync`.
unsafe impl<T> Send for Fragile<T> {}

// SAFETY: as for `Send`. The owner may read the value at the same time, through a shared reference, which a `Sync` type allows.
// Moving or dropping the value requires ownership of the `Fragile`.
unsafe impl<T> Sync for Fragile<T> {}

impl<T> Fragile<T> {
    /// Creates a value that belongs to this thread.
    pub fn new(value: T) -> Self {
        Self { value: ManuallyDrop::new(value), owner: thread::current().id() }
    }

    fn is_own(&self) -> bool {
        thread::current().id() == self.owner
    }

    /// Returns the value.
    ///
    /// # Panics
    /// On another thread, unless the type is [shared](share).
    #[track_caller]
    pub fn get(&self) -> &T {
        self.try_get().expect("the value belongs to another thread")
    }

    /// Returns the value; `None` on another thread, unless the type is [shared](share).
    pub fn try_get(&self) -> Option<&T> {
        (self.is_own() || is_shared::<T>()).then_some(&*self.value)
    }

    /// Takes the value out.
    ///
    /// # Errors
    /// Returns `self` on another thread.
    pub fn try_into_inner(self) -> Result<T, Self> {
        if !self.is_own() {
            return Err(self);
        }
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used any more, and not dropped.
        Ok(unsafe { ManuallyDrop::take(&mut this.value) })
    }
}

impl<T> Drop for Fragile<T> {
    fn drop(&mut self) {
        if self.is_own() {
            // SAFETY: the value has not been taken: `try_into_inner` prevents this drop if it takes the value.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fragile, share};
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        sync::atomic::{AtomicUsize, Ordering},
        thread::scope,
    };

    #[test]
    fn other_threads_read_shared_types_and_never_drop() {
        static DROPPED: AtomicUsize = AtomicUsize::new(0);
        struct Value(u32);
        impl Drop for Value {
            fn drop(&mut self) {
                DROPPED.fetch_add(1, Ordering::Relaxed);
            }
        }
        let dropped = || DROPPED.load(Ordering::Relaxed);
        let value = Fragile::new(Value(3));
        let value = scope(|scope| {
            let other = scope.spawn(|| {
                assert!(value.try_get().is_none());
                assert!(catch_unwind(AssertUnwindSafe(|| value.get().0)).is_err());
                share::<Value>();
                assert_eq!(value.get().0, 3);
                value.try_into_inner().err().unwrap()
            });
            other.join().unwrap()
        });
        assert_eq!(dropped(), 0);
        assert_eq!(value.try_into_inner().ok().unwrap().0, 3);
        assert_eq!(dropped(), 1);
        drop(Fragile::new(Value(4)));
        assert_eq!(dropped(), 2);
        let value = Fragile::new(Value(5));
        scope(|scope| scope.spawn(move || drop(value)).join().unwrap());
        assert_eq!(dropped(), 2);
    }
}
