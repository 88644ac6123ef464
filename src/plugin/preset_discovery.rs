//! The presets for a host's browser: those of the factory, and the user's folder.

use super::{
    ToneFilterPlugin,
    clap_extensions::{c_string, os_error, rust_string, without_panic},
};
use crate::editor::read_preset;
use clap_sys::{
    factory::preset_discovery::{
        CLAP_PRESET_DISCOVERY_FACTORY_ID, CLAP_PRESET_DISCOVERY_FACTORY_ID_COMPAT,
        CLAP_PRESET_DISCOVERY_IS_FACTORY_CONTENT, CLAP_PRESET_DISCOVERY_IS_USER_CONTENT,
        CLAP_PRESET_DISCOVERY_LOCATION_FILE, CLAP_PRESET_DISCOVERY_LOCATION_PLUGIN,
        clap_preset_discovery_factory, clap_preset_discovery_filetype,
        clap_preset_discovery_indexer, clap_preset_discovery_location,
        clap_preset_discovery_metadata_receiver, clap_preset_discovery_provider,
        clap_preset_discovery_provider_descriptor,
    },
    universal_plugin_id::clap_universal_plugin_id,
};
use nice_plug::{
    prelude::{ClapPlugin, Plugin},
    wrapper::clap::CLAP_VERSION,
};
use std::{
    ffi::{CStr, c_char, c_void},
    path::Path,
    ptr,
};
use tone_filter_presets::{Folder, Preset, ids};

static FACTORY: clap_preset_discovery_factory = clap_preset_discovery_factory {
    count: Some(count),
    get_descriptor: Some(get_descriptor),
    create: Some(create),
};

/// The provider's id.
const ID: &CStr = c"org.tone-filter.tone-filter.presets";

static DESCRIPTOR: clap_preset_discovery_provider_descriptor =
    clap_preset_discovery_provider_descriptor {
        clap_version: CLAP_VERSION,
        id: ID.as_ptr(),
        name: c"Tone Filter".as_ptr(),
        vendor: c"Tone Filter".as_ptr(),
    };

/// The factory called `id`, if it is this one.
pub fn factory(id: &CStr) -> Option<*const c_void> {
    let ids = [CLAP_PRESET_DISCOVERY_FACTORY_ID, CLAP_PRESET_DISCOVERY_FACTORY_ID_COMPAT];
    ids.contains(&id).then_some((&raw const FACTORY).cast())
}

unsafe extern "C" fn count(_factory: *const clap_preset_discovery_factory) -> u32 {
    1
}

unsafe extern "C" fn get_descriptor(
    _factory: *const clap_preset_discovery_factory,
    index: u32,
) -> *const clap_preset_discovery_provider_descriptor {
    if index == 0 { &DESCRIPTOR } else { ptr::null() }
}

unsafe extern "C" fn create(
    _factory: *const clap_preset_discovery_factory,
    indexer: *const clap_preset_discovery_indexer,
    id: *const c_char,
) -> *const clap_preset_discovery_provider {
    // SAFETY: CLAP promises a string that ends with a zero.
    if indexer.is_null() || id.is_null() || unsafe { CStr::from_ptr(id) } != ID {
        return ptr::null();
    }
    Box::into_raw(Box::new(clap_preset_discovery_provider {
        desc: &DESCRIPTOR,
        provider_data: indexer.cast_mut().cast(),
        init: Some(init),
        destroy: Some(destroy),
        get_metadata: Some(get_metadata),
        get_extension: Some(get_extension),
    }))
}

unsafe extern "C" fn destroy(provider: *const clap_preset_discovery_provider) {
    // SAFETY: the host got the pointer from `create`, which made it from a box, and does not use it any more.
    drop(unsafe { Box::from_raw(provider.cast_mut()) });
}

unsafe extern "C" fn get_extension(
    _provider: *const clap_preset_discovery_provider,
    _id: *const c_char,
) -> *const c_void {
    ptr::null()
}

/// Declares where presets are. A user's folder that does not exist is left out: it is created with the first preset.
unsafe extern "C" fn init(provider: *const clap_preset_discovery_provider) -> bool {
    // SAFETY: `create` put the indexer there, which outlives its providers; the texts outlive the calls.
    without_panic(false, || unsafe {
        let indexer =
            (*provider).provider_data.cast_const().cast::<clap_preset_discovery_indexer>();
        let (Some(file_type), Some(location)) =
            ((*indexer).declare_filetype, (*indexer).declare_location)
        else {
            return false;
        };
        let json = clap_preset_discovery_filetype {
            name: c"Tone Filter preset".as_ptr(),
            description: c"A sound of Tone Filter, in JSON".as_ptr(),
            file_extension: c"json".as_ptr(),
        };
        let factory = clap_preset_discovery_location {
            flags: CLAP_PRESET_DISCOVERY_IS_FACTORY_CONTENT,
            name: c"Factory".as_ptr(),
            kind: CLAP_PRESET_DISCOVERY_LOCATION_PLUGIN,
            location: ptr::null(),
        };
        if !file_type(indexer, &json) || !location(indexer, &factory) {
            return false;
        }
        let folder = Folder::of_user().filter(|folder| folder.location().is_dir());
        let path = folder.as_ref().and_then(|folder| folder.location().to_str()).map(c_string);
        path.is_none_or(|path| {
            let user = clap_preset_discovery_location {
                flags: CLAP_PRESET_DISCOVERY_IS_USER_CONTENT,
                name: c"Your own".as_ptr(),
                kind: CLAP_PRESET_DISCOVERY_LOCATION_FILE,
                location: path.as_ptr(),
            };
            location(indexer, &user)
        })
    })
}

unsafe extern "C" fn get_metadata(
    _provider: *const clap_preset_discovery_provider,
    kind: u32,
    location: *const c_char,
    receiver: *const clap_preset_discovery_metadata_receiver,
) -> bool {
    // SAFETY: CLAP promises a receiver, and a path or null.
    without_panic(false, || unsafe {
        match kind {
            CLAP_PRESET_DISCOVERY_LOCATION_PLUGIN => {
                let presets = ids().filter_map(|id| Some((id, Preset::factory(id)?)));
                for (id, preset) in presets {
                    if !describe(receiver, &preset, Some(id)) {
                        break;
                    }
                }
                true
            }
            CLAP_PRESET_DISCOVERY_LOCATION_FILE => {
                match read_preset(Path::new(&rust_string(location))) {
                    Ok(loaded) => {
                        describe(receiver, &loaded.preset, None);
                        true
                    }
                    Err(error) => {
                        if let Some(on_error) = (*receiver).on_error {
                            let message = c_string(&error.to_string());
                            on_error(receiver, os_error(&error), message.as_ptr());
                        }
                        false
                    }
                }
            }
            _ => false,
        }
    })
}

/// Tells `receiver` of a preset, which is one of the factory if it has a `key`; false if the host wants no more.
///
/// # Safety
/// `receiver` must be the host's.
unsafe fn describe(
    receiver: *const clap_preset_discovery_metadata_receiver,
    preset: &Preset,
    key: Option<&str>,
) -> bool {
    let name = c_string(&preset.name);
    let load_key = key.map(c_string);
    let load_key = load_key.as_ref().map_or(ptr::null(), |key| key.as_ptr());
    // SAFETY: the texts outlive the calls, in CLAP's order.
    unsafe {
        let to = &*receiver;
        if !to.begin_preset.is_some_and(|begin| begin(receiver, name.as_ptr(), load_key)) {
            return false;
        }
        if let Some(add_plugin_id) = to.add_plugin_id {
            let id = c_string(ToneFilterPlugin::CLAP_ID);
            let id = clap_universal_plugin_id { abi: c"clap".as_ptr(), id: id.as_ptr() };
            add_plugin_id(receiver, &id);
        }
        if let Some(set_flags) = to.set_flags {
            set_flags(
                receiver,
                match key {
                    Some(_) => CLAP_PRESET_DISCOVERY_IS_FACTORY_CONTENT,
                    None => CLAP_PRESET_DISCOVERY_IS_USER_CONTENT,
                },
            );
        }
        if let Some(add_creator) = to.add_creator.filter(|_| key.is_some()) {
            add_creator(receiver, c_string(ToneFilterPlugin::VENDOR).as_ptr());
        }
        if let Some(set_description) = to.set_description.filter(|_| !preset.description.is_empty())
        {
            set_description(receiver, c_string(&preset.description).as_ptr());
        }
        if let Some(add_feature) = to.add_feature {
            for tag in &preset.tags {
                add_feature(receiver, c_string(tag).as_ptr());
            }
        }
    }
    true
}
