//! The 48 bands as a grid: a row an octave, a column a note.

use super::theme::{self, Scale};
use crate::dsp::{
    Band, BandState, Bands,
    notes::{self, PITCH_CLASSES, TONES},
};
use egui::{
    self, Align2, Color32, CornerRadius, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Vec2,
    pos2, vec2,
};
use std::f32::consts::TAU;

/// The grid's columns.
const COLUMNS: usize = PITCH_CLASSES.len();

/// The level, in dB of the total power, that a bar shows as nothing.
const QUIETEST: f32 = -60.0;

/// The powers, in dB full scale, between which a wave grows from nothing to its full height.
const FAINTEST: f32 = -80.0;
const LOUDEST: f32 = -10.0;

/// Time constants, in seconds, of what moves: levels up, levels down, states.
const RISE: f32 = 0.02;
const FALL: f32 = 0.12;
const CHANGE: f32 = 0.05;

/// The grid and what of it is in motion.
pub struct BandGrid {
    cells: [Cell; TONES],
}

/// One band on its way to what it was last told.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// The bar: 0 for [`QUIETEST`] or less, 1 for all of the input's power.
    level: f32,
    /// The wave: 0 for [`FAINTEST`] or less, 1 for [`LOUDEST`] or more.
    loudness: f32,
    /// 0 for muted, 1 for heard.
    sounding: f32,
    /// 0 for heard, 1 for held back.
    saturated: f32,
}

impl Default for BandGrid {
    fn default() -> Self {
        Self { cells: [Cell::default(); TONES] }
    }
}

impl BandGrid {
    /// Moves everything `seconds` on towards `bands`; true while there is way to go.
    pub fn advance(&mut self, bands: &Bands, seconds: f32) -> bool {
        let mut moving = false;
        for (cell, band) in self.cells.iter_mut().zip(&bands.bands) {
            let mut approach = |value: &mut f32, target: f32, time: f32| {
                *value = target + (*value - target) * (-seconds / time).exp();
                // Less than a shade of grey apart is there.
                if (*value - target).abs() < 1e-3 {
                    *value = target;
                }
                moving |= *value != target;
            };
            let (level, loudness) = (level(band), loudness(band));
            let time = |rises| if rises { RISE } else { FALL };
            let rises = level > cell.level;
            approach(&mut cell.level, level, time(rises));
            let rises = loudness > cell.loudness;
            approach(&mut cell.loudness, loudness, time(rises));
            let heard = if band.state == BandState::Muted { 0.0 } else { 1.0 };
            approach(&mut cell.sounding, heard, CHANGE);
            let held = if band.state == BandState::Saturated { 1.0 } else { 0.0 };
            approach(&mut cell.saturated, held, CHANGE);
        }
        moving
    }

    /// The greatest difference between two grids.
    #[cfg(test)]
    pub fn distance(&self, other: &Self) -> f32 {
        let values = |cell: &Cell| [cell.level, cell.loudness, cell.sounding, cell.saturated];
        let pairs = self.cells.iter().flat_map(values).zip(other.cells.iter().flat_map(values));
        pairs.map(|(own, other)| (own - other).abs()).fold(0.0, f32::max)
    }

    /// Paints the grid into `area`.
    pub fn paint(&self, painter: &Painter, area: Rect, scale: Scale, bands: &Bands) {
        for (tone, (cell, band)) in self.cells.iter().zip(&bands.bands).enumerate() {
            cell.paint(painter, cell_rect(area, scale, tone), scale, tone, band);
        }
    }
}

/// Where the cell of `tone` is in a grid that fills `area`.
pub fn cell_rect(area: Rect, scale: Scale, tone: usize) -> Rect {
    let gap = scale.length(5.0).max(2.0);
    let rows = TONES / COLUMNS;
    let pitch = (area.size() + Vec2::splat(gap)) / vec2(COLUMNS as f32, rows as f32);
    let corner = area.min + pitch * vec2((tone % COLUMNS) as f32, (tone / COLUMNS) as f32);
    Rect::from_min_size(corner, pitch - Vec2::splat(gap))
}

/// What a band's wave shows, 0..1.
fn loudness(band: &Band) -> f32 {
    ((10.0 * band.power.log10() - FAINTEST) / (LOUDEST - FAINTEST)).clamp(0.0, 1.0)
}

/// What a band's bar shows, 0..1. Nothing is left of a sound that has died away, even if it is all
/// that there is.
fn level(band: &Band) -> f32 {
    if loudness(band) == 0.0 { 0.0 } else { (1.0 - band.level_db() / QUIETEST).clamp(0.0, 1.0) }
}

impl Cell {
    /// Blue, green or red, or between them while the state changes.
    fn colour(&self) -> Color32 {
        let heard = theme::MUTED.lerp_to_gamma(theme::SOUNDING, self.sounding);
        heard.lerp_to_gamma(theme::SATURATED, self.saturated)
    }

    fn paint(&self, painter: &Painter, rect: Rect, scale: Scale, tone: usize, band: &Band) {
        let colour = self.colour();
        let radius = CornerRadius::same(scale.length(4.0).max(2.0) as u8);
        let glow = self.sounding * (0.10 + 0.12 * self.level);
        painter.rect_filled(rect, radius, theme::SURFACE.lerp_to_gamma(colour, glow));
        let border = theme::LINE.lerp_to_gamma(colour, 0.7 * self.sounding);
        let width = 1.0 + self.saturated;
        painter.rect_stroke(rect, radius, Stroke::new(width, border), StrokeKind::Inside);

        let inner = rect.shrink(scale.length(6.0).max(4.0));
        let line = scale.line(11.0);
        let text = theme::DIM.lerp_to_gamma(theme::TEXT, self.sounding);
        painter.text(inner.left_top(), Align2::LEFT_TOP, notes::name(tone), scale.font(13.0), text);
        let marker = pos2(inner.right() - 0.25 * line, inner.top() + 0.5 * line);
        // What hovers about the quietest level fades rather than flickers.
        let presence = (12.0 * self.level).min(1.0).max(self.sounding);
        paint_marker(painter, marker, 0.25 * line, band.state, presence);

        let bottom = inner.bottom() - 0.5 * line;
        let number = scale.font(11.0);
        let bar_width = inner.width() - 1.8 * number.size;
        let bar = Rect::from_center_size(
            pos2(inner.left() + 0.5 * bar_width, bottom),
            vec2(bar_width, scale.length(4.0).max(2.0)),
        );
        painter.rect_filled(bar, CornerRadius::same(1), theme::LINE);
        let mut filled = bar;
        filled.set_width(bar.width() * self.level);
        painter.rect_filled(filled, CornerRadius::same(1), colour);
        if presence > 0.0 {
            let db = ((1.0 - self.level) * QUIETEST).round();
            let at = pos2(inner.right(), bottom);
            painter.text(
                at,
                Align2::RIGHT_CENTER,
                db.to_string(),
                number,
                text.gamma_multiply(presence),
            );
        }

        let top = inner.top() + scale.line(13.0);
        let screen =
            Rect::from_min_max(pos2(inner.left(), top), pos2(inner.right(), bottom - 0.5 * line));
        self.paint_wave(painter, screen, scale, tone, band);
    }

    /// The band's recent output, from where it rises through zero, so that it stands still.
    fn paint_wave(&self, painter: &Painter, screen: Rect, scale: Scale, tone: usize, band: &Band) {
        // A period more for every octave: higher notes look it, and stay legible.
        let periods = (2 + tone / COLUMNS) as f32;
        let [now, before] = band.phasor;
        let zero = before.atan2(now) + TAU / 4.0 + TAU;
        let last = screen.width().max(1.0) as usize;
        let share = |point: usize| point as f32 / last as f32;
        // A band that was never told of anything has no frequency either.
        let wave: Vec<f32> = (0..=last)
            .map(|point| zero + TAU * periods * (1.0 - share(point)))
            .map(
                |angle| {
                    if band.power > 0.0 { band.wave(angle / band.angular_frequency) } else { 0.0 }
                },
            )
            .collect();
        let peak = wave.iter().fold(0.0, |peak: f32, y| peak.max(y.abs()));
        let height = if peak > 0.0 { 0.5 * screen.height() * self.loudness / peak } else { 0.0 };
        let at = |point: usize| {
            let x = egui::lerp(screen.x_range(), share(point));
            pos2(x, screen.center().y - height * wave[point])
        };
        // Points on a straight line cost as much to draw as those that bend it.
        let bends = |&point: &usize| {
            let bend = || wave[point - 1] - 2.0 * wave[point] + wave[point + 1];
            point == 0 || point == last || (height * bend()).abs() > 0.01
        };
        let line = (0..=last).filter(bends).map(at).collect();
        let presence = 0.3 + 0.4 * self.loudness + 0.3 * self.sounding;
        let width = 1.0 + scale.length(0.6) * self.sounding;
        let stroke = Stroke::new(width, self.colour().gamma_multiply(presence));
        painter.line(line, stroke);
    }
}

/// A ring for muted, a disc for sounding, a triangle for saturated; `presence` 0..1 is how strongly.
pub fn paint_marker(painter: &Painter, centre: Pos2, radius: f32, state: BandState, presence: f32) {
    let colour = theme::state_colour(state).gamma_multiply(presence);
    match state {
        BandState::Muted => {
            painter.circle_stroke(centre, radius - 0.5, Stroke::new(1.0, colour));
        }
        BandState::Sounding => {
            painter.circle_filled(centre, radius, colour);
        }
        BandState::Saturated => {
            let corner = |x: f32, y: f32| centre + 1.3 * radius * vec2(x, y);
            let points = vec![corner(0.0, -1.0), corner(1.0, 0.8), corner(-1.0, 0.8)];
            painter.add(Shape::convex_polygon(points, colour, Stroke::NONE));
        }
    }
}
