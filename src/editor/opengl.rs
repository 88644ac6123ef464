//! Keeps OpenGL in memory once a window has been opened.

use std::{mem, sync::Once};

/// Loads the libraries with which baseview reaches OpenGL, for good.
///
/// baseview loads them for each window, and unloads them with the last one; but libEGL leaves a destructor
/// with every thread that has used it, and one of the C library's 1024 keys each time that it is loaded. Of two
/// windows that are closed at the same time, the slower thread would end in code that is no longer there.
pub fn keep() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for name in ["libEGL.so.1", "libGL.so.1"] {
            // SAFETY: these are what baseview loads a moment later, and what it does not find is not missed here.
            if let Ok(library) = unsafe { libloading::Library::new(name) } {
                mem::forget(library);
            }
        }
    });
}
