//! Measurement of a thread's heap use.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, which counts the bytes of each thread.
pub struct Counting;

fn count(bytes: isize) {
    // While a thread ends, its counters no longer exist.
    let _ = NOW.try_with(|now| {
        now.set(now.get() + bytes);
        PEAK.with(|peak| peak.set(peak.get().max(now.get())));
    });
}

// SAFETY: all calls are passed to the system's allocator; counting does not allocate.
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
        // While it moves, both blocks exist.
        count(size as isize);
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, size) }
    }
}

/// Runs `work`, and returns its result and the peak increase of this thread's heap in bytes.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = NOW.get();
    PEAK.set(before);
    let result = work();
    (result, (PEAK.get() - before) as usize)
}
