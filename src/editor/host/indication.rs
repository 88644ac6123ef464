//! Indication of the host's mapping and automation of a parameter: a mark at the control, and words for the tooltip.

use crate::editor::theme::{self, Scale};
use egui::{Pos2, Stroke, Ui};
use plugin_guard::{Automation, Indication, Rgb};

/// Returns the indication in words; empty without mapping and automation.
pub fn text(indication: &Indication) -> String {
    let mapping = indication.mapping.as_ref().map(|mapping| {
        let parts = [&*mapping.label, &*mapping.description];
        let named: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        match named.is_empty() {
            true => "Mapped by the host.".to_owned(),
            false => format!("Mapped to {}.", named.join(", ")),
        }
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

/// Paints the mark left of the text that begins at `at`: a disc for a mapping, with a ring around it for automation.
pub fn paint(indication: &Indication, ui: &Ui, at: Pos2, scale: Scale) {
    let radius = scale.length(2.2).max(1.6);
    let centre = at - egui::vec2(1.5 * radius + scale.length(3.0), 0.0);
    let colour = |host: Option<Rgb>| host.map_or(theme::ACCENT, theme::legible);
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
