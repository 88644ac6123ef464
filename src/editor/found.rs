//! Detected key, tuning and tempo of the music, right of the scale. A click on the key sets Root and Scale, a click on the tuning
//! sets Tuning, a click on the tempo halves or doubles it.

use super::{
    controls::focus_ring,
    theme::{self, Scale},
};
use crate::{meters::MeterUpdate, session::Edits};
use egui::{Align2, Rect, Role, Sense, Ui, WidgetInfo};
use tone_filter_dsp::{FoundKey, Stereo, spec};

/// Factor on the sums of squares at each update: a time constant of 1.7 s at 60 updates per second.
const KEPT: f32 = 0.99;
/// Left and right count as cancelling if the power of their mean, relative to the channels' average power, is at most this (-20
/// dB).
const CANCELS: f32 = 0.01;
/// Tempo in beats per minute from which on a click halves the tempo; below, a click doubles it. Tempos between half of this one
/// and this one are the most common.
const HALVED: f64 = 115.0;

#[derive(Debug, Clone, Copy, Default)]
pub struct DetectedKey {
    /// Decaying sums of squared input samples: first the sum for the mean of left and right, then the average of the sums for
    /// left and right.
    squares: [f32; 2],
    key: Option<FoundKey>,
    /// Frequency of A4 in Hz.
    tuning: Option<f64>,
    /// Detected tempo in beats per minute, and its certainty, 0..1. The filter searches for the tempo if the host reports none, or
    /// if a setting follows the tempo.
    tempo: Option<(f64, f32)>,
}

impl DetectedKey {
    /// Takes key, tuning and tempo from `update`, and adds the squares of the update's input to the sums.
    pub fn push(&mut self, update: &MeterUpdate) {
        let MeterUpdate { bands, sound: [mean, _], input: [left, right], .. } = update;
        (self.key, self.tuning) = (bands.key, bands.tuning);
        self.tempo = bands.tempo.map(|tempo| (tempo, bands.tempo_certainty));
        let squares = |samples: &[f32]| samples.iter().map(|x| x * x).sum::<f32>();
        let new = [squares(mean), 0.5 * (squares(left) + squares(right))];
        self.squares = std::array::from_fn(|index| KEPT * self.squares[index] + new[index]);
    }

    /// Shows a warning if left and right cancel, then tuning, key and tempo, from the right of `area` to the left as far as there
    /// is room. Returns the remaining area.
    pub fn show(&self, ui: &Ui, area: Rect, scale: Scale, edits: &mut Edits) -> Rect {
        let mut rest = area;
        let [mean, channels] = self.squares;
        let stereo = edits.params.chosen().settings.stereo;
        if channels > 0.0 && mean <= CANCELS * channels && stereo != Stereo::Stereo {
            let tip = "The bands hear the mean of left and right, which are of opposite polarity. Set Stereo to Stereo";
            item(ui, &mut rest, scale, "Left and right cancel", tip, false);
        }
        if let Some(hertz) = self.tuning {
            let text = format!("A4 = {hertz:.1} Hz");
            if item(ui, &mut rest, scale, &text, "Sets Tuning to that of the music", true) {
                // Rounded to the one decimal on display.
                let shown = ((10.0 * hertz).round() / 10.0) as f32;
                let limits = spec("tuning").map_or((0.0, f32::MAX), |spec| (spec.min, spec.max));
                edits.change("tuning", |settings| {
                    settings.tuning = shown.clamp(limits.0, limits.1);
                    settings.auto_tuning = false;
                });
            }
        }
        if let Some(key) = &self.key {
            let tip = "Sets Root and Scale to the key of the music";
            if item(ui, &mut rest, scale, &key.to_string(), tip, true) {
                edits.change("scale", |settings| {
                    (settings.root, settings.scale) = (key.root, key.scale);
                });
            }
        }
        if let Some((tempo, certainty)) = self.tempo {
            let tip = "Tempo of the music and its certainty. A click doubles or halves it, for instance from 85 to 170";
            let text = format!("{tempo:.0} BPM {:.0} %", 100.0 * certainty);
            if item(ui, &mut rest, scale, &text, tip, true) {
                let other = if tempo < HALVED { 2.0 * tempo } else { 0.5 * tempo };
                edits.set_tempo(other as f32);
            }
        }
        rest
    }
}

/// If there is room, shows `text` as a button or a label at the right of `rest`, and removes its place from `rest`. Returns
/// whether it was clicked.
fn item(ui: &Ui, rest: &mut Rect, scale: Scale, text: &str, tip: &str, is_button: bool) -> bool {
    let font = scale.font(11.0);
    let place = rest.with_min_x(rest.right() - theme::text_width(ui, text, font.clone()));
    if place.left() < rest.left() {
        return false;
    }
    *rest = rest.with_max_x(place.left() - scale.length(14.0).max(6.0));
    let (sense, role) = match is_button {
        true => (Sense::click(), Role::Button),
        false => (Sense::hover(), Role::Label),
    };
    let response = ui.interact(place, ui.scope_id().with(("found", tip)), sense);
    response.widget_info(|| WidgetInfo::labeled(role, true, text));
    let colour = match (is_button, response.hovered()) {
        (false, _) => theme::DIM,
        (true, true) => theme::TEXT,
        (true, false) => theme::ACCENT,
    };
    theme::text(ui.painter(), place.right_center(), Align2::RIGHT_CENTER, text, font, colour);
    focus_ring(ui, &response);
    response.on_hover_text(tip).clicked()
}
