//! Edits of the settings. Each edit of a parameter goes to the [`Sink`] as a gesture. The history records edits as undo steps.
//!
//! The window's sink sends gestures to the host. A preset that the host itself loads (`Session::load`) makes one undo step and
//! no gestures; the host reads all values afterwards.

use super::{Amount, Sink, State, presets::loaded, randomise::randomised};
use crate::params::{self, Control, Keep, ToneFilterParams};
use plugin_guard::{HostLink, Indication, Mapping, Request, lock};
use tone_filter_dsp::{BandMask, Controls, PitchClasses, Scale, Settings, TEXTS, Targets};

/// Sound in its slot, with the sound in the other slot: the state that undo, redo and the A/B switch restore.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sound {
    pub controls: Controls,
    /// Name of the preset that the sound started from.
    pub preset: String,
    /// Slot of the sound: 0 for A, 1 for B.
    pub slot: usize,
    /// Sound in the other slot; `None` if that slot was never used.
    pub other: Option<Box<Self>>,
}

impl Sound {
    fn without_other(&self) -> Self {
        Self { other: None, ..self.clone() }
    }
}

/// Edit of one setting that has begun and not yet ended, such as a drag.
pub struct Gesture {
    /// Id of the setting; `None` for a drag over the bands.
    id: Option<&'static str>,
    before: Sound,
    /// Sound as edited so far. The parameters may still have old values, as a host may apply new ones late.
    after: Sound,
}

/// Audition in progress: the user tries presets before keeping one.
pub struct Audition {
    before: Sound,
    /// Sound of the current preset. The parameters may still have old values, as a host may apply new ones late.
    after: Sound,
}

/// Access to the settings while the session is locked, for instance during a frame of the window.
pub struct Edits<'a> {
    pub params: &'a ToneFilterParams,
    pub host: &'a HostLink,
    pub state: &'a mut State,
    pub(super) sink: &'a dyn Sink,
    /// Time in seconds, from an arbitrary start.
    pub(super) now: f64,
}

impl Edits<'_> {
    /// Returns the current sound, without the host's modulation.
    pub fn sound(&self) -> Sound {
        let State { slot, ref other, .. } = *self.state;
        let (controls, preset) = (self.params.chosen(), self.preset());
        Sound { controls, preset, slot, other: other.clone() }
    }

    pub fn begin(&mut self, id: &'static str) {
        self.begin_gesture(Some(id));
        if let Some(control) = self.params.control(id) {
            self.sink.begin(&control);
        }
    }

    /// Sets the setting called `id` to `normalized` (0..1) within a gesture.
    pub fn set(&mut self, id: &str, normalized: f32) {
        let Some(control) = self.params.control(id) else { return };
        if let Some(gesture) = &mut self.state.gesture {
            control.put(&mut gesture.after.controls, normalized);
        }
        self.sink.set(&control, normalized);
    }

    pub fn end(&mut self, id: &'static str) {
        if let Some(control) = self.params.control(id) {
            self.sink.end(&control);
        }
        self.finish(id);
    }

    /// Sets the setting called `id` to `normalized` (0..1) as a complete gesture and undo step.
    pub fn set_once(&mut self, id: &'static str, normalized: f32) {
        self.state.history.seal();
        self.nudge(id, normalized);
        self.state.history.seal();
    }

    /// Works like [`Edits::set_once`], but calls for one setting in quick succession make one undo step.
    pub fn nudge(&mut self, id: &'static str, normalized: f32) {
        self.begin(id);
        self.set(id, normalized);
        self.end(id);
    }

    /// Begins a drag over the bands.
    pub fn begin_painting(&mut self) {
        self.begin_gesture(None);
    }

    /// Switches exactly the bands in `bands` on, within a drag over the bands.
    pub fn paint(&mut self, bands: BandMask) {
        let settings = self.params.chosen().settings;
        self.params.set_texts(&Settings { bands, ..settings });
        if let Some(gesture) = &mut self.state.gesture {
            gesture.after.controls.settings.bands = bands;
        }
    }

    pub fn end_painting(&mut self) {
        self.mark_dirty();
        self.finish("bands");
        // Two drags are two undo steps, however fast one follows the other.
        self.state.history.seal();
    }

    /// Ends the open gesture, and keeps an auditioned preset. For a window that closes during a drag.
    pub fn end_open_gesture(&mut self) {
        match &self.state.gesture {
            Some(Gesture { id: Some(id), .. }) => self.end(id),
            Some(Gesture { id: None, .. }) => self.end_painting(),
            None => {}
        }
        self.keep_audition();
        self.state.history.seal();
    }

    /// Switches exactly the bands in `bands` on, as one undo step.
    pub fn set_bands(&mut self, bands: BandMask) {
        self.begin_painting();
        self.paint(bands);
        self.end_painting();
    }

    /// Sets which settings stay when a preset is loaded. Not an undo step, as the sound does not change.
    pub fn set_keep(&self, keep: Keep) {
        if keep != self.params.keep.load() {
            self.params.keep.store(keep);
            self.mark_dirty();
        }
    }

    /// Sets the notes of the custom scale and selects that scale.
    pub fn set_custom(&mut self, classes: PitchClasses) {
        self.change("custom", |settings| {
            (settings.custom, settings.scale) = (classes, Scale::Custom);
        });
    }

    pub fn set_targets(&mut self, targets: Targets) {
        self.change("targets", |settings| settings.targets = targets);
    }

    /// Sets a random sound, as one undo step.
    pub fn randomise(&mut self, amount: Amount) {
        self.keep_audition();
        let (mut sound, keep) = (self.sound(), self.params.keep.load());
        let random = &mut fastrand::Rng::new();
        sound.controls = randomised(self.params, &sound.controls, amount, keep, random);
        self.change_to("randomise", sound);
    }

    /// Changes the settings, as one undo step. `what` names the kind of edit in the history.
    pub fn change(&mut self, what: &'static str, change: impl FnOnce(&mut Settings)) {
        let mut sound = self.sound();
        change(&mut sound.controls.settings);
        self.change_to(what, sound);
    }

    /// Changes the sound to `after`, as one undo step. `what` names the kind of edit in the history.
    fn change_to(&mut self, what: &'static str, after: Sound) {
        self.keep_audition();
        let before = self.sound();
        self.apply(&before, &after);
        self.state.history.record(what, before, after, self.now);
        self.state.history.seal();
    }

    /// Sets the tempo of the music in beats per minute. Not an undo step, as no setting changes.
    pub fn set_tempo(&self, tempo: f32) {
        self.params.tempo.store(tempo);
        self.mark_dirty();
    }

    /// Starts MIDI learn: the next controller that is moved is mapped to the setting called `id`.
    pub fn learn(&mut self, id: &str) {
        self.params.controllers.learn(Some(id));
        "Move a knob or a fader of your MIDI controller"
            .clone_into(&mut self.state.presets.message);
    }

    pub fn forget_controller(&self, id: &str) {
        self.params.controllers.forget(id);
        self.mark_dirty();
    }

    /// Returns the mapping and automation of the setting called `id`. A mapping by the host hides a learned MIDI controller.
    pub fn indication(&self, id: &str) -> Indication {
        let mut indication = self.host.indication(id);
        let learned = self.params.controllers.of(id).map(|controller| Mapping {
            label: format!("controller {controller}"),
            ..Mapping::default()
        });
        indication.mapping = indication.mapping.or(learned);
        indication
    }

    /// Returns the name of the preset that the sound started from.
    pub fn preset(&self) -> String {
        lock(&self.params.preset).clone()
    }

    /// Whether loading [`Edits::preset`] again would change the sound; true if the preset is missing.
    pub fn is_changed(&mut self) -> bool {
        let (name, keep) = (self.preset(), self.params.keep.load());
        self.state.presets.is_changed(&name, &self.params.chosen().settings, keep)
    }

    /// Saves the sound as the user's preset `name`. The saved preset then counts as loaded.
    pub fn save(&mut self, name: &str) {
        if let Some(preset) = self.state.presets.save(name, self.params.chosen().settings) {
            let sound = self.sound();
            self.change_to("preset", Sound { preset, ..sound });
        }
    }

    pub fn load(&mut self, name: &str) {
        if let Some(preset) = self.state.presets.load(name) {
            self.use_preset(name.to_owned(), &preset.settings);
        }
    }

    /// Sets the `settings` of the preset called `preset`, except for those that [`Keep`] keeps. Auditioned presets and this one
    /// make one undo step together.
    pub fn use_preset(&mut self, preset: String, settings: &Settings) {
        self.try_out(preset, settings);
        self.keep_audition();
    }

    /// Loads the preset called `name` on trial. [`Edits::keep_audition`] makes it an undo step; [`Edits::cancel_audition`]
    /// restores the earlier sound.
    pub fn audition(&mut self, name: &str) {
        if let Some(preset) = self.state.presets.load(name) {
            self.try_out(name.to_owned(), &preset.settings);
        }
    }

    fn try_out(&mut self, preset: String, settings: &Settings) {
        let (before, now) = match self.state.audition.take() {
            Some(Audition { before, after }) => (before, after),
            None => (self.sound(), self.sound()),
        };
        let mut after = before.clone();
        let old = &before.controls.settings;
        after.controls.settings = loaded(settings, old, self.params.keep.load());
        after.preset = preset;
        self.apply(&now, &after);
        self.state.audition = Some(Audition { before, after });
    }

    /// Makes one undo step of the auditioned presets, if there are any.
    pub fn keep_audition(&mut self) {
        if let Some(Audition { before, after }) = self.state.audition.take() {
            self.state.history.record("preset", before, after, self.now);
            self.state.history.seal();
        }
    }

    /// Restores the sound before the auditioned presets, if there are any. Not an undo step.
    pub fn cancel_audition(&mut self) {
        if let Some(Audition { before, after }) = self.state.audition.take() {
            self.apply(&after, &before);
        }
    }

    pub fn undo(&mut self) {
        self.keep_audition();
        if let Some((from, to)) = self.state.history.undo() {
            self.apply(&from, &to);
        }
    }

    pub fn redo(&mut self) {
        self.keep_audition();
        if let Some((from, to)) = self.state.history.redo() {
            self.apply(&from, &to);
        }
    }

    /// Switches between A and B. A slot that was never used starts as a copy of the current one.
    pub fn swap(&mut self) {
        let current = self.sound();
        let slot = 1 - current.slot;
        let other = Some(Box::new(current.without_other()));
        let next = current.other.clone().map_or_else(|| current.without_other(), |other| *other);
        self.change_to("A/B", Sound { slot, other, ..next });
    }

    pub fn copy_to_other(&mut self) {
        let current = self.sound();
        let other = Some(Box::new(current.without_other()));
        self.change_to("copy", Sound { other, ..current });
    }

    /// Sets the sound to `to`. Parameters that are equal in `from` and `to` stay, because the host may automate them.
    fn apply(&mut self, from: &Sound, to: &Sound) {
        let mut notified = false;
        for id in params::ids() {
            let Some(control) = self.params.control(id) else { continue };
            if control.normalized(&to.controls) != control.normalized(&from.controls) {
                self.send(&control, control.exact(&to.controls));
                notified = true;
            }
        }
        let [old, new] = [from, to].map(|sound| &sound.controls.settings);
        if TEXTS.iter().any(|text| text.bits(old) != text.bits(new)) {
            self.params.set_texts(new);
            if !notified {
                self.mark_dirty();
            }
        }
        self.state.slot = to.slot;
        self.state.other.clone_from(&to.other);
        lock(&self.params.preset).clone_from(&to.preset);
    }

    /// Sends a complete gesture that sets `control` to `normalized` (0..1).
    fn send(&self, control: &Control, normalized: f32) {
        self.sink.begin(control);
        self.sink.set(control, normalized);
        self.sink.end(control);
    }

    /// Marks the state as changed. If the host cannot mark states, it gets a gesture that sets a parameter to its current value.
    pub(super) fn mark_dirty(&self) {
        if self.host.request(Request::MarkDirty) {
            return;
        }
        if let Some(control) = self.params.control("scale") {
            self.send(&control, control.normalized(&self.params.chosen()));
        }
    }

    fn begin_gesture(&mut self, id: Option<&'static str>) {
        self.keep_audition();
        let before = self.sound();
        self.state.gesture = Some(Gesture { id, after: before.clone(), before });
    }

    fn finish(&mut self, what: &'static str) {
        if let Some(Gesture { before, after, .. }) = self.state.gesture.take() {
            self.state.history.record(what, before, after, self.now);
        }
    }
}
