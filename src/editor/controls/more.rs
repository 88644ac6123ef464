//! Groups of settings that are shown on demand, and the button that opens them.

use super::{NORMAL, focus_ring, row, show as control};
use crate::{
    editor::theme::{self, Scale},
    session::Edits,
};
use egui::{Align2, CornerRadius, Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};
use tone_filter_dsp::Group;

/// Minimum number of rows. A group with more controls than rows takes further columns.
const FEWEST_ROWS: usize = 2;

/// Returns two gaps in points: between the columns of a group, and between groups.
fn gaps(scale: Scale) -> [f32; 2] {
    [scale.length(14.0).max(6.0), scale.length(22.0).max(9.0)]
}

/// Layout of the groups side by side: columns of equal width, in as few rows as the width of the window allows.
struct Columns {
    rows: usize,
    width: f32,
    gaps: [f32; 2],
}

impl Columns {
    /// Lays the groups out in an area of `width` points.
    fn new(width: f32, scale: Scale) -> Self {
        let [inner, outer] = gaps(scale);
        let least = scale.length(104.0).max(48.0);
        let longest = Group::MORE.iter().map(|group| group.ids().len()).max().unwrap_or(1);
        let at = |rows: usize| {
            let columns: usize =
                Group::MORE.iter().map(|group| group.ids().len().div_ceil(rows)).sum();
            let gaps = inner * (columns - Group::MORE.len()) as f32
                + outer * (Group::MORE.len() - 1) as f32;
            Self { rows, width: (width - gaps) / columns as f32, gaps: [inner, outer] }
        };
        let fits = (FEWEST_ROWS..longest).map(at).find(|columns| columns.width >= least);
        fits.unwrap_or_else(|| at(longest))
    }

    /// Returns the width of `group` in points, with all its columns.
    fn of(&self, group: Group) -> f32 {
        let columns = group.ids().len().div_ceil(self.rows) as f32;
        columns * (self.width + self.gaps[0]) - self.gaps[0]
    }
}

/// Returns the height in points of the line with a group's name.
fn heading(scale: Scale) -> f32 {
    scale.line(11.0) + scale.length(6.0).max(3.0)
}

/// Returns the height in points that [`show`] needs in an area of `width` points.
pub fn height(width: f32, scale: Scale) -> f32 {
    heading(scale) + Columns::new(width, scale).rows as f32 * row(scale)
}

/// Shows the groups in `area`, which may be higher than they need.
pub fn show(ui: &mut Ui, area: Rect, scale: Scale, edits: &mut Edits) {
    let columns = Columns::new(area.width(), scale);
    let room = (area.height() - heading(scale)) / columns.rows as f32;
    let row = room.clamp(row(scale), 1.5 * row(scale));
    let mut left = area.left();
    for group in Group::MORE {
        let size = vec2(columns.of(group), heading(scale));
        let title = Rect::from_min_size(pos2(left, area.top()), size);
        let (painter, text) = (ui.painter(), group.name().to_uppercase());
        let font = scale.font(11.0);
        theme::text(painter, title.left_top(), Align2::LEFT_TOP, &text, font, theme::DIM);
        let line = title.top() + scale.line(11.0);
        painter.hline(title.x_range(), line, Stroke::new(1.0, theme::LINE));
        for (index, id) in group.ids().iter().enumerate() {
            let (column, line) = (index / columns.rows, index % columns.rows);
            let pitch = vec2(columns.width + columns.gaps[0], row);
            let corner = title.left_bottom() + pitch * vec2(column as f32, line as f32);
            let cell = Rect::from_min_size(corner, vec2(columns.width, row));
            control(ui, cell, scale, NORMAL, id, edits);
        }
        left += size.x + columns.gaps[1];
    }
}

pub(super) fn button_width(scale: Scale) -> f32 {
    4.2 * scale.font(12.0).size + scale.length(20.0).max(6.0)
}

/// Shows the button that opens and closes the groups.
pub(super) fn button(ui: &mut Ui, place: Rect, scale: Scale, edits: &Edits) {
    let open = edits.params.editor_more.load();
    let response = ui.interact(place, ui.scope_id().with("more"), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, open, "More settings"));
    let fill = if open || response.hovered() { theme::LINE } else { theme::SURFACE };
    ui.painter().rect_filled(place, CornerRadius::same(scale.length(4.0) as u8), fill);
    let font = scale.font(12.0);
    let side = 0.3 * font.size;
    let centre = place.center() - vec2(1.5 * side, 0.0);
    let text = theme::text(ui.painter(), centre, Align2::CENTER_CENTER, "More", font, theme::TEXT);
    // The arrow points down to the groups, or up once they are open.
    let tip = if open { -0.6 * side } else { 0.6 * side };
    let middle = text.right_center() + vec2(2.5 * side, 0.0);
    let corners = [vec2(-side, -tip), vec2(side, -tip), vec2(0.0, tip)];
    let points = corners.map(|corner| middle + corner).to_vec();
    ui.painter().add(Shape::convex_polygon(points, theme::TEXT, Stroke::NONE));
    focus_ring(ui, &response);
    let verb = if open { "Hides" } else { "Shows" };
    if response.on_hover_text(format!("{verb} all other settings")).clicked() {
        edits.params.editor_more.store(!open);
    }
}
