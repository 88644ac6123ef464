//! The controls of all settings, by group.

use super::{
    edits::Edits,
    theme::{self, Scale},
};
use crate::{
    dsp::{Settings, Spec, Taper, Voice},
    params::{ChoiceParam, Control, GROUPS},
};
use egui::{
    Align2, Color32, CornerRadius, CursorIcon, Event, EventFilter, Frame, Id, Key, Margin,
    MouseWheelUnit, Rect, Response, Role, Sense, Stroke, StrokeKind, TextEdit, Ui, WidgetInfo,
    pos2,
    text::{CCursor, CCursorRange},
    text_edit::TextEditState,
    vec2,
};
use nice_plug::prelude::{FloatParam, Param};

/// The setting whose buttons show waveforms and take two columns.
const VOICE: &str = "voice";

/// The factor for drags and steps while shift is held.
const FINE: f32 = 0.1;

/// The fraction of the range that an arrow key or a notch of the wheel moves a slider by.
const STEP: f32 = 0.01;

/// Points of scrolling per notch of the wheel.
const NOTCH: f32 = 50.0;

/// Rows of controls; a group with more controls takes another column.
const ROWS: usize = 3;

/// Columns of a group with so many controls.
fn columns(controls: usize) -> usize {
    controls.div_ceil(ROWS)
}

/// The height that [`show`] needs.
pub fn height(scale: Scale) -> f32 {
    heading(scale) + ROWS as f32 * row(scale)
}

fn heading(scale: Scale) -> f32 {
    scale.line(11.0) + scale.length(6.0)
}

fn row(scale: Scale) -> f32 {
    scale.line(12.0) + scale.length(20.0).max(13.0)
}

/// Shows every control in `area`.
pub fn show(ui: &mut Ui, area: Rect, scale: Scale, edits: &mut Edits) {
    let total: usize = GROUPS.iter().map(|group| columns(group.ids.len())).sum();
    let gap = scale.length(18.0).max(8.0);
    let pitch = (area.width() + gap) / total as f32;
    let settings = edits.params.chosen();
    let mut left = area.left();
    for group in &GROUPS {
        let width = pitch * columns(group.ids.len()) as f32 - gap;
        let title = Rect::from_min_size(pos2(left, area.top()), vec2(width, heading(scale)));
        let painter = ui.painter();
        let text = group.name.to_uppercase();
        let font = scale.font(11.0);
        theme::text(painter, title.left_top(), Align2::LEFT_TOP, &text, font, theme::DIM);
        let line = title.top() + scale.line(11.0);
        painter.hline(title.x_range(), line, Stroke::new(1.0, theme::LINE));

        let mut places = 0..;
        for id in group.ids {
            // The waveform buttons take the first row of both columns.
            let index = places.find(|&place| place != ROWS || group.ids[0] != VOICE).unwrap_or(0);
            let corner = vec2((index / ROWS) as f32 * pitch, (index % ROWS) as f32 * row(scale));
            let corner = title.left_bottom() + corner;
            let own = if *id == VOICE { 2.0 * pitch - gap } else { pitch - gap };
            let cell = Rect::from_min_size(corner, vec2(own, row(scale)));
            let remark = Remark::of(id, &settings);
            let place = Place { cell, id: ui.scope_id().with(id), scale, remark };
            let params = edits.params;
            match params.control(id) {
                Some(Control::Number(spec, param)) => place.slider(ui, spec, param, edits),
                Some(Control::Choice(param)) => place.switch(ui, param, edits),
                None => {}
            }
        }
        left += width + gap;
    }
}

/// How the other settings affect a control.
#[derive(Clone, Copy, Default)]
struct Remark {
    /// A sentence for the control's tooltip.
    text: &'static str,
    /// The control has no effect on the notes now.
    idle: bool,
}

impl Remark {
    /// How `settings` affect the control of the setting called `id`.
    fn of(id: &str, settings: &Settings) -> Self {
        let (text, idle) = match id {
            "sensitivity" if settings.focus == 0.0 => ("No effect while Focus is at 0 %.", true),
            "lookahead" if settings.focus == 0.0 => ("Only a delay while Focus is at 0 %.", true),
            "drive" if settings.voice != Voice::Soft => ("It shapes the voice Soft alone.", true),
            "octave" if settings.voice == Voice::Soft => {
                ("The voice Soft sounds where it is heard.", true)
            }
            "floor" if settings.auto => {
                ("With Auto level, it is relative to a level of -14 dB full scale.", false)
            }
            _ => ("", false),
        };
        Self { text, idle }
    }
}

/// The place and appearance of a control.
struct Place {
    cell: Rect,
    id: Id,
    scale: Scale,
    remark: Remark,
}

impl Place {
    /// The line with the name and the value.
    fn caption(&self) -> Rect {
        let mut caption = self.cell;
        caption.set_height(self.scale.line(12.0));
        caption
    }

    /// The area below the caption: a slider's track, or buttons.
    fn body(&self) -> Rect {
        let top = self.caption().bottom();
        let bottom = self.cell.bottom() - self.scale.length(5.0);
        Rect::from_x_y_ranges(self.cell.x_range(), top..=bottom)
    }

    fn name(&self, ui: &Ui, name: &str) {
        let at = self.caption().left_center();
        let font = self.scale.font(12.0);
        let colour = self.shade(theme::DIM);
        theme::text(ui.painter(), at, Align2::LEFT_CENTER, name, font, colour);
    }

    /// `colour`, fainter where the control has no effect.
    fn shade(&self, colour: Color32) -> Color32 {
        if self.remark.idle { theme::BACKGROUND.lerp_to_gamma(colour, 0.45) } else { colour }
    }

    /// The tooltip of a control with this `help`.
    fn tip(&self, help: &str) -> String {
        format!("{help} {}", self.remark.text).trim_end().to_owned()
    }

    /// A slider. Dragging, the wheel and the arrow keys move it (finely with shift), a double-click sets the default,
    /// and a click on the value opens a text field.
    fn slider(&self, ui: &mut Ui, spec: &'static Spec, param: &FloatParam, edits: &mut Edits) {
        let response = ui.interact(self.cell, self.id, Sense::click_and_drag());
        let fine = if ui.input(|input| input.modifiers.shift) { FINE } else { 1.0 };
        let step = match spec.taper {
            Taper::Whole => 1.0 / (spec.max - spec.min),
            _ => fine * STEP,
        };
        let now = param.unmodulated_normalized_value();
        // The host may apply a new value late. During a drag, the dragged value is kept here.
        let mut value = ui.data(|data| data.get_temp(self.id));
        if response.drag_started() {
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
        if response.drag_stopped() {
            edits.end(spec.id);
            ui.data_mut(|data| data.remove_temp::<f32>(self.id));
        }
        if response.double_clicked() {
            edits.set_once(spec.id, param.default_normalized_value());
        }
        let steps = wheel(ui, &response) + arrows(ui, &response);
        if steps != 0.0 && value.is_none() {
            edits.nudge(spec.id, (now + steps * step).clamp(0.0, 1.0));
        }

        let shown = value.unwrap_or(now);
        let plain = f64::from(param.preview_plain(shown));
        response.widget_info(|| WidgetInfo::slider(true, plain, param.name()));
        let active = response.hovered() || response.dragged();
        focus_ring(ui, &response);
        response.on_hover_cursor(CursorIcon::ResizeHorizontal).on_hover_text(self.tip(spec.help));

        self.name(ui, param.name());
        self.paint_track(ui, shown, param.preview_normalized(0.0), active);
        self.value(ui, spec, param, shown, edits);
    }

    /// The track of a slider, filled from `origin` (0..1) to `value` (0..1).
    fn paint_track(&self, ui: &Ui, value: f32, origin: f32, active: bool) {
        let thickness = self.scale.length(4.0).max(2.0);
        let track =
            Rect::from_center_size(self.body().center(), vec2(self.cell.width(), thickness));
        let round = CornerRadius::same((0.5 * thickness) as u8);
        ui.painter().rect_filled(track, round, theme::LINE);
        let radius = 1.4 * thickness;
        let x = |value: f32| track.left() + radius + value * (track.width() - 2.0 * radius);
        // A range without a zero inside is filled from its left end.
        let from = if origin > 0.0 && origin < 1.0 { x(origin) } else { track.left() };
        let (low, high) = (from.min(x(value)), from.max(x(value)));
        let filled = Rect::from_x_y_ranges(low..=high, track.y_range());
        ui.painter().rect_filled(filled, round, self.shade(theme::ACCENT.gamma_multiply(0.55)));
        let colour = if active { theme::TEXT } else { self.shade(theme::ACCENT) };
        ui.painter().circle_filled(pos2(x(value), track.center().y), radius, colour);
    }

    /// The value at `shown` (0..1) as text, which a click replaces by a text field.
    fn value(
        &self,
        ui: &mut Ui,
        spec: &'static Spec,
        param: &FloatParam,
        shown: f32,
        edits: &mut Edits,
    ) {
        let text = param.normalized_value_to_string(shown, true);
        let id = self.id.with("entry");
        let font = self.scale.font(12.0);
        let typed: Option<String> = ui.data(|data| data.get_temp(id));
        if let Some(mut typed) = typed {
            let value = param.string_to_normalized_value(&typed);
            let colour = if value.is_some() { theme::TEXT } else { theme::SATURATED };
            let field = TextEdit::singleline(&mut typed)
                .id(id)
                .font(font)
                .text_color(colour)
                .align(Align2::RIGHT_CENTER)
                .margin(Margin::symmetric(2, 0))
                .frame(Frame::NONE.fill(theme::SURFACE));
            let mut area = self.caption();
            area.set_left(area.center().x);
            let response = ui.put(area, field);
            response.widget_info(|| {
                WidgetInfo::labeled(Role::TextInput, true, format!("{} to type", param.name()))
            });
            if response.lost_focus() {
                let cancelled = ui.input(|input| input.key_pressed(Key::Escape));
                if let Some(value) = value.filter(|_| !cancelled) {
                    edits.set_once(spec.id, value);
                }
                ui.data_mut(|data| data.remove_temp::<String>(id));
            } else {
                ui.data_mut(|data| data.insert_temp(id, typed));
            }
            return;
        }

        let at = self.caption().right_center();
        let colour = self.shade(theme::TEXT);
        // If the longest value does not fit beside the name, all values are shown without their unit, and with only as
        // many digits as fit.
        let width = |text: String| {
            ui.painter().layout_no_wrap(text, font.clone(), Color32::PLACEHOLDER).size().x
        };
        let room = self.cell.width() - width(spec.name.to_owned()) - 3.0;
        let fits = |text: &dyn Fn(f32) -> String| {
            [spec.min, spec.max].into_iter().all(|value| width(text(value)) <= room)
        };
        let short = if fits(&|value| spec.format(value)) {
            text.clone()
        } else {
            let mut digits = (0..=spec.decimals).rev();
            let digits = digits.find(|&digits| fits(&|value| spec.number(value, digits)));
            spec.number(param.preview_plain(shown), digits.unwrap_or(0))
        };
        let area = theme::text(ui.painter(), at, Align2::RIGHT_CENTER, &short, font, colour);
        let response = ui.interact(area, id.with("text"), Sense::click());
        response.widget_info(|| {
            WidgetInfo::labeled(Role::Button, true, format!("{}: {text}", param.name()))
        });
        if response.hovered() || response.has_focus() {
            ui.painter().hline(area.x_range(), area.bottom(), Stroke::new(1.0, theme::ACCENT));
        }
        if response.on_hover_cursor(CursorIcon::Text).clicked() {
            let mut state = TextEditState::default();
            let all = CCursorRange::two(CCursor::new(0), CCursor::new(text.chars().count()));
            state.cursor.set_char_range(Some(all));
            state.store(ui.ctx(), id);
            ui.data_mut(|data| data.insert_temp(id, text));
            ui.memory_mut(|memory| memory.request_focus(id));
        }
    }

    /// A row of buttons, one of which is selected.
    fn switch(&self, ui: &mut Ui, param: &ChoiceParam, edits: &mut Edits) {
        let choice = param.choice;
        self.name(ui, choice.name);
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

/// Notches by which the wheel was turned over `response`.
fn wheel(ui: &Ui, response: &Response) -> f32 {
    if !response.hovered() {
        return 0.0;
    }
    let notches = |event: &Event| match event {
        Event::MouseWheel { unit: MouseWheelUnit::Point, delta, .. } => delta.y / NOTCH,
        Event::MouseWheel { delta, .. } => delta.y,
        _ => 0.0,
    };
    ui.input(|input| input.events.iter().map(notches).sum())
}

/// Arrow key presses while `response` has the focus: up and right count 1, down and left -1, the page keys 10.
fn arrows(ui: &Ui, response: &Response) -> f32 {
    if !response.has_focus() {
        return 0.0;
    }
    let filter =
        EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let steps = [
        (Key::ArrowUp, 1.0),
        (Key::ArrowRight, 1.0),
        (Key::ArrowDown, -1.0),
        (Key::ArrowLeft, -1.0),
        (Key::PageUp, 10.0),
        (Key::PageDown, -10.0),
    ];
    ui.input(|input| {
        let presses = |key| input.num_presses(key) as f32;
        steps.into_iter().map(|(key, step)| step * presses(key)).sum()
    })
}

/// Outlines a control that has the keyboard focus.
pub fn focus_ring(ui: &Ui, response: &Response) {
    if response.has_focus() {
        let stroke = Stroke::new(1.0, theme::ACCENT);
        ui.painter().rect_stroke(response.rect.expand(2.0), 3.0, stroke, StrokeKind::Outside);
    }
}
