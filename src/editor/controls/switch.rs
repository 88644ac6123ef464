//! Rows of buttons for settings that are a choice from a few entries.

use super::{Place, VOICE, focus_ring, list};
use crate::{
    editor::{host::menu, theme},
    params::ChoiceParam,
    session::Edits,
};
use egui::{Align2, CornerRadius, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, vec2};

/// Maximum number of entries that fit on buttons.
const MOST_BUTTONS: usize = 2;

impl Place {
    /// Shows a choice as buttons, or as a drop-down list if it has more than [`MOST_BUTTONS`] entries.
    pub(super) fn choice(&self, ui: &mut Ui, param: &ChoiceParam, edits: &mut Edits) {
        let choice = param.choice;
        self.name(ui, choice.name);
        match choice.entries.len() {
            _ if choice.id == VOICE => self.voices(ui, param, edits),
            ..=MOST_BUTTONS => self.switch(ui, param, edits),
            _ => {
                let (tip, colour) =
                    (self.remark.tip(choice.help, &self.host), self.remark.shade(theme::TEXT));
                list(ui, self.body(), self.scale, param, &tip, colour, edits);
            }
        }
    }

    /// Shows a row of buttons, one of which is selected.
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
                (true, _) if self.remark.idle => (theme::BACKGROUND, theme::IDLE),
                (true, _) => (theme::ACCENT, theme::BACKGROUND),
                (false, true) => (theme::LINE, theme::TEXT),
                (false, false) => (theme::SURFACE, self.remark.shade(theme::DIM)),
            };
            let round = self.scale.length(4.0) as u8;
            let (first, last) = (index == 0, index + 1 == count);
            let round = CornerRadius {
                nw: if first { round } else { 0 },
                sw: if first { round } else { 0 },
                ne: if last { round } else { 0 },
                se: if last { round } else { 0 },
            };
            // The selected button of a choice without effect is outlined instead of filled.
            let outline = if selected { self.remark.shade(fill) } else { fill };
            let outline = Stroke::new(1.0, outline);
            ui.painter().rect(button, round, fill, outline, StrokeKind::Inside);
            focus_ring(ui, &response);
            menu::offer(&response, choice.id, edits);
            let (centre, font) = (button.center(), self.scale.font(11.0));
            theme::text(ui.painter(), centre, Align2::CENTER_CENTER, label, font, text);
            let tip = self.remark.tip(choice.help, &self.host);
            if response.on_hover_text(tip).clicked() && !selected {
                edits.set_once(choice.id, param.normalized_entry(index));
            }
        }
    }
}
