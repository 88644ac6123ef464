//! The CLAP entry point: nice-plug's plugin behind a `ClapShim`, and the factory of its presets.

mod events;
mod extensions;
mod ffi;
mod host;
mod plugin;
mod preset_discovery;
mod shim;
#[cfg(test)]
mod tests;

pub use nice_plug::wrapper::clap::clap_plugin_entry;

use crate::{
    GuardedPlugin,
    construction::{self, Constructed},
};
use nice_plug::wrapper::clap::{
    CLAP_PLUGIN_FACTORY_ID, CLAP_VERSION, PluginDescriptor, Wrapper, clap_host, clap_plugin,
    clap_plugin_descriptor, clap_plugin_factory,
};
use shim::ClapShim;
use std::{
    ffi::{CStr, c_char, c_void},
    ptr,
    sync::{Arc, OnceLock},
};

/// Returns the entry point of a library whose only plugin is `P`.
pub const fn entry<P: GuardedPlugin>() -> clap_plugin_entry {
    clap_plugin_entry {
        clap_version: CLAP_VERSION,
        init: Some(init),
        deinit: Some(deinit),
        get_factory: Some(get_factory::<P>),
    }
}

unsafe extern "C" fn init(_path: *const c_char) -> bool {
    true
}

unsafe extern "C" fn deinit() {}

unsafe extern "C" fn get_factory<P: GuardedPlugin>(id: *const c_char) -> *const c_void {
    // SAFETY: CLAP promises a string that ends with a zero.
    let id = if id.is_null() { c"" } else { unsafe { CStr::from_ptr(id) } };
    if id == CLAP_PLUGIN_FACTORY_ID {
        let factory = const {
            &clap_plugin_factory {
                get_plugin_count: Some(get_plugin_count),
                get_plugin_descriptor: Some(get_plugin_descriptor::<P>),
                create_plugin: Some(create_plugin::<P>),
            }
        };
        ptr::from_ref(factory).cast()
    } else {
        preset_discovery::factory::<P>(id).unwrap_or(ptr::null())
    }
}

fn descriptor<P: GuardedPlugin>() -> &'static PluginDescriptor {
    static DESCRIPTOR: OnceLock<PluginDescriptor> = OnceLock::new();
    DESCRIPTOR.get_or_init(PluginDescriptor::for_plugin::<P>)
}

unsafe extern "C" fn get_plugin_count(_factory: *const clap_plugin_factory) -> u32 {
    1
}

unsafe extern "C" fn get_plugin_descriptor<P: GuardedPlugin>(
    _factory: *const clap_plugin_factory,
    index: u32,
) -> *const clap_plugin_descriptor {
    if index == 0 { descriptor::<P>().clap_plugin_descriptor() } else { ptr::null() }
}

unsafe extern "C" fn create_plugin<P: GuardedPlugin>(
    _factory: *const clap_plugin_factory,
    host: *const clap_host,
    id: *const c_char,
) -> *const clap_plugin {
    // SAFETY: CLAP promises a string that ends with a zero.
    let is_known = !id.is_null() && unsafe { CStr::from_ptr(id) } == descriptor::<P>().clap_id();
    if host.is_null() || !is_known {
        return ptr::null();
    }
    // nice-plug drops this reference when the host destroys the plugin.
    // SAFETY: the pointer comes from an `Arc` whose count includes it.
    let wrapper = unsafe { &*Arc::into_raw(Wrapper::<P>::new(host)) };
    let Some(Constructed { instance, .. }) = construction::take() else { return ptr::null() };
    let inner = *wrapper.clap_plugin.borrow();
    ClapShim::create::<P>(plugin::functions(inner), inner, host, instance)
}
