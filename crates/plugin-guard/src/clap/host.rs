//! The CLAP host as this crate uses it: functions for the features that nice-plug lacks.

use crate::{Connection, HostLink, Rgb, Track};
use clap_sys::{
    ext::{
        context_menu::*, gui::*, latency::*, note_name::*, params::*, preset_load::*, state::*,
        tail::*, track_info::*,
    },
    id::clap_id,
};
use nice_plug::wrapper::clap::clap_host;
use std::{
    ffi::{CStr, c_char},
    mem::MaybeUninit,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

/// CLAP host. Functions that CLAP allows on one thread only are `unsafe`.
pub struct Host {
    host: HostPointer,
    /// Whether the functions made by [`Host::waker`] may still call the host.
    open: Arc<RwLock<bool>>,
    /// The host's extensions, which [`Host::init`] looks up.
    extensions: OnceLock<Extensions>,
}

/// Pointer to the host, which lives until the plugin is destroyed. CLAP defines for each function the threads that may call it.
#[derive(Clone, Copy)]
struct HostPointer(*const clap_host);

// SAFETY: the pointer is only passed to the host's functions, on the threads that CLAP allows for each.
unsafe impl Send for HostPointer {}
// SAFETY: as above.
unsafe impl Sync for HostPointer {}

/// Copies of the host's function tables; `None` for a missing extension.
struct Extensions {
    gui: Option<clap_host_gui>,
    params: Option<clap_host_params>,
    state: Option<clap_host_state>,
    latency: Option<clap_host_latency>,
    tail: Option<clap_host_tail>,
    note_name: Option<clap_host_note_name>,
    preset_load: Option<clap_host_preset_load>,
    track_info: Option<clap_host_track_info>,
    context_menu: Option<clap_host_context_menu>,
}

/// A preset's location as the host gives it: kind, location and load key.
pub type Location = (u32, *const c_char, *const c_char);

impl HostPointer {
    /// Asks the host to call `on_main_thread`. Allowed on any thread.
    ///
    /// # Safety
    /// The host must live until the call returns.
    unsafe fn request_callback(self) {
        // SAFETY: guaranteed by the caller; the host allows this call on any thread.
        unsafe {
            if let Some(request) = (*self.0).request_callback {
                request(self.0);
            }
        }
    }
}

/// Defines methods that call a function of one of the host's extensions, if the host has it.
macro_rules! calls {
    ($($(#[$comment:meta])* $name:ident($($argument:ident: $type:ty),*) =>
        $extension:ident.$function:ident($($passed:expr),*);)*) => {
        $($(#[$comment])*
        ///
        /// # Safety
        /// Must be called on the thread named above, with pointers that the host has given.
        pub unsafe fn $name(&self, $($argument: $type),*) {
            if let Some(call) = self.extension(|all| all.$extension).and_then(|it| it.$function) {
                // SAFETY: guaranteed by the caller.
                unsafe { call(self.host.0, $($passed),*) };
            }
        })*
    };
}

impl Host {
    calls! {
        /// Reports that the latency has changed. Main thread, while the plugin is being activated.
        latency_changed() => latency.changed();
        /// Reports that the state has changed. Main thread.
        mark_dirty() => state.mark_dirty();
        /// Makes the host read the values of all parameters. Main thread.
        rescan_values() => params.rescan(CLAP_PARAM_RESCAN_VALUES);
        /// Reports that the tail has changed. Audio thread.
        tail_changed() => tail.changed();
        /// Reports that the keys' names have changed. Main thread.
        note_names_changed() => note_name.changed();
        /// Reports that the preset at a location has been loaded. Main thread.
        preset_loaded(at: Location) => preset_load.loaded(at.0, at.1, at.2);
        /// Reports why the preset at a location has not been loaded; `os_error` is the system's error code, or 0. Main thread.
        preset_failed(at: Location, os_error: i32, message: &CStr) =>
            preset_load.on_error(at.0, at.1, at.2, os_error, message.as_ptr());
        /// Makes the host perform the entry `action` of its menu for a parameter. Main thread.
        perform(parameter: clap_id, action: clap_id) =>
            context_menu.perform(&target(parameter), action);
    }

    /// Wraps `host`, which must not be null.
    pub fn new(host: *const clap_host) -> Self {
        let open = Arc::new(RwLock::new(true));
        Self { host: HostPointer(host), open, extensions: OnceLock::new() }
    }

    /// Looks up the host's extensions.
    ///
    /// # Safety
    /// Must be called during the plugin's initialisation.
    pub unsafe fn init(&self) {
        // SAFETY: guaranteed by the caller; each id belongs to the type of its field.
        let extensions = unsafe {
            Extensions {
                gui: self.find(&[CLAP_EXT_GUI]),
                params: self.find(&[CLAP_EXT_PARAMS]),
                state: self.find(&[CLAP_EXT_STATE]),
                latency: self.find(&[CLAP_EXT_LATENCY]),
                tail: self.find(&[CLAP_EXT_TAIL]),
                note_name: self.find(&[CLAP_EXT_NOTE_NAME]),
                preset_load: self.find(&[CLAP_EXT_PRESET_LOAD, CLAP_EXT_PRESET_LOAD_COMPAT]),
                track_info: self.find(&[CLAP_EXT_TRACK_INFO, CLAP_EXT_TRACK_INFO_COMPAT]),
                context_menu: self.find(&[CLAP_EXT_CONTEXT_MENU, CLAP_EXT_CONTEXT_MENU_COMPAT]),
            }
        };
        let _ = self.extensions.set(extensions);
    }

    /// Returns the host's extension under the first of `ids` that the host knows.
    ///
    /// # Safety
    /// Must not be called before the plugin's initialisation. The extensions called `ids` must be of type `T`.
    unsafe fn find<T: Copy>(&self, ids: &[&CStr]) -> Option<T> {
        let host = self.host.0;
        // SAFETY: the host lives as long as the plugin, and its extensions as long as the host.
        unsafe {
            let get = (*host).get_extension?;
            ids.iter().find_map(|id| get(host, id.as_ptr()).cast::<T>().as_ref().copied())
        }
    }

    fn extension<T: Copy>(&self, field: fn(&Extensions) -> Option<T>) -> Option<T> {
        self.extensions.get().and_then(field)
    }

    /// Returns the connection for the editor's requests. Must be called after [`Host::init`].
    pub fn connection(&self) -> Connection {
        let state = self.extension(|all| all.state);
        Connection {
            wake: self.waker(),
            marks_dirty: state.is_some_and(|state| state.mark_dirty.is_some()),
            has_menus: self.extension(|all| all.context_menu).is_some(),
        }
    }

    /// Returns a function that asks the host to call `on_main_thread`. The returned function may be called on any thread. After
    /// [`Host::close`], it does nothing.
    fn waker(&self) -> Box<dyn Fn(&HostLink) + Send + Sync> {
        let (host, open) = (self.host, self.open.clone());
        // `try_read` never waits, so the host may call back. It fails only while the host is being closed.
        Box::new(move |_| {
            if let Ok(open) = open.try_read()
                && *open
            {
                // SAFETY: the host lives until `Host::close` has returned, which waits for the lock held here.
                unsafe { host.request_callback() };
            }
        })
    }

    /// Disables the functions made by [`Host::waker`], and waits for their calls that have begun on other threads.
    pub fn close(&self) {
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = false;
    }

    /// Asks the host to call `on_main_thread`.
    pub fn request_callback(&self) {
        // SAFETY: the host lives as long as the plugin, whose functions call this.
        unsafe { self.host.request_callback() };
    }

    /// Asks the host to deactivate and activate the plugin again. Allowed on any thread.
    pub fn request_restart(&self) {
        let host = self.host.0;
        // SAFETY: the host lives as long as the plugin, and allows this call on any thread.
        unsafe {
            if let Some(request) = (*host).request_restart {
                request(host);
            }
        }
    }

    /// Returns whether the host supports editors; false before [`Host::init`].
    pub fn has_gui(&self) -> bool {
        self.extension(|all| all.gui).is_some()
    }

    /// Asks for a window of this width and height in pixels. Returns false if the host refuses; otherwise the caller must resize
    /// the window, unless the host has done so.
    ///
    /// # Safety
    /// Must be called on the main thread, while the editor is open.
    pub unsafe fn request_resize(&self, [width, height]: [u32; 2]) -> bool {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let gui = self.find::<clap_host_gui>(&[CLAP_EXT_GUI]);
            gui.and_then(|gui| gui.request_resize)
                .is_some_and(|ask| ask(self.host.0, width, height))
        }
    }

    /// Asks the host to call `flush` or `process`. Allowed on any thread but the audio thread.
    pub fn request_flush(&self) {
        if let Some(request) = self.extension(|all| all.params).and_then(|it| it.request_flush) {
            // SAFETY: the host lives as long as the plugin, and allows this call on any thread but the audio thread.
            unsafe { request(self.host.0) };
        }
    }

    /// Returns the track that the plugin is on; `None` if the host reports neither name nor colour.
    ///
    /// # Safety
    /// Must be called on the main thread.
    pub unsafe fn track(&self) -> Option<Track> {
        let get = self.extension(|all| all.track_info)?.get?;
        let mut info = MaybeUninit::<clap_track_info>::zeroed();
        // SAFETY: this is the main thread, `info` has room for the answer, and zeros are a valid value of it.
        let info = unsafe {
            if !get(self.host.0, info.as_mut_ptr()) {
                return None;
            }
            info.assume_init()
        };
        let has = |flag| info.flags & flag != 0;
        let name = info.name.map(|char| char as u8);
        let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
        let name = if has(CLAP_TRACK_INFO_HAS_TRACK_NAME) { name } else { c"" };
        let colour = Some(info.color).filter(|_| has(CLAP_TRACK_INFO_HAS_TRACK_COLOR));
        let colour = colour.and_then(rgb);
        let track = Track { name: name.to_string_lossy().into_owned(), colour };
        (track != Track::default()).then_some(track)
    }

    /// Makes the host show its menu of a parameter at pixel (x, y) of the window; returns false if the host shows none.
    ///
    /// # Safety
    /// Must be called on the main thread.
    pub unsafe fn popup(&self, parameter: clap_id, [x, y]: [i32; 2]) -> bool {
        let Some(menus) = self.extension(|all| all.context_menu) else { return false };
        let (Some(can), Some(popup)) = (menus.can_popup, menus.popup) else { return false };
        // SAFETY: this is the main thread, and the target lives until the call returns.
        unsafe { can(self.host.0) && popup(self.host.0, &target(parameter), 0, x, y) }
    }

    /// Makes the host add the items of its menu of a parameter to `to`. Returns false if the host cannot.
    ///
    /// # Safety
    /// Must be called on the main thread.
    pub unsafe fn populate(&self, parameter: clap_id, to: &clap_context_menu_builder) -> bool {
        let populate = self.extension(|all| all.context_menu).and_then(|menus| menus.populate);
        // SAFETY: this is the main thread, and both pointers are valid until the call returns.
        populate.is_some_and(|populate| unsafe { populate(self.host.0, &target(parameter), to) })
    }
}

fn target(parameter: clap_id) -> clap_context_menu_target {
    clap_context_menu_target { kind: CLAP_CONTEXT_MENU_TARGET_KIND_PARAM, id: parameter }
}

pub fn rgb(colour: clap_sys::color::clap_color) -> Option<Rgb> {
    (colour.alpha > 0).then_some([colour.red, colour.green, colour.blue])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clap::tests::host;
    use std::{
        sync::atomic::{AtomicU8, Ordering},
        thread,
        time::Duration,
    };

    #[test]
    fn a_transparent_colour_is_none() {
        let [red, green, blue] = [1, 2, 3];
        let colour = |alpha| clap_sys::color::clap_color { alpha, red, green, blue };
        assert_eq!((rgb(colour(0)), rgb(colour(9))), (None, Some([1, 2, 3])));
    }

    /// Stage of the test: 1 from the start of [`linger`], 2 from just before [`Host::close`], 3 at the end of [`linger`].
    static STAGE: AtomicU8 = AtomicU8::new(0);

    fn await_stage(stage: u8) {
        while STAGE.load(Ordering::SeqCst) != stage {
            thread::yield_now();
        }
    }

    /// The host's `request_callback`. On another thread, it is still running when [`Host::close`] is called.
    unsafe extern "C" fn linger(_: *const clap_host) {
        STAGE.store(1, Ordering::SeqCst);
        await_stage(2);
        thread::sleep(Duration::from_millis(100));
        STAGE.store(3, Ordering::SeqCst);
    }

    #[test]
    fn closing_waits_for_a_call_of_another_thread() {
        let host = host(linger);
        let host = Host::new(&host);
        let wake = host.waker();
        thread::scope(|scope| {
            scope.spawn(move || wake(&HostLink::default()));
            await_stage(1);
            STAGE.store(2, Ordering::SeqCst);
            host.close();
            assert_eq!(STAGE.load(Ordering::SeqCst), 3, "the host is gone, and still called");
        });
    }
}
