//! Messages between host and editor, apart from parameters. They are the same for CLAP and VST3.
//!
//! The window may have a thread of its own, but a host must be called on its main thread. Therefore the editor queues its
//! requests here, and the shim serves them: in CLAP on the main thread; in VST3 in the host's run loop, or without one on the
//! thread of the request, as nice-plug does with edits. The shim stores the host's track, mappings, automation and menus here.

use nice_plug::plugin::{TrackColor, TrackInfo};
use std::{
    collections::BTreeMap,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Colour of the host: red, green and blue.
pub type Rgb = [u8; 3];

/// Request of the editor to the host.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Marks the state as changed. Needed only for changes outside the parameters: the host sees changes of parameters itself.
    MarkDirty,
    /// Makes the host read the values of all parameters again.
    ReadValues,
    /// Gives the window this width and height in pixels.
    Resize([u32; 2]),
    /// Shows the host's menu of a parameter. If the host cannot show it, [`HostLink::menu`] returns the menu for the editor to
    /// show; in VST3, without items of the host.
    Menu(Place),
    /// Performs an entry of the host's menu.
    Perform {
        /// The parameter's id.
        id: &'static str,
        /// The host's number for the action.
        action: u32,
    },
}

/// Track of the host that the plugin is on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Track {
    /// Name; may be empty.
    pub name: String,
    /// Colour, if the host has one.
    pub colour: Option<Rgb>,
}

impl Track {
    /// Converts a track from nice-plug; `None` if it has neither name nor colour.
    pub fn of_nice_plug(info: &TrackInfo) -> Option<Self> {
        // A transparent colour counts as missing.
        let colour = info.color().map(TrackColor::rgba).filter(|(.., alpha)| *alpha > 0);
        let colour = colour.map(|(red, green, blue, _)| [red, green, blue]);
        let track = Self { name: info.name().to_owned(), colour };
        (track != Self::default()).then_some(track)
    }
}

/// Mapping and automation of a parameter.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Indication {
    /// Hardware control that is mapped to the parameter.
    pub mapping: Option<Mapping>,
    /// State and colour of the automation; `None` without automation.
    pub automation: Option<(Automation, Option<Rgb>)>,
}

/// Hardware control that is mapped to a parameter.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mapping {
    /// Colour of the control, if it has one.
    pub colour: Option<Rgb>,
    /// Short name of the control; may be empty.
    pub label: String,
    /// Description of the control; may be empty.
    pub description: String,
}

/// State of a parameter's automation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Automation {
    /// The host has automation, but does not play it.
    Present,
    /// The host plays the automation.
    Playing,
    /// The host records automation.
    Recording,
    /// The user overrides automation that would otherwise play.
    Overriding,
}

/// Parameter and position for which a menu is requested.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// Id of the parameter.
    pub id: &'static str,
    /// Position (x, y) in the window in egui's points.
    pub at: [f32; 2],
    /// Position (x, y) in the window in the host's pixels.
    pub at_pixel: [i32; 2],
    /// Entries that the editor adds to the menu.
    pub own: &'static [&'static str],
}

/// Menu for the window to show: the host's, or the plugin's own.
#[derive(Debug, Clone, PartialEq)]
pub struct Menu {
    /// Parameter and position of the request.
    pub place: Place,
    /// Items above those of [`Place::own`], from top to bottom.
    pub items: Vec<MenuItem>,
}

/// Item of a [`Menu`].
#[derive(Debug, Clone, PartialEq)]
pub enum MenuItem {
    /// An entry that performs an action.
    Entry {
        /// Text of the entry.
        label: String,
        /// Whether the entry can be clicked.
        enabled: bool,
        /// Whether the entry is checked; `None` for an entry without check mark.
        checked: Option<bool>,
        /// Number of the action: the host's, or in the plugin's own menu the plugin's.
        action: u32,
    },
    /// Horizontal line between entries.
    Separator,
    /// Heading above a group of entries.
    Title(String),
    /// Entry that opens a submenu.
    Submenu {
        /// Text of the entry that opens the submenu.
        label: String,
        /// Whether the submenu can be opened.
        enabled: bool,
        /// Items of the submenu, from top to bottom.
        items: Vec<Self>,
    },
}

/// Connection to the host: a function that delivers requests, and the requests that the host supports.
pub struct Connection {
    /// Makes the shim serve the queued requests on a thread that may call the host. [`HostLink`] holds no lock during the call, so
    /// the host may call back.
    pub wake: Box<dyn Fn(&HostLink) + Send + Sync>,
    /// Whether the host supports [`Request::MarkDirty`].
    pub marks_dirty: bool,
    /// Whether the host has context menus for parameters.
    pub has_menus: bool,
}

/// Link between the editor and the host, shared by window and shim. Not for the audio thread.
#[derive(Clone)]
pub struct HostLink(Arc<Shared>);

struct Shared {
    repaint: Box<dyn Fn() + Send + Sync>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    connection: Option<Arc<Connection>>,
    requests: Vec<Request>,
    track: Option<Track>,
    /// By parameter id.
    indications: BTreeMap<String, Indication>,
    menu: Option<Menu>,
    /// See [`HostLink::take_chosen`].
    chosen: Vec<(&'static str, usize)>,
    resizable: bool,
    /// Whether the host has refused the last requested size, and the editor has not read that yet.
    refused: bool,
}

impl Default for HostLink {
    fn default() -> Self {
        Self::new(|| ())
    }
}

/// Locks `mutex`, even if it is poisoned.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HostLink {
    /// Creates a link that refuses all requests until a host is connected. `repaint` must repaint the window, if it is open.
    pub fn new(repaint: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(Shared { repaint: Box::new(repaint), state: Mutex::default() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0.state)
    }

    /// Connects the host, or disconnects it with `None`. Calls of `wake` on other threads continue to their end.
    pub fn connect(&self, connection: Option<Connection>) {
        let connection = connection.map(Arc::new);
        // The previous connection is dropped after the lock has been released.
        let _before = mem::replace(&mut self.state().connection, connection);
    }

    /// Queues a request and wakes the shim; returns false without a host, or if the host does not support the request.
    pub fn request(&self, request: Request) -> bool {
        let mut state = self.state();
        let Some(connection) = state.connection.clone() else { return false };
        let understands = match request {
            Request::MarkDirty => connection.marks_dirty,
            Request::ReadValues => true,
            Request::Resize(_) => state.resizable,
            Request::Menu(_) | Request::Perform { .. } => connection.has_menus,
        };
        if understands {
            state.requests.push(request);
            drop(state);
            (connection.wake)(self);
        }
        understands
    }

    /// Removes and returns the queued requests.
    pub fn take_requests(&self) -> Vec<Request> {
        mem::take(&mut self.state().requests)
    }

    /// Repaints the window, if it is open.
    pub fn repaint(&self) {
        (self.0.repaint)();
    }

    /// Sets the track that the plugin is on; `None` if it is unknown.
    pub fn set_track(&self, track: Option<Track>) {
        self.state().track = track;
        self.repaint();
    }

    /// Returns the track that the plugin is on.
    pub fn track(&self) -> Option<Track> {
        self.state().track.clone()
    }

    /// Changes the mapping or the automation of the parameter called `id`.
    pub fn indicate(&self, id: &str, change: impl FnOnce(&mut Indication)) {
        change(self.state().indications.entry(id.to_owned()).or_default());
        self.repaint();
    }

    /// Returns the mapping and automation of the parameter called `id`.
    pub fn indication(&self, id: &str) -> Indication {
        self.state().indications.get(id).cloned().unwrap_or_default()
    }

    /// Shows `menu` in the window; `None` closes the menu.
    pub fn set_menu(&self, menu: Option<Menu>) {
        self.state().menu = menu;
        self.repaint();
    }

    /// Sets whether the host supports [`Request::Resize`]. Otherwise the window resizes itself.
    pub fn set_resizable(&self, resizable: bool) {
        self.state().resizable = resizable;
    }

    /// Records whether the host has granted the last requested size.
    pub fn answer_resize(&self, granted: bool) {
        self.state().refused = !granted;
        self.repaint();
    }

    /// Returns whether the host has refused the last requested size, and clears the refusal.
    pub fn take_refusal(&self) -> bool {
        mem::take(&mut self.state().refused)
    }

    /// Queues entry `index` of [`Place::own`], which the user has chosen in the host's menu of the parameter called `id`.
    pub fn choose(&self, id: &'static str, index: usize) {
        self.state().chosen.push((id, index));
        self.repaint();
    }

    /// Removes and returns the chosen entries: parameter id, and index in [`Place::own`].
    pub fn take_chosen(&self) -> Vec<(&'static str, usize)> {
        mem::take(&mut self.state().chosen)
    }

    /// Returns the menu that the window must show, if any.
    pub fn menu(&self) -> Option<Menu> {
        self.state().menu.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unnamed_transparent_track_is_none() {
        let track = |name: &str, alpha| {
            let colour = TrackColor::new(1, 2, 3, alpha);
            Track::of_nice_plug(&TrackInfo::new(name.to_owned(), Some(colour)))
        };
        assert_eq!(track("", 0), None);
        assert_eq!(track("Lead", 0), Some(Track { name: "Lead".to_owned(), colour: None }));
        assert_eq!(track("", 9), Some(Track { name: String::new(), colour: Some([1, 2, 3]) }));
    }
}
