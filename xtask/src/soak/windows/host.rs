//! What the host shows the plugin: a run loop, a frame around the editor, and the new values of parameters.

use super::*;

/// The main thread's loop of the host: what is called when a file has something to read.
#[derive(Default)]
pub(super) struct RunLoop(pub(super) Mutex<Vec<(ComPtr<IEventHandler>, FileDescriptor)>>);

impl RunLoop {
    /// Calls all handlers, which find out themselves whether there is something.
    pub(super) fn turn(&self) {
        let handlers = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (handler, file) in handlers {
            // SAFETY: this is the main thread, and the file is the handler's own.
            unsafe { handler.onFDIsSet(file) };
        }
    }
}

/// The host's frame around the editor, with a run loop or without.
pub(super) struct Frame<const LOOP: bool>(pub(super) RunLoop);

impl Class for Frame<false> {
    type Interfaces = (IPlugFrame,);
}

impl Class for Frame<true> {
    type Interfaces = (IPlugFrame, IRunLoop);
}

impl<const LOOP: bool> IPlugFrameTrait for Frame<LOOP> {
    unsafe fn resizeView(&self, _: *mut IPlugView, _: *mut ViewRect) -> tresult {
        kResultFalse
    }
}

impl IRunLoopTrait for Frame<true> {
    unsafe fn registerEventHandler(
        &self,
        handler: *mut IEventHandler,
        file: FileDescriptor,
    ) -> tresult {
        // SAFETY: VST3 promises a handler or null.
        let Some(handler) = (unsafe { ComRef::from_raw(handler) }) else { return kResultFalse };
        let mut handlers = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        handlers.push((handler.to_com_ptr(), file));
        kResultOk
    }

    unsafe fn unregisterEventHandler(&self, handler: *mut IEventHandler) -> tresult {
        let mut handlers = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        handlers.retain(|(own, _)| own.as_ptr() != handler);
        kResultOk
    }

    unsafe fn registerTimer(&self, _: *mut ITimerHandler, _: TimerInterval) -> tresult {
        kResultFalse
    }

    unsafe fn unregisterTimer(&self, _: *mut ITimerHandler) -> tresult {
        kResultFalse
    }
}

/// The new values of a parameter in a block.
pub(super) struct Queue(pub(super) ParamID, pub(super) Vec<(int32, ParamValue)>);

impl Class for Queue {
    type Interfaces = (IParamValueQueue,);
}

impl IParamValueQueueTrait for Queue {
    unsafe fn getParameterId(&self) -> ParamID {
        self.0
    }

    unsafe fn getPointCount(&self) -> int32 {
        self.1.len() as int32
    }

    unsafe fn getPoint(&self, index: int32, offset: *mut int32, value: *mut ParamValue) -> tresult {
        let Some(point) = self.1.get(index as usize) else { return kResultFalse };
        // SAFETY: VST3 promises that there is room for both.
        unsafe { (*offset, *value) = *point };
        kResultOk
    }

    unsafe fn addPoint(&self, _: int32, _: ParamValue, _: *mut int32) -> tresult {
        kResultFalse
    }
}

/// The new values of all parameters in a block.
pub(super) struct Changes(pub(super) Vec<ComPtr<IParamValueQueue>>);

impl Class for Changes {
    type Interfaces = (IParameterChanges,);
}

impl IParameterChangesTrait for Changes {
    unsafe fn getParameterCount(&self) -> int32 {
        self.0.len() as int32
    }

    unsafe fn getParameterData(&self, index: int32) -> *mut IParamValueQueue {
        self.0.get(index as usize).map_or(null_mut(), ComPtr::as_ptr)
    }

    unsafe fn addParameterData(&self, _: *const ParamID, _: *mut int32) -> *mut IParamValueQueue {
        null_mut()
    }
}
