//! CLAP extensions that nice-plug lacks, and replacements for some that it has: answers to the host (latency, tail, names of keys,
//! pages of parameters for hardware controllers), presets that the host loads, and data of the host that the editor shows
//! (mappings and automation of parameters, the plugin's track).

mod context_menu;
mod overridden;

use super::{
    ffi::{c_string, c_text, rust_string, without_panic},
    host::rgb,
    shim::{ClapShim, shim},
};
use crate::{Automation, Indication, Instance, Location, Mapping, PresetError, Request};
use clap_sys::{
    color::clap_color,
    ext::{
        context_menu::*, gui::*, latency::*, note_name::*, param_indication::*, preset_load::*,
        remote_controls::*, tail::*, track_info::*,
    },
    factory::preset_discovery::{
        CLAP_PRESET_DISCOVERY_LOCATION_FILE, CLAP_PRESET_DISCOVERY_LOCATION_PLUGIN,
    },
    id::{CLAP_INVALID_ID, clap_id},
    plugin::clap_plugin,
};
use std::{
    ffi::{CStr, c_char, c_void},
    path::Path,
    ptr::from_ref,
};

/// Returns the extension called `id`, if this module or `overridden` has it.
pub fn find(shim: &ClapShim, id: &CStr) -> Option<*const c_void> {
    let table: [([&CStr; 2], *const c_void); 8] = [
        // Some hosts know an extension by the id of its draft only.
        ([CLAP_EXT_LATENCY; 2], from_ref(&LATENCY).cast()),
        ([CLAP_EXT_TAIL; 2], from_ref(&TAIL).cast()),
        ([CLAP_EXT_NOTE_NAME; 2], from_ref(&NOTE_NAME).cast()),
        (
            [CLAP_EXT_REMOTE_CONTROLS, CLAP_EXT_REMOTE_CONTROLS_COMPAT],
            from_ref(&REMOTE_CONTROLS).cast(),
        ),
        (
            [CLAP_EXT_CONTEXT_MENU, CLAP_EXT_CONTEXT_MENU_COMPAT],
            from_ref(&context_menu::EXTENSION).cast(),
        ),
        ([CLAP_EXT_PRESET_LOAD, CLAP_EXT_PRESET_LOAD_COMPAT], from_ref(&PRESET_LOAD).cast()),
        (
            [CLAP_EXT_PARAM_INDICATION, CLAP_EXT_PARAM_INDICATION_COMPAT],
            from_ref(&PARAM_INDICATION).cast(),
        ),
        ([CLAP_EXT_TRACK_INFO, CLAP_EXT_TRACK_INFO_COMPAT], from_ref(&TRACK_INFO).cast()),
    ];
    let found = table.into_iter().find(|(ids, _)| ids.contains(&id));
    found.map(|(_, extension)| extension).or_else(|| overridden::find(shim, id))
}

/// Serves the editor's requests, sends the notifications for the main thread, and asks the host to fetch the window's edits.
///
/// # Safety
/// Must be called on the main thread.
pub unsafe fn on_main_thread(shim: &ClapShim) {
    // SAFETY: the caller is on the main thread.
    without_panic((), || unsafe {
        for request in shim.instance.link().take_requests() {
            match request {
                Request::MarkDirty => shim.host.mark_dirty(),
                Request::ReadValues => shim.host.rescan_values(),
                Request::Resize(size) => {
                    shim.instance.link().answer_resize(resize(shim, size));
                }
                Request::Menu(place) => context_menu::open(shim, place),
                Request::Perform { id, action } => context_menu::perform(shim, id, action),
            }
        }
        shim.notify_on_main_thread();
        shim.request_flush();
    });
}

/// Requests the window size `size` in pixels from the host. If the host grants it, resizes the window, unless the host has done
/// so already. Returns whether the host grants it.
///
/// # Safety
/// Must be called on the main thread.
unsafe fn resize(shim: &ClapShim, size: [u32; 2]) -> bool {
    // SAFETY: guaranteed by the caller; the extension is nice-plug's own, and there is room for the answers.
    unsafe {
        let Some(gui) = shim.inner_extension::<clap_plugin_gui>(CLAP_EXT_GUI) else { return false };
        let now = || {
            let [mut width, mut height] = [0; 2];
            gui.get_size.map(|get| get(&shim.inner, &mut width, &mut height));
            [width, height]
        };
        let before = now();
        let granted = shim.host.request_resize(size);
        // If the host has already resized the window, perhaps to another size, that size stays.
        if granted && now() == before {
            gui.set_size.map(|set| set(&shim.inner, size[0], size[1]));
        }
        granted
    }
}

/// Replaces nice-plug's extension. nice-plug also reports changes while the plugin is inactive, and requests a restart even for
/// the latency with which the plugin has just been activated.
static LATENCY: clap_plugin_latency = clap_plugin_latency { get: Some(latency) };

static TAIL: clap_plugin_tail = clap_plugin_tail { get: Some(tail) };

static NOTE_NAME: clap_plugin_note_name =
    clap_plugin_note_name { count: Some(name_count), get: Some(name) };

static REMOTE_CONTROLS: clap_plugin_remote_controls =
    clap_plugin_remote_controls { count: Some(page_count), get: Some(page) };

unsafe extern "C" fn latency(plugin: *const clap_plugin) -> u32 {
    // SAFETY: the host got `plugin` from `ClapShim::create`.
    unsafe { shim(plugin) }.instance.latency().samples()
}

unsafe extern "C" fn tail(plugin: *const clap_plugin) -> u32 {
    // SAFETY: as above.
    unsafe { shim(plugin) }.read_tail()
}

unsafe extern "C" fn name_count(plugin: *const clap_plugin) -> u32 {
    // SAFETY: as above.
    let shim = unsafe { shim(plugin) };
    shim.names_read();
    (0..).take_while(|index| shim.instance.note_name(*index).is_some()).count() as u32
}

unsafe extern "C" fn name(plugin: *const clap_plugin, index: u32, to: *mut clap_note_name) -> bool {
    // SAFETY: as above.
    let note = unsafe { shim(plugin) }.instance.note_name(index);
    let Some(note) = note.filter(|_| !to.is_null()) else { return false };
    let (name, key) = (c_text(note.name), i16::from(note.key));
    let content = clap_note_name { name, port: -1, key, channel: -1 };
    // SAFETY: CLAP promises room for a name.
    unsafe { to.write(content) };
    true
}

unsafe extern "C" fn page_count(plugin: *const clap_plugin) -> u32 {
    // SAFETY: as above.
    unsafe { shim(plugin) }.pages.len() as u32
}

unsafe extern "C" fn page(
    plugin: *const clap_plugin,
    index: u32,
    page: *mut clap_remote_controls_page,
) -> bool {
    // SAFETY: as above.
    let shim = unsafe { shim(plugin) };
    let Some((title, ids)) = shim.pages.get(index as usize).filter(|_| !page.is_null()) else {
        return false;
    };
    let mut param_ids = [CLAP_INVALID_ID; 8];
    for (slot, id) in param_ids.iter_mut().zip(ids) {
        // SAFETY: this is the main thread.
        *slot = unsafe { shim.clap_id(id) }.unwrap_or(CLAP_INVALID_ID);
    }
    let content = clap_remote_controls_page {
        section_name: c_text(shim.name),
        page_id: index,
        page_name: c_text(title),
        param_ids,
        is_for_preset: false,
    };
    // SAFETY: CLAP promises room for a page.
    unsafe { page.write(content) };
    true
}

/// Loads presets from the locations that `preset_discovery.rs` declares.
static PRESET_LOAD: clap_plugin_preset_load =
    clap_plugin_preset_load { from_location: Some(from_location) };

/// Loads the file at `location`, or the factory preset called `key`, depending on `kind`.
fn load_preset(
    instance: &dyn Instance,
    kind: u32,
    location: &str,
    key: &str,
) -> Result<(), PresetError> {
    match kind {
        CLAP_PRESET_DISCOVERY_LOCATION_PLUGIN => instance.load_preset(Location::Factory(key)),
        CLAP_PRESET_DISCOVERY_LOCATION_FILE => {
            instance.load_preset(Location::File(Path::new(location)))
        }
        _ => {
            let message = format!("presets are no locations of kind {kind}");
            Err(PresetError { os_error: 0, message })
        }
    }
}

unsafe extern "C" fn from_location(
    plugin: *const clap_plugin,
    kind: u32,
    location: *const c_char,
    key: *const c_char,
) -> bool {
    // SAFETY: the host got `plugin` from `ClapShim::create`, and calls this on its main thread; CLAP promises strings or null.
    without_panic(false, || unsafe {
        let (shim, at) = (shim(plugin), (kind, location, key));
        overridden::drop_edits(shim);
        match load_preset(&*shim.instance, kind, &rust_string(location), &rust_string(key)) {
            Ok(()) => {
                shim.host.rescan_values();
                shim.notify_on_main_thread();
                shim.host.preset_loaded(at);
                true
            }
            Err(PresetError { os_error, message }) => {
                shim.host.preset_failed(at, os_error, &c_string(&message));
                false
            }
        }
    })
}

/// Replaces nice-plug's extension, which has only one of CLAP's two ids and keeps a name that the host has removed.
static TRACK_INFO: clap_plugin_track_info = clap_plugin_track_info { changed: Some(changed) };

static PARAM_INDICATION: clap_plugin_param_indication = clap_plugin_param_indication {
    set_mapping: Some(set_mapping),
    set_automation: Some(set_automation),
};

/// Changes the indication of a parameter; ignores unknown parameters.
///
/// # Safety
/// `plugin` must come from `ClapShim::create`, and the caller must be on the main thread.
unsafe fn change(
    plugin: *const clap_plugin,
    parameter: clap_id,
    change: impl FnOnce(&mut Indication),
) {
    // SAFETY: guaranteed by the caller.
    let (shim, known) = unsafe { (shim(plugin), shim(plugin).parameter(parameter)) };
    if let Some((id, _)) = known {
        shim.instance.link().indicate(id, change);
    }
}

unsafe extern "C" fn set_mapping(
    plugin: *const clap_plugin,
    parameter: clap_id,
    has_mapping: bool,
    colour: *const clap_color,
    label: *const c_char,
    description: *const c_char,
) {
    // SAFETY: CLAP promises the main thread, and that colour and strings are valid or null.
    without_panic((), || unsafe {
        let mapping = has_mapping.then(|| Mapping {
            colour: colour.as_ref().copied().and_then(rgb),
            label: rust_string(label),
            description: rust_string(description),
        });
        change(plugin, parameter, |indication| indication.mapping = mapping);
    });
}

unsafe extern "C" fn set_automation(
    plugin: *const clap_plugin,
    parameter: clap_id,
    state: u32,
    colour: *const clap_color,
) {
    let automation = match state {
        CLAP_PARAM_INDICATION_AUTOMATION_PRESENT => Some(Automation::Present),
        CLAP_PARAM_INDICATION_AUTOMATION_PLAYING => Some(Automation::Playing),
        CLAP_PARAM_INDICATION_AUTOMATION_RECORDING => Some(Automation::Recording),
        CLAP_PARAM_INDICATION_AUTOMATION_OVERRIDING => Some(Automation::Overriding),
        _ => None,
    };
    // SAFETY: CLAP promises the main thread, and that the colour is valid or null.
    without_panic((), || unsafe {
        let colour = colour.as_ref().copied().and_then(rgb);
        let automation = automation.map(|automation| (automation, colour));
        change(plugin, parameter, |indication| indication.automation = automation);
    });
}

/// Reads the plugin's track from the host, for the editor.
///
/// # Safety
/// Must be called on the main thread.
pub unsafe fn read_track(shim: &ClapShim) {
    // SAFETY: the caller is on the main thread.
    without_panic((), || shim.instance.link().set_track(unsafe { shim.host.track() }));
}

unsafe extern "C" fn changed(plugin: *const clap_plugin) {
    // SAFETY: the host got `plugin` from `ClapShim::create`, and calls this on its main thread.
    unsafe { read_track(shim(plugin)) };
}
