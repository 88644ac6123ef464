//! Line at the lower edge: scale, range, map, and the legend of the cells' marks.

use super::{
    band_grid, controls,
    host::{indication_text, paint_indication},
    theme::{self, Scale},
};
use crate::{params::Control, session::Edits};
use egui::{Align2, Rect, Ui, Vec2, vec2};
use tone_filter_dsp::{BandState, Group};

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
            let indication = edits.indication(id);
            paint_indication(&indication, ui, caption.left_center(), scale);
            let remark = controls::Remark::of(id, &params.chosen());
            let tip = remark.tip(param.choice.help, &indication_text(&indication));
            controls::list(ui, place, scale, param, &tip, remark.shade(theme::TEXT), edits);
        }
        left += width + scale.length(16.0).max(8.0);
    }
    area.with_min_x(left)
}

/// Shows the legend of colours and marks at the right of `area`, with as many entries as fit.
pub fn legend(ui: &Ui, area: Rect, scale: Scale) {
    let painter = ui.painter();
    let mut right = area.right_center();
    for state in
        [Some(BandState::Saturated), Some(BandState::Sounding), Some(BandState::Inactive), None]
    {
        let label = state.map_or("Muted", BandState::name);
        let font = scale.font(11.0);
        let radius = 0.3 * font.size;
        let width = painter.layout_no_wrap(label.into(), font.clone(), theme::DIM).size().x;
        if right.x - width - 3.0 * radius < area.left() {
            break;
        }
        let text = theme::text(painter, right, Align2::RIGHT_CENTER, label, font, theme::DIM);
        right = text.left_center() - Vec2::X * 2.0 * radius;
        match state {
            Some(state) => band_grid::paint_marker(painter, right, radius, state, 1.0),
            None => band_grid::paint_cross(painter, right, 0.8 * radius),
        }
        right.x -= scale.length(18.0).max(8.0);
    }
}
