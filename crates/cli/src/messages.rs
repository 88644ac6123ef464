//! Messages on standard error. On Linux, also makes writes fail if standard output was closed (`>&-`) when the program started.
//!
//! For a closed standard output, the standard library would open `/dev/null`, and output would be lost without an error. So
//! before `main`, an unconnected socket becomes standard output: every write to it fails.

use std::io::{self, Write};

/// Prints a line to standard error. Escapes control characters, and removes error codes of the system. Does nothing if the reader
/// has closed standard error.
macro_rules! message {
    ($($words:tt)*) => { crate::messages::print(&format!($($words)*)) };
}

pub fn print(text: &str) {
    let _ = writeln!(io::stderr(), "{}", escaped(&without_codes(&closed_in_words(text))));
}

/// Returns `text` with control characters escaped, like `\u{1b}`.
pub fn escaped(text: &str) -> String {
    let one = |letter: char| match letter.is_control() {
        true => letter.escape_unicode().to_string(),
        false => letter.into(),
    };
    text.chars().map(one).collect()
}

/// Removes error codes of the system, like ` (os error 2)`, from `text`; their descriptions stay.
pub fn without_codes(text: &str) -> String {
    const START: &str = " (os error ";
    let mut parts = text.split(START);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_once(')') {
        Some((code, rest)) if code.parse::<i32>().is_ok() => text + rest,
        _ => text + START + part,
    })
}

#[cfg(target_os = "linux")]
#[used]
// SAFETY: the section holds pointers to functions that the loader calls before `main`, in C's calling convention. A function may
// ignore the loader's arguments. `occupy` neither panics nor needs anything that `main` sets up.
#[unsafe(link_section = ".init_array")]
static OCCUPY: extern "C" fn() = occupy;

#[cfg(target_os = "linux")]
extern "C" fn occupy() {
    use std::os::{
        fd::{AsRawFd, IntoRawFd},
        unix::net::UnixDatagram,
    };
    // A new descriptor gets the lowest free number. Standard output is 1, but 0 comes first if standard input is closed, too.
    let sockets = [UnixDatagram::unbound(), UnixDatagram::unbound()];
    for socket in sockets.into_iter().flatten() {
        if socket.as_raw_fd() == 1 {
            let _ = socket.into_raw_fd();
        }
    }
}

/// Replaces the system's message about an unconnected socket in `text` by its cause here: standard output is closed.
fn closed_in_words(text: &str) -> String {
    const NOT_CONNECTED: i32 = 107;
    let error = io::Error::from_raw_os_error(NOT_CONNECTED).to_string();
    if cfg!(target_os = "linux") {
        text.replace(&error, "standard output is closed")
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::without_codes;

    #[test]
    fn only_codes_of_the_system_are_left_out() {
        assert_eq!(without_codes("a: gone (os error 2); b (os error -1)"), "a: gone; b");
        for text in ["", "a (os error x).wav: gone", "a (os error 2"] {
            assert_eq!(without_codes(text), text);
        }
    }
}
