//! The editor without a window and without a host.

use super::{App, ToneFilterEditor, theme};
use crate::{
    meters::{MeterInput, meters},
    params::ToneFilterParams,
};
use egui::{Context, Pos2, RawInput, Rect, Vec2};
use nice_plug::{
    context::{
        PluginApi,
        gui::{GuiContextInner, ParamSetter},
    },
    params::internals::ParamPtr,
    plugin::PluginState,
};
use nice_plug_egui::RepaintNotifier;
use std::sync::Arc;

/// The editor without a window and without a host, for benches: what a frame costs before OpenGL gets it.
pub struct Rehearsal {
    ctx: Context,
    app: App,
    size: Vec2,
    /// Seconds.
    now: f64,
}

impl Rehearsal {
    /// An editor of `size`, width and height in logical pixels, with default settings; and what it is to
    /// be shown goes through.
    pub fn new(size: [f32; 2]) -> (Self, MeterInput) {
        let (input, connection) = meters();
        let params = Arc::new(ToneFilterParams::default());
        let app = ToneFilterEditor::new(params, connection, RepaintNotifier::new()).app();
        let ctx = Context::default();
        theme::install(&ctx);
        (Self { ctx, app, size: size.into(), now: 0.0 }, input)
    }

    /// A frame, a sixtieth of a second after the last: layout and tessellation; the number of vertices.
    pub fn frame(&mut self) -> usize {
        self.now += 1.0 / 60.0;
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, self.size)),
            time: Some(self.now),
            ..RawInput::default()
        };
        self.app.receive(self.now);
        let App { panel, params, .. } = &mut self.app;
        let mut output =
            self.ctx.run_ui(input, |ui| panel.show(ui, params, &ParamSetter::new(&NoHost)));
        output.textures_delta.clear();
        let meshes = self.ctx.tessellate(output.shapes, output.pixels_per_point);
        let vertices = meshes.iter().map(|mesh| match &mesh.primitive {
            egui::epaint::Primitive::Mesh(mesh) => mesh.vertices.len(),
            egui::epaint::Primitive::Callback(_) => 0,
        });
        vertices.sum()
    }
}

/// Nobody to tell of edits.
struct NoHost;

impl GuiContextInner for NoHost {
    fn plugin_api(&self) -> PluginApi {
        PluginApi::Clap
    }

    unsafe fn raw_begin_set_parameter(&self, _: ParamPtr) {}

    unsafe fn raw_set_parameter_normalized(&self, _: ParamPtr, _: f32) {}

    unsafe fn raw_end_set_parameter(&self, _: ParamPtr) {}

    fn get_state(&self) -> PluginState {
        PluginState {
            version: String::new(),
            params: Default::default(),
            fields: Default::default(),
        }
    }

    fn set_state(&self, _: PluginState) {}

    fn request_restart(&self) {}
}
