//! Rows of buttons for the settings that are a choice from a few entries.

use super::{Place, VOICE, focus_ring, list};
use crate::{
    editor::{
        host::menu,
        theme::{self, Scale},
    },
    params::ChoiceParam,
    session::Edits,
};
use egui::{Align2, Color32, CornerRadius, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};
use tone_filter_dsp::Voice;

/// The most entries whose names have room on buttons.
const MOST_BUTTONS: usize = 2;

impl Place {
    /// Buttons, or a drop-down list where there are too many entries for them.
    pub(super) fn choice(&self, ui: &mut Ui, param: &ChoiceParam, edits: &mut Edits) {
        let choice = param.choice;
        self.name(ui, choice.name);
        if choice.id == VOICE || choice.entries.len() <= MOST_BUTTONS {
            self.switch(ui, param, edits);
        } else {
            list(ui, self.body(), self.scale, param, &self.tip(choice.help), edits);
        }
    }

    /// A row of buttons, one of which is selected.
    fn switch(&self, ui: &mut Ui, param: &ChoiceParam, edits: &mut Edits) {
        let choice = param.choice;
        let selected_entry = param.unmodulated();
        let count = choice.entries.len();
        let width = self.body().width() / count as f32;
        for (index, (_, label)) in choice.entries.iter().enumerate() {
            let corner = self.body().left_top() + vec2(index as f32 * width, 0.0);
            let button = Rect::from_min_size(corner, vec2(width, self.body().height()));
            let selected = index == selected_entry;
            let response = ui.interact(button, self.id.with(index), Sense::click());
            response.widget_info(|| {
                let label = format!("{}: {label}", choice.name);
                WidgetInfo::selected(Role::RadioButton, true, selected, label)
            });
            let (fill, text) = match (selected, response.hovered()) {
                (true, _) => (self.shade(theme::ACCENT), theme::BACKGROUND),
                (false, true) => (theme::LINE, theme::TEXT),
                (false, false) => (theme::SURFACE, self.shade(theme::DIM)),
            };
            let round = self.scale.length(4.0) as u8;
            let (first, last) = (index == 0, index + 1 == count);
            let round = CornerRadius {
                nw: if first { round } else { 0 },
                sw: if first { round } else { 0 },
                ne: if last { round } else { 0 },
                se: if last { round } else { 0 },
            };
            ui.painter().rect_filled(button, round, fill);
            focus_ring(ui, &response);
            menu::offer(&response, choice.id, edits);
            let mut tip = self.tip(choice.help);
            if choice.id == VOICE {
                paint_waveform(ui, button, Voice::ALL[index], self.scale, text);
                tip = format!("{label}. {tip}");
            } else {
                let font = self.scale.font(11.0);
                let centre = button.center();
                theme::text(ui.painter(), centre, Align2::CENTER_CENTER, label, font, text);
            }
            if response.on_hover_text(tip).clicked() && !selected {
                edits.set_once(choice.id, param.normalized_entry(index));
            }
        }
    }
}

/// Paints one and a half periods of the waveform of `voice` in `button`; for the chip, a pulse and a triangle.
fn paint_waveform(ui: &Ui, button: Rect, voice: Voice, scale: Scale, colour: Color32) {
    let area = button.shrink2(vec2(0.18 * button.width(), 0.26 * button.height()));
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
