//! Screen readers on Linux, through AT-SPI on D-Bus.

use super::Link;
use egui::accesskit::TreeUpdate;
use raw_window_handle::WindowHandle;
use std::{env, path::Path};

/// AccessKit's adapter: the window's object on the accessibility bus. AccessKit talks to D-Bus on a few threads of its own,
/// which serve all windows and run until the process ends. No window waits for them.
pub struct Adapter(accesskit_unix::Adapter);

impl Adapter {
    /// Creates the adapter of a new window; `None` without a session bus.
    pub fn new(_window: WindowHandle, link: &Link) -> Option<Self> {
        let adapter = || accesskit_unix::Adapter::new(link.clone(), link.clone(), link.clone());
        has_session_bus().then(|| Self(adapter()))
    }

    /// Sends a frame's accessibility tree, and whether the window has the keyboard focus.
    pub fn update(&mut self, tree: TreeUpdate, focused: bool) {
        self.0.update_if_active(|| tree);
        self.0.update_window_focus_state(focused);
    }
}

/// Whether D-Bus has a session bus: at the address in the environment, or else in the user's runtime folder.
fn has_session_bus() -> bool {
    match env::var_os("DBUS_SESSION_BUS_ADDRESS") {
        Some(address) => !address.is_empty(),
        None => env::var_os("XDG_RUNTIME_DIR")
            .is_some_and(|folder| Path::new(&folder).join("bus").exists()),
    }
}
