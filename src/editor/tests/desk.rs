//! A panel in front of a user, without a window.

use crate::{
    dsp::{Bands, Settings},
    editor::{
        Layout, Panel, band_grid,
        edits::{Edits, Session},
        preset_list::PresetList,
        theme,
    },
    params::ToneFilterParams,
};
use egui::{Event, FullOutput, Key, Modifiers, PointerButton, Pos2, Rect, Shape, Vec2};
use egui_kittest::{
    Harness, Node,
    kittest::{NodeT, Queryable},
};
use nice_plug::{
    context::{
        PluginApi,
        gui::{GuiContextInner, ParamSetter},
    },
    params::internals::ParamPtr,
    plugin::PluginState,
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

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

/// What is on the desk.
#[derive(Default)]
struct State {
    panel: Panel,
    params: ToneFilterParams,
    host: Host,
}

/// A panel in front of a user.
pub struct Desk {
    harness: Harness<'static, State>,
    pub time: f64,
    modifiers: Modifiers,
}

impl Desk {
    pub fn new(size: [f32; 2]) -> Self {
        let show = |ui: &mut egui::Ui, State { panel, params, host }: &mut State| {
            panel.show(ui, params, &ParamSetter::new(host));
        };
        let builder =
            Harness::builder().with_size(Vec2::from(size)).with_context_setup(theme::install);
        let mut state = State::default();
        state.panel.session = Arc::new(Mutex::new(Session::new(PresetList::new(None))));
        let harness = builder.build_ui_state(show, state);
        let mut desk = Self { harness, time: 0.0, modifiers: Modifiers::NONE };
        desk.frame(vec![]);
        desk
    }

    pub fn panel(&mut self) -> &mut Panel {
        &mut self.harness.state_mut().panel
    }

    pub fn params(&self) -> &ToneFilterParams {
        &self.harness.state().params
    }

    pub fn settings(&self) -> Settings {
        self.params().settings()
    }

    pub fn output(&self) -> &FullOutput {
        self.harness.output()
    }

    /// Shows what the bands hear until it no longer moves.
    pub fn hear(&mut self, bands: Bands) {
        self.panel().bands = bands;
        (0..50).for_each(|_| self.frame(vec![]));
    }

    /// Shows a frame, 20 ms after the last.
    pub fn frame(&mut self, events: Vec<Event>) {
        self.time += 0.02;
        let input = self.harness.input_mut();
        input.time = Some(self.time);
        input.events = events;
        self.harness.step();
    }

    /// How long the panel would wait for the next frame.
    pub fn repaint_delay(&self) -> Duration {
        self.output().viewport_output[&egui::ViewportId::ROOT].repaint_delay
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

    /// Works on the settings as a control does.
    pub fn with_edits<R>(&mut self, work: impl FnOnce(&mut Edits) -> R) -> R {
        let State { panel, params, host } = self.harness.state();
        let setter = ParamSetter::new(host);
        let mut session = panel.session.lock().unwrap();
        work(&mut Edits::new(params, &setter, &mut session, self.time))
    }

    /// A single click, not the second half of a double-click.
    pub fn click(&mut self, pos: Pos2) {
        self.time += 1.0;
        self.click_again(pos);
    }

    /// A click right after the last.
    pub fn click_again(&mut self, pos: Pos2) {
        self.button(pos, true);
        self.button(pos, false);
        self.frame(vec![]);
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

    pub fn window(&self) -> Rect {
        self.harness.ctx.content_rect()
    }

    /// Where the cell of `tone` is.
    pub fn cell(&self, tone: usize) -> Rect {
        let grid = Layout::new(self.window()).grid;
        band_grid::cell_rect(grid, band_grid::gap(grid), tone)
    }

    /// What a screen reader calls `label`.
    pub fn node<'a>(&'a self, label: &'a str) -> Node<'a> {
        self.harness.get_by_label(label)
    }

    /// The middle of what a screen reader calls `label`.
    pub fn place(&self, label: &str) -> Pos2 {
        self.node(label).rect().center()
    }

    /// Gives the keyboard to what a screen reader calls `label`.
    pub fn focus(&mut self, label: &str) {
        self.node(label).focus();
        self.frame(vec![]);
        // Only then are the arrows its own.
        self.frame(vec![]);
    }

    /// Every control that a screen reader knows: what it is called, and whether the keyboard is there.
    pub fn controls(&self) -> Vec<(String, bool)> {
        let nodes = self.harness.root().children_recursive();
        let name = |node: &Node| node.accesskit_node().label().unwrap_or_default();
        let can_be_focused = |node: &Node| {
            let node = node.accesskit_node();
            node.data().supports_action(egui::accesskit::Action::Focus)
        };
        nodes.filter(can_be_focused).map(|node| (name(&node), node.is_focused())).collect()
    }

    /// What has the keyboard.
    pub fn focused(&self) -> Option<String> {
        self.controls().into_iter().find_map(|(name, focused)| focused.then_some(name))
    }

    /// Every text that is painted, and where.
    pub fn texts(&self) -> Vec<(String, Rect)> {
        let texts = self.output().shapes.iter().filter_map(|clipped| match &clipped.shape {
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
        std::mem::take(&mut *self.harness.state().host.log.lock().unwrap())
    }
}

/// Every shape that `shape` is made of.
pub fn leaves(shape: &Shape) -> Vec<&Shape> {
    match shape {
        Shape::Vec(shapes) => shapes.iter().flat_map(leaves).collect(),
        shape => vec![shape],
    }
}
