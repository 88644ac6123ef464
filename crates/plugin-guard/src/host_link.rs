//! Messages between the host and the editor besides parameters, in terms of no plugin format.
//!
//! The window may have a thread of its own, but a host is called on its main thread only. Therefore the editor leaves
//! its requests here, and the shim takes them on that thread.
//!
//! Hosts report the track, mappings, automation and menus here. In CLAP the shim takes requests on the main thread, in VST3 on
//! the thread of the edit, as nice-plug does with edits. A host without a call for a changed state gets a gesture on `scale`
//! that keeps its value.

use nice_plug::plugin::{TrackColor, TrackInfo};
use std::{
    collections::BTreeMap,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A colour that the host has chosen: red, green and blue.
pub type Rgb = [u8; 3];

/// Request of the editor to the host.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Save the state, which has changed without a parameter.
    MarkDirty,
    /// Read the values of all parameters, which the plugin has changed. VST3 hosts never get this request.
    ReadValues,
    /// Show the host's menu of a parameter, or describe its items.
    Menu(Place),
    /// Carry out an entry of the host's menu.
    Perform {
        /// The parameter's id.
        id: &'static str,
        /// The host's number for the action.
        action: u32,
    },
}

/// A track of the host.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Track {
    /// Name; may be empty.
    pub name: String,
    /// Colour, if the host has one.
    pub colour: Option<Rgb>,
}

impl Track {
    /// Returns the track that nice-plug has read; `None` if that has neither name nor colour.
    pub fn of_nice_plug(info: &TrackInfo) -> Option<Self> {
        // A transparent colour is none.
        let colour = info.color().map(TrackColor::rgba).filter(|(.., alpha)| *alpha > 0);
        let colour = colour.map(|(red, green, blue, _)| [red, green, blue]);
        let track = Self { name: info.name().to_owned(), colour };
        (track != Self::default()).then_some(track)
    }
}

/// Mapping and automation of a parameter.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Indication {
    /// A control of hardware that it is mapped to.
    pub mapping: Option<Mapping>,
    /// State of the automation, and the host's colour for it.
    pub automation: Option<(Automation, Option<Rgb>)>,
}

/// A physical control that is mapped to a parameter.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mapping {
    /// Colour, if the controller has one.
    pub colour: Option<Rgb>,
    /// Short name; may be empty.
    pub label: String,
    /// Description; may be empty.
    pub description: String,
}

/// State of a parameter's automation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Automation {
    /// Automation exists.
    Present,
    /// Automation plays.
    Playing,
    /// Automation is recorded.
    Recording,
    /// Automation would play if the user had not changed the parameter.
    Overriding,
}

/// Origin of a menu's request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// The parameter's id.
    pub id: &'static str,
    /// Position in the window, in the editor's own points: x and y.
    pub at: [f32; 2],
    /// Size in the pixels in which hosts count.
    pub pixel: [i32; 2],
}

/// A menu of the host.
#[derive(Debug, Clone, PartialEq)]
pub struct Menu {
    /// Origin of the request.
    pub place: Place,
    /// Items from top to bottom.
    pub items: Vec<MenuItem>,
}

/// A line of a menu.
#[derive(Debug, Clone, PartialEq)]
pub enum MenuItem {
    /// Something to click.
    Entry {
        /// Label.
        label: String,
        /// False for an entry that cannot be clicked.
        enabled: bool,
        /// Check mark; `None` for an entry that never has one.
        checked: Option<bool>,
        /// The host's number for the action.
        action: u32,
    },
    /// A line between entries.
    Separator,
    /// A heading.
    Title(String),
    /// A submenu.
    Submenu {
        /// Label.
        label: String,
        /// False for a submenu that cannot be opened.
        enabled: bool,
        /// Items.
        items: Vec<Self>,
    },
}

/// Connection to the host: how requests get there, and which requests the host supports.
pub struct Connection {
    /// Has the shim take the requests of this link, on a thread on which the host may be called. No lock is held: the host may call back.
    pub wake: Box<dyn Fn(&HostLink) + Send + Sync>,
    /// True if the host supports [`Request::MarkDirty`].
    pub marks_dirty: bool,
    /// True if the host has menus of parameters.
    pub has_menus: bool,
}

/// The editor's link to the host, for the window and for the shim. The audio thread does not use it.
#[derive(Clone)]
pub struct HostLink(Arc<Shared>);

struct Shared {
    repaint: Box<dyn Fn() + Send + Sync>,
    connection: Mutex<Option<Arc<Connection>>>,
    requests: Mutex<Vec<Request>>,
    track: Mutex<Option<Track>>,
    /// By the parameters' ids.
    indications: Mutex<BTreeMap<String, Indication>>,
    menu: Mutex<Option<Menu>>,
}

impl Default for HostLink {
    fn default() -> Self {
        Self::new(|| ())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HostLink {
    /// A link to a host that understands no requests yet. `repaint` is called when there is something new to show.
    pub fn new(repaint: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(Shared {
            repaint: Box::new(repaint),
            connection: Mutex::default(),
            requests: Mutex::default(),
            track: Mutex::default(),
            indications: Mutex::default(),
            menu: Mutex::default(),
        }))
    }

    /// Connects the host, or disconnects it with `None`. A call of `wake` that has begun on another thread still ends.
    pub fn connect(&self, connection: Option<Connection>) {
        let before = mem::replace(&mut *lock(&self.0.connection), connection.map(Arc::new));
        // Without the lock, as it may release objects of the host.
        drop(before);
    }

    /// Requests something of the host; false if it does not understand that.
    pub fn request(&self, request: Request) -> bool {
        let connection = lock(&self.0.connection).clone();
        let understands = |connection: &Arc<Connection>| match request {
            Request::MarkDirty => connection.marks_dirty,
            Request::ReadValues => true,
            Request::Menu(_) | Request::Perform { .. } => connection.has_menus,
        };
        let Some(connection) = connection.filter(understands) else { return false };
        lock(&self.0.requests).push(request);
        (connection.wake)(self);
        true
    }

    /// Returns the requests since the last call.
    pub fn take_requests(&self) -> Vec<Request> {
        mem::take(&mut lock(&self.0.requests))
    }

    /// Repaints the window, if it is open.
    pub fn repaint(&self) {
        (self.0.repaint)();
    }

    /// Sets the track that the plugin is on; `None` if the host has not named it.
    pub fn set_track(&self, track: Option<Track>) {
        *lock(&self.0.track) = track;
        self.repaint();
    }

    /// Returns the track that the plugin is on.
    pub fn track(&self) -> Option<Track> {
        lock(&self.0.track).clone()
    }

    /// Changes the mapping and automation of the parameter called `id`.
    pub fn indicate(&self, id: &str, change: impl FnOnce(&mut Indication)) {
        change(lock(&self.0.indications).entry(id.to_owned()).or_default());
        self.repaint();
    }

    /// Returns the mapping and automation of the parameter called `id`.
    pub fn indication(&self, id: &str) -> Indication {
        lock(&self.0.indications).get(id).cloned().unwrap_or_default()
    }

    /// Shows a menu of the host; with `None`, none.
    pub fn set_menu(&self, menu: Option<Menu>) {
        *lock(&self.0.menu) = menu;
        self.repaint();
    }

    /// Returns the menu of the host to show.
    pub fn menu(&self) -> Option<Menu> {
        lock(&self.0.menu).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{sync::mpsc::channel, thread, time::Duration};

    #[test]
    fn a_host_may_call_back_while_it_is_woken() {
        let (sender, receiver) = channel();
        thread::spawn(move || {
            let link = HostLink::default();
            let wake = Box::new(|link: &HostLink| {
                if link.take_requests() == [Request::MarkDirty] {
                    assert!(link.request(Request::ReadValues));
                    link.connect(None);
                }
            });
            link.connect(Some(Connection { wake, marks_dirty: true, has_menus: false }));
            assert!(link.request(Request::MarkDirty));
            assert!(!link.request(Request::MarkDirty), "it has disconnected");
            sender.send(()).unwrap();
        });
        receiver.recv_timeout(Duration::from_secs(30)).expect("a lock is held during the call");
    }
}
