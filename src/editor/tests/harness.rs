//! Simulated user of an editor: mouse, keyboard and screen reader.

use crate::{
    editor::{Layout, Panel, WindowlessEditor, band_grid, theme},
    meters::MeterInput,
    params::ToneFilterParams,
    session::{Edits, Session},
};
use egui::{
    Event, FullOutput, Key, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, Pos2,
    RawInput, Rect, Shape, TextureId, TexturesDelta, TouchPhase, Vec2, epaint::ImageDelta, vec2,
};
use egui_kittest::{
    Harness, Node, TestRenderer,
    kittest::{NodeT, Queryable},
};
use std::{cell::RefCell, rc::Rc, time::Duration};
use tone_filter_dsp::{Bands, Settings, ToneFilter};

pub struct TestEditor {
    harness: Harness<'static, WindowlessEditor>,
    /// Time of the last frame in seconds.
    pub time: f64,
    modifiers: Modifiers,
    pub meters: MeterInput,
    uploads: Uploads,
}

/// Renderer that records the textures and parts of textures it should send to the graphics card.
#[derive(Clone, Default)]
struct Uploads(Rc<RefCell<Vec<(TextureId, ImageDelta)>>>);

impl TestRenderer for Uploads {
    fn handle_delta(&mut self, delta: &mut TexturesDelta) {
        let set =
            delta.set.drain().flat_map(|(id, deltas)| deltas.into_iter().map(move |d| (id, d)));
        self.0.borrow_mut().extend(set);
        delta.clear();
    }
}

impl TestEditor {
    pub fn new(size: [f32; 2]) -> Self {
        let uploads = Uploads::default();
        let builder = Harness::builder()
            .with_size(Vec2::from(size))
            .with_context_setup(theme::install)
            .renderer(uploads.clone());
        let (editor, meters) = WindowlessEditor::new();
        let harness =
            builder.build_ui_state(|ui, editor: &mut WindowlessEditor| editor.show(ui), editor);
        let mut editor = Self { harness, time: 0.0, modifiers: Modifiers::NONE, meters, uploads };
        editor.frame(vec![]);
        editor
    }

    /// Creates an editor with the groups of More open.
    pub fn with_more(size: [f32; 2]) -> Self {
        let mut editor = Self::new(size);
        editor.params().editor_more.store(true);
        editor.frame(vec![]);
        editor
    }

    pub fn panel(&mut self) -> &mut Panel {
        &mut self.harness.state_mut().app.panel
    }

    pub fn session(&self) -> &Session {
        &self.harness.state().app.panel.session
    }

    pub fn params(&self) -> &ToneFilterParams {
        &self.session().params
    }

    pub fn settings(&self) -> Settings {
        self.params().settings()
    }

    pub fn output(&self) -> &FullOutput {
        self.harness.output()
    }

    /// Returns the painted shapes, each with its clip rectangle. Groups are replaced by their members.
    pub fn shapes(&self) -> impl Iterator<Item = (&Shape, Rect)> {
        let shapes = self.output().shapes.iter();
        shapes.flat_map(|clipped| {
            leaves(&clipped.shape).into_iter().map(|shape| (shape, clipped.clip_rect))
        })
    }

    /// Displays `bands` until the animation has ended.
    pub fn display(&mut self, bands: Bands) {
        self.panel().bands = bands;
        self.wait(1.0);
    }

    /// Passes the bands of `filter` through the meters, and displays them until the animation has ended.
    pub fn display_filter(&mut self, filter: &ToneFilter) {
        self.meters.set_sample_rate(48_000.0);
        self.meters.advance(usize::MAX, || filter.snapshot());
        assert!(self.harness.state_mut().app.receive(self.time));
        self.wait(1.0);
    }

    /// Passes `sound`, at 48 kHz, through the meters in updates of 1/60 s.
    pub fn hear(&mut self, sound: &[f32]) {
        self.meters.set_sample_rate(48_000.0);
        for update in sound.chunks(800) {
            self.meters.measure(&mut [&mut update.to_vec()], |_| ());
            self.meters.advance(800, Default::default);
            self.harness.state_mut().app.receive(self.time);
            self.time += 1.0 / 60.0;
        }
    }

    pub fn uploads(&self) -> Vec<(TextureId, ImageDelta)> {
        self.uploads.0.take()
    }

    pub fn resize(&mut self, size: [f32; 2]) {
        self.harness.set_size(size.into());
    }

    /// Returns the input of the next frame. Its events are replaced by those of [`TestEditor::frame`].
    pub fn input(&mut self) -> &mut RawInput {
        self.harness.input_mut()
    }

    /// Runs a frame with `events`, 20 ms after the last frame.
    pub fn frame(&mut self, events: Vec<Event>) {
        self.frame_after(0.02, events);
    }

    /// Runs frames of 0.1 s for at least `seconds`, so that animations advance.
    pub fn wait(&mut self, seconds: f64) {
        (0..(10.0 * seconds).ceil() as usize).for_each(|_| self.frame_after(0.1, vec![]));
    }

    fn frame_after(&mut self, seconds: f64, events: Vec<Event>) {
        self.time += seconds;
        let input = self.harness.input_mut();
        input.time = Some(self.time);
        input.events = events;
        self.harness.step();
    }

    pub fn repaint_delay(&self) -> Duration {
        self.output().viewport_output[&egui::ViewportId::ROOT].repaint_delay
    }

    pub fn button(&mut self, pos: Pos2, pressed: bool) {
        self.any_button(pos, PointerButton::Primary, pressed);
    }

    fn any_button(&mut self, pos: Pos2, button: PointerButton, pressed: bool) {
        let modifiers = self.modifiers;
        let moved = Event::PointerMoved(pos);
        self.frame(vec![moved, Event::PointerButton { pos, button, pressed, modifiers }]);
    }

    pub fn secondary_click(&mut self, pos: Pos2) {
        self.any_button(pos, PointerButton::Secondary, true);
        self.any_button(pos, PointerButton::Secondary, false);
    }

    /// Holds down `modifiers`, and no other modifier keys.
    pub fn hold(&mut self, modifiers: Modifiers) {
        self.modifiers = modifiers;
        self.frame(vec![Event::ModifiersChanged(modifiers)]);
    }

    pub fn wheel(&mut self, notches: f32, modifiers: Modifiers) {
        let (unit, delta) = (MouseWheelUnit::Line, vec2(0.0, notches));
        let (phase, source) = (TouchPhase::Move, MouseWheelSource::Unknown);
        self.frame(vec![Event::MouseWheel { unit, delta, phase, modifiers, source }]);
    }

    pub fn edit<R>(&mut self, edit: impl FnOnce(&mut Edits) -> R) -> R {
        self.harness.state().edit(self.time, edit)
    }

    /// Clicks once, long after the last click, so that the two clicks are not a double-click.
    pub fn click(&mut self, pos: Pos2) {
        self.time += 1.0;
        self.click_again(pos);
    }

    /// Clicks without a delay, so that two clicks in a row are a double-click.
    pub fn click_again(&mut self, pos: Pos2) {
        self.button(pos, true);
        self.button(pos, false);
        self.frame(vec![]);
    }

    /// Performs the steps of `script`, separated by " | ": `<Enter>` presses that key, `~text` types text, `Name := text`
    /// replaces the text in the field Name, and any other step clicks the control with this label.
    pub fn run(&mut self, script: &str) {
        for step in script.split(" | ") {
            if let Some(key) = step.strip_prefix('<') {
                self.key(Key::from_name(key.trim_end_matches('>')).expect("a key"));
            } else if let Some(text) = step.strip_prefix('~') {
                self.frame(vec![Event::Text(text.to_owned())]);
            } else if let Some((field, text)) = step.split_once(" := ") {
                self.click(self.place(field));
                self.hold(Modifiers::COMMAND);
                self.key(Key::A);
                self.hold(Modifiers::NONE);
                self.frame(vec![Event::Text(text.to_owned())]);
            } else {
                self.click(self.place(step));
            }
            self.frame(vec![]);
        }
    }

    pub fn frames(&mut self, count: usize) {
        (0..count).for_each(|_| self.frame(vec![]));
    }

    pub fn shows(&self, text: &str) -> bool {
        self.texts().iter().any(|(shown, _)| shown.contains(text))
    }

    pub fn offers(&self, label: &str) -> bool {
        self.controls().iter().any(|name| name == label)
    }

    /// Moves the pointer to `pos` and waits for the tooltip.
    pub fn hover(&mut self, pos: Pos2) {
        self.frame(vec![Event::PointerMoved(pos)]);
        self.wait(1.2);
    }

    /// Makes two undo steps and undoes one, so that both undo and redo are possible.
    pub fn make_steps(&mut self) {
        self.edit(|edits| {
            edits.set_once("mix", 0.6);
            edits.set_once("mix", 0.7);
            edits.undo();
        });
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

    pub fn cell(&self, tone: usize) -> Rect {
        let grid = Layout::new(self.window(), self.params().editor_more.load(), false).grid;
        let range = self.params().chosen().settings.range;
        band_grid::cell_rect(grid, band_grid::gap(grid), range, tone)
    }

    /// Returns the control with this AccessKit label.
    pub fn node<'a>(&'a self, label: &'a str) -> Node<'a> {
        self.harness.get_by_label(label)
    }

    pub fn place(&self, label: &str) -> Pos2 {
        self.node(label).rect().center()
    }

    pub fn focus(&mut self, label: &str) {
        self.node(label).focus();
        self.frame(vec![]);
        // The control receives the arrow keys from the second frame on.
        self.frame(vec![]);
    }

    fn focusable(&self) -> impl Iterator<Item = Node<'_>> {
        let nodes = self.harness.root().children_recursive();
        let focus = egui::accesskit::Action::Focus;
        nodes.filter(move |node| node.accesskit_node().data().supports_action(focus))
    }

    /// Returns the AccessKit labels of the controls that can have the focus.
    pub fn controls(&self) -> Vec<String> {
        self.focusable().map(|node| node.accesskit_node().label().unwrap_or_default()).collect()
    }

    /// Returns the AccessKit labels and the areas of the controls that can have the focus.
    pub fn areas(&self) -> Vec<(String, Rect)> {
        let names = self.controls().into_iter();
        names.map(|name| (name.clone(), self.node(&name).rect())).collect()
    }

    /// Returns the text of every node that is announced when it changes.
    pub fn announced(&self) -> Vec<String> {
        let nodes = self.harness.root().children_recursive();
        let nodes = nodes.map(|node| node.accesskit_node());
        // Checks the node's own property only, as the parts of a text inherit it.
        let polite = Some(egui::accesskit::Live::Polite);
        let live = nodes.filter(|node| node.data().live() == polite);
        live.filter_map(|node| node.label().or_else(|| node.value())).collect()
    }

    pub fn focused(&self) -> Option<String> {
        self.focusable().find(Node::is_focused).map(|node| node.accesskit_node().label().unwrap())
    }

    pub fn texts(&self) -> Vec<(String, Rect)> {
        let texts = self.shapes().filter_map(|(shape, clip)| match shape {
            Shape::Text(text) => {
                let area = text.visual_bounding_rect().intersect(clip);
                area.is_positive().then(|| (text.galley.text().to_owned(), area))
            }
            _ => None,
        });
        texts.collect()
    }

    fn areas_of(&self, text: &str) -> Vec<Rect> {
        let texts = self.texts();
        let areas: Vec<_> =
            texts.iter().filter(|(shown, _)| shown == text).map(|(_, area)| *area).collect();
        assert!(!areas.is_empty(), "no {text:?} in {texts:?}");
        areas
    }

    pub fn text(&self, text: &str) -> Rect {
        self.areas_of(text)[0]
    }

    /// Clicks the last painted `text`, which is on top.
    pub fn click_text(&mut self, text: &str) {
        self.click(self.areas_of(text).last().unwrap().center());
    }

    /// Returns the host's calls since the last call of this function.
    pub fn log(&self) -> Vec<&'static str> {
        self.harness.state().take_log()
    }
}

fn leaves(shape: &Shape) -> Vec<&Shape> {
    match shape {
        Shape::Vec(shapes) => shapes.iter().flat_map(leaves).collect(),
        shape => vec![shape],
    }
}
