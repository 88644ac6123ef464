//! Texture of the roll: a ring buffer of columns one pixel wide.

use super::history::{History, RATE};
use egui::{
    Color32, ColorImage, Mesh, Rect, TextureHandle, TextureOptions, TextureWrapMode, Ui, pos2,
};
use std::ops::Range;
use tone_filter_dsp::roll::{Column, Rows};

/// Width of the texture in columns.
pub const COLUMNS: usize = 8 * RATE;

/// Maximum number of new columns that are sent one by one. If more are new, the whole texture is sent.
const FEW: usize = 16;

const OPTIONS: TextureOptions =
    TextureOptions { wrap_mode: TextureWrapMode::Repeat, ..TextureOptions::LINEAR };

/// Texture of the rows in view. The picture column `number` is in the texture's column `number` modulo [`COLUMNS`].
pub struct Picture {
    texture: TextureHandle,
    rows: Rows,
    /// Pixels of a column without notes, from top to bottom.
    background: Vec<Color32>,
    /// Columns of the history per column of the texture.
    step: i64,
    /// Numbers of the picture columns that the texture holds.
    drawn: Range<i64>,
}

impl Picture {
    /// Draws the last [`COLUMNS`] picture columns before `end`. Each shows the strongest cells of `step` columns of `history`.
    /// Draws only columns that are new, or that contain history columns from `changed` on. If these are more than [`FEW`], or
    /// after a change of `rows`, `step` or `height` (in pixels), draws all.
    pub fn update(
        picture: &mut Option<Self>,
        ui: &Ui,
        history: &History,
        (rows, height): (&Rows, usize),
        (end, step): (i64, i64),
        changed: i64,
    ) {
        let wanted = end - COLUMNS as i64..end;
        let column = |number: i64| history.column(number * step..(number + 1) * step);
        let same = |old: &&mut Self| {
            old.background.len() == height && old.rows == *rows && old.step == step
        };
        if let Some(old) = picture.as_mut().filter(same) {
            old.drawn.end = old.drawn.end.min(changed.div_euclid(step));
            let before = wanted.start..old.drawn.start.min(wanted.end);
            let after = old.drawn.end.max(wanted.start)..wanted.end;
            let missing: Vec<i64> = before.chain(after).collect();
            if missing.len() <= FEW && !old.drawn.is_empty() {
                for number in missing {
                    let mut pixels = old.background.clone();
                    draw(rows, &column(number), &mut pixels, 1);
                    let x = number.rem_euclid(COLUMNS as i64) as usize;
                    old.texture.set_partial([x, 0], ColorImage::new([1, height], pixels), OPTIONS);
                }
                old.drawn = wanted;
                return;
            }
        }
        // The rows cover the whole height, so this black is never visible, and the picture does not depend on the theme.
        let mut background = vec![Color32::BLACK; height];
        for (span, [red, green, blue]) in rows.background(height) {
            background[span].fill(Color32::from_rgb(red, green, blue));
        }
        let mut pixels: Vec<Color32> =
            background.iter().flat_map(|colour| [*colour; COLUMNS]).collect();
        for number in wanted.clone() {
            let x = number.rem_euclid(COLUMNS as i64) as usize;
            draw(rows, &column(number), &mut pixels[x..], COLUMNS);
        }
        let image = ColorImage::new([COLUMNS, height], pixels);
        let texture = ui.ctx().load_texture("roll", image, OPTIONS);
        *picture = Some(Self { texture, rows: rows.clone(), background, step, drawn: wanted });
    }

    /// Paints the columns `shown` into `area`, from the middle of the first one to the middle of the last one.
    pub fn paint(&self, ui: &Ui, area: Rect, shown: Range<i64>) {
        let first = shown.start.rem_euclid(COLUMNS as i64) as f32 + 0.5;
        let at = |column: f32, y| pos2(column / COLUMNS as f32, y);
        let last = first + (shown.end - shown.start - 1) as f32;
        let mut mesh = Mesh::with_texture(self.texture.id());
        mesh.add_rect_with_uv(area, [at(first, 0.0), at(last, 1.0)].into(), Color32::WHITE);
        ui.painter().add(mesh);
    }
}

/// Draws the notes of `column` over the background. `pixels` begins at the column's top; every `stride`th pixel belongs to the
/// column.
fn draw(rows: &Rows, column: &Column, pixels: &mut [Color32], stride: usize) {
    let height = pixels.len().div_ceil(stride);
    for (span, [red, green, blue]) in rows.notes(column, height) {
        span.for_each(|y| pixels[y * stride] = Color32::from_rgb(red, green, blue));
    }
}
