//! What the host and the editor tell each other besides parameters, in terms of no plugin format.
//!
//! The window may have a thread of its own, but a host is called on its main thread only. Therefore the editor leaves
//! its requests here, and the plugin takes them on that thread.

pub mod indication;
pub mod menu;
mod presets;
pub mod track;

pub use indication::{Automation, Indication, Mapping};
pub use menu::{Menu, MenuItem, Place};
pub use presets::{PresetLoader, read_preset};
pub use track::Track;

use nice_plug_egui::RepaintNotifier;
use std::{
    collections::BTreeMap,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A colour that the host has chosen: red, green and blue.
pub type Rgb = [u8; 3];

/// What the editor wants of the host.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// To save the state, which has changed without a parameter.
    MarkDirty,
    /// To show its menu of a parameter, or to say what is in it.
    Menu(Place),
    /// To do what an entry of its menu stands for.
    Perform {
        /// The id of the parameter's setting.
        id: &'static str,
        /// The host's number for the action.
        action: u32,
    },
}

/// How requests reach the host, and which of them it understands.
pub struct Connection {
    /// Has the plugin take the requests of this link, on a thread on which the host may be asked.
    pub wake: Box<dyn Fn(&HostLink) + Send>,
    /// Whether it understands [`Request::MarkDirty`].
    pub marks_dirty: bool,
    /// Whether it has menus of parameters.
    pub has_menus: bool,
}

/// The editor's link to the host, for the window and for the plugin. The audio thread does not use it.
#[derive(Clone)]
pub struct HostLink(Arc<Shared>);

struct Shared {
    repaint: RepaintNotifier,
    connection: Mutex<Option<Connection>>,
    requests: Mutex<Vec<Request>>,
    track: Mutex<Option<Track>>,
    /// By the ids of settings.
    indications: Mutex<BTreeMap<&'static str, Indication>>,
    menu: Mutex<Option<Menu>>,
}

impl Default for HostLink {
    fn default() -> Self {
        Self::new(RepaintNotifier::new())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HostLink {
    /// A link to a host that understands no requests yet. `repaint` is notified of all that is to be shown.
    pub fn new(repaint: RepaintNotifier) -> Self {
        Self(Arc::new(Shared {
            repaint,
            connection: Mutex::default(),
            requests: Mutex::default(),
            track: Mutex::default(),
            indications: Mutex::default(),
            menu: Mutex::default(),
        }))
    }

    /// Connects the host, or disconnects it with `None`: after that, `wake` is not called any more.
    pub fn connect(&self, connection: Option<Connection>) {
        *lock(&self.0.connection) = connection;
    }

    /// Requests something of the host; false if it does not understand that.
    pub fn request(&self, request: Request) -> bool {
        let connection = lock(&self.0.connection);
        let understands = |connection: &&Connection| match request {
            Request::MarkDirty => connection.marks_dirty,
            Request::Menu(_) | Request::Perform { .. } => connection.has_menus,
        };
        let Some(connection) = connection.as_ref().filter(understands) else { return false };
        lock(&self.0.requests).push(request);
        (connection.wake)(self);
        true
    }

    /// The requests since the last call.
    pub fn take_requests(&self) -> Vec<Request> {
        mem::take(&mut lock(&self.0.requests))
    }

    /// Repaints the window, if it is open.
    pub fn repaint(&self) {
        self.0.repaint.request_repaint();
    }

    /// Sets the track that the plugin is on; `None` if the host does not say.
    pub fn set_track(&self, track: Option<Track>) {
        *lock(&self.0.track) = track;
        self.repaint();
    }

    /// The track that the plugin is on.
    pub fn track(&self) -> Option<Track> {
        lock(&self.0.track).clone()
    }

    /// Changes what the host does with the parameter of the setting called `id`.
    pub fn indicate(&self, id: &'static str, change: impl FnOnce(&mut Indication)) {
        change(lock(&self.0.indications).entry(id).or_default());
        self.repaint();
    }

    /// What the host does with the parameter of the setting called `id`.
    pub fn indication(&self, id: &str) -> Indication {
        lock(&self.0.indications).get(id).cloned().unwrap_or_default()
    }

    /// Shows a menu of the host; with `None`, none.
    pub fn set_menu(&self, menu: Option<Menu>) {
        *lock(&self.0.menu) = menu;
        self.repaint();
    }

    /// The menu of the host to show.
    pub fn menu(&self) -> Option<Menu> {
        lock(&self.0.menu).clone()
    }
}
