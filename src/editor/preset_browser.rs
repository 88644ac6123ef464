//! Panel of all presets beside the bands, with a search field, categories, and switches for the settings that presets keep. The
//! arrow keys audition presets; Enter and closing the panel keep the current one, Escape restores the earlier sound.

use super::{
    controls::{focus_ring, toggle},
    theme::{self, Scale},
};
use crate::session::{Amount, Edits};
use egui::{
    Align, Id, Key, Layout, Modifiers, Popup, Rect, RichText, Role, ScrollArea, Sense, Shape,
    Stroke, StrokeKind, TextEdit, Ui, UiBuilder, Vec2, WidgetInfo,
    scroll_area::ScrollBarVisibility, vec2,
};
use plugin_guard::PresetInfo;
use tone_filter_presets::folded;

#[derive(Default)]
pub struct PresetBrowser {
    /// `None` while the panel is closed.
    open: Option<Open>,
    /// Button that opens and closes the panel.
    pub button: Option<Id>,
}

#[derive(Default)]
struct Open {
    search: String,
    /// Title of the group of presets that the list is limited to; `None` for all groups.
    category: Option<String>,
    /// Name of the selected preset in the list, which Enter loads; empty if none is found.
    marked: String,
    /// Whether the search field must get the focus.
    is_new: bool,
    /// Whether the list must scroll to the marked preset.
    scroll: bool,
}

pub fn width(scale: Scale) -> f32 {
    scale.length(330.0).max(240.0)
}

/// Returns a child of `ui` in `area`, clipped to it, with a layout from top to bottom.
fn part(ui: &mut Ui, area: Rect, name: &str) -> Ui {
    let layout = Layout::top_down_justified(Align::Min);
    let mut part = ui.new_child(UiBuilder::new().max_rect(area).layout(layout).id_salt(name));
    part.set_clip_rect(area.intersect(ui.clip_rect()));
    part
}

fn scroll_area() -> ScrollArea {
    let visible = ScrollBarVisibility::VisibleWhenNeeded;
    let area = ScrollArea::vertical().scroll_bar_visibility(visible);
    area.min_scrolled_height(0.0).auto_shrink(false).animated(false)
}

impl PresetBrowser {
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Opens the panel at the preset called `current`, or closes it and keeps the auditioned preset.
    pub fn toggle(&mut self, current: &str, edits: &mut Edits) {
        if self.open.take().is_some() {
            edits.keep_audition();
        } else {
            edits.state.presets.refresh();
            let marked = current.to_owned();
            self.open = Some(Open { marked, is_new: true, scroll: true, ..Open::default() });
        }
    }

    pub fn show(&mut self, ui: &mut Ui, area: Rect, scale: Scale, edits: &mut Edits) {
        let Some(open) = &mut self.open else { return };
        let line = Stroke::new(1.0, theme::LINE);
        ui.painter().rect_stroke(area, scale.length(4.0), line, StrokeKind::Inside);
        let mut ui = part(ui, area.shrink(scale.length(8.0).max(4.0)), "browser");
        theme::raise(&mut ui);
        ui.visuals_mut().widgets.inactive.weak_bg_fill = *theme::SURFACE;
        ui.visuals_mut().text_edit_bg_color = Some(*theme::SURFACE);
        let cancelled = !Popup::is_any_open(ui.ctx())
            && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
        let entered = open.show(&mut ui, scale, edits);
        if cancelled {
            edits.cancel_audition();
        }
        if cancelled || entered {
            self.open = None;
            if let Some(button) = self.button {
                ui.memory_mut(|memory| memory.request_focus(button));
            }
        }
    }
}

impl Open {
    /// Shows the panel. Returns whether Enter has loaded a preset.
    fn show(&mut self, ui: &mut Ui, scale: Scale, edits: &mut Edits) -> bool {
        let field = ui.scope_id().with("search");
        let presses = |key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
        let (mut steps, mut enter) = (0, false);
        if ui.memory(|memory| memory.has_focus(field)) {
            steps = presses(Key::ArrowDown) as isize - presses(Key::ArrowUp) as isize;
            enter = presses(Key::Enter) > 0;
        }
        let typed = self.show_search(ui, field);
        ui.add_space(2.0);
        ui.horizontal_wrapped(|ui| {
            keep(ui, scale, edits);
            randomise(ui, edits);
        });
        ui.separator();
        // The description keeps its room when it is empty, so that nothing moves.
        let rest = ui.available_rect_before_wrap();
        let (lists, foot) = rest.split_top_bottom_at_y(rest.bottom() - 2.0 * scale.line(12.0));
        let edge = lists.left() + 7.5 * scale.font(12.0).size;
        let (categories, list) = lists.split_left_right_at_x(edge);
        let list = list.with_min_x(edge + scale.length(8.0));
        self.show_categories(&mut part(ui, categories, "categories"), edits);

        let mut found = edits.state.presets.search(&self.search);
        found.retain(|(title, _)| self.category.as_ref().is_none_or(|category| category == title));
        let names = found.iter().flat_map(|(_, entries)| entries).map(|entry| &entry.name);
        let names: Vec<&String> = names.collect();
        if typed || steps != 0 || !names.contains(&&self.marked) {
            let wanted = folded(self.search.trim());
            let now = names.iter().position(|name| match typed {
                // A preset whose name contains the typed text is the best guess.
                true => folded(name).contains(&wanted),
                false => **name == self.marked,
            });
            let next = now.unwrap_or(0).saturating_add_signed(steps).min(names.len().max(1) - 1);
            self.marked = names.get(next).map_or_else(String::new, |name| (*name).clone());
            self.scroll = true;
        }
        if steps != 0 && !names.is_empty() {
            edits.audition(&self.marked);
        }
        let entered = enter && !names.is_empty();
        let list = &mut part(ui, list.with_max_y(list.bottom() - 4.0), "presets");
        let described = self.show_list(list, &found, field, edits);
        let mut entries = found.iter().flat_map(|(_, entries)| entries);
        let text = entries.find(|entry| entry.name == described).map(|entry| &entry.description);
        let text = RichText::new(text.map_or("", String::as_str)).color(theme::DIM);
        part(ui, foot, "description")
            .with_layout(Layout::top_down(Align::Min), |ui| ui.label(text));
        if entered {
            edits.load(&self.marked);
        }
        entered
    }

    fn show_categories(&mut self, ui: &mut Ui, edits: &Edits) {
        let titles = edits.state.presets.search("").into_iter().map(|(title, _)| Some(title));
        scroll_area().show(ui, |ui| {
            for category in std::iter::once(None).chain(titles) {
                let text = category.as_deref().unwrap_or("All");
                let on = self.category == category;
                let response = ui.selectable_label(on, text);
                let label = format!("Category: {text}");
                response.widget_info(|| WidgetInfo::selected(Role::RadioButton, true, on, &label));
                if response.clicked() {
                    self.category = category;
                }
            }
        });
    }

    /// Shows the presets `found`; a click loads one. Returns the name of the preset to describe: the one under the pointer or
    /// with the focus, or else the marked one.
    fn show_list(
        &mut self,
        ui: &mut Ui,
        found: &[(String, Vec<PresetInfo>)],
        field: Id,
        edits: &mut Edits,
    ) -> String {
        let (current, mut described) = (edits.preset(), self.marked.clone());
        scroll_area().show(ui, |ui| {
            for (title, entries) in found {
                let title = ui.label(RichText::new(title).color(theme::DIM));
                for (index, entry) in entries.iter().enumerate() {
                    let colour = if entry.name == current { theme::ACCENT } else { theme::TEXT };
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
                    if marked && self.scroll {
                        // The first preset of a group is shown with the group's title.
                        let above = if index == 0 { title.rect } else { row.rect };
                        ui.scroll_to_rect(row.rect.union(above), Some(Align::Center));
                        self.scroll = false;
                    }
                    if row.hovered() || row.has_focus() {
                        described.clone_from(&entry.name);
                    }
                    if row.clicked() {
                        self.marked.clone_from(&entry.name);
                        edits.load(&entry.name);
                    }
                }
            }
            if found.is_empty() {
                ui.label(RichText::new("No preset is found").color(theme::DIM));
            }
        });
        described
    }

    /// Shows the search field. Returns whether its text has changed.
    fn show_search(&mut self, ui: &mut Ui, field: Id) -> bool {
        let hint = "Search names, tags, descriptions";
        let edit = TextEdit::singleline(&mut self.search).id(field).hint_text(hint);
        let response = ui.add(edit.desired_width(f32::INFINITY));
        if self.is_new {
            response.request_focus();
            // Requests a second frame, from which on the field receives the arrow keys.
            ui.ctx().request_repaint();
            self.is_new = false;
        }
        response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Search presets"));
        response.changed()
    }
}

/// Shows a star that toggles whether the preset called `name` is a favourite. Returns whether it was clicked.
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
            let shape = Shape::convex_polygon(kite.to_vec(), *theme::ACCENT, Stroke::NONE);
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

fn keep(ui: &mut Ui, scale: Scale, edits: &mut Edits) {
    let mut keep = edits.params.keep.load();
    for (on, label, tip) in [
        (&mut keep.scale, "Keep scale", "Presets do not change Root and Scale"),
        (&mut keep.tuning, "Keep tuning", "Presets do not change Tuning and Transpose"),
    ] {
        let size = vec2(5.8 * scale.font(12.0).size, ui.spacing().interact_size.y);
        let (place, _) = ui.allocate_exact_size(size, Sense::hover());
        let id = ui.scope_id().with(label);
        let response = toggle(ui, place, scale, id, (label, label), *on, false);
        *on ^= response.on_hover_text(tip).clicked();
    }
    edits.set_keep(keep);
}

fn randomise(ui: &mut Ui, edits: &mut Edits) {
    for (amount, text, tip) in [
        (Amount::Slight, "Randomise slightly", "Varies the sound a little"),
        (Amount::Full, "Randomise fully", "A random sound at the same Mix and Output"),
    ] {
        if ui.button(text).on_hover_text(tip).clicked() {
            edits.randomise(amount);
        }
    }
}
