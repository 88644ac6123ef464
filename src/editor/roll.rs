//! Piano roll of all bands over the last seconds, shown instead of the grid.

use super::{
    controls::focus_ring,
    theme::{self, Scale},
};
use crate::session::Edits;
use egui::{
    Align2, Color32, ColorImage, CornerRadius, Key, Mesh, Modifiers, Rect, Role, Sense, Stroke,
    TextureHandle, TextureOptions, TextureWrapMode, Ui, WidgetInfo, emath::GuiRounding, pos2,
};
use tone_filter_dsp::{
    BandState, Bands, Settings,
    notes::{self, PITCH_CLASSES},
    roll::{Column, Rows},
};

const SECONDS: usize = 8;
/// Columns per second: the frame rate of a common display.
const RATE: usize = 60;
pub const COLUMNS: usize = SECONDS * RATE;

/// Maximum number of columns that one update fills. After a longer gap the host was paused, and the roll stood still.
const LONGEST_FILLED_GAP: i64 = (super::PAUSE * RATE as f64) as i64;

/// Options of the texture, a ring in which new columns replace the oldest.
const OPTIONS: TextureOptions =
    TextureOptions { wrap_mode: TextureWrapMode::Repeat, ..TextureOptions::LINEAR };

/// Columns of the last [`SECONDS`], and their picture.
pub struct Roll {
    /// Ring buffer: column `number` is at `number % COLUMNS`. Empty before the first update.
    columns: Vec<Column>,
    /// Bar number of each column of the ring, counted from 0; `None` while the host is stopped or reports no bars.
    bars: [Option<i32>; COLUMNS],
    count: usize,
    /// Time of the last update, in columns.
    last_update: i64,
    picture: Option<Picture>,
}

impl Default for Roll {
    fn default() -> Self {
        Self { columns: Vec::new(), bars: [None; COLUMNS], count: 0, last_update: 0, picture: None }
    }
}

/// Texture with the columns, one pixel wide each.
struct Picture {
    texture: TextureHandle,
    rows: Rows,
    /// Colours of a column without notes, as many as the texture is high.
    background: Vec<Color32>,
    drawn: usize,
}

impl Roll {
    /// Appends `bands`. `now` is the time in seconds, `bar` the host's bar number, counted from 0; `None` while the host is
    /// stopped or reports no bars.
    pub fn push(&mut self, bands: &Bands, bar: Option<i32>, now: f64) {
        self.columns.resize(COLUMNS, Column::default());
        let mut column = Column::from(bands);
        let time = (now * RATE as f64) as i64;
        let due = match time - self.last_update {
            due @ 0..=LONGEST_FILLED_GAP => due as usize,
            _ => 1,
        };
        self.last_update = time;
        if due == 0 {
            // Two updates fall in one column.
            self.count = self.count.saturating_sub(1);
            column.merge(&self.columns[self.count % COLUMNS]);
            if let Some(picture) = &mut self.picture {
                picture.drawn = picture.drawn.min(self.count);
            }
        }
        for _ in 0..due.max(1) {
            self.columns[self.count % COLUMNS] = column;
            self.bars[self.count % COLUMNS] = bar;
            self.count += 1;
        }
    }

    /// Shows the roll in `area`. Returns the band under the pointer.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        area: Rect,
        scale: Scale,
        bands: &Bands,
        settings: &Settings,
    ) -> Option<usize> {
        let pixels_per_point = ui.ctx().pixels_per_point();
        let font = scale.font(11.0);
        let mut roll = area.with_min_x(area.left() + 2.0 * font.size);
        roll.min = roll.min.round_to_pixels(pixels_per_point);
        let height = (roll.height() * pixels_per_point).floor().max(1.0);
        roll.set_height(height / pixels_per_point);
        let rows = Rows::new(settings.range, settings.pitch_shift());

        self.draw(ui, &rows, height as usize);
        if let Some(picture) = &self.picture {
            // The mesh spans the middle of the oldest column to the middle of the newest one.
            let oldest = (self.count % COLUMNS) as f32 + 0.5;
            let at = |column: f32, y| pos2(column / COLUMNS as f32, y);
            let corners = [at(oldest, 0.0), at(oldest + COLUMNS as f32 - 1.0, 1.0)];
            let mut mesh = Mesh::with_texture(picture.texture.id());
            mesh.add_rect_with_uv(roll, corners.into(), Color32::WHITE);
            ui.painter().add(mesh);
        }
        self.show_bars(ui, roll, scale);
        for (index, row) in rows.0.iter().enumerate().filter(|(_, row)| row.is_c()) {
            let span = rows.span(index, height as usize);
            let y = roll.top() + 0.5 * (span.start + span.end) as f32 / pixels_per_point;
            let at = pos2(roll.left() - 4.0, y);
            let name = name(row.key);
            theme::text(ui.painter(), at, Align2::RIGHT_CENTER, &name, font.clone(), theme::DIM);
        }

        let response = ui.interact(roll, ui.scope_id().with("roll"), Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, described(&rows, bands)));
        let pointer = response.hover_pos()?;
        let y = ((pointer.y - roll.top()) * pixels_per_point).max(0.0) as usize;
        let at = (0..rows.0.len()).find(|row| rows.span(*row, height as usize).contains(&y))?;
        let row = rows.0[at];
        let (tuning, shift) = (f64::from(settings.tuning), f64::from(settings.pitch_shift()));
        let hertz = notes::frequency(row.tone, tuning, shift);
        let state = bands.bands[row.tone].state.name();
        let text = format!("{}   {hertz:.1} Hz   {state}", name(row.key));
        response.on_hover_ui_at_pointer(|ui| {
            ui.label(text);
            ui.weak(format!("The last {SECONDS} s, now at the right"));
        });
        Some(row.tone)
    }

    /// Shows a line and the bar's number at the beginning of each bar.
    fn show_bars(&self, ui: &Ui, roll: Rect, scale: Scale) {
        let font = scale.font(10.0);
        for place in 1..COLUMNS {
            let [before, bar] = [place - 1, place].map(|at| self.bars[(self.count + at) % COLUMNS]);
            let (Some(before), Some(bar)) = (before, bar) else { continue };
            if before != bar {
                // The line is between the two columns.
                let x = roll.left() + roll.width() * (place as f32 - 0.5) / (COLUMNS - 1) as f32;
                ui.painter().vline(x, roll.y_range(), Stroke::new(1.0, theme::LINE));
                let (at, text) = (pos2(x + 3.0, roll.top()), (i64::from(bar) + 1).to_string());
                theme::text(ui.painter(), at, Align2::LEFT_TOP, &text, font.clone(), theme::DIM);
            }
        }
    }

    /// Updates the picture. Draws only new columns, unless rows or height have changed.
    fn draw(&mut self, ui: &Ui, rows: &Rows, height: usize) {
        if self.columns.is_empty() {
            self.columns.resize(COLUMNS, Column::default());
        }
        let current = |picture: &Picture| {
            picture.background.len() == height
                && picture.rows == *rows
                && self.count - picture.drawn < COLUMNS
        };
        if let Some(picture) = self.picture.as_mut().filter(|picture| current(picture)) {
            for number in picture.drawn..self.count {
                let x = number % COLUMNS;
                let mut pixels = picture.background.clone();
                draw_notes(rows, &self.columns[x], &mut pixels, 1);
                let image = ColorImage::new([1, height], pixels);
                picture.texture.set_partial([x, 0], image, OPTIONS);
            }
            picture.drawn = self.count;
            return;
        }
        let mut background = vec![*theme::BACKGROUND; height];
        for (span, [red, green, blue]) in rows.background(height) {
            background[span].fill(Color32::from_rgb(red, green, blue));
        }
        let mut pixels: Vec<Color32> =
            background.iter().flat_map(|colour| [*colour; COLUMNS]).collect();
        for (x, column) in self.columns.iter().enumerate() {
            draw_notes(rows, column, &mut pixels[x..], COLUMNS);
        }
        let image = ColorImage::new([COLUMNS, height], pixels);
        let texture = ui.ctx().load_texture("roll", image, OPTIONS);
        self.picture = Some(Picture { texture, rows: rows.clone(), background, drawn: self.count });
    }
}

/// Draws the notes of `column` into `pixels`, over the background. Every `stride`th pixel belongs to the column.
fn draw_notes(rows: &Rows, column: &Column, pixels: &mut [Color32], stride: usize) {
    let height = pixels.len().div_ceil(stride);
    for (span, [red, green, blue]) in rows.notes(column, height) {
        span.for_each(|y| pixels[y * stride] = Color32::from_rgb(red, green, blue));
    }
}

fn name(key: i32) -> String {
    // Pitch classes begin at A, octave numbers at C.
    format!("{}{}", PITCH_CLASSES[(key + 3).rem_euclid(12) as usize], key.div_euclid(12) - 1)
}

/// Describes the roll for a screen reader, with the notes that sound now.
fn described(rows: &Rows, bands: &Bands) -> String {
    let sounding = rows.0.iter().filter(|row| bands.bands[row.tone].state != BandState::Inactive);
    let names: Vec<String> = sounding.map(|row| name(row.key)).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    format!("Piano roll of the last {SECONDS} s. Notes that sound now: {names}")
}

/// Shows the switch between grid and roll at the right of `area`, and returns the rest of `area`. The key R switches, too, unless
/// the user is typing or dragging.
pub fn switch(ui: &mut Ui, area: Rect, scale: Scale, edits: &Edits) -> Rect {
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
