//! Counts each thread's calls of the allocator.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: all of it is done by the system's allocator; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The result of `work`, and how often it has allocated or freed memory.
pub fn counted<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = COUNT.get();
    let result = work();
    (result, COUNT.get() - before)
}

#[test]
fn allocations_are_counted() {
    assert_eq!(counted(|| drop(vec![1.0])).1, 2);
}
