//! Extensions of the raw host.

use super::{RawHost, ignore, log};
use clap_sys::{
    color::clap_color,
    ext::{
        context_menu::{
            CLAP_CONTEXT_MENU_ITEM_BEGIN_SUBMENU, CLAP_CONTEXT_MENU_ITEM_CHECK_ENTRY,
            CLAP_CONTEXT_MENU_ITEM_END_SUBMENU, CLAP_CONTEXT_MENU_ITEM_ENTRY,
            CLAP_CONTEXT_MENU_ITEM_SEPARATOR, CLAP_CONTEXT_MENU_ITEM_TITLE,
            clap_context_menu_builder, clap_context_menu_check_entry, clap_context_menu_entry,
            clap_context_menu_item_title, clap_context_menu_submenu, clap_context_menu_target,
            clap_host_context_menu,
        },
        gui::clap_host_gui,
        latency::clap_host_latency,
        params::clap_host_params,
        preset_load::clap_host_preset_load,
        state::clap_host_state,
        track_info::{
            CLAP_TRACK_INFO_HAS_TRACK_COLOR, CLAP_TRACK_INFO_HAS_TRACK_NAME, clap_host_track_info,
            clap_track_info,
        },
    },
    host::clap_host,
};
use std::{
    ffi::{CStr, c_char, c_void},
    ptr::null,
    sync::atomic::Ordering,
};

/// Copies a C string of the plugin; null becomes `null`.
pub fn text(text: *const c_char) -> String {
    if text.is_null() {
        return "null".to_owned();
    }
    // SAFETY: CLAP's texts end with a zero.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned()
}

/// Defines functions of the host that log their calls.
macro_rules! logged {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:literal $kind:ty)?: $line:expr;)*) => {
        $(unsafe extern "C" fn $name(host: *const clap_host, $($argument: $type),*) $(-> $kind)? {
            // SAFETY: `host` belongs to a `RawHost`, and the arguments are CLAP's.
            unsafe { log(host, $line) };
            $($result)?
        })*
    };
}
logged! {
    mark_dirty(): "dirty".to_owned();
    rescan(flags: u32): format!("rescan {flags}");
    latency_changed(): "latency".to_owned();
    on_error(
        kind: u32, location: *const c_char, key: *const c_char, os_error: i32, message: *const c_char
    ): format!("error {kind} {} {} {os_error}: {}", text(location), text(key), text(message));
    loaded(kind: u32, location: *const c_char, key: *const c_char):
        format!("loaded {kind} {} {}", text(location), text(key));
    perform(target: *const clap_context_menu_target, action: u32) -> true bool:
        format!("perform {} {action}", (*target).id);
    popup(target: *const clap_context_menu_target, screen: i32, x: i32, y: i32) -> true bool:
        format!("popup {} on {screen} at {x} {y}", (*target).id);
}

static STATE: clap_host_state = clap_host_state { mark_dirty: Some(mark_dirty) };
static PARAMS: clap_host_params =
    clap_host_params { rescan: Some(rescan), clear: None, request_flush: Some(ignore) };
static LATENCY: clap_host_latency = clap_host_latency { changed: Some(latency_changed) };
static PRESET_LOAD: clap_host_preset_load =
    clap_host_preset_load { on_error: Some(on_error), loaded: Some(loaded) };

static TRACK_INFO: clap_host_track_info = clap_host_track_info { get: Some(get_track) };
unsafe extern "C" fn get_track(host: *const clap_host, to: *mut clap_track_info) -> bool {
    // SAFETY: `host` belongs to a `RawHost`, and `to` has room for the info.
    unsafe {
        let this = &*(*host).host_data.cast::<RawHost>();
        let Some((name, colour)) = *this.track.lock().unwrap() else { return false };
        let mut info: clap_track_info = std::mem::zeroed();
        info.flags = CLAP_TRACK_INFO_HAS_TRACK_NAME;
        for (char, byte) in info.name.iter_mut().zip(name.bytes()) {
            *char = byte as c_char;
        }
        if let Some([red, green, blue]) = colour {
            info.flags |= CLAP_TRACK_INFO_HAS_TRACK_COLOR;
            info.color = clap_color { alpha: 255, red, green, blue };
        }
        to.write(info);
    }
    true
}

static CONTEXT_MENU: clap_host_context_menu = clap_host_context_menu {
    populate: Some(populate),
    perform: Some(perform),
    can_popup: Some(can_popup),
    popup: Some(popup),
};
unsafe extern "C" fn populate(
    host: *const clap_host,
    target: *const clap_context_menu_target,
    builder: *const clap_context_menu_builder,
) -> bool {
    // SAFETY: `host` belongs to a `RawHost`, and each item has the type of its kind.
    unsafe {
        log(host, format!("populate {} {}", (*target).kind, (*target).id));
        let builder = &*builder;
        let add = |kind, item: *const c_void| {
            assert!(builder.supports.unwrap()(builder, kind));
            assert!(builder.add_item.unwrap()(builder, kind, item), "{kind}");
        };
        let entry = |label: &CStr, is_enabled, action_id| clap_context_menu_entry {
            label: label.as_ptr(),
            is_enabled,
            action_id,
        };
        let title = clap_context_menu_item_title { title: c"Mix".as_ptr(), is_enabled: true };
        add(CLAP_CONTEXT_MENU_ITEM_TITLE, (&raw const title).cast());
        let learn = entry(c"Learn controller", true, 7);
        add(CLAP_CONTEXT_MENU_ITEM_ENTRY, (&raw const learn).cast());
        add(CLAP_CONTEXT_MENU_ITEM_SEPARATOR, null());
        let check = clap_context_menu_check_entry {
            label: c"Follow automation".as_ptr(),
            is_enabled: true,
            is_checked: true,
            action_id: 8,
        };
        add(CLAP_CONTEXT_MENU_ITEM_CHECK_ENTRY, (&raw const check).cast());
        let more = clap_context_menu_submenu { label: c"Automation".as_ptr(), is_enabled: true };
        add(CLAP_CONTEXT_MENU_ITEM_BEGIN_SUBMENU, (&raw const more).cast());
        let clear = entry(c"Clear", false, 9);
        add(CLAP_CONTEXT_MENU_ITEM_ENTRY, (&raw const clear).cast());
        add(CLAP_CONTEXT_MENU_ITEM_END_SUBMENU, null());
        // The plugin refuses invalid items.
        assert!(!builder.add_item.unwrap()(builder, 99, null()));
        assert!(!builder.add_item.unwrap()(builder, CLAP_CONTEXT_MENU_ITEM_END_SUBMENU, null()));
        assert!(!builder.add_item.unwrap()(builder, CLAP_CONTEXT_MENU_ITEM_ENTRY, null()));
    }
    true
}
unsafe extern "C" fn can_popup(host: *const clap_host) -> bool {
    // SAFETY: `host` belongs to a `RawHost`.
    unsafe { (*(*host).host_data.cast::<RawHost>()).pops_up.load(Ordering::Relaxed) }
}

static GUI: clap_host_gui = clap_host_gui {
    resize_hints_changed: Some(ignore),
    request_resize: Some(request_resize),
    request_show: None,
    request_hide: None,
    closed: Some(closed),
};
unsafe extern "C" fn request_resize(_: *const clap_host, _: u32, _: u32) -> bool {
    false
}
unsafe extern "C" fn closed(_: *const clap_host, _: bool) {}

/// Returns the extension called `id`, or null.
pub unsafe extern "C" fn get_extension(host: *const clap_host, id: *const c_char) -> *const c_void {
    // SAFETY: `RawHost::new` put the host there.
    let this = unsafe { &*(*host).host_data.cast::<RawHost>() };
    match (&*text(id), this.compat) {
        ("clap.gui", _) => (&raw const GUI).cast(),
        ("clap.state", _) => (&raw const STATE).cast(),
        ("clap.params", _) => (&raw const PARAMS).cast(),
        ("clap.latency", _) => (&raw const LATENCY).cast(),
        ("clap.preset-load/2", false) | ("clap.preset-load.draft/2", true) => {
            (&raw const PRESET_LOAD).cast()
        }
        ("clap.track-info/1", false) | ("clap.track-info.draft/1", true) => {
            (&raw const TRACK_INFO).cast()
        }
        ("clap.context-menu/1", false) | ("clap.context-menu.draft/0", true) => {
            (&raw const CONTEXT_MENU).cast()
        }
        _ => null(),
    }
}
