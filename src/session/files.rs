//! Import of presets and scores from files, and export of presets.

use super::Edits;
use std::{error::Error, fs, path::Path};
use tone_filter_dsp::Score;
use tone_filter_midi::{Drums, EXTENSIONS as MIDI, MidiFile};

pub const PRESET: &str = "json";

pub const SCORE: &str = "tfs";

impl Edits<'_> {
    /// Loads the preset or the score in the file at `path`.
    pub fn import(&mut self, path: &Path) {
        if is_score(path) {
            self.import_score(path);
        } else if let Some(preset) = self.state.presets.import(path) {
            self.use_preset(preset.name, &preset.settings);
        }
    }

    /// Imports a dropped file. For a file that is neither preset nor score, shows a message.
    pub fn import_dropped(&mut self, path: &Path) {
        if is(path, PRESET) || is_score(path) {
            self.import(path);
        } else {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            self.state.presets.message =
                format!("{name} is neither a preset (.{PRESET}) nor a score (.{SCORE}, .mid)");
        }
    }

    /// Replaces the score by the one in the file at `path`, or shows an error. Not an undo step.
    fn import_score(&mut self, path: &Path) {
        self.state.presets.message = match read_score(path) {
            Ok((score, left_out)) => {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let mut message =
                    format!("{name} decides which notes are played while the song plays");
                if let Some(left_out) = left_out {
                    message += &format!("; left out: {left_out}");
                }
                self.params.score.set(Some((name, score)));
                self.mark_dirty();
                message
            }
            Err(error) => format!("{} cannot be read: {error}", path.display()),
        };
    }

    /// Removes the score, so that the listener decides again. Not an undo step.
    pub fn remove_score(&mut self) {
        self.params.score.set(None);
        self.mark_dirty();
    }

    pub fn export(&mut self, path: &Path) {
        self.state.presets.export(&self.preset(), self.params.chosen().settings, path);
    }
}

/// Reads a score file or a MIDI file. Returns the score, and a description of the parts that are left out, if any.
fn read_score(path: &Path) -> Result<(Score, Option<String>), Box<dyn Error>> {
    if is(path, SCORE) {
        let (score, bad) = Score::read(&fs::read_to_string(path)?)?;
        Ok((score, bad.map(|bad| bad.to_string())))
    } else {
        let file = MidiFile::parse(&fs::read(path)?, Drums::LeftOut)?;
        Ok((file.score(), file.left_out().map(Into::into)))
    }
}

/// Whether `path` names a score file or a MIDI file.
fn is_score(path: &Path) -> bool {
    is(path, SCORE) || MIDI.iter().any(|extension| is(path, extension))
}

/// Whether `path` has the `extension`, in small or capital letters.
fn is(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}
