//! What memory this process uses.

/// Bytes; zeros on systems that do not tell.
#[derive(Debug, Clone, Copy, Default)]
pub struct Memory {
    /// Pages in the computer's memory, once the C library has given back what it keeps for later.
    pub resident: usize,
    /// Of what the C library's `malloc` has given out, in all threads: what was not freed.
    pub heap: usize,
}

impl Memory {
    /// Of now.
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

    /// Of now.
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    pub fn now() -> Self {
        Self::default()
    }
}

/// Has all threads that are started from now on share one heap: with one for every few threads, it depends on which of
/// them meet how many pages each keeps for later, and that hides what is lost.
pub fn share_one_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it may be called at any time from any thread.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}
