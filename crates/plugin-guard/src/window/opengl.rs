//! Keeps OpenGL in memory once a window has been opened.

use std::{mem, sync::Once};

/// Loads the libraries through which baseview uses OpenGL, and never unloads them.
///
/// baseview loads the libraries for each window and unloads them with the last one. But libEGL registers a destructor for
/// every thread that has used it, and takes one of the C library's 1024 thread-local keys each time it is loaded.
/// When two windows close at the same time, the slower thread would run a destructor that is no longer in memory.
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
