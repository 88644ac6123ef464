//! CLAP's remote controls extension: pages of eight parameters for hardware controllers.

use super::super::{c_text::c_text, shim::shim};
use clap_sys::{
    ext::remote_controls::{clap_plugin_remote_controls, clap_remote_controls_page},
    id::CLAP_INVALID_ID,
    plugin::clap_plugin,
};

pub static EXTENSION: clap_plugin_remote_controls =
    clap_plugin_remote_controls { count: Some(page_count), get: Some(page) };

unsafe extern "C" fn page_count(plugin: *const clap_plugin) -> u32 {
    // SAFETY: the host got `plugin` from `ClapShim::create`.
    unsafe { shim(plugin) }.pages.len() as u32
}

unsafe extern "C" fn page(
    plugin: *const clap_plugin,
    index: u32,
    page: *mut clap_remote_controls_page,
) -> bool {
    // SAFETY: the host got `plugin` from `ClapShim::create`, and this is its main thread.
    let (shim, all) = unsafe { (shim(plugin), shim(plugin).parameter_ids()) };
    let Some((title, ids)) = shim.pages.get(index as usize).filter(|_| !page.is_null()) else {
        return false;
    };
    let mut param_ids = [CLAP_INVALID_ID; 8];
    for (slot, id) in param_ids.iter_mut().zip(ids) {
        let found = all.iter().find(|(own, _)| own == id);
        *slot = found.map_or(CLAP_INVALID_ID, |(_, number)| *number);
    }
    let section_name = c_text(shim.name);
    let page_name = c_text(title);
    let content = clap_remote_controls_page {
        section_name,
        page_id: index,
        page_name,
        param_ids,
        is_for_preset: false,
    };
    // SAFETY: CLAP promises room for a page.
    unsafe { page.write(content) };
    true
}
