//! Names of the grid's rows, left of the grid. Clicks on a name mute and solo its row.

use super::{cell::paint_cross, cell_rect, clicked, gap, octave};
use crate::{
    editor::{
        controls::focus_ring,
        theme::{self, Scale},
    },
    session::Edits,
};
use egui::{Align2, CornerRadius, Rect, Role, Sense, Ui, WidgetInfo, vec2};
use tone_filter_dsp::notes;

/// Font size of a name in points.
const NAME: f32 = 11.0;

pub fn width(scale: Scale) -> f32 {
    2.7 * scale.font(NAME).size
}

/// Shows a name in `area` for each row of `grid`. A click mutes or unmutes the row, an alt-click solos it.
pub fn show(ui: &mut Ui, area: Rect, grid: Rect, scale: Scale, edits: &mut Edits) {
    let range = edits.params.chosen().settings.range;
    let tones: Vec<usize> = range.by_pitch().collect();
    for row in tones.chunk_by(|one, next| octave(*one) == octave(*next)) {
        let (Some(&first), Some(&last)) = (row.first(), row.last()) else { continue };
        let rect = cell_rect(grid, gap(grid), range, first);
        let rect = Rect::from_x_y_ranges(area.x_range(), rect.y_range());
        let bands = edits.params.chosen().settings.bands;
        let on = row.iter().filter(|&&tone| bands.contains(tone)).count();
        let [low, high] = [first, last].map(notes::name);
        let response = ui.interact(rect, ui.scope_id().with(("octave", first)), Sense::click());
        response.widget_info(|| {
            let label = format!("Octave {}", octave(first));
            WidgetInfo::selected(Role::CheckBox, true, on > 0, label)
        });
        clicked(ui, &response, row, edits);

        let fill = if response.hovered() { theme::LINE } else { theme::SURFACE };
        let radius = CornerRadius::same(scale.length(4.0).max(2.0) as u8);
        ui.painter().rect_filled(rect, radius, fill);
        let colour = match on {
            _ if response.hovered() => theme::TEXT,
            0 => theme::IDLE,
            _ => theme::DIM,
        };
        let font = scale.font(NAME);
        let at = rect.left_center() + vec2(0.4 * font.size, 0.0);
        theme::text(ui.painter(), at, Align2::LEFT_CENTER, low, font, colour);
        if on == 0 {
            let side = 0.25 * scale.font(NAME).size;
            paint_cross(ui.painter(), rect.right_center() - vec2(1.8 * side, 0.0), side);
        }
        focus_ring(ui, &response);
        let state = match on {
            0 => "Muted",
            on if on < row.len() => "Partly muted",
            _ => "On",
        };
        response.on_hover_text(format!(
            "{low} to {high}: {state}. Click mutes the octave or brings it back, alt-click solos it, right-click \
             brings all back"
        ));
    }
}
