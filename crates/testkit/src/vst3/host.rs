//! Object of a host that the plugin calls: component handler, frame around the editor, and run loop.

use std::{
    mem::take,
    sync::{Mutex, MutexGuard, PoisonError},
    thread::{self, ThreadId},
};
use vst3::{
    Class, ComPtr, ComRef,
    Steinberg::{
        FIDString, IPlugFrame, IPlugFrameTrait, IPlugView,
        Linux::{
            FileDescriptor, IEventHandler, IEventHandlerTrait, IRunLoop, IRunLoopTrait,
            ITimerHandler, ITimerHandlerTrait, TimerInterval,
        },
        TBool, ViewRect,
        Vst::{
            IComponentHandler, IComponentHandler2, IComponentHandler2Trait, IComponentHandlerTrait,
            ParamID, ParamValue, RestartFlags_,
        },
        int32, kResultFalse, kResultOk, tresult,
    },
};

/// Object of a host, with or without a run loop for the main thread. It records the plugin's calls and their threads.
#[derive(Default)]
pub struct Host<const LOOP: bool> {
    restarts: Mutex<Vec<(int32, ThreadId)>>,
    dirty: Mutex<Vec<ThreadId>>,
    timers: Mutex<Vec<ComPtr<ITimerHandler>>>,
    files: Mutex<Vec<(ComPtr<IEventHandler>, FileDescriptor)>>,
    on_call: Option<Box<dyn Fn()>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<const LOOP: bool> Host<LOOP> {
    /// Creates a host that runs `call_back` when the plugin reports a changed state, requests a restart or registers a timer, and
    /// refuses timers.
    pub fn calling_back(call_back: impl Fn() + 'static) -> Self {
        Self { on_call: Some(Box::new(call_back)), ..Self::default() }
    }

    /// Returns the number of latency changes reported since the last call. Panics at other reports, and at other threads.
    pub fn latency_changes(&self) -> usize {
        #[allow(clippy::unnecessary_cast, reason = "its type depends on the system")]
        let flags = RestartFlags_::kLatencyChanged as int32;
        let restarts = take(&mut *locked(&self.restarts));
        assert!(restarts.iter().all(|restart| *restart == (flags, thread::current().id())));
        restarts.len()
    }

    /// Returns the number of restarts that the plugin has requested, on any thread.
    pub fn restarts(&self) -> usize {
        locked(&self.restarts).len()
    }

    /// Returns the threads on which the plugin has reported a changed state, one entry for each report.
    pub fn dirty(&self) -> Vec<ThreadId> {
        locked(&self.dirty).clone()
    }

    /// Returns the number of timers in the run loop.
    pub fn timers(&self) -> usize {
        locked(&self.timers).len()
    }

    /// Turns the run loop once: calls all timers and file handlers. A handler checks by itself whether there is data to read.
    pub fn idle(&self) {
        let timers = locked(&self.timers).clone();
        // SAFETY: the plugin has registered the timer, and this is the main thread.
        timers.iter().for_each(|timer| unsafe { timer.onTimer() });
        let files = locked(&self.files).clone();
        // SAFETY: as above; the file belongs to the handler.
        files.iter().for_each(|(handler, file)| unsafe { handler.onFDIsSet(*file) });
    }

    fn call_back(&self) {
        self.on_call.iter().for_each(|call_back| call_back());
    }
}

impl Class for Host<false> {
    type Interfaces = (IComponentHandler, IComponentHandler2, IPlugFrame);
}

impl Class for Host<true> {
    type Interfaces = (IComponentHandler, IComponentHandler2, IPlugFrame, IRunLoop);
}

impl<const LOOP: bool> IComponentHandlerTrait for Host<LOOP> {
    unsafe fn beginEdit(&self, _: ParamID) -> tresult {
        kResultOk
    }

    unsafe fn performEdit(&self, _: ParamID, _: ParamValue) -> tresult {
        kResultOk
    }

    unsafe fn endEdit(&self, _: ParamID) -> tresult {
        kResultOk
    }

    unsafe fn restartComponent(&self, flags: int32) -> tresult {
        locked(&self.restarts).push((flags, thread::current().id()));
        self.call_back();
        kResultOk
    }
}

impl<const LOOP: bool> IComponentHandler2Trait for Host<LOOP> {
    unsafe fn setDirty(&self, state: TBool) -> tresult {
        assert_eq!(state, 1);
        locked(&self.dirty).push(thread::current().id());
        self.call_back();
        kResultOk
    }

    unsafe fn requestOpenEditor(&self, _: FIDString) -> tresult {
        kResultOk
    }

    unsafe fn startGroupEdit(&self) -> tresult {
        kResultOk
    }

    unsafe fn finishGroupEdit(&self) -> tresult {
        kResultOk
    }
}

impl<const LOOP: bool> IPlugFrameTrait for Host<LOOP> {
    unsafe fn resizeView(&self, _: *mut IPlugView, _: *mut ViewRect) -> tresult {
        kResultFalse
    }
}

impl IRunLoopTrait for Host<true> {
    unsafe fn registerEventHandler(
        &self,
        handler: *mut IEventHandler,
        file: FileDescriptor,
    ) -> tresult {
        // SAFETY: VST3 promises a handler or null.
        let Some(handler) = (unsafe { ComRef::from_raw(handler) }) else { return kResultFalse };
        locked(&self.files).push((handler.to_com_ptr(), file));
        kResultOk
    }

    unsafe fn unregisterEventHandler(&self, handler: *mut IEventHandler) -> tresult {
        locked(&self.files).retain(|(own, _)| own.as_ptr() != handler);
        kResultOk
    }

    unsafe fn registerTimer(&self, timer: *mut ITimerHandler, _: TimerInterval) -> tresult {
        self.call_back();
        if self.on_call.is_some() {
            return kResultFalse;
        }
        // SAFETY: VST3 promises a handler or null.
        let Some(timer) = (unsafe { ComRef::from_raw(timer) }) else { return kResultFalse };
        locked(&self.timers).push(timer.to_com_ptr());
        kResultOk
    }

    unsafe fn unregisterTimer(&self, timer: *mut ITimerHandler) -> tresult {
        locked(&self.timers).retain(|own| own.as_ptr() != timer);
        kResultOk
    }
}
