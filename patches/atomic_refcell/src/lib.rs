//! Replacement for the parts of `atomic_refcell` that nice-plug 0.4.2 uses. If another thread has borrowed a cell, a borrow
//! waits; in the original, it panics.
//!
//! # Invariants
//!
//! * A cell is the standard library's lock, which is only tried, never waited for. So no thread queues, and no release of a borrow
//!   wakes a thread.
//! * A wait ends: with the borrow, or with a panic after `SHARED_PATIENCE` or `MUTABLE_PATIENCE`, also if a thread waits for
//!   itself.
//! * `try_borrow` and `try_borrow_mut` never wait. `activate` and `setActive` use them for the buffer manager.
//!
//! # The fault
//!
//! nice-plug keeps the data that its threads share in such cells. In the VST3 wrapper on Linux, several threads borrow one cell
//! at the same time. `main` is the host's main thread, `window` the thread of the editor's window, `worker` nice-plug's thread
//! `bg-worker`, and `audio` the host's audio thread:
//!
//! | cell | mutably | shared | conflict |
//! |---|---|---|---|
//! | `editor_window` | `main`: `attached` and `removed`, while the window is opened and closed | `worker`: tasks for the editor (`inner.rs`, `execute`) | yes |
//! | `component_handler` | `main`: `setComponentHandler` | `window`: edits; `worker`: `TriggerRestart` | if the host sets another handler while the plugin runs |
//! | `current_track_info` | `main`: `setChannelContextInfos` | - | if the host calls it on two threads |
//! | `process_events`, `input_note_events`, `note_expression_controller`, `buffer_manager` | `audio`: `process` | - | if the host calls `process` or `setActive` on two threads, against VST3's rules |
//! | `editor`, `event_loop` | the constructor | all | no |
//!
//! A panic of the worker ends the worker, and later the host, when the last instance is released. A panic of any other thread
//! ends the host at once, as it would unwind into C++. The CLAP wrapper, the standalone wrapper, nice-plug-core and
//! nice-plug-egui have no such conflicts.
//!
//! # The cure
//!
//! A thread waits only where the original would end the host. Within VST3's rules, the audio thread meets no other thread at a
//! cell. A free cell costs one atomic operation, as in the original.
//!
//! Only the worker waits for a long operation: the opening or closing of a window. That operation waits for the window's own
//! thread, never for the worker, so there is no deadlock.
//!
//! This crate becomes obsolete when nice-plug's threads no longer borrow `editor_window` at the same time. `patches/fragile` is
//! the other half of the cure.

use std::{
    fmt,
    sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult},
    thread,
    time::Duration,
};

/// Number of attempts that spin. Most borrows end within this time.
const SPINS: u32 = 64;

/// Number of attempts, after the spins, between which the thread yields. Then it sleeps between attempts.
const YIELDS: u32 = 16;

/// Maximum number of sleeps of a millisecond before a shared borrow panics. A window may take a minute to open on a busy
/// computer.
const SHARED_PATIENCE: u32 = 60_000;

/// Maximum number of sleeps of a millisecond before a mutable borrow panics. Shared borrows are short.
const MUTABLE_PATIENCE: u32 = 2_000;

/// Cell whose value several threads borrow, shared or mutably.
#[derive(Default)]
pub struct AtomicRefCell<T: ?Sized>(RwLock<T>);

/// Shared borrow, which ends when this is dropped.
pub type AtomicRef<'b, T> = RwLockReadGuard<'b, T>;

/// Mutable borrow, which ends when this is dropped.
pub type AtomicRefMut<'b, T> = RwLockWriteGuard<'b, T>;

/// Error: the cell is borrowed mutably.
#[derive(Debug)]
pub struct BorrowError(());

impl fmt::Display for BorrowError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("already mutably borrowed")
    }
}

/// Error: the cell is borrowed.
#[derive(Debug)]
pub struct BorrowMutError(());

impl fmt::Display for BorrowMutError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("already borrowed")
    }
}

impl<T> AtomicRefCell<T> {
    /// Creates a cell without borrows.
    pub fn new(value: T) -> Self {
        Self(RwLock::new(value))
    }
}

impl<T: ?Sized> AtomicRefCell<T> {
    /// Borrows the value, and waits while a thread has it mutably.
    ///
    /// # Panics
    /// If a thread has the value mutably for longer than `SHARED_PATIENCE`.
    #[track_caller]
    pub fn borrow(&self) -> AtomicRef<'_, T> {
        wait(SHARED_PATIENCE, || self.try_borrow())
    }

    /// Borrows the value mutably, and waits while a thread has it.
    ///
    /// # Panics
    /// If a thread has the value for longer than `MUTABLE_PATIENCE`.
    #[track_caller]
    pub fn borrow_mut(&self) -> AtomicRefMut<'_, T> {
        wait(MUTABLE_PATIENCE, || self.try_borrow_mut())
    }

    /// Borrows the value.
    ///
    /// # Errors
    /// If a thread has it mutably.
    pub fn try_borrow(&self) -> Result<AtomicRef<'_, T>, BorrowError> {
        free(self.0.try_read()).ok_or(BorrowError(()))
    }

    /// Borrows the value mutably.
    ///
    /// # Errors
    /// If a thread has it.
    pub fn try_borrow_mut(&self) -> Result<AtomicRefMut<'_, T>, BorrowMutError> {
        free(self.0.try_write()).ok_or(BorrowMutError(()))
    }
}

/// Returns the guard if the lock was free, even if a panic of another thread has poisoned the lock.
fn free<G>(result: TryLockResult<G>) -> Option<G> {
    match result {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Repeats `attempt` until it succeeds, and returns its result. Sleeps are counted, not measured: a busy computer, which runs the
/// other thread late, waits longer.
///
/// # Panics
/// After `patience` sleeps.
#[track_caller]
fn wait<G, E: fmt::Display>(patience: u32, mut attempt: impl FnMut() -> Result<G, E>) -> G {
    let mut round = 0;
    loop {
        match attempt() {
            Ok(guard) => return guard,
            Err(error) if round >= SPINS + YIELDS + patience => panic!("{error}"),
            Err(_) if round < SPINS => std::hint::spin_loop(),
            Err(_) if round < SPINS + YIELDS => thread::yield_now(),
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
        round += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{AtomicRefCell, SPINS, YIELDS, wait};
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        thread,
    };

    /// Returns the message of the panic in `action`.
    fn panic_of<R>(action: impl FnOnce() -> R) -> String {
        let payload = catch_unwind(AssertUnwindSafe(action)).err().expect("it panics");
        *payload.downcast::<String>().expect("a formatted message")
    }

    #[test]
    fn many_read_or_one_writes_even_after_a_panic() {
        let text = AtomicRefCell::new(String::from("a"));
        let (one, two) = (text.borrow(), text.borrow());
        assert_eq!((one.as_str(), two.as_str()), ("a", "a"));
        assert_eq!(panic_of(|| text.borrow_mut()), "already borrowed");
        drop((one, two));
        panic_of(|| {
            let mut guard = text.borrow_mut();
            guard.push('b');
            assert_eq!(text.try_borrow().err().unwrap().to_string(), "already mutably borrowed");
            panic!("{}", text.try_borrow_mut().err().unwrap());
        });
        assert_eq!(*text.borrow(), "ab");
    }

    #[test]
    fn waiting_ends() {
        let cell = AtomicRefCell::new(());
        let guard = cell.borrow_mut();
        for patience in [0, 3] {
            let mut attempts = 0;
            let attempt = || {
                attempts += 1;
                cell.try_borrow()
            };
            assert_eq!(panic_of(|| wait(patience, attempt)), "already mutably borrowed");
            assert_eq!(attempts, SPINS + YIELDS + patience + 1);
        }
        thread::scope(|scope| {
            let other = scope.spawn(|| drop(cell.borrow()));
            drop(guard);
            other.join().unwrap();
        });
    }
}
