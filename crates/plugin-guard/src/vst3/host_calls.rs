//! Calls of a VST3 host that other threads request: the host allows them on its own thread only.

use crate::Job;
use std::{
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// A function of the host.
type Function = Arc<dyn Fn() + Send + Sync>;

/// Request to the host.
#[derive(Debug, Clone, Copy)]
pub enum HostCall {
    /// Activate the plugin again.
    Restart,
    /// Save the state.
    SetDirty,
}

impl HostCall {
    const ALL: [Self; 2] = [Self::Restart, Self::SetDirty];
}

/// The calls that are due, and the host's functions.
#[derive(Default)]
pub struct HostCalls {
    /// Calls, one a [`HostCall`]. Not for the audio thread.
    functions: Mutex<[Option<Function>; HostCall::ALL.len()]>,
    due: [AtomicBool; HostCall::ALL.len()],
    /// True if the host's run loop calls [`HostCalls::run`].
    pub looped: AtomicBool,
}

impl HostCalls {
    /// Connects a function of the host, or disconnects it with `None`.
    pub fn connect(&self, call: HostCall, function: Option<impl Fn() + Send + Sync + 'static>) {
        let function = function.map(|function| Arc::new(function) as Function);
        let before = mem::replace(&mut self.functions()[call as usize], function);
        // Without the lock, as it may release objects of the host.
        drop(before);
    }

    fn functions(&self) -> MutexGuard<'_, [Option<Function>; HostCall::ALL.len()]> {
        self.functions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests a call. On any thread.
    pub fn request(&self, call: HostCall) {
        self.due[call as usize].store(true, Ordering::Relaxed);
    }

    /// Makes the calls that are due, for the editor. Without a run loop, this is the host's thread, or no way leads
    /// to it.
    pub fn run_unless_looped(&self) {
        if !self.looped.load(Ordering::Relaxed) {
            self.run();
        }
    }
}

impl Job for HostCalls {
    /// Makes the calls that are due. On the host's thread only.
    fn run(&self) {
        for call in HostCall::ALL {
            if self.due[call as usize].swap(false, Ordering::Relaxed) {
                // The host may connect another function meanwhile.
                let function = self.functions()[call as usize].clone();
                if let Some(function) = function {
                    function();
                }
            }
        }
    }
}
