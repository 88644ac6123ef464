//! What memory this process uses.

/// Bytes; zeros on systems that do not tell.
#[derive(Debug, Clone, Copy, Default)]
pub struct Memory {
    /// Pages in the computer's memory, once the C library has given back what it keeps for later; without those
    /// that can be both written and executed. Of them, Mesa 22.3's software renderer leaves 10 MiB behind each
    /// time that it is loaded, a page or two of which are in memory; nothing else here makes any.
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
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        let (mut resident, mut counts) = (0, true);
        for line in maps.lines() {
            let mut words = line.split_whitespace();
            match (words.next(), words.next()) {
                (Some("Rss:"), Some(kib)) if counts => resident += 1024 * kib.parse().unwrap_or(0),
                (Some(name), Some(rights)) if !name.ends_with(':') => counts = rights != "rwxp",
                _ => (),
            }
        }
        Self { resident, heap: heap.uordblks + heap.hblkhd }
    }

    /// Of now.
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    pub fn now() -> Self {
        Self::default()
    }
}
