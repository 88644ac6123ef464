//! Data of the host that the editor shows: mappings and automation of parameters, and the plugin's track. Replaces nice-plug's
//! track extension, which has only one of CLAP's two ids and keeps a name that the host has removed.

use super::super::{
    ffi::{rust_string, without_panic},
    host::rgb,
    shim::{ClapShim, shim},
};
use crate::{Automation, Indication, Mapping};
use clap_sys::{
    color::clap_color,
    ext::{
        param_indication::{
            CLAP_PARAM_INDICATION_AUTOMATION_OVERRIDING, CLAP_PARAM_INDICATION_AUTOMATION_PLAYING,
            CLAP_PARAM_INDICATION_AUTOMATION_PRESENT, CLAP_PARAM_INDICATION_AUTOMATION_RECORDING,
            clap_plugin_param_indication,
        },
        track_info::clap_plugin_track_info,
    },
    id::clap_id,
    plugin::clap_plugin,
};
use std::ffi::c_char;

pub static TRACK: clap_plugin_track_info = clap_plugin_track_info { changed: Some(changed) };

pub static INDICATION: clap_plugin_param_indication = clap_plugin_param_indication {
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
    let (shim, ids) = unsafe { (shim(plugin), shim(plugin).parameter_ids()) };
    if let Some((id, _)) = ids.iter().find(|(_, number)| *number == parameter) {
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
