//! Menu of files: saves, deletes, imports and exports presets, imports scores, and saves notes.

use super::{
    file_dialog::{FileDialog, Purpose},
    save_notes::SaveNotes,
    theme,
};
use crate::session::Edits;
use egui::{
    Button, Key, Modifiers, Popup, PopupCloseBehavior, Response, RichText, ScrollArea, TextEdit, Ui,
};

const WIDTH: f32 = 260.0;

#[derive(Default)]
pub struct PresetFiles {
    /// Text of the field for the name to save under.
    name: String,
    /// Action that waits for the user's confirmation.
    question: Option<Question>,
    dialog: FileDialog,
    pub notes: SaveNotes,
}

/// Action that destroys something and needs the user's confirmation.
#[derive(Clone)]
enum Question {
    Replace(String),
    Delete(String),
    Overwrite,
}

impl PresetFiles {
    /// Shows the menu below `button`, which opens and closes it. `name` is the name of the loaded preset.
    pub fn show(&mut self, button: &Response, name: &str, edits: &mut Edits) {
        if button.clicked() {
            edits.state.presets.refresh();
            (self.name, self.question) = (name.to_owned(), None);
            self.notes.is_open = false;
        }
        if let Some((purpose, path)) = self.dialog.chosen() {
            match purpose {
                Purpose::Import => edits.import(&path),
                // The dialog has already asked whether to replace an existing file.
                Purpose::Export => edits.export(&path),
                Purpose::Notes(format) => self.notes.accept(format, path),
            }
        }
        let popup = Popup::from_toggle_button_response(button);
        popup.close_behavior(PopupCloseBehavior::CloseOnClickOutside).show(|ui| {
            ui.set_width(WIDTH);
            let room = theme::room_below(ui, button);
            ui.set_max_height(room);
            theme::raise(ui);
            ScrollArea::vertical().min_scrolled_height(0.0).max_height(room).show(ui, |ui| {
                match self.question.clone() {
                    Some(question) => self.ask(ui, &question, edits),
                    None if self.notes.is_open => self.notes.show(ui, &mut self.dialog, edits),
                    None => self.actions(ui, name, edits),
                }
            });
        });
    }

    fn actions(&mut self, ui: &mut Ui, name: &str, edits: &mut Edits) {
        let field = |ui: &mut Ui, text: &mut String, label: &str, hint: &str| {
            let caption = ui.label(RichText::new(label).color(theme::DIM));
            let field = TextEdit::singleline(text).hint_text(hint).desired_width(f32::INFINITY);
            ui.add(field).labelled_by(caption.id);
        };
        field(ui, &mut self.name, "Name", "a name");
        ui.horizontal(|ui| {
            if ui.button("Save as").clicked() {
                match edits.state.presets.replaced_by(&self.name) {
                    Some(taken) => self.question = Some(Question::Replace(taken)),
                    None => edits.save(&self.name),
                }
            }
            let delete = Button::new(format!("Delete {name}")).truncate();
            if ui.add_enabled(edits.state.presets.is_user_preset(name), delete).clicked() {
                self.question = Some(Question::Delete(name.to_owned()));
            }
        });
        ui.separator();
        field(ui, &mut edits.state.presets.path, "File", "leave empty to choose a file");
        ui.horizontal(|ui| {
            let file = edits.state.presets.file();
            let is_named = !file.as_os_str().is_empty();
            let import =
                ui.button("Import").on_hover_text("Loads a preset or a score (.tfs, .mid)");
            if import.clicked() {
                match is_named {
                    true => edits.import(&file),
                    false => self.dialog.open(Purpose::Import, name, edits.host),
                }
            }
            let export = ui.button("Export").on_hover_text("Writes the sound as a preset");
            if export.clicked() {
                match is_named {
                    true if file.exists() => {
                        self.question = Some(Question::Overwrite);
                    }
                    true => edits.export(&file),
                    false => self.dialog.open(Purpose::Export, name, edits.host),
                }
            }
        });
        ui.separator();
        if ui.button("Save notes as ...").clicked() {
            self.notes.open();
        }
        if let Some(score) = edits.params.score.name() {
            ui.separator();
            ui.label(RichText::new("Score").color(theme::DIM));
            ui.horizontal(|ui| {
                let remove = ui.button("Remove score");
                if remove.on_hover_text("Finds the notes in the sound again").clicked() {
                    edits.remove_score();
                }
                ui.add(egui::Label::new(score).truncate());
            });
        }
    }

    /// Shows `question`, and runs its action once the user has confirmed it.
    fn ask(&mut self, ui: &mut Ui, question: &Question, edits: &mut Edits) {
        let presets = &edits.state.presets;
        let (text, verb) = match question {
            Question::Replace(name) => (format!("Replace your preset {name}?"), "Replace"),
            Question::Delete(name) => (format!("Delete your preset {name}?"), "Delete"),
            Question::Overwrite => (format!("Replace {}?", presets.file().display()), "Replace"),
        };
        ui.label(text);
        ui.label(RichText::new("This cannot be undone.").color(theme::DIM));
        // The escape key cancels the question; it must not close the menu, too.
        let mut cancelled = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
        let mut confirmed = false;
        ui.horizontal(|ui| {
            let text = RichText::new(verb).color(theme::BACKGROUND);
            confirmed = ui.add(Button::new(text).fill(theme::SATURATED)).clicked();
            let cancel = ui.button("Cancel");
            cancelled |= cancel.clicked();
            if ui.memory(|memory| memory.focused().is_none()) {
                cancel.request_focus();
            }
        });
        if confirmed || cancelled {
            self.question = None;
        }
        if confirmed {
            match question {
                Question::Replace(_) => edits.save(&self.name),
                Question::Delete(name) => edits.state.presets.delete(name),
                Question::Overwrite => edits.export(&edits.state.presets.file()),
            }
        }
    }
}
