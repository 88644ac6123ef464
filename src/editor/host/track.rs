//! Name and colour of the plugin's track, in the header.

use crate::editor::theme::{self, Scale};
use egui::{
    Align2, Color32, FontId, Rect, Role, Sense, Ui, Vec2, WidgetInfo, pos2, text::LayoutJob,
};
use plugin_guard::Track;
use std::sync::Arc;

/// Maximum width of the name, relative to its font size; a longer name is cut off.
const WIDEST: f32 = 6.5;

/// Lays out the name of `track` in one line, cut off after [`WIDEST`].
fn galley(ui: &Ui, font: FontId, track: &Track) -> Arc<egui::Galley> {
    let widest = WIDEST * font.size;
    let mut job = LayoutJob::simple_singleline(track.name.clone(), font, Color32::PLACEHOLDER);
    job.wrap.max_width = widest;
    job.wrap.max_rows = 1;
    job.wrap.break_anywhere = true;
    ui.painter().layout_job(job)
}

/// Returns the diameter of the disc in the track's colour, and the space after it, in points; 0 without a colour.
fn disc(scale: Scale, track: &Track) -> (f32, f32) {
    let size = 0.7 * scale.font(12.0).size;
    if track.colour.is_some() { (size, 0.6 * size) } else { (0.0, 0.0) }
}

/// Returns the width in points that [`show`] needs for `track`.
pub fn width(ui: &Ui, scale: Scale, track: &Track) -> f32 {
    let (disc, space) = disc(scale, track);
    disc + space + galley(ui, scale.font(12.0), track).size().x
}

/// Shows the colour and the name of `track` in `place`.
pub fn show(ui: &Ui, place: Rect, scale: Scale, track: &Track) {
    let (disc, space) = disc(scale, track);
    if let Some(colour) = track.colour {
        let centre = pos2(place.left() + 0.5 * disc, place.center().y);
        ui.painter().circle_filled(centre, 0.5 * disc, theme::legible(colour));
    }
    let galley = galley(ui, scale.font(12.0), track);
    let at = place.left_center() + Vec2::X * (disc + space);
    let at = Align2::LEFT_CENTER.anchor_size(at, galley.size());
    ui.painter().galley(at.min, galley, theme::TEXT);
    let response = ui.interact(place, ui.scope_id().with("track"), Sense::hover());
    let label = || WidgetInfo::labeled(Role::Label, true, format!("Track: {}", track.name));
    response.widget_info(label);
    response.on_hover_text(format!("The track: {}", track.name));
}
