//! Panel that saves captured notes as a file: choice of the part of the music, the path and the format.

use super::{
    file_dialog::{FileDialog, Purpose},
    theme,
};
use crate::{
    capture::{CaptureInput, Extent, Format, Request},
    session::{Edits, Session},
};
use egui::{RichText, TextEdit, Ui};
use std::{
    ops::Range,
    path::{Path, PathBuf, absolute},
};

const EXTENTS: [(&str, Extent); 6] = [
    ("The last 2 bars", Extent::Bars(2)),
    ("The last 4 bars", Extent::Bars(4)),
    ("The last 8 bars", Extent::Bars(8)),
    ("The last 16 bars", Extent::Bars(16)),
    ("Since the song started", Extent::Song),
    ("Everything (10 minutes)", Extent::Everything),
];

/// Returns the label and the tooltip of a format's button.
fn named(format: Format) -> (&'static str, &'static str) {
    match format {
        Format::Midi => ("MIDI", "The notes as they were played, with tempo and bars"),
        Format::Parts => {
            ("MIDI in parts", "Lead, chords, bass, and drums on channel 10, on a grid")
        }
        Format::Furnace => ("Furnace", "A song for the tracker Furnace, for the NES"),
        Format::Nsf => ("NSF", "A program for the NES, with the sound of the voice Chip"),
        Format::Score => ("Score", "A score that the plugin follows, to correct by hand"),
    }
}

#[derive(Default)]
pub struct SaveNotes {
    pub is_open: bool,
    /// Part of the music selected in the roll, in seconds on the capture's clock.
    pub selection: Option<Range<f64>>,
    extent: Option<Extent>,
    /// Path as typed; while it is empty, the system's dialog asks for one.
    path: String,
    /// Format and path for the next call of [`SaveNotes::write`].
    chosen: Option<(Format, PathBuf)>,
}

impl SaveNotes {
    /// Opens the panel. Chooses the selection in the roll, if there is one, as the part to save.
    pub fn open(&mut self) {
        self.is_open = true;
        self.extent = self.selection.clone().map(Extent::Selection).or(self.extent.take());
    }

    pub fn show(&mut self, ui: &mut Ui, dialog: &mut FileDialog, edits: &mut Edits) {
        let selection = self.selection.clone().map(Extent::Selection);
        if matches!(self.extent, None | Some(Extent::Selection(_))) {
            self.extent = selection.clone().or(Some(Extent::Bars(8)));
        }
        // Without a focus, the host would get the next key.
        let nothing_focused = ui.memory(|memory| memory.focused().is_none());
        ui.columns(2, |columns| {
            let selection = selection.map(|part| ("The selection", part));
            for (index, (name, part)) in EXTENTS.into_iter().chain(selection).enumerate() {
                let ui = &mut columns[index % 2];
                theme::outline(ui);
                let is_chosen = self.extent.as_ref() == Some(&part);
                let radio = ui.radio_value(&mut self.extent, Some(part), name);
                if is_chosen && nothing_focused {
                    radio.request_focus();
                }
            }
        });
        let caption = ui.label(RichText::new("File").color(theme::DIM));
        let field = TextEdit::singleline(&mut self.path).hint_text("leave empty to choose a file");
        ui.add(field.desired_width(f32::INFINITY)).labelled_by(caption.id);
        ui.label(RichText::new("Save as").color(theme::DIM));
        ui.horizontal_wrapped(|ui| {
            for format in Format::ALL {
                let (name, help) = named(format);
                if ui.button(name).on_hover_text(help).clicked() {
                    self.choose_file(format, dialog, edits);
                }
            }
            self.is_open &= !ui.button("Back").clicked();
        });
    }

    fn choose_file(&mut self, format: Format, dialog: &mut FileDialog, edits: &mut Edits) {
        if self.path.trim().is_empty() {
            self.is_open = false;
            return dialog.open(Purpose::Notes(format), "Notes", edits.host);
        }
        // In full, as the working folder is the host's.
        let typed = Path::new(self.path.trim());
        let path = with_extension(absolute(typed).unwrap_or_else(|_| typed.into()), format);
        if path.exists() {
            edits.state.presets.message = format!("{} exists; choose another name", path.display());
        } else {
            (self.is_open, self.chosen) = (false, Some((format, path)));
        }
    }

    /// Keeps the file from the dialog for the next [`SaveNotes::write`].
    pub fn accept(&mut self, format: Format, path: PathBuf) {
        self.chosen = Some((format, path));
    }

    /// Requests the chosen file, if there is one, from the worker of `capture`. The result is shown to the user.
    pub fn write(&mut self, capture: &mut CaptureInput, session: &Session) {
        let Some((format, path)) = self.chosen.take() else { return };
        let extent = self.extent.clone().unwrap_or(Extent::Bars(8));
        let settings = session.params.chosen().settings;
        let session = session.clone();
        let done = Box::new(move |message| session.tell(message));
        capture.write(Request { format, extent, path, settings, done });
    }
}

/// Returns `path`, with the format's extension if it has none.
fn with_extension(path: PathBuf, format: Format) -> PathBuf {
    match path.extension() {
        Some(_) => path,
        None => path.with_extension(format.extension()),
    }
}
