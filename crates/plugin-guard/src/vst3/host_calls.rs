//! Calls to a VST3 host, which any thread may request. VST3 allows them on the host's main thread only.
//!
//! On Linux, the host provides the run loop. nice-plug 0.4.2 uses it only while the editor is open, and otherwise calls the host on
//! a thread of its own, which VST3 forbids. Here, a timer in the run loop makes the calls.

use crate::{Job, host_link::lock};
use nice_plug::wrapper::vst3::vst3::{
    Class, ComPtr, ComRef, ComWrapper,
    Steinberg::{
        FUnknown,
        Linux::{IRunLoop, IRunLoopTrait, ITimerHandler, ITimerHandlerTrait, TimerInterval},
        kResultOk,
    },
};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

type Function = Arc<dyn Fn() + Send + Sync>;

/// Call that must be made on the host's main thread.
#[derive(Debug, Clone, Copy)]
pub enum HostCall {
    /// Asks the host to activate the plugin again.
    Restart,
    /// Loads the program that the host has chosen in `process`.
    LoadProgram,
    /// Serves the editor's requests. Comes last, as the other calls may add requests.
    Serve,
}

impl HostCall {
    const ALL: [Self; 3] = [Self::Restart, Self::LoadProgram, Self::Serve];
}

/// Requested calls, and the functions that make them.
#[derive(Default)]
pub struct HostCalls {
    /// Function that makes each [`HostCall`], if connected. The audio thread must not lock them.
    functions: Mutex<[Option<Function>; HostCall::ALL.len()]>,
    /// Whether each call has been requested.
    due: [AtomicBool; HostCall::ALL.len()],
    /// Timer in the host's run loop that calls [`HostCalls::run`]; `None` while none is registered. The audio thread must not
    /// lock it.
    timer: Mutex<Option<(ComPtr<IRunLoop>, ComPtr<ITimerHandler>)>>,
    /// Whether there is a `timer`.
    pub has_timer: AtomicBool,
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

    /// Withdraws the request of a call. Returns whether there was one.
    pub fn withdraw(&self, call: HostCall) -> bool {
        self.due[call as usize].swap(false, Ordering::Relaxed)
    }

    /// Makes a call if it has been requested. Returns whether it has. Must be called on the host's main thread.
    pub fn make(&self, call: HostCall) -> bool {
        let requested = self.withdraw(call);
        if requested {
            // Cloned, so that no lock is held: during the call, the host may connect another function.
            let function = lock(&self.functions)[call as usize].clone();
            function.iter().for_each(|function| function());
        }
        requested
    }

    /// Makes the requested calls, unless a timer makes them. For the editor's thread: without a timer, this is the host's main
    /// thread, or else the main thread cannot be reached.
    pub fn run_without_timer(&self) {
        if !self.has_timer.load(Ordering::Relaxed) {
            self.run();
        }
    }

    /// Registers a timer in the run loop of `object`. Does nothing if `object` has no run loop, or a timer is already registered.
    /// Returns whether this call registered a timer. The timer keeps a reference to `self` until [`HostCalls::unregister`].
    ///
    /// # Safety
    /// Must be called on the host's main thread, with an object of the host or null.
    pub unsafe fn register(self: &Arc<Self>, object: *mut FUnknown) -> bool {
        if lock(&self.timer).is_some() {
            return false;
        }
        // SAFETY: guaranteed by the caller.
        let object = unsafe { ComRef::from_raw(object) };
        let Some(run_loop) = object.and_then(|object| object.cast::<IRunLoop>()) else {
            return false;
        };
        let handler = ComWrapper::new(Timer(self.clone())).to_com_ptr::<ITimerHandler>();
        let Some(handler) = handler else { return false };
        // SAFETY: a counted reference keeps the handler until it is unregistered.
        let registered = unsafe { run_loop.registerTimer(handler.as_ptr(), INTERVAL) } == kResultOk;
        if registered {
            self.has_timer.store(true, Ordering::Relaxed);
            *lock(&self.timer) = Some((run_loop, handler));
        }
        registered
    }

    /// Unregisters the timer. Must be called on the host's main thread.
    pub fn unregister(&self) {
        let timer = lock(&self.timer).take();
        if let Some((run_loop, handler)) = timer {
            self.has_timer.store(false, Ordering::Relaxed);
            // SAFETY: both are counted references. A refusal by the host has no remedy.
            let _ = unsafe { run_loop.unregisterTimer(handler.as_ptr()) };
        }
    }
}

impl Job for HostCalls {
    /// Makes the requested calls. Must be called on the host's main thread.
    fn run(&self) {
        HostCall::ALL.into_iter().for_each(|call| _ = self.make(call));
    }
}

/// Interval of the timer in milliseconds. Waking the run loop at once would take a system call on the audio thread.
const INTERVAL: TimerInterval = 50;

struct Timer(Arc<HostCalls>);

impl Class for Timer {
    type Interfaces = (ITimerHandler,);
}

impl ITimerHandlerTrait for Timer {
    unsafe fn onTimer(&self) {
        self.0.run();
    }
}
