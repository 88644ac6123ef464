//! A panel in front of a user, without a window.

use crate::{
    editor::{Panel, hand::Hand, theme},
    params::ToneFilterParams,
};
use egui::{
    Context, Event, FullOutput, Key, Modifiers, PointerButton, Pos2, RawInput, Rect, Shape, Vec2,
};
use nice_plug::{
    context::{
        PluginApi,
        gui::{GuiContextInner, ParamSetter},
    },
    params::internals::ParamPtr,
    plugin::PluginState,
};
use std::sync::Mutex;

/// A host that notes what it is told and does it.
#[derive(Default)]
struct Host {
    log: Mutex<Vec<&'static str>>,
}

impl GuiContextInner for Host {
    fn plugin_api(&self) -> PluginApi {
        PluginApi::Clap
    }

    unsafe fn raw_begin_set_parameter(&self, _param: ParamPtr) {
        self.log.lock().unwrap().push("begin");
    }

    unsafe fn raw_set_parameter_normalized(&self, param: ParamPtr, normalized: f32) {
        self.log.lock().unwrap().push("set");
        // SAFETY: the parameters outlive the host in every test.
        unsafe { param._internal_set_normalized_value(normalized) };
    }

    unsafe fn raw_end_set_parameter(&self, _param: ParamPtr) {
        self.log.lock().unwrap().push("end");
    }

    fn get_state(&self) -> PluginState {
        unreachable!("the editor leaves the state alone")
    }

    fn set_state(&self, _state: PluginState) {
        unreachable!("the editor leaves the state alone")
    }

    fn request_restart(&self) {
        unreachable!("the editor needs no restart")
    }
}

/// A panel in front of a user.
pub struct Desk {
    ctx: Context,
    pub panel: Panel,
    pub params: ToneFilterParams,
    host: Host,
    pub size: Vec2,
    pub time: f64,
    pub output: FullOutput,
    modifiers: Modifiers,
}

impl Desk {
    pub fn new(size: [f32; 2]) -> Self {
        let ctx = Context::default();
        theme::install(&ctx);
        let mut desk = Self {
            ctx,
            panel: Panel::default(),
            params: ToneFilterParams::default(),
            host: Host::default(),
            size: size.into(),
            time: 0.0,
            output: FullOutput::default(),
            modifiers: Modifiers::NONE,
        };
        desk.frame(vec![]);
        desk
    }

    /// Shows a frame, 20 ms after the last.
    pub fn frame(&mut self, events: Vec<Event>) {
        self.time += 0.02;
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, self.size)),
            time: Some(self.time),
            events,
            ..RawInput::default()
        };
        let setter = ParamSetter::new(&self.host);
        let (panel, params) = (&mut self.panel, &self.params);
        self.output = self.ctx.run_ui(input, |ui| panel.show(ui, params, &setter));
        // Nobody paints, so nobody needs the textures.
        self.output.textures_delta.clear();
    }

    pub fn button(&mut self, pos: Pos2, pressed: bool) {
        self.any_button(pos, PointerButton::Primary, pressed);
    }

    fn any_button(&mut self, pos: Pos2, button: PointerButton, pressed: bool) {
        let modifiers = self.modifiers;
        self.frame(vec![Event::PointerMoved(pos)]);
        self.frame(vec![Event::PointerButton { pos, button, pressed, modifiers }]);
    }

    pub fn secondary_click(&mut self, pos: Pos2) {
        self.any_button(pos, PointerButton::Secondary, true);
        self.any_button(pos, PointerButton::Secondary, false);
    }

    /// Holds keys down until told otherwise.
    pub fn hold(&mut self, modifiers: Modifiers) {
        self.modifiers = modifiers;
        self.frame(vec![Event::ModifiersChanged(modifiers)]);
    }

    /// What the button for undoing does.
    pub fn undo(&mut self) {
        let setter = ParamSetter::new(&self.host);
        let mut session = self.panel.session.lock().unwrap();
        Hand::new(&self.params, &setter, &mut session, self.time).undo();
    }

    pub fn click(&mut self, pos: Pos2) {
        self.button(pos, true);
        self.button(pos, false);
    }

    pub fn drag(&mut self, from: Pos2, by: Vec2) {
        self.button(from, true);
        self.frame(vec![Event::PointerMoved(from + 0.5 * by)]);
        self.frame(vec![Event::PointerMoved(from + by)]);
        self.button(from + by, false);
    }

    pub fn key(&mut self, key: Key) {
        let event = |pressed| Event::Key {
            key,
            physical_key: None,
            pressed,
            repeat: false,
            modifiers: self.modifiers,
        };
        self.frame(vec![event(true), event(false)]);
        self.frame(vec![]);
    }

    /// Every text that is painted, and where.
    pub fn texts(&self) -> Vec<(String, Rect)> {
        let texts = self.output.shapes.iter().filter_map(|clipped| match &clipped.shape {
            Shape::Text(text) => Some((text.galley.text().to_owned(), text.visual_bounding_rect())),
            _ => None,
        });
        texts.collect()
    }

    /// Where `text` is painted.
    pub fn text(&self, text: &str) -> Rect {
        let texts = self.texts();
        let found = texts.iter().find(|(own, _)| own == text);
        found.unwrap_or_else(|| panic!("no {text:?} in {texts:?}")).1
    }

    /// Where `text` is painted last.
    pub fn last_text(&self, text: &str) -> Rect {
        let texts = self.texts();
        let found = texts.iter().rfind(|(own, _)| own == text);
        found.unwrap_or_else(|| panic!("no {text:?} in {texts:?}")).1
    }

    pub fn log(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.host.log.lock().unwrap())
    }
}

/// Every shape that `shape` is made of.
pub fn leaves(shape: &Shape) -> Vec<&Shape> {
    match shape {
        Shape::Vec(shapes) => shapes.iter().flat_map(leaves).collect(),
        shape => vec![shape],
    }
}
