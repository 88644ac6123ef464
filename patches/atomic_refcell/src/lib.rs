//! Replacement for the parts of `atomic_refcell` that nice-plug 0.4.2 uses. If another thread has borrowed a cell, a borrow
//! waits; in the original, it panics.
//!
//! # Invariants
//!
//! * The whole state of a cell is one number. 0 is free, an even number is twice the count of shared borrows, and an odd number
//!   names the thread that has the mutable borrow.
//! * Only an exchange from 0 makes a mutable borrow, and only its guard stores 0 again. So a `&mut T` is exclusive.
//! * Every borrow has `Acquire`, and every release of a borrow has `Release`: without them, a thread could read old values.
//! * A wait ends: with the borrow, with a panic at once if the thread waits for itself, or with a panic after [`SHARED_PATIENCE`]
//!   or [`MUTABLE_PATIENCE`].
//! * `try_borrow` and `try_borrow_mut` never wait. `activate` and `setActive` use them for the buffer manager.
//!
//! The tests in `model.rs` check all interleavings of threads with loom.
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

#[cfg(loom)]
use loom::sync::atomic::{AtomicUsize, Ordering};
use std::{
    cell::UnsafeCell,
    fmt,
    ops::{Deref, DerefMut},
};
#[cfg(not(loom))]
use std::{
    ptr,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

/// Number of attempts that spin. Most borrows end within this time.
const SPINS: u32 = 64;

/// Number of attempts, after the spins, between which the thread yields. Then it sleeps between attempts.
const YIELDS: u32 = 16;

/// Maximum number of sleeps of a millisecond before a shared borrow panics. A window may take a minute to open on a busy
/// computer.
pub const SHARED_PATIENCE: u32 = 60_000;

/// Maximum number of sleeps of a millisecond before a mutable borrow panics. Shared borrows are short.
pub const MUTABLE_PATIENCE: u32 = 2_000;

/// State of a cell without borrows.
const FREE: usize = 0;

/// Increment of a cell's state for each shared borrow.
const SHARED: usize = 2;

/// Bit that is set in the state during a mutable borrow. The other bits identify the thread.
const MUTABLE: usize = 1;

/// Returns the state of a cell that the current thread holds mutably: odd, and different for each thread.
#[cfg(not(loom))]
fn mutable_here() -> usize {
    std::thread_local! {
        // Constant and without a destructor, so that its use neither allocates nor fails.
        static HERE: u16 = const { 0 };
    }
    // A `u16` is aligned to 2 bytes, so its address is even.
    HERE.with(|here| ptr::from_ref(here).addr() | MUTABLE)
}

/// Returns the same for loom, whose threads share one thread of the system.
#[cfg(loom)]
fn mutable_here() -> usize {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static THREADS: AtomicUsize = AtomicUsize::new(1);
    loom::thread_local! {
        static HERE: usize = THREADS.fetch_add(1, Ordering::Relaxed) << 1;
    }
    HERE.with(|here| here | MUTABLE)
}

/// Cell whose value several threads borrow, shared or mutably.
#[derive(Default)]
pub struct AtomicRefCell<T: ?Sized> {
    state: AtomicUsize,
    value: UnsafeCell<T>,
}

// SAFETY: several threads can have a `&T` at the same time, so `T` must be `Sync`. Each thread can get a `&mut T` and move the
// value out, so `T` must be `Send`. The guards' `Deref` says why a `&mut T` is exclusive.
unsafe impl<T: ?Sized + Send + Sync> Sync for AtomicRefCell<T> {}

/// Error: the cell is borrowed mutably.
#[derive(Debug)]
pub struct BorrowError(());

impl fmt::Display for BorrowError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("already mutably borrowed")
    }
}

impl std::error::Error for BorrowError {}

/// Error: the cell is borrowed.
#[derive(Debug)]
pub struct BorrowMutError {
    mutably: bool,
}

impl fmt::Display for BorrowMutError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(if self.mutably {
            "already mutably borrowed"
        } else {
            "already immutably borrowed"
        })
    }
}

impl std::error::Error for BorrowMutError {}

impl<T> AtomicRefCell<T> {
    /// Creates a cell without borrows.
    pub fn new(value: T) -> Self {
        Self { state: AtomicUsize::new(FREE), value: UnsafeCell::new(value) }
    }
}

impl<T: ?Sized> AtomicRefCell<T> {
    /// Borrows the value, and waits while another thread has it mutably.
    ///
    /// # Panics
    /// If this thread has the value mutably, or another thread has it mutably for longer than [`SHARED_PATIENCE`].
    #[track_caller]
    pub fn borrow(&self) -> AtomicRef<'_, T> {
        match self.try_borrow() {
            Ok(guard) => guard,
            Err(_) => wait(&self.state, SHARED_PATIENCE, || self.try_borrow()),
        }
    }

    /// Borrows the value mutably, and waits while other threads have it.
    ///
    /// # Panics
    /// If this thread has the value mutably, or if any thread has it for longer than [`MUTABLE_PATIENCE`].
    #[track_caller]
    pub fn borrow_mut(&self) -> AtomicRefMut<'_, T> {
        match self.try_borrow_mut() {
            Ok(guard) => guard,
            Err(_) => wait(&self.state, MUTABLE_PATIENCE, || self.try_borrow_mut()),
        }
    }

    /// Borrows the value.
    ///
    /// # Errors
    /// If a thread has it mutably.
    pub fn try_borrow(&self) -> Result<AtomicRef<'_, T>, BorrowError> {
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            // Forgotten guards stay counted: at the maximum there are no more borrows.
            let more = state.checked_add(SHARED).filter(|_| state & MUTABLE == 0);
            let Some(more) = more else { return Err(BorrowError(())) };
            // `Acquire` pairs with the `Release` of the last mutable borrow, and so sees what it wrote.
            match self.state.compare_exchange_weak(
                state,
                more,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Ok(AtomicRef { cell: self }),
                Err(now) => state = now,
            }
        }
    }

    /// Borrows the value mutably.
    ///
    /// # Errors
    /// If a thread has it.
    pub fn try_borrow_mut(&self) -> Result<AtomicRefMut<'_, T>, BorrowMutError> {
        // `Acquire` pairs with the `Release` of all earlier borrows, and so comes after their use of the value.
        match self.state.compare_exchange(
            FREE,
            mutable_here(),
            Ordering::Acquire,
            Ordering::Relaxed,
        ) {
            Ok(_) => Ok(AtomicRefMut { cell: self }),
            Err(state) => Err(BorrowMutError { mutably: state & MUTABLE != 0 }),
        }
    }
}

/// Repeats `attempt` until it succeeds, and returns its result.
///
/// # Panics
/// If this thread has the cell mutably, or after `patience` sleeps.
#[cold]
#[track_caller]
fn wait<G, E: fmt::Display>(
    state: &AtomicUsize,
    patience: u32,
    mut attempt: impl FnMut() -> Result<G, E>,
) -> G {
    for round in 0.. {
        match attempt() {
            Ok(guard) => return guard,
            Err(error) => {
                let own = state.load(Ordering::Relaxed) == mutable_here();
                if own || round >= SPINS + YIELDS + patience {
                    panic!("{error}");
                }
            }
        }
        pause(round);
    }
    unreachable!("it panics before the rounds end")
}

/// Lets other threads run. Sleeps are counted, not measured: a busy computer, which runs the other thread late, waits longer.
#[cfg(not(loom))]
fn pause(round: u32) {
    match round {
        _ if round < SPINS => std::hint::spin_loop(),
        _ if round < SPINS + YIELDS => thread::yield_now(),
        _ => thread::sleep(Duration::from_millis(1)),
    }
}

/// Lets loom run another thread.
#[cfg(loom)]
fn pause(_: u32) {
    loom::thread::yield_now();
}

/// Shared borrow, which ends when this is dropped.
pub struct AtomicRef<'b, T: ?Sized> {
    cell: &'b AtomicRefCell<T>,
}

impl<T: ?Sized> Deref for AtomicRef<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this guard is counted in the state until it is dropped, and the reference does not outlive it. While the count
        // is not zero, the state is not `FREE`, so `try_borrow_mut` makes no guard with a `&mut T`. When this guard was made, the
        // state was even, so there was no `&mut T`.
        unsafe { &*self.cell.value.get() }
    }
}

impl<T: ?Sized> Drop for AtomicRef<'_, T> {
    fn drop(&mut self) {
        // `Release`: all reading through this guard comes before the next mutable borrow.
        self.cell.state.fetch_sub(SHARED, Ordering::Release);
    }
}

/// Mutable borrow, which ends when this is dropped.
pub struct AtomicRefMut<'b, T: ?Sized> {
    cell: &'b AtomicRefCell<T>,
}

impl<T: ?Sized> Deref for AtomicRefMut<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: until this guard is dropped, the state is odd, so all other borrows fail. The exchange that made the guard
        // found `FREE`, so there was no other guard. This guard's own `&mut T` needs `&mut self`, so none exists beside this
        // reference.
        unsafe { &*self.cell.value.get() }
    }
}

impl<T: ?Sized> DerefMut for AtomicRefMut<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as for `deref`; and `&mut self` lets no other reference of this guard exist.
        unsafe { &mut *self.cell.value.get() }
    }
}

impl<T: ?Sized> Drop for AtomicRefMut<'_, T> {
    fn drop(&mut self) {
        // `Release`: all writing through this guard comes before the next borrow. No other thread changes an odd state.
        self.cell.state.store(FREE, Ordering::Release);
    }
}

#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(loom)))]
mod tests;
