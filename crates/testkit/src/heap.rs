//! Counts a thread's allocations and heap use. The test must install the allocator:
//!
//! ```
//! #[global_allocator]
//! static HEAP: tone_filter_testkit::heap::Counting = tone_filter_testkit::heap::Counting;
//! ```

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
    static NOW: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// System allocator that counts the calls and the bytes of each thread.
#[derive(Debug, Clone, Copy)]
pub struct Counting;

fn count(bytes: isize) {
    // Fails while a thread ends: its counters no longer exist then.
    let _ = NOW.try_with(|now| {
        CALLS.set(CALLS.get() + 1);
        now.set(now.get() + bytes);
        PEAK.set(PEAK.get().max(now.get()));
    });
}

// SAFETY: all calls go to the system's allocator, and counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the system allocator's contract, which is ours.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above; all memory comes from the system's allocator.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Counts as an allocation and a free: both blocks may exist during the move.
        count(size as isize);
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, size) }
    }
}

/// Runs `work`. Returns its result, and the number of allocations and frees on this thread. A reallocation counts as one of
/// each.
pub fn counted<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let (result, calls, _) = measured(work);
    (result, calls)
}

/// Runs `work`. Returns its result, and the maximum growth of this thread's heap meanwhile, in bytes.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let (result, _, peak) = measured(work);
    (result, peak)
}

/// Runs `work`. Returns its result, and the figures of [`counted`] and [`peak_of`].
fn measured<T>(work: impl FnOnce() -> T) -> (T, usize, usize) {
    let calls = CALLS.get();
    drop(std::hint::black_box(Box::new(0)));
    assert_eq!(CALLS.get() - calls, 2, "`Counting` is not the program's allocator");
    let (calls, bytes) = (CALLS.get(), NOW.get());
    PEAK.set(bytes);
    let result = work();
    (result, CALLS.get() - calls, (PEAK.get() - bytes) as usize)
}
