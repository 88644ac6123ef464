//! Test of drag and drop of files from another program, by X11's XDND protocol.

use super::stage::{Stage, Window, is_drawn};
use std::{fs, path::Path, thread::sleep, time::Duration};
use tone_filter_dsp::Settings;
use tone_filter_presets::Preset;
use tone_filter_testkit::{
    display::Picture,
    plugin::{settings, state, wait},
};
use x11rb::{
    COPY_DEPTH_FROM_PARENT, CURRENT_TIME, NONE,
    connection::Connection,
    protocol::{Event, xproto::*},
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

/// Drag source: the other program.
struct Source {
    connection: RustConnection,
    window: u32,
    /// Editor's window and its XDND proxy.
    target: [u32; 2],
    /// Dragged files, as `text/uri-list`.
    list: String,
}

impl Source {
    /// Creates a drag of `list` over the window inside `parent`.
    fn new(parent: u32, list: String) -> Self {
        let (connection, screen) = x11rb::connect(None).unwrap();
        let root = connection.setup().roots[screen].root;
        let window = connection.generate_id().unwrap();
        let (class, aux) = (WindowClass::INPUT_ONLY, CreateWindowAux::new());
        let depth = COPY_DEPTH_FROM_PARENT;
        connection.create_window(depth, window, root, 0, 0, 1, 1, 0, class, 0, &aux).unwrap();
        let editor = connection.query_tree(parent).unwrap().reply().unwrap().children[0];
        let mut source = Self { connection, window, target: [editor; 2], list };
        let proxy = source.property(editor, "XdndProxy", AtomEnum::WINDOW).expect("a proxy");
        assert_eq!(source.property(proxy, "XdndProxy", AtomEnum::WINDOW), Some(proxy));
        assert_eq!(source.property(proxy, "XdndAware", AtomEnum::ATOM), Some(5));
        source.target = [editor, proxy];
        let selection = source.atom("XdndSelection");
        source.connection.set_selection_owner(window, selection, CURRENT_TIME).unwrap();
        source
    }

    fn atom(&self, name: &str) -> u32 {
        self.connection.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom
    }

    fn property(&self, window: u32, name: &str, kind: AtomEnum) -> Option<u32> {
        let reply = self.connection.get_property(false, window, self.atom(name), kind, 0, 1);
        reply.unwrap().reply().unwrap().value32()?.next()
    }

    /// Sends the XDND message `name`: the source's window, then `data`.
    fn send(&self, name: &str, data: [u32; 4]) {
        let [editor, proxy] = self.target;
        let data = [self.window, data[0], data[1], data[2], data[3]];
        let message = ClientMessageEvent::new(32, editor, self.atom(name), data);
        self.connection.send_event(false, proxy, EventMask::NO_EVENT, message).unwrap();
        self.connection.flush().unwrap();
    }

    /// Waits for the answer `name` and returns its data. Meanwhile, sends the list of files if the editor requests it.
    fn answer(&self, name: &str) -> [u32; 5] {
        let name = self.atom(name);
        wait("there is no answer", || {
            match self.connection.poll_for_event().unwrap()? {
                Event::ClientMessage(message) if message.type_ == name => {
                    return Some(message.data.as_data32());
                }
                Event::SelectionRequest(wanted) => {
                    let (to, property, kind) = (wanted.requestor, wanted.property, wanted.target);
                    assert_eq!(kind, self.atom("text/uri-list"));
                    let (replace, list) = (PropMode::REPLACE, self.list.as_bytes());
                    self.connection.change_property8(replace, to, property, kind, list).unwrap();
                    let event = SelectionNotifyEvent {
                        response_type: SELECTION_NOTIFY_EVENT,
                        sequence: 0,
                        time: wanted.time,
                        requestor: to,
                        selection: wanted.selection,
                        target: kind,
                        property,
                    };
                    self.connection.send_event(false, to, EventMask::NO_EVENT, event).unwrap();
                    self.connection.flush().unwrap();
                }
                _ => {}
            }
            None
        })
    }

    /// Drags content of the MIME type `kind` into the window. Returns whether the editor accepts it.
    fn enter(&self, kind: &str) -> bool {
        self.send("XdndEnter", [5 << 24, self.atom(kind), NONE, NONE]);
        self.send("XdndPosition", [0, 20 << 16 | 20, CURRENT_TIME, self.atom("XdndActionCopy")]);
        let [editor, flags, ..] = self.answer("XdndStatus");
        assert_eq!(editor, self.target[0]);
        flags & 1 == 1
    }

    /// Drops the content. Returns whether the editor accepts it.
    fn drop(&self) -> bool {
        self.send("XdndDrop", [0, CURRENT_TIME, 0, 0]);
        self.answer("XdndFinished")[1] & 1 == 1
    }
}

/// Returns the picture of `window` once it has stayed unchanged for half a second.
pub fn still(window: &mut Window) -> Picture {
    let mut before = window.wait("editor-drop", is_drawn);
    wait("the window moves by itself", || {
        sleep(Duration::from_millis(500));
        let now = window.wait("editor-drop", is_drawn);
        let last = std::mem::replace(&mut before, now.clone());
        (now == last).then_some(now)
    })
}

pub fn files_are_dropped(stage: &mut Stage) {
    let folder = tempfile::tempdir().unwrap();
    let [preset, score] = ["my preset.json", "theme.tfs"].map(|name| folder.path().join(name));
    let sound = Settings { mix: 12.0, ..Settings::default() };
    Preset::new("Mine", sound).write(&preset).unwrap();
    fs::write(&score, "tone-filter-score 1\n0 1 69\n").unwrap();
    let uri = |path: &Path| format!("file://{}\r\n", path.to_str().unwrap().replace(' ', "%20"));
    let window = &mut stage.window;
    let source = Source::new(window.display.window(), uri(&preset) + &uri(&score));

    assert!(!source.enter("text/plain"), "text is no file");
    assert!(!source.drop());
    let before = still(window);
    assert!(source.enter("text/uri-list"));
    let mut shows = |droppable: bool| {
        window.wait("editor-drop", |picture| match (picture != &before) == droppable {
            true => Ok(()),
            false => Err(format!("it must show that files can be dropped: {droppable}")),
        });
    };
    shows(true);
    source.send("XdndLeave", [0; 4]);
    shows(false);
    assert!(!source.drop(), "they are no longer there");

    assert!(source.enter("text/uri-list") && source.drop());
    // A score is not a parameter, so it is loaded although the host does not play.
    wait("they are not loaded", || {
        window.instance.idle();
        let state = state(&window.instance.save().unwrap());
        (state["fields"]["score"] != "null").then_some(())
    });
    stage.show("editor-dropped", &|_| 0.0, is_drawn);
    let saved = state(&stage.window.instance.save().unwrap());
    assert!(saved["fields"]["score"].to_string().contains("theme"), "{saved}");
    assert_eq!(settings(&mut stage.window.instance).mix, 12.0);
}
