//! The menu of preset files: saving, deleting, importing and exporting.

use super::theme;
use crate::session::{Edits, Question, Sound};
use egui::{
    Button, Key, Modifiers, Popup, PopupCloseBehavior, Response, RichText, ScrollArea, TextEdit, Ui,
};

/// The width of the menu in points.
const WIDTH: f32 = 260.0;

/// Shows the menu below `button`, which opens and closes it. The preset called `name` is loaded.
pub fn show(button: &Response, name: &str, edits: &mut Edits) {
    if button.clicked() {
        let presets = &mut edits.session.presets;
        presets.refresh();
        name.clone_into(&mut presets.name);
        presets.question = None;
    }
    let popup = Popup::from_toggle_button_response(button);
    popup.close_behavior(PopupCloseBehavior::CloseOnClickOutside).show(|ui| {
        ui.set_width(WIDTH);
        let room = theme::room_below(ui, button);
        ui.set_max_height(room);
        theme::raise(ui);
        ScrollArea::vertical().min_scrolled_height(0.0).max_height(room).show(ui, |ui| match edits
            .session
            .presets
            .question
            .clone()
        {
            Some(question) => ask(ui, &question, name, edits),
            None => actions(ui, name, edits),
        });
    });
}

/// The fields and buttons of all actions.
fn actions(ui: &mut Ui, name: &str, edits: &mut Edits) {
    let presets = &mut edits.session.presets;
    let field = |ui: &mut Ui, text: &mut String, label: &str, hint: &str| {
        let caption = ui.label(RichText::new(label).color(theme::DIM));
        let field = TextEdit::singleline(text).hint_text(hint).desired_width(f32::INFINITY);
        ui.add(field).labelled_by(caption.id);
    };
    field(ui, &mut presets.name, "Name", "a name");
    ui.horizontal(|ui| {
        if ui.button("Save as").clicked() {
            match edits.session.presets.taken() {
                Some(taken) => edits.session.presets.question = Some(Question::Replace(taken)),
                None => save(edits),
            }
        }
        let presets = &mut edits.session.presets;
        let delete = Button::new(format!("Delete {name}")).truncate();
        if ui.add_enabled(presets.is_user_s(name), delete).clicked() {
            presets.question = Some(Question::Delete(name.to_owned()));
        }
    });
    ui.separator();
    field(ui, &mut edits.session.presets.path, "File", "/path/to/preset.json");
    ui.horizontal(|ui| {
        let is_named = !edits.session.presets.path.trim().is_empty();
        if ui.add_enabled(is_named, Button::new("Import")).clicked()
            && let Some(preset) = edits.session.presets.import()
        {
            edits.use_preset(preset.name, &preset.settings);
        }
        if ui.add_enabled(is_named, Button::new("Export")).clicked() {
            match edits.session.presets.file().exists() {
                true => edits.session.presets.question = Some(Question::Overwrite),
                false => export(name, edits),
            }
        }
    });
}

/// Asks `question`, and does what it is about if the answer is yes.
fn ask(ui: &mut Ui, question: &Question, name: &str, edits: &mut Edits) {
    let presets = &edits.session.presets;
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
        edits.session.presets.question = None;
    }
    if confirmed {
        match question {
            Question::Replace(_) => save(edits),
            Question::Delete(name) => edits.session.presets.delete(name),
            Question::Overwrite => export(name, edits),
        }
    }
}

/// Saves the sound as a preset.
fn save(edits: &mut Edits) {
    if let Some(preset) = edits.session.presets.save(edits.params.chosen().settings) {
        let sound = edits.sound();
        edits.change_to("preset", Sound { preset, ..sound });
    }
}

/// Writes the sound to a file.
fn export(name: &str, edits: &mut Edits) {
    edits.session.presets.export(name, edits.params.chosen().settings);
}
