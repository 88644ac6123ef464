use super::{App, ToneFilterEditor, theme};
#[cfg(test)]
use crate::session::Edits;
use crate::{
    meters::{MeterInput, meters},
    session::Session,
};
use egui::{ClippedPrimitive, Context, Pos2, RawInput, Rect, Ui};
use nice_plug::{
    context::{
        PluginApi,
        gui::{GuiContextInner, ParamSetter},
    },
    params::internals::ParamPtr,
    plugin::PluginState,
};
use nice_plug_egui::RepaintNotifier;
use plugin_guard::{HostLink, lock};
use std::sync::{Arc, Mutex};

/// Editor without a window, for tests and benches. It has default settings, no user presets, and a host that only logs calls.
pub struct WindowlessEditor {
    pub(super) app: App,
    host: Host,
}

impl WindowlessEditor {
    /// Creates an editor, and the meter input that feeds its displays.
    pub fn new() -> (Self, MeterInput) {
        let (input, connection) = meters();
        let session = Session::new(Arc::default(), HostLink::default(), None);
        let editor = ToneFilterEditor::new(session, connection, RepaintNotifier::new());
        (Self { app: editor.app(), host: Host::default() }, input)
    }

    /// Shows the piano roll instead of the grid.
    pub fn show_roll(&mut self) {
        self.app.panel.session.params.editor_roll.store(true);
    }

    /// Creates an egui context with the editor's fonts and colours.
    pub fn context() -> Context {
        let ctx = Context::default();
        theme::install(&ctx);
        ctx
    }

    /// Runs a frame at `time` in seconds: takes the latest meter update, lays out a window of `size` in logical pixels, and
    /// tessellates it.
    pub fn frame(&mut self, ctx: &Context, size: [f32; 2], time: f64) -> Vec<ClippedPrimitive> {
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size.into())),
            time: Some(time),
            ..RawInput::default()
        };
        self.app.receive(time);
        let mut output = ctx.run_ui(input, |ui| self.show(ui));
        output.textures_delta.clear();
        ctx.tessellate(output.shapes, output.pixels_per_point)
    }

    pub(super) fn show(&mut self, ui: &mut Ui) {
        self.app.panel.show(ui, &ParamSetter::new(&self.host));
    }

    /// Edits the settings as a control would at the time `now` in seconds.
    #[cfg(test)]
    pub(super) fn edit<R>(&self, now: f64, edit: impl FnOnce(&mut Edits) -> R) -> R {
        self.app.panel.session.edit(&ParamSetter::new(&self.host), now, edit)
    }

    /// Returns the host's log of calls ("begin", "set" and "end"), and clears it.
    #[cfg(test)]
    pub(super) fn take_log(&self) -> Vec<&'static str> {
        std::mem::take(&mut lock(&self.host.log))
    }
}

#[derive(Default)]
struct Host {
    log: Mutex<Vec<&'static str>>,
}

impl Host {
    fn record(&self, call: &'static str) {
        lock(&self.log).push(call);
    }
}

impl GuiContextInner for Host {
    fn plugin_api(&self) -> PluginApi {
        PluginApi::Clap
    }

    unsafe fn raw_begin_set_parameter(&self, _param: ParamPtr) {
        self.record("begin");
    }

    unsafe fn raw_set_parameter_normalized(&self, _param: ParamPtr, _normalized: f32) {
        self.record("set");
    }

    unsafe fn raw_end_set_parameter(&self, _param: ParamPtr) {
        self.record("end");
    }

    fn get_state(&self) -> PluginState {
        unreachable!("the editor does not read the state")
    }

    fn set_state(&self, _state: PluginState) {
        unreachable!("the editor does not set the state")
    }

    fn request_restart(&self) {
        unreachable!("the editor needs no restart")
    }
}
