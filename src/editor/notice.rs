//! Notice of an action's result, over the bottom of the window.

use super::{access, theme};
use egui::{Align2, Area, Frame, Id, Order, RichText, Ui, vec2};

/// Seconds for which a notice is shown.
pub const SECONDS: f64 = 4.0;

#[derive(Default)]
pub struct Notice {
    text: String,
    /// Time in seconds at which the notice disappears.
    end: f64,
}

impl Notice {
    /// Shows the notice until its end. Takes a `message`, unless it is empty, as the new notice.
    pub fn show(&mut self, ui: &Ui, message: &mut String) {
        let now = ui.input(|input| input.time);
        if !message.is_empty() {
            *self = Self { text: std::mem::take(message), end: now + SECONDS };
        }
        let remaining = self.end - now;
        if remaining <= 0.0 {
            return;
        }
        ui.ctx().request_repaint_after_secs(remaining as f32);
        let area = Area::new(Id::unique("notice")).order(Order::Tooltip).interactable(false);
        area.anchor(Align2::CENTER_BOTTOM, vec2(0.0, -8.0)).show(ui.ctx(), |ui| {
            Frame::popup(ui.style()).show(ui, |ui| {
                ui.set_max_width(0.8 * ui.ctx().content_rect().width());
                let label = ui.label(RichText::new(&self.text).color(theme::ACCENT));
                access::announce_label(&label);
            });
        });
    }
}
