//! Screen readers on Windows, through UI Automation.

use super::Link;
use accesskit_windows::{HWND, SubclassingAdapter};
use egui::accesskit::TreeUpdate;
use fragile::Fragile;
use raw_window_handle::{RawWindowHandle, WindowHandle};
use std::{cell::RefCell, ffi::c_void};

#[link(name = "user32")]
unsafe extern "system" {
    fn IsWindowVisible(window: *mut c_void) -> i32;
}

/// AccessKit's adapter, which replaces the window procedure to answer UI Automation's requests. Must stay on the window's thread,
/// like egui's context.
pub struct Adapter(Fragile<RefCell<SubclassingAdapter>>);

impl Adapter {
    /// Creates the adapter of a new window; `None` for a handle that is not Win32's, or if the window is already visible, which
    /// AccessKit forbids.
    pub fn new(window: WindowHandle, link: &Link) -> Option<Self> {
        let RawWindowHandle::Win32(window) = window.as_raw() else { return None };
        let window = window.hwnd.get() as *mut c_void;
        // SAFETY: the window exists while its handle is borrowed.
        if unsafe { IsWindowVisible(window) } != 0 {
            return None;
        }
        let adapter = SubclassingAdapter::new(HWND(window), link.clone(), link.clone());
        Some(Self(Fragile::new(RefCell::new(adapter))))
    }

    /// Sends a frame's accessibility tree. The window procedure itself tracks the keyboard focus.
    pub fn update(&mut self, tree: TreeUpdate, _focused: bool) {
        // The borrow ends before the events are raised, as raising them may call the procedure again.
        let events = self.0.get().borrow_mut().update_if_active(|| tree);
        if let Some(events) = events {
            events.raise();
        }
    }
}
