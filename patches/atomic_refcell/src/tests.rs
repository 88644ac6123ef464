//! Tests of the cell with real threads.

use super::{AtomicRefCell, MUTABLE_PATIENCE, SHARED_PATIENCE, SPINS, YIELDS, wait};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Barrier,
    thread::scope,
};

/// Returns the message of the panic in `action`.
fn panic_of<R>(action: impl FnOnce() -> R) -> String {
    let payload = catch_unwind(AssertUnwindSafe(action)).err().expect("it panics");
    *payload.downcast::<String>().expect("a formatted message")
}

#[test]
fn several_read_and_one_writes() {
    let mut text = AtomicRefCell::new(String::from("a"));
    let (one, two) = (text.borrow(), text.borrow());
    assert_eq!((one.as_str(), two.as_str()), ("a", "a"));
    assert_eq!(text.try_borrow_mut().err().unwrap().to_string(), "already immutably borrowed");
    drop((one, two));
    text.borrow_mut().push('b');
    let guard = text.borrow_mut();
    assert_eq!(*guard, "ab");
    assert_eq!(text.try_borrow_mut().err().unwrap().to_string(), "already mutably borrowed");
    assert_eq!(text.try_borrow().err().unwrap().to_string(), "already mutably borrowed");
    drop(guard);
    text = AtomicRefCell::default();
    assert_eq!(*text.borrow(), "");
}

#[test]
fn a_thread_that_holds_it_mutably_is_told_at_once() {
    let cell = AtomicRefCell::new(1);
    let guard = cell.borrow_mut();
    assert_eq!(panic_of(|| cell.borrow()), "already mutably borrowed");
    assert_eq!(panic_of(|| cell.borrow_mut()), "already mutably borrowed");
    drop(guard);
    assert_eq!(*cell.borrow(), 1);
}

#[test]
fn a_thread_that_reads_and_wants_to_write_is_told_in_the_end() {
    let cell = AtomicRefCell::new(1);
    let guard = cell.borrow();
    assert_eq!(panic_of(|| cell.borrow_mut()), "already immutably borrowed");
    assert_eq!(*guard, 1);
}

#[test]
fn waiting_ends() {
    let cell = &AtomicRefCell::new(());
    let guard = cell.borrow_mut();
    scope(|scope| {
        for patience in [0, 3] {
            let waits = move || {
                let mut attempts = 0;
                let attempt = || {
                    attempts += 1;
                    cell.try_borrow()
                };
                let message = panic_of(|| wait(&cell.state, patience, attempt));
                (message, attempts)
            };
            let (message, attempts) = scope.spawn(waits).join().unwrap();
            assert_eq!(message, "already mutably borrowed");
            assert_eq!(attempts, SPINS + YIELDS + patience + 1);
        }
    });
    drop(guard);
    // No sum of these overflows.
    assert!((SPINS + YIELDS).checked_add(SHARED_PATIENCE.max(MUTABLE_PATIENCE)).is_some());
}

#[test]
fn no_borrow_is_lost_among_many() {
    const THREADS: usize = 4;
    const TURNS: usize = 20_000;
    let cell = AtomicRefCell::new([0usize; 2]);
    let start = Barrier::new(THREADS);
    scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                start.wait();
                for turn in 0..TURNS {
                    if turn % 4 == 0 {
                        let mut both = cell.borrow_mut();
                        both[0] += 1;
                        both[1] += 1;
                    } else {
                        let both = cell.borrow();
                        assert_eq!(both[0], both[1], "half written");
                    }
                }
            });
        }
    });
    assert_eq!(*cell.borrow(), [THREADS * TURNS / 4; 2]);
}
