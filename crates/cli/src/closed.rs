//! A standard output that is closed (`>&-`) before the program starts. The standard library opens `/dev/null` in its place, so that
//! everything written would be lost without an error. A socket without a peer takes the place before, and refuses every byte.

use std::io;

#[cfg(target_os = "linux")]
#[used]
// SAFETY: the section holds pointers to functions that the loader calls before `main`, in C's calling convention. The loader's
// arguments need not be taken. `occupy` neither panics nor needs anything that `main` sets up.
#[unsafe(link_section = ".init_array")]
static OCCUPY: extern "C" fn() = occupy;

#[cfg(target_os = "linux")]
extern "C" fn occupy() {
    use std::os::{
        fd::{AsRawFd, IntoRawFd},
        unix::net::UnixDatagram,
    };
    // New descriptors have the lowest free numbers: 0 and 1 if standard input is closed, too.
    let sockets = [UnixDatagram::unbound(), UnixDatagram::unbound()];
    for socket in sockets.into_iter().flatten() {
        if socket.as_raw_fd() == 1 {
            let _ = socket.into_raw_fd();
        }
    }
}

/// Returns `text` with the socket's error in plain words.
pub fn in_words(text: &str) -> String {
    const NOT_CONNECTED: i32 = 107;
    let own = io::Error::from_raw_os_error(NOT_CONNECTED).to_string();
    if cfg!(target_os = "linux") {
        text.replace(&own, "standard output is closed")
    } else {
        text.into()
    }
}
