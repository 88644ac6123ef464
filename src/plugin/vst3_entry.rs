//! The VST3 entry point: nice-plug's plugin, behind a guard.
//!
//! nice-plug 0.4.2 trusts the host's `process` to bring every parameter that the host sets between `setProcessing(1)`
//! and `setProcessing(0)`, and forgets it (`setParamNormalized` in `wrapper/vst3/wrapper.rs`). A host that does not
//! call `process` just then would read the old value, and save it. The guard remembers such values until the next
//! `process`: they are read, and a state that is saved meanwhile has them. After it they are forgotten, because hosts
//! also set what they have played already, for the editor to show.
//!
//! For the MIDI controllers, nice-plug has 130 hidden parameters for each of 16 channels, through which some hosts take
//! minutes. The guard shows those of one channel that the plugin understands, and maps all channels to them.
//!
//! It asks the host to activate the plugin again for another latency, on the host's own thread; `plugin/latency.rs` says when.
//!
//! It also answers numbers of channels that nice-plug does not survive with an error, as `clap_entry.rs` does.

mod guarded;
mod run_loop;
mod sidechain;

use super::ToneFilterPlugin;
use guarded::Guarded;
use nice_plug::wrapper::{
    setup_logger,
    vst3::{
        PluginInfo,
        vst3::{
            Class, ComPtr, ComRef, ComWrapper,
            Steinberg::{
                FIDString, FUnknown, IPluginFactory, IPluginFactory2, IPluginFactory2Trait,
                IPluginFactory3, IPluginFactory3Trait, IPluginFactoryTrait, PClassInfo,
                PClassInfo2, PClassInfoW, PFactoryInfo, TUID, int32, kInvalidArgument, kResultOk,
                tresult,
            },
        },
    },
};
use std::{
    ffi::c_void,
    sync::{Mutex, PoisonError},
};

/// What a VST3 host looks for in the plugin's file. It gives away a reference to a factory.
#[unsafe(no_mangle)]
pub extern "system" fn GetPluginFactory() -> *mut c_void {
    let factory = ComWrapper::new(Factory {
        info: PluginInfo::for_plugin::<ToneFilterPlugin>(),
        context: Mutex::default(),
    });
    let factory = factory.to_com_ptr::<IPluginFactory>();
    factory.map_or(std::ptr::null_mut(), |factory| factory.into_raw().cast())
}

/// Exports the functions that a VST3 host of this system calls after loading the plugin's file and before it lets go of
/// it.
macro_rules! module {
    ($abi:literal, $load:ident($($handle:ident: $type:ty)?), $unload:ident) => {
        /// Called by a VST3 host that has loaded the plugin's file.
        #[unsafe(no_mangle)]
        pub extern $abi fn $load($($handle: $type)?) -> bool {
            setup_logger::<ToneFilterPlugin>();
            true
        }

        /// Called by a VST3 host before it lets go of the plugin's file.
        #[unsafe(no_mangle)]
        pub extern $abi fn $unload() -> bool {
            true
        }
    };
}

#[cfg(all(unix, not(target_os = "macos")))]
#[allow(non_snake_case, reason = "VST3 calls them so")]
mod module {
    use super::*;
    module!("C", ModuleEntry(_handle: *mut c_void), ModuleExit);
}
#[cfg(target_os = "macos")]
#[allow(non_snake_case, reason = "VST3 calls them so")]
mod module {
    use super::*;
    module!("C", bundleEntry(_bundle: *mut c_void), bundleExit);
}
#[cfg(windows)]
#[allow(non_snake_case, reason = "VST3 calls them so")]
mod module {
    use super::*;
    module!("system", InitDll(), ExitDll);
}

/// What creates plugins.
struct Factory {
    info: PluginInfo,
    /// An object of the host.
    context: Mutex<Option<ComPtr<FUnknown>>>,
}

impl Factory {
    fn context(&self) -> Option<ComPtr<FUnknown>> {
        self.context.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Class for Factory {
    type Interfaces = (IPluginFactory, IPluginFactory2, IPluginFactory3);
}

/// Writes what is known of the only class to where the host wants it.
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

impl IPluginFactoryTrait for Factory {
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
        let Some(guarded) = Guarded::new(self.context()) else { return kInvalidArgument };
        let guarded = ComWrapper::new(guarded);
        let Some(unknown) = guarded.as_com_ref::<FUnknown>() else { return kInvalidArgument };
        let unknown = unknown.as_ptr();
        // SAFETY: the object is still counted, the id has 16 bytes, and there is room for a pointer.
        unsafe { ((*(*unknown).vtbl).queryInterface)(unknown, interface.cast::<TUID>(), object) }
    }
}

impl IPluginFactory2Trait for Factory {
    unsafe fn getClassInfo2(&self, index: int32, info: *mut PClassInfo2) -> tresult {
        // SAFETY: VST3 promises room.
        unsafe { describe(index, info, || self.info.create_class_info_2()) }
    }
}

impl IPluginFactory3Trait for Factory {
    unsafe fn getClassInfoUnicode(&self, index: int32, info: *mut PClassInfoW) -> tresult {
        // SAFETY: VST3 promises room.
        unsafe { describe(index, info, || self.info.create_class_info_unicode()) }
    }

    unsafe fn setHostContext(&self, context: *mut FUnknown) -> tresult {
        // SAFETY: VST3 promises an object or null.
        let context = unsafe { ComRef::from_raw(context) }.map(|context| context.to_com_ptr());
        *self.context.lock().unwrap_or_else(PoisonError::into_inner) = context;
        kResultOk
    }
}
