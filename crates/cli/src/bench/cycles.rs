//! The CPU's counter of core cycles, on systems that let programs read it.

/// Counter of the cycles that this thread runs.
pub struct Cycles {
    #[cfg(target_os = "linux")]
    counter: Option<perf_event::Counter>,
}

impl Cycles {
    /// Creates a counter, if the system allows one: on Linux, if `perf_event_paranoid` is at most 2.
    pub fn new() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            counter: perf_event::Builder::new(perf_event::events::Hardware::CPU_CYCLES)
                .build()
                .ok(),
        }
    }

    /// Runs `work`, and returns how many cycles it took, or `None` without a counter.
    #[cfg(target_os = "linux")]
    pub fn count(&mut self, work: impl FnOnce()) -> Option<u64> {
        let counting = self.counter.as_mut().and_then(|own| own.reset().and(own.enable()).ok());
        work();
        let counter = self.counter.as_mut().filter(|_| counting.is_some())?;
        counter.disable().ok()?;
        // A virtual machine may offer a counter that stands still.
        counter.read().ok().filter(|cycles| *cycles > 0)
    }

    /// Runs `work`, and returns `None`: this system has no counter.
    #[cfg(not(target_os = "linux"))]
    pub fn count(&mut self, work: impl FnOnce()) -> Option<u64> {
        work();
        None
    }
}
