//! Workarounds for drawing by baseview, which uses OpenGL and waits for answers of X11's Present extension.

use raw_window_handle::{HasDisplayHandle, HasWindowHandle, RawDisplayHandle};
use std::{error::Error, mem, sync::Once};
use x11_dl::xlib_xcb::Xlib_xcb;
use x11rb::{
    connection::Connection,
    protocol::present::{ConnectionExt, EventMask},
    xcb_ffi::XCBConnection,
};

/// Loads the OpenGL libraries that baseview uses, and never unloads them.
///
/// baseview unloads the libraries with the last window. But libEGL registers a destructor for every thread that has used it: when
/// two windows close at the same time, the slower thread would run a destructor that is no longer in memory. Each load also takes
/// one of the C library's 1024 thread-local keys.
pub fn keep_loaded() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for name in ["libEGL.so.1", "libGL.so.1"] {
            // SAFETY: baseview loads the same libraries a moment later. It also reports a missing one.
            if let Ok(library) = unsafe { libloading::Library::new(name) } {
                mem::forget(library);
            }
        }
    });
}

/// Subscribes a new window to the answers to Present requests, on baseview's connection. Must be called before the window's event
/// loop runs.
///
/// baseview 0.4.2 subscribes when the window is mapped, but its timer sends the first request after 16 ms. If the host takes
/// longer to show the window, the answer is lost. baseview sends no request before an answer, so nothing is ever drawn.
///
/// # Errors
/// If the window is not an X11 window, or the server lacks the extension; baseview then draws by a timer.
pub fn select_answers(
    window: &(impl HasDisplayHandle + HasWindowHandle),
) -> Result<(), Box<dyn Error>> {
    let id = super::x11_id(window)?;
    let RawDisplayHandle::Xlib(display) = window.display_handle()?.as_raw() else {
        return Err("no display of Xlib's".into());
    };
    let display = display.display.ok_or("no display")?;
    let library = Xlib_xcb::open()?;
    // SAFETY: this is baseview's display, which stays open while there is a window.
    let connection = unsafe { (library.XGetXCBConnection)(display.as_ptr().cast()) };
    // SAFETY: the connection belongs to that display, and `false` leaves it open when this value is dropped.
    let connection = unsafe { XCBConnection::from_raw_xcb_connection(connection, false) }?;
    let event = connection.generate_id()?;
    connection.present_select_input(event, id, EventMask::COMPLETE_NOTIFY)?.check()?;
    Ok(())
}
