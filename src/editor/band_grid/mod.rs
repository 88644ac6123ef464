//! Grid of the bands, one row per octave and one column per pitch class, and the names of its rows.

mod cell;

pub use cell::{paint_cross, paint_marker};

use super::{
    controls::focus_ring,
    theme::{self, Scale},
};
use crate::session::Edits;
use cell::{Cell, CellState, QUIETEST, level, loudness};
use egui::{
    self, Align2, CornerRadius, PointerButton, Pos2, Rect, Response, Role, Sense, Ui, UiBuilder,
    Vec2, WidgetInfo, vec2,
};
use tone_filter_dsp::{
    BandMask, BandRange, BandState, Bands, Keys, Settings,
    notes::{self, PITCH_CLASSES, PUBLISHED, TONES},
};

const COLUMNS: usize = PITCH_CLASSES.len();
/// Semitones from C up to A. A column is counted from C, a pitch class from A.
const FROM_C: usize = 9;
/// Time constant of rising bars and waves, in seconds.
const RISE: f32 = 0.02;
/// Time constant of falling bars and waves, in seconds.
const FALL: f32 = 0.12;
/// Time constant of the colour after a change of state, in seconds.
const CHANGE: f32 = 0.05;
/// Time in seconds for which a peak mark is held before it falls.
const HOLD: f32 = 0.8;
/// Time in seconds in which a peak mark that is no longer held would fall by the whole bar.
const FADE: f32 = 2.0;
/// Minimum time in seconds between two changes of [`Sentences`]. On Linux, each changed sentence is a message on D-Bus.
const SENTENCE_PAUSE: f64 = 1.0;
/// Text on mouse actions, in a cell's tooltip.
const HELP: &str =
    "Click mutes or brings back, alt-click solos, drag paints, right-click brings all back";

pub struct BandGrid {
    cells: [Cell; TONES],
    /// Drag over the cells: whether it switches cells on, and the pointer's last position. `None` without a drag.
    painting: Option<(bool, Pos2)>,
    pub hovered: Option<usize>,
    sentences: Sentences,
}

impl Default for BandGrid {
    fn default() -> Self {
        let sentences = Sentences::default();
        Self { cells: [Cell::default(); TONES], painting: None, hovered: None, sentences }
    }
}

impl BandGrid {
    /// Advances the animation by `seconds` towards `bands`. Returns whether it is still moving.
    pub fn advance(&mut self, bands: &Bands, seconds: f32) -> bool {
        let mut moving = false;
        for (cell, band) in self.cells.iter_mut().zip(&bands.bands) {
            let mut approach = |value: &mut f32, target: f32, [rise, fall]: [f32; 2]| {
                let time = if target > *value { rise } else { fall };
                *value = target + (*value - target) * (-seconds / time).exp();
                // A difference of less than one step of brightness is invisible.
                if (*value - target).abs() < 1e-3 {
                    *value = target;
                }
                moving |= *value != target;
            };
            let loudness = loudness(band, bands.gain);
            let level = if loudness == 0.0 { 0.0 } else { level(band) };
            approach(&mut cell.level, level, [RISE, FALL]);
            approach(&mut cell.loudness, loudness, [RISE, FALL]);
            let state = band.state;
            approach(&mut cell.sounding, f32::from(state != BandState::Inactive), [CHANGE; 2]);
            approach(&mut cell.saturated, f32::from(state == BandState::Saturated), [CHANGE; 2]);
            cell.hold = (cell.hold - seconds).max(0.0);
            if cell.level >= cell.peak {
                (cell.peak, cell.hold) = (cell.level, HOLD);
            } else if cell.hold == 0.0 {
                cell.peak = (cell.peak - seconds / FADE).max(cell.level);
            }
            moving |= cell.peak != cell.level;
        }
        moving
    }

    /// Returns the greatest difference between the displayed values of two grids, apart from the peaks.
    #[cfg(test)]
    pub fn distance(&self, other: &Self) -> f32 {
        let values = |cell: &Cell| [cell.level, cell.loudness, cell.sounding, cell.saturated];
        let pairs = self.cells.iter().flat_map(values).zip(other.cells.iter().flat_map(values));
        pairs.map(|(one, other)| (one - other).abs()).fold(0.0, f32::max)
    }

    /// Shows the grid in `area`. `held` are the bands whose keys are held.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        area: Rect,
        bands: &Bands,
        held: BandMask,
        edits: &mut Edits,
    ) {
        let settings = edits.params.chosen().settings;
        let sounding = settings.bands_with_keys(held);
        let gap = gap(area);
        self.hovered = None;
        let state_of = |tone: usize| CellState {
            band: &bands.bands[tone],
            may_sound: sounding.contains(tone),
            in_mask: settings.bands.contains(tone),
            hovered: false,
        };
        self.sentences.follow(ui, (0..TONES).map(|tone| sentence(&settings, &state_of(tone))));
        let scope = ui.scope_id();
        let mut table = child(ui, Role::Table, "Bands".to_owned());
        let mut rows = Vec::new();
        // The first and the last row have places without a band.
        let [first, last] = ends(settings.range).map(|tone| place(settings.range, tone));
        for place in (0..first).chain(last + 1..(last + 1).next_multiple_of(COLUMNS)) {
            let empty = rect(area, gap, settings.range, place);
            ui.painter().rect_filled(empty, 2.0, theme::SURFACE.gamma_multiply(0.5));
        }
        for tone in settings.range.by_pitch() {
            let rect = cell_rect(area, gap, settings.range, tone);
            let place = place(settings.range, tone);
            let (column, row) = (place % COLUMNS, place / COLUMNS);
            if rows.last().is_none_or(|(number, _)| *number != row) {
                let label = format!("From {}", notes::name(tone));
                rows.push((row, child(&mut table, Role::Row, label)));
            }
            let Some((_, ui)) = rows.last_mut() else { continue };
            let response = ui.interact(rect, scope.with(("band", tone)), Sense::click_and_drag());
            let mut state = state_of(tone);
            response.widget_info(|| {
                let label = format!("Band {}", notes::name(tone));
                WidgetInfo::selected(Role::Cell, true, state.in_mask, label)
            });
            ui.ctx().accesskit_node_builder(response.id, |node| {
                node.set_description(self.sentences.of(tone));
                node.set_row_index(row);
                node.set_column_index(column);
            });
            self.edit(ui, &response, tone, area, edits);
            state.hovered = response.hovered();
            self.cells[tone].paint(ui.painter(), rect, Scale::of_cell(rect.size()), tone, &state);
            focus_ring(ui, &response);
            if response.hovered() {
                self.hovered = Some(tone);
                response.on_hover_ui_at_pointer(|ui| describe(ui, tone, &settings, &state));
            }
        }
    }

    fn edit(&mut self, ui: &Ui, response: &Response, tone: usize, area: Rect, edits: &mut Edits) {
        clicked(ui, response, &[tone], edits);
        let bands = edits.params.chosen().settings.bands;
        let on = bands.contains(tone);
        if response.drag_started_by(PointerButton::Primary)
            && let Some(start) = ui.input(|input| input.pointer.press_origin())
        {
            self.painting = Some((!on, start));
            edits.begin_painting();
        }
        let dragged = response.dragged() || response.drag_stopped();
        let Some((paint, last)) = self.painting.filter(|_| dragged) else { return };
        let to = response.interact_pointer_pos().unwrap_or(last);
        // A fast pointer skips cells, so the cells between two positions are included.
        let steps = (to.distance(last) / 4.0).ceil().max(1.0);
        let path = (0..=steps as usize).map(|step| last.lerp(to, step as f32 / steps));
        let range = edits.params.chosen().settings.range;
        let cells = path.filter_map(|at| {
            range.tones().find(|&tone| cell_rect(area, gap(area), range, tone).contains(at))
        });
        edits.paint(cells.fold(bands, |bands, tone| bands.with(tone, paint)));
        self.painting = Some((paint, to));
        if response.drag_stopped() {
            self.painting = None;
            edits.end_painting();
        }
    }
}

/// State of each band as a sentence, for screen readers.
#[derive(Default)]
struct Sentences {
    texts: Vec<String>,
    /// Time of the last change in seconds.
    changed: f64,
}

impl Sentences {
    /// Replaces the sentences by `now`, at most once per [`SENTENCE_PAUSE`]. While no screen reader is active, removes the
    /// sentences.
    fn follow(&mut self, ui: &Ui, now: impl Iterator<Item = String>) {
        if !ui.ctx().has_accesskit_node(ui.unique_id()) {
            self.texts.clear();
            return;
        }
        let texts: Vec<_> = now.collect();
        if texts == self.texts {
            return;
        }
        let time = ui.input(|input| input.time);
        let remaining = self.changed + SENTENCE_PAUSE - time;
        if self.texts.is_empty() || remaining <= 0.0 {
            *self = Self { texts, changed: time };
        } else {
            ui.ctx().request_repaint_after_secs(remaining as f32);
        }
    }

    fn of(&self, tone: usize) -> &str {
        self.texts.get(tone).map_or("", |text| text)
    }
}

/// Handles clicks: a click mutes or unmutes `tones`, an alt-click solos them, a secondary click switches all bands on.
fn clicked(ui: &Ui, response: &Response, tones: &[usize], edits: &mut Edits) {
    let bands = edits.params.chosen().settings.bands;
    let with = |bands: BandMask, on| tones.iter().fold(bands, |all, &tone| all.with(tone, on));
    if response.secondary_clicked() {
        edits.set_bands(BandMask::ALL);
    } else if response.clicked() {
        let solo = with(BandMask::NONE, true);
        let none_on = !tones.iter().any(|&tone| bands.contains(tone));
        edits.set_bands(match ui.input(|input| input.modifiers.alt) {
            // A second alt-click ends the solo.
            true if bands == solo => BandMask::ALL,
            true => solo,
            false => with(bands, none_on),
        });
    }
}

/// Font size of an octave's name in points.
const OCTAVE_NAME: f32 = 11.0;

/// Returns the width in points of the octaves' names.
pub fn octaves_width(scale: Scale) -> f32 {
    2.7 * scale.font(OCTAVE_NAME).size
}

/// Shows the name of each row of `grid` in `area`, left of the grid. A click mutes or unmutes the row, an alt-click solos it.
pub fn show_octaves(ui: &mut Ui, area: Rect, grid: Rect, scale: Scale, edits: &mut Edits) {
    let range = edits.params.chosen().settings.range;
    let tones: Vec<usize> = range.by_pitch().collect();
    for row in tones.chunk_by(|one, next| octave(*one) == octave(*next)) {
        let (Some(&first), Some(&last)) = (row.first(), row.last()) else { continue };
        let rect = cell_rect(grid, gap(grid), range, first);
        let rect = Rect::from_x_y_ranges(area.x_range(), rect.y_range());
        let bands = edits.params.chosen().settings.bands;
        let on = row.iter().filter(|&&tone| bands.contains(tone)).count();
        let [low, high] = [first, last].map(notes::name);
        let response = ui.interact(rect, ui.scope_id().with(("octave", first)), Sense::click());
        response.widget_info(|| {
            let label = format!("Octave {}", octave(first));
            WidgetInfo::selected(Role::CheckBox, true, on > 0, label)
        });
        clicked(ui, &response, row, edits);

        let fill = if response.hovered() { theme::LINE } else { theme::SURFACE };
        let radius = CornerRadius::same(scale.length(4.0).max(2.0) as u8);
        ui.painter().rect_filled(rect, radius, fill);
        let colour = match on {
            _ if response.hovered() => theme::TEXT,
            0 => theme::IDLE,
            _ => theme::DIM,
        };
        let font = scale.font(OCTAVE_NAME);
        let at = rect.left_center() + vec2(0.4 * font.size, 0.0);
        theme::text(ui.painter(), at, Align2::LEFT_CENTER, low, font, colour);
        if on == 0 {
            let radius = 0.25 * scale.font(OCTAVE_NAME).size;
            paint_cross(ui.painter(), rect.right_center() - vec2(1.8 * radius, 0.0), radius);
        }
        focus_ring(ui, &response);
        let state = match on {
            0 => "Muted",
            on if on < row.len() => "Partly muted",
            _ => "On",
        };
        response.on_hover_text(format!(
            "{low} to {high}: {state}. Click mutes the octave or brings it back, alt-click solos it, right-click \
             brings all back"
        ));
    }
}

/// Returns a child of `ui` with the same area. Only screen readers see it, as the table or a row.
fn child(ui: &mut Ui, role: Role, label: String) -> Ui {
    let salt = label.clone();
    let builder = UiBuilder::new().max_rect(ui.max_rect()).id_salt(salt);
    ui.new_child(builder.accessibility_role(role).accessibility_label(label))
}

/// Returns the name of a band's state, or the reason why the band may not sound.
fn why(settings: &Settings, state: &CellState) -> &'static str {
    match settings.keys {
        _ if state.may_sound => state.band.state.name(),
        Keys::Hold | Keys::HoldAny => "No key holds it",
        _ if state.in_mask => "Not in the scale",
        _ => "Muted by hand",
    }
}

fn sentence(settings: &Settings, state: &CellState) -> String {
    match state.band.level_db() {
        db if db >= QUIETEST => format!("{}, {db:.0} dB", why(settings, state)),
        _ => format!("{}, silent", why(settings, state)),
    }
}

/// Fills the tooltip of the cell of `tone`.
fn describe(ui: &mut Ui, tone: usize, settings: &Settings, state: &CellState) {
    let (tuning, transpose) = (f64::from(settings.tuning), f64::from(settings.transpose));
    let hertz = notes::frequency(tone, tuning, transpose);
    let level = match state.band.level_db() {
        db if db >= QUIETEST => format!("{db:.1} dB of the whole sound"),
        _ => "silent".to_owned(),
    };
    ui.label(format!("{}   {hertz:.1} Hz   {level}", notes::name(tone)));
    ui.weak(format!("{}. {HELP}", why(settings, state)));
}

/// Returns the space in points between the cells of a grid that fills `area`.
pub fn gap(area: Rect) -> f32 {
    (0.005 * area.width()).clamp(2.0, 10.0)
}

/// Returns the horizontal range of the column of pitch class `class` in a grid that fills `area`.
pub fn column(area: Rect, class: usize) -> egui::Rangef {
    rect(area, gap(area), BandRange::Published, (class + FROM_C) % COLUMNS).x_range()
}

/// Returns the octave number of `tone`; C4 is middle C.
fn octave(tone: usize) -> i32 {
    (notes::semitone(tone) + FROM_C as i32).div_euclid(COLUMNS as i32) + 3
}

/// Returns the lowest and the highest band in `range`.
fn ends(range: BandRange) -> [usize; 2] {
    [range.by_pitch().next().unwrap_or(0), PUBLISHED - 1]
}

/// Returns the index of the cell of `tone`, counted row by row. A row is an octave, from C to B.
fn place(range: BandRange, tone: usize) -> usize {
    let [lowest, _] = ends(range);
    let first = (octave(lowest) - 3) * COLUMNS as i32;
    (notes::semitone(tone) + FROM_C as i32 - first) as usize
}

/// Returns the rectangle of the cell of `tone` in a grid that fills `area`, with `gap` points between cells.
pub fn cell_rect(area: Rect, gap: f32, range: BandRange, tone: usize) -> Rect {
    rect(area, gap, range, place(range, tone))
}

fn rect(area: Rect, gap: f32, range: BandRange, place: usize) -> Rect {
    let [lowest, highest] = ends(range).map(octave);
    let pitch =
        (area.size() + Vec2::splat(gap)) / vec2(COLUMNS as f32, (highest - lowest + 1) as f32);
    let corner = area.min + pitch * vec2((place % COLUMNS) as f32, (place / COLUMNS) as f32);
    Rect::from_min_size(corner, pitch - Vec2::splat(gap))
}
