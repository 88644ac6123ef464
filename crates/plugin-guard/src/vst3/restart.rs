//! A call of a VST3 host on its own thread, as it allows no other, for what the audio thread finds out.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

/// The host's function.
type Call = Arc<dyn Fn() + Send + Sync>;

/// Asks a host to activate the plugin again.
#[derive(Default)]
pub struct Restart {
    /// Not for the audio thread.
    call: Mutex<Option<Call>>,
    due: AtomicBool,
}

impl Restart {
    /// Connects the host, or disconnects it with `None`.
    pub fn connect(&self, call: Option<Call>) {
        *self.call.lock().unwrap_or_else(PoisonError::into_inner) = call;
    }

    /// The host is to be asked. On any thread.
    pub fn request(&self) {
        self.due.store(true, Ordering::Relaxed);
    }

    /// Asks the host if that is to be done. On the host's thread only.
    pub fn run(&self) {
        if self.due.swap(false, Ordering::Relaxed) {
            // The host may connect another function meanwhile.
            let call = self.call.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(call) = call {
                call();
            }
        }
    }
}
