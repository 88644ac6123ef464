//! CLAP extensions beside nice-plug's: pages of controls, names of keys, and the tail at any time.

use super::clap_entry::guarded;
use crate::dsp::{
    DEFAULT_TEMPO, ToneFilter,
    notes::{TONES, midi_note, name},
};
use clap_sys::{
    ext::{
        note_name::{CLAP_EXT_NOTE_NAME, clap_note_name, clap_plugin_note_name},
        params::{CLAP_EXT_PARAMS, clap_param_info, clap_plugin_params},
        remote_controls::{
            CLAP_EXT_REMOTE_CONTROLS, CLAP_EXT_REMOTE_CONTROLS_COMPAT, clap_plugin_remote_controls,
            clap_remote_controls_page,
        },
        tail::{CLAP_EXT_TAIL, clap_plugin_tail},
    },
    id::{CLAP_INVALID_ID, clap_id},
    plugin::clap_plugin,
};
use nice_plug::prelude::Params;
use std::{
    ffi::{CStr, c_char, c_void},
    mem::MaybeUninit,
    ptr,
};

/// The pages of eight controls that a hardware controller shows.
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

static REMOTE_CONTROLS: clap_plugin_remote_controls =
    clap_plugin_remote_controls { count: Some(page_count), get: Some(page) };
static NOTE_NAME: clap_plugin_note_name =
    clap_plugin_note_name { count: Some(note_count), get: Some(note_name) };
static TAIL: clap_plugin_tail = clap_plugin_tail { get: Some(tail) };

/// The extension called `id`, if it is one of these.
pub fn find(id: &CStr) -> Option<*const c_void> {
    if id == CLAP_EXT_REMOTE_CONTROLS || id == CLAP_EXT_REMOTE_CONTROLS_COMPAT {
        Some((&raw const REMOTE_CONTROLS).cast())
    } else if id == CLAP_EXT_NOTE_NAME {
        Some((&raw const NOTE_NAME).cast())
    } else if id == CLAP_EXT_TAIL {
        Some((&raw const TAIL).cast())
    } else {
        None
    }
}

/// `text`, which is short ASCII, as C has it.
fn c_text<const N: usize>(text: &str) -> [c_char; N] {
    let mut chars = [0; N];
    for (char, byte) in chars[..N - 1].iter_mut().zip(text.bytes()) {
        *char = byte as c_char;
    }
    chars
}

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
    let all = unsafe { parameter_ids(plugin) };
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

/// The settings' ids with those that nice-plug gives the host, which has them in the order of the map.
///
/// # Safety
/// `plugin` must come from `create_plugin`, and this be the main thread.
unsafe fn parameter_ids(plugin: *const clap_plugin) -> Vec<(String, clap_id)> {
    // SAFETY: as the caller says; the extension is nice-plug's own, and there is room for what it fills in.
    unsafe {
        let params = guarded(plugin).inner.get_extension;
        let params = params.map_or(ptr::null(), |get| get(plugin, CLAP_EXT_PARAMS.as_ptr()));
        let get = params.cast::<clap_plugin_params>().as_ref().and_then(|params| params.get_info);
        let Some(get) = get else { return Vec::new() };
        let number = |index: usize| {
            let mut info = MaybeUninit::<clap_param_info>::uninit();
            let found = get(plugin, index as u32, info.as_mut_ptr());
            found.then(|| (*info.as_ptr()).id)
        };
        let map = guarded(plugin).params.param_map().into_iter().enumerate();
        map.filter_map(|(index, (id, ..))| Some((id, number(index)?))).collect()
    }
}

/// The key of the lowest band.
///
/// # Safety
/// `plugin` must come from `create_plugin`.
unsafe fn first_key(plugin: *const clap_plugin) -> u32 {
    // SAFETY: as the caller says.
    let transpose = unsafe { guarded(plugin) }.params.chosen().transpose;
    midi_note(0, transpose) as u32
}

unsafe extern "C" fn note_count(plugin: *const clap_plugin) -> u32 {
    // The highest bands may have no key.
    // SAFETY: the host has the plugin from `create_plugin`.
    let keys = 128 - unsafe { first_key(plugin) };
    keys.min(TONES as u32)
}

unsafe extern "C" fn note_name(
    plugin: *const clap_plugin,
    index: u32,
    to: *mut clap_note_name,
) -> bool {
    // SAFETY: the host has the plugin from `create_plugin`.
    let (count, first) = unsafe { (note_count(plugin), first_key(plugin)) };
    if index >= count || to.is_null() {
        return false;
    }
    // The name of the band, on any port and channel.
    let (name, key) = (c_text(name(index as usize)), (first + index) as i16);
    let content = clap_note_name { name, port: -1, key, channel: -1 };
    // SAFETY: CLAP promises room for a name.
    unsafe { to.write(content) };
    true
}

/// Samples from the end of the input to that of the output, for the settings as they are; for ever while frozen.
unsafe extern "C" fn tail(plugin: *const clap_plugin) -> u32 {
    // SAFETY: the host has the plugin from `create_plugin`.
    let guarded = unsafe { guarded(plugin) };
    let settings = guarded.params.settings().at_tempo(DEFAULT_TEMPO);
    if settings.freeze {
        return u32::MAX;
    }
    guarded.samples(ToneFilter::tail(&settings), settings.lookahead)
}
