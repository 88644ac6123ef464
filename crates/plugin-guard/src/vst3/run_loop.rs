//! The run loop that a host on Linux has in place of a system's. nice-plug 0.4.2 knows it while the editor is open only,
//! and otherwise calls the host on a thread of its own, which VST3 forbids.

use super::Restart;
use nice_plug::wrapper::vst3::vst3::{
    Class, ComPtr, ComRef, ComWrapper,
    Steinberg::{
        FUnknown,
        Linux::{IRunLoop, IRunLoopTrait, ITimerHandler, ITimerHandlerTrait, TimerInterval},
        kResultOk,
    },
};
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

/// Milliseconds between two looks at what is to be done. To wake the run loop at once would take a call of the system on
/// the audio thread.
const INTERVAL: TimerInterval = 50;

/// What the run loop calls.
struct Timer(Arc<Restart>);

impl Class for Timer {
    type Interfaces = (ITimerHandler,);
}

impl ITimerHandlerTrait for Timer {
    unsafe fn onTimer(&self) {
        self.0.run();
    }
}

/// A timer in the host's run loop, if there is one.
#[derive(Default)]
pub struct RunLoop {
    /// Not for the audio thread.
    timer: Mutex<Option<(ComPtr<IRunLoop>, ComPtr<ITimerHandler>)>>,
    found: AtomicBool,
}

impl RunLoop {
    fn timer(&self) -> MutexGuard<'_, Option<(ComPtr<IRunLoop>, ComPtr<ITimerHandler>)>> {
        self.timer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the host calls [`Restart::run`] from time to time.
    pub fn is_found(&self) -> bool {
        self.found.load(Ordering::Relaxed)
    }

    /// Looks for a run loop in one of the host's objects, and has it run what `restart` wants.
    ///
    /// # Safety
    /// On the host's thread, with an object of the host or null.
    pub unsafe fn find(&self, object: *mut FUnknown, restart: &Arc<Restart>) {
        let mut timer = self.timer();
        if timer.is_some() {
            return;
        }
        // SAFETY: as the caller says.
        let object = unsafe { ComRef::from_raw(object) };
        let Some(run_loop) = object.and_then(|object| object.cast::<IRunLoop>()) else { return };
        let handler = ComWrapper::new(Timer(restart.clone())).to_com_ptr::<ITimerHandler>();
        let Some(handler) = handler else { return };
        // SAFETY: the handler is counted until it is unregistered.
        if unsafe { run_loop.registerTimer(handler.as_ptr(), INTERVAL) } == kResultOk {
            self.found.store(true, Ordering::Relaxed);
            *timer = Some((run_loop, handler));
        }
    }

    /// Lets go of the run loop, on the host's thread.
    pub fn leave(&self) {
        self.found.store(false, Ordering::Relaxed);
        let timer = self.timer().take();
        if let Some((run_loop, handler)) = timer {
            // SAFETY: both are counted. There is nothing to do about a host that refuses.
            let _ = unsafe { run_loop.unregisterTimer(handler.as_ptr()) };
        }
    }
}

impl Drop for RunLoop {
    fn drop(&mut self) {
        self.leave();
    }
}
