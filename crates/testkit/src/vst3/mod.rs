//! Small VST3 host. Every call checks what a host can check, and panics if the plugin refuses it.
#![allow(clippy::missing_panics_doc, reason = "see above")]

mod host;
mod instance;
mod stream;

pub use host::Host;
pub use instance::{Instance, Queue, Setup, text};

use std::{ffi::c_void, mem, ptr::null_mut};
use vst3::{
    ComPtr, Interface,
    Steinberg::{
        IPluginFactory, IPluginFactoryTrait, PClassInfo, Vst::IComponent, kInvalidArgument,
        kResultOk,
    },
};
#[cfg(target_os = "linux")]
use {
    anyhow::{Context, Result},
    libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW},
    std::{mem::ManuallyDrop, path::Path},
};

/// Type of the function `GetPluginFactory`, which a VST3 plugin exports.
pub type GetFactory = extern "system" fn() -> *mut c_void;

/// Factory of a plugin file, which makes instances of the file's only plugin.
pub struct Factory(ComPtr<IPluginFactory>);

impl Factory {
    /// Creates the factory of the plugin that is linked into this program.
    ///
    /// # Safety
    /// `get` must pass ownership of a reference to an `IPluginFactory`, or return null.
    pub unsafe fn linked(get: GetFactory) -> Self {
        // SAFETY: by this function's contract.
        Self(unsafe { ComPtr::from_raw(get().cast()) }.expect("the plugin has no factory"))
    }

    /// Loads the factory from a plugin's shared library for Linux. The library stays in memory.
    ///
    /// # Errors
    /// If the library cannot be loaded, or is not a VST3 plugin.
    #[cfg(target_os = "linux")]
    pub fn load(library: &Path) -> Result<Self> {
        let name = || library.display().to_string();
        // SAFETY: loading a library runs its code. The only library loaded here is our own. Its functions have the names and
        // types that VST3 requires.
        unsafe {
            // `RTLD_NOW` resolves all symbols now: processing a block must not have to look for any.
            let library = Library::open(Some(library), RTLD_NOW | RTLD_LOCAL).with_context(name)?;
            let library = ManuallyDrop::new(library);
            let enter = library.get::<extern "C" fn(*mut c_void) -> bool>(b"ModuleEntry\0");
            assert!(enter.with_context(name)?(null_mut()), "ModuleEntry fails");
            let get = *library.get::<GetFactory>(b"GetPluginFactory\0").with_context(name)?;
            Ok(Self::linked(get))
        }
    }

    /// Loads the factory of the bundle that was built last.
    ///
    /// # Errors
    /// As for [`crate::bundle::vst3`] and [`Factory::load`].
    #[cfg(target_os = "linux")]
    pub fn bundled() -> Result<Self> {
        let folder = format!("Contents/{}-linux", std::env::consts::ARCH);
        Self::load(&crate::bundle::vst3()?.join(folder).join("Tone Filter.so"))
    }

    /// Creates a component of the only class.
    fn component(&self) -> ComPtr<IComponent> {
        // SAFETY: every pointer has the type that the function expects; zeros are valid numbers and empty texts.
        unsafe {
            let mut class: PClassInfo = mem::zeroed();
            assert_eq!((self.0.countClasses(), self.0.getClassInfo(0, &mut class)), (1, kResultOk));
            assert_eq!(self.0.getClassInfo(1, &mut class), kInvalidArgument);
            let mut object = null_mut();
            let id = IComponent::IID.as_ptr().cast();
            let unknown = [0; 16];
            let created = self.0.createInstance(unknown.as_ptr(), id, &mut object);
            assert_eq!(created, kInvalidArgument);
            assert_eq!(self.0.createInstance(class.cid.as_ptr(), id, &mut object), kResultOk);
            ComPtr::from_raw(object.cast()).expect("an instance")
        }
    }
}
