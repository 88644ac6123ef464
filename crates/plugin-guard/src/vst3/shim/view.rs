//! Two wrappers: the host gets one around the editor's view, and nice-plug gets one around the host's frame.
//!
//! nice-plug 0.4.2 registers a handler (`RunLoopEventHandler`) in the frame's run loop. The handler holds a reference to itself,
//! so it leaks, with its two sockets. Here, the frame releases that reference after the host has released the handler.
//!
//! The host is asked for a new size before the window is resized: GtkSocket, for instance, refuses windows that resize themselves.

use super::super::host_calls::HostCalls;
use crate::{HostLink, host_link::lock};
use nice_plug::wrapper::vst3::vst3::{
    Class, ComPtr, ComRef, ComWrapper,
    Steinberg::{IPlugViewContentScaleSupport_::ScaleFactor, Linux::*, *},
};
use std::{
    ffi::c_void,
    mem, ptr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicPtr, Ordering},
    },
    thread::{self, ThreadId},
};

/// State that the views of an instance share.
pub struct Views {
    /// Site of the view that got a frame last; `None` once that view has lost it.
    site: Mutex<Option<Arc<Site>>>,
    /// Whether the host has set a size since the last request for one.
    sized: AtomicBool,
    /// Thread on which the host has opened the window.
    thread: Mutex<Option<ThreadId>>,
    link: HostLink,
    pub calls: Arc<HostCalls>,
}

impl Views {
    pub fn new(link: HostLink) -> Self {
        Self {
            site: Mutex::default(),
            sized: AtomicBool::new(false),
            thread: Mutex::default(),
            link,
            calls: Arc::default(),
        }
    }

    /// Returns the host's pointer to the view that has a frame; null if none has.
    pub fn shown(&self) -> *mut IPlugView {
        lock(&self.site).as_ref().map_or(ptr::null_mut(), |site| site.view.load(Ordering::Relaxed))
    }

    /// Asks the host for a window of this width and height in pixels. Resizes the view if the host grants a size without calling
    /// `onSize`. Returns whether it grants one; false on another thread than the window's (Carla), where nice-plug would panic.
    ///
    /// # Safety
    /// Must be called in the host's run loop, or else on its main thread.
    pub unsafe fn resize(&self, [width, height]: [u32; 2]) -> bool {
        if *lock(&self.thread) != Some(thread::current().id()) {
            return false;
        }
        let Some(site) = lock(&self.site).clone() else { return false };
        let mut size = ViewRect { left: 0, top: 0, right: width as i32, bottom: height as i32 };
        self.sized.store(false, Ordering::Relaxed);
        // SAFETY: a view with a frame exists, and the caller is on the main thread.
        unsafe {
            let view = site.view.load(Ordering::Relaxed);
            let granted = site.host.resizeView(view, &mut size) == kResultOk;
            // VST3 asks hosts to call `onSize`, but not every host does.
            if granted && !self.sized.load(Ordering::Relaxed) {
                site.inner.onSize(&mut size);
            }
            granted
        }
    }
}

/// View in a frame of the host, and the event handlers that nice-plug has registered there.
struct Site {
    host: ComPtr<IPlugFrame>,
    run_loop: Option<ComPtr<IRunLoop>>,
    handlers: Mutex<Vec<ComPtr<IEventHandler>>>,
    inner: ComPtr<IPlugView>,
    /// The host's pointer to the view.
    view: AtomicPtr<IPlugView>,
    /// Whether the timer of [`HostCalls`] is registered with this frame.
    has_timer: bool,
}

impl Site {
    /// Unregisters nice-plug's event handlers, and releases the reference that each of them leaks.
    ///
    /// # Safety
    /// Must be called on the host's main thread, after nice-plug has released the frame.
    unsafe fn leave(&self) {
        let Some(run_loop) = &self.run_loop else { return };
        for handler in mem::take(&mut *lock(&self.handlers)) {
            // SAFETY: the handler is counted, and nice-plug has leaked one reference, which nothing else releases.
            unsafe {
                run_loop.unregisterEventHandler(handler.as_ptr());
                drop(ComPtr::from_raw(handler.as_ptr()));
            }
        }
    }
}

/// Frame for nice-plug. `LOOP` is whether the host's frame has a run loop.
struct Frame<const LOOP: bool>(Arc<Site>);

impl Class for Frame<false> {
    type Interfaces = (IPlugFrame,);
}

impl Class for Frame<true> {
    type Interfaces = (IPlugFrame, IRunLoop);
}

impl<const LOOP: bool> IPlugFrameTrait for Frame<LOOP> {
    unsafe fn resizeView(&self, _: *mut IPlugView, size: *mut ViewRect) -> tresult {
        // SAFETY: the view exists while nice-plug has its frame, and the size is nice-plug's.
        unsafe { self.0.host.resizeView(self.0.view.load(Ordering::Relaxed), size) }
    }
}

impl IRunLoopTrait for Frame<true> {
    unsafe fn registerEventHandler(
        &self,
        handler: *mut IEventHandler,
        file: FileDescriptor,
    ) -> tresult {
        // SAFETY: the handler is nice-plug's.
        let counted = unsafe { ComRef::from_raw(handler) }.map(|handler| handler.to_com_ptr());
        let (Some(counted), Some(run_loop)) = (counted, &self.0.run_loop) else {
            return kResultFalse;
        };
        // SAFETY: a counted reference keeps the handler until it is unregistered.
        let result = unsafe { run_loop.registerEventHandler(handler, file) };
        if result == kResultOk {
            lock(&self.0.handlers).push(counted);
        }
        result
    }

    /// Does nothing: nice-plug calls this while it releases a handler, which [`Site::leave`] has already unregistered.
    unsafe fn unregisterEventHandler(&self, _: *mut IEventHandler) -> tresult {
        kResultOk
    }

    unsafe fn registerTimer(&self, _: *mut ITimerHandler, _: TimerInterval) -> tresult {
        kResultFalse
    }

    unsafe fn unregisterTimer(&self, _: *mut ITimerHandler) -> tresult {
        kResultFalse
    }
}

pub struct View {
    inner: ComPtr<IPlugView>,
    scale: ComPtr<IPlugViewContentScaleSupport>,
    views: Arc<Views>,
    /// Site of this view; `None` without a frame.
    site: Mutex<Option<Arc<Site>>>,
    is_attached: AtomicBool,
    /// The host's pointer to this view.
    host_pointer: AtomicPtr<IPlugView>,
}

impl Class for View {
    type Interfaces = (IPlugView, IPlugViewContentScaleSupport);
}

impl View {
    /// Wraps nice-plug's view `inner`. Returns a reference to the wrapper, which the caller must release; null without `inner`.
    pub fn create(inner: Option<ComPtr<IPlugView>>, views: &Arc<Views>) -> *mut IPlugView {
        let view = inner.and_then(|inner| {
            Some(ComWrapper::new(Self {
                scale: inner.cast()?,
                inner,
                views: views.clone(),
                site: Mutex::default(),
                is_attached: AtomicBool::new(false),
                host_pointer: AtomicPtr::default(),
            }))
        });
        let pointer = view.as_ref().and_then(ComWrapper::to_com_ptr::<IPlugView>);
        let pointer = pointer.map_or(ptr::null_mut(), ComPtr::into_raw);
        view.iter().for_each(|view| view.host_pointer.store(pointer, Ordering::Relaxed));
        pointer
    }

    /// Creates the site of this view in the frame `host`. Registers the timer of [`HostCalls`] in the run loop of the frame, unless
    /// a timer is registered already.
    ///
    /// # Safety
    /// Must be called on the host's main thread.
    unsafe fn place(&self, host: ComRef<IPlugFrame>) -> Site {
        Site {
            host: host.to_com_ptr(),
            run_loop: host.cast(),
            handlers: Mutex::default(),
            inner: self.inner.clone(),
            view: AtomicPtr::new(self.host_pointer.load(Ordering::Relaxed)),
            // SAFETY: guaranteed by the caller.
            has_timer: unsafe { self.views.calls.register(host.as_ptr().cast()) },
        }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // A host may release a view that is still open.
        // SAFETY: VST3 has hosts release views on the main thread.
        unsafe {
            if self.is_attached.load(Ordering::Relaxed) {
                self.removed();
            }
            self.setFrame(ptr::null_mut());
        }
    }
}

impl IPlugViewTrait for View {
    pass_on! { inner:
        fn isPlatformTypeSupported(kind: FIDString) -> tresult;
        fn onWheel(distance: f32) -> tresult;
        fn onKeyDown(key: char16, code: int16, modifiers: int16) -> tresult;
        fn onKeyUp(key: char16, code: int16, modifiers: int16) -> tresult;
        fn getSize(size: *mut ViewRect) -> tresult;
        fn onFocus(state: TBool) -> tresult;
        fn canResize() -> tresult;
        fn checkSizeConstraint(size: *mut ViewRect) -> tresult;
    }

    unsafe fn attached(&self, parent: *mut c_void, kind: FIDString) -> tresult {
        // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
        let result = unsafe { self.inner.attached(parent, kind) };
        if result == kResultOk {
            self.is_attached.store(true, Ordering::Relaxed);
            *lock(&self.views.thread) = Some(thread::current().id());
        }
        result
    }

    unsafe fn removed(&self) -> tresult {
        self.is_attached.store(false, Ordering::Relaxed);
        // SAFETY: there are no arguments.
        unsafe { self.inner.removed() }
    }

    unsafe fn onSize(&self, size: *mut ViewRect) -> tresult {
        self.views.sized.store(true, Ordering::Relaxed);
        // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
        unsafe { self.inner.onSize(size) }
    }

    unsafe fn setFrame(&self, frame: *mut IPlugFrame) -> tresult {
        let views = &*self.views;
        let before = lock(&self.site).take();
        if before.as_ref().is_some_and(|before| before.has_timer) {
            views.calls.unregister();
        }
        // SAFETY: VST3 promises a frame or null, and the host calls this on its main thread.
        let site = unsafe { ComRef::from_raw(frame).map(|host| Arc::new(self.place(host))) };
        lock(&self.site).clone_from(&site);
        // If another view has got a frame since, its site stays.
        let shown = |shown: &Arc<Site>| before.as_ref().is_some_and(|old| Arc::ptr_eq(old, shown));
        if site.is_some() || lock(&views.site).as_ref().is_some_and(shown) {
            let has_timer = views.calls.has_timer.load(Ordering::Relaxed);
            views.link.set_resizable(has_timer && site.is_some());
            lock(&views.site).clone_from(&site);
        }
        let wrapper = site.and_then(|site| match site.run_loop {
            Some(_) => ComWrapper::new(Frame::<true>(site)).to_com_ptr::<IPlugFrame>(),
            None => ComWrapper::new(Frame::<false>(site)).to_com_ptr(),
        });
        // SAFETY: the frame is counted or null, and nice-plug releases the previous frame.
        unsafe {
            let wrapper = wrapper.as_ref().map_or(ptr::null_mut(), ComPtr::as_ptr);
            let result = self.inner.setFrame(wrapper);
            before.iter().for_each(|before| before.leave());
            result
        }
    }
}

impl IPlugViewContentScaleSupportTrait for View {
    pass_on! { scale:
        fn setContentScaleFactor(factor: ScaleFactor) -> tresult;
    }
}
