//! Session of a plugin instance: presets, undo, redo, A/B, and edits, which set parameters through a [`Sink`]. Depends neither
//! on the window nor on the running filter.

mod edits;
mod files;
mod history;
mod presets;
mod randomise;

use crate::params::{Control, ToneFilterParams, ids};
pub use edits::{Edits, Sound};
pub use files::{PRESET, SCORE};
use history::History;
use plugin_guard::{HostLink, Request, lock};
#[cfg(test)]
pub use presets::is_same;
pub use presets::{PresetList, info, read_preset};
pub use randomise::Amount;
use std::sync::{Arc, Mutex};
use tone_filter_presets::{Folder, Loaded};

/// Session of an instance. Clones share one session: editor, windows, shim and MIDI learn each have a clone.
#[derive(Clone, Default)]
pub struct Session {
    pub params: Arc<ToneFilterParams>,
    pub host: HostLink,
    /// Locked for a frame of the window, and while the host or MIDI loads a preset.
    state: Arc<Mutex<State>>,
}

/// State that is not saved. It lives as long as the instance, so a new window continues with it.
#[derive(Default)]
pub struct State {
    pub presets: PresetList,
    pub history: History,
    /// Active slot: 0 for A, 1 for B.
    pub slot: usize,
    /// See [`Sound::other`].
    pub other: Option<Box<Sound>>,
    gesture: Option<edits::Gesture>,
    audition: Option<edits::Audition>,
}

impl Session {
    /// Creates a session; `folder` holds the user's presets.
    pub fn new(params: Arc<ToneFilterParams>, host: HostLink, folder: Option<Folder>) -> Self {
        let state = State { presets: PresetList::new(folder), ..State::default() };
        Self { params, host, state: Arc::new(Mutex::new(state)) }
    }

    /// Runs `edit`, whose edits go to `sink`. `now` is the time in seconds, from an arbitrary start. Edits on other threads
    /// wait until `edit` returns.
    pub fn edit<R>(&self, sink: &dyn Sink, now: f64, edit: impl FnOnce(&mut Edits) -> R) -> R {
        let mut state = lock(&self.state);
        let Self { params, host, .. } = self;
        if params.loaded.swap(false) {
            // Undo steps lead from and to sounds of the earlier state.
            (state.history, state.gesture, state.audition) = Default::default();
        }
        edit(&mut Edits { params, host, state: &mut state, sink, now })
    }

    /// Loads a preset as one undo step, without the settings that the user keeps. Warnings are shown by an open window, or by the
    /// next one that opens. Afterwards the host must read all parameters again.
    pub fn load(&self, loaded: Loaded) {
        self.edit(&Silent, f64::INFINITY, |edits| {
            let presets = &mut edits.state.presets;
            presets.refresh();
            presets.message.clear();
            let preset = presets.accept(&loaded.preset.name.clone(), loaded);
            edits.use_preset(preset.name, &preset.settings);
        });
        self.host.repaint();
    }

    /// Loads the preset with index `program` like [`Session::load`], and asks the host to read all parameters. Not for the audio
    /// thread.
    pub fn load_program(&self, program: usize) {
        self.edit(&Silent, f64::INFINITY, |edits| {
            edits.state.presets.refresh();
            let presets = &mut edits.state.presets;
            match presets.entries.get(program).map(|entry| entry.name.clone()) {
                Some(name) => edits.load(&name),
                None => {
                    let count = presets.entries.len();
                    presets.message = format!("Program {}: there are {count} presets", program + 1);
                }
            }
        });
        self.host.request(Request::ReadValues);
        self.host.repaint();
    }

    /// Shows `message` to the user. Not for the audio thread.
    pub fn tell(&self, message: String) {
        self.edit(&Silent, f64::INFINITY, |edits| edits.state.presets.message = message);
        self.host.repaint();
    }

    /// Sets parameters as a host does, without undo steps. `values` has the order of [`ids`]; `None` leaves a parameter unchanged.
    /// If a controller was `learned`, marks the state as changed. Not for the audio thread.
    pub fn set_from_outside(&self, values: &[Option<f32>], learned: bool) {
        let mut any = false;
        for (id, value) in ids().zip(values) {
            if let (Some(control), Some(value)) = (self.params.control(id), value) {
                Silent.set(&control, *value);
                any = true;
            }
        }
        if any {
            self.host.request(Request::ReadValues);
        }
        if learned {
            self.host.request(Request::MarkDirty);
        }
        self.host.repaint();
    }
}

/// Receiver of edits, which sets parameters: a window's sink informs the host by gestures, [`Silent`] does not.
pub trait Sink {
    fn begin(&self, _control: &Control) {}

    /// Sets `control` to `normalized` (0..1).
    fn set(&self, control: &Control, normalized: f32);

    fn end(&self, _control: &Control) {}
}

/// Sink that does not inform the host, which must read all parameters afterwards.
struct Silent;

impl Sink for Silent {
    fn set(&self, control: &Control, normalized: f32) {
        // SAFETY: the pointer is to a parameter that `control` borrows.
        unsafe { control.as_ptr()._internal_set_normalized_value(normalized) };
    }
}
