//! Edits of the settings: each is sent to the host as a gesture and recorded as an undo step.

use super::{Gesture, Session, Sound};
use crate::params::{self, Control, Keep, ToneFilterParams};
use nice_plug::prelude::ParamSetter;
use plugin_guard::{HostLink, Request};
use std::sync::PoisonError;
use tone_filter_dsp::{BandMask, PitchClasses, Scale, Settings};

/// Access to the settings for a user of the editor, or for a host that loads a preset.
pub struct Edits<'a> {
    pub params: &'a ToneFilterParams,
    pub host: &'a HostLink,
    pub session: &'a mut Session,
    /// Sends gestures to the host. `None` for edits of the host's own, after which it reads all parameters.
    setter: Option<&'a ParamSetter<'a>>,
    /// The time of the edits in seconds.
    now: f64,
}

impl<'a> Edits<'a> {
    /// Edits of `params` at the time `now` in seconds, through `setter`, or without gestures.
    pub fn new(
        params: &'a ToneFilterParams,
        setter: Option<&'a ParamSetter<'a>>,
        host: &'a HostLink,
        session: &'a mut Session,
        now: f64,
    ) -> Self {
        Self { params, host, session, setter, now }
    }

    /// The current sound, without the host's modulation.
    pub fn sound(&self) -> Sound {
        let preset = self.params.preset.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Session { slot, ref other, .. } = *self.session;
        Sound { controls: self.params.chosen(), preset, slot, other: other.clone() }
    }

    /// Begins a gesture on the setting called `id`.
    pub fn begin(&mut self, id: &'static str) {
        self.begin_gesture(Some(id));
        if let (Some(control), Some(setter)) = (self.params.control(id), self.setter) {
            // SAFETY: the pointer is to a parameter of the plugin, which outlives its edits.
            unsafe { setter.raw_context.raw_begin_set_parameter(control.as_ptr()) };
        }
    }

    /// Sets the setting called `id` to `normalized` (0..1 of its range) within a gesture.
    pub fn set(&mut self, id: &str, normalized: f32) {
        let Some(control) = self.params.control(id) else { return };
        if let Some(gesture) = &mut self.session.gesture {
            control.put(&mut gesture.after.controls, normalized);
        }
        self.set_param(&control, normalized);
    }

    /// Ends the gesture on the setting called `id`.
    pub fn end(&mut self, id: &'static str) {
        if let (Some(control), Some(setter)) = (self.params.control(id), self.setter) {
            // SAFETY: as in `begin`.
            unsafe { setter.raw_context.raw_end_set_parameter(control.as_ptr()) };
        }
        self.finish(id);
    }

    /// Sets the setting called `id` to `normalized` (0..1 of its range) as a complete gesture and undo step.
    pub fn set_once(&mut self, id: &'static str, normalized: f32) {
        self.session.history.seal();
        self.nudge(id, normalized);
        self.session.history.seal();
    }

    /// Like [`Edits::set_once`], but several in quick succession are one undo step.
    pub fn nudge(&mut self, id: &'static str, normalized: f32) {
        self.begin(id);
        self.set(id, normalized);
        self.end(id);
    }

    /// Begins a drag over the bands, which [`Edits::end_painting`] ends.
    pub fn begin_painting(&mut self) {
        self.begin_gesture(None);
    }

    /// Sets which bands are on, within a drag.
    pub fn paint(&mut self, bands: BandMask) {
        self.params.bands.store(bands);
        if let Some(gesture) = &mut self.session.gesture {
            gesture.after.controls.settings.bands = bands;
        }
    }

    /// Ends a drag over the bands.
    pub fn end_painting(&mut self) {
        self.mark_dirty();
        self.finish("bands");
        // Two drags are two undo steps, however fast they follow each other.
        self.session.history.seal();
    }

    /// Ends the open gesture, if there is one. For a window that closes during a drag, in which no release of the
    /// mouse button will arrive.
    pub fn end_open_gesture(&mut self) {
        match &self.session.gesture {
            Some(Gesture { id: Some(id), .. }) => self.end(id),
            Some(Gesture { id: None, .. }) => self.end_painting(),
            None => {}
        }
        self.session.history.seal();
    }

    /// Sets which bands are on, as a complete undo step.
    pub fn set_bands(&mut self, bands: BandMask) {
        self.begin_painting();
        self.paint(bands);
        self.end_painting();
    }

    /// Sets what presets leave as it is. No undo step, as it changes no sound.
    pub fn set_keep(&self, keep: Keep) {
        if keep != self.params.keep.load() {
            self.params.keep.store(keep);
            self.mark_dirty();
        }
    }

    /// Sets the notes of the custom scale and selects that scale.
    pub fn set_custom(&mut self, classes: PitchClasses) {
        let mut sound = self.sound();
        let settings = &mut sound.controls.settings;
        (settings.custom, settings.scale) = (classes, Scale::Custom);
        self.change_to("custom", sound);
        self.session.history.seal();
    }

    /// Changes the settings to `after`, as one undo step called `what`.
    pub fn change_to(&mut self, what: &'static str, after: Sound) {
        let before = self.sound();
        self.apply(&before, &after);
        self.session.history.record(what, before, after, self.now);
    }

    /// Loads the preset called `name`.
    pub fn load(&mut self, name: &str) {
        if let Some(preset) = self.session.presets.load(name) {
            self.use_preset(name.to_owned(), &preset.settings);
        }
    }

    /// Changes to `settings`, those of the preset called `preset`, except for what the user keeps.
    pub fn use_preset(&mut self, preset: String, settings: &Settings) {
        let mut sound = self.sound();
        let now = &mut sound.controls.settings;
        *now = self.params.keep.load().load(settings, now);
        self.change_to("preset", Sound { preset, ..sound });
        self.session.history.seal();
    }

    /// Undoes the last step.
    pub fn undo(&mut self) {
        if let Some((from, to)) = self.session.history.undo() {
            let (from, to) = (from.clone(), to.clone());
            self.apply(&from, &to);
        }
    }

    /// Redoes the step that was last undone.
    pub fn redo(&mut self) {
        if let Some((from, to)) = self.session.history.redo() {
            let (from, to) = (from.clone(), to.clone());
            self.apply(&from, &to);
        }
    }

    /// Switches between A and B. A slot that was never used starts as a copy of the other one.
    pub fn swap(&mut self) {
        let current = self.sound();
        let slot = 1 - current.slot;
        let other = Some(Box::new(current.without_other()));
        let next = current.other.clone().map_or_else(|| current.without_other(), |other| *other);
        self.change_to("A/B", Sound { slot, other, ..next });
        self.session.history.seal();
    }

    /// Copies the current sound to the other slot.
    pub fn copy_to_other(&mut self) {
        let current = self.sound();
        let other = Some(Box::new(current.without_other()));
        self.change_to("copy", Sound { other, ..current });
        self.session.history.seal();
    }

    /// Sets only what differs between `from` and `to`, so that other settings keep the values that the host has
    /// automated in the meantime.
    fn apply(&mut self, from: &Sound, to: &Sound) {
        let mut notified = false;
        for id in params::ids() {
            let Some(control) = self.params.control(id) else { continue };
            let normalized = control.normalized(&to.controls);
            if normalized != control.normalized(&from.controls) {
                self.send(&control, normalized);
                notified = true;
            }
        }
        let [old, new] = [from, to].map(|sound| &sound.controls.settings);
        if (old.bands, old.custom) != (new.bands, new.custom) {
            self.params.bands.store(new.bands);
            self.params.custom.store(new.custom);
            if !notified {
                self.mark_dirty();
            }
        }
        self.session.slot = to.slot;
        self.session.other.clone_from(&to.other);
        let mut preset = self.params.preset.lock().unwrap_or_else(PoisonError::into_inner);
        preset.clone_from(&to.preset);
    }

    /// Sets `control` to `normalized` (0..1), as a complete gesture if gestures are sent.
    fn send(&self, control: &Control, normalized: f32) {
        let param = control.as_ptr();
        let host = self.setter.map(|setter| setter.raw_context);
        // SAFETY: as in `begin`.
        unsafe {
            host.inspect(|host| host.raw_begin_set_parameter(param));
            self.set_param(control, normalized);
            host.inspect(|host| host.raw_end_set_parameter(param));
        }
    }

    /// Sets `control` to `normalized` (0..1).
    fn set_param(&self, control: &Control, normalized: f32) {
        let param = control.as_ptr();
        // SAFETY: as in `begin`.
        unsafe {
            match self.setter {
                Some(setter) => setter.raw_context.raw_set_parameter_normalized(param, normalized),
                None => _ = param._internal_set_normalized_value(normalized),
            }
        }
    }

    /// Notifies the host of a changed state. One without a call for that gets a gesture on a parameter that keeps its
    /// value.
    fn mark_dirty(&self) {
        if self.host.request(Request::MarkDirty) {
            return;
        }
        if let Some(control) = self.params.control("scale") {
            self.send(&control, control.normalized(&self.params.chosen()));
        }
    }

    fn begin_gesture(&mut self, id: Option<&'static str>) {
        let before = self.sound();
        self.session.gesture = Some(Gesture { id, after: before.clone(), before });
    }

    /// Ends the gesture and records it as an undo step.
    fn finish(&mut self, what: &'static str) {
        if let Some(Gesture { before, after, .. }) = self.session.gesture.take() {
            self.session.history.record(what, before, after, self.now);
        }
    }
}
