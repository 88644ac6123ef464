//! Presets for a host's browser: the factory presets, and the user's folder.

use super::{
    descriptor,
    ffi::{c_string, rust_string, without_panic},
};
use crate::{GuardedPlugin, PresetInfo};
use clap_sys::{factory::preset_discovery::*, universal_plugin_id::clap_universal_plugin_id};
use nice_plug::wrapper::clap::CLAP_VERSION;
use std::{
    ffi::{CStr, c_char, c_void},
    path::Path,
    ptr,
    sync::OnceLock,
};

/// Returns the factory of preset discovery, if `id` is its id.
pub fn factory<P: GuardedPlugin>(id: &CStr) -> Option<*const c_void> {
    let factory = const {
        &clap_preset_discovery_factory {
            count: Some(count),
            get_descriptor: Some(get_descriptor::<P>),
            create: Some(create::<P>),
        }
    };
    let ids = [CLAP_PRESET_DISCOVERY_FACTORY_ID, CLAP_PRESET_DISCOVERY_FACTORY_ID_COMPAT];
    ids.contains(&id).then_some(ptr::from_ref(factory).cast())
}

/// Returns the descriptor of the only preset provider, with the plugin's name and vendor.
fn provider<P: GuardedPlugin>() -> &'static clap_preset_discovery_provider_descriptor {
    static PROVIDER: OnceLock<Provider> = OnceLock::new();
    let provider = PROVIDER.get_or_init(|| {
        let plugin = descriptor::<P>().clap_plugin_descriptor();
        Provider(clap_preset_discovery_provider_descriptor {
            clap_version: CLAP_VERSION,
            id: P::PRESETS_ID.as_ptr(),
            name: plugin.name,
            vendor: plugin.vendor,
        })
    });
    &provider.0
}

struct Provider(clap_preset_discovery_provider_descriptor);

// SAFETY: the strings that the pointers refer to live for ever and never change.
unsafe impl Send for Provider {}
// SAFETY: as above.
unsafe impl Sync for Provider {}

unsafe extern "C" fn count(_factory: *const clap_preset_discovery_factory) -> u32 {
    1
}

unsafe extern "C" fn get_descriptor<P: GuardedPlugin>(
    _factory: *const clap_preset_discovery_factory,
    index: u32,
) -> *const clap_preset_discovery_provider_descriptor {
    if index == 0 { provider::<P>() } else { ptr::null() }
}

unsafe extern "C" fn create<P: GuardedPlugin>(
    _factory: *const clap_preset_discovery_factory,
    indexer: *const clap_preset_discovery_indexer,
    id: *const c_char,
) -> *const clap_preset_discovery_provider {
    // SAFETY: CLAP promises a string that ends with a zero.
    if indexer.is_null() || id.is_null() || unsafe { CStr::from_ptr(id) } != P::PRESETS_ID {
        return ptr::null();
    }
    Box::into_raw(Box::new(clap_preset_discovery_provider {
        desc: provider::<P>(),
        provider_data: indexer.cast_mut().cast(),
        init: Some(init::<P>),
        destroy: Some(destroy),
        get_metadata: Some(get_metadata::<P>),
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

/// Declares the file type and the locations of presets. Leaves out the user's folder until saving the first preset creates it.
unsafe extern "C" fn init<P: GuardedPlugin>(
    provider: *const clap_preset_discovery_provider,
) -> bool {
    // SAFETY: `create` stored the indexer, which outlives its providers, in `provider_data`; the strings outlive the calls.
    without_panic(false, || unsafe {
        let indexer =
            (*provider).provider_data.cast_const().cast::<clap_preset_discovery_indexer>();
        let (Some(file_type), Some(location)) =
            ((*indexer).declare_filetype, (*indexer).declare_location)
        else {
            return false;
        };
        let [name, description, file_extension] = P::PRESET_FILE.map(CStr::as_ptr);
        let kind = clap_preset_discovery_filetype { name, description, file_extension };
        let factory = clap_preset_discovery_location {
            flags: CLAP_PRESET_DISCOVERY_IS_FACTORY_CONTENT,
            name: c"Factory".as_ptr(),
            kind: CLAP_PRESET_DISCOVERY_LOCATION_PLUGIN,
            location: ptr::null(),
        };
        if !file_type(indexer, &kind) || !location(indexer, &factory) {
            return false;
        }
        let folder = P::user_presets().filter(|folder| folder.is_dir());
        let path = folder.as_ref().and_then(|folder| folder.to_str()).map(c_string);
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

unsafe extern "C" fn get_metadata<P: GuardedPlugin>(
    _provider: *const clap_preset_discovery_provider,
    kind: u32,
    location: *const c_char,
    receiver: *const clap_preset_discovery_metadata_receiver,
) -> bool {
    // SAFETY: CLAP promises a receiver, and a path or null.
    without_panic(false, || unsafe {
        match kind {
            CLAP_PRESET_DISCOVERY_LOCATION_PLUGIN => {
                for (key, preset) in P::factory_presets() {
                    if !describe::<P>(receiver, &preset, Some(key)) {
                        break;
                    }
                }
                true
            }
            CLAP_PRESET_DISCOVERY_LOCATION_FILE => {
                match P::preset_file(Path::new(&rust_string(location))) {
                    Ok(preset) => {
                        describe::<P>(receiver, &preset, None);
                        true
                    }
                    Err(error) => {
                        if let Some(on_error) = (*receiver).on_error {
                            let message = c_string(&error.message);
                            on_error(receiver, error.os_error, message.as_ptr());
                        }
                        false
                    }
                }
            }
            _ => false,
        }
    })
}

/// Passes a preset to `receiver`; `key` is `None` for a user's preset. Returns false if the host wants no more presets.
///
/// # Safety
/// `receiver` must be a valid receiver of the host.
unsafe fn describe<P: GuardedPlugin>(
    receiver: *const clap_preset_discovery_metadata_receiver,
    preset: &PresetInfo,
    key: Option<&str>,
) -> bool {
    let name = c_string(&preset.name);
    let load_key = key.map(c_string);
    let load_key = load_key.as_ref().map_or(ptr::null(), |key| key.as_ptr());
    // SAFETY: the strings outlive the calls, which come in CLAP's order.
    unsafe {
        let to = &*receiver;
        if !to.begin_preset.is_some_and(|begin| begin(receiver, name.as_ptr(), load_key)) {
            return false;
        }
        if let Some(add_plugin_id) = to.add_plugin_id {
            let id = descriptor::<P>().clap_id().as_ptr();
            let id = clap_universal_plugin_id { abi: c"clap".as_ptr(), id };
            add_plugin_id(receiver, &id);
        }
        if let Some(set_flags) = to.set_flags {
            let flags = match key {
                Some(_) => CLAP_PRESET_DISCOVERY_IS_FACTORY_CONTENT,
                None => CLAP_PRESET_DISCOVERY_IS_USER_CONTENT,
            };
            set_flags(receiver, flags);
        }
        if let Some(add_creator) = to.add_creator.filter(|_| key.is_some()) {
            add_creator(receiver, c_string(P::VENDOR).as_ptr());
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
