//! The controls of all settings, by group.

mod list;
mod slider;
mod switch;

use super::{
    host::indication,
    theme::{self, Scale},
};
use crate::{
    params::{Control, GROUPS, Group},
    session::Edits,
};
pub use list::list;
use tone_filter_dsp::{NoteValue, Settings, Voice};

use egui::{Align2, Color32, Id, Rect, Response, Stroke, StrokeKind, Ui, pos2, vec2};

/// The setting whose buttons show waveforms and take two columns.
const VOICE: &str = "voice";

/// Rows of controls; a group with more controls takes another column.
const ROWS: usize = 4;

/// The group with short names, whose column is narrower by this factor.
const SHORT: (&str, f32) = ("Chip", 0.85);

/// Columns of a group.
fn columns(group: &Group) -> f32 {
    let columns = group.ids.len().div_ceil(ROWS) as f32;
    if group.name == SHORT.0 { SHORT.1 * columns } else { columns }
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
    let total: f32 = GROUPS.iter().map(columns).sum();
    // A narrow window needs its width for the text.
    let gap = 18.0 * (area.width() / 968.0).powi(3);
    let pitch = (area.width() + gap) / total;
    let settings = edits.params.chosen().settings;
    let mut left = area.left();
    for group in &GROUPS {
        let width = pitch * columns(group) - gap;
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
            let own = if *id == VOICE { width } else { width.min(pitch - gap) };
            let cell = Rect::from_min_size(corner, vec2(own, row(scale)));
            let remark = Remark::of(id, &settings);
            let indication = edits.host.indication(id);
            let host = indication::text(&indication);
            let place = Place { cell, id: ui.scope_id().with(id), scale, remark, host };
            indication::paint(&indication, ui, place.caption().left_center(), scale);
            let params = edits.params;
            match params.control(id) {
                Some(Control::Number(spec, param)) => place.slider(ui, spec, param, edits),
                Some(Control::Choice(param)) => place.choice(ui, param, edits),
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
            "drive" if !settings.voice.is_driven() => {
                ("It shapes the voices Soft and Soft clean alone.", true)
            }
            "arp" | "duty" | "attack" | "decay" if settings.voice != Voice::Chip => {
                ("It shapes the voice Chip alone.", true)
            }
            "octave" if settings.voice == Voice::Soft => {
                ("The voice Soft has no octave: it sounds at the detected note.", true)
            }
            "ring" | "release" if settings.sync != NoteValue::OFF => {
                ("Sync sets it, by the song's tempo.", true)
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
    /// What the host does with the parameter, in words.
    host: String,
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
        let parts = [help, self.remark.text, &self.host].into_iter();
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// Outlines a control that has the keyboard focus.
pub fn focus_ring(ui: &Ui, response: &Response) {
    if response.has_focus() {
        let stroke = Stroke::new(1.0, theme::ACCENT);
        ui.painter().rect_stroke(response.rect.expand(2.0), 3.0, stroke, StrokeKind::Outside);
    }
}
