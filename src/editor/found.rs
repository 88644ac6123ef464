//! Detected key, tuning and tempo of the music, at the right of the line with the scale. A click on key or tuning sets the filter to
//! it.

use super::{
    controls::focus_ring,
    theme::{self, Scale},
};
use crate::{meters::MeterUpdate, session::Edits};
use egui::{Align2, Rect, Role, Sense, Ui, WidgetInfo};
use tone_filter_dsp::{FoundKey, Stereo, spec};

/// Share of the squares before that an update keeps: some seconds count.
const KEPT: f32 = 0.99;

/// Power of the mean of left and right, relative to theirs, below which they cancel: -20 dB.
const CANCELS: f32 = 0.01;

/// Key, tuning and tempo that were detected last.
#[derive(Debug, Clone, Copy, Default)]
pub struct DetectedKey {
    /// Squares of the input: of the mean of left and right, and the mean of theirs.
    squares: [f32; 2],
    key: Option<FoundKey>,
    /// Frequency of A4 in Hz.
    tuning: Option<f64>,
    /// Beats per minute; only where the host has no tempo.
    tempo: Option<f64>,
}

impl DetectedKey {
    /// Takes key, tuning and tempo from `update`, and its input.
    pub fn push(&mut self, update: &MeterUpdate) {
        let MeterUpdate { bands, sound: [dry, _], .. } = update;
        (self.key, self.tuning, self.tempo) = (bands.key, bands.tuning, bands.tempo);
        let new = [dry.iter().map(|x| x * x).sum(), update.input_squares];
        self.squares = std::array::from_fn(|index| KEPT * self.squares[index] + new[index]);
    }

    /// Shows key, tuning and tempo at the right of `area` as far as there is room. Returns the area that is left.
    pub fn show(&self, ui: &Ui, area: Rect, scale: Scale, edits: &mut Edits) -> Rect {
        let mut rest = area;
        let [mean, channels] = self.squares;
        let stereo = edits.params.chosen().settings.stereo;
        if channels > 0.0 && mean <= CANCELS * channels && stereo != Stereo::Stereo {
            let tip = "The bands hear the mean of left and right, which are of opposite polarity. Set Stereo to Stereo";
            label(ui, &mut rest, scale, "Left and right cancel", tip);
        }
        if let Some(hertz) = self.tuning {
            let text = format!("A4 = {hertz:.1} Hz");
            if button(ui, &mut rest, scale, &text, "Sets Tuning to that of the music") {
                take_tuning(hertz, edits);
            }
        }
        if let Some(key) = &self.key {
            let tip = "Sets Root and Scale to the key of the music";
            if button(ui, &mut rest, scale, &key.to_string(), tip) {
                take_key(key, edits);
            }
        }
        if let Some(tempo) = self.tempo {
            let tip = "Tempo of the music, which Sync counts by";
            label(ui, &mut rest, scale, &format!("{tempo:.0} BPM"), tip);
        }
        rest
    }
}

/// Sets root and scale to `key`, as one undo step.
fn take_key(key: &FoundKey, edits: &mut Edits) {
    let mut sound = edits.sound();
    let settings = &mut sound.controls.settings;
    (settings.root, settings.scale) = (key.root, key.scale);
    edits.change_to("scale", sound);
}

/// Sets the tuning to `hertz`, rounded to the one decimal on display, and switches auto tuning off, as one undo step.
fn take_tuning(hertz: f64, edits: &mut Edits) {
    let mut sound = edits.sound();
    let settings = &mut sound.controls.settings;
    let shown = (10.0 * hertz).round() / 10.0;
    let limits = spec("tuning").map_or((0.0, f32::MAX), |spec| (spec.min, spec.max));
    settings.tuning = (shown as f32).clamp(limits.0, limits.1);
    settings.auto_tuning = false;
    edits.change_to("tuning", sound);
}

/// Returns the place of `text` at the right of `rest`, if there is room, and shrinks `rest`.
fn place(ui: &Ui, rest: &mut Rect, scale: Scale, text: &str) -> Option<Rect> {
    let font = scale.font(11.0);
    let width = ui.painter().layout_no_wrap(text.into(), font, theme::TEXT).size().x;
    let place = rest.with_min_x(rest.right() - width);
    if place.left() < rest.left() {
        return None;
    }
    *rest = rest.with_max_x(place.left() - scale.length(14.0).max(6.0));
    Some(place)
}

/// Shows `text` at the right of `rest`, if there is room, and shrinks `rest`.
fn label(ui: &Ui, rest: &mut Rect, scale: Scale, text: &str, tip: &str) {
    if let Some(place) = place(ui, rest, scale, text) {
        let response = ui.interact(place, ui.scope_id().with(("found", tip)), Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
        let font = scale.font(11.0);
        let at = place.right_center();
        theme::text(ui.painter(), at, Align2::RIGHT_CENTER, text, font, theme::DIM);
        response.on_hover_text(tip);
    }
}

/// Shows `text` as a button at the right of `rest`, if there is room, and shrinks `rest`. Returns whether it was clicked.
fn button(ui: &Ui, rest: &mut Rect, scale: Scale, text: &str, tip: &str) -> bool {
    let Some(place) = place(ui, rest, scale, text) else { return false };
    let response = ui.interact(place, ui.scope_id().with(("found", tip)), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, text));
    let colour = if response.hovered() { theme::TEXT } else { theme::ACCENT };
    let font = scale.font(11.0);
    theme::text(ui.painter(), place.right_center(), Align2::RIGHT_CENTER, text, font, colour);
    focus_ring(ui, &response);
    response.on_hover_text(tip).clicked()
}
