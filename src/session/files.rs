//! Files that the user imports and exports: presets and scores.

use super::Edits;
use std::{fs, path::Path};
use tone_filter_dsp::Score;

/// The extension of a score's file.
pub const SCORE: &str = "tfs";

impl Edits<'_> {
    /// Loads the preset or the score in [`PresetList::file`](super::PresetList::file).
    pub fn import(&mut self) {
        let path = self.state.presets.file().to_owned();
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(SCORE)) {
            self.import_score(&path);
        } else if let Some(preset) = self.state.presets.import() {
            self.use_preset(preset.name, &preset.settings);
        }
    }

    /// Lets the score in the file at `path` decide which notes are played while the host plays. No undo step.
    fn import_score(&mut self, path: &Path) {
        let read = fs::read_to_string(path).map_err(|error| error.to_string());
        let score = read.and_then(|text| text.parse::<Score>().map_err(|error| error.to_string()));
        self.state.presets.message = match score {
            Ok(score) => {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let message = format!("{name} decides which notes are played while the song plays");
                self.params.score.set(Some((name, score)));
                self.mark_dirty();
                message
            }
            Err(error) => format!("{} cannot be read: {error}", path.display()),
        };
    }

    /// Lets the listener decide again. No undo step.
    pub fn remove_score(&mut self) {
        self.params.score.set(None);
        self.mark_dirty();
    }

    /// Writes the sound to [`PresetList::file`](super::PresetList::file).
    pub fn export(&mut self) {
        self.state.presets.export(&self.preset(), self.params.chosen().settings);
    }
}
