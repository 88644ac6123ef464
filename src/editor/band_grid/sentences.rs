//! State of each band as a sentence, for screen readers.

use egui::Ui;

/// Minimum seconds between two changes. Music changes the states in every frame, and each change goes to the screen reader.
const PAUSE: f64 = 1.0;

/// Sentences of all bands.
#[derive(Default)]
pub struct Sentences {
    texts: Vec<String>,
    /// egui's time in seconds of the last change.
    changed: f64,
}

impl Sentences {
    /// Replaces the sentences by `now`, in the order of the bands, at most once per [`PAUSE`]. Without a screen reader, removes
    /// all sentences.
    pub fn follow(&mut self, ui: &Ui, now: impl Iterator<Item = String>) {
        if !ui.ctx().has_accesskit_node(ui.unique_id()) {
            self.texts.clear();
            return;
        }
        let texts: Vec<_> = now.collect();
        if texts == self.texts {
            return;
        }
        let time = ui.input(|input| input.time);
        let rest = self.changed + PAUSE - time;
        if self.texts.is_empty() || rest <= 0.0 {
            *self = Self { texts, changed: time };
        } else {
            ui.ctx().request_repaint_after_secs(rest as f32);
        }
    }

    /// Returns the sentence of band `tone`; empty before the first call of [`Sentences::follow`].
    pub fn of(&self, tone: usize) -> &str {
        self.texts.get(tone).map_or("", |text| text)
    }
}
