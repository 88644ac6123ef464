//! List of all presets: a search field, switches for the settings that loading a preset keeps, and the presets found, by
//! category. The arrow keys audition presets. Enter or a click anywhere keeps the current preset; Escape restores the earlier
//! sound.

use super::{
    controls::focus_ring,
    theme::{self, Scale},
};
use crate::session::{Amount, Edits};
use egui::{
    Align, Button, Key, Layout, Modifiers, Popup, PopupCloseBehavior, Response, RichText, Role,
    ScrollArea, Sense, Shape, Stroke, TextEdit, Ui, Vec2, WidgetInfo, vec2,
};
use tone_filter_presets::folded;

/// Width of the list in points, at the default size of the window.
const WIDTH: f32 = 270.0;

#[derive(Default)]
pub struct PresetBrowser {
    search: String,
    /// Name of the preset that the arrow keys have selected.
    marked: String,
    /// Whether the list was just opened, and the search field still needs the focus.
    opened: bool,
    /// Whether the list still has to scroll to the marked preset.
    scroll: bool,
}

impl PresetBrowser {
    /// Shows the list below `button`, which opens and closes it. `current` is the name of the loaded preset.
    pub fn show(
        &mut self,
        ui: &Ui,
        button: &Response,
        scale: Scale,
        current: &str,
        edits: &mut Edits,
    ) {
        let field = button.id.with("search");
        if button.clicked() {
            edits.state.presets.refresh();
            let marked = current.to_owned();
            *self = Self { search: String::new(), marked, opened: true, scroll: true };
        }
        let width = scale.length(WIDTH).max(200.0);
        let popup = Popup::from_toggle_button_response(button)
            .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
            .layout(Layout::top_down_justified(Align::Min));
        let shown = popup.show(|ui| {
            ui.set_width(width);
            let room = theme::room_below(ui, button) + ui.cursor().top();
            ui.set_max_height(theme::room_below(ui, button));
            theme::raise(ui);
            let presses =
                |key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
            let (mut steps, mut enter) = (0, false);
            if ui.memory(|memory| memory.has_focus(field)) {
                steps = presses(Key::ArrowDown) as isize - presses(Key::ArrowUp) as isize;
                enter = presses(Key::Enter) > 0;
            }
            let typed = self.show_search(ui, field);
            ui.add_space(2.0);
            keep(ui, edits);
            randomise(ui, edits);
            ui.separator();

            let found = edits.state.presets.search(&self.search);
            let names = found.iter().flat_map(|(_, entries)| entries).map(|entry| &entry.name);
            let names: Vec<&String> = names.collect();
            if typed || steps != 0 || !names.contains(&&self.marked) {
                let wanted = folded(self.search.trim());
                let now = names.iter().position(|name| match typed {
                    // A preset whose name contains the text is the best guess.
                    true => folded(name).contains(&wanted),
                    false => **name == self.marked,
                });
                let next =
                    now.unwrap_or(0).saturating_add_signed(steps).min(names.len().max(1) - 1);
                self.marked = names.get(next).map_or_else(String::new, |name| (*name).clone());
                self.scroll = true;
            }
            if steps != 0 && !names.is_empty() {
                edits.audition(&self.marked);
            }

            let mut picked = (enter && !names.is_empty()).then(|| self.marked.clone());
            let mut described = self.marked.clone();
            let lines = 2.0 * scale.line(12.0);
            let height = room - ui.cursor().top() - lines - 3.0 * ui.spacing().item_spacing.y;
            ScrollArea::vertical()
                .min_scrolled_height(0.0)
                .max_height(height)
                .animated(false)
                .show(ui, |ui| {
                    for (title, entries) in &found {
                        let title = ui.label(RichText::new(title).color(theme::DIM));
                        for (index, entry) in entries.iter().enumerate() {
                            let colour =
                                if entry.name == current { theme::ACCENT } else { theme::TEXT };
                            let text = RichText::new(&entry.name).color(colour);
                            let marked = entry.name == self.marked;
                            let row = ui.horizontal(|ui| {
                                if star(ui, &entry.name, edits) {
                                    ui.memory_mut(|memory| memory.request_focus(field));
                                }
                                let rest = Layout::top_down_justified(Align::Min);
                                ui.with_layout(rest, |ui| ui.selectable_label(marked, text)).inner
                            });
                            let row = row.inner;
                            if marked && self.scroll && !ui.is_sizing_pass() {
                                // The first preset of a group is shown with the group's title.
                                let above = if index == 0 { title.rect } else { row.rect };
                                ui.scroll_to_rect(row.rect.union(above), Some(Align::Center));
                                self.scroll = false;
                            }
                            if row.hovered() || row.has_focus() {
                                described.clone_from(&entry.name);
                            }
                            if row.clicked() {
                                picked = Some(entry.name.clone());
                            }
                        }
                    }
                    if names.is_empty() {
                        ui.label(RichText::new("No preset is found").color(theme::DIM));
                    }
                });
            ui.separator();
            // The description keeps its room when it is empty, so that nothing moves.
            ui.allocate_ui_with_layout(vec2(width, lines), Layout::top_down(Align::Min), |ui| {
                ui.set_min_height(lines);
                let mut entries = found.iter().flat_map(|(_, entries)| entries);
                let entry = entries.find(|entry| entry.name == described);
                let text = entry.map_or("", |entry| &entry.description);
                ui.label(RichText::new(text).color(theme::DIM));
            });

            if let Some(name) = picked {
                edits.load(&name);
                ui.close();
                if enter {
                    button.request_focus();
                }
            }
        });
        if shown.is_none() {
            edits.keep_audition();
        } else if ui.input(|input| input.key_pressed(Key::Escape)) {
            edits.cancel_audition();
            button.request_focus();
        }
    }

    /// Shows the search field. Returns whether its text has changed.
    fn show_search(&mut self, ui: &mut Ui, field: egui::Id) -> bool {
        let hint = "Search names, tags, descriptions";
        let field = TextEdit::singleline(&mut self.search)
            .id(field)
            .hint_text(hint)
            .desired_width(f32::INFINITY);
        let response = ui.add(field);
        // A widget that is not painted yet cannot get the focus.
        if self.opened && !ui.is_sizing_pass() {
            response.request_focus();
            // The field receives the arrow keys from the next frame on.
            ui.ctx().request_repaint();
            self.opened = false;
        }
        response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Search presets"));
        response.changed()
    }
}

/// Shows the star of the preset called `name`, filled for a favourite; a click toggles it. Returns whether it was clicked.
fn star(ui: &mut Ui, name: &str, edits: &mut Edits) -> bool {
    let side = ui.text_style_height(&egui::TextStyle::Body);
    let (place, response) = ui.allocate_exact_size(Vec2::splat(side), Sense::click());
    if response.clicked() {
        edits.state.presets.toggle_favourite(name);
    }
    let on = edits.state.presets.is_favourite(name);
    let label = format!("Favourite: {name}");
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, on, &label));
    let corner = |tenth: usize| {
        let radius = side * if tenth.is_multiple_of(2) { 0.42 } else { 0.18 };
        place.center() + radius * Vec2::angled(std::f32::consts::TAU * (tenth as f32 / 10.0 - 0.25))
    };
    if on {
        for point in (0..10).step_by(2) {
            let kite = [corner(point + 9), corner(point), corner(point + 1), place.center()];
            let shape = Shape::convex_polygon(kite.to_vec(), theme::ACCENT, Stroke::NONE);
            ui.painter().add(shape);
        }
    } else {
        let colour = if response.hovered() { theme::TEXT } else { theme::DIM };
        let outline = (0..10).map(corner).collect();
        ui.painter().add(Shape::closed_line(outline, Stroke::new(1.0, colour)));
    }
    focus_ring(ui, &response);
    response.on_hover_text("Marks a favourite, which is listed first").clicked()
}

fn keep(ui: &mut Ui, edits: &mut Edits) {
    let mut keep = edits.params.keep.load();
    ui.horizontal(|ui| {
        for (on, label, tip) in [
            (&mut keep.scale, "Keep scale", "Presets do not change Root and Scale"),
            (&mut keep.tuning, "Keep tuning", "Presets do not change Tuning and Transpose"),
        ] {
            let response = ui.add(Button::selectable(*on, label).frame_when_inactive(true));
            if response.clicked() {
                *on = !*on;
            }
            response.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, *on, label));
            response.on_hover_text(tip);
        }
    });
    edits.set_keep(keep);
}

fn randomise(ui: &mut Ui, edits: &mut Edits) {
    ui.horizontal(|ui| {
        ui.label("Randomise");
        for (amount, text, label, tip) in [
            (Amount::Slight, "Slightly", "Randomise slightly", "Varies the sound a little"),
            (Amount::Full, "Fully", "Randomise fully", "A random sound at the same Mix and Output"),
        ] {
            let response = ui.button(text);
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, label));
            if response.clicked() {
                edits.randomise(amount);
            }
            response.on_hover_text(tip);
        }
    });
}
