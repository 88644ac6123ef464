//! Tests of CLAP's preset discovery and preset loading.

use crate::raw::{RawHost, entry, text};
use clap_sys::{
    ext::{
        preset_load::{CLAP_EXT_PRESET_LOAD, CLAP_EXT_PRESET_LOAD_COMPAT, clap_plugin_preset_load},
        state::{CLAP_EXT_STATE, clap_plugin_state},
    },
    factory::preset_discovery::*,
    stream::clap_ostream,
    timestamp::clap_timestamp,
    universal_plugin_id::clap_universal_plugin_id,
    version::CLAP_VERSION,
};
use std::{
    cell::RefCell,
    env,
    ffi::{CString, c_char, c_void},
    fs,
    path::PathBuf,
    ptr::null,
};
use tempfile::TempDir;
use tone_filter_dsp::Settings;
use tone_filter_presets::{Preset, ids};
use tone_filter_testkit::plugin::{assert_near, settings_in, state};

/// Redirects the user's configuration to a temporary folder. Returns it and the path of its presets, which is still missing.
fn home() -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    // SAFETY: this process has no other thread yet.
    unsafe { env::set_var("XDG_CONFIG_HOME", home.path()) };
    let presets = home.path().join("tone-filter/presets");
    (home, presets)
}

/// Log of the calls that the host gets.
type Lines = RefCell<Vec<String>>;

/// Appends `line` to `lines`.
///
/// # Safety
/// `lines` must point to [`Lines`].
unsafe fn push(lines: *mut c_void, line: String) {
    // SAFETY: the caller guarantees it.
    unsafe { (*lines.cast::<Lines>()).borrow_mut().push(line) };
}

unsafe extern "C" fn declare_filetype(
    indexer: *const clap_preset_discovery_indexer,
    file: *const clap_preset_discovery_filetype,
) -> bool {
    // SAFETY: the indexer is the test's, and the file type is complete.
    unsafe { push((*indexer).indexer_data, format!("type {}", text((*file).file_extension))) };
    true
}

unsafe extern "C" fn declare_location(
    indexer: *const clap_preset_discovery_indexer,
    location: *const clap_preset_discovery_location,
) -> bool {
    // SAFETY: the indexer is the test's, and the location is complete.
    unsafe {
        let clap_preset_discovery_location { flags, name, kind, location } = *location;
        let line = format!("location {flags} {} {kind} {}", text(name), text(location));
        push((*indexer).indexer_data, line);
    }
    true
}

/// Defines functions of the metadata receiver. Each appends a line to the log.
macro_rules! receive {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:literal $kind:ty)?: $line:expr;)*) => {
        $(unsafe extern "C" fn $name(
            receiver: *const clap_preset_discovery_metadata_receiver, $($argument: $type),*
        ) $(-> $kind)? {
            // SAFETY: the receiver is the test's, and its arguments are CLAP's.
            unsafe { push((*receiver).receiver_data, $line) };
            $($result)?
        })*
    };
}
receive! {
    on_error(os_error: i32, message: *const c_char): format!("error {os_error} {}", text(message));
    begin_preset(name: *const c_char, key: *const c_char) -> true bool:
        format!("preset {} {}", text(name), text(key));
    // SAFETY: the id is complete.
    add_plugin_id(id: *const clap_universal_plugin_id):
        format!("for {} {}", text((*id).abi), text((*id).id));
    set_soundpack_id(id: *const c_char): format!("pack {}", text(id));
    set_flags(flags: u32): format!("flags {flags}");
    add_creator(creator: *const c_char): format!("by {}", text(creator));
    set_description(description: *const c_char): format!("is {}", text(description));
    set_timestamps(_made: clap_timestamp, _changed: clap_timestamp): String::new();
    add_feature(feature: *const c_char): format!("tag {}", text(feature));
    add_extra_info(key: *const c_char, value: *const c_char):
        format!("{}: {}", text(key), text(value));
}

/// Runs preset discovery. Returns the provider's declarations, and for each of `places` (kind and path) whether the provider
/// accepts it and its metadata.
fn crawl(compat: bool, places: &[(u32, Option<&str>)]) -> (Vec<String>, Vec<(bool, Vec<String>)>) {
    let entry = entry();
    let declared = Lines::default();
    let indexer = clap_preset_discovery_indexer {
        clap_version: CLAP_VERSION,
        name: c"Indexer".as_ptr(),
        vendor: null(),
        url: null(),
        version: null(),
        indexer_data: (&raw const declared).cast_mut().cast(),
        declare_filetype: Some(declare_filetype),
        declare_location: Some(declare_location),
        declare_soundpack: None,
        get_extension: None,
    };
    let id = match compat {
        false => CLAP_PRESET_DISCOVERY_FACTORY_ID,
        true => CLAP_PRESET_DISCOVERY_FACTORY_ID_COMPAT,
    };
    // SAFETY: the calls are in CLAP's order, with valid arguments.
    unsafe {
        assert!(entry.init.unwrap()(c"".as_ptr()));
        let factory = entry.get_factory.unwrap()(id.as_ptr());
        let factory = &*factory.cast::<clap_preset_discovery_factory>();
        assert_eq!(factory.count.unwrap()(factory), 1);
        assert!(factory.get_descriptor.unwrap()(factory, 1).is_null());
        let descriptor = &*factory.get_descriptor.unwrap()(factory, 0);
        let create = factory.create.unwrap();
        assert!(create(factory, &indexer, c"other".as_ptr()).is_null());
        let provider = &*create(factory, &indexer, descriptor.id);
        assert!(provider.init.unwrap()(provider));
        assert!(provider.get_extension.unwrap()(provider, c"any".as_ptr()).is_null());
        let told = places.iter().map(|&(kind, path)| {
            let lines = Lines::default();
            let receiver = clap_preset_discovery_metadata_receiver {
                receiver_data: (&raw const lines).cast_mut().cast(),
                on_error: Some(on_error),
                begin_preset: Some(begin_preset),
                add_plugin_id: Some(add_plugin_id),
                set_soundpack_id: Some(set_soundpack_id),
                set_flags: Some(set_flags),
                add_creator: Some(add_creator),
                set_description: Some(set_description),
                set_timestamps: Some(set_timestamps),
                add_feature: Some(add_feature),
                add_extra_info: Some(add_extra_info),
            };
            let path = path.map(|path| CString::new(path).unwrap());
            let path = path.as_ref().map_or(null(), |path| path.as_ptr());
            let known = provider.get_metadata.unwrap()(provider, kind, path, &receiver);
            (known, lines.take())
        });
        let told = told.collect();
        provider.destroy.unwrap()(provider);
        (declared.take(), told)
    }
}

const FILE: u32 = CLAP_PRESET_DISCOVERY_LOCATION_FILE;
const PLUGIN: u32 = CLAP_PRESET_DISCOVERY_LOCATION_PLUGIN;

pub fn a_host_finds_the_presets() {
    let (_home, folder) = home();
    for compat in [false, true] {
        let _ = fs::remove_dir_all(&folder);
        let factory = format!("location {CLAP_PRESET_DISCOVERY_IS_FACTORY_CONTENT} Factory 1 null");
        let (declared, told) = crawl(compat, &[(PLUGIN, None), (7, None)]);
        assert_eq!(declared, ["type json", &factory], "no folder of the user's");
        assert!(!folder.exists(), "and none is made");
        assert_eq!(told[1], (false, vec![]));
        let (known, lines) = &told[0];
        let names: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("preset ")).collect();
        let expected: Vec<_> =
            ids().map(|id| format!("{} {id}", Preset::factory(id).unwrap().name)).collect();
        assert!(*known && names == expected, "{names:?}");
        let start = lines.iter().position(|line| line.ends_with(" chord-pad")).unwrap();
        let of_pad = [
            "preset Chord Pad chord-pad",
            "for clap org.tone-filter.tone-filter",
            "flags 1",
            "by Tone Filter",
            "is Long, soft tones that form a pad behind the chords.",
            "tag chords",
            "tag ambient",
            "tag soft",
        ];
        assert_eq!(lines[start..start + of_pad.len()], of_pad);

        fs::create_dir_all(&folder).unwrap();
        let mut own = Preset::new("In it", Settings::default());
        (own.description, own.tags) = ("Mine\0.".to_owned(), vec!["loud".to_owned()]);
        own.write(&folder.join("By File.json")).unwrap();
        fs::write(folder.join("broken.json"), "{").unwrap();
        let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        let paths = ["By File.json", "broken.json", "none.json", ""].map(path);
        let places = paths.each_ref().map(|path| (FILE, Some(path.as_str())));
        let (declared, told) = crawl(compat, &places);
        let user = format!(
            "location {CLAP_PRESET_DISCOVERY_IS_USER_CONTENT} Your own 0 {}",
            folder.display()
        );
        assert_eq!(declared, ["type json", &factory, &user]);
        let lines = [
            "preset By File null",
            "for clap org.tone-filter.tone-filter",
            "flags 2",
            "is Mine.",
            "tag loud",
        ];
        assert_eq!(told[0], (true, lines.map(str::to_owned).to_vec()));
        for (place, expected) in [(1, "error 0 "), (2, "error 2 "), (3, "error 0 ")] {
            let (known, lines) = &told[place];
            assert!(!known && lines.len() == 1 && lines[0].starts_with(expected), "{lines:?}");
            assert!(lines[0].contains("presets"), "{lines:?} names the file");
        }
    }
}

fn save(host: &RawHost) -> Vec<u8> {
    unsafe extern "C" fn write(to: *const clap_ostream, from: *const c_void, size: u64) -> i64 {
        // SAFETY: the context is the vector below, and `from` has `size` bytes.
        unsafe {
            let bytes = std::slice::from_raw_parts(from.cast::<u8>(), size as usize);
            (*(*to).ctx.cast::<Vec<u8>>()).extend(bytes);
        }
        size as i64
    }
    let mut bytes = Vec::<u8>::new();
    let stream = clap_ostream { ctx: (&raw mut bytes).cast(), write: Some(write) };
    let state: &clap_plugin_state = host.extension(CLAP_EXT_STATE, CLAP_EXT_STATE);
    // SAFETY: the stream lives until the call returns.
    assert!(unsafe { state.save.unwrap()(host.plugin(), &stream) });
    bytes
}

pub fn a_host_loads_the_presets() {
    let (_home, folder) = home();
    fs::create_dir_all(&folder).unwrap();
    let settings = Settings {
        mix: 12.0,
        bands: Settings::default().bands.with(3, false),
        lookahead: true,
        ..Settings::REFERENCE
    };
    let path = folder.join("Mine.json");
    Preset::new("Other", settings).write(&path).unwrap();
    let path = path.to_str().unwrap();
    for compat in [false, true] {
        let host = RawHost::new(compat, None);
        let load: &clap_plugin_preset_load =
            host.extension(CLAP_EXT_PRESET_LOAD, CLAP_EXT_PRESET_LOAD_COMPAT);
        let load = |kind: u32, location: Option<&str>, key: Option<&str>| {
            let [location, key] =
                [location, key].map(|text| text.map(|it| CString::new(it).unwrap()));
            let pointer = |text: &Option<CString>| text.as_ref().map_or(null(), |it| it.as_ptr());
            let (location, key) = (pointer(&location), pointer(&key));
            // SAFETY: this is the main thread, and the texts end with a zero.
            let loaded = unsafe { load.from_location.unwrap()(host.plugin(), kind, location, key) };
            host.idle();
            (loaded, host.take())
        };
        let pad = Preset::factory("chord-pad").unwrap().settings;
        // First inactive, then active.
        for active in [false, true] {
            let mut pad_calls = vec!["rescan 1", "loaded 1 null chord-pad"];
            if active {
                host.activate(48_000.0);
                assert_eq!(host.take(), ["latency"]);
                pad_calls.insert(1, "restart");
            }
            let (loaded, calls) = load(PLUGIN, None, Some("chord-pad"));
            assert!(loaded);
            assert_eq!(calls, pad_calls);
            let state = save(&host);
            assert_near(&settings_in(&state), &pad);
            assert_eq!(preset(&state), "Chord Pad");

            let (loaded, calls) = load(FILE, Some(path), None);
            assert!(loaded);
            assert_eq!(calls, ["rescan 1", &format!("loaded 0 {path} null")]);
            let state = save(&host);
            assert_near(&settings_in(&state), &settings);
            assert_eq!(preset(&state), "Mine");

            for (kind, location, key, message) in [
                (
                    FILE,
                    Some("/none.json"),
                    None,
                    "error 0 /none.json null 2: /none.json: cannot be read",
                ),
                (FILE, Some("/"), None, "error 0 / null 0: /: cannot be read (it is not a file)"),
                (FILE, None, None, "error 0 null null 2: : cannot be read"),
                (PLUGIN, None, Some("none"), "error 1 null none 0: no preset is called \"none\""),
                (PLUGIN, None, None, "error 1 null null 0: no preset is called \"\""),
                (9, None, Some("chord-pad"), "error 9 null chord-pad 0: "),
            ] {
                let (loaded, calls) = load(kind, location, key);
                assert!(!loaded && calls.len() == 1 && calls[0].starts_with(message), "{calls:?}");
            }
            assert_eq!(save(&host), state, "nothing has changed");
        }
        host.deactivate();
    }
}

fn preset(saved: &[u8]) -> String {
    let state = state(saved);
    serde_json::from_str(state["fields"]["preset"].as_str().unwrap()).unwrap()
}
