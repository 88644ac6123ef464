//! Corner of the window that resizes it.

use super::{MIN_SIZE, controls::focus_ring, size, theme};
use crate::session::Edits;
use egui::{CursorIcon, EventFilter, Key, Rect, Role, Sense, Stroke, Ui, Vec2, WidgetInfo, vec2};

/// Side of the corner in points.
const SIDE: f32 = 12.0;

/// Points by which an arrow key moves the corner.
const STEP: f32 = 20.0;

/// Shows the corner of `window`. Dragging resizes the window, and so do the arrow keys while the corner has the focus.
pub fn show(ui: &mut Ui, window: Rect, edits: &Edits) {
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
    if response.has_focus() {
        let filter = EventFilter {
            horizontal_arrows: true,
            vertical_arrows: true,
            ..EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
        let presses = |key| ui.input(|input| input.num_presses(key)) as f32;
        size.x += STEP * (presses(Key::ArrowRight) - presses(Key::ArrowLeft));
        size.y += STEP * (presses(Key::ArrowDown) - presses(Key::ArrowUp));
    }
    let size = size.max(MIN_SIZE.into());
    if size != window.size() {
        size::ask(ui.ctx(), size, edits.host);
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
