//! Display of host data: a parameter's mapping and automation, the plugin's track, and menus.

pub mod menu;

use super::theme::{self, Scale};
use egui::{
    Align2, Color32, FontId, Pos2, Rect, Role, Sense, Stroke, Ui, Vec2, WidgetInfo, pos2,
    text::LayoutJob,
};
use plugin_guard::{Automation, Indication, Rgb, Track};
use std::sync::Arc;

/// Describes the indication in words; empty without mapping and automation.
pub fn indication_text(indication: &Indication) -> String {
    let mapping =
        indication.mapping.as_ref().map(|mapping| match (&*mapping.label, &*mapping.description) {
            ("", "") => "Mapped by the host.".to_owned(),
            (name, "") | ("", name) => format!("Mapped to {name}."),
            (label, description) => format!("Mapped to {label}, {description}."),
        });
    let automation = indication.automation.map(|(automation, _)| match automation {
        Automation::Present => "The host has automation for it.",
        Automation::Playing => "The host plays its automation.",
        Automation::Recording => "The host records its automation.",
        Automation::Overriding => "Its automation is overridden.",
    });
    let texts = mapping.into_iter().chain(automation.map(str::to_owned));
    texts.collect::<Vec<_>>().join(" ")
}

/// Paints the mark left of `at`: a disc for a mapping, a ring for automation.
pub fn paint_indication(indication: &Indication, ui: &Ui, at: Pos2, scale: Scale) {
    let radius = scale.length(2.2).max(1.6);
    let centre = at - egui::vec2(1.5 * radius + scale.length(3.0), 0.0);
    let colour = |host: Option<Rgb>| host.map_or(*theme::ACCENT, theme::legible);
    if let Some(mapping) = &indication.mapping {
        ui.painter().circle_filled(centre, 0.75 * radius, colour(mapping.colour));
    }
    if let Some((automation, host)) = indication.automation {
        // The ring is fainter while the automation does not play.
        let idle = matches!(automation, Automation::Present | Automation::Overriding);
        let colour = colour(host).gamma_multiply(if idle { 0.6 } else { 1.0 });
        ui.painter().circle_stroke(centre, 1.5 * radius, Stroke::new(1.0, colour));
    }
}

/// Lays out the name of `track` in one line, cut off at 6.5 times the font size.
fn galley(ui: &Ui, font: FontId, track: &Track) -> Arc<egui::Galley> {
    let widest = 6.5 * font.size;
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

/// Returns the width in points that [`show_track`] needs.
pub fn track_width(ui: &Ui, scale: Scale, track: &Track) -> f32 {
    let (disc, space) = disc(scale, track);
    disc + space + galley(ui, scale.font(12.0), track).size().x
}

pub fn show_track(ui: &Ui, place: Rect, scale: Scale, track: &Track) {
    let (disc, space) = disc(scale, track);
    if let Some(colour) = track.colour {
        let centre = pos2(place.left() + 0.5 * disc, place.center().y);
        ui.painter().circle_filled(centre, 0.5 * disc, theme::legible(colour));
    }
    let galley = galley(ui, scale.font(12.0), track);
    let at = place.left_center() + Vec2::X * (disc + space);
    let at = Align2::LEFT_CENTER.anchor_size(at, galley.size());
    ui.painter().galley(at.min, galley, *theme::TEXT);
    let response = ui.interact(place, ui.scope_id().with("track"), Sense::hover());
    let label = || WidgetInfo::labeled(Role::Label, true, format!("Track: {}", track.name));
    response.widget_info(label);
    response.on_hover_text(format!("The track: {}", track.name));
}
