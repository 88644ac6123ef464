//! Files dropped on a window, by version 5 of X11's XDND protocol.
//!
//! baseview 0.4.2 implements the protocol, but egui-baseview 0.9.0 discards its events. Therefore a hidden window answers for
//! baseview's window, as its XDND proxy.

use percent_encoding::percent_decode;
use raw_window_handle::HasWindowHandle;
use std::{
    error::Error,
    ffi::OsString,
    os::unix::ffi::OsStringExt,
    path::PathBuf,
    sync::Arc,
    thread::{self, JoinHandle},
};
use x11rb::{
    COPY_DEPTH_FROM_PARENT, COPY_FROM_PARENT, NONE,
    connection::Connection,
    errors::ConnectionError,
    protocol::{
        Event,
        xproto::{
            AtomEnum, ClientMessageEvent, ConnectionExt as _, CreateWindowAux, EventMask, PropMode,
            SelectionNotifyEvent, WindowClass,
        },
    },
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

const VERSION: u32 = 5;

x11rb::atom_manager! {
    Atoms: AtomsCookie {
        XdndActionCopy,
        XdndAware,
        XdndDrop,
        XdndEnter,
        XdndFinished,
        XdndLeave,
        XdndPosition,
        XdndProxy,
        XdndSelection,
        XdndStatus,
        XdndTypeList,
        TEXT_URI_LIST: b"text/uri-list",
    }
}

/// Event of a drag of files from another program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Drag {
    /// The files are over the window.
    Over,
    /// The drag has left the window, or has no readable files.
    Left,
    /// The files, one or more, have been dropped on the window.
    Dropped(Vec<PathBuf>),
}

/// Registration of a window as a target of dropped files. Dropping the value ends the registration.
pub struct DropTarget {
    connection: Arc<RustConnection>,
    proxy: u32,
    thread: Option<JoinHandle<()>>,
}

impl DropTarget {
    /// Registers `window`. Calls `report` on a thread of its own for each [`Drag`].
    ///
    /// # Errors
    /// If `window` is not an X11 window, or the X server of `$DISPLAY` cannot be reached.
    pub fn new(
        window: &impl HasWindowHandle,
        report: impl FnMut(Drag) + Send + 'static,
    ) -> Result<Self, Box<dyn Error>> {
        let window = super::x11_id(window)?;
        // A connection of our own: baseview reads the events of its connection.
        let (connection, screen) = x11rb::connect(None)?;
        let atoms = Atoms::new(&connection)?.reply()?;
        let root = connection.setup().roots[screen].root;
        let proxy = connection.generate_id()?;
        let hidden =
            CreateWindowAux::new().override_redirect(1).event_mask(EventMask::STRUCTURE_NOTIFY);
        let class = WindowClass::INPUT_ONLY;
        let (depth, visual) = (COPY_DEPTH_FROM_PARENT, COPY_FROM_PARENT);
        connection.create_window(depth, proxy, root, -1, -1, 1, 1, 0, class, visual, &hidden)?;
        for (id, name, kind, value) in [
            (proxy, atoms.XdndAware, AtomEnum::ATOM, VERSION),
            // The window names itself as its proxy, so that programs know that it still exists.
            (proxy, atoms.XdndProxy, AtomEnum::WINDOW, proxy),
            (window, atoms.XdndProxy, AtomEnum::WINDOW, proxy),
        ] {
            connection.change_property32(PropMode::REPLACE, id, name, kind, &[value])?.check()?;
        }
        let connection = Arc::new(connection);
        let target = Target { connection: connection.clone(), atoms, proxy, drag: None, report };
        let thread = thread::Builder::new().name("drops".into()).spawn(move || target.run())?;
        Ok(Self { connection, proxy, thread: Some(thread) })
    }
}

impl Drop for DropTarget {
    fn drop(&mut self) {
        // The thread ends when its window is destroyed or the connection fails.
        if self.connection.destroy_window(self.proxy).is_ok() && self.connection.flush().is_ok() {
            // A panic of the thread has been reported already.
            let _ = self.thread.take().map(JoinHandle::join);
        }
    }
}

struct Target<R> {
    connection: Arc<RustConnection>,
    atoms: Atoms,
    proxy: u32,
    /// Source window and target window of the current drag, if it has files.
    drag: Option<[u32; 2]>,
    report: R,
}

impl<R: FnMut(Drag)> Target<R> {
    fn run(mut self) {
        while let Ok(event) = self.connection.wait_for_event() {
            let answered = match event {
                Event::ClientMessage(message) => self.answer(&message),
                Event::SelectionNotify(data) => self.take(&data),
                Event::DestroyNotify(event) if event.window == self.proxy => return,
                _ => Ok(()),
            };
            if answered.is_err() {
                return;
            }
        }
    }

    /// Answers `message` from the program that the files come from.
    fn answer(&mut self, message: &ClientMessageEvent) -> Result<(), ConnectionError> {
        let Atoms { XdndEnter, XdndPosition, XdndLeave, XdndDrop, .. } = self.atoms;
        let [source, flags, time, ..] = message.data.as_data32();
        let drag = [source, message.window];
        let known = self.drag.is_some_and(|[current, _]| current == source);
        match message.type_ {
            kind if kind == XdndEnter => {
                self.drag = self.has_files(message, flags)?.then_some(drag);
                (self.report)(if self.drag.is_some() { Drag::Over } else { Drag::Left });
            }
            kind if kind == XdndPosition => {
                self.send(self.atoms.XdndStatus, drag, known)?;
            }
            kind if kind == XdndLeave && known => {
                self.drag = None;
                (self.report)(Drag::Left);
            }
            kind if kind == XdndDrop && known => {
                let Atoms { XdndSelection: name, TEXT_URI_LIST: kind, .. } = self.atoms;
                self.connection.convert_selection(self.proxy, name, kind, name, time)?;
                self.connection.flush()?;
            }
            kind if kind == XdndDrop => self.send(self.atoms.XdndFinished, drag, false)?,
            _ => {}
        }
        Ok(())
    }

    /// Returns whether the drag that begins with `message` has files.
    fn has_files(&self, message: &ClientMessageEvent, flags: u32) -> Result<bool, ConnectionError> {
        let [source, _, kinds @ ..] = message.data.as_data32();
        let wanted = self.atoms.TEXT_URI_LIST;
        // More than three types are in a list, a property of the source window.
        let has_list = flags & 1 == 1;
        if !has_list {
            return Ok(kinds.contains(&wanted));
        }
        let name = self.atoms.XdndTypeList;
        let list =
            self.connection.get_property(false, source, name, AtomEnum::ATOM, 0, u32::MAX)?.reply();
        let mut list = list.iter().flat_map(|list| list.value32().into_iter().flatten());
        Ok(list.any(|kind| kind == wanted))
    }

    /// Reads the list of dropped files that the source has sent. Answers the source, and reports the files.
    fn take(&mut self, data: &SelectionNotifyEvent) -> Result<(), ConnectionError> {
        let Some(drag) = self.drag.take() else { return Ok(()) };
        let mut files = vec![];
        if data.property != NONE {
            let (kind, name) = (self.atoms.TEXT_URI_LIST, data.property);
            let list =
                self.connection.get_property(true, self.proxy, name, kind, 0, u32::MAX)?.reply();
            files = list.map_or_else(|_| vec![], |list| paths(&list.value));
        }
        self.send(self.atoms.XdndFinished, drag, !files.is_empty())?;
        (self.report)(if files.is_empty() { Drag::Left } else { Drag::Dropped(files) });
        Ok(())
    }

    /// Sends the message `name` to the source of the drag. The message says whether the files are `accepted`.
    fn send(
        &self,
        name: u32,
        [source, target]: [u32; 2],
        accepted: bool,
    ) -> Result<(), ConnectionError> {
        let action = if accepted { self.atoms.XdndActionCopy } else { NONE };
        let data = if name == self.atoms.XdndStatus {
            // An empty rectangle: the source should report every position.
            [target, u32::from(accepted), 0, 0, action]
        } else {
            [target, u32::from(accepted), action, 0, 0]
        };
        let message = ClientMessageEvent::new(32, source, name, data);
        self.connection.send_event(false, source, EventMask::NO_EVENT, message)?;
        self.connection.flush()
    }
}

/// Returns the paths of the local files in `list`, which has the type `text/uri-list` (RFC 2483).
fn paths(list: &[u8]) -> Vec<PathBuf> {
    let lines = list.split(|byte| b"\r\n\0".contains(byte));
    let path = |line: &[u8]| {
        let rest = line.strip_prefix(b"file://")?;
        // A host name may come first; only local files can be read.
        let path = rest.strip_prefix(b"localhost").unwrap_or(rest);
        path.starts_with(b"/")
            .then(|| PathBuf::from(OsString::from_vec(percent_decode(path).collect())))
    };
    lines.filter_map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_uris_is_a_list_of_paths() {
        let list = b"# from a file manager\r\nfile:///home/me/my%20song.tfs\r\n\
            file://localhost/tmp/%c3%a4.json\r\nhttps://example.org/a.json\r\nfile://other/b.json\r\n";
        assert_eq!(paths(list), ["/home/me/my song.tfs", "/tmp/ä.json"].map(PathBuf::from));
        assert_eq!(paths(b"file:///a.json"), [PathBuf::from("/a.json")]);
        assert!(paths(b"").is_empty());
    }
}
