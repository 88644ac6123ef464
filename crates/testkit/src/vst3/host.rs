//! Host object that the plugin calls: component handler, plug frame, context menus and run loop.

use crate::locked;
use std::{
    mem::take,
    sync::{Arc, Mutex},
    thread::{self, ThreadId},
};
use vst3::{
    Class, ComPtr, ComRef, ComWrapper,
    Steinberg::{Linux::*, Vst::*, *},
};

/// Host object that records the plugin's calls and their threads. `LOOP` says whether it offers a run loop.
#[derive(Default)]
pub struct Host<const LOOP: bool> {
    /// Flags and thread of each call of `restartComponent`.
    restarts: Mutex<Vec<(int32, ThreadId)>>,
    /// Thread of each report of a changed state.
    dirty: Mutex<Vec<ThreadId>>,
    timers: Mutex<Vec<ComPtr<ITimerHandler>>>,
    files: Mutex<Vec<(ComPtr<IEventHandler>, FileDescriptor)>>,
    menu: Arc<Mutex<LastMenu>>,
    /// Window sizes that the plugin has requested: width and height in pixels.
    sizes: Mutex<Vec<[int32; 2]>>,
    /// Function that maps a requested window size to the granted one. If it is `None`, all requests are refused.
    pub resize: Option<fn([int32; 2]) -> [int32; 2]>,
    /// Function of [`Host::calling_back`].
    on_call: Option<Box<dyn Fn()>>,
}

/// Context menu of the host: the one that the plugin has created last.
#[derive(Default)]
struct LastMenu {
    parameter: ParamID,
    /// The plugin's entries: name, tag and target.
    entries: Vec<(String, int32, ComPtr<IContextMenuTarget>)>,
    /// Position at which the menu has popped up; `None` before.
    position: Option<[UCoord; 2]>,
}

struct Menu(Arc<Mutex<LastMenu>>);

impl Class for Menu {
    type Interfaces = (IContextMenu,);
}

impl IContextMenuTrait for Menu {
    unsafe fn getItemCount(&self) -> int32 {
        locked(&self.0).entries.len() as int32
    }

    unsafe fn getItem(
        &self,
        _: int32,
        _: *mut IContextMenuItem,
        _: *mut *mut IContextMenuTarget,
    ) -> tresult {
        kResultFalse
    }

    unsafe fn addItem(
        &self,
        item: *const IContextMenuItem,
        target: *mut IContextMenuTarget,
    ) -> tresult {
        // SAFETY: VST3 promises valid pointers to an item and to its receiver.
        let (item, target) = unsafe { (&*item, ComRef::from_raw(target).expect("a receiver")) };
        let entry = (super::text(&item.name), item.tag, target.to_com_ptr());
        locked(&self.0).entries.push(entry);
        kResultOk
    }

    unsafe fn removeItem(&self, _: *const IContextMenuItem, _: *mut IContextMenuTarget) -> tresult {
        kResultFalse
    }

    unsafe fn popup(&self, x: UCoord, y: UCoord) -> tresult {
        locked(&self.0).position = Some([x, y]);
        kResultOk
    }
}

impl<const LOOP: bool> Host<LOOP> {
    /// Creates a host that refuses timers. It runs `call_back` whenever the plugin reports a changed state, requests a restart,
    /// or registers a timer.
    pub fn calling_back(call_back: impl Fn() + 'static) -> Self {
        Self { on_call: Some(Box::new(call_back)), ..Self::default() }
    }

    /// Returns the number of latency changes that the plugin has reported since the last call. Panics if it has reported
    /// something else, or from another thread than the current one.
    pub fn latency_changes(&self) -> usize {
        #[allow(clippy::unnecessary_cast, reason = "its type depends on the system")]
        let flags = RestartFlags_::kLatencyChanged as int32;
        let restarts = take(&mut *locked(&self.restarts));
        assert!(restarts.iter().all(|restart| *restart == (flags, thread::current().id())));
        restarts.len()
    }

    /// Returns the number of calls of `restartComponent` from any thread, since the last [`Host::latency_changes`].
    pub fn restarts(&self) -> usize {
        locked(&self.restarts).len()
    }

    /// Returns the thread of each report of a changed state.
    pub fn dirty(&self) -> Vec<ThreadId> {
        locked(&self.dirty).clone()
    }

    /// Returns the last context menu's parameter, position, and names of the plugin's entries. `None` if it has not popped up.
    pub fn menu(&self) -> Option<(ParamID, [int32; 2], Vec<String>)> {
        let menu = locked(&self.menu);
        let names = menu.entries.iter().map(|(name, ..)| name.clone()).collect();
        menu.position.map(|position| (menu.parameter, position, names))
    }

    /// Selects the entry `name` in the last context menu.
    pub fn choose(&self, name: &str) {
        let menu = locked(&self.menu);
        let (_, tag, target) = menu.entries.iter().find(|(entry, ..)| entry == name).expect(name);
        // SAFETY: the receiver lives on, because `target` holds a reference.
        assert_eq!(unsafe { target.executeMenuItem(*tag) }, kResultOk);
    }

    /// Returns the window sizes that the plugin has requested since the last call: width and height.
    pub fn sizes(&self) -> Vec<[int32; 2]> {
        take(&mut *locked(&self.sizes))
    }

    /// Returns the number of timers and file handlers in the run loop.
    pub fn handlers(&self) -> [usize; 2] {
        [self.timers(), locked(&self.files).len()]
    }

    /// Returns the number of timers in the run loop.
    pub fn timers(&self) -> usize {
        locked(&self.timers).len()
    }

    /// Runs one iteration of the run loop. It calls all timers, and all file handlers even if there is no data to read.
    pub fn idle(&self) {
        let timers = locked(&self.timers).clone();
        // SAFETY: the plugin has registered the timer, and this is the main thread.
        timers.iter().for_each(|timer| unsafe { timer.onTimer() });
        let files = locked(&self.files).clone();
        // SAFETY: as above; `file` is the one that the handler was registered with.
        files.iter().for_each(|(handler, file)| unsafe { handler.onFDIsSet(*file) });
    }

    fn call_back(&self) {
        self.on_call.iter().for_each(|call_back| call_back());
    }
}

impl Class for Host<false> {
    type Interfaces = (IComponentHandler, IComponentHandler2, IComponentHandler3, IPlugFrame);
}

impl Class for Host<true> {
    type Interfaces =
        (IComponentHandler, IComponentHandler2, IComponentHandler3, IPlugFrame, IRunLoop);
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

impl<const LOOP: bool> IComponentHandler3Trait for Host<LOOP> {
    unsafe fn createContextMenu(
        &self,
        _: *mut IPlugView,
        parameter: *const ParamID,
    ) -> *mut IContextMenu {
        // SAFETY: VST3 promises a parameter or null.
        let parameter = unsafe { parameter.as_ref() }.copied().unwrap_or_default();
        *locked(&self.menu) = LastMenu { parameter, ..LastMenu::default() };
        let menu = ComWrapper::new(Menu(self.menu.clone())).to_com_ptr::<IContextMenu>();
        menu.expect("a menu").into_raw()
    }
}

impl<const LOOP: bool> IPlugFrameTrait for Host<LOOP> {
    unsafe fn resizeView(&self, view: *mut IPlugView, size: *mut ViewRect) -> tresult {
        // SAFETY: VST3 promises a view and a size.
        let (view, size) = unsafe { (ComRef::from_raw(view).expect("a view"), &mut *size) };
        locked(&self.sizes).push([size.right, size.bottom]);
        let Some(resize) = self.resize else { return kResultFalse };
        [size.right, size.bottom] = resize([size.right, size.bottom]);
        // SAFETY: the size outlives the call.
        unsafe { view.onSize(size) }
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
        locked(&self.files).retain(|(registered, _)| registered.as_ptr() != handler);
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
        locked(&self.timers).retain(|registered| registered.as_ptr() != timer);
        kResultOk
    }
}
