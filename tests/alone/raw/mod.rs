//! Host on CLAP's C interface with the extensions for presets, menus and tracks, under their current or their draft ids. It logs
//! the plugin's calls, and marks calls from the wrong thread.

mod extensions;

use clap_sys::{
    entry::clap_plugin_entry,
    factory::plugin_factory::{CLAP_PLUGIN_FACTORY_ID, clap_plugin_factory},
    host::clap_host,
    plugin::clap_plugin,
    version::CLAP_VERSION,
};
use extensions::get_extension;
pub use extensions::text;
use std::{
    ffi::CStr,
    ptr::{null, null_mut},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, ThreadId},
};
use tone_filter_testkit::bundle;

/// Loads the built CLAP bundle and returns its entry.
pub fn entry() -> &'static clap_plugin_entry {
    let bundle = bundle::clap().unwrap_or_else(|error| panic!("{error}"));
    // SAFETY: the library is the project's own and stays in memory, and the symbol is an entry.
    unsafe {
        let library = Box::leak(Box::new(libloading::Library::new(bundle).unwrap()));
        let entry = library.get::<*const clap_plugin_entry>(b"clap_entry\0").unwrap();
        &**entry
    }
}

/// Track of the host: name and colour.
pub type Track = Option<(&'static str, Option<[u8; 3]>)>;

pub struct RawHost {
    host: clap_host,
    plugin: *const clap_plugin,
    main: ThreadId,
    /// Whether the host offers extensions only under their draft ids, if they have one.
    compat: bool,
    /// Track of the plugin; `None` if the host knows none.
    pub track: Mutex<Track>,
    /// Whether the host can pop up its context menu.
    pub pops_up: AtomicBool,
    callback: AtomicBool,
    log: Mutex<Vec<String>>,
}

// SAFETY: tests call each function on a thread that CLAP allows for it.
unsafe impl Sync for RawHost {}

impl RawHost {
    /// Creates a host with a new instance of the built plugin.
    pub fn new(compat: bool, track: Track) -> Box<Self> {
        let entry = entry();
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

    /// Returns the plugin's extension `id`, or `older` if the host has `compat`.
    pub fn extension<T>(&self, id: &CStr, older: &CStr) -> &T {
        let id = if self.compat { older } else { id };
        // SAFETY: the caller chooses the type of the extension, which lives as long as the plugin.
        unsafe {
            let get = (*self.plugin).get_extension.unwrap();
            get(self.plugin, id.as_ptr()).cast::<T>().as_ref().unwrap_or_else(|| panic!("{id:?}"))
        }
    }

    /// Returns the logged calls and clears the log.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }

    /// Calls the plugin on the main thread, if requested.
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
}

impl Drop for RawHost {
    fn drop(&mut self) {
        // SAFETY: the plugin is inactive, and is not used any more.
        unsafe { (*self.plugin).destroy.unwrap()(self.plugin) };
    }
}

/// Logs a call, which CLAP allows on the main thread only.
unsafe fn log(host: *const clap_host, call: String) {
    // SAFETY: `RawHost::new` put the host there.
    let this = unsafe { &*(*host).host_data.cast::<RawHost>() };
    let here = thread::current().id() == this.main;
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
