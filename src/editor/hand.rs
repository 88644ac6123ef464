//! The user's hand on the settings: every edit goes to the host, and can be undone.

use super::{history::History, library::Library};
use crate::{
    dsp::{BandMask, PitchClasses, Settings},
    params::{self, Control, ToneFilterParams},
};
use nice_plug::prelude::ParamSetter;
use std::sync::PoisonError;

/// What the user hears and goes back to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sound {
    pub settings: Settings,
    /// The name of the preset it started from.
    pub preset: String,
    /// 0 for A, 1 for B.
    pub slot: usize,
    /// What was last heard of the other of the two; nothing if it never was.
    pub other: Option<Box<Self>>,
}

impl Sound {
    /// The same without the other one.
    fn alone(&self) -> Self {
        Self { other: None, ..self.clone() }
    }
}

/// What outlives a window, but not the plugin.
#[derive(Default)]
pub struct Session {
    pub library: Library,
    pub history: History,
    /// Which of the two sounds is heard.
    pub slot: usize,
    /// See [`Sound::other`].
    pub other: Option<Box<Sound>>,
    gesture: Option<Gesture>,
}

/// An edit that is under way.
struct Gesture {
    /// The setting; none for a stroke over the bands.
    id: Option<&'static str>,
    before: Sound,
    /// What it has come to. The host may take its time to hand new values back.
    after: Sound,
}

impl Session {
    /// One in which nothing has happened yet.
    pub fn new(library: Library) -> Self {
        Self { library, ..Self::default() }
    }
}

/// The user's hand during one frame.
pub struct Hand<'a> {
    pub params: &'a ToneFilterParams,
    pub session: &'a mut Session,
    setter: &'a ParamSetter<'a>,
    /// In egui's seconds.
    now: f64,
}

impl<'a> Hand<'a> {
    /// A hand on `params` at `now`, in egui's seconds.
    pub fn new(
        params: &'a ToneFilterParams,
        setter: &'a ParamSetter<'a>,
        session: &'a mut Session,
        now: f64,
    ) -> Self {
        Self { params, session, setter, now }
    }

    /// What is heard now.
    pub fn sound(&self) -> Sound {
        let preset = self.params.preset.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Session { slot, ref other, .. } = *self.session;
        Sound { settings: self.params.chosen(), preset, slot, other: other.clone() }
    }

    /// Begins a gesture on the setting called `id`.
    pub fn begin(&mut self, id: &'static str) {
        self.begin_gesture(Some(id));
        if let Some(control) = self.params.control(id) {
            // SAFETY: the pointer is to a parameter of the plugin, which outlives its editor.
            unsafe { self.setter.raw_context.raw_begin_set_parameter(control.as_ptr()) };
        }
    }

    /// Moves the setting called `id` to `normalized` (0..1 of its range) in a gesture.
    pub fn set(&mut self, id: &str, normalized: f32) {
        let Some(control) = self.params.control(id) else { return };
        if let Some(gesture) = &mut self.session.gesture {
            control.put(&mut gesture.after.settings, normalized);
        }
        let param = control.as_ptr();
        // SAFETY: as in `begin`.
        unsafe { self.setter.raw_context.raw_set_parameter_normalized(param, normalized) };
    }

    /// Ends the gesture on the setting called `id`.
    pub fn end(&mut self, id: &'static str) {
        if let Some(control) = self.params.control(id) {
            // SAFETY: as in `begin`.
            unsafe { self.setter.raw_context.raw_end_set_parameter(control.as_ptr()) };
        }
        self.finish(id);
    }

    /// Moves the setting called `id` to `normalized` (0..1 of its range) at one stroke.
    pub fn set_once(&mut self, id: &'static str, normalized: f32) {
        self.session.history.seal();
        self.nudge(id, normalized);
        self.session.history.seal();
    }

    /// Like [`Hand::set_once`], but some in a row are undone together.
    pub fn nudge(&mut self, id: &'static str, normalized: f32) {
        self.begin(id);
        self.set(id, normalized);
        self.end(id);
    }

    /// Begins a stroke over the bands, which [`Hand::end_stroke`] ends.
    pub fn begin_stroke(&mut self) {
        self.begin_gesture(None);
    }

    /// Switches bands on and off in a stroke.
    pub fn paint(&mut self, bands: BandMask) {
        self.params.bands.store(bands);
        if let Some(gesture) = &mut self.session.gesture {
            gesture.after.settings.bands = bands;
        }
    }

    /// Ends a stroke over the bands.
    pub fn end_stroke(&mut self) {
        self.touch();
        self.finish("bands");
        // Two strokes are two steps, however fast.
        self.session.history.seal();
    }

    /// Ends the gesture that is under way, if there is one: the window closes, and no button will be let go in it.
    pub fn let_go(&mut self) {
        match &self.session.gesture {
            Some(Gesture { id: Some(id), .. }) => self.end(id),
            Some(Gesture { id: None, .. }) => self.end_stroke(),
            None => {}
        }
        self.session.history.seal();
    }

    /// Switches bands on and off at one stroke.
    pub fn set_bands(&mut self, bands: BandMask) {
        self.begin_stroke();
        self.paint(bands);
        self.end_stroke();
    }

    /// Picks the notes of the custom scale, and that scale.
    pub fn set_custom(&mut self, classes: PitchClasses) {
        let before = self.sound();
        let scale = crate::dsp::Scale::Custom;
        let settings = Settings { custom: classes, scale, ..before.settings };
        self.go("custom", Sound { settings, ..before });
        self.session.history.seal();
    }

    /// Makes `after` heard, as one step that can be undone.
    pub fn go(&mut self, what: &'static str, after: Sound) {
        let before = self.sound();
        self.apply(&before, &after);
        self.session.history.record(what, before, after, self.now);
    }

    /// Takes back the last step.
    pub fn undo(&mut self) {
        if let Some((from, to)) = self.session.history.undo() {
            let (from, to) = (from.clone(), to.clone());
            self.apply(&from, &to);
        }
    }

    /// Takes the last undone step again.
    pub fn redo(&mut self) {
        if let Some((from, to)) = self.session.history.redo() {
            let (from, to) = (from.clone(), to.clone());
            self.apply(&from, &to);
        }
    }

    /// Makes the other of A and B heard; it starts as a copy.
    pub fn swap(&mut self) {
        let own = self.sound();
        let slot = 1 - own.slot;
        let left = Some(Box::new(own.alone()));
        let heard = own.other.clone().map_or_else(|| own.alone(), |other| *other);
        self.go("A/B", Sound { slot, other: left, ..heard });
        self.session.history.seal();
    }

    /// Makes the other of A and B what is heard now.
    pub fn copy_to_other(&mut self) {
        let own = self.sound();
        self.go("copy", Sound { other: Some(Box::new(own.alone())), ..own });
        self.session.history.seal();
    }

    /// Moves everything that is different in `from` and `to`, so that what the host has automated in
    /// the meantime stays.
    fn apply(&mut self, from: &Sound, to: &Sound) {
        let mut told = false;
        for id in params::ids() {
            let Some(control) = self.params.control(id) else { continue };
            let normalized = control.normalized(&to.settings);
            if normalized != control.normalized(&from.settings) {
                self.send(&control, normalized);
                told = true;
            }
        }
        if from.settings.bands != to.settings.bands || from.settings.custom != to.settings.custom {
            self.params.bands.store(to.settings.bands);
            self.params.custom.store(to.settings.custom);
            if !told {
                self.touch();
            }
        }
        self.session.slot = to.slot;
        self.session.other.clone_from(&to.other);
        let mut preset = self.params.preset.lock().unwrap_or_else(PoisonError::into_inner);
        preset.clone_from(&to.preset);
    }

    fn send(&self, control: &Control, normalized: f32) {
        let (host, param) = (self.setter.raw_context, control.as_ptr());
        // SAFETY: as in `begin`.
        unsafe {
            host.raw_begin_set_parameter(param);
            host.raw_set_parameter_normalized(param, normalized);
            host.raw_end_set_parameter(param);
        }
    }

    /// Sets a parameter to what it is: nice-plug has no other way to tell a host that there is something
    /// to save.
    fn touch(&self) {
        if let Some(control) = self.params.control("scale") {
            self.send(&control, control.normalized(&self.params.chosen()));
        }
    }

    fn begin_gesture(&mut self, id: Option<&'static str>) {
        let before = self.sound();
        self.session.gesture = Some(Gesture { id, after: before.clone(), before });
    }

    /// Ends a gesture and remembers it as a step.
    fn finish(&mut self, what: &'static str) {
        if let Some(Gesture { before, after, .. }) = self.session.gesture.take() {
            self.session.history.record(what, before, after, self.now);
        }
    }
}
