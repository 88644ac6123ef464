//! Size and zoom of the window. The host decides on a new size; the window uses the size that it gets.

use super::{
    MIN_SIZE,
    controls::{arrows, focus_ring},
    theme,
};
use crate::{params::allowed_zoom, session::Edits};
use egui::{
    Context, CursorIcon, Id, Rect, Role, Sense, Stroke, Ui, Vec2, ViewportCommand, WidgetInfo, vec2,
};
use plugin_guard::{HostLink, Request};

/// Requested zoom, which waits until the window is resized or the host refuses.
#[derive(Clone, Copy)]
struct ZoomRequest {
    zoom: f32,
    /// Size of the window's content in points, which the zoom must not change.
    content: Vec2,
    /// Size of the window before the request, in logical pixels.
    before: Vec2,
}

/// Time in seconds for which an earlier size is not taken for the host's decision.
const LATE: f64 = 3.0;

/// State of a window's size, in egui's memory.
#[derive(Clone)]
struct State {
    /// Size of the screen in physical pixels.
    screen: Vec2,
    /// Zoom in the last frame; `None` before the first frame, whose size egui has not scaled yet.
    zoom: Option<f32>,
    request: Option<ZoomRequest>,
    /// Sizes in physical pixels that the window had or that were requested in the last [`LATE`] seconds.
    sizes: Vec<Vec2>,
    /// Time in seconds at which `sizes` are too old.
    end: f64,
}

impl State {
    fn id() -> Id {
        Id::unique("size of the window")
    }

    fn load(ctx: &Context) -> Self {
        let new =
            Self { screen: Vec2::INFINITY, zoom: None, request: None, sizes: vec![], end: 0.0 };
        ctx.data(|data| data.get_temp(Self::id())).unwrap_or(new)
    }

    fn store(self, ctx: &Context) {
        ctx.data_mut(|data| data.insert_temp(Self::id(), self));
    }
}

/// Returns width and height of the screen in physical pixels; infinity where they are unknown.
pub fn screen() -> Vec2 {
    #[cfg(target_os = "linux")]
    if let Some(screen) = plugin_guard::window::screen() {
        return screen.map(|length| length as f32).into();
    }
    Vec2::INFINITY
}

/// Limits the window of `ctx` to a screen of this size in physical pixels.
pub fn limit(ctx: &Context, screen: Vec2) {
    State { screen, ..State::load(ctx) }.store(ctx);
}

/// Returns the size of the window in physical pixels.
fn current(ctx: &Context) -> Vec2 {
    (ctx.pixels_per_point() * ctx.content_rect().size()).round()
}

/// Requests a window of `size` in points, limited to the screen. Returns whether the limited size differs from the current one.
pub fn ask(ctx: &Context, size: Vec2, host: &HostLink) -> bool {
    let (mut state, now) = (State::load(ctx), current(ctx));
    let wanted = (ctx.pixels_per_point() * size).round().min(state.screen);
    if wanted != now {
        state.sizes.retain(|size| ![now, wanted].contains(size));
        state.sizes.extend([now, wanted]);
        state.end = ctx.input(|input| input.time) + LATE;
        request(ctx, wanted, host);
    } else {
        // The window is to stay as it is, also if the host has not answered an earlier request.
        state.sizes.clear();
    }
    state.store(ctx);
    wanted != now
}

/// Asks the host for a window of this size in physical pixels, or else resizes the window.
fn request(ctx: &Context, size: Vec2, host: &HostLink) {
    if !host.request(Request::Resize([size.x as u32, size.y as u32])) {
        ctx.send_viewport_cmd(ViewportCommand::InnerSize(size / ctx.pixels_per_point()));
    }
}

/// Requests the zoom factor `zoom`, limited to the screen: asks for a window of the size that the current content then needs.
pub fn zoom(ctx: &Context, zoom: f32, host: &HostLink) {
    let (content, now) = (ctx.content_rect().size(), ctx.zoom_factor());
    let native = ctx.pixels_per_point() / now;
    let zoom = zoom.min((State::load(ctx).screen / (native * content)).min_elem());
    host.take_refusal();
    if ask(ctx, zoom / now * content, host) {
        let request = Some(ZoomRequest { zoom, content, before: now * content });
        State { request, ..State::load(ctx) }.store(ctx);
    }
}

/// Applies a requested zoom once the window has its new size, or drops the request if the host refuses. Saves a changed zoom.
/// Repeats a request for a size while the window has an earlier one. Must be called in each frame.
pub fn settle(ctx: &Context, edits: &Edits) {
    let mut state = State::load(ctx);
    let (zoom, content) = (ctx.zoom_factor(), ctx.content_rect().size());
    if let Some(request) = state.request {
        let size = zoom * content;
        let resized = (size - request.before).abs().max_elem() > 0.5;
        if resized {
            state.request = None;
            let reached = (size / request.content).min_elem();
            // Rounding to whole pixels changes the zoom slightly.
            let granted = (reached - request.zoom).abs() * request.content.max_elem() < 1.0;
            ctx.set_zoom_factor(allowed_zoom(if granted { request.zoom } else { reached }));
        } else if edits.host.take_refusal() {
            (state.request, state.sizes) = (None, vec![]);
        }
    }
    if state.zoom.replace(zoom).is_some_and(|before| before != zoom) {
        edits.params.editor_zoom.store(zoom);
        // Asks for the current size: egui-baseview would now resize the window by the change of the zoom.
        ctx.send_viewport_cmd(ViewportCommand::InnerSize(content));
    }
    // A busy host drops requests, and hosts answer late, with a size of an earlier request (Ardour's GtkSocket also after a zoom).
    let now = current(ctx);
    if ctx.input(|input| input.time) > state.end {
        state.sizes.clear();
    } else if let Some((wanted, earlier)) = state.sizes.split_last()
        && *wanted != now
        && earlier.contains(&now)
    {
        request(ctx, *wanted, edits.host);
        ctx.request_repaint();
    }
    state.store(ctx);
}

/// Side of the corner that resizes the window, in points.
const SIDE: f32 = 12.0;
/// Distance in points by which an arrow key moves the corner.
const STEP: f32 = 20.0;

/// Shows the corner of `window`, which resizes the window by dragging and by the arrow keys.
pub fn show_corner(ui: &mut Ui, window: Rect, edits: &Edits) {
    let corner = Rect::from_min_max(window.max - Vec2::splat(SIDE), window.max);
    let id = ui.scope_id().with("corner");
    let response = ui.interact(corner, id, Sense::drag());
    response.widget_info(|| WidgetInfo::labeled(Role::Splitter, true, "Size of the window"));

    let mut size = window.size();
    if let Some(pointer) = response.interact_pointer_pos() {
        if response.drag_started() {
            ui.data_mut(|data| data.insert_temp(id, window.max - pointer));
        }
        // Vector from the pointer to the corner at the beginning of the drag.
        let grip: Vec2 = ui.data(|data| data.get_temp(id)).unwrap_or_default();
        size = (pointer + grip).to_vec2();
    }
    let size = (size + STEP * arrows(ui, &response, false) * vec2(1.0, -1.0)).max(MIN_SIZE.into());
    if response.dragged() || size != window.size() {
        ask(ui.ctx(), size, edits.host);
    }

    let active = response.hovered() || response.dragged();
    let stroke = Stroke::new(1.0, if active { theme::TEXT } else { theme::DIM });
    for length in [3.0, 6.0, 9.0] {
        let end = window.max - Vec2::splat(2.0);
        let line = [end - vec2(length, 0.0), end - vec2(0.0, length)];
        ui.painter().line_segment(line, stroke);
    }
    focus_ring(ui, &response);
    response.on_hover_cursor(CursorIcon::ResizeNwSe);
}
