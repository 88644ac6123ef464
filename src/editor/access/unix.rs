//! AT-SPI, through D-Bus.

use super::Link;
use egui::accesskit::TreeUpdate;
use raw_window_handle::WindowHandle;
use std::{env, path::Path};

/// The window's object on the bus of the screen readers.
///
/// A few threads for all windows of the library talk to D-Bus, from the first window on to the end of the process. A window
/// waits neither for them nor for a screen reader. They do not start where there is no session bus.
pub struct Adapter(accesskit_unix::Adapter);

impl Adapter {
    /// The adapter of a new window; `None` without a session bus.
    pub fn new(_window: WindowHandle, link: &Link) -> Option<Self> {
        let adapter = || accesskit_unix::Adapter::new(link.clone(), link.clone(), link.clone());
        has_session_bus().then(|| Self(adapter()))
    }

    /// Passes the tree of a frame on, and whether the window has the keyboard focus.
    pub fn update(&mut self, tree: TreeUpdate, focused: bool) {
        self.0.update_if_active(|| tree);
        self.0.update_window_focus_state(focused);
    }
}

/// Whether there is a session bus, by the rules of D-Bus: at the address in the environment, or else in the user's folder.
fn has_session_bus() -> bool {
    match env::var_os("DBUS_SESSION_BUS_ADDRESS") {
        Some(address) => !address.is_empty(),
        None => env::var_os("XDG_RUNTIME_DIR")
            .is_some_and(|folder| Path::new(&folder).join("bus").exists()),
    }
}
