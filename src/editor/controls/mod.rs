//! Sliders, buttons and lists for the settings.

mod choice;
pub mod more;
mod slider;
pub mod strip;

use super::theme::{self, Scale, Shade};
use crate::{params::Control, session::Edits};
#[cfg(test)]
pub use choice::is_switch;
pub use choice::list;
use egui::{
    Align2, Color32, CornerRadius, Id, InnerResponse, Popup, Pos2, Rect, Response, Role, Sense,
    Stroke, StrokeKind, Ui, Vec2, WidgetInfo, output::OutputEvent, vec2,
};
use plugin_guard::{Automation, Indication, Rgb};
pub use slider::{arrows, select_all, wheel};

/// Sizes of a control's parts in points, at the default size of the window: fonts of name and value, thickness of a slider's
/// track.
#[derive(Clone, Copy)]
struct Sizes {
    name: f32,
    value: f32,
    track: f32,
}

const NORMAL: Sizes = Sizes { name: 12.0, value: 12.0, track: 4.0 };

/// Returns the height in points of a control of [`NORMAL`] sizes.
fn row(scale: Scale) -> f32 {
    scale.line(12.0) + scale.length(29.0).max(13.0)
}

fn show(ui: &mut Ui, cell: Rect, scale: Scale, sizes: Sizes, id: &str, edits: &mut Edits) {
    let remark = Remark::of(id, edits);
    let place = Place { cell, id: ui.scope_id().with(id), scale, sizes, remark };
    place.remark.paint(ui, place.caption().left_center(), scale);
    let params = edits.params;
    match params.control(id) {
        Some(Control::Number(spec, param)) => place.slider(ui, spec, param, edits),
        Some(Control::Choice(param)) => place.choice(ui, param, edits),
        None => {}
    }
}

/// Remark beside a control's value: whether other settings leave the control without effect, its mapping and automation.
pub struct Remark {
    /// Why the control has no effect; `None` if it has one.
    idle: Option<&'static str>,
    indication: Indication,
}

impl Remark {
    /// Returns the remark on the setting called `id`.
    pub fn of(id: &str, edits: &Edits) -> Self {
        Self { idle: edits.params.chosen().idle(id), indication: edits.indication(id) }
    }

    fn is_idle(&self) -> bool {
        self.idle.is_some()
    }

    /// Returns `colour` if the control has an effect; otherwise the colour of controls without effect.
    pub fn shade(&self, colour: Shade) -> Color32 {
        if self.is_idle() { *theme::IDLE } else { *colour }
    }

    /// Returns the control's tooltip: its `help`, then sentences about a missing effect, its mapping and its automation.
    pub fn tip(&self, help: &str) -> String {
        let Indication { mapping, automation } = &self.indication;
        let idle = self.idle.map(|reason| format!("No effect: {reason}."));
        let mapping =
            mapping.as_ref().map(|mapping| match (&*mapping.label, &*mapping.description) {
                ("", "") => "Mapped by the host.".to_owned(),
                (name, "") | ("", name) => format!("Mapped to {name}."),
                (label, description) => format!("Mapped to {label}, {description}."),
            });
        let automation = automation.map(|(automation, _)| match automation {
            Automation::Present => "The host has automation for it.",
            Automation::Playing => "The host plays its automation.",
            Automation::Recording => "The host records its automation.",
            Automation::Overriding => "Its automation is overridden.",
        });
        let sentences = [idle, mapping, automation.map(str::to_owned)].into_iter().flatten();
        std::iter::once(help.to_owned()).chain(sentences).collect::<Vec<_>>().join(" ")
    }

    /// Paints the marks left of `at`: a disc for a mapping, and around it a ring for automation.
    pub fn paint(&self, ui: &Ui, at: Pos2, scale: Scale) {
        let radius = scale.length(2.2).max(1.6);
        let centre = at - vec2(1.5 * radius + scale.length(3.0), 0.0);
        let colour = |host: Option<Rgb>| host.map_or(*theme::ACCENT, theme::legible);
        if let Some(mapping) = &self.indication.mapping {
            ui.painter().circle_filled(centre, 0.75 * radius, colour(mapping.colour));
        }
        if let Some((automation, host)) = self.indication.automation {
            // The ring is fainter while the automation does not play.
            let rests = matches!(automation, Automation::Present | Automation::Overriding);
            let colour = colour(host).gamma_multiply(if rests { 0.6 } else { 1.0 });
            ui.painter().circle_stroke(centre, 1.5 * radius, Stroke::new(1.0, colour));
        }
    }
}

struct Place {
    cell: Rect,
    id: Id,
    scale: Scale,
    sizes: Sizes,
    remark: Remark,
}

impl Place {
    /// Returns the area of the line with name and value.
    fn caption(&self) -> Rect {
        let mut caption = self.cell;
        caption.set_height(self.scale.line(self.sizes.name.max(self.sizes.value)));
        caption
    }

    /// Returns the area below the caption, for a slider's track, buttons or a list.
    fn body(&self) -> Rect {
        let top = self.caption().bottom();
        let bottom = self.cell.bottom() - self.scale.length(5.0);
        Rect::from_x_y_ranges(self.cell.x_range(), top..=bottom)
    }

    fn name(&self, ui: &Ui, name: &str) {
        let at = self.caption().left_center();
        let font = self.scale.font(self.sizes.name);
        let colour = self.remark.shade(theme::DIM);
        theme::text(ui.painter(), at, Align2::LEFT_CENTER, name, font, colour);
    }
}

/// Paints the face of a button. While `on`, the face is lit, or only outlined if the setting has no effect (`idle`). Returns
/// the colour for the button's content.
pub fn face(ui: &Ui, response: &Response, scale: Scale, on: bool, idle: bool) -> Color32 {
    let (fill, colour) = match (on, response.hovered() && response.enabled()) {
        (true, _) if idle => (theme::BACKGROUND, theme::IDLE),
        (true, _) => (theme::ACCENT, theme::BACKGROUND),
        (false, true) => (theme::LINE, theme::TEXT),
        (false, false) if idle => (theme::SURFACE, theme::IDLE),
        (false, false) => (theme::SURFACE, theme::TEXT),
    };
    let outline = if on && idle { colour } else { fill };
    let (round, stroke) = (CornerRadius::same(scale.length(4.0) as u8), Stroke::new(1.0, outline));
    ui.painter().rect(response.rect, round, fill, stroke, StrokeKind::Inside);
    focus_ring(ui, response);
    *colour
}

/// Shows a flat button with `text`. The tooltip is `label`; the accessible name is `label` and `text`.
pub fn button(
    ui: &Ui,
    place: Rect,
    scale: Scale,
    label: &str,
    text: &str,
    enabled: bool,
) -> Response {
    let id = ui.scope_id().with(("button", label));
    let response = ui.interact(place, id, if enabled { Sense::click() } else { Sense::hover() });
    response.widget_info(|| {
        let colon = if text.is_empty() || text == label { "" } else { ": " };
        let text = if text == label { "" } else { text };
        WidgetInfo::labeled(Role::Button, enabled, format!("{label}{colon}{text}"))
    });
    let colour = face(ui, &response, scale, false, !enabled);
    if !text.is_empty() {
        let inside = ui.painter().with_clip_rect(place.shrink2(Vec2::X * 2.0));
        theme::text(&inside, place.center(), Align2::CENTER_CENTER, text, scale.font(12.0), colour);
    }
    response.on_hover_text(label)
}

/// Shows a switch. `label` is its name for screen readers, `text` is painted on it.
pub fn toggle(
    ui: &Ui,
    place: Rect,
    scale: Scale,
    id: Id,
    (label, text): (&str, &str),
    on: bool,
    idle: bool,
) -> Response {
    let response = ui.interact(place, id, Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, on, label));
    let colour = face(ui, &response, scale, on, idle);
    let (centre, font) = (place.center(), scale.font(12.0));
    theme::text(ui.painter(), centre, Align2::CENTER_CENTER, text, font, colour);
    response
}

/// Shows a menu at `button`. A click on one of its widgets closes it; egui itself closes menus at clicks of the pointer, but not
/// at those of a key or a screen reader.
pub fn menu<R>(button: &Response, content: impl FnOnce(&mut Ui) -> R) -> Option<InnerResponse<R>> {
    let clicks = |ui: &Ui| {
        let is_click = |event: &&OutputEvent| matches!(event, OutputEvent::Clicked(_));
        ui.output(|output| output.events.iter().filter(is_click).count())
    };
    Popup::menu(button).show(|ui| {
        let before = clicks(ui);
        let result = content(ui);
        if clicks(ui) > before {
            ui.close();
        }
        result
    })
}

/// Outlines a control that has the keyboard focus, and scrolls to it.
pub fn focus_ring(ui: &Ui, response: &Response) {
    if response.gained_focus() {
        // The margin includes the control's caption and the heading of its group.
        ui.scroll_to_rect(response.rect.expand(30.0), None);
    }
    if response.has_focus() {
        let stroke = Stroke::new(1.0, theme::ACCENT);
        ui.painter().rect_stroke(response.rect.expand(2.0), 3.0, stroke, StrokeKind::Outside);
    }
}
