//! Memory use of this process.

/// Memory use of the process in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Memory {
    /// Resident memory, after the C library has returned its free memory to the system.
    pub resident: usize,
    /// Memory from the C library's `malloc` that is not freed.
    pub heap: usize,
}

impl Memory {
    pub fn now() -> Self {
        // SAFETY: both functions may be called at any time from any thread.
        let heap = unsafe {
            libc::malloc_trim(0);
            libc::mallinfo2()
        };
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        let resident = pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap();
        Self { resident: 4096 * resident, heap: heap.uordblks + heap.hblkhd }
    }
}

/// Makes all threads started from now on share one heap.
///
/// The free memory in several heaps would vary from run to run, which hides leaks.
pub fn share_one_heap() {
    // SAFETY: the function may be called at any time from any thread.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}
