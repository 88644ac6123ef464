//! Piano roll of all bands over the last ten minutes, shown instead of the grid.
//!
//! The picture shows the bands ([`History`]). Over it are lines along the captured notes that the voice Chip plays as its lead, and
//! the selection, which can be saved or copied.

mod history;
mod picture;

use super::{
    controls::{arrows, focus_ring, wheel},
    theme::{self, Scale},
};
use crate::{
    capture::{self, Capture, Heard},
    session::Edits,
};
use egui::{
    Align2, CornerRadius, Event, Key, Modifiers, Rect, Response, Role, Sense, Stroke, Ui,
    WidgetInfo, emath::GuiRounding, pos2, vec2,
};
pub use history::History;
use history::RATE;
pub use picture::COLUMNS;
use picture::Picture;
use plugin_guard::lock;
use std::{
    ops::Range,
    sync::{Arc, Mutex},
};
use tone_filter_dsp::{
    BandState, Bands, Settings,
    notes::{frequency, key_name},
    roll::Rows,
};

/// Durations in seconds that the user can choose from, for the time in view.
const SPANS: [usize; 9] = [2, 4, 8, 16, 32, 64, 128, 256, capture::SECONDS];
/// Maximum numbers of rows in view that the user can choose from; the first one shows all rows.
const HEIGHTS: [usize; 5] = [usize::MAX, 48, 36, 24, 12];
/// Longest duration in view, in seconds, at which notes are wide enough for lines along the lead.
const LONGEST_WITH_LEAD: usize = 128;
/// Minimum distances in points: between lines of bars and beats, and between bar numbers.
const APART: [f32; 2] = [8.0, 26.0];

pub struct Roll {
    /// Shared by all windows of an instance, so that a new window shows earlier columns.
    history: Arc<Mutex<History>>,
    picture: Option<Picture>,
    /// First column of the history that has changed since the last update of the picture; [`i64::MAX`] without a change.
    changed: i64,
    /// Index in [`SPANS`].
    span_index: usize,
    /// Column of the history before which the view ends; `None` while the view follows the music.
    end: Option<i64>,
    /// Index in [`HEIGHTS`].
    rows_index: usize,
    /// Number of rows below the view.
    below: usize,
    /// Selected part of the music, in seconds on the capture's clock.
    pub selection: Option<Range<f64>>,
    /// Where the selecting drag began: seconds on the capture's clock, at a beat.
    anchor: f64,
}

impl Default for Roll {
    fn default() -> Self {
        Self::new(Arc::default())
    }
}

impl Roll {
    pub fn new(history: Arc<Mutex<History>>) -> Self {
        Self {
            history,
            picture: None,
            changed: i64::MAX,
            span_index: 2,
            end: None,
            rows_index: 0,
            below: 0,
            selection: None,
            anchor: 0.0,
        }
    }

    /// Appends `bands`; see [`History::push`].
    pub fn push(&mut self, bands: &Bands, bar: Option<i32>, now: f64, time: f64) {
        let changed = lock(&self.history).push(bands, bar, now, time) as i64;
        self.changed = self.changed.min(changed);
    }

    /// Shows the roll in `area`. Returns the band under the pointer.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        area: Rect,
        scale: Scale,
        bands: &Bands,
        settings: &Settings,
        capture: &Capture,
    ) -> Option<usize> {
        let pixels_per_point = ui.ctx().pixels_per_point();
        let font = scale.font(11.0);
        let mut roll = area.with_min_x(area.left() + 2.0 * font.size);
        roll.min = roll.min.round_to_pixels(pixels_per_point);
        let pixel_height = (roll.height() * pixels_per_point).floor().max(1.0);
        roll.set_height(pixel_height / pixels_per_point);

        let response = ui.interact(roll, ui.scope_id().with("roll"), Sense::click_and_drag());
        let all = Rows::new(settings.range, settings.pitch_shift());
        let count = all.0.len();
        let history = self.history.clone();
        let (history, heard) = (&*lock(&history), &*capture.heard());
        self.navigate(ui, &response, history, heard, count);
        self.below = self.below.min(count - self.visible_rows(count));
        let rows = Rows(all.0[self.below..self.below + self.visible_rows(count)].to_vec());
        let view = self.view(history, heard, roll);
        self.select(&response, &view);

        let Self { picture, changed, .. } = self;
        let (end, step) = (view.columns.end, view.step);
        Picture::update(
            picture,
            ui,
            history,
            (&rows, pixel_height as usize),
            (end, step),
            *changed,
        );
        *changed = i64::MAX;
        if let Some(picture) = picture {
            picture.paint(ui, roll, view.columns.clone());
        }
        let pixels_of_row = |index: usize| rows.span(index, pixel_height as usize);
        let middle = |index: usize| {
            roll.top()
                + 0.5 * (pixels_of_row(index).start + pixels_of_row(index).end) as f32
                    / pixels_per_point
        };
        show_bars(ui, &view, scale);
        self.show_notes(ui, &view, &rows, middle);
        for (index, row) in rows.0.iter().enumerate().filter(|(_, row)| row.is_c()) {
            let at = pos2(roll.left() - 4.0, middle(index));
            let name = key_name(row.key);
            theme::text(ui.painter(), at, Align2::RIGHT_CENTER, &name, font.clone(), theme::DIM);
        }

        focus_ring(ui, &response);
        response.widget_info(|| {
            WidgetInfo::labeled(Role::Image, true, self.described(&view, &all, bands))
        });
        let pointer = response.hover_pos()?;
        let y = ((pointer.y - roll.top()) * pixels_per_point).max(0.0) as usize;
        let at = (0..rows.0.len()).find(|row| pixels_of_row(*row).contains(&y))?;
        let row = rows.0[at];
        let (tuning, shift) = (f64::from(settings.tuning), f64::from(settings.pitch_shift()));
        let hertz = frequency(row.tone, tuning, shift);
        let column = view.column_at_x(pointer.x);
        let time = history.time(column);
        let cell = history.column(column..column + view.step).0[row.tone];
        let mut state = cell.state.name().to_owned();
        if cell.level_db.is_finite() {
            state += &format!(", {:.0} dB", cell.level_db);
        }
        if heard.notes.iter().any(|it| {
            it.lead && it.note.tone == row.tone && (it.note.start..it.note.end).contains(&time)
        }) {
            state += ", the lead";
        }
        let text = format!("{}   {hertz:.1} Hz   {state}   {}", key_name(row.key), clock(time));
        response.on_hover_ui_at_pointer(|ui| {
            ui.label(text);
            ui.weak("Drag to select. The wheel scrolls; with Ctrl it zooms the time, with Alt the pitch.");
        });
        Some(row.tone)
    }

    /// Returns how many of `count` rows are in view.
    fn visible_rows(&self, count: usize) -> usize {
        HEIGHTS[self.rows_index].min(count)
    }

    fn view<'a>(&self, history: &'a History, heard: &'a Heard, area: Rect) -> View<'a> {
        let span_columns = SPANS[self.span_index] * RATE;
        let step = span_columns.div_ceil(COLUMNS);
        let end = self.end.unwrap_or(history.count());
        let last = (end - 1).div_euclid(step as i64);
        let first = last + 1 - (span_columns / step) as i64;
        View { history, heard, area, columns: first..last + 1, step: step as i64 }
    }

    /// Scrolls and zooms by the wheel over the roll. While the roll has the focus, keys scroll, zoom, select and copy. `count` is
    /// the number of rows.
    fn navigate(
        &mut self,
        ui: &Ui,
        response: &Response,
        history: &History,
        heard: &Heard,
        count: usize,
    ) {
        // Steps to scroll, and steps to zoom in: time (x) and pitch (y).
        let (mut scroll, mut zoom) = (vec2(0.0, 0.0), vec2(0.0, 0.0));
        for (notches, modifiers) in wheel(ui, response) {
            match modifiers {
                keys if keys.command || keys.ctrl => zoom.x += notches.x + notches.y,
                keys if keys.alt => zoom.y += notches.x + notches.y,
                keys if !keys.shift && self.rows_index > 0 => scroll += vec2(-notches.x, notches.y),
                // With Shift, or while all rows are in view, the wheel scrolls the time.
                _ => scroll.x -= notches.x + notches.y,
            }
        }
        // With a selection, Escape is not taken here: it ends the selection below, and the focus only the next time.
        let arrows = arrows(ui, response, self.selection.is_some());
        if response.has_focus() {
            let presses = |key| ui.input(|input| input.num_presses(key)) as f32;
            zoom.x += presses(Key::Plus) + presses(Key::Equals) - presses(Key::Minus);
            let modifiers = ui.input(|input| input.modifiers);
            if modifiers.shift {
                self.extend(arrows.x, modifiers.command, history, heard);
                zoom.y += arrows.y;
            } else {
                scroll += arrows;
            }
            if presses(Key::Home) > 0.0 {
                self.end = Some(history.oldest());
            }
            if presses(Key::End) > 0.0 {
                self.end = None;
            }
            let is_selected = self.selection.is_some();
            if is_selected && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape))
            {
                self.selection = None;
            }
            let copies = ui.input(|input| input.events.contains(&Event::Copy));
            if let Some(range) = self.selection.clone().filter(|_| copies) {
                ui.ctx().copy_text(heard.score(range));
            }
        }
        // Durations grow with their index, but numbers of rows shrink, so zooming in the pitch has the other sign.
        let zoomed = |index: usize, steps_in: f32, count: usize| {
            (index as f32 - steps_in).round().clamp(0.0, count as f32 - 1.0) as usize
        };
        self.span_index = zoomed(self.span_index, zoom.x, SPANS.len());
        let rows_before = self.visible_rows(count);
        self.rows_index = zoomed(self.rows_index, -zoom.y, HEIGHTS.len());
        // The middle of the rows stays where it is.
        let below = 0.5 * (rows_before as f32 - self.visible_rows(count) as f32) + scroll.y.round();
        self.below = (self.below as f32 + below).max(0.0) as usize;
        if scroll.x != 0.0 || self.end.is_some() {
            let span_columns = (SPANS[self.span_index] * RATE) as i64;
            let end =
                self.end.unwrap_or(history.count()) + (scroll.x * span_columns as f32 / 8.0) as i64;
            let oldest = (history.oldest() + span_columns).min(history.count());
            self.end = Some(end.max(oldest)).filter(|end| *end < history.count());
        }
    }

    /// Moves the start of the selection by `beats`; with `end`, its end. Without a selection, selects the last eight beats.
    fn extend(&mut self, beats: f32, end: bool, history: &History, heard: &Heard) {
        if beats == 0.0 {
            return;
        }
        let lines: Vec<f64> = match &heard.beats[..] {
            // Without beats, the selection moves by half seconds.
            [] => (0..=2 * capture::SECONDS)
                .map(|half| history.time(history.count()) - 0.5 * half as f64)
                .rev()
                .collect(),
            beats => beats.iter().map(|beat| beat.time).collect(),
        };
        let last = lines.len() - 1;
        let index = |time: f64| lines.partition_point(|line| *line < time - 1e-6).min(last);
        let mut chosen = match &self.selection {
            Some(range) => [index(range.start), index(range.end)],
            None => [last.saturating_sub(8), last],
        };
        if self.selection.is_some() {
            let at = &mut chosen[usize::from(end)];
            *at = (*at as f32 + beats).clamp(0.0, last as f32) as usize;
        }
        let [from, until] = chosen.map(|at| lines[at]);
        self.selection = (from < until).then_some(from..until);
    }

    /// Selects the time over which the pointer is dragged, from beat to beat. A click ends the selection.
    fn select(&mut self, response: &Response, view: &View) {
        if response.clicked() {
            self.selection = None;
        }
        let Some(pointer) = response.interact_pointer_pos() else { return };
        let at = |x: f32| view.heard.snap(view.history.time(view.column_at_x(x)));
        let time = at(pointer.x);
        if response.drag_started() {
            let origin = response.ctx.input(|input| input.pointer.press_origin());
            self.anchor = at(origin.unwrap_or(pointer).x);
        }
        if response.dragged() {
            let (from, until) = (self.anchor.min(time), self.anchor.max(time));
            self.selection = (from < until).then_some(from..until);
        }
    }

    /// Shows the selection, and lines along the notes of the lead. `middle` maps a row's index to its y coordinate.
    fn show_notes(&self, ui: &Ui, view: &View, rows: &Rows, middle: impl Fn(usize) -> f32) {
        let painter = ui.painter().with_clip_rect(view.area);
        let x = |time: f64| view.x_of_column(view.history.column_at(time));
        if let Some(range) = &self.selection {
            let area = Rect::from_x_y_ranges(x(range.start)..=x(range.end), view.area.y_range());
            painter.rect_filled(area, 0.0, theme::ACCENT.gamma_multiply(0.18));
            for side in [area.left(), area.right()] {
                painter.vline(side, area.y_range(), Stroke::new(1.0, theme::ACCENT));
            }
        }
        if SPANS[self.span_index] > LONGEST_WITH_LEAD {
            return;
        }
        let Range { start: from, end: until } = view.times();
        let leads = view.heard.notes.iter().filter(|heard| heard.lead);
        for lead in leads.filter(|lead| lead.note.start < until && lead.note.end > from) {
            if let Some(row) = rows.0.iter().position(|row| row.tone == lead.note.tone) {
                let line = x(lead.note.start)..=x(lead.note.end);
                painter.hline(line, middle(row), Stroke::new(1.5, theme::TEXT));
            }
        }
    }

    /// Describes in words what the roll shows, for screen readers.
    fn described(&self, view: &View, rows: &Rows, bands: &Bands) -> String {
        let rows = rows.0.iter();
        let sounding = rows.filter(|row| bands.bands[row.tone].state != BandState::Inactive);
        let names: Vec<String> = sounding.map(|row| key_name(row.key)).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let span_seconds = SPANS[self.span_index];
        let end = clock(view.times().end);
        let time = match self.end {
            None => format!("of the last {span_seconds} s"),
            Some(_) => format!("of {span_seconds} s up to {end}"),
        };
        let selected = self.selection.as_ref().map(|range| {
            let notes = view.heard.notes.iter();
            let notes = notes.filter(|heard| range.contains(&heard.note.start)).count();
            format!(". Selected: {} to {}, {notes} notes", clock(range.start), clock(range.end))
        });
        let selected = selected.unwrap_or_default();
        format!("Piano roll {time}. Notes that sound now: {names}{selected}")
    }
}

struct View<'a> {
    history: &'a History,
    heard: &'a Heard,
    area: Rect,
    /// Picture columns in view. Multiplied by `step`, they are columns of the history.
    columns: Range<i64>,
    /// Columns of the history per column of the picture.
    step: i64,
}

impl View<'_> {
    /// Returns where a history column begins, in points. The area reaches from the middle of the first picture column to the middle
    /// of the last.
    fn x_of_column(&self, column: i64) -> f32 {
        let place = column as f64 / self.step as f64 - self.columns.start as f64 - 0.5;
        let count = (self.columns.end - self.columns.start - 1).max(1);
        self.area.left() + self.area.width() * (place / count as f64) as f32
    }

    /// Returns the range of times in view, in seconds on the capture's clock.
    fn times(&self) -> Range<f64> {
        let time = |column| self.history.time(column * self.step);
        time(self.columns.start)..time(self.columns.end)
    }

    /// Returns the history column at `x` in points.
    fn column_at_x(&self, x: f32) -> i64 {
        let count = (self.columns.end - self.columns.start - 1) as f32;
        let place = count * (x - self.area.left()) / self.area.width() + 0.5;
        ((self.columns.start as f64 + f64::from(place)) * self.step as f64).floor() as i64
    }
}

/// Shows lines and above them numbers for the host's bars. If the host has reported none, shows the detected bars and beats.
fn show_bars(ui: &Ui, view: &View, scale: Scale) {
    let View { history, heard, .. } = view;
    let font = scale.font(10.0);
    let lines = view.area.with_min_y(view.area.top() + 1.4 * font.size).y_range();
    let (mut last_line_x, mut last_number_x) = (f32::NEG_INFINITY, f32::NEG_INFINITY);
    let mut show = |column: i64, bar: Option<i64>| {
        let x = view.x_of_column(column);
        if !view.area.x_range().contains(x) || x - last_line_x < APART[0] {
            return;
        }
        last_line_x = x;
        let colour = if bar.is_some() { *theme::LINE } else { theme::LINE.gamma_multiply(0.5) };
        ui.painter().vline(x, lines, Stroke::new(1.0, colour));
        if let Some(bar) = bar.filter(|_| x - last_number_x >= APART[1]) {
            last_number_x = x;
            let (at, text) = (pos2(x + 1.0, view.area.top()), (bar + 1).to_string());
            let width = theme::text_width(ui, &text, font.clone());
            let place = Rect::from_x_y_ranges(x..=x + width, at.y..=lines.min);
            ui.painter().rect_filled(place.expand2(vec2(2.0, 0.0)), 2.0, theme::BACKGROUND);
            theme::text(ui.painter(), at, Align2::LEFT_TOP, &text, font.clone(), theme::DIM);
        }
    };
    if !history.bars.is_empty() {
        history.bars.iter().for_each(|(column, bar)| show(*column, Some(i64::from(*bar))));
        return;
    }
    let (mut bar, times) = (-1, view.times());
    for beat in &heard.beats {
        bar += i64::from(beat.place == 0);
        if !times.contains(&beat.time) {
            continue;
        }
        show(history.column_at(beat.time), (beat.place == 0).then_some(bar));
    }
}

/// Returns a time in minutes and seconds.
fn clock(seconds: f64) -> String {
    format!("{}:{:04.1}", (seconds / 60.0) as u32, seconds % 60.0)
}

/// Shows the switch between grid and roll at the right of `area`, and returns the area that remains for other parts. The key R
/// switches, too, except while the user types or drags.
pub fn view_switch(ui: &mut Ui, area: Rect, scale: Scale, edits: &Edits) -> Rect {
    let font = scale.font(12.0);
    let width = 2.2 * font.size + scale.length(10.0);
    let (rest, place) = area.split_left_right_at_x(area.right() - width);
    let shown = &edits.params.editor_roll;
    let response = ui.interact(place, ui.scope_id().with("view"), Sense::click());
    let free = !ui.ctx().text_edit_focused() && !ui.input(|input| input.pointer.any_down());
    if response.clicked()
        || free && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::R))
    {
        shown.store(!shown.load());
        ui.ctx().request_repaint();
    }
    let on = shown.load();
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, on, "Piano roll"));
    let fill = if response.hovered() { theme::LINE } else { theme::SURFACE };
    ui.painter().rect_filled(place, CornerRadius::same(scale.length(4.0) as u8), fill);
    theme::text(ui.painter(), place.center(), Align2::CENTER_CENTER, "Roll", font, theme::TEXT);
    if on {
        let stroke = Stroke::new(2.0, theme::ACCENT);
        ui.painter().hline(place.x_range().shrink(3.0), place.bottom() - 1.0, stroke);
    }
    focus_ring(ui, &response);
    response.on_hover_text("Bands as a grid or as a piano roll (R)");
    rest.with_max_x(rest.right() - scale.length(14.0).max(6.0))
}
