//! What nice-plug 0.4.2 uses of `atomic_refcell`, and a cure for its conflicts of threads: a thread that finds a cell
//! borrowed by another one waits, instead of panicking.
//!
//! # The fault
//!
//! nice-plug keeps what its threads share in such cells, as if each had one thread. In the VST3 wrapper on Linux, these
//! borrow the same cell at the same time, where `main` is the host's main thread, `window` is the thread of the editor's
//! window, `worker` is nice-plug's thread `bg-worker`, and `audio` is the host's audio thread:
//!
//! | cell | mutably | shared | conflict |
//! |---|---|---|---|
//! | `editor_window` | `main`: `attached` and `removed`, while the window is opened and closed | `worker`: tasks for the editor (`inner.rs`, `execute`) | yes |
//! | `component_handler` | `main`: `setComponentHandler` | `window`: edits; `worker`: `TriggerRestart` | if the host sets another handler while the plugin runs |
//! | `current_track_info` | `main`: `setChannelContextInfos` | - | if the host calls it on two threads |
//! | `process_events`, `input_note_events`, `note_expression_controller`, `buffer_manager` | `audio`: `process` | - | if the host calls `process` or `setActive` on two threads, against VST3's rules |
//! | `editor`, `event_loop` | the constructor | all | no |
//!
//! A panic of the worker ends it, and the host when the last instance is released; one of another thread ends the host
//! at once, as it would unwind into C++. In the CLAP wrapper, `main` alone borrows the window, the editor and the host's
//! extensions, of which `host_thread_check` is shared with all others, but set once, in `init`; `audio` has
//! `input_events` and `buffer_manager` as above. `activate` and `setActive` take the buffer manager with
//! `try_borrow_mut`, which never waits. In the standalone wrapper, a cell is set by the constructor, or borrowed by one
//! thread. nice-plug-core can keep a field of the state in such a cell; this plugin has none. nice-plug-egui has none at
//! all.
//!
//! # The cure
//!
//! [`AtomicRefCell::borrow`] and [`AtomicRefCell::borrow_mut`] wait for the other thread, and panic only
//!
//! * at once, when the thread itself holds the cell mutably: it would wait for ever;
//! * when the other thread has not let go for a long time ([`SHARED_PATIENCE`], [`MUTABLE_PATIENCE`]): two threads wait
//!   for each other, or the thread itself holds the cell shared and wants it mutably.
//!
//! So a thread waits only where the original ends the host, the audio thread too. Within VST3's rules, the audio thread
//! never meets another one at a cell. A free cell costs as much as with the original: one atomic operation that reads and
//! writes.
//!
//! A bound that is reached panics as the original does. Only the worker waits for something that takes long, the opening
//! or closing of a window. Those wait for the window's own thread, never for the worker: tasks are posted without waiting,
//! and only the release of the last instance waits for the worker to end. So these two cannot wait for each other, and
//! the bound of a shared borrow is there for other versions of nice-plug.
//!
//! It becomes obsolete when nice-plug's threads no longer borrow `editor_window` at the same time. `patches/fragile` is
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

/// How often a thread looks again without giving up its CPU. Most borrows take less than that.
const SPINS: u32 = 64;

/// How often a thread then lets others run before it sleeps.
const YIELDS: u32 = 16;

/// How many times a thread that wants a cell shared sleeps for a millisecond before it panics: for a minute at least, as a
/// window may take that long to open on a busy computer.
pub const SHARED_PATIENCE: u32 = 60_000;

/// The same for a thread that wants it mutably: two seconds at least. Shared borrows are short.
pub const MUTABLE_PATIENCE: u32 = 2_000;

/// Borrowed by none. Other even states are twice the number of shared borrows.
const FREE: usize = 0;

/// What a shared borrow adds.
const SHARED: usize = 2;

/// Odd states are mutable borrows: this bit, and which thread has it.
const MUTABLE: usize = 1;

/// The state of a cell that the current thread holds mutably: different from that of all other threads, and odd.
#[cfg(not(loom))]
fn mutable_here() -> usize {
    std::thread_local! {
        // Constant and without a destructor, so that its use neither allocates nor fails.
        static HERE: u16 = const { 0 };
    }
    // An even address: that of two bytes, aligned.
    HERE.with(|here| ptr::from_ref(here).addr() | MUTABLE)
}

/// The same for loom, whose threads are all one to the system.
#[cfg(loom)]
fn mutable_here() -> usize {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static THREADS: AtomicUsize = AtomicUsize::new(1);
    loom::thread_local! {
        static HERE: usize = THREADS.fetch_add(1, Ordering::Relaxed) << 1;
    }
    HERE.with(|here| here | MUTABLE)
}

/// A value that one thread at a time borrows mutably, or several shared.
#[derive(Default)]
pub struct AtomicRefCell<T: ?Sized> {
    state: AtomicUsize,
    value: UnsafeCell<T>,
}

// SAFETY: several threads can have a `&T` at a time, for which `T` must be `Sync`, and each can have a `&mut T`, through
// which it can take the value, for which `T` must be `Send`. The guards' `Deref` says why there is no other reference at
// the same time as a `&mut T`.
unsafe impl<T: ?Sized + Send + Sync> Sync for AtomicRefCell<T> {}

/// The cell is borrowed mutably.
#[derive(Debug)]
pub struct BorrowError(());

impl fmt::Display for BorrowError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("already mutably borrowed")
    }
}

impl std::error::Error for BorrowError {}

/// The cell is borrowed.
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
    /// A cell that is free.
    pub fn new(value: T) -> Self {
        Self { state: AtomicUsize::new(FREE), value: UnsafeCell::new(value) }
    }
}

impl<T: ?Sized> AtomicRefCell<T> {
    /// Borrows the value, after another thread has let go of it.
    ///
    /// # Panics
    /// When this thread holds it mutably, or another one does so for longer than [`SHARED_PATIENCE`].
    #[track_caller]
    pub fn borrow(&self) -> AtomicRef<'_, T> {
        match self.try_borrow() {
            Ok(guard) => guard,
            Err(_) => wait(&self.state, SHARED_PATIENCE, || self.try_borrow()),
        }
    }

    /// Borrows the value mutably, after other threads have let go of it.
    ///
    /// # Panics
    /// When this thread holds it mutably, or another one holds it for longer than [`MUTABLE_PATIENCE`]; after that time
    /// also when this thread itself holds it shared.
    #[track_caller]
    pub fn borrow_mut(&self) -> AtomicRefMut<'_, T> {
        match self.try_borrow_mut() {
            Ok(guard) => guard,
            Err(_) => wait(&self.state, MUTABLE_PATIENCE, || self.try_borrow_mut()),
        }
    }

    /// Borrows the value, if no thread holds it mutably.
    ///
    /// # Errors
    /// When one does.
    pub fn try_borrow(&self) -> Result<AtomicRef<'_, T>, BorrowError> {
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            // Guards that are forgotten are counted for ever. Beyond the last number, none is given out.
            let more = state.checked_add(SHARED).filter(|_| state & MUTABLE == 0);
            let Some(more) = more else { return Err(BorrowError(())) };
            // `Acquire`, with the `Release` of the one who held it mutably: what that has written is seen.
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

    /// Borrows the value mutably, if no thread holds it.
    ///
    /// # Errors
    /// When one does.
    pub fn try_borrow_mut(&self) -> Result<AtomicRefMut<'_, T>, BorrowMutError> {
        // `Acquire`, with the `Release` of those who held it: their use of it comes before that which follows.
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

/// The result of `attempt` as soon as it succeeds.
///
/// # Panics
/// With its error, when this thread holds the cell mutably, or after `patience` milliseconds.
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

/// Lets the other thread go on. Sleeps are counted, not measured, so that a computer that is too busy to run the other
/// thread waits longer for it.
#[cfg(not(loom))]
fn pause(round: u32) {
    match round {
        _ if round < SPINS => std::hint::spin_loop(),
        _ if round < SPINS + YIELDS => thread::yield_now(),
        _ => thread::sleep(Duration::from_millis(1)),
    }
}

/// To loom, all waiting is the same.
#[cfg(loom)]
fn pause(_: u32) {
    loom::thread::yield_now();
}

/// A shared borrow, until it is dropped.
pub struct AtomicRef<'b, T: ?Sized> {
    cell: &'b AtomicRefCell<T>,
}

impl<T: ?Sized> Deref for AtomicRef<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this guard is counted in the state until it is dropped, and the reference does not outlive it. While
        // the count is not zero, the state is never `FREE`, from which alone `try_borrow_mut` goes on to make a guard
        // with a `&mut T`; and the guard was not made while there was one, as the state was even.
        unsafe { &*self.cell.value.get() }
    }
}

impl<T: ?Sized> Drop for AtomicRef<'_, T> {
    fn drop(&mut self) {
        // `Release`: all reading through this guard comes before the next mutable borrow.
        self.cell.state.fetch_sub(SHARED, Ordering::Release);
    }
}

/// A mutable borrow, until it is dropped.
pub struct AtomicRefMut<'b, T: ?Sized> {
    cell: &'b AtomicRefCell<T>,
}

impl<T: ?Sized> Deref for AtomicRefMut<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: from the exchange that made this guard until it is dropped, the state is odd, which makes all
        // attempts of others fail; when it was made, the state was `FREE`, so there was no other guard. A `&mut T` of
        // this guard needs `&mut self`, so there is none while there is this reference.
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
