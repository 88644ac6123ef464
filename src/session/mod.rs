//! The session of an instance: the preset that is loaded, what presets keep, undo, redo and A/B, and how all of these set
//! the parameters. Neither window nor DSP: plugin and editor import it, and it imports `params` alone.

mod edits;
mod files;
mod history;
mod presets;
mod randomise;

use crate::params::{Control, ToneFilterParams, ids};
pub use edits::{Edits, Sound};
pub use files::{PRESET, SCORE};
use history::History;
use plugin_guard::{HostLink, Request};
#[cfg(test)]
pub use presets::is_same;
pub use presets::{PresetList, read_preset};
pub use randomise::Amount;
use std::sync::{Arc, Mutex, PoisonError};
use tone_filter_presets::{Folder, Loaded};

/// Session. Its clones share it: one each for the editor, its windows and the shim.
#[derive(Clone, Default)]
pub struct Session {
    /// The parameters and all else that a host saves.
    pub params: Arc<ToneFilterParams>,
    /// The link between editor and host.
    pub host: HostLink,
    /// Edits, locked by the window, of which there is one at a time, and while the host loads a preset.
    state: Arc<Mutex<State>>,
}

/// State that lives as long as the instance, across windows, and is not saved.
#[derive(Default)]
pub struct State {
    /// The factory presets and the user's.
    pub presets: PresetList,
    /// The undo steps.
    pub history: History,
    /// The active slot: 0 for A, 1 for B.
    pub slot: usize,
    /// See [`Sound::other`].
    pub other: Option<Box<Sound>>,
    /// The edit that has begun and not yet ended.
    gesture: Option<edits::Gesture>,
    /// The presets that are tried out.
    audition: Option<edits::Audition>,
}

impl Session {
    /// Returns a session without edits. The user's presets are in `folder`.
    pub fn new(params: Arc<ToneFilterParams>, host: HostLink, folder: Option<Folder>) -> Self {
        let state = State { presets: PresetList::new(folder), ..State::default() };
        Self { params, host, state: Arc::new(Mutex::new(state)) }
    }

    /// Runs `edit`, whose edits go to `sink` and have the time `now` in seconds, from any start. Other threads wait.
    pub fn edit<R>(&self, sink: &dyn Sink, now: f64, edit: impl FnOnce(&mut Edits) -> R) -> R {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Self { params, host, .. } = self;
        edit(&mut Edits { params, host, state: &mut state, sink, now })
    }

    /// Loads a preset as the editor does, with or without a window: as one undo step, and except for the kept
    /// settings. The window shows its warning, now or when it opens. The host must then read all parameters again.
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

    /// Loads a preset by its index in the list, as [`Session::load`] does, and has the host read all parameters again. On
    /// any thread but the audio thread.
    pub fn load_program(&self, program: usize) {
        self.edit(&Silent, f64::INFINITY, |edits| {
            edits.state.presets.refresh();
            let entries = edits.state.presets.entries().concat();
            match entries.get(program) {
                Some(entry) => edits.load(&entry.name),
                None => {
                    let text =
                        format!("Program {}: there are {} presets", program + 1, entries.len());
                    edits.state.presets.message = text;
                }
            }
        });
        self.host.request(Request::ReadValues);
        self.host.repaint();
    }

    /// Sets the parameters that have a value, in the order of [`ids`], as a host does: without undo steps. `learned`: a controller was
    /// mapped. On any thread but the audio thread.
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

/// Setter of parameters: a window by gestures, or [`Silent`].
pub trait Sink {
    /// Begins a gesture on `control`.
    fn begin(&self, _control: &Control) {}

    /// Sets `control` to `normalized` (0..1 of its range).
    fn set(&self, control: &Control, normalized: f32);

    /// Ends the gesture on `control`.
    fn end(&self, _control: &Control) {}
}

/// Sets parameters without informing the host, which reads all of them afterwards.
struct Silent;

impl Sink for Silent {
    fn set(&self, control: &Control, normalized: f32) {
        // SAFETY: the pointer is to a parameter that `control` borrows.
        unsafe { control.as_ptr()._internal_set_normalized_value(normalized) };
    }
}
