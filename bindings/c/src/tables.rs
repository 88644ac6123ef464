//! Tables of settings and presets.

use std::{
    ffi::{CString, c_char},
    ptr,
    sync::LazyLock,
};
use tone_filter_dsp::{Controls, Entry, Setting, TextOf};
use tone_filter_presets::{self as presets, Preset};

/// Kind of a setting's value.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    /// A number, for tf_set_number().
    Number = 0,
    /// An entry of a list, for tf_set_text().
    Choice = 1,
    /// Switches, for tf_set_text().
    Switches = 2,
    /// Names of notes, for tf_set_text().
    Notes = 3,
}

/// A setting: its id, texts, range and entries.
#[repr(C)]
#[derive(Debug)]
pub struct SettingInfo {
    /// Kind of the value, which says whether tf_set_number() or tf_set_text() sets it.
    pub kind: SettingKind,
    /// Id, which never changes.
    pub id: *const c_char,
    /// Name to display.
    pub name: *const c_char,
    /// Effect on the sound, in a sentence.
    pub help: *const c_char,
    /// Unit of a number; otherwise empty.
    pub unit: *const c_char,
    /// Minimum of a number; otherwise 0.
    pub min: f32,
    /// Maximum of a number; index of a choice's last entry; number of switches or notes.
    pub max: f32,
    /// Value in a new instance of the plugin: a number, or the index of a choice's entry. 1 for switches, which are all on. 0 for
    /// notes, which are each their own target.
    pub initial: f32,
    /// Number of entries of a choice; otherwise 0.
    pub entry_count: usize,
    /// Ids of a choice's entries; otherwise NULL.
    pub entries: *const *const c_char,
    /// Names of a choice's entries to display; otherwise NULL.
    pub entry_names: *const *const c_char,
}

/// A factory preset.
#[repr(C)]
#[derive(Debug)]
pub struct PresetInfo {
    /// Id, which never changes.
    pub id: *const c_char,
    /// Name to display.
    pub name: *const c_char,
    /// Purpose, in a sentence.
    pub description: *const c_char,
}

/// Rows of a table for C. Their texts and arrays are never freed.
struct Table<T>(Vec<T>);

// SAFETY: all pointers in a table lead to text and arrays that are neither changed nor freed.
unsafe impl<T> Send for Table<T> {}
// SAFETY: as for `Send`.
unsafe impl<T> Sync for Table<T> {}

static SETTINGS: LazyLock<Table<SettingInfo>> =
    LazyLock::new(|| Table(Setting::all().map(info).collect()));

static PRESETS: LazyLock<Table<PresetInfo>> = LazyLock::new(|| {
    let presets = presets::ids().filter_map(|id| Some((id, Preset::factory(id)?)));
    let info = |(id, preset): (&str, Preset)| PresetInfo {
        id: forever(id),
        name: forever(&preset.name),
        description: forever(&preset.description),
    };
    Table(presets.map(info).collect())
});

/// Returns the setting at an index: the numbers, then the choices, then switches and notes. Returns NULL behind the last setting,
/// so that a loop can end there. The first call allocates.
#[unsafe(no_mangle)]
pub extern "C" fn tf_setting_at(index: usize) -> *const SettingInfo {
    SETTINGS.0.get(index).map_or(ptr::null(), ptr::from_ref)
}

/// Returns the factory preset at an index: the sound of a new instance of the plugin, then the published sound, then the others.
/// Returns NULL behind the last preset. The first call allocates.
#[unsafe(no_mangle)]
pub extern "C" fn tf_preset_at(index: usize) -> *const PresetInfo {
    PRESETS.0.get(index).map_or(ptr::null(), ptr::from_ref)
}

fn info(setting: Setting) -> SettingInfo {
    let ([min, max], initial) = (setting.range(), setting.value(&Controls::default()));
    let (kind, max, initial) = match setting {
        Setting::Number(_) => (SettingKind::Number, max, initial),
        Setting::Choice(_) => (SettingKind::Choice, max, initial),
        Setting::Text(text) => match text.of {
            TextOf::Switches(count) => (SettingKind::Switches, count as f32, 1.0),
            TextOf::Notes(count) => (SettingKind::Notes, count as f32, 0.0),
        },
    };
    let entries = setting.entries();
    let list = |text: fn(&Entry) -> *const c_char| match entries {
        [] => ptr::null(),
        _ => entries.iter().map(text).collect::<Vec<_>>().leak().as_ptr(),
    };
    SettingInfo {
        kind,
        id: forever(setting.id()),
        name: forever(setting.name()),
        help: forever(setting.help()),
        unit: forever(setting.unit()),
        min,
        max,
        initial,
        entry_count: entries.len(),
        entries: list(|(id, _)| forever(id)),
        entry_names: list(|(_, name)| forever(name)),
    }
}

/// Returns `text` as a C string that is never freed; empty if `text` contains a NUL.
fn forever(text: &str) -> *const c_char {
    CString::new(text).map_or(c"".as_ptr(), |text| text.into_raw().cast_const())
}
