//! Small VST3 host. Unless their comments or return types say otherwise, methods panic if the plugin refuses a call or violates
//! VST3.

mod host;
mod instance;
mod stream;

pub use host::Host;
pub use instance::{Instance, Queue, text};

use anyhow::{Context, Result};
use std::{env::consts::ARCH, ffi::c_void, mem, path::Path, ptr::null_mut};
use vst3::{
    ComPtr, Interface,
    Steinberg::{
        IPluginFactory, IPluginFactoryTrait, PClassInfo, Vst::IComponent, kInvalidArgument,
        kResultOk,
    },
};

/// Plugin factory of a VST3 file, which must have exactly one plugin.
pub struct Factory(ComPtr<IPluginFactory>);

impl Factory {
    /// Loads the factory from a plugin's shared library for Linux or Windows. The library stays in memory.
    pub fn load(library: &Path) -> Result<Self> {
        let name = || library.display().to_string();
        // SAFETY: loading a library runs its code. The only library loaded here is our own. Its functions have the names and
        // types that VST3 requires, and `GetPluginFactory` passes ownership of a reference to a factory.
        unsafe {
            #[cfg(unix)]
            let library = {
                use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
                // `RTLD_NOW` resolves all symbols now, so that none is looked up while a buffer is processed.
                Library::open(Some(library), RTLD_NOW | RTLD_LOCAL).with_context(name)?
            };
            #[cfg(not(unix))]
            let library = libloading::Library::new(library).with_context(name)?;
            let library = mem::ManuallyDrop::new(library);
            if cfg!(target_os = "linux") {
                let enter = library.get::<extern "C" fn(*mut c_void) -> bool>(b"ModuleEntry\0");
                assert!(enter.with_context(name)?(null_mut()), "ModuleEntry fails");
            } else {
                let enter = library.get::<extern "system" fn() -> bool>(b"InitDll\0");
                assert!(enter.with_context(name)?(), "InitDll fails");
            }
            let get = library.get::<extern "system" fn() -> *mut c_void>(b"GetPluginFactory\0");
            let factory = get.with_context(name)?().cast();
            Ok(Self(ComPtr::from_raw(factory).context("the plugin has no factory")?))
        }
    }

    /// Loads the factory of the bundle that was built last.
    pub fn bundled() -> Result<Self> {
        let (system, end) = if cfg!(windows) { ("win", "vst3") } else { ("linux", "so") };
        let inside = format!("Contents/{ARCH}-{system}/Tone Filter.{end}");
        Self::load(&crate::bundle::vst3()?.join(inside))
    }

    /// Creates a component of the only class in the factory. Panics if there are several.
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
