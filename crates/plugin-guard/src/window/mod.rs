//! Workarounds for editor windows. On Linux, baseview 0.4.2 and egui-baseview 0.9.0 have faults, and nice-plug uses a window on
//! several threads.

#[cfg(target_os = "linux")]
mod drawing;
#[cfg(target_os = "linux")]
mod drops;
#[cfg(target_os = "linux")]
mod focus;
mod shared;

#[cfg(target_os = "linux")]
pub use drawing::{keep_loaded, select_answers};
#[cfg(target_os = "linux")]
pub use drops::{Drag, DropTarget};
#[cfg(target_os = "linux")]
pub use focus::{Focus, screen};
#[cfg(target_os = "linux")]
use raw_window_handle::{HasWindowHandle, RawWindowHandle};
pub use shared::{Handle, Window, shared};
#[cfg(target_os = "linux")]
use std::error::Error;

/// Returns the id of an X11 window.
#[cfg(target_os = "linux")]
fn x11_id(window: &impl HasWindowHandle) -> Result<u32, Box<dyn Error>> {
    match window.window_handle()?.as_raw() {
        RawWindowHandle::Xlib(window) => Ok(window.window.try_into()?),
        _ => Err("no window of Xlib's".into()),
    }
}
