//! CLAP and VST3 entry points for a plugin built on nice-plug 0.4.2, with workarounds for faults of nice-plug and baseview, and
//! with CLAP extensions that nice-plug lacks. The comment of each workaround names the fault.
//!
//! A plugin implements [`GuardedPlugin`], calls [`construction::put`] in [`Plugin::editor`](nice_plug::prelude::Plugin),
//! and exports its entry points with [`export!`].

pub mod clap;
pub mod construction;
mod host_link;
mod latency;
mod plugin;
mod task;
#[cfg(test)]
mod test_plugin;
pub mod vst3;
#[cfg(feature = "window")]
pub mod window;

pub use host_link::{
    Automation, Connection, HostLink, Indication, Mapping, Menu, MenuItem, Place, Request, Rgb,
    Track, lock,
};
pub use latency::Latency;
#[doc(hidden)]
pub use nice_plug::wrapper::setup_logger;
pub use plugin::{GuardedPlugin, Instance, Location, NoteName, Page, PresetError, PresetInfo};
pub use task::{Job, Task};

/// Exports the entry points of CLAP and VST3 for a [`GuardedPlugin`]. A library must use this only once.
#[macro_export]
macro_rules! export {
    ($plugin:ty) => {
        /// Entry point for CLAP hosts.
        #[unsafe(no_mangle)]
        #[used]
        #[allow(non_upper_case_globals, reason = "CLAP calls it so")]
        pub static clap_entry: $crate::clap::clap_plugin_entry =
            $crate::clap::entry::<$plugin>();

        /// Entry point for VST3 hosts: returns a counted reference to a factory.
        #[unsafe(no_mangle)]
        pub extern "system" fn GetPluginFactory() -> *mut ::std::ffi::c_void {
            $crate::vst3::factory::<$plugin>()
        }

        #[cfg(all(unix, not(target_os = "macos")))]
        $crate::export_module!($plugin, "C", ModuleEntry(_handle: *mut ::std::ffi::c_void), ModuleExit);
        #[cfg(target_os = "macos")]
        $crate::export_module!($plugin, "C", bundleEntry(_bundle: *mut ::std::ffi::c_void), bundleExit);
        #[cfg(windows)]
        $crate::export_module!($plugin, "system", InitDll(), ExitDll);
    };
}

/// Exports the functions that a VST3 host calls after loading and before unloading the plugin's file.
#[doc(hidden)]
#[macro_export]
macro_rules! export_module {
    ($plugin:ty, $abi:literal, $load:ident($($handle:ident: $type:ty)?), $unload:ident) => {
        /// Sets up logging. VST3 hosts call this after loading the plugin's file.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "VST3 calls it so")]
        pub extern $abi fn $load($($handle: $type)?) -> bool {
            $crate::setup_logger::<$plugin>();
            true
        }

        /// Returns true. VST3 hosts call this before unloading the plugin's file.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "VST3 calls it so")]
        pub extern $abi fn $unload() -> bool {
            true
        }
    };
}
