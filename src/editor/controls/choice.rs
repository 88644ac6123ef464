//! Choices from a list: a switch for off and on, two buttons for two entries, buttons with waveforms for the voices, otherwise a
//! drop-down list.

use super::{Place, face, focus_ring, toggle};
use crate::{
    editor::{
        menu,
        theme::{self, Scale},
    },
    params::ChoiceParam,
    session::Edits,
};
use egui::{
    Align2, Color32, ComboBox, Rect, RichText, Role, Sense, Stroke, TextWrapMode, Ui, UiBuilder,
    WidgetInfo, pos2, vec2,
};
use tone_filter_dsp::{Choice, Voice};

/// Space between two buttons, in points.
const GAP: f32 = 2.0;

/// Returns the height in points of the control for the setting `voice`: caption and buttons.
pub fn voices_height(scale: Scale) -> f32 {
    scale.line(12.0) + scale.length(28.0).max(14.0) + scale.line(11.0)
}

/// Returns a short name of `voice`, for narrow buttons.
const fn short(voice: Voice, name: &'static str) -> &'static str {
    match voice {
        Voice::Pulse25 => "25 %",
        Voice::Pulse12 => "12.5 %",
        Voice::SoftClean => "Clean",
        _ => name,
    }
}

/// Whether the entries of `choice` are called Off and On.
pub fn is_switch(choice: &Choice) -> bool {
    choice.entries.iter().map(|(_, name)| *name).eq(["Off", "On"])
}

impl Place {
    pub(super) fn choice(&self, ui: &mut Ui, param: &ChoiceParam, edits: &mut Edits) {
        let choice = param.choice;
        self.name(ui, choice.name);
        let tip = self.remark.tip(choice.help);
        match choice.entries.len() {
            _ if choice.id == "voice" => self.voices(ui, param, &tip, edits),
            _ if is_switch(choice) => self.switch(ui, param, tip, edits),
            2 => self.pair(ui, param, &tip, edits),
            _ => {
                let colour = self.remark.shade(theme::TEXT);
                list(ui, self.body(), self.scale, param, &tip, colour, edits);
            }
        }
    }

    fn switch(&self, ui: &Ui, param: &ChoiceParam, tip: String, edits: &mut Edits) {
        let (choice, on) = (param.choice, param.unmodulated() == 1);
        let texts = (choice.name, choice.entries[usize::from(on)].1);
        let response =
            toggle(ui, self.body(), self.scale, self.id, texts, on, self.remark.is_idle());
        menu::offer(&response, choice.id, edits);
        if response.on_hover_text(tip).clicked() {
            edits.set_once(choice.id, param.normalized(usize::from(!on)));
        }
    }

    /// Shows a row of buttons, one per entry. `tip` maps an entry's name to its tooltip; `paint` paints a button's content.
    fn buttons(
        &self,
        ui: &Ui,
        param: &ChoiceParam,
        tip: impl Fn(&str) -> String,
        paint: impl Fn(usize, Rect, Color32),
        edits: &mut Edits,
    ) {
        let (choice, now, body) = (param.choice, param.unmodulated(), self.body());
        let pitch = (body.width() + GAP) / choice.entries.len() as f32;
        for (index, (_, name)) in choice.entries.iter().enumerate() {
            let corner = body.left_top() + vec2(index as f32 * pitch, 0.0);
            let area = Rect::from_min_size(corner, vec2(pitch - GAP, body.height()));
            let selected = index == now;
            let response = ui.interact(area, self.id.with(index), Sense::click());
            response.widget_info(|| {
                let label = format!("{}: {name}", choice.name);
                WidgetInfo::selected(Role::RadioButton, true, selected, label)
            });
            paint(index, area, face(ui, &response, self.scale, selected, self.remark.is_idle()));
            menu::offer(&response, choice.id, edits);
            if response.on_hover_text(tip(name)).clicked() && !selected {
                edits.set_once(choice.id, param.normalized(index));
            }
        }
    }

    fn pair(&self, ui: &Ui, param: &ChoiceParam, tip: &str, edits: &mut Edits) {
        let paint = |index: usize, area: Rect, colour| {
            let (text, font) = (param.choice.entries[index].1, self.scale.font(11.0));
            theme::text(ui.painter(), area.center(), Align2::CENTER_CENTER, text, font, colour);
        };
        self.buttons(ui, param, |_| tip.to_owned(), paint, edits);
    }

    fn voices(&self, ui: &Ui, param: &ChoiceParam, tip: &str, edits: &mut Edits) {
        let (entries, font) = (param.choice.entries, self.scale.font(11.0));
        let width = (self.body().width() + GAP) / entries.len() as f32 - GAP;
        let fits = |name: &str| theme::text_width(ui, name, font.clone()) <= width - 4.0;
        let full = entries.iter().all(|(_, name)| fits(name));
        let paint = |index: usize, area: Rect, colour| {
            let line = 1.15 * font.size;
            let (wave, words) = area.split_top_bottom_at_y(area.bottom() - line - 2.0);
            let wave = wave.shrink2(vec2(0.5 * width - 0.9 * line, 0.16 * wave.height()));
            let (voice, name) = (Voice::ALL[index], entries[index].1);
            paint_waveform(ui, wave.translate(vec2(0.0, 1.0)), voice, self.scale, colour);
            let shown = if full { name } else { short(voice, name) };
            let (at, anchor) = (words.center() - vec2(0.0, 1.0), Align2::CENTER_CENTER);
            theme::text(ui.painter(), at, anchor, shown, font.clone(), colour);
        };
        self.buttons(ui, param, |name| format!("{name}. {tip}"), paint, edits);
    }
}

/// Paints one and a half periods of the waveform of `voice`: for Chip, a pulse and a triangle.
fn paint_waveform(ui: &Ui, area: Rect, voice: Voice, scale: Scale, colour: Color32) {
    let points = 48;
    let line = (0..=points)
        .map(|point| {
            let x = point as f32 / points as f32;
            let pulse = voice == Voice::Chip && x < 0.5;
            let shown = if pulse { Voice::Pulse25 } else { voice };
            let height = shown.shape(1.5 * x - 0.37);
            pos2(egui::lerp(area.x_range(), x), area.center().y - 0.5 * area.height() * height)
        })
        .collect();
    ui.painter().line(line, Stroke::new(scale.length(1.2).max(1.0), colour));
}

/// Shows a drop-down list of the entries of `param`. While the list is closed, `place` shows the chosen entry in `colour`.
pub fn list(
    ui: &mut Ui,
    place: Rect,
    scale: Scale,
    param: &ChoiceParam,
    tip: &str,
    colour: Color32,
    edits: &mut Edits,
) {
    let Choice { id, name, entries, .. } = param.choice;
    let text = |index: usize| RichText::new(entries[index].1).font(scale.font(12.0));
    let now = param.unmodulated();
    let mut picked = now;
    let builder = UiBuilder::new().max_rect(place).id_salt(id);
    ui.scope_builder(builder, |ui| {
        ui.spacing_mut().interact_size.y = place.height();
        ui.spacing_mut().button_padding = vec2(scale.length(6.0), 0.0);
        ui.spacing_mut().icon_width = scale.length(14.0);
        ui.spacing_mut().icon_spacing = scale.length(4.0);
        ui.style_mut().wrap_mode = Some(TextWrapMode::Truncate);
        let combo = ComboBox::from_id_salt(id).width(place.width()).height(400.0);
        let response = combo.selected_text(text(now).color(colour)).show_ui(ui, |ui| {
            for index in 0..entries.len() {
                ui.selectable_value(&mut picked, index, text(index));
            }
        });
        response.response.widget_info(|| {
            let label = format!("{name}: {}", entries[now].1);
            WidgetInfo::labeled(Role::ComboBox, true, label)
        });
        focus_ring(ui, &response.response);
        menu::offer(&response.response, id, edits);
        response.response.on_hover_text(tip);
    });
    if picked != now {
        edits.set_once(id, param.normalized(picked));
    }
}
