//! Buttons of the voices, each with a waveform and a name.

use super::{Place, focus_ring};
use crate::{
    editor::{
        host::menu,
        theme::{self, Scale},
    },
    params::ChoiceParam,
    session::Edits,
};
use egui::{
    Align2, Color32, CornerRadius, FontId, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2,
};
use tone_filter_dsp::Voice;

/// Space between two buttons, in points.
const GAP: f32 = 2.0;

/// Returns the height in points of the caption and the buttons.
pub fn height(scale: Scale) -> f32 {
    scale.line(12.0) + scale.length(28.0).max(14.0) + scale.line(11.0)
}

/// Returns a short name of `voice`, for narrow buttons, where the waveform explains it.
const fn short(voice: Voice, name: &'static str) -> &'static str {
    match voice {
        Voice::Pulse25 => "25 %",
        Voice::Pulse12 => "12.5 %",
        Voice::SoftClean => "Clean",
        _ => name,
    }
}

impl Place {
    /// Shows a row of buttons, one of which is selected.
    pub(super) fn voices(&self, ui: &mut Ui, param: &ChoiceParam, edits: &mut Edits) {
        let choice = param.choice;
        let now = param.unmodulated();
        let body = self.body();
        let pitch = (body.width() + GAP) / Voice::ALL.len() as f32;
        let width = pitch - GAP;
        let font = self.scale.font(11.0);
        let full =
            choice.entries.iter().all(|(_, name)| text_width(ui, name, &font) <= width - 4.0);
        for (index, (voice, (_, name))) in Voice::ALL.into_iter().zip(choice.entries).enumerate() {
            let corner = body.left_top() + vec2(index as f32 * pitch, 0.0);
            let button = Rect::from_min_size(corner, vec2(width, body.height()));
            let selected = index == now;
            let response = ui.interact(button, self.id.with(index), Sense::click());
            response.widget_info(|| {
                let label = format!("{}: {name}", choice.name);
                WidgetInfo::selected(Role::RadioButton, true, selected, label)
            });
            let (fill, colour) = match (selected, response.hovered()) {
                (true, _) => (theme::ACCENT, theme::BACKGROUND),
                (false, true) => (theme::LINE, theme::TEXT),
                (false, false) => (theme::SURFACE, theme::DIM),
            };
            let round = CornerRadius::same(self.scale.length(4.0) as u8);
            ui.painter().rect_filled(button, round, fill);
            focus_ring(ui, &response);
            menu::offer(&response, choice.id, edits);
            let line = 1.15 * font.size;
            let (wave, words) = button.split_top_bottom_at_y(button.bottom() - line - 2.0);
            let wave = wave.shrink2(vec2(0.5 * width - 0.9 * line, 0.16 * wave.height()));
            paint_waveform(ui, wave.translate(vec2(0.0, 1.0)), voice, self.scale, colour);
            let shown = if full { name } else { short(voice, name) };
            let (at, anchor) = (words.center() - vec2(0.0, 1.0), Align2::CENTER_CENTER);
            theme::text(ui.painter(), at, anchor, shown, font.clone(), colour);
            let tip = format!("{name}. {}", self.remark.tip(choice.help, &self.host));
            if response.on_hover_text(tip).clicked() && !selected {
                edits.set_once(choice.id, param.normalized_entry(index));
            }
        }
    }
}

fn text_width(ui: &Ui, text: &str, font: &FontId) -> f32 {
    ui.painter().layout_no_wrap(text.to_owned(), font.clone(), Color32::PLACEHOLDER).size().x
}

/// Paints one and a half periods of the waveform of `voice` in `area`. The chip voice is shown as a pulse, then a triangle.
fn paint_waveform(ui: &Ui, area: Rect, voice: Voice, scale: Scale, colour: Color32) {
    let points = 48;
    let line = (0..=points)
        .map(|point| {
            let share = point as f32 / points as f32;
            let pulse = voice == Voice::Chip && share < 0.5;
            let shown = if pulse { Voice::Pulse25 } else { voice };
            let height = shown.shape(1.5 * share - 0.37);
            pos2(egui::lerp(area.x_range(), share), area.center().y - 0.5 * area.height() * height)
        })
        .collect();
    ui.painter().line(line, Stroke::new(scale.length(1.2).max(1.0), colour));
}
