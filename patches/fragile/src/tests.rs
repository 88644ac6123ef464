//! Tests of values on their own thread and on another thread.

use super::{Fragile, InvalidThreadAccess, share};
use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicUsize, Ordering},
    thread::scope,
};

/// Value that counts its drops.
struct Counted(&'static AtomicUsize);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn its_own_thread_has_all_of_it() {
    let value = Fragile::new(Cell::new(1));
    assert!(value.is_valid());
    value.get().set(2);
    assert_eq!(value.try_get().unwrap().get(), 2);
    assert_eq!(value.try_into_inner().ok().unwrap().get(), 2);
}

#[test]
fn another_thread_has_nothing_of_a_type_that_is_not_shared() {
    struct Private(u32);
    let value = Fragile::new(Private(3));
    scope(|scope| {
        let other = scope.spawn(|| {
            assert!(!value.is_valid());
            assert_eq!(value.try_get().err(), Some(InvalidThreadAccess));
            assert!(catch_unwind(AssertUnwindSafe(|| value.get().0)).is_err());
        });
        other.join().unwrap();
    });
    let value =
        scope(|scope| scope.spawn(|| value.try_into_inner().err().unwrap()).join().unwrap());
    assert_eq!(value.get().0, 3);
}

#[test]
fn another_thread_reads_a_shared_type() {
    struct Shared(AtomicUsize);
    let value = Fragile::new(Shared(AtomicUsize::new(4)));
    share::<Shared>();
    share::<Shared>();
    scope(|scope| {
        scope
            .spawn(|| assert_eq!(value.get().0.fetch_add(1, Ordering::Relaxed), 4))
            .join()
            .unwrap();
    });
    assert_eq!(value.try_into_inner().ok().unwrap().0.into_inner(), 5);
}

#[test]
fn it_is_dropped_once_on_its_own_thread_and_leaked_on_another() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    let dropped = || DROPPED.load(Ordering::Relaxed);
    let new = || Fragile::new(Counted(&DROPPED));
    drop(new());
    assert_eq!(dropped(), 1);
    drop(new().try_into_inner().ok().unwrap());
    assert_eq!(dropped(), 2);
    let value = new();
    scope(|scope| scope.spawn(move || drop(value)).join().unwrap());
    assert_eq!(dropped(), 2);
}
