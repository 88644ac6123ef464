//! The plugin's window: displays the bands and has controls for all settings.
//!
//! The window is repainted on demand. A meter update or an edit requests a frame; an animation requests frames until it ends.

mod access;
mod band_grid;
mod bypass;
mod controls;
mod drops;
mod file_dialog;
mod focus;
mod found;
mod keyboard;
mod layout;
mod menu;
mod notice;
mod preset_bar;
mod preset_browser;
mod preset_files;
mod roll;
mod save_notes;
mod scale_strip;
mod size;
mod spectrum;
#[cfg(test)]
mod tests;
mod theme;
mod windowless;

use crate::{
    capture::{Capture, CaptureInput},
    meters::{MeterViewer, Meters},
    params::{Control, Size, allowed_size, allowed_zoom},
    session::{Edits, Session, Sink},
};
use band_grid::BandGrid;
use crossbeam::atomic::AtomicCell;
use egui::{Event, Ui, UiBuilder, Vec2};
use focus::Focus;
use found::DetectedKey;
use layout::Layout;
use nice_plug::{
    context::{PluginApi, gui::GuiContext},
    editor::{
        Editor, EditorHandle, HostMethods, ParentWindowHandle, ResizeHint, SpawnedEditor,
        dpi::{LogicalSize, NativeSize},
    },
    plugin::TrackInfo,
    prelude::ParamSetter,
};
use nice_plug_egui::{
    EguiEditorHandle, EguiEditorState, EguiNiceSettings, Frame, NiceEguiApp,
    baseview::{HandlerError, WindowSize},
    create_egui_editor,
};
use notice::Notice;
use plugin_guard::{Track, window};
use preset_bar::{OutputMeter, PresetBar};
use roll::{History, Roll};
use spectrum::Spectrum;
use std::{
    error::Error,
    mem,
    sync::{Arc, Mutex},
};
use tone_filter_dsp::{BandMask, Bands};

pub use crate::params::{DEFAULT_SIZE, MIN_SIZE};
pub use nice_plug_egui::RepaintNotifier;
pub use windowless::WindowlessEditor;

/// Time in seconds without a meter update after which the host counts as stopped.
const PAUSE: f64 = 0.25;

/// Editor of the plugin, which opens windows. Unlike nice-plug's own editor, it saves a window's size in the plugin's state.
pub struct ToneFilterEditor {
    session: Session,
    meters: Meters,
    capture: Capture,
    /// Columns of the piano roll.
    history: Arc<Mutex<History>>,
    repaint: RepaintNotifier,
    /// Physical pixels per logical pixel; 1 until the host or the window reports the ratio.
    pixel_ratio: Arc<AtomicCell<f64>>,
}

/// Creates the editor. Always `Some`; the stand-in without the feature `editor` returns `None`.
pub fn create(
    session: Session,
    meters: Meters,
    repaint: RepaintNotifier,
) -> Option<ToneFilterEditor> {
    Some(ToneFilterEditor::new(session, meters, repaint))
}

impl ToneFilterEditor {
    pub fn new(session: Session, meters: Meters, repaint: RepaintNotifier) -> Self {
        let (capture, history) = Default::default();
        let pixel_ratio = Arc::new(AtomicCell::new(1.0));
        Self { session, meters, capture, history, repaint, pixel_ratio }
    }

    /// Returns the size of a new window in logical pixels: the saved size, limited to the screen.
    fn opening(&self) -> [f32; 2] {
        let room = size::screen() / self.pixel_ratio.load() as f32;
        allowed_size(Vec2::from(self.session.params.editor_size.load().0).min(room).into())
    }

    fn app(&self) -> App {
        App {
            meters: self.meters.open(),
            pixel_ratio: self.pixel_ratio.clone(),
            host: None,
            screen_readers: access::Link::new(self.repaint.clone()),
            focus: Focus::default(),
            #[cfg(target_os = "linux")]
            repaint: self.repaint.clone(),
            panel: Panel {
                session: self.session.clone(),
                capture: self.capture.open(),
                roll: Roll::new(self.history.clone()),
                ..Panel::default()
            },
            last_update: f64::NEG_INFINITY,
        }
    }
}

impl Editor for ToneFilterEditor {
    type Handle = window::Handle<EguiEditorHandle>;

    fn spawn(
        &self,
        parent: Option<ParentWindowHandle>,
        wait_for_parent: bool,
        fallback_scale_factor: Option<f64>,
        gui_context: GuiContext,
        host: Option<HostMethods>,
    ) -> Result<SpawnedEditor<Self::Handle>, Box<dyn Error>> {
        if let Some(ratio) = fallback_scale_factor {
            self.pixel_ratio.store(ratio);
        }
        #[cfg(target_os = "linux")]
        window::keep_loaded();
        let [width, height] = self.opening();
        let zoom = self.session.params.editor_zoom.load();
        let size = LogicalSize::new(width / zoom, height / zoom);
        let state = EguiEditorState::from_size(size, zoom);
        let settings =
            EguiNiceSettings::new().with_tile("Tone Filter").with_resize_hint(self.resize_hint());
        let spawned = create_egui_editor(state, self.repaint.clone(), settings, self.app())
            .ok_or("no editor")?
            .spawn(parent, wait_for_parent, fallback_scale_factor, gui_context, host)?;
        // On Linux, a request to close before the window's event loop runs blocks for ever (baseview 0.4.2). The event loop
        // answers this call, so the loop runs once the call has returned.
        let scale = fallback_scale_factor.unwrap_or(1.0);
        spawned.handle.set_fallback_scale_factor(scale, &spawned.window)?;
        Ok(window::shared(spawned))
    }

    fn size(&self) -> NativeSize<u32> {
        let [width, height] = self.opening();
        NativeSize::from_size(LogicalSize::new(width, height).into(), self.pixel_ratio.load())
    }

    fn resize_hint(&self) -> ResizeHint {
        let zoom = self.session.params.editor_zoom.load();
        let [width, height] = MIN_SIZE.map(|length| length * zoom);
        ResizeHint::RESIZABLE.with_min_logical_size(LogicalSize::new(width, height))
    }

    fn track_info_updated(&self, info: TrackInfo) {
        self.session.host.set_track(Track::of_nice_plug(&info));
    }
}

/// Sends edits to the host as gestures, which it may record as automation.
impl Sink for ParamSetter<'_> {
    fn begin(&self, control: &Control) {
        // SAFETY: the pointer is to a parameter of the plugin, which `control` borrows.
        unsafe { self.raw_context.raw_begin_set_parameter(control.as_ptr()) };
    }

    /// Also sets the value at once: nice-plug waits until the host sends it back, which a host may do only while it processes.
    fn set(&self, control: &Control, normalized: f32) {
        // SAFETY: as in `begin`; values may be set on any thread.
        unsafe {
            control.as_ptr()._internal_set_normalized_value(normalized);
            self.raw_context.raw_set_parameter_normalized(control.as_ptr(), normalized);
        }
    }

    fn end(&self, control: &Control) {
        // SAFETY: as in `begin`.
        unsafe { self.raw_context.raw_end_set_parameter(control.as_ptr()) };
    }
}

struct App {
    meters: MeterViewer,
    pixel_ratio: Arc<AtomicCell<f64>>,
    host: Option<GuiContext>,
    screen_readers: access::Link,
    focus: Focus,
    #[cfg(target_os = "linux")]
    repaint: RepaintNotifier,
    panel: Panel,
    /// Time of the last meter update, in seconds on the window's clock.
    last_update: f64,
}

impl NiceEguiApp for App {
    fn build(
        &mut self,
        ctx: egui::Context,
        host: GuiContext,
        frame: &mut Frame,
    ) -> Result<(), HandlerError> {
        let window = frame.baseview_window();
        self.pixel_ratio.store(window.size().scale_factor);
        // An error is ignored: baseview then draws by a timer.
        #[cfg(target_os = "linux")]
        let _ = window::select_answers(window);
        theme::install(&ctx);
        #[cfg(target_os = "linux")]
        drops::receive(&ctx, window, self.repaint.clone());
        self.screen_readers.connect(&ctx, window);
        self.focus = Focus::new(frame, host.plugin_api() != PluginApi::Standalone);
        size::limit(&ctx, size::screen());
        self.host = Some(host);
        Ok(())
    }

    fn ui(&mut self, ui: &mut Ui, frame: &mut Frame) {
        self.screen_readers.set_focused(self.focus.update(ui.ctx(), frame));
        if self.receive(ui.input(|input| input.time)) {
            ui.ctx().request_repaint_after_secs(PAUSE as f32);
        }
        if let Some(host) = &self.host {
            self.panel.show(ui, &host.param_setter());
        }
    }

    /// Saves the new size in logical pixels. egui-baseview's scale factor includes the zoom, so `size.logical` is in points: one
    /// point is `editor_zoom` logical pixels wide.
    fn resized(&mut self, size: WindowSize) {
        let params = &self.panel.session.params;
        let zoom = f64::from(params.editor_zoom.load());
        self.pixel_ratio.store(size.scale_factor / zoom);
        let size = [size.logical.width, size.logical.height].map(|length| (zoom * length) as f32);
        params.editor_size.store(Size(allowed_size(size)));
    }

    fn zoom_factor_changed(&mut self, zoom: f32) {
        self.panel.session.params.editor_zoom.store(allowed_zoom(zoom));
    }
}

impl Drop for App {
    fn drop(&mut self) {
        let Some(host) = &self.host else { return };
        let session = &self.panel.session;
        session.edit(&host.param_setter(), f64::INFINITY, |edits| edits.end_open_gesture());
    }
}

impl App {
    /// Takes the latest meter update for the displays and the capture; after [`PAUSE`] without one, shows silence. `now` is the
    /// window's time in seconds. Returns whether the host processes.
    fn receive(&mut self, now: f64) -> bool {
        if let Some(mut update) = self.meters.latest() {
            self.panel.bands = update.bands.read();
            self.panel.held = update.bands.held;
            let heard = self.panel.capture.capture.heard().tempo;
            self.panel.detected_key.push(&update, heard);
            self.panel.output = OutputMeter { peaks: update.peaks, load: update.load };
            self.panel.spectrum.push(&update.sound, update.sample_rate);
            let settings = self.panel.session.params.chosen().settings;
            let (rate, playing) = (f64::from(update.sample_rate), update.bar.is_some());
            let sound = mem::take(&mut update.input);
            let time = self.panel.capture.push(sound, update.lost, rate, playing, &settings);
            self.panel.roll.push(&self.panel.bands, update.bar, now, time);
            self.last_update = now;
        }
        let playing = now - self.last_update <= PAUSE;
        if !playing {
            self.panel.bands = Bands::default();
            self.panel.held = BandMask::NONE;
            self.panel.output = OutputMeter::default();
            self.panel.spectrum.clear();
        }
        playing
    }
}

/// Content of the window. Tests show it without a plugin and without a real window.
#[derive(Default)]
struct Panel {
    bands: Bands,
    /// Bands whose keys are held.
    held: BandMask,
    detected_key: DetectedKey,
    output: OutputMeter,
    spectrum: Spectrum,
    grid: BandGrid,
    roll: Roll,
    capture: CaptureInput,
    bar: PresetBar,
    notice: Notice,
    session: Session,
}

impl Panel {
    fn show(&mut self, ui: &mut Ui, sink: &dyn Sink) {
        if !ui.ctx().text_edit_focused() && !focus::in_dialog(ui.ctx()) {
            // The space bar is left to the host's transport. egui would press the focused button with it, as in dialogs.
            let is_space =
                |event: &Event| matches!(event, Event::Key { key: egui::Key::Space, .. });
            ui.input_mut(|input| input.events.retain(|event| !is_space(event)));
        }
        let (seconds, now) = ui.input(|input| (input.unstable_dt.min(0.1), input.time));
        let moving = self.grid.advance(&self.bands, seconds);
        if self.spectrum.advance(seconds) || moving {
            ui.ctx().request_repaint();
        }
        self.session.clone().edit(sink, now, |edits| self.show_parts(ui, edits));
    }

    fn show_parts(&mut self, ui: &mut Ui, edits: &mut Edits) {
        size::settle(ui.ctx(), edits);
        theme::select(ui.ctx(), edits.params.editor_contrast.load());
        let window = ui.ctx().content_rect();
        let ui = &mut ui.new_child(UiBuilder::new().max_rect(window));
        ui.painter().rect_filled(window, 0.0, theme::BACKGROUND);
        let layout =
            Layout::new(window, edits.params.editor_more.load(), self.bar.browser.is_open());
        let Layout { scale, .. } = layout;
        theme::resize(ui.ctx(), scale);
        preset_bar::zoom_by_keys(ui.ctx(), edits);
        bypass::show(ui, layout.bypass, scale, edits);
        self.bar.files.notes.selection = self.roll.selection.clone();
        self.bar.show(ui, layout.header, scale, &self.bands, &self.output, edits);
        self.bar.files.notes.write(&mut self.capture, &self.session);
        if let Some(area) = layout.browser {
            self.bar.browser.show(ui, area, scale, edits);
        }
        controls::strip::show(ui, layout.main, scale, edits);
        self.grid.hovered = None;
        if layout.has_bands {
            self.show_bands(ui, &layout, edits);
        }
        menu::show(ui, edits);
        size::show_corner(ui, window, edits);
        drops::show(ui, scale, edits);
        let message = &mut edits.state.presets.message;
        if message.is_empty() {
            *message = edits.params.score.take_unread();
        }
        self.notice.show(ui, message);
        access::announce(ui.ctx(), || format!("Preset {}", edits.preset()));
    }

    /// Shows the parts below the main settings: the groups of More, the bands, their scale and the spectrum.
    fn show_bands(&mut self, ui: &mut Ui, layout: &Layout, edits: &mut Edits) {
        let scale = layout.scale;
        if let Some(area) = layout.more {
            controls::more::show(ui, area, scale, edits);
        }
        if layout.has_grid {
            if edits.params.editor_roll.load() {
                let (area, settings) =
                    (layout.grid.union(layout.octaves), edits.params.chosen().settings);
                let capture = &self.capture.capture;
                self.grid.hovered =
                    self.roll.show(ui, area, scale, &self.bands, &settings, capture);
            } else {
                band_grid::show_octaves(ui, layout.octaves, layout.grid, scale, edits);
                self.grid.show(ui, layout.grid, &self.bands, self.held, edits);
            }
            keyboard::show(ui, layout.keyboard, layout.grid, scale, edits);
        }
        let strip = roll::view_switch(ui, layout.strip, scale, edits);
        let mut rest = scale_strip::show(ui, strip, scale, edits);
        let hidden = self.detected_key.show(ui, &mut rest, scale, edits);
        let more = |ui: &mut Ui| self.detected_key.show_entries(ui, &hidden, edits);
        scale_strip::legend(ui, rest, scale, more, !hidden.is_empty());
        if let Some(area) = layout.spectrum {
            self.spectrum.show(ui, area, scale, &edits.params.chosen().settings, self.grid.hovered);
        }
    }
}
