//! A host that offers what hosts can offer, as C has it, and writes down how it is called, and on which thread.

use clap_sys::{
    color::clap_color,
    entry::clap_plugin_entry,
    events::{
        CLAP_CORE_EVENT_SPACE_ID, CLAP_EVENT_PARAM_VALUE, CLAP_EVENT_TRANSPORT,
        CLAP_TRANSPORT_HAS_TEMPO, clap_event_header, clap_event_param_value, clap_event_transport,
        clap_input_events, clap_output_events,
    },
    ext::{
        context_menu::{
            CLAP_CONTEXT_MENU_ITEM_BEGIN_SUBMENU, CLAP_CONTEXT_MENU_ITEM_CHECK_ENTRY,
            CLAP_CONTEXT_MENU_ITEM_END_SUBMENU, CLAP_CONTEXT_MENU_ITEM_ENTRY,
            CLAP_CONTEXT_MENU_ITEM_SEPARATOR, CLAP_CONTEXT_MENU_ITEM_TITLE,
            clap_context_menu_builder, clap_context_menu_check_entry, clap_context_menu_entry,
            clap_context_menu_item_title, clap_context_menu_submenu, clap_context_menu_target,
            clap_host_context_menu,
        },
        gui::clap_host_gui,
        note_name::clap_host_note_name,
        params::clap_host_params,
        preset_load::clap_host_preset_load,
        state::clap_host_state,
        tail::clap_host_tail,
        track_info::{
            CLAP_TRACK_INFO_HAS_TRACK_COLOR, CLAP_TRACK_INFO_HAS_TRACK_NAME, clap_host_track_info,
            clap_track_info,
        },
    },
    factory::plugin_factory::{CLAP_PLUGIN_FACTORY_ID, clap_plugin_factory},
    host::clap_host,
    plugin::clap_plugin,
    process::clap_process,
    version::CLAP_VERSION,
};
use std::{
    ffi::{CStr, c_char, c_void},
    ptr::{null, null_mut},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, ThreadId},
};
use tone_filter::clap_entry;

/// The plugin as a debug build, and as the release bundle.
pub fn entries() -> [&'static clap_plugin_entry; 2] {
    let bundle = xtask::bundle::clap().unwrap_or_else(|error| panic!("{error}"));
    // SAFETY: the library is our own, and stays in memory; the symbol is an entry.
    let release = unsafe {
        let library = Box::leak(Box::new(libloading::Library::new(bundle).unwrap()));
        let entry = library.get::<*const clap_plugin_entry>(b"clap_entry\0").unwrap();
        &**entry
    };
    [&clap_entry, release]
}

/// A track of the host: its name and its colour.
pub type Track = Option<(&'static str, Option<[u8; 3]>)>;

/// A host with one instance of the plugin.
pub struct RawHost {
    host: clap_host,
    plugin: *const clap_plugin,
    main: ThreadId,
    /// Whether it knows extensions by their older ids only, where they have any.
    compat: bool,
    /// The track that it tells.
    pub track: Mutex<Track>,
    /// Whether it shows its menus itself.
    pub pops_up: AtomicBool,
    /// Whether it knows of editors.
    pub has_gui: AtomicBool,
    callback: AtomicBool,
    log: Mutex<Vec<String>>,
}

// SAFETY: tests use it on the threads that CLAP allows for each function.
unsafe impl Sync for RawHost {}

impl RawHost {
    /// A host with a new instance of the plugin of `entry`.
    pub fn new(entry: &clap_plugin_entry, compat: bool, track: Track) -> Box<Self> {
        let mut this = Box::new(Self {
            host: clap_host {
                clap_version: CLAP_VERSION,
                host_data: null_mut(),
                name: c"Raw".as_ptr(),
                vendor: c"".as_ptr(),
                url: c"".as_ptr(),
                version: c"1".as_ptr(),
                get_extension: Some(get_extension),
                request_restart: Some(ignore),
                request_process: Some(ignore),
                request_callback: Some(request_callback),
            },
            plugin: null(),
            main: thread::current().id(),
            compat,
            track: Mutex::new(track),
            pops_up: AtomicBool::new(false),
            has_gui: AtomicBool::new(true),
            callback: AtomicBool::new(false),
            log: Mutex::default(),
        });
        this.host.host_data = (&raw mut *this).cast();
        // SAFETY: the calls are in CLAP's order, and the box does not move.
        unsafe {
            assert!(entry.init.unwrap()(c"".as_ptr()));
            let factory = entry.get_factory.unwrap()(CLAP_PLUGIN_FACTORY_ID.as_ptr());
            let factory = factory.cast::<clap_plugin_factory>();
            let create = (*factory).create_plugin.unwrap();
            this.plugin = create(factory, &this.host, c"org.tone-filter.tone-filter".as_ptr());
            assert!(!this.plugin.is_null());
            assert!((*this.plugin).init.unwrap()(this.plugin));
        }
        this
    }

    pub fn plugin(&self) -> *const clap_plugin {
        self.plugin
    }

    /// The plugin's extension, by its older id if this is an old host.
    pub fn extension<T>(&self, id: &CStr, older: &CStr) -> &T {
        let id = if self.compat { older } else { id };
        // SAFETY: the caller has the type right, and extensions live as long as the plugin.
        unsafe {
            let get = (*self.plugin).get_extension.unwrap();
            get(self.plugin, id.as_ptr()).cast::<T>().as_ref().unwrap_or_else(|| panic!("{id:?}"))
        }
    }

    /// The calls since the last time.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }

    /// Calls the plugin on the main thread if it has requested that.
    pub fn idle(&self) {
        if self.callback.swap(false, Ordering::Relaxed) {
            // SAFETY: this is the main thread.
            unsafe { (*self.plugin).on_main_thread.unwrap()(self.plugin) };
        }
    }

    pub fn activate(&self, rate: f64) {
        // SAFETY: tests call this on the main thread, while the plugin is not active.
        assert!(unsafe { (*self.plugin).activate.unwrap()(self.plugin, rate, 1, 512) });
    }

    pub fn deactivate(&self) {
        // SAFETY: tests call this on the main thread, while the plugin is active.
        unsafe { (*self.plugin).deactivate.unwrap()(self.plugin) };
    }

    /// Plays a block on an audio thread, with a change at its start and a tempo, and another tempo in its middle.
    pub fn play(&self, change: Option<(u32, f64)>, tempos: [Option<f64>; 2]) {
        thread::scope(|scope| {
            // SAFETY: the plugin is active, and this is its only audio thread.
            scope.spawn(|| unsafe { self.play_here(change, tempos) });
        });
    }

    unsafe fn play_here(&self, change: Option<(u32, f64)>, [first, then]: [Option<f64>; 2]) {
        let header = |type_, size: usize, time| clap_event_header {
            size: size as u32,
            time,
            space_id: CLAP_CORE_EVENT_SPACE_ID,
            type_,
            flags: 0,
        };
        let transport = |tempo: f64, time| clap_event_transport {
            header: header(CLAP_EVENT_TRANSPORT, size_of::<clap_event_transport>(), time),
            flags: CLAP_TRANSPORT_HAS_TEMPO,
            tempo,
            // SAFETY: zeros are numbers.
            ..unsafe { std::mem::zeroed() }
        };
        let change = change.map(|(param_id, value)| clap_event_param_value {
            header: header(CLAP_EVENT_PARAM_VALUE, size_of::<clap_event_param_value>(), 0),
            param_id,
            cookie: null_mut(),
            note_id: -1,
            port_index: -1,
            channel: -1,
            key: -1,
            value,
        });
        let (first, then) =
            (first.map(|tempo| transport(tempo, 0)), then.map(|tempo| transport(tempo, 256)));
        let of_change = change.as_ref().map(|event| &event.header);
        let events: Vec<&clap_event_header> =
            of_change.into_iter().chain(then.as_ref().map(|event| &event.header)).collect();
        let mut channels = [[0.1f32; 512], [0.1; 512]];
        let [left, right] = &mut channels;
        let mut pointers = [left.as_mut_ptr(), right.as_mut_ptr()];
        let mut port = clap_sys::audio_buffer::clap_audio_buffer {
            data32: pointers.as_mut_ptr(),
            data64: null_mut(),
            channel_count: 2,
            latency: 0,
            constant_mask: 0,
        };
        let (input, output) = lists(&events);
        let block = clap_process {
            steady_time: -1,
            frames_count: 512,
            transport: first.as_ref().map_or(null(), |first| first),
            audio_inputs: &port.clone(),
            audio_outputs: &mut port,
            audio_inputs_count: 1,
            audio_outputs_count: 1,
            in_events: &input,
            out_events: &output,
        };
        // SAFETY: the block lives until the calls return.
        unsafe {
            let plugin = &*self.plugin;
            assert!(plugin.start_processing.unwrap()(self.plugin));
            assert!(plugin.process.unwrap()(self.plugin, &block) > 0);
            plugin.stop_processing.unwrap()(self.plugin);
        }
    }
}

/// The lists of `events`, and of none that are wanted.
pub fn lists(events: &Vec<&clap_event_header>) -> (clap_input_events, clap_output_events) {
    unsafe extern "C" fn size(list: *const clap_input_events) -> u32 {
        // SAFETY: the context is the list of `lists`.
        unsafe { (*(*list).ctx.cast::<Vec<&clap_event_header>>()).len() as u32 }
    }
    unsafe extern "C" fn get(list: *const clap_input_events, at: u32) -> *const clap_event_header {
        // SAFETY: the context is the list of `lists`.
        unsafe { (&(*(*list).ctx.cast::<Vec<&clap_event_header>>()))[at as usize] }
    }
    unsafe extern "C" fn push(_: *const clap_output_events, _: *const clap_event_header) -> bool {
        true
    }
    let ctx = (&raw const *events).cast_mut().cast();
    (
        clap_input_events { ctx, size: Some(size), get: Some(get) },
        clap_output_events { ctx: null_mut(), try_push: Some(push) },
    )
}

impl Drop for RawHost {
    fn drop(&mut self) {
        // SAFETY: the plugin is not active, and not used any more.
        unsafe { (*self.plugin).destroy.unwrap()(self.plugin) };
    }
}

/// Writes down a call; `main` is whether CLAP wants it on the main thread.
unsafe fn log(host: *const clap_host, main: bool, call: String) {
    // SAFETY: `RawHost::new` put the host there.
    let this = unsafe { &*(*host).host_data.cast::<RawHost>() };
    let here = (thread::current().id() == this.main) == main;
    let call = if here { call } else { format!("{call} ON THE WRONG THREAD") };
    this.log.lock().unwrap().push(call);
}

fn text(text: *const c_char) -> String {
    if text.is_null() {
        return "null".to_owned();
    }
    // SAFETY: CLAP promises texts that end.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned()
}

unsafe extern "C" fn ignore(_: *const clap_host) {}

unsafe extern "C" fn request_callback(host: *const clap_host) {
    // SAFETY: `RawHost::new` put the host there.
    unsafe { (*(*host).host_data.cast::<RawHost>()).callback.store(true, Ordering::Relaxed) };
}

static STATE: clap_host_state = clap_host_state { mark_dirty: Some(mark_dirty) };
unsafe extern "C" fn mark_dirty(host: *const clap_host) {
    // SAFETY: it is ours.
    unsafe { log(host, true, "dirty".into()) };
}

static PARAMS: clap_host_params =
    clap_host_params { rescan: Some(rescan), clear: None, request_flush: Some(ignore) };
unsafe extern "C" fn rescan(host: *const clap_host, flags: u32) {
    // SAFETY: it is ours.
    unsafe { log(host, true, format!("rescan {flags}")) };
}

static TAIL: clap_host_tail = clap_host_tail { changed: Some(tail_changed) };
unsafe extern "C" fn tail_changed(host: *const clap_host) {
    // SAFETY: it is ours.
    unsafe { log(host, false, "tail".into()) };
}

static NOTE_NAME: clap_host_note_name = clap_host_note_name { changed: Some(names_changed) };
unsafe extern "C" fn names_changed(host: *const clap_host) {
    // SAFETY: it is ours.
    unsafe { log(host, true, "names".into()) };
}

static PRESET_LOAD: clap_host_preset_load =
    clap_host_preset_load { on_error: Some(on_error), loaded: Some(loaded) };
unsafe extern "C" fn on_error(
    host: *const clap_host,
    kind: u32,
    location: *const c_char,
    key: *const c_char,
    os_error: i32,
    message: *const c_char,
) {
    let (location, key, message) = (text(location), text(key), text(message));
    // SAFETY: it is ours.
    unsafe { log(host, true, format!("error {kind} {location} {key} {os_error}: {message}")) };
}
unsafe extern "C" fn loaded(
    host: *const clap_host,
    kind: u32,
    location: *const c_char,
    key: *const c_char,
) {
    // SAFETY: it is ours.
    unsafe { log(host, true, format!("loaded {kind} {} {}", text(location), text(key))) };
}

static TRACK_INFO: clap_host_track_info = clap_host_track_info { get: Some(get_track) };
unsafe extern "C" fn get_track(host: *const clap_host, to: *mut clap_track_info) -> bool {
    // SAFETY: the host is ours, and there is room.
    unsafe {
        let this = &*(*host).host_data.cast::<RawHost>();
        let Some((name, colour)) = *this.track.lock().unwrap() else { return false };
        let mut info: clap_track_info = std::mem::zeroed();
        info.flags = CLAP_TRACK_INFO_HAS_TRACK_NAME;
        for (char, byte) in info.name.iter_mut().zip(name.bytes()) {
            *char = byte as c_char;
        }
        if let Some([red, green, blue]) = colour {
            info.flags |= CLAP_TRACK_INFO_HAS_TRACK_COLOR;
            info.color = clap_color { alpha: 255, red, green, blue };
        }
        to.write(info);
    }
    true
}

static CONTEXT_MENU: clap_host_context_menu = clap_host_context_menu {
    populate: Some(populate),
    perform: Some(perform),
    can_popup: Some(can_popup),
    popup: Some(popup),
};
unsafe extern "C" fn populate(
    host: *const clap_host,
    target: *const clap_context_menu_target,
    builder: *const clap_context_menu_builder,
) -> bool {
    // SAFETY: the host is ours, and the items are those of their kinds.
    unsafe {
        log(host, true, format!("populate {} {}", (*target).kind, (*target).id));
        let builder = &*builder;
        let add = |kind, item: *const c_void| {
            assert!(builder.supports.unwrap()(builder, kind));
            assert!(builder.add_item.unwrap()(builder, kind, item), "{kind}");
        };
        let entry = |label: &CStr, is_enabled, action_id| clap_context_menu_entry {
            label: label.as_ptr(),
            is_enabled,
            action_id,
        };
        let title = clap_context_menu_item_title { title: c"Mix".as_ptr(), is_enabled: true };
        add(CLAP_CONTEXT_MENU_ITEM_TITLE, (&raw const title).cast());
        let learn = entry(c"Learn controller", true, 7);
        add(CLAP_CONTEXT_MENU_ITEM_ENTRY, (&raw const learn).cast());
        add(CLAP_CONTEXT_MENU_ITEM_SEPARATOR, null());
        let check = clap_context_menu_check_entry {
            label: c"Follow automation".as_ptr(),
            is_enabled: true,
            is_checked: true,
            action_id: 8,
        };
        add(CLAP_CONTEXT_MENU_ITEM_CHECK_ENTRY, (&raw const check).cast());
        let more = clap_context_menu_submenu { label: c"Automation".as_ptr(), is_enabled: true };
        add(CLAP_CONTEXT_MENU_ITEM_BEGIN_SUBMENU, (&raw const more).cast());
        let clear = entry(c"Clear", false, 9);
        add(CLAP_CONTEXT_MENU_ITEM_ENTRY, (&raw const clear).cast());
        add(CLAP_CONTEXT_MENU_ITEM_END_SUBMENU, null());
        // What no plugin can take is refused.
        assert!(!builder.add_item.unwrap()(builder, 99, null()));
        assert!(!builder.add_item.unwrap()(builder, CLAP_CONTEXT_MENU_ITEM_END_SUBMENU, null()));
        assert!(!builder.add_item.unwrap()(builder, CLAP_CONTEXT_MENU_ITEM_ENTRY, null()));
    }
    true
}
unsafe extern "C" fn perform(
    host: *const clap_host,
    target: *const clap_context_menu_target,
    action: u32,
) -> bool {
    // SAFETY: the host is ours.
    unsafe { log(host, true, format!("perform {} {action}", (*target).id)) };
    true
}
unsafe extern "C" fn can_popup(host: *const clap_host) -> bool {
    // SAFETY: the host is ours.
    unsafe { (*(*host).host_data.cast::<RawHost>()).pops_up.load(Ordering::Relaxed) }
}
unsafe extern "C" fn popup(
    host: *const clap_host,
    target: *const clap_context_menu_target,
    screen: i32,
    x: i32,
    y: i32,
) -> bool {
    // SAFETY: the host is ours.
    unsafe { log(host, true, format!("popup {} on {screen} at {x} {y}", (*target).id)) };
    true
}

static GUI: clap_host_gui = clap_host_gui {
    resize_hints_changed: Some(ignore),
    request_resize: Some(request_resize),
    request_show: None,
    request_hide: None,
    closed: Some(closed),
};
unsafe extern "C" fn request_resize(_: *const clap_host, _: u32, _: u32) -> bool {
    false
}
unsafe extern "C" fn closed(_: *const clap_host, _: bool) {}

unsafe extern "C" fn get_extension(host: *const clap_host, id: *const c_char) -> *const c_void {
    // SAFETY: `RawHost::new` put the host there.
    let this = unsafe { &*(*host).host_data.cast::<RawHost>() };
    match (&*text(id), this.compat) {
        ("clap.gui", _) if this.has_gui.load(Ordering::Relaxed) => (&raw const GUI).cast(),
        ("clap.state", _) => (&raw const STATE).cast(),
        ("clap.params", _) => (&raw const PARAMS).cast(),
        ("clap.tail", _) => (&raw const TAIL).cast(),
        ("clap.note-name", _) => (&raw const NOTE_NAME).cast(),
        ("clap.preset-load/2", false) | ("clap.preset-load.draft/2", true) => {
            (&raw const PRESET_LOAD).cast()
        }
        ("clap.track-info/1", false) | ("clap.track-info.draft/1", true) => {
            (&raw const TRACK_INFO).cast()
        }
        ("clap.context-menu/1", false) | ("clap.context-menu.draft/0", true) => {
            (&raw const CONTEXT_MENU).cast()
        }
        _ => null(),
    }
}
