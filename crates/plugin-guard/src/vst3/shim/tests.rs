//! What the shim passes on between a VST3 host and the editor.

use super::*;
use crate::{Track, construction, test_plugin::TestPlugin};
use nice_plug::wrapper::vst3::vst3::Steinberg::{
    Linux::{
        FileDescriptor, IEventHandler, IRunLoop, IRunLoopTrait, ITimerHandler, ITimerHandlerTrait,
        TimerInterval,
    },
    Vst::{
        ChannelContext::{IInfoListenerTrait, kChannelColorKey, kChannelNameKey},
        IAttributeList,
        IAttributeList_::AttrID,
        IAttributeListTrait, IComponentHandlerTrait,
    },
    int64,
};
use std::ffi::{CStr, c_void};

/// A host's handler with a run loop, the number of calls for a changed state, and the threads that made them.
#[derive(Default)]
struct Handler {
    dirty: Mutex<Vec<ThreadId>>,
    timer: Mutex<Option<ComPtr<ITimerHandler>>>,
}

impl Class for Handler {
    type Interfaces = (IComponentHandler, IComponentHandler2, IRunLoop);
}

impl IRunLoopTrait for Handler {
    unsafe fn registerEventHandler(&self, _: *mut IEventHandler, _: FileDescriptor) -> tresult {
        kResultFalse
    }
    unsafe fn unregisterEventHandler(&self, _: *mut IEventHandler) -> tresult {
        kResultFalse
    }
    unsafe fn registerTimer(&self, timer: *mut ITimerHandler, _: TimerInterval) -> tresult {
        // SAFETY: the plugin passes a handler.
        let timer = unsafe { ComRef::from_raw(timer) }.map(|timer| timer.to_com_ptr());
        *self.timer.lock().unwrap() = timer;
        kResultOk
    }
    unsafe fn unregisterTimer(&self, _: *mut ITimerHandler) -> tresult {
        *self.timer.lock().unwrap() = None;
        kResultOk
    }
}

impl IComponentHandlerTrait for Handler {
    unsafe fn beginEdit(&self, _: ParamID) -> tresult {
        kResultOk
    }
    unsafe fn performEdit(&self, _: ParamID, _: ParamValue) -> tresult {
        kResultOk
    }
    unsafe fn endEdit(&self, _: ParamID) -> tresult {
        kResultOk
    }
    unsafe fn restartComponent(&self, _: int32) -> tresult {
        kResultOk
    }
}

impl IComponentHandler2Trait for Handler {
    unsafe fn setDirty(&self, state: TBool) -> tresult {
        assert_eq!(state, 1);
        self.dirty.lock().unwrap().push(thread::current().id());
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

/// A track called Lead, in a colour.
struct Lead;

impl Class for Lead {
    type Interfaces = (IAttributeList,);
}

/// Whether two keys of attributes are the same.
fn same(one: AttrID, other: AttrID) -> bool {
    // SAFETY: keys end with a zero.
    unsafe { CStr::from_ptr(one) == CStr::from_ptr(other) }
}

impl IAttributeListTrait for Lead {
    unsafe fn setInt(&self, _: AttrID, _: int64) -> tresult {
        kResultFalse
    }
    unsafe fn getInt(&self, id: AttrID, value: *mut int64) -> tresult {
        if !same(id, kChannelColorKey) {
            return kResultFalse;
        }
        // SAFETY: there is room.
        unsafe { value.write(0xFF10_20F0) };
        kResultOk
    }
    unsafe fn setFloat(&self, _: AttrID, _: f64) -> tresult {
        kResultFalse
    }
    unsafe fn getFloat(&self, _: AttrID, _: *mut f64) -> tresult {
        kResultFalse
    }
    unsafe fn setString(&self, _: AttrID, _: *const TChar) -> tresult {
        kResultFalse
    }
    unsafe fn getString(&self, id: AttrID, string: *mut TChar, bytes: uint32) -> tresult {
        let name: Vec<TChar> = "Lead\0".encode_utf16().collect();
        if !same(id, kChannelNameKey) || (bytes as usize) < 2 * name.len() {
            return kResultFalse;
        }
        // SAFETY: there is room.
        unsafe { string.copy_from_nonoverlapping(name.as_ptr(), name.len()) };
        kResultOk
    }
    unsafe fn setBinary(&self, _: AttrID, _: *const c_void, _: uint32) -> tresult {
        kResultFalse
    }
    unsafe fn getBinary(&self, _: AttrID, _: *mut *const c_void, _: *mut uint32) -> tresult {
        kResultFalse
    }
}

fn shim() -> Vst3Shim {
    let wrapper = ComWrapper::new(Wrapper::<TestPlugin>::new());
    Vst3Shim::new(&wrapper, construction::take().unwrap(), None).unwrap()
}

#[test]
fn a_changed_state_is_reported_on_the_hosts_thread() {
    let shim = shim();
    assert!(!shim.instance.link().request(Request::MarkDirty), "there is no host yet");
    let handler = ComWrapper::new(Handler::default());
    let pointer = handler.to_com_ptr::<IComponentHandler>().unwrap();
    // SAFETY: the handler is counted.
    assert_eq!(unsafe { shim.setComponentHandler(pointer.as_ptr()) }, kResultOk);
    // The window has a thread of its own.
    let link = shim.instance.link().clone();
    let edits = move || (0..2).all(|_| link.request(Request::MarkDirty));
    assert!(thread::spawn(edits).join().unwrap());
    assert!(handler.dirty.lock().unwrap().is_empty(), "not on the window's thread");
    let timer = handler.timer.lock().unwrap().clone().unwrap();
    // SAFETY: there are no arguments, and this is the host's thread.
    unsafe { timer.onTimer() };
    // SAFETY: as above.
    unsafe { timer.onTimer() };
    assert_eq!(*handler.dirty.lock().unwrap(), [thread::current().id()], "once");
    // SAFETY: hosts end with null.
    assert_eq!(unsafe { shim.setComponentHandler(std::ptr::null_mut()) }, kResultOk);
    assert!(!shim.instance.link().request(Request::MarkDirty));
}

#[test]
fn the_track_reaches_the_editor() {
    let shim = shim();
    let list = ComWrapper::new(Lead).to_com_ptr::<IAttributeList>().unwrap();
    assert_eq!(shim.instance.link().track(), None);
    // SAFETY: the list is counted.
    assert_eq!(unsafe { shim.setChannelContextInfos(list.as_ptr()) }, kResultOk);
    let lead = Track { name: "Lead".to_owned(), colour: Some([0x10, 0x20, 0xF0]) };
    assert_eq!(shim.instance.link().track(), Some(lead));
}
