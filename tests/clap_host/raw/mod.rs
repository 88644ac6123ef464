//! Host with all extensions that a host can offer, on the C interface. Logs the plugin's calls, and whether a thread is wrong.

mod extensions;

use clap_sys::{
    entry::clap_plugin_entry,
    events::{
        CLAP_CORE_EVENT_SPACE_ID, CLAP_EVENT_MIDI, CLAP_EVENT_PARAM_VALUE, CLAP_EVENT_TRANSPORT,
        CLAP_TRANSPORT_HAS_TEMPO, clap_event_header, clap_event_midi, clap_event_param_value,
        clap_event_transport, clap_input_events, clap_output_events,
    },
    factory::plugin_factory::{CLAP_PLUGIN_FACTORY_ID, clap_plugin_factory},
    host::clap_host,
    plugin::clap_plugin,
    process::clap_process,
    version::CLAP_VERSION,
};
use extensions::get_extension;
use std::{
    ffi::CStr,
    ptr::{null, null_mut},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, ThreadId},
};
use tone_filter::clap_entry;

/// Returns the entry of the plugin linked into the test, and that of the bundle that was built last.
pub fn entries() -> [&'static clap_plugin_entry; 2] {
    let bundle = tone_filter_testkit::bundle::clap().unwrap_or_else(|error| panic!("{error}"));
    // SAFETY: the library is the project's own and stays in memory, and the symbol is an entry.
    let bundled = unsafe {
        let library = Box::leak(Box::new(libloading::Library::new(bundle).unwrap()));
        let entry = library.get::<*const clap_plugin_entry>(b"clap_entry\0").unwrap();
        &**entry
    };
    [&clap_entry, bundled]
}

/// Track of the host: name and colour.
pub type Track = Option<(&'static str, Option<[u8; 3]>)>;

/// Host with one instance of the plugin.
pub struct RawHost {
    host: clap_host,
    plugin: *const clap_plugin,
    main: ThreadId,
    /// Whether the host knows only the older ids of extensions that have one.
    compat: bool,
    /// Track that the host reports.
    pub track: Mutex<Track>,
    /// Whether the host shows its menus itself.
    pub pops_up: AtomicBool,
    callback: AtomicBool,
    /// Whether the plugin is being activated.
    activating: AtomicBool,
    log: Mutex<Vec<String>>,
}

// SAFETY: tests call each function on a thread that CLAP allows for it.
unsafe impl Sync for RawHost {}

impl RawHost {
    /// Creates a host with a new instance of the plugin of `entry`.
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
                request_restart: Some(request_restart),
                request_process: Some(ignore),
                request_callback: Some(request_callback),
            },
            plugin: null(),
            main: thread::current().id(),
            compat,
            track: Mutex::new(track),
            pops_up: AtomicBool::new(false),
            callback: AtomicBool::new(false),
            activating: AtomicBool::new(false),
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

    /// Returns the plugin's extension, by its `older` id if the host has `compat`.
    pub fn extension<T>(&self, id: &CStr, older: &CStr) -> &T {
        let id = if self.compat { older } else { id };
        // SAFETY: the caller chooses the type of the extension, which lives as long as the plugin.
        unsafe {
            let get = (*self.plugin).get_extension.unwrap();
            get(self.plugin, id.as_ptr()).cast::<T>().as_ref().unwrap_or_else(|| panic!("{id:?}"))
        }
    }

    /// Returns the calls since the last call of this function.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }

    /// Calls the plugin on the main thread if it has requested such a call.
    pub fn idle(&self) {
        if self.callback.swap(false, Ordering::Relaxed) {
            // SAFETY: this is the main thread.
            unsafe { (*self.plugin).on_main_thread.unwrap()(self.plugin) };
        }
    }

    pub fn activate(&self, rate: f64) {
        // SAFETY: tests call this on the main thread, while the plugin is not active.
        unsafe {
            self.activating.store(true, Ordering::Relaxed);
            assert!((*self.plugin).activate.unwrap()(self.plugin, rate, 1, 512));
            self.activating.store(false, Ordering::Relaxed);
        }
    }

    pub fn deactivate(&self) {
        // SAFETY: tests call this on the main thread, while the plugin is active.
        unsafe { (*self.plugin).deactivate.unwrap()(self.plugin) };
    }

    /// Plays a buffer on an audio thread, with a parameter change at its start, and `tempos` at its start and in its middle.
    pub fn play(&self, change: Option<(u32, f64)>, tempos: [Option<f64>; 2]) {
        thread::scope(|scope| {
            // SAFETY: the plugin is active, and this is its only audio thread.
            scope.spawn(|| unsafe {
                let change = change.map(|(id, value)| change_of(id, value));
                self.play_here(change.as_ref().map(|event| &event.header), tempos);
            });
        });
    }

    /// Plays a buffer on an audio thread, with a MIDI message at its start.
    pub fn play_midi(&self, data: [u8; 3]) {
        thread::scope(|scope| {
            // SAFETY: the plugin is active, and this is its only audio thread.
            scope.spawn(|| unsafe {
                let header = header(CLAP_EVENT_MIDI, size_of::<clap_event_midi>(), 0);
                let event = clap_event_midi { header, port_index: 0, data };
                self.play_here(Some(&event.header), [None; 2]);
            });
        });
    }

    unsafe fn play_here(&self, event: Option<&clap_event_header>, [first, then]: [Option<f64>; 2]) {
        let transport = |tempo: f64, time| clap_event_transport {
            header: header(CLAP_EVENT_TRANSPORT, size_of::<clap_event_transport>(), time),
            flags: CLAP_TRANSPORT_HAS_TEMPO,
            tempo,
            // SAFETY: zeros are valid for all of its fields.
            ..unsafe { std::mem::zeroed() }
        };
        let (first, then) =
            (first.map(|tempo| transport(tempo, 0)), then.map(|tempo| transport(tempo, 256)));
        let events: Vec<&clap_event_header> =
            event.into_iter().chain(then.as_ref().map(|event| &event.header)).collect();
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
        // SAFETY: `block` lives until the calls return.
        unsafe {
            let plugin = &*self.plugin;
            assert!(plugin.start_processing.unwrap()(self.plugin));
            assert!(plugin.process.unwrap()(self.plugin, &block) > 0);
            plugin.stop_processing.unwrap()(self.plugin);
        }
    }
}

fn header(type_: u16, size: usize, time: u32) -> clap_event_header {
    clap_event_header {
        size: size as u32,
        time,
        space_id: CLAP_CORE_EVENT_SPACE_ID,
        type_,
        flags: 0,
    }
}

/// Returns the event of a parameter's new value, at the start of a buffer.
pub fn change_of(param_id: u32, value: f64) -> clap_event_param_value {
    clap_event_param_value {
        header: header(CLAP_EVENT_PARAM_VALUE, size_of::<clap_event_param_value>(), 0),
        param_id,
        cookie: null_mut(),
        note_id: -1,
        port_index: -1,
        channel: -1,
        key: -1,
        value,
    }
}

/// Returns a list of `events`, and a list that discards the plugin's events.
pub fn lists(events: &Vec<&clap_event_header>) -> (clap_input_events, clap_output_events) {
    unsafe extern "C" fn size(list: *const clap_input_events) -> u32 {
        // SAFETY: the context is the vector passed to `lists`.
        unsafe { (*(*list).ctx.cast::<Vec<&clap_event_header>>()).len() as u32 }
    }
    unsafe extern "C" fn get(list: *const clap_input_events, at: u32) -> *const clap_event_header {
        // SAFETY: the context is the vector passed to `lists`.
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
        // SAFETY: the plugin is inactive, and is not used any more.
        unsafe { (*self.plugin).destroy.unwrap()(self.plugin) };
    }
}

/// Logs a call, and whether it comes on the wrong thread. `main`: CLAP wants the call on the main thread.
unsafe fn log(host: *const clap_host, main: bool, call: String) {
    // SAFETY: `RawHost::new` put the host there.
    let this = unsafe { &*(*host).host_data.cast::<RawHost>() };
    let here = (thread::current().id() == this.main) == main;
    let call = if here { call } else { format!("{call} ON THE WRONG THREAD") };
    this.log.lock().unwrap().push(call);
}

unsafe extern "C" fn ignore(_: *const clap_host) {}

unsafe extern "C" fn request_restart(host: *const clap_host) {
    // SAFETY: `RawHost::new` put the host there.
    let this = unsafe { &*(*host).host_data.cast::<RawHost>() };
    // The plugin may call this on any thread.
    this.log.lock().unwrap().push("restart".into());
}

unsafe extern "C" fn request_callback(host: *const clap_host) {
    // SAFETY: `RawHost::new` put the host there.
    unsafe { (*(*host).host_data.cast::<RawHost>()).callback.store(true, Ordering::Relaxed) };
}
