//! Settings: one by its id, or all by a preset or JSON.

use crate::{
    Status,
    filter::Filter,
    pointers::{exclusive, put, put_text, shared, text},
    status::{fail, guard},
};
use std::ffi::c_char;
use tone_filter_dsp::{Choice, Controls, Routing, Setting, Settings, spec};
use tone_filter_presets::{
    Preset,
    settings::{from_json, to_json},
};

fn unknown(id: &str) -> Status {
    let remedy = match Setting::find(id) {
        Some(Setting::Number(_)) => "it is a number, for tf_set_number()",
        Some(Setting::Choice(_) | Setting::Text(_)) => "it is a text, for tf_set_text()",
        None => "tf_setting_at() lists them",
    };
    fail(Status::Setting, format_args!("no setting of this kind has the id {id:?}; {remedy}"))
}

fn no_entry(choice: &Choice, entry: &str) -> Status {
    let ids = choice.entries.iter().map(|(id, _)| *id).collect::<Vec<_>>().join(", ");
    fail(Status::Entry, format_args!("{} has no entry {entry:?}; use one of {ids}", choice.id))
}

/// Moves all settings smoothly, within 20 ms, to those of a factory preset. "bypass" stays, as presets leave it out. tf_reset()
/// applies the settings at once.
///
/// preset: preset id from tf_preset_at().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_set_preset(filter: *mut Filter, preset: *const c_char) -> Status {
    // SAFETY: the header requires valid pointers and a filter that no other thread uses.
    guard(|| unsafe {
        let filter = exclusive(filter)?;
        let settings = of_preset(text(preset)?)?;
        filter.set(Controls { settings, ..filter.controls })
    })
}

/// Moves all settings smoothly, within 20 ms, to those of a JSON text.
///
/// json: an object of settings by their ids, such as {"mix": 70, "voice": "square", "auto": true}, or the text of a preset
/// file, as the plugin saves it, which leaves out "bypass". A number is a JSON number. A choice is the id of its entry, or true
/// or false if its entries are off and on. Switches and notes are texts, as for tf_set_text(). A missing setting gets its value
/// in the preset "reference". In a preset file of a newer version, a setting that this library cannot use counts as missing.
/// Otherwise, an unknown setting or an invalid value is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_set_json(filter: *mut Filter, json: *const c_char) -> Status {
    // SAFETY: the header requires valid pointers and a filter that no other thread uses.
    guard(|| unsafe {
        let filter = exclusive(filter)?;
        filter.set(of_json(text(json)?, filter.controls.routing)?)
    })
}

/// Writes all settings as JSON for tf_set_json().
///
/// buffer: receives the text and a NUL.
/// size: size of the buffer in bytes; TF_TEXT_SIZE is enough.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_get_json(
    filter: *const Filter,
    buffer: *mut c_char,
    size: usize,
) -> Status {
    // SAFETY: the header requires valid pointers.
    guard(|| unsafe { put_text(buffer, size, &to_json(&shared(filter)?.controls)) })
}

/// Moves a number setting smoothly, within 20 ms, to a value. Real time.
///
/// id: the setting's id from tf_setting_at().
/// value: a number in the setting's range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_set_number(
    filter: *mut Filter,
    id: *const c_char,
    value: f32,
) -> Status {
    guard(|| {
        // SAFETY: the header requires valid pointers and a filter that no other thread uses.
        let (filter, id) = unsafe { (exclusive(filter)?, text(id)?) };
        let spec = spec(id).ok_or_else(|| unknown(id))?;
        let mut controls = filter.controls;
        spec.set(&mut controls.settings, value);
        filter.set(controls)
    })
}

/// Writes the value of a number setting. Real time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_get_number(
    filter: *const Filter,
    id: *const c_char,
    value: *mut f32,
) -> Status {
    guard(|| {
        // SAFETY: the header requires valid pointers.
        let (filter, id) = unsafe { (shared(filter)?, text(id)?) };
        let spec = spec(id).ok_or_else(|| unknown(id))?;
        // SAFETY: the header requires valid pointers.
        unsafe { put(value, spec.get(&filter.controls.settings)) }
    })
}

/// Sets a choice, a row of switches or a list of notes. Real time for choices.
///
/// id: the setting's id from tf_setting_at().
/// entry: for a choice, the id or the name of an entry. For switches, a digit for each switch, 1 for on and 0 for off; blanks
/// are ignored. For notes, their names with blanks between them, like "A C# Bb".
///
/// "midi-out", "mpe" and "listen" are about connections to a host, and have no effect here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_set_text(
    filter: *mut Filter,
    id: *const c_char,
    entry: *const c_char,
) -> Status {
    guard(|| {
        // SAFETY: the header requires valid pointers and a filter that no other thread uses.
        let (filter, id, entry) = unsafe { (exclusive(filter)?, text(id)?, text(entry)?) };
        let mut controls = filter.controls;
        match Setting::find(id) {
            Some(Setting::Text(text)) => {
                let set = text.set(&mut controls.settings, entry);
                set.map_err(|error| fail(Status::Entry, error))?;
            }
            Some(Setting::Choice(choice)) => {
                let index = choice.parse(entry).ok_or_else(|| no_entry(choice, entry))?;
                choice.set(&mut controls, index);
            }
            Some(Setting::Number(_)) | None => return Err(unknown(id)),
        }
        filter.set(controls)
    })
}

/// Writes the id of a choice's current entry, the digits of switches, or the names of notes.
///
/// buffer: receives the text and a NUL.
/// size: size of the buffer in bytes; TF_TEXT_SIZE is enough.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_get_text(
    filter: *const Filter,
    id: *const c_char,
    buffer: *mut c_char,
    size: usize,
) -> Status {
    guard(|| {
        // SAFETY: the header requires valid pointers.
        let (filter, id) = unsafe { (shared(filter)?, text(id)?) };
        let setting = Setting::find(id).filter(|setting| !matches!(setting, Setting::Number(_)));
        let entry = setting.ok_or_else(|| unknown(id))?.text(&filter.controls);
        // SAFETY: the header requires valid pointers.
        unsafe { put_text(buffer, size, &entry) }
    })
}

/// Sets the tempo, 120 by default. With the setting "sync", "ring" and "release" follow it, unless "sync-to" is "music". Real time.
///
/// tempo: beats a minute, above 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_set_tempo(filter: *mut Filter, tempo: f64) -> Status {
    guard(|| {
        // SAFETY: the header requires a valid filter that no other thread uses.
        let filter = unsafe { exclusive(filter) }?;
        if !(tempo.is_finite() && tempo > 0.0) {
            return Err(fail(Status::Range, format_args!("tempo {tempo}; use more than 0")));
        }
        filter.tempo = tempo;
        filter.set(filter.controls)
    })
}

/// Returns the settings of a factory preset.
pub(crate) fn of_preset(id: &str) -> Result<Settings, Status> {
    let remedy = "tf_preset_at() lists them";
    let unknown =
        || fail(Status::Preset, format_args!("no factory preset has the id {id:?}; {remedy}"));
    Ok(Preset::factory(id).ok_or_else(unknown)?.settings)
}

/// Returns the settings and routing in `json`: an object of settings by their ids, or the text of a preset file, which has
/// `routing`.
pub(crate) fn of_json(json: &str, routing: Routing) -> Result<Controls, Status> {
    let wrong = |error: serde_json::Error| fail(Status::Json, error);
    let object: serde_json::Map<_, _> = serde_json::from_str(json).map_err(wrong)?;
    if object.contains_key("settings") {
        let loaded = Preset::from_json(json).map_err(|error| fail(Status::Json, error))?;
        return Ok(Controls { settings: loaded.preset.settings, routing });
    }
    from_json(json).map_err(wrong)
}
