//! Keyboard below the grid, with a key for each pitch class. The keys show and edit the scale or the custom map.

use super::{
    band_grid,
    controls::{focus_ring, menu},
    theme::{self, Scale},
};
use crate::session::Edits;
use egui::{Align2, CornerRadius, Rect, Response, Role, Sense, Stroke, Ui, WidgetInfo};
use tone_filter_dsp::{
    Map, PitchClass, Settings, Targets,
    notes::{PITCH_CLASSES, pitch_class},
};

pub fn height(scale: Scale) -> f32 {
    scale.line(11.0) + scale.length(10.5)
}

/// Shows one key for each column of `grid`. Keys of the scale are lit; with [`Map::Custom`], all keys are. A key whose notes sound
/// at another pitch class shows that pitch class.
///
/// A click toggles a key, and the scale becomes custom. With [`Map::Custom`], a click offers target pitch classes, and a drag to
/// another key makes that key the target.
pub fn show(ui: &mut Ui, area: Rect, grid: Rect, scale: Scale, edits: &mut Edits) {
    let settings = edits.params.chosen().settings;
    let keys = Keys { area, grid, scale, settings: &settings };
    for index in from_c() {
        let response = keys.show(ui, index, PITCH_CLASSES[index]);
        if settings.map == Map::Custom {
            keys.edit_target(ui, &response, index, edits);
        } else {
            if response.clicked() {
                let lit = keys.in_scale(index);
                let classes = settings.scale.pitch_classes(settings.root, settings.custom);
                edits.set_custom(classes.with(index, !lit));
            }
            response.on_hover_text("Click to add this note or to remove it");
        }
    }
}

/// Returns the pitch classes from C up.
fn from_c() -> impl Iterator<Item = usize> {
    (0..PITCH_CLASSES.len()).map(|step| (step + 3) % PITCH_CLASSES.len())
}

struct Keys<'a> {
    area: Rect,
    grid: Rect,
    scale: Scale,
    settings: &'a Settings,
}

impl Keys<'_> {
    fn place(&self, index: usize) -> Rect {
        Rect::from_x_y_ranges(band_grid::column(self.grid, index), self.area.y_range())
    }

    fn in_scale(&self, index: usize) -> bool {
        let Settings { scale, root, custom, .. } = *self.settings;
        scale.pitch_classes(root, custom).contains(index)
    }

    /// Returns the pitch class at which the notes of key `index` sound while no MIDI key is held.
    fn target(&self, index: usize) -> usize {
        match self.settings.map {
            Map::Custom => self.settings.targets.of(index).index(),
            _ => {
                let offsets = self.settings.offsets(0);
                let tone = (0..offsets.len()).filter(|tone| pitch_class(*tone) == index).nth(1);
                let offset = tone.map_or(0, |tone| i32::from(offsets[tone]));
                (index as i32 + offset).rem_euclid(PITCH_CLASSES.len() as i32) as usize
            }
        }
    }

    fn show(&self, ui: &Ui, index: usize, name: &str) -> Response {
        let (key, scale) = (self.place(index), self.scale);
        let custom = self.settings.map == Map::Custom;
        let (lit, target) = (custom || self.in_scale(index), self.target(index));
        let sense = if custom { Sense::click_and_drag() } else { Sense::click() };
        let response = ui.interact(key, ui.scope_id().with(("key", index)), sense);
        let moves = target != index;
        let target = PITCH_CLASSES[target];
        response.widget_info(|| {
            if custom {
                let label = format!("Note {name} sounds at {target}");
                WidgetInfo::labeled(Role::ComboBox, true, label)
            } else {
                let label = format!("Note {name} in the scale");
                WidgetInfo::selected(Role::CheckBox, true, lit, label)
            }
        });
        let (fill, text) = match (lit, name.ends_with('#')) {
            (true, sharp) => (theme::KEYS[usize::from(sharp)], theme::TEXT),
            (false, _) => (theme::SURFACE, theme::IDLE),
        };
        let fill = if response.hovered() { fill.lerp_to_gamma(*theme::TEXT, 0.15) } else { *fill };
        ui.painter().rect_filled(key, CornerRadius::same(scale.length(3.0) as u8), fill);
        let label = if moves { format!("{name} > {target}") } else { name.to_owned() };
        let text = match self.settings.idle("map") {
            Some(_) if custom && moves => theme::IDLE,
            None if custom && moves => theme::ACCENT,
            _ => text,
        };
        let (centre, font) = (key.center(), scale.font(11.0));
        theme::text(ui.painter(), centre, Align2::CENTER_CENTER, &label, font, text);
        focus_ring(ui, &response);
        response
    }

    fn edit_target(&self, ui: &Ui, response: &Response, index: usize, edits: &mut Edits) {
        let targets = self.settings.targets;
        let pointer = response.interact_pointer_pos();
        let over = pointer.and_then(|pointer| {
            (0..PITCH_CLASSES.len()).find(|other| {
                self.place(*other).x_range().contains(pointer.x)
                    && self.area.expand(self.area.height()).y_range().contains(pointer.y)
            })
        });
        if let Some(other) = over.filter(|_| response.dragged()) {
            let stroke = Stroke::new(2.0, theme::ACCENT);
            let ends = [self.place(index).center(), self.place(other).center()];
            ui.painter().line_segment(ends, stroke);
        }
        if let Some(other) = over.filter(|_| response.drag_stopped()) {
            edits.set_targets(targets.with(index, PitchClass::new(other)));
        }
        menu(response, |ui| {
            for other in from_c() {
                let chosen = targets.of(index).index() == other;
                if ui.selectable_label(chosen, PITCH_CLASSES[other]).clicked() && !chosen {
                    edits.set_targets(targets.with(index, PitchClass::new(other)));
                }
            }
            ui.separator();
            let all = format!("All to {}", PITCH_CLASSES[index]);
            if ui.button(all).clicked() {
                let all = |targets: Targets, class| targets.with(class, PitchClass::new(index));
                edits.set_targets((0..PITCH_CLASSES.len()).fold(targets, all));
            }
            if ui.button("Each to itself").clicked() {
                edits.set_targets(Targets::IDENTITY);
            }
        });
        let tip = "Drag to the note at which this one is to sound, or click to choose it";
        response.clone().on_hover_text(tip);
    }
}
