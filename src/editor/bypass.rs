//! Bypass button of the plugin, in the header.

use super::{
    controls::{Remark, face},
    menu,
    theme::{self, Scale},
};
use crate::{params::Control, session::Edits};
use egui::{Align2, Rect, Role, Sense, Stroke, Ui, WidgetInfo, vec2};
use std::f32::consts::TAU;

/// Header width in points above which the button has a word beside its symbol.
const ROOMY: f32 = 640.0;

pub fn width(area: Rect, scale: Scale) -> f32 {
    let word = if area.width() > ROOMY { 5.0 * scale.font(12.0).size } else { 0.0 };
    area.height() + word
}

const BYPASS: &str = "bypass";

/// Shows the button. While the plugin is bypassed, the button is lit and its symbol is crossed out.
pub fn show(ui: &mut Ui, place: Rect, scale: Scale, edits: &mut Edits) {
    let Some(Control::Choice(param)) = edits.params.control(BYPASS) else { return };
    let on = param.unmodulated() == 1;
    let response = ui.interact(place, ui.scope_id().with(BYPASS), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, on, param.choice.name));
    let colour = face(ui, &response, scale, on, false);
    let (symbol, word) = place.split_left_right_at_x(place.left() + place.height());
    let (centre, radius) = (symbol.center(), 0.24 * symbol.height());
    let stroke = Stroke::new(scale.length(1.5).max(1.0), colour);
    // The symbol is a circle, open at the top, with a line in the opening.
    let arc = (0..=24).map(|step| {
        let (sine, cosine) = (TAU * (0.1 + 0.8 * step as f32 / 24.0)).sin_cos();
        centre + radius * vec2(sine, -cosine)
    });
    ui.painter().line(arc.collect(), stroke);
    ui.painter().vline(centre.x, centre.y - 1.3 * radius..=centre.y - 0.2 * radius, stroke);
    if on {
        let corner = radius * vec2(1.4, -1.4);
        ui.painter().line_segment([centre - corner, centre + corner], stroke);
    }
    if word.width() > 1.0 {
        let text = if on { "Bypassed" } else { "Bypass" };
        let font = scale.font(12.0);
        theme::text(ui.painter(), word.left_center(), Align2::LEFT_CENTER, text, font, colour);
    }
    let remark = Remark::of(BYPASS, edits);
    remark.paint(ui, place.left_center(), scale);
    menu::offer(&response, BYPASS, edits);
    if response.on_hover_text(remark.tip(param.choice.help)).clicked() {
        edits.set_once(BYPASS, param.normalized(usize::from(!on)));
    }
}
