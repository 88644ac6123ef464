//! Detected key, tuning and tempo of the music, right of the scale, or in the menu of the legend where they have no room. A click
//! on the key sets Root and Scale, a click on the tuning sets Tuning, a click on the tempo halves or doubles it.

use super::{
    controls::focus_ring,
    theme::{self, Scale},
};
use crate::{meters::MeterUpdate, session::Edits};
use egui::{Align2, Button, Rect, Role, Sense, Ui, WidgetInfo};
use tone_filter_dsp::{FoundKey, Stereo, spec};

/// Factor on the sums of squares at each update: a time constant of 1.7 s at 60 updates per second.
const KEPT: f32 = 0.99;
/// Left and right count as cancelling if the power of their mean, relative to the channels' average power, is at most this (-20
/// dB).
const CANCELS: f32 = 0.01;
/// Tempo in beats per minute from which on a click halves the tempo; below, a click doubles it. Tempos between half of this one
/// and this one are the most common.
const HALVED: f64 = 115.0;

/// Text and tooltip of a value, and whether it is a button.
type Value<'a> = (&'a str, &'static str, bool);

#[derive(Debug, Clone, Copy, Default)]
pub struct DetectedKey {
    /// Decaying sums of squared input samples: first the sum for the mean of left and right, then the average of the sums for
    /// left and right.
    squares: [f32; 2],
    key: Option<FoundKey>,
    /// Frequency of A4 in Hz.
    tuning: Option<f64>,
    /// Detected tempo in beats per minute, and its certainty, 0..1.
    tempo: Option<(f64, f32)>,
}

impl DetectedKey {
    /// Takes key, tuning and tempo from `update`, and adds the squares of the update's input to the sums. Where the filter does not
    /// search for the tempo, as with Focus at 0 % or a tempo of the host, it is that of the capture (`heard`).
    pub fn push(&mut self, update: &MeterUpdate, heard: Option<(f64, f32)>) {
        let MeterUpdate { bands, sound: [mean, _], input: [left, right], .. } = update;
        (self.key, self.tuning) = (bands.key, bands.tuning);
        self.tempo = bands.tempo.map(|tempo| (tempo, bands.tempo_certainty)).or(heard);
        let squares = |samples: &[f32]| samples.iter().map(|x| x * x).sum::<f32>();
        let new = [squares(mean), 0.5 * (squares(left) + squares(right))];
        self.squares = std::array::from_fn(|index| KEPT * self.squares[index] + new[index]);
    }

    /// Shows the values from the right of `rest` to the left as far as there is room, and removes their places from `rest`. Returns
    /// the tooltips of the values without room.
    pub fn show(&self, ui: &Ui, rest: &mut Rect, scale: Scale, edits: &mut Edits) -> Vec<&str> {
        let mut hidden = Vec::new();
        self.values(edits, |value| {
            let clicked = item(ui, rest, scale, value);
            hidden.extend(clicked.is_none().then_some(value.1));
            clicked == Some(true)
        });
        hidden
    }

    /// Shows the values whose tooltips are `hidden` as entries of a menu.
    pub fn show_entries(&self, ui: &mut Ui, hidden: &[&str], edits: &mut Edits) {
        self.values(edits, |(text, tip, is_button)| {
            hidden.contains(&tip)
                && ui.add_enabled(is_button, Button::new(text)).on_hover_text(tip).clicked()
        });
    }

    /// Passes a warning if left and right cancel, then tempo, key and tuning to `show`, which returns whether the value was clicked.
    fn values(&self, edits: &mut Edits, mut show: impl FnMut(Value) -> bool) {
        let [mean, channels] = self.squares;
        let stereo = edits.params.chosen().settings.stereo;
        if channels > 0.0 && mean <= CANCELS * channels && stereo != Stereo::Stereo {
            let tip = "The bands hear the mean of left and right, which are of opposite polarity. Set Stereo to Stereo";
            show(("Left and right cancel", tip, false));
        }
        if let Some((found, certainty)) = self.tempo {
            // In the octave that the user has chosen.
            let chosen = f64::from(edits.params.tempo.load());
            let octaves = if chosen > 0.0 { (chosen / found).log2().round() } else { 0.0 };
            let tempo = found * octaves.exp2();
            let tip =
                "Tempo of the music. A click doubles or halves it, for instance from 85 to 170";
            if show((&format!("{tempo:.0} BPM, {:.0} % sure", 100.0 * certainty), tip, true)) {
                let other = if tempo < HALVED { 2.0 * tempo } else { 0.5 * tempo };
                edits.set_tempo(other as f32);
            }
        } else if channels > 0.0 {
            show(("No tempo yet", "The tempo of the music appears after some bars", false));
        }
        if let Some(key) = &self.key
            && show((&key.to_string(), "Sets Root and Scale to the key of the music", true))
        {
            edits.change("scale", |settings| {
                (settings.root, settings.scale) = (key.root, key.scale);
            });
        }
        if let Some(hertz) = self.tuning {
            let text = format!("A4 = {hertz:.1} Hz");
            if show((&text, "Sets Tuning to that of the music", true)) {
                // Rounded to the one decimal on display.
                let shown = ((10.0 * hertz).round() / 10.0) as f32;
                let limits = spec("tuning").map_or((0.0, f32::MAX), |spec| (spec.min, spec.max));
                edits.change("tuning", |settings| {
                    settings.tuning = shown.clamp(limits.0, limits.1);
                    settings.auto_tuning = false;
                });
            }
        }
    }
}

/// Shows a value as a button or a label at the right of `rest`, and removes its place from `rest`. Returns whether it was clicked;
/// `None` if there is too little room for the text and the square button of the legend.
fn item(ui: &Ui, rest: &mut Rect, scale: Scale, value: Value) -> Option<bool> {
    let (text, tip, is_button) = value;
    let font = scale.font(11.0);
    let place = rest.with_min_x(rest.right() - theme::text_width(ui, text, font.clone()));
    let left = place.left() - scale.length(14.0).max(6.0);
    if left - rest.height() < rest.left() {
        return None;
    }
    *rest = rest.with_max_x(left);
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
    Some(response.on_hover_text(tip).clicked())
}
