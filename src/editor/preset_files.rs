//! Menu of files: saves, deletes, imports and exports presets, loads scores, and saves notes.

use super::{
    controls::{menu, select_all},
    file_dialog::{FileDialog, Purpose},
    save_notes::SaveNotes,
    theme,
};
use crate::{
    params::DEFAULT_PRESET,
    session::{Edits, PRESET},
};
use egui::{Button, Id, Key, Modal, Modifiers, Response, RichText, ScrollArea, TextEdit, Ui};
use std::path::PathBuf;

/// Width of a dialog in points.
const WIDTH: f32 = 260.0;

#[derive(Default)]
pub struct PresetFiles {
    question: Option<Question>,
    pub(super) dialog: FileDialog,
    pub notes: SaveNotes,
}

/// Question of a dialog inside the window.
enum Question {
    /// Name under which the sound is to be saved.
    Save(String),
    /// Name of the preset to be deleted.
    Delete(String),
}

/// Returns the `path` from a dialog, which has asked before it replaces an existing file; with `extension` if it has none.
/// Returns `None`, with a message, if a file of that name exists, about which the dialog has not asked.
fn completed(path: PathBuf, extension: &str, edits: &mut Edits) -> Option<PathBuf> {
    if path.extension().is_some() {
        return Some(path);
    }
    let path = path.with_extension(extension);
    let exists = path.exists();
    if exists {
        edits.state.presets.message = format!("{} exists; choose another name", path.display());
    }
    (!exists).then_some(path)
}

impl PresetFiles {
    /// Shows the menu of `button`, and the dialog that is open. `name` is the loaded preset. Returns whether the user wants to
    /// open a preset.
    pub fn show(&mut self, ui: &Ui, button: &Response, name: &str, edits: &mut Edits) -> bool {
        if button.clicked() {
            edits.state.presets.refresh();
        }
        if let Some((purpose, path)) = self.dialog.chosen() {
            match purpose {
                Purpose::Import | Purpose::Score => edits.import(&path),
                Purpose::Export => {
                    if let Some(path) = completed(path, PRESET, edits) {
                        edits.export(&path);
                    }
                }
                Purpose::Notes(format) => {
                    if let Some(path) = completed(path, format.extension(), edits) {
                        self.notes.accept(format, path);
                    }
                }
            }
        }
        let opens = menu(button, |ui| self.entries(ui, name, edits));
        self.ask(ui, edits);
        self.show_notes(ui, edits);
        opens.is_some_and(|opens| opens.inner)
    }

    /// Shows the menu's entries. Returns whether the user wants to open a preset.
    fn entries(&mut self, ui: &mut Ui, name: &str, edits: &mut Edits) -> bool {
        let is_own = edits.state.presets.is_user_preset(name);
        if ui.button("New").on_hover_text("The sound of a new instance").clicked() {
            edits.load(DEFAULT_PRESET);
        }
        let opens = ui.button("Open preset ...").clicked();
        if ui.add_enabled(is_own, Button::new("Save")).clicked() {
            if edits.state.presets.is_listed(name) {
                edits.save(name);
            } else {
                self.question = Some(Question::Save(name.to_owned()));
            }
        }
        if ui.button("Save as ...").clicked() {
            self.question = Some(Question::Save(name.to_owned()));
        }
        if ui.add_enabled(is_own, Button::new("Delete ...")).clicked() {
            self.question = Some(Question::Delete(name.to_owned()));
        }
        ui.separator();
        for (text, purpose) in [
            ("Import preset ...", Purpose::Import),
            ("Export preset ...", Purpose::Export),
            ("Load score ...", Purpose::Score),
        ] {
            if ui.button(text).clicked() {
                self.dialog.open(purpose, name, edits.host);
            }
        }
        if ui.button("Save notes as ...").clicked() {
            self.notes.open();
        }
        if let Some(score) = edits.params.score.name() {
            let remove = ui.button(format!("Remove score {score}"));
            if remove.on_hover_text("Finds the notes in the sound again").clicked() {
                edits.remove_score();
            }
        }
        opens
    }

    fn show_notes(&mut self, ui: &Ui, edits: &mut Edits) {
        if !self.notes.is_open {
            return;
        }
        let cancelled = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
        let window = ui.ctx().content_rect();
        Modal::new(Id::unique("notes")).show(ui.ctx(), |ui| {
            ui.set_width(WIDTH.min(0.8 * window.width()));
            theme::raise(ui);
            ScrollArea::vertical().max_height(0.8 * window.height()).show(ui, |ui| {
                self.notes.show(ui, &mut self.dialog, edits);
            });
        });
        self.notes.is_open &= !cancelled;
    }

    /// Shows the open dialog, and acts when the user confirms it.
    fn ask(&mut self, ui: &Ui, edits: &mut Edits) {
        let Some(question) = &mut self.question else { return };
        let mut confirmed = false;
        // Escape must close nothing but the dialog.
        let mut cancelled = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
        Modal::new(Id::unique("question")).show(ui.ctx(), |ui| {
            ui.set_width(WIDTH.min(0.8 * ui.ctx().content_rect().width()));
            theme::raise(ui);
            let nothing_focused = ui.memory(|memory| memory.focused().is_none());
            let (mut field, mut destroys) = (None, true);
            match question {
                Question::Save(name) => {
                    let caption = ui.label("Save the sound as");
                    let edit = TextEdit::singleline(name).hint_text("a name");
                    let entry = ui.add(edit.desired_width(f32::INFINITY)).labelled_by(caption.id);
                    if nothing_focused {
                        select_all(ui, entry.id, name);
                    }
                    let taken = edits.state.presets.replaced_by(name);
                    destroys = taken.is_some();
                    if let Some(taken) = taken {
                        ui.label(format!("Replace your preset {taken}?"));
                    }
                    let enter = ui.input(|input| input.key_pressed(Key::Enter));
                    confirmed = entry.lost_focus() && enter && !destroys;
                    field = Some(entry);
                }
                Question::Delete(name) => _ = ui.label(format!("Delete your preset {name}?")),
            }
            let verb = match (&question, destroys) {
                (Question::Delete(_), _) => "Delete",
                (_, true) => "Replace",
                (_, false) => "Save",
            };
            if destroys {
                ui.label(RichText::new("This cannot be undone.").color(theme::DIM));
            }
            ui.horizontal(|ui| {
                let fill = if destroys { theme::ALARM } else { theme::ACCENT };
                let text = RichText::new(verb).color(theme::BACKGROUND);
                confirmed |= ui.add(Button::new(text).fill(fill)).clicked();
                let cancel = ui.button("Cancel");
                cancelled |= cancel.clicked();
                if nothing_focused {
                    field.unwrap_or(cancel).request_focus();
                }
            });
        });
        if confirmed {
            match question {
                Question::Save(name) => edits.save(name),
                Question::Delete(name) => edits.state.presets.delete(name),
            }
        }
        if confirmed || cancelled {
            self.question = None;
        }
    }
}
