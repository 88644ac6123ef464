//! Tests with all interleavings of threads. Run with `RUSTFLAGS="--cfg loom" cargo test -p atomic_refcell --lib --target-dir
//! target/loom`.

use super::AtomicRefCell;
use loom::{cell::UnsafeCell, sync::Arc, thread};

/// Number whose reads and writes loom watches.
#[derive(Default)]
struct Watched(UnsafeCell<usize>);

// SAFETY: it is in an `AtomicRefCell` only, whose soundness is what loom checks.
unsafe impl Sync for Watched {}

fn add(cell: &AtomicRefCell<Watched>) {
    let guard = cell.borrow_mut();
    // SAFETY: the pointer is valid; whether another thread uses it at the same time is what loom checks.
    guard.0.with_mut(|number| unsafe { *number += 1 });
}

fn read(cell: &AtomicRefCell<Watched>) -> usize {
    let guard = cell.borrow();
    // SAFETY: as in `add`.
    guard.0.with(|number| unsafe { *number })
}

#[test]
fn two_threads_that_write_do_not_meet() {
    loom::model(|| {
        let cell = Arc::new(AtomicRefCell::new(Watched::default()));
        let other = thread::spawn({
            let cell = cell.clone();
            move || add(&cell)
        });
        add(&cell);
        other.join().unwrap();
        assert_eq!(read(&cell), 2);
    });
}

#[test]
fn one_that_reads_waits_for_one_that_writes() {
    loom::model(|| {
        let cell = Arc::new(AtomicRefCell::new(Watched::default()));
        let other = thread::spawn({
            let cell = cell.clone();
            move || read(&cell) <= 1
        });
        add(&cell);
        assert!(other.join().unwrap());
        assert_eq!(read(&cell), 1);
    });
}

#[test]
fn one_that_writes_waits_for_two_that_read() {
    let mut model = loom::model::Builder::new();
    // All orders of three threads take too long; these are those with at most two interruptions.
    model.preemption_bound = Some(2);
    model.check(|| {
        let cell = Arc::new(AtomicRefCell::new(Watched::default()));
        // Only one thread waits: loom would let two waiting threads take turns for ever.
        let others = [(); 2].map(|()| {
            let cell = cell.clone();
            thread::spawn(move || {
                let guard = cell.try_borrow().ok()?;
                // SAFETY: as in `add`.
                Some(guard.0.with(|number| unsafe { *number }))
            })
        });
        add(&cell);
        for other in others {
            assert!(other.join().unwrap().is_none_or(|number| number <= 1));
        }
        assert_eq!(read(&cell), 1);
    });
}

#[test]
fn attempts_do_not_wait() {
    loom::model(|| {
        let cell = Arc::new(AtomicRefCell::new(Watched::default()));
        let other = thread::spawn({
            let cell = cell.clone();
            move || {
                if let Ok(guard) = cell.try_borrow_mut() {
                    // SAFETY: as in `add`.
                    guard.0.with_mut(|number| unsafe { *number += 1 });
                }
            }
        });
        if let Ok(guard) = cell.try_borrow() {
            // SAFETY: as in `add`.
            assert!(guard.0.with(|number| unsafe { *number }) <= 1);
        }
        other.join().unwrap();
    });
}
