//! Calls to a VST3 host, which any thread may request. VST3 allows them on the host's main thread only.

use crate::{Job, host_link::lock};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

/// Function that calls the host.
type Function = Arc<dyn Fn() + Send + Sync>;

/// Request to the host.
#[derive(Debug, Clone, Copy)]
pub enum HostCall {
    /// Activate the plugin again.
    Restart,
    /// Load the program that a buffer has chosen.
    LoadProgram,
    /// Serve the editor's requests. Comes last: the other calls may add requests.
    Serve,
}

impl HostCall {
    const ALL: [Self; 3] = [Self::Restart, Self::LoadProgram, Self::Serve];
}

/// Requested calls, and the functions that make them.
#[derive(Default)]
pub struct HostCalls {
    /// One function per [`HostCall`]. Not for the audio thread.
    functions: Mutex<[Option<Function>; HostCall::ALL.len()]>,
    due: [AtomicBool; HostCall::ALL.len()],
    /// Whether the host's run loop calls [`HostCalls::run`].
    pub looped: AtomicBool,
}

impl HostCalls {
    /// Sets the function for a call, or removes it with `None`.
    pub fn connect(&self, call: HostCall, function: Option<impl Fn() + Send + Sync + 'static>) {
        lock(&self.functions)[call as usize] =
            function.map(|function| Arc::new(function) as Function);
    }

    /// Requests a call. Allowed on any thread.
    pub fn request(&self, call: HostCall) {
        self.due[call as usize].store(true, Ordering::Relaxed);
    }

    /// Makes the requested calls at once, for the editor, unless the host's run loop makes them. Without a run loop, the editor
    /// is on the host's main thread, or that thread cannot be reached.
    pub fn run_unless_looped(&self) {
        if !self.looped.load(Ordering::Relaxed) {
            self.run();
        }
    }
}

impl Job for HostCalls {
    /// Makes the requested calls. Must be called on the host's main thread.
    fn run(&self) {
        for call in HostCall::ALL {
            if self.due[call as usize].swap(false, Ordering::Relaxed) {
                // Cloned, as the host may connect another function during the call.
                let function = lock(&self.functions)[call as usize].clone();
                if let Some(function) = function {
                    function();
                }
            }
        }
    }
}
