//! Line below the keyboard: root, scale, range, map, and the legend of the cells' marks.

use super::{
    band_grid, controls,
    theme::{self, Scale},
};
use crate::{params::Control, session::Edits};
use egui::{Align2, Pos2, Rect, Sense, Ui, Vec2, vec2};
use tone_filter_dsp::{BandState, Group};

/// Tooltip text of Range about the cost of the notes below A3, as measured in `docs/performance.md`.
const COST: &str = " From E1 takes about 10 % more CPU time.";

pub fn height(scale: Scale) -> f32 {
    scale.line(12.0) + scale.length(9.0).max(4.0)
}

/// Shows root, scale, range and map at the left of `area`. Returns the remaining area.
pub fn show(ui: &mut Ui, area: Rect, scale: Scale, edits: &mut Edits) -> Rect {
    let params = edits.params;
    let mut left = area.left();
    for id in Group::Scale.ids() {
        let (name, chars) = match *id {
            "root" => ("Root", 3.2),
            "scale" => ("Scale", 9.5),
            "range" => ("Range", 5.5),
            _ => ("Map", 5.5),
        };
        let width = chars * scale.font(12.0).size + ui.spacing().icon_width;
        let font = scale.font(12.0);
        let at = egui::pos2(left, area.center().y);
        let caption = theme::text(ui.painter(), at, Align2::LEFT_CENTER, name, font, theme::DIM);
        left = caption.right() + scale.length(8.0).max(4.0);
        let place = Rect::from_min_size(egui::pos2(left, area.top()), vec2(width, area.height()));
        if let Some(Control::Choice(param)) = params.control(id) {
            let remark = controls::Remark::of(id, edits);
            remark.paint(ui, caption.left_center(), scale);
            let cost = if *id == "range" { COST } else { "" };
            let tip = remark.tip(&format!("{}{cost}", param.choice.help));
            controls::list(ui, place, scale, param, &tip, remark.shade(theme::TEXT), edits);
        }
        left += width + scale.length(16.0).max(8.0);
    }
    area.with_min_x(left)
}

/// States in the legend; `None` for a muted band.
const LEGEND: [Option<BandState>; 4] =
    [None, Some(BandState::Inactive), Some(BandState::Sounding), Some(BandState::Saturated)];

/// Shows the legend at the right of `area`. If there is too little room, or if it `has_more` to show, shows a button that opens the
/// legend below the entries that `more` shows.
pub fn legend(ui: &Ui, area: Rect, scale: Scale, more: impl FnOnce(&mut Ui), has_more: bool) {
    let (font, space) = (scale.font(11.0), scale.length(18.0).max(8.0));
    let names = LEGEND.map(|state| state.map_or("Muted", BandState::name));
    let width = |name| 1.2 * font.size + theme::text_width(ui, name, font.clone()) + space;
    let widths = names.map(width);
    let mut left = area.right() + space - widths.iter().sum::<f32>();
    if left >= area.left() && !has_more {
        for ((state, name), width) in LEGEND.iter().zip(names).zip(widths) {
            let at = egui::pos2(left, area.center().y);
            paint_mark(ui, at, font.size, *state);
            let (at, font) = (at + Vec2::X * 1.2 * font.size, font.clone());
            theme::text(ui.painter(), at, Align2::LEFT_CENTER, name, font, theme::DIM);
            left += width;
        }
        return;
    }
    let place = area.with_min_x(area.right() - area.height());
    let response = controls::button(ui, place, scale, "Tempo, key, marks", "?", true);
    controls::menu(&response, |ui| {
        more(ui);
        for (state, name) in LEGEND.iter().zip(names) {
            ui.horizontal(|ui| {
                let size = Vec2::splat(1.2 * font.size);
                let (mark, _) = ui.allocate_exact_size(size, Sense::hover());
                paint_mark(ui, mark.left_center(), font.size, *state);
                ui.label(name);
            });
        }
    });
}

/// Paints the mark of `state` right of `at`; for `None`, the cross of a muted band. `size` is the font size of the text beside
/// it.
fn paint_mark(ui: &Ui, at: Pos2, size: f32, state: Option<BandState>) {
    let centre = at + Vec2::X * 0.4 * size;
    match state {
        Some(state) => band_grid::paint_marker(ui.painter(), centre, 0.3 * size, state, 1.0),
        None => band_grid::paint_cross(ui.painter(), centre, 0.24 * size),
    }
}
