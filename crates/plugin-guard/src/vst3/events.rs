//! Filter for the events of a VST3 host. nice-plug panics at a SysEx message without bytes, and uses an event even if `getEvent`
//! fails.

use nice_plug::wrapper::vst3::vst3::{
    Class, ComPtr, ComRef, ComWrapper,
    Steinberg::{
        Vst::{DataEvent_::DataTypes_, Event, Event_::EventTypes_, IEventList, IEventListTrait},
        int32, kResultFalse, kResultOk, tresult,
    },
};
use std::{
    mem::zeroed,
    ptr::null_mut,
    sync::atomic::{AtomicPtr, Ordering},
};

/// Unknown type of event, which nice-plug skips.
const SKIPPED: u16 = u16::MAX - 1;

const DATA: u16 = EventTypes_::kDataEvent as u16;
const SYSEX: u32 = DataTypes_::kMidiSysEx as u32;

/// Filtered event list, reused for every buffer, as the audio thread must not allocate.
pub struct Events {
    list: ComWrapper<List>,
    pointer: ComPtr<IEventList>,
}

/// Event list that filters the host's list, to which it points. A null pointer makes an empty list.
struct List(AtomicPtr<IEventList>);

impl Events {
    pub fn new() -> Option<Self> {
        let list = ComWrapper::new(List(AtomicPtr::new(null_mut())));
        Some(Self { pointer: list.to_com_ptr()?, list })
    }

    /// Returns a list of the events of `host`, in which an unknown type marks those that nice-plug must skip; null if `host` is
    /// null.
    ///
    /// # Safety
    /// `host` must live as long as the returned list is in use.
    pub unsafe fn of(&self, host: *mut IEventList) -> *mut IEventList {
        self.list.0.store(host, Ordering::Relaxed);
        if host.is_null() { host } else { self.pointer.as_ptr() }
    }
}

impl Class for List {
    type Interfaces = (IEventList,);
}

impl IEventListTrait for List {
    unsafe fn getEventCount(&self) -> int32 {
        // SAFETY: guaranteed by the caller of `Events::of`.
        let host = unsafe { ComRef::from_raw(self.0.load(Ordering::Relaxed)) };
        // SAFETY: the call only reads.
        host.map_or(0, |host| unsafe { host.getEventCount() })
    }

    unsafe fn getEvent(&self, index: int32, event: *mut Event) -> tresult {
        // SAFETY: as above; nice-plug has room for an event, and zeros are valid for all of its fields.
        unsafe {
            let host = ComRef::from_raw(self.0.load(Ordering::Relaxed));
            let result = host.map_or(kResultFalse, |host| host.getEvent(index, event));
            if result != kResultOk {
                // nice-plug reads the event nevertheless.
                event.write(Event { r#type: SKIPPED, ..zeroed() });
            } else if (*event).r#type == DATA {
                let data = (*event).__field0.data;
                if data.r#type == SYSEX && data.bytes.is_null() {
                    (*event).r#type = SKIPPED;
                }
            }
            result
        }
    }

    unsafe fn addEvent(&self, _: *mut Event) -> tresult {
        kResultFalse
    }
}
