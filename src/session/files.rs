//! Files that the user imports and exports: presets and scores.

use super::Edits;
use std::{fs, path::Path};
use tone_filter_dsp::Score;

/// The extension of a preset's file.
pub const PRESET: &str = "json";

/// The extension of a score's file.
pub const SCORE: &str = "tfs";

impl Edits<'_> {
    /// Loads the preset or the score in the file at `path`.
    pub fn import(&mut self, path: &Path) {
        if is(path, SCORE) {
            self.import_score(path);
        } else if let Some(preset) = self.state.presets.import(path) {
            self.use_preset(preset.name, &preset.settings);
        }
    }

    /// The same for a file that may be of any kind, such as one that was dropped on the window.
    pub fn import_dropped(&mut self, path: &Path) {
        if [PRESET, SCORE].iter().any(|extension| is(path, extension)) {
            self.import(path);
        } else {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            self.state.presets.message =
                format!("{name} is neither a preset (.{PRESET}) nor a score (.{SCORE})");
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

    /// Writes the sound to the file at `path`.
    pub fn export(&mut self, path: &Path) {
        self.state.presets.export(&self.preset(), self.params.chosen().settings, path);
    }
}

/// Whether the name of the file at `path` ends in `extension`.
fn is(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(extension))
}
