//! The run loop that a host on Linux has in place of a system's. nice-plug 0.4.2 knows it while the editor is open only,
//! and otherwise calls the host on a thread of its own, which VST3 forbids.

use super::HostCalls;
use crate::Job;
use nice_plug::wrapper::vst3::vst3::{
    Class, ComPtr, ComRef, ComWrapper,
    Steinberg::{
        FUnknown,
        Linux::{IRunLoop, IRunLoopTrait, ITimerHandler, ITimerHandlerTrait, TimerInterval},
        kResultOk,
    },
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering};

/// Interval of the timer in milliseconds. Waking the run loop at once would take a system call on
/// the audio thread.
const INTERVAL: TimerInterval = 50;

/// Handler of the timer.
struct Timer(Arc<HostCalls>);

impl Class for Timer {
    type Interfaces = (ITimerHandler,);
}

impl ITimerHandlerTrait for Timer {
    unsafe fn onTimer(&self) {
        self.0.run();
    }
}

/// Run loop of a host, the timer in it, and its handler.
type Registered = (ComPtr<IRunLoop>, ComPtr<ITimerHandler>, Arc<HostCalls>);

/// A timer in the host's run loop, if there is one.
#[derive(Default)]
pub struct RunLoop {
    /// Not for the audio thread.
    timer: Mutex<Option<Registered>>,
}

impl RunLoop {
    /// Looks for a run loop in one of the host's objects, and lets it run `calls`.
    ///
    /// # Safety
    /// On the host's thread, with an object of the host or null.
    pub unsafe fn find(&self, object: *mut FUnknown, calls: &Arc<HostCalls>) {
        if self.timer().is_some() {
            return;
        }
        // SAFETY: by the caller.
        let object = unsafe { ComRef::from_raw(object) };
        let Some(run_loop) = object.and_then(|object| object.cast::<IRunLoop>()) else { return };
        let handler = ComWrapper::new(Timer(calls.clone())).to_com_ptr::<ITimerHandler>();
        let Some(handler) = handler else { return };
        // SAFETY: the handler is counted until it is unregistered.
        if unsafe { run_loop.registerTimer(handler.as_ptr(), INTERVAL) } == kResultOk {
            calls.looped.store(true, Ordering::Relaxed);
            // The host may have called back, and another one be registered.
            let before = self.timer().replace((run_loop, handler, calls.clone()));
            before.into_iter().for_each(unregister);
        }
    }

    fn timer(&self) -> MutexGuard<'_, Option<Registered>> {
        self.timer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Unregisters the timer, on the host's thread.
    pub fn leave(&self) {
        let timer = self.timer().take();
        if let Some(registered) = timer {
            registered.2.looped.store(false, Ordering::Relaxed);
            unregister(registered);
        }
    }
}

/// Removes the timer from the run loop, on the host's thread.
fn unregister((run_loop, handler, _): Registered) {
    // SAFETY: both are counted. There is nothing to do about a host that refuses.
    let _ = unsafe { run_loop.unregisterTimer(handler.as_ptr()) };
}

impl Drop for RunLoop {
    fn drop(&mut self) {
        self.leave();
    }
}
