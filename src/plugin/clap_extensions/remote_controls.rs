//! The pages of eight controls that a hardware controller shows.

use super::{c_text, parameter_ids};
use crate::plugin::clap_entry::guarded;
use clap_sys::{
    ext::remote_controls::{clap_plugin_remote_controls, clap_remote_controls_page},
    id::CLAP_INVALID_ID,
    plugin::clap_plugin,
};

/// Their titles, and the ids of their settings.
const PAGES: [(&str, &[&str]); 5] = [
    (
        "Listen",
        &["focus", "sensitivity", "auto", "lookahead", "tuning", "transpose", "root", "scale"],
    ),
    ("Resonators", &["ring", "release", "sync", "threshold", "ceiling", "floor", "stereo"]),
    ("Voice", &["voice", "octave", "voices", "drive", "tone"]),
    ("Output", &["mix", "morph", "output", "bypass", "midi-out", "listen"]),
    ("Play", &["keys", "freeze", "morph", "mix", "drive", "tone", "ring", "release"]),
];

pub static EXTENSION: clap_plugin_remote_controls =
    clap_plugin_remote_controls { count: Some(page_count), get: Some(page) };

unsafe extern "C" fn page_count(_plugin: *const clap_plugin) -> u32 {
    PAGES.len() as u32
}

unsafe extern "C" fn page(
    plugin: *const clap_plugin,
    index: u32,
    page: *mut clap_remote_controls_page,
) -> bool {
    let Some((title, ids)) = PAGES.get(index as usize).filter(|_| !page.is_null()) else {
        return false;
    };
    // SAFETY: the host has the plugin from `create_plugin`, and this is its main thread.
    let all = unsafe { parameter_ids(plugin, guarded(plugin)) };
    let mut param_ids = [CLAP_INVALID_ID; 8];
    for (slot, id) in param_ids.iter_mut().zip(*ids) {
        let found = all.iter().find(|(own, _)| own == id);
        *slot = found.map_or(CLAP_INVALID_ID, |(_, number)| *number);
    }
    let section_name = c_text("Tone Filter");
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
