//! Tests of the entry point in a minimal host.

use super::*;
use crate::{
    Request,
    test_plugin::{LINK, TestPlugin},
};
use clap_sys::{
    ext::preset_load::{CLAP_EXT_PRESET_LOAD, clap_plugin_preset_load},
    factory::preset_discovery::CLAP_PRESET_DISCOVERY_LOCATION_PLUGIN,
};
use std::cell::Cell;

thread_local! {
    /// Number of times that the plugin has requested a call.
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

unsafe extern "C" fn count(_: *const clap_host) {
    CALLS.set(CALLS.get() + 1);
}

unsafe extern "C" fn ignore(_: *const clap_host) {}

unsafe extern "C" fn get_extension(_: *const clap_host, _: *const c_char) -> *const c_void {
    ptr::null()
}

/// Returns a host without extensions, which runs `request_callback` when the plugin requests a call.
pub fn host(request_callback: unsafe extern "C" fn(*const clap_host)) -> clap_host {
    let text = c"".as_ptr();
    clap_host {
        clap_version: CLAP_VERSION,
        host_data: ptr::null_mut(),
        name: text,
        vendor: text,
        url: text,
        version: text,
        get_extension: Some(get_extension),
        request_restart: Some(ignore),
        request_process: Some(ignore),
        request_callback: Some(request_callback),
    }
}

/// Creates the plugin called `id` in `host`; null if there is no such plugin.
fn create(host: *const clap_host, id: *const c_char) -> *const clap_plugin {
    let entry = entry::<TestPlugin>();
    // SAFETY: the calls are in CLAP's order.
    unsafe {
        let factory = entry.get_factory.unwrap()(CLAP_PLUGIN_FACTORY_ID.as_ptr());
        let factory = factory.cast::<clap_plugin_factory>();
        (*factory).create_plugin.unwrap()(factory, host, id)
    }
}

fn plugin(host: &clap_host) -> *const clap_plugin {
    let plugin = create(host, c"test".as_ptr());
    // SAFETY: the factory has made the plugin.
    assert!(unsafe { (*plugin).init.unwrap()(plugin) });
    plugin
}

#[test]
fn null_pointers_and_unknown_ids_give_null() {
    let host = host(count);
    assert!(create(ptr::null(), c"test".as_ptr()).is_null());
    assert!(create(&host, ptr::null()).is_null() && create(&host, c"other".as_ptr()).is_null());
    // SAFETY: the function checks its argument.
    assert!(unsafe { entry::<TestPlugin>().get_factory.unwrap()(ptr::null()) }.is_null());
    let plugin = plugin(&host);
    // SAFETY: the plugin exists until it is destroyed.
    unsafe {
        assert!((*plugin).get_extension.unwrap()(plugin, ptr::null()).is_null());
        (*plugin).destroy.unwrap()(plugin);
    }
}

#[test]
fn a_destroyed_plugin_does_not_call_its_host() {
    let host = host(count);
    let plugin = plugin(&host);
    let link = LINK.take();
    assert!(link.request(Request::ReadValues));
    assert_eq!(CALLS.get(), 1);
    // SAFETY: the plugin is not used any more.
    unsafe { (*plugin).destroy.unwrap()(plugin) };
    link.request(Request::ReadValues);
    assert_eq!(CALLS.get(), 1);
}

#[test]
fn a_panic_while_a_preset_is_loaded_is_an_error() {
    let host = host(count);
    let plugin = plugin(&host);
    // SAFETY: the extension has this type, and the strings end with a zero.
    unsafe {
        let get = (*plugin).get_extension.unwrap();
        let load = get(plugin, CLAP_EXT_PRESET_LOAD.as_ptr()).cast::<clap_plugin_preset_load>();
        let (load, kind) = ((*load).from_location.unwrap(), CLAP_PRESET_DISCOVERY_LOCATION_PLUGIN);
        assert!(!load(plugin, kind, ptr::null(), c"panic".as_ptr()));
        (*plugin).destroy.unwrap()(plugin);
    }
}
