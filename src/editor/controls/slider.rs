//! Sliders with a text field for their value.

use super::{Place, focus_ring};
use crate::{
    editor::{access, menu, theme},
    session::Edits,
};
use egui::{
    Align2, CornerRadius, CursorIcon, Event, EventFilter, Frame, Id, Key, Margin, Modifiers,
    MouseWheelUnit, PointerButton, Rect, Response, Role, Sense, Stroke, TextEdit, Ui, Vec2,
    WidgetInfo, pos2,
    text::{CCursor, CCursorRange},
    text_edit::TextEditState,
    vec2,
};
use nice_plug::prelude::{FloatParam, Param};
use tone_filter_dsp::{Spec, Taper};

/// Factor for drags and steps while shift or Ctrl (on macOS Command) is held.
const FINE: f32 = 0.1;

/// Fraction of the range by which an arrow key or a notch of the wheel moves a slider. A setting of whole numbers moves by 1.
const STEP: f32 = 0.01;

impl Place {
    /// Shows a slider. Dragging, the wheel and the arrow keys move it, finely with Shift or Ctrl. A double-click sets the
    /// default. A click on the value or Enter opens a text field.
    pub(super) fn slider(
        &self,
        ui: &mut Ui,
        spec: &'static Spec,
        param: &FloatParam,
        edits: &mut Edits,
    ) {
        let response = ui.interact(self.cell, self.id, Sense::click_and_drag());
        let is_fine = |input: &egui::InputState| input.modifiers.shift || input.modifiers.command;
        let fine = if ui.input(is_fine) { FINE } else { 1.0 };
        let step = match spec.taper {
            Taper::Whole => 1.0 / (spec.max - spec.min),
            _ => fine * STEP,
        };
        let now = param.unmodulated_normalized_value();
        // The host may apply a new value late, so egui's memory keeps the value during a drag.
        let mut value = ui.data(|data| data.get_temp(self.id));
        menu::offer(&response, spec.id, edits);
        if response.drag_started_by(PointerButton::Primary) {
            edits.begin(spec.id);
            value = Some(now);
        }
        if let Some(value) = &mut value {
            let moved = fine * response.drag_delta().x / self.cell.width();
            if moved != 0.0 {
                *value = (*value + moved).clamp(0.0, 1.0);
                edits.set(spec.id, *value);
            }
            ui.data_mut(|data| data.insert_temp(self.id, *value));
        }
        if response.drag_stopped() && value.is_some() {
            edits.end(spec.id);
            ui.data_mut(|data| data.remove_temp::<f32>(self.id));
        }
        if response.double_clicked() {
            edits.set_once(spec.id, param.default_normalized_value());
        }
        let (wanted_steps, wanted) = access::wanted(ui, &response);
        if let Some(plain) = wanted {
            edits.set_once(spec.id, param.preview_normalized(plain.clamp(spec.min, spec.max)));
        }
        let arrows = arrows(ui, &response, false);
        let mut steps = wanted_steps + arrows.x + arrows.y;
        steps += wheel(ui, &response).iter().map(|(notches, _)| notches.y).sum::<f32>();
        if response.has_focus() {
            let pages = |key| ui.input(|input| 10.0 * input.num_presses(key) as f32);
            steps += pages(Key::PageUp) - pages(Key::PageDown);
        }
        if steps != 0.0 && value.is_none() {
            edits.nudge(spec.id, (now + steps * step).clamp(0.0, 1.0));
        }

        let chosen = ui.data(|data| data.get_temp(menu::to_enter())) == Some(spec.id);
        let enter =
            chosen || response.has_focus() && ui.input(|input| input.key_pressed(Key::Enter));

        let shown = value.unwrap_or(now);
        let plain = f64::from(param.preview_plain(shown));
        response.widget_info(|| WidgetInfo::slider(true, plain, param.name()));
        access::slider(&response, spec, param, plain as f32, step);
        let active = response.hovered() || response.dragged();
        focus_ring(ui, &response);
        response
            .on_hover_cursor(CursorIcon::ResizeHorizontal)
            .on_hover_text(self.remark.tip(spec.help));

        self.name(ui, param.name());
        self.paint_track(ui, shown, param.preview_normalized(0.0), active);
        self.value(ui, spec, param, shown, edits);
        if enter {
            // Comes after `value`: a field that is already open would take this press of Enter as the end of typing.
            self.open_field(ui, spec.format(plain as f32));
            ui.data_mut(|data| data.remove_temp::<&str>(menu::to_enter()));
        }
    }

    /// Paints the track, filled from `origin` to `value` (both 0..1), and the knob at `value`.
    fn paint_track(&self, ui: &Ui, value: f32, origin: f32, active: bool) {
        let thickness = self.scale.length(self.sizes.track).max(2.0);
        let track =
            Rect::from_center_size(self.body().center(), vec2(self.cell.width(), thickness));
        let round = CornerRadius::same((0.5 * thickness) as u8);
        ui.painter().rect_filled(track, round, theme::LINE);
        let radius = 1.4 * thickness;
        let x = |value: f32| track.left() + radius + value * (track.width() - 2.0 * radius);
        let knob = pos2(x(value), track.center().y);
        if self.remark.is_idle() {
            // A hollow knob marks a control without effect.
            let outline = Stroke::new((0.3 * thickness).max(1.0), theme::IDLE);
            ui.painter().circle(knob, radius, theme::BACKGROUND, outline);
            return;
        }
        // The track of a range without 0 inside is filled from the left end.
        let from = if origin > 0.0 && origin < 1.0 { x(origin) } else { track.left() };
        let (low, high) = (from.min(knob.x), from.max(knob.x));
        let filled = Rect::from_x_y_ranges(low..=high, track.y_range());
        ui.painter().rect_filled(filled, round, theme::ACCENT.gamma_multiply(0.55));
        let colour = if active { theme::TEXT } else { theme::ACCENT };
        ui.painter().circle_filled(knob, radius, colour);
    }

    fn field(&self) -> Id {
        self.id.with("entry")
    }

    /// Opens the text field with `text`, all of it selected.
    fn open_field(&self, ui: &Ui, text: String) {
        let id = self.field();
        select_all(ui, id, &text);
        ui.data_mut(|data| data.insert_temp(id, text));
        ui.memory_mut(|memory| memory.request_focus(id));
    }

    /// Shows the value at `shown` (0..1) as text, which a click replaces by a text field.
    fn value(
        &self,
        ui: &mut Ui,
        spec: &'static Spec,
        param: &FloatParam,
        shown: f32,
        edits: &mut Edits,
    ) {
        let text = spec.format(param.preview_plain(shown));
        let id = self.field();
        let font = self.scale.font(self.sizes.value);
        let typed: Option<String> = ui.data(|data| data.get_temp(id));
        if let Some(mut typed) = typed {
            let value = param.string_to_normalized_value(&typed);
            let colour = if value.is_some() { *theme::TEXT } else { *theme::ALARM };
            let field = TextEdit::singleline(&mut typed)
                .id(id)
                .font(font)
                .text_color(colour)
                .align(Align2::RIGHT_CENTER)
                .margin(Margin::symmetric(2, 0))
                .frame(Frame::NONE.fill(*theme::SURFACE));
            let mut area = self.caption();
            area.set_left(area.center().x);
            let response = ui.put(area, field);
            response.widget_info(|| {
                WidgetInfo::labeled(Role::TextInput, true, format!("{} to type", param.name()))
            });
            if response.lost_focus() {
                let cancelled = ui.input(|input| input.key_pressed(Key::Escape));
                // An unchanged text sets nothing, as it has fewer digits than the value.
                let keeps_old = cancelled || typed == text;
                if let Some(value) = value.filter(|_| !keeps_old) {
                    edits.set_once(spec.id, value);
                }
                ui.data_mut(|data| data.remove_temp::<String>(id));
            } else {
                ui.data_mut(|data| data.insert_temp(id, typed));
            }
            return;
        }

        let at = self.caption().right_center();
        let colour = self.remark.shade(theme::TEXT);
        let area = theme::text(ui.painter(), at, Align2::RIGHT_CENTER, &text, font, colour);
        // A line of text alone would be too low to hit easily.
        let margin = (0.5 * (self.scale.length(24.0) - area.height())).max(0.0);
        let hit = area.expand2(vec2(self.scale.length(4.0), margin));
        let response = ui.interact(hit, id.with("text"), Sense::click());
        response.widget_info(|| {
            WidgetInfo::labeled(Role::Button, true, format!("{}: {text}", param.name()))
        });
        if response.hovered() || response.has_focus() {
            ui.painter().hline(area.x_range(), area.bottom(), Stroke::new(1.0, theme::ACCENT));
        }
        menu::offer(&response, spec.id, edits);
        if response.on_hover_cursor(CursorIcon::Text).clicked() {
            self.open_field(ui, text);
        }
    }
}

/// Returns the turns of the wheel over `response` in notches (right and up are positive), each with the modifier keys.
pub fn wheel(ui: &Ui, response: &Response) -> Vec<(Vec2, Modifiers)> {
    let notches = |event: &Event| match event {
        // 50 points are a notch.
        Event::MouseWheel { unit: MouseWheelUnit::Point, delta, modifiers, .. } => {
            Some((*delta / 50.0, *modifiers))
        }
        Event::MouseWheel { delta, modifiers, .. } => Some((*delta, *modifiers)),
        _ => None,
    };
    match response.hovered() {
        true => ui.input(|input| input.events.iter().filter_map(notches).collect()),
        false => Vec::new(),
    }
}

/// Returns the presses of arrow keys while `response` has the focus; right and up are positive. The arrow keys do not move the
/// focus; with `escape`, the Escape key does not end it, either.
pub fn arrows(ui: &Ui, response: &Response, escape: bool) -> Vec2 {
    if !response.has_focus() {
        return Vec2::ZERO;
    }
    let (horizontal_arrows, vertical_arrows) = (true, true);
    let filter = EventFilter { horizontal_arrows, vertical_arrows, escape, ..Default::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let presses = |key| ui.input(|input| input.num_presses(key)) as f32;
    vec2(
        presses(Key::ArrowRight) - presses(Key::ArrowLeft),
        presses(Key::ArrowUp) - presses(Key::ArrowDown),
    )
}

/// Selects all of the `text` in a text field, so that typing replaces it.
pub fn select_all(ui: &Ui, field: Id, text: &str) {
    let mut state = TextEditState::default();
    let all = CCursorRange::two(CCursor::new(0), CCursor::new(text.chars().count()));
    state.cursor.set_char_range(Some(all));
    state.store(ui.ctx(), field);
}
