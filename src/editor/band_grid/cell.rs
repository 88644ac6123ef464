//! Cell of one band: name, marker, level bar and wave.

use crate::editor::{
    band_grid::COLUMNS,
    theme::{self, Scale, state_colour},
};
use egui::{
    Align2, Color32, CornerRadius, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, pos2, vec2,
};
use tone_filter_dsp::{Band, BandState, notes};

/// Level at and below which the bar is empty, in dB relative to the input's total power.
pub const QUIETEST: f32 = -60.0;

/// Power at and below which the wave is flat, in dB relative to full scale.
const FAINTEST: f32 = -80.0;
/// Power at and above which the wave has full height, in dB relative to full scale.
const LOUDEST: f32 = -10.0;

/// Maximum error of a drawn wave, in points.
const DEVIATION: f32 = 0.05;

/// Animated values of one band, which move smoothly to the values of the last update.
#[derive(Clone, Copy, Default)]
pub struct Cell {
    /// Length of the bar: 0 at [`QUIETEST`] or less, 1 if the band has all of the input's power.
    pub level: f32,
    /// Position of the peak mark on the bar, 0..1.
    pub peak: f32,
    /// Remaining hold time of the peak, in seconds.
    pub hold: f32,
    /// Height of the wave: 0 at [`FAINTEST`] or less, 1 at [`LOUDEST`] or more.
    pub loudness: f32,
    /// Opacity of the colour of sounding notes: 1 for a note that sounds, even at the ceiling, otherwise 0.
    pub sounding: f32,
    /// Opacity of the colour of saturated notes, over the colour of sounding ones: 1 for a note at the ceiling, otherwise 0.
    pub saturated: f32,
}

/// Returns the height of a band's wave, 0..1. `gain` is the factor of Auto level on the input.
pub fn loudness(band: &Band, gain: f32) -> f32 {
    let power = gain * gain * band.power;
    ((10.0 * power.log10() - FAINTEST) / (LOUDEST - FAINTEST)).clamp(0.0, 1.0)
}

/// Returns the length of a band's level bar, 0..1.
pub fn level(band: &Band) -> f32 {
    (1.0 - band.level_db() / QUIETEST).clamp(0.0, 1.0)
}

/// Part of a cell's state that changes without animation.
pub struct CellState<'a> {
    pub band: &'a Band,
    /// Whether mask, scale and keys let the band sound.
    pub may_sound: bool,
    /// Whether the user's mask of the bands includes the band.
    pub in_mask: bool,
    pub hovered: bool,
}

impl Cell {
    fn colour(&self) -> Color32 {
        let [inactive, sounding, saturated] =
            [BandState::Inactive, BandState::Sounding, BandState::Saturated].map(state_colour);
        inactive.lerp_to_gamma(*sounding, self.sounding).lerp_to_gamma(*saturated, self.saturated)
    }

    pub fn paint(
        &self,
        painter: &Painter,
        rect: Rect,
        scale: Scale,
        tone: usize,
        state: &CellState,
    ) {
        let colour = self.colour();
        let radius = CornerRadius::same(scale.length(4.0).max(2.0) as u8);
        let glow = self.sounding * (0.10 + 0.12 * self.level);
        let surface = if state.may_sound { theme::SURFACE } else { theme::BACKGROUND };
        let border = theme::LINE.lerp_to_gamma(colour, 0.7 * self.sounding);
        let border = if state.hovered { border.lerp_to_gamma(*theme::TEXT, 0.5) } else { border };
        let stroke = Stroke::new(1.0 + self.saturated, border);
        let fill = surface.lerp_to_gamma(colour, glow);
        painter.rect(rect, radius, fill, stroke, StrokeKind::Inside);

        let margin = scale.length(6.0).max(4.0);
        let line = scale.line(11.0);
        // A low cell has one line of text, and the bar below the text.
        let low = rect.height() < 2.0 * (margin + line);
        let inner = rect.shrink2(vec2(margin, if low { 1.0 } else { margin }));
        let text = theme::IDLE.lerp_to_gamma(*theme::TEXT, self.sounding);
        let name = scale.font(13.0);
        theme::text(painter, inner.left_top(), Align2::LEFT_TOP, notes::name(tone), name, text);
        let marker = pos2(inner.right() - 0.25 * line, inner.top() + 0.5 * line);
        // At levels near 0, the marker fades in and out instead of flickering.
        let presence = (12.0 * self.level).min(1.0).max(self.sounding);
        // A band that is muted by hand still sounds while its key is held.
        if state.in_mask || state.may_sound {
            let state = state.band.state;
            paint_marker(painter, marker, 0.25 * line, state, presence);
        } else {
            paint_cross(painter, marker, 0.2 * line);
        }
        if !state.may_sound && self.loudness == 0.0 {
            return;
        }

        let bottom = inner.bottom() - if low { 1.5 } else { 0.5 * line };
        let number = scale.font(11.0);
        let bar_width = inner.width() - if low { 0.0 } else { 1.8 * number.size };
        let bar = Rect::from_center_size(
            pos2(inner.left() + 0.5 * bar_width, bottom),
            vec2(bar_width, scale.length(4.0).max(2.0)),
        );
        painter.rect_filled(bar, CornerRadius::same(1), theme::LINE);
        let mut filled = bar;
        filled.set_width(bar.width() * self.level);
        painter.rect_filled(filled, CornerRadius::same(1), colour);
        if self.peak > self.level {
            let x = bar.left() + self.peak * bar.width();
            let peak = Stroke::new(scale.length(1.5).max(1.0), colour);
            painter.vline(x, bar.y_range().expand(1.0), peak);
        }
        if presence > 0.0 && !low {
            let db = ((1.0 - self.level) * QUIETEST).round();
            let at = pos2(inner.right(), bottom);
            let text = text.gamma_multiply((60.0 * self.level).min(1.0).max(self.sounding));
            theme::text(painter, at, Align2::RIGHT_CENTER, &db.to_string(), number, text);
        }

        let top = inner.top() + scale.line(13.0);
        let screen =
            Rect::from_min_max(pos2(inner.left(), top), pos2(inner.right(), bottom - 0.5 * line));
        if screen.height() > 4.0 {
            self.paint_wave(painter, screen, scale, tone, state.band);
        }
    }

    fn paint_wave(&self, painter: &Painter, screen: Rect, scale: Scale, tone: usize, band: &Band) {
        // Each octave shows one more period, so that higher notes look higher and stay legible.
        let octave = notes::semitone(tone).max(0) / COLUMNS as i32;
        let periods = (2 + octave) as f32;
        let last = screen.width().max(1.0) as usize;
        let share = |point: usize| point as f32 / last as f32;
        let mut wave = vec![0.0; last + 1];
        band.trace(periods, &mut wave);
        let height = 0.5 * screen.height() * self.loudness;
        let at = |point: usize| {
            let x = egui::lerp(screen.x_range(), share(point));
            pos2(x, screen.center().y - height * wave[point])
        };
        // Each point costs time to draw, so points on a nearly straight line are left out. Where the slope changes by `bend` over
        // `run` points, the error of a straight line is `bend * run / 8`.
        let mut line = vec![at(0)];
        let (mut bend, mut run) = (0.0, 0.0);
        for point in 1..last {
            bend += (height * (wave[point - 1] - 2.0 * wave[point] + wave[point + 1])).abs();
            run += 1.0;
            if bend * run > 8.0 * DEVIATION {
                line.push(at(point));
                (bend, run) = (0.0, 0.0);
            }
        }
        line.push(at(last));
        let presence = 0.3 + 0.4 * self.loudness + 0.3 * self.sounding;
        let width = 1.0 + scale.length(0.6) * self.sounding;
        let stroke = Stroke::new(width, self.colour().gamma_multiply(presence));
        painter.line(line, stroke);
    }
}

pub fn paint_cross(painter: &Painter, centre: Pos2, radius: f32) {
    let stroke = Stroke::new(1.0, theme::DIM);
    for y in [-radius, radius] {
        painter.line_segment([centre - vec2(radius, y), centre + vec2(radius, y)], stroke);
    }
}

/// Paints the mark of a state: ring for inactive, disc for sounding, triangle for saturated. `presence` is its opacity, 0..1.
pub fn paint_marker(painter: &Painter, centre: Pos2, radius: f32, state: BandState, presence: f32) {
    let colour = state_colour(state).gamma_multiply(presence);
    match state {
        BandState::Inactive => {
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
