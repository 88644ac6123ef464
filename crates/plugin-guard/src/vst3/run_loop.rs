//! Run loop of a VST3 host on Linux, where the system provides none. nice-plug 0.4.2 uses it only while the editor is open, and
//! otherwise calls the host on a thread of its own, which VST3 forbids.

use super::HostCalls;
use crate::{Job, host_link::lock};
use nice_plug::wrapper::vst3::vst3::{
    Class, ComPtr, ComRef, ComWrapper,
    Steinberg::{
        FUnknown,
        Linux::{IRunLoop, IRunLoopTrait, ITimerHandler, ITimerHandlerTrait, TimerInterval},
        kResultOk,
    },
};
use std::sync::{Arc, Mutex, atomic::Ordering};

/// Interval of the timer in milliseconds. Waking the run loop at once would take a system call on
/// the audio thread.
const INTERVAL: TimerInterval = 50;

/// Handler of the timer: makes the requested calls.
struct Timer(Arc<HostCalls>);

impl Class for Timer {
    type Interfaces = (ITimerHandler,);
}

impl ITimerHandlerTrait for Timer {
    unsafe fn onTimer(&self) {
        self.0.run();
    }
}

/// Run loop of a host, handler of the timer in the loop, and the calls that the timer makes.
type Registered = (ComPtr<IRunLoop>, ComPtr<ITimerHandler>, Arc<HostCalls>);

/// A timer in the host's run loop, if there is one.
#[derive(Default)]
pub struct RunLoop {
    /// Not for the audio thread.
    timer: Mutex<Option<Registered>>,
}

impl RunLoop {
    /// Registers a timer that runs `calls` in the run loop of `object`, if there is one and no timer is registered yet. Returns
    /// whether it has done so.
    ///
    /// # Safety
    /// Must be called on the host's main thread, with an object of the host or null.
    pub unsafe fn find(&self, object: *mut FUnknown, calls: &Arc<HostCalls>) -> bool {
        if lock(&self.timer).is_some() {
            return false;
        }
        // SAFETY: guaranteed by the caller.
        let object = unsafe { ComRef::from_raw(object) };
        let Some(run_loop) = object.and_then(|object| object.cast::<IRunLoop>()) else {
            return false;
        };
        let handler = ComWrapper::new(Timer(calls.clone())).to_com_ptr::<ITimerHandler>();
        let Some(handler) = handler else { return false };
        // SAFETY: a counted reference keeps the handler until it is unregistered.
        let registered = unsafe { run_loop.registerTimer(handler.as_ptr(), INTERVAL) } == kResultOk;
        if registered {
            calls.looped.store(true, Ordering::Relaxed);
            *lock(&self.timer) = Some((run_loop, handler, calls.clone()));
        }
        registered
    }

    /// Unregisters the timer. Must be called on the host's main thread.
    pub fn leave(&self) {
        let timer = lock(&self.timer).take();
        if let Some((run_loop, handler, calls)) = timer {
            calls.looped.store(false, Ordering::Relaxed);
            // SAFETY: both are counted references. A refusal by the host has no remedy.
            let _ = unsafe { run_loop.unregisterTimer(handler.as_ptr()) };
        }
    }
}

impl Drop for RunLoop {
    fn drop(&mut self) {
        self.leave();
    }
}
