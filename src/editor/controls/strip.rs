//! Strip of the main settings, always visible.

use super::{NORMAL, Sizes, choice::voices_height, row, show as control, toggle};
use crate::{editor::theme::Scale, session::Edits};
use egui::{Rect, Ui};
use tone_filter_dsp::Group;

/// Sizes of the control for Mix, the most important setting.
const LARGE: Sizes = Sizes { name: 16.0, value: 30.0, track: 9.0 };

/// Returns the horizontal and the vertical gap between controls, in points.
fn gaps(scale: Scale) -> [f32; 2] {
    [scale.length(26.0).max(9.0), scale.length(6.0).max(3.0)]
}

/// Returns the height in points that [`show`] needs.
pub fn height(scale: Scale) -> f32 {
    voices_height(scale) + gaps(scale)[1] + row(scale)
}

/// Shows Mix at the left in full height. Beside it are the voices, and below them the other sliders and the button More.
pub fn show(ui: &mut Ui, area: Rect, scale: Scale, edits: &mut Edits) {
    let [across, down] = gaps(scale);
    let [mix, voice, others @ ..] = Group::Main.ids() else { return };
    let (large, rest) = area.split_left_right_at_fraction(0.25);
    let rest = rest.with_min_x(rest.left() + across);
    control(ui, large, scale, LARGE, mix, edits);
    let (above, below) = rest.split_top_bottom_at_y(rest.top() + voices_height(scale));
    control(ui, above, scale, NORMAL, voice, edits);

    let below = below.with_min_y(below.top() + down);
    let width = 4.2 * scale.font(12.0).size + scale.length(8.0).max(4.0);
    let button = below.with_min_x(below.right() - width);
    let pitch = (button.left() - below.left()) / others.len() as f32;
    for (index, id) in others.iter().enumerate() {
        let left = below.left() + index as f32 * pitch;
        let cell = Rect::from_x_y_ranges(left..=left + pitch - across, below.y_range());
        control(ui, cell, scale, NORMAL, id, edits);
    }
    let bottom = button.bottom() - scale.length(5.0);
    let top = (bottom - scale.length(26.0).max(15.0)).max(button.top());
    let button = Rect::from_x_y_ranges(button.x_range(), top..=bottom);
    let open = edits.params.editor_more.load();
    let id = ui.scope_id().with("more");
    let response = toggle(ui, button, scale, id, ("More settings", "More"), open, false);
    let verb = if open { "Hides" } else { "Shows" };
    if response.on_hover_text(format!("{verb} all other settings")).clicked() {
        edits.params.editor_more.store(!open);
    }
}
