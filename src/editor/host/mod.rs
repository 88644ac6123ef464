//! Display of what the host reports: a parameter's mapping and automation, the plugin's track, and menus.

pub mod menu;

use super::theme::{self, Scale};
use egui::{
    Align2, Color32, Pos2, Rect, Role, Sense, Stroke, Ui, Vec2, WidgetInfo, text::LayoutJob,
};
use plugin_guard::{Automation, Indication, Rgb, Track};

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

/// Paints the marks left of `at`: a disc for a mapping, and around it a ring for automation.
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

/// Shows a disc in the track's colour, and its name. Returns the width of both in points.
pub fn show_track(ui: &Ui, area: Rect, scale: Scale, track: &Track) -> f32 {
    let font = scale.font(12.0);
    let disc = 0.7 * font.size;
    let mut job =
        LayoutJob::simple_singleline(track.name.clone(), font.clone(), Color32::PLACEHOLDER);
    // A longer name is cut off.
    job.wrap.max_width = 6.5 * font.size;
    job.wrap.max_rows = 1;
    job.wrap.break_anywhere = true;
    let galley = ui.painter().layout_job(job);
    let mut at = area.left_center();
    if let Some(colour) = track.colour {
        let centre = at + Vec2::X * 0.5 * disc;
        ui.painter().circle_filled(centre, 0.5 * disc, theme::legible(colour));
        at.x += 1.6 * disc;
    }
    let name = Align2::LEFT_CENTER.anchor_size(at, galley.size());
    ui.painter().galley(name.min, galley, *theme::TEXT);
    let place = area.with_max_x(name.right());
    let response = ui.interact(place, ui.scope_id().with("track"), Sense::hover());
    let label = || WidgetInfo::labeled(Role::Label, true, format!("Track: {}", track.name));
    response.widget_info(label);
    response.on_hover_text(format!("The track: {}", track.name));
    place.width()
}
