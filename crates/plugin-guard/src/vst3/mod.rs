//! The VST3 entry point: the factory of nice-plug's plugin behind a `Vst3Shim`.
//!
//! Invariants:
//! * Each call is passed to nice-plug once, unless the comment of a method says otherwise.
//! * `HostCalls` makes the calls that any thread may request: on the host's main thread or, in a host without a timer, on the
//!   window's thread.
//! * No lock is held while the host or nice-plug is called: both may call back at once.
//! * `process` neither locks nor allocates.
//! * `Vst3Shim`'s `Interfaces` lists every interface of nice-plug's: hosts do not see a missing one.
//! * `Vst3Shim` and nice-plug give a parameter the same number.

#![allow(clippy::unnecessary_cast, reason = "the types of VST3's constants depend on the system")]

mod events;
mod host_calls;
mod shim;
mod sidechain;
mod worker;

use crate::{GuardedPlugin, construction, host_link::lock};
use nice_plug::wrapper::vst3::{
    PluginInfo, Wrapper,
    vst3::{Class, ComPtr, ComRef, ComWrapper, Steinberg::*},
};
use shim::Vst3Shim;
use std::{ffi::c_void, marker::PhantomData, sync::Mutex};

/// Returns a reference to a factory for the library's only plugin `P`. The caller must release it.
pub fn factory<P: GuardedPlugin>() -> *mut c_void {
    let factory = ComWrapper::new(Factory::<P> {
        info: PluginInfo::for_plugin::<P>(),
        context: Mutex::default(),
        plugin: PhantomData,
    });
    let factory = factory.to_com_ptr::<IPluginFactory>();
    factory.map_or(std::ptr::null_mut(), |factory| factory.into_raw().cast())
}

struct Factory<P> {
    info: PluginInfo,
    /// Host context, passed to new instances of the plugin.
    context: Mutex<Option<ComPtr<FUnknown>>>,
    plugin: PhantomData<fn() -> P>,
}

impl<P: GuardedPlugin> Class for Factory<P> {
    type Interfaces = (IPluginFactory, IPluginFactory2, IPluginFactory3);
}

/// Writes the result of `class` to `info`, if `index` is 0.
///
/// # Safety
/// `info` must be null or point to room for a `T`.
unsafe fn describe<T>(index: int32, info: *mut T, class: impl FnOnce() -> T) -> tresult {
    if index != 0 || info.is_null() {
        return kInvalidArgument;
    }
    // SAFETY: there is room.
    unsafe { info.write(class()) };
    kResultOk
}

impl<P: GuardedPlugin> IPluginFactoryTrait for Factory<P> {
    unsafe fn getFactoryInfo(&self, info: *mut PFactoryInfo) -> tresult {
        // SAFETY: VST3 promises room.
        unsafe { describe(0, info, || self.info.create_factory_info()) }
    }

    unsafe fn countClasses(&self) -> int32 {
        1
    }

    unsafe fn getClassInfo(&self, index: int32, info: *mut PClassInfo) -> tresult {
        // SAFETY: VST3 promises room.
        unsafe { describe(index, info, || self.info.create_class_info()) }
    }

    unsafe fn createInstance(
        &self,
        class: FIDString,
        interface: FIDString,
        object: *mut *mut c_void,
    ) -> tresult {
        // SAFETY: VST3 promises an id of 16 bytes.
        let known = unsafe { class.cast::<[u8; 16]>().as_ref() } == Some(self.info.cid);
        if !known || interface.is_null() || object.is_null() {
            return kInvalidArgument;
        }
        worker::keep::<P>();
        let wrapper = ComWrapper::new(Wrapper::<P>::new());
        let context = lock(&self.context).clone();
        let shim =
            construction::take().and_then(|instance| Vst3Shim::new(&wrapper, instance, context));
        let Some(shim) = shim.map(ComWrapper::new) else { return kInvalidArgument };
        let Some(unknown) = shim.as_com_ref::<FUnknown>() else { return kInvalidArgument };
        let unknown = unknown.as_ptr();
        // SAFETY: the object is still counted, the id has 16 bytes, and there is room for a pointer.
        unsafe { ((*(*unknown).vtbl).queryInterface)(unknown, interface.cast::<TUID>(), object) }
    }
}

impl<P: GuardedPlugin> IPluginFactory2Trait for Factory<P> {
    unsafe fn getClassInfo2(&self, index: int32, info: *mut PClassInfo2) -> tresult {
        // SAFETY: VST3 promises room.
        unsafe { describe(index, info, || self.info.create_class_info_2()) }
    }
}

impl<P: GuardedPlugin> IPluginFactory3Trait for Factory<P> {
    unsafe fn getClassInfoUnicode(&self, index: int32, info: *mut PClassInfoW) -> tresult {
        // SAFETY: VST3 promises room.
        unsafe { describe(index, info, || self.info.create_class_info_unicode()) }
    }

    unsafe fn setHostContext(&self, context: *mut FUnknown) -> tresult {
        // SAFETY: VST3 promises an object or null.
        let context = unsafe { ComRef::from_raw(context) }.map(|context| context.to_com_ptr());
        *lock(&self.context) = context;
        kResultOk
    }
}
