//! What the shim passes on between a VST3 host and the editor.

use super::*;
use crate::{Track, construction, test_plugin::TestPlugin};
use nice_plug::wrapper::vst3::vst3::Steinberg::{
    Vst::{
        ChannelContext::{IInfoListenerTrait, kChannelColorKey, kChannelNameKey},
        IAttributeList,
        IAttributeList_::AttrID,
        IAttributeListTrait, IComponentHandlerTrait,
    },
    int64,
};
use std::{
    ffi::{CStr, c_void},
    sync::atomic::AtomicI32,
};

/// A host's handler, and how often it was told of a changed state.
#[derive(Default)]
struct Handler(AtomicI32);

impl Class for Handler {
    type Interfaces = (IComponentHandler, IComponentHandler2);
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
        self.0.fetch_add(i32::from(state), Ordering::Relaxed);
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
fn a_changed_state_is_told_to_a_host_that_can_be_told() {
    let shim = shim();
    assert!(!shim.instance.link().request(Request::MarkDirty), "there is no host yet");
    let handler = ComWrapper::new(Handler::default());
    let pointer = handler.to_com_ptr::<IComponentHandler>().unwrap();
    // SAFETY: the handler is counted.
    assert_eq!(unsafe { shim.setComponentHandler(pointer.as_ptr()) }, kResultOk);
    assert!(
        shim.instance.link().request(Request::MarkDirty)
            && shim.instance.link().request(Request::MarkDirty)
    );
    assert_eq!(handler.0.load(Ordering::Relaxed), 2);
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
