//! The part More: groups of settings that are shown on demand.

use super::{NORMAL, row, show as control};
use crate::{
    editor::theme::{self, Scale},
    session::Edits,
};
use egui::{
    Align2, Rect, ScrollArea, Sense, Stroke, Ui, UiBuilder, containers::scroll_area::ScrollSource,
    pos2, vec2,
};
use tone_filter_dsp::Group;

/// Maximum number of controls in a column of a group. A group with more controls has further columns.
const ROWS: usize = 4;

/// Space for the scroll bar in points.
const SCROLL_BAR: f32 = 12.0;

fn columns(groups: &[Group]) -> usize {
    groups.iter().map(|group| group.ids().len().div_ceil(ROWS)).sum()
}

/// Layout of the groups: lines one below the other, each with as many groups as fit. The order is fixed.
struct Lines {
    lines: Vec<&'static [Group]>,
    /// Width of a column in points.
    width: f32,
    /// Gaps in points: first between the columns of a group, then between groups.
    gaps: [f32; 2],
}

impl Lines {
    fn new(width: f32, scale: Scale) -> Self {
        let [inner, outer] = [scale.length(8.0).max(6.0), scale.length(14.0).max(8.0)];
        // Wide enough for each name with its longest value and unit.
        let least = 8.6 * scale.font(12.0).size;
        let column = |groups: &[Group]| {
            let (columns, groups) = (columns(groups) as f32, groups.len() as f32);
            (width - inner * (columns - groups) - outer * (groups - 1.0)) / columns
        };
        let (mut lines, mut rest) = (Vec::new(), &Group::MORE[..]);
        while !rest.is_empty() {
            let fits = (1..=rest.len()).rev().find(|&count| column(&rest[..count]) >= least);
            let (line, below) = rest.split_at(fits.unwrap_or(1));
            lines.push(line);
            rest = below;
        }
        let width = lines.iter().map(|line| column(line)).fold(f32::INFINITY, f32::min);
        Self { lines, width, gaps: [inner, outer] }
    }

    /// Returns the width of `group` in points.
    fn of(&self, group: Group) -> f32 {
        columns(&[group]) as f32 * (self.width + self.gaps[0]) - self.gaps[0]
    }

    fn height(&self, scale: Scale) -> f32 {
        self.lines.len() as f32 * line(scale)
    }
}

/// Returns the height of a group's name in points.
fn heading(scale: Scale) -> f32 {
    scale.line(11.0) + scale.length(6.0).max(3.0)
}

/// Returns the height of a line of groups in points.
fn line(scale: Scale) -> f32 {
    heading(scale) + ROWS as f32 * row(scale)
}

/// Returns the height in points that [`show`] needs in an area of `width` points.
pub fn height(width: f32, scale: Scale) -> f32 {
    Lines::new(width, scale).height(scale)
}

/// Shows the groups, with a scroll bar if `area` is too low.
pub fn show(ui: &mut Ui, area: Rect, scale: Scale, edits: &mut Edits) {
    let mut lines = Lines::new(area.width(), scale);
    if lines.height(scale) > area.height() + 0.5 {
        lines = Lines::new(area.width() - SCROLL_BAR, scale);
    }
    let mut ui = ui.new_child(UiBuilder::new().max_rect(area).id_salt("more"));
    // Only the bar scrolls, as the wheel moves the sliders.
    let scroll = ScrollArea::vertical().scroll_source(ScrollSource::SCROLL_BAR);
    scroll.auto_shrink(false).animated(false).show(&mut ui, |ui| {
        let size = vec2(ui.available_width(), lines.height(scale));
        let (area, _) = ui.allocate_exact_size(size, Sense::hover());
        let mut top = area.top();
        for groups in &lines.lines {
            let mut left = area.left();
            for group in *groups {
                let size = vec2(lines.of(*group), heading(scale));
                let title = Rect::from_min_size(pos2(left, top), size);
                show_group(ui, title, *group, &lines, scale, edits);
                left += size.x + lines.gaps[1];
            }
            top += line(scale);
        }
    });
}

fn show_group(
    ui: &mut Ui,
    title: Rect,
    group: Group,
    lines: &Lines,
    scale: Scale,
    edits: &mut Edits,
) {
    let (painter, text) = (ui.painter(), group.name().to_uppercase());
    let font = scale.font(11.0);
    theme::text(painter, title.left_top(), Align2::LEFT_TOP, &text, font, theme::DIM);
    let line = title.top() + scale.line(11.0);
    painter.hline(title.x_range(), line, Stroke::new(1.0, theme::LINE));
    for (index, id) in group.ids().iter().enumerate() {
        let (column, line) = (index / ROWS, index % ROWS);
        let pitch = vec2(lines.width + lines.gaps[0], row(scale));
        let corner = title.left_bottom() + pitch * vec2(column as f32, line as f32);
        let cell = Rect::from_min_size(corner, vec2(lines.width, row(scale)));
        control(ui, cell, scale, NORMAL, id, edits);
    }
}
