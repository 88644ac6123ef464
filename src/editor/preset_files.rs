//! The menu of preset files: saving, deleting, importing and exporting.

use super::theme;
use crate::session::Edits;
use egui::{
    Button, Key, Modifiers, Popup, PopupCloseBehavior, Response, RichText, ScrollArea, TextEdit, Ui,
};

/// The width of the menu in points.
const WIDTH: f32 = 260.0;

/// The state of the menu.
#[derive(Default)]
pub struct PresetFiles {
    /// The text of the field for a name to save under.
    name: String,
    /// The action to confirm, if there is one.
    question: Option<Question>,
}

/// An action that destroys something, and is done only once the user has confirmed it.
#[derive(Clone)]
enum Question {
    /// To save over the user's preset of this name.
    Replace(String),
    /// To delete the user's preset of this name.
    Delete(String),
    /// To export over the file.
    Overwrite,
}

impl PresetFiles {
    /// Shows the menu below `button`, which opens and closes it. The preset called `name` is loaded.
    pub fn show(&mut self, button: &Response, name: &str, edits: &mut Edits) {
        if button.clicked() {
            edits.state.presets.refresh();
            *self = Self { name: name.to_owned(), question: None };
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
                    None => self.actions(ui, name, edits),
                }
            });
        });
    }

    /// The fields and buttons of all actions.
    fn actions(&mut self, ui: &mut Ui, name: &str, edits: &mut Edits) {
        let field = |ui: &mut Ui, text: &mut String, label: &str, hint: &str| {
            let caption = ui.label(RichText::new(label).color(theme::DIM));
            let field = TextEdit::singleline(text).hint_text(hint).desired_width(f32::INFINITY);
            ui.add(field).labelled_by(caption.id);
        };
        field(ui, &mut self.name, "Name", "a name");
        ui.horizontal(|ui| {
            if ui.button("Save as").clicked() {
                match edits.state.presets.taken(&self.name) {
                    Some(taken) => self.question = Some(Question::Replace(taken)),
                    None => edits.save(&self.name),
                }
            }
            let delete = Button::new(format!("Delete {name}")).truncate();
            if ui.add_enabled(edits.state.presets.is_user_s(name), delete).clicked() {
                self.question = Some(Question::Delete(name.to_owned()));
            }
        });
        ui.separator();
        field(ui, &mut edits.state.presets.path, "File", "/path/to/preset.json");
        ui.horizontal(|ui| {
            let is_named = !edits.state.presets.path.trim().is_empty();
            if ui.add_enabled(is_named, Button::new("Import")).clicked() {
                edits.import();
            }
            if ui.add_enabled(is_named, Button::new("Export")).clicked() {
                match edits.state.presets.file().exists() {
                    true => self.question = Some(Question::Overwrite),
                    false => edits.export(),
                }
            }
        });
    }

    /// Shows `question`, and runs its action once it is confirmed.
    fn ask(&mut self, ui: &mut Ui, question: &Question, edits: &mut Edits) {
        let presets = &edits.state.presets;
        let (text, verb) = match question {
            Question::Replace(name) => (format!("Replace your preset {name}?"), "Replace"),
            Question::Delete(name) => (format!("Delete your preset {name}?"), "Delete"),
            Question::Overwrite => (format!("Replace {}?", presets.file().display()), "Replace"),
        };
        ui.label(text);
        ui.label(RichText::new("This cannot be undone.").color(theme::DIM));
        // The escape key is for the question and not for the menu.
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
                Question::Overwrite => edits.export(),
            }
        }
    }
}
