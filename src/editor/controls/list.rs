//! Drop-down lists for the settings with many entries.

use super::focus_ring;
use crate::{
    editor::{host::menu, theme::Scale},
    params::ChoiceParam,
    session::Edits,
};
use egui::{
    Color32, ComboBox, Rect, RichText, Role, TextWrapMode, Ui, UiBuilder, WidgetInfo, vec2,
};
use tone_filter_dsp::Choice;

/// Shows a drop-down list of the entries of `param` in `place`, the chosen one in `colour`, with the tooltip `tip`.
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
        edits.set_once(id, param.normalized_entry(picked));
    }
}
