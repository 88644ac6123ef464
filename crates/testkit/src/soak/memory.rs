//! The memory use of this process.

/// Memory use in bytes; zeros on systems that do not report it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Memory {
    /// Resident memory, after the C library has returned its free memory to the system.
    pub resident: usize,
    /// Memory allocated by the C library's `malloc` and not freed, in all threads.
    pub heap: usize,
}

impl Memory {
    /// The current memory use.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    pub fn now() -> Self {
        // SAFETY: both may be called at any time from any thread.
        let heap = unsafe {
            libc::malloc_trim(0);
            libc::mallinfo2()
        };
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        let resident = pages.split(' ').nth(1).and_then(|pages| pages.parse().ok());
        Self {
            resident: resident.map_or(0, |pages: usize| 4096 * pages),
            heap: heap.uordblks + heap.hblkhd,
        }
    }

    /// The current memory use.
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    pub fn now() -> Self {
        Self::default()
    }
}

/// Makes all threads that are started from now on share one heap. With several heaps, the free memory that each keeps
/// varies from run to run, which hides leaks.
pub fn share_one_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it may be called at any time from any thread.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}
