//! Replacement for the parts of `xkbcommon-dl` that baseview 0.4.2 uses. It avoids a leak: baseview's `XkbcommonState::new` makes
//! a keymap for each window and never releases it. Each opening of an editor leaks 70 KiB.
//!
//! Here, a state owns its keymap. `xkb_keymap_unref` is private: a newer baseview that releases the keymap itself does not compile
//! with this crate, and no longer needs it.
#![allow(non_camel_case_types, reason = "names of the C library")]

use libloading::Library;
use std::{
    ffi::{c_char, c_int},
    sync::OnceLock,
};

/// X11 key code: the kernel's key code plus 8.
pub type xkb_keycode_t = u32;

/// Opaque context of libxkbcommon: search paths and options for keymaps.
#[repr(C)]
pub struct xkb_context([u8; 0]);

/// Opaque keymap: the symbols of each key.
#[repr(C)]
pub struct xkb_keymap([u8; 0]);

/// Opaque keyboard state: a keymap and the held keys.
#[repr(C)]
pub struct xkb_state([u8; 0]);

/// Flags for a new context.
#[repr(C)]
pub enum xkb_context_flags {
    /// No flags.
    XKB_CONTEXT_NO_FLAGS = 0,
}

/// Flags for a new keymap.
#[repr(C)]
pub enum xkb_keymap_compile_flags {
    /// No flags.
    XKB_KEYMAP_COMPILE_NO_FLAGS = 0,
}

/// Whether a key is pressed or released.
#[repr(C)]
pub enum xkb_key_direction {
    /// Release.
    XKB_KEY_UP = 0,
    /// Press.
    XKB_KEY_DOWN = 1,
}

/// Functions of libxkbcommon.
#[expect(missing_docs, reason = "documented by libxkbcommon")]
pub struct XkbCommon {
    pub xkb_context_new: unsafe extern "C" fn(xkb_context_flags) -> *mut xkb_context,
    pub xkb_context_unref: unsafe extern "C" fn(*mut xkb_context),
    pub xkb_state_unref: unsafe extern "C" fn(*mut xkb_state),
    pub xkb_state_update_key:
        unsafe extern "C" fn(*mut xkb_state, xkb_keycode_t, xkb_key_direction) -> c_int,
    pub xkb_state_key_get_utf8:
        unsafe extern "C" fn(*mut xkb_state, xkb_keycode_t, *mut c_char, usize) -> c_int,
    keymap_unref: unsafe extern "C" fn(*mut xkb_keymap),
}

/// Returns the functions of libxkbcommon, if this system has it.
pub fn xkbcommon_option() -> Option<&'static XkbCommon> {
    static FUNCTIONS: OnceLock<Option<XkbCommon>> = OnceLock::new();
    let load = || {
        let library = library("libxkbcommon.so.0")?;
        // SAFETY: these are the types that xkbcommon.h gives them, in all versions with this name.
        unsafe {
            Some(XkbCommon {
                xkb_context_new: *library.get(b"xkb_context_new\0").ok()?,
                xkb_context_unref: *library.get(b"xkb_context_unref\0").ok()?,
                xkb_state_unref: *library.get(b"xkb_state_unref\0").ok()?,
                xkb_state_update_key: *library.get(b"xkb_state_update_key\0").ok()?,
                xkb_state_key_get_utf8: *library.get(b"xkb_state_key_get_utf8\0").ok()?,
                keymap_unref: *library.get(b"xkb_keymap_unref\0").ok()?,
            })
        }
    };
    FUNCTIONS.get_or_init(load).as_ref()
}

/// Loads the library `name`, which then stays in memory.
fn library(name: &str) -> Option<&'static Library> {
    // SAFETY: libxkbcommon does nothing when it is loaded.
    let library = unsafe { Library::new(name) }.ok()?;
    Some(Box::leak(Box::new(library)))
}

/// Functions that read the keymap and state of an X server's keyboard.
pub mod x11 {
    use crate::{library, xkb_context, xkb_keymap, xkb_keymap_compile_flags, xkb_state};
    use std::{
        ffi::{c_int, c_void},
        sync::OnceLock,
    };

    /// Opaque connection of libxcb to an X server.
    pub type xcb_connection_t = c_void;

    type StateNew =
        unsafe extern "C" fn(*mut xkb_keymap, *mut xcb_connection_t, i32) -> *mut xkb_state;

    /// Functions of libxkbcommon-x11.
    #[expect(missing_docs, reason = "documented by libxkbcommon")]
    pub struct XkbCommonX11 {
        pub xkb_x11_get_core_keyboard_device_id:
            unsafe extern "C" fn(*mut xcb_connection_t) -> c_int,
        pub xkb_x11_keymap_new_from_device: unsafe extern "C" fn(
            *mut xkb_context,
            *mut xcb_connection_t,
            i32,
            xkb_keymap_compile_flags,
        ) -> *mut xkb_keymap,
        /// Makes a state that takes ownership of the keymap, unlike libxkbcommon's own function.
        pub xkb_x11_state_new_from_device: StateNew,
        state_new: StateNew,
    }

    /// Returns the functions of libxkbcommon-x11, if this system has it.
    pub fn xkbcommon_x11_option() -> Option<&'static XkbCommonX11> {
        static FUNCTIONS: OnceLock<Option<XkbCommonX11>> = OnceLock::new();
        let load = || {
            let library = library("libxkbcommon-x11.so.0")?;
            // SAFETY: these are the types that xkbcommon-x11.h gives them, in all versions with this name.
            unsafe {
                Some(XkbCommonX11 {
                    xkb_x11_get_core_keyboard_device_id: *library
                        .get(b"xkb_x11_get_core_keyboard_device_id\0")
                        .ok()?,
                    xkb_x11_keymap_new_from_device: *library
                        .get(b"xkb_x11_keymap_new_from_device\0")
                        .ok()?,
                    xkb_x11_state_new_from_device: state_of_its_own,
                    state_new: *library.get(b"xkb_x11_state_new_from_device\0").ok()?,
                })
            }
        };
        FUNCTIONS.get_or_init(load).as_ref()
    }

    /// Makes a state that takes ownership of `keymap`; null on failure.
    ///
    /// # Safety
    /// The requirements of libxkbcommon's `xkb_x11_state_new_from_device` apply. The call consumes the caller's reference to
    /// `keymap`.
    unsafe extern "C" fn state_of_its_own(
        keymap: *mut xkb_keymap,
        connection: *mut xcb_connection_t,
        device: i32,
    ) -> *mut xkb_state {
        let (Some(common), Some(x11)) = (crate::xkbcommon_option(), xkbcommon_x11_option()) else {
            return std::ptr::null_mut();
        };
        // SAFETY: the caller fulfils the function's requirements. The state holds its own reference to the keymap, so the
        // caller's can be released; `xkb_keymap_unref` accepts null.
        unsafe {
            let state = (x11.state_new)(keymap, connection, device);
            (common.keymap_unref)(keymap);
            state
        }
    }
}
