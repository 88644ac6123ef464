//! The 48 bands as a grid: one row per octave, one column per pitch class.

use super::{
    controls::focus_ring,
    edits::Edits,
    theme::{self, Scale},
};
use crate::dsp::{
    Band, BandMask, BandState, Bands, Keys, Settings,
    notes::{self, PITCH_CLASSES, TONES},
};
use egui::{
    self, Align2, Color32, CornerRadius, Painter, PointerButton, Pos2, Rect, Response, Role, Sense,
    Shape, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, pos2, vec2,
};
use std::f32::consts::TAU;

/// The grid's columns.
const COLUMNS: usize = PITCH_CLASSES.len();

/// The level in dB, relative to the total power, at which a bar is empty.
const QUIETEST: f32 = -60.0;

/// The powers in dB full scale at which a wave has no height and its full height.
const FAINTEST: f32 = -80.0;
const LOUDEST: f32 = -10.0;

/// Time constants in seconds of rising levels, falling levels and changes of state.
const RISE: f32 = 0.02;
const FALL: f32 = 0.12;
const CHANGE: f32 = 0.05;

/// Seconds for which a peak is held, and in which it then falls by the whole bar.
const HOLD: f32 = 0.8;
const FADE: f32 = 2.0;

/// Greatest error of a drawn wave, in points.
const DEVIATION: f32 = 0.05;

/// The mouse actions on a cell, for its tooltip.
const HELP: &str = "Click mutes, alt-click solos, drag paints, right-click brings all back";

/// The grid with the animation of its cells.
pub struct BandGrid {
    cells: [Cell; TONES],
    /// A drag over the cells: whether it switches them on, and its last position.
    painting: Option<(bool, Pos2)>,
    /// The cell under the pointer.
    pub hovered: Option<usize>,
}

/// The displayed values of one band, which follow those of the last update.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// The bar: 0 for [`QUIETEST`] or less, 1 for all of the input's power.
    level: f32,
    /// The held peak of the bar, and the seconds for which it is still held.
    peak: f32,
    hold: f32,
    /// The wave: 0 for [`FAINTEST`] or less, 1 for [`LOUDEST`] or more.
    loudness: f32,
    /// 0 for not played, 1 for sounding or held back.
    sounding: f32,
    /// 0 for sounding, 1 for held back.
    saturated: f32,
}

impl Default for BandGrid {
    fn default() -> Self {
        Self { cells: [Cell::default(); TONES], painting: None, hovered: None }
    }
}

/// The bands that may sound while the keys of the bands `held` are held, as [`ToneFilter::sounding_bands`] has them.
///
/// [`ToneFilter::sounding_bands`]: crate::dsp::ToneFilter::sounding_bands
pub fn sounding_bands(settings: &Settings, held: BandMask) -> BandMask {
    match settings.keys {
        Keys::Off => settings.sounding_bands(),
        Keys::Hold | Keys::HoldAny => held,
        Keys::Add => (0..TONES)
            .filter(|&tone| held.contains(tone))
            .fold(settings.sounding_bands(), |mask, tone| mask.with(tone, true)),
    }
}

impl BandGrid {
    /// Advances the animation by `seconds` towards `bands`, of which only those of `sounding` may sound; true until it has
    /// arrived.
    pub fn advance(&mut self, bands: &Bands, sounding: BandMask, seconds: f32) -> bool {
        let mut moving = false;
        for (tone, (cell, band)) in self.cells.iter_mut().zip(&bands.bands).enumerate() {
            let state = state(band, sounding.contains(tone));
            let mut approach = |value: &mut f32, target: f32, time: f32| {
                *value = target + (*value - target) * (-seconds / time).exp();
                // A difference of less than one step of brightness cannot be seen.
                if (*value - target).abs() < 1e-3 {
                    *value = target;
                }
                moving |= *value != target;
            };
            let loudness = loudness(band, bands.gain);
            let level = if loudness == 0.0 { 0.0 } else { level(band) };
            let time = |rises| if rises { RISE } else { FALL };
            let rises = level > cell.level;
            approach(&mut cell.level, level, time(rises));
            let rises = loudness > cell.loudness;
            approach(&mut cell.loudness, loudness, time(rises));
            let heard = if state == BandState::Muted { 0.0 } else { 1.0 };
            approach(&mut cell.sounding, heard, CHANGE);
            let held = if state == BandState::Saturated { 1.0 } else { 0.0 };
            approach(&mut cell.saturated, held, CHANGE);
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

    /// The greatest difference between the displayed values of two grids.
    #[cfg(test)]
    pub fn distance(&self, other: &Self) -> f32 {
        let values = |cell: &Cell| [cell.level, cell.loudness, cell.sounding, cell.saturated];
        let pairs = self.cells.iter().flat_map(values).zip(other.cells.iter().flat_map(values));
        pairs.map(|(own, other)| (own - other).abs()).fold(0.0, f32::max)
    }

    /// Shows the grid in `area`, while the keys of the bands `held` are held.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        area: Rect,
        bands: &Bands,
        held: BandMask,
        edits: &mut Edits,
    ) {
        let settings = edits.params.chosen();
        let sounding = sounding_bands(&settings, held);
        let gap = gap(area);
        self.hovered = None;
        for tone in 0..TONES {
            let rect = cell_rect(area, gap, tone);
            let id = ui.scope_id().with(("band", tone));
            let response = ui.interact(rect, id, Sense::click_and_drag());
            let on = settings.bands.contains(tone);
            response.widget_info(|| {
                WidgetInfo::selected(
                    Role::CheckBox,
                    true,
                    on,
                    format!("Band {}", notes::name(tone)),
                )
            });
            self.edit(ui, &response, tone, area, edits);
            let look = Look {
                band: &bands.bands[tone],
                sounds: sounding.contains(tone),
                on,
                hovered: response.hovered(),
            };
            self.cells[tone].paint(ui.painter(), rect, Scale::of_cell(rect.size()), tone, &look);
            focus_ring(ui, &response);
            if response.hovered() {
                self.hovered = Some(tone);
                response.on_hover_ui_at_pointer(|ui| describe(ui, tone, &settings, &look));
            }
        }
    }

    /// Applies mouse and keyboard input to the cell of `tone`.
    fn edit(&mut self, ui: &Ui, response: &Response, tone: usize, area: Rect, edits: &mut Edits) {
        let bands = edits.params.bands.load();
        let on = bands.contains(tone);
        if response.secondary_clicked() {
            edits.set_bands(BandMask::ALL);
        } else if response.clicked() {
            let solo = BandMask::NONE.with(tone, true);
            edits.set_bands(match ui.input(|input| input.modifiers.alt) {
                // A second alt-click ends the solo.
                true if bands == solo => BandMask::ALL,
                true => solo,
                false => bands.with(tone, !on),
            });
        }
        if response.drag_started_by(PointerButton::Primary)
            && let Some(start) = ui.input(|input| input.pointer.press_origin())
        {
            self.painting = Some((!on, start));
            edits.begin_painting();
        }
        let dragged = response.dragged() || response.drag_stopped();
        let Some((paint, last)) = self.painting.filter(|_| dragged) else { return };
        let to = response.interact_pointer_pos().unwrap_or(last);
        // Cells between two positions of a fast pointer are included.
        let steps = (to.distance(last) / 4.0).ceil().max(1.0);
        let path = (0..=steps as usize).map(|step| last.lerp(to, step as f32 / steps));
        let cells = path.filter_map(|at| cell_at(area, at));
        edits.paint(cells.fold(bands, |bands, tone| bands.with(tone, paint)));
        self.painting = Some((paint, to));
        if response.drag_stopped() {
            self.painting = None;
            edits.end_painting();
        }
    }
}

/// The tooltip of the cell of `tone`: note, frequency, level and state.
fn describe(ui: &mut Ui, tone: usize, settings: &Settings, look: &Look) {
    let (tuning, transpose) = (f64::from(settings.tuning), f64::from(settings.transpose));
    let hertz = notes::frequency(tone, tuning, transpose);
    let level = match look.band.level_db() {
        db if db >= QUIETEST => format!("{db:.1} dB of the whole sound"),
        _ => "silent".to_owned(),
    };
    ui.label(format!("{}   {hertz:.1} Hz   {level}", notes::name(tone)));
    let why = match settings.keys {
        _ if look.sounds => look.band.state.name(),
        Keys::Hold | Keys::HoldAny => "No key holds it",
        _ if look.on => "Not in the scale",
        _ => "Muted by hand",
    };
    ui.weak(format!("{why}. {HELP}"));
}

/// The space between cells of a grid that fills `area`.
pub fn gap(area: Rect) -> f32 {
    (0.005 * area.width()).clamp(2.0, 10.0)
}

/// The cell at `position` of a grid that fills `area`.
fn cell_at(area: Rect, position: Pos2) -> Option<usize> {
    (0..TONES).find(|&tone| cell_rect(area, gap(area), tone).contains(position))
}

/// The horizontal range of column `index` in a grid that fills `area`.
pub fn column(area: Rect, index: usize) -> egui::Rangef {
    cell_rect(area, gap(area), index).x_range()
}

/// Where the cell of `tone` is in a grid that fills `area`.
pub fn cell_rect(area: Rect, gap: f32, tone: usize) -> Rect {
    let rows = TONES / COLUMNS;
    let pitch = (area.size() + Vec2::splat(gap)) / vec2(COLUMNS as f32, rows as f32);
    let corner = area.min + pitch * vec2((tone % COLUMNS) as f32, (tone / COLUMNS) as f32);
    Rect::from_min_size(corner, pitch - Vec2::splat(gap))
}

/// The state in which a band is shown that may sound or not, as `sounds` says.
fn state(band: &Band, sounds: bool) -> BandState {
    if sounds { band.state } else { BandState::Muted }
}

/// The height of a band's wave, 0..1, for an input gain of `gain`.
fn loudness(band: &Band, gain: f32) -> f32 {
    let power = gain * gain * band.power;
    ((10.0 * power.log10() - FAINTEST) / (LOUDEST - FAINTEST)).clamp(0.0, 1.0)
}

/// The length of a band's bar, 0..1.
fn level(band: &Band) -> f32 {
    (1.0 - band.level_db() / QUIETEST).clamp(0.0, 1.0)
}

/// The part of a cell's appearance that is not animated.
struct Look<'a> {
    band: &'a Band,
    /// It may sound, by the mask, the scale and the keys.
    sounds: bool,
    /// Not muted by edits.
    on: bool,
    hovered: bool,
}

impl Cell {
    /// The colour of the state, blended while the state changes.
    fn colour(&self) -> Color32 {
        let heard = theme::MUTED.lerp_to_gamma(theme::SOUNDING, self.sounding);
        heard.lerp_to_gamma(theme::SATURATED, self.saturated)
    }

    fn paint(&self, painter: &Painter, rect: Rect, scale: Scale, tone: usize, look: &Look) {
        let colour = self.colour();
        let radius = CornerRadius::same(scale.length(4.0).max(2.0) as u8);
        let glow = self.sounding * (0.10 + 0.12 * self.level);
        let surface = if look.sounds { theme::SURFACE } else { theme::BACKGROUND };
        let border = theme::LINE.lerp_to_gamma(colour, 0.7 * self.sounding);
        let border = if look.hovered { border.lerp_to_gamma(theme::TEXT, 0.5) } else { border };
        let stroke = Stroke::new(1.0 + self.saturated, border);
        let fill = surface.lerp_to_gamma(colour, glow);
        painter.rect(rect, radius, fill, stroke, StrokeKind::Inside);

        let inner = rect.shrink(scale.length(6.0).max(4.0));
        let line = scale.line(11.0);
        let text = theme::DIM.lerp_to_gamma(theme::TEXT, self.sounding);
        let text = if look.sounds { text } else { text.gamma_multiply(0.5) };
        let name = scale.font(13.0);
        theme::text(painter, inner.left_top(), Align2::LEFT_TOP, notes::name(tone), name, text);
        let marker = pos2(inner.right() - 0.25 * line, inner.top() + 0.5 * line);
        // Levels near the end of the bar fade in and out instead of flickering.
        let presence = (12.0 * self.level).min(1.0).max(self.sounding);
        // A key brings back a band that is muted.
        if look.on || look.sounds {
            let state = state(look.band, look.sounds);
            paint_marker(painter, marker, 0.25 * line, state, presence);
        } else {
            paint_cross(painter, marker, 0.2 * line);
        }
        if !look.sounds && self.loudness == 0.0 {
            return;
        }

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
        if self.peak > self.level {
            let x = bar.left() + self.peak * bar.width();
            let peak = Stroke::new(scale.length(1.5).max(1.0), colour);
            painter.vline(x, bar.y_range().expand(1.0), peak);
        }
        if presence > 0.0 {
            let db = ((1.0 - self.level) * QUIETEST).round();
            let at = pos2(inner.right(), bottom);
            let text = text.gamma_multiply(presence);
            theme::text(painter, at, Align2::RIGHT_CENTER, &db.to_string(), number, text);
        }

        let top = inner.top() + scale.line(13.0);
        let screen =
            Rect::from_min_max(pos2(inner.left(), top), pos2(inner.right(), bottom - 0.5 * line));
        if screen.height() > 4.0 {
            self.paint_wave(painter, screen, scale, tone, look.band);
        }
    }

    /// Paints the band's recent output. It starts at a rising zero crossing, so that the display stands still.
    fn paint_wave(&self, painter: &Painter, screen: Rect, scale: Scale, tone: usize, band: &Band) {
        // One more period per octave, so that higher notes look higher and stay legible.
        let periods = (2 + tone / COLUMNS) as f32;
        let [now, before] = band.phasor;
        let zero = before.atan2(now) + TAU / 4.0 + TAU;
        let last = screen.width().max(1.0) as usize;
        let share = |point: usize| point as f32 / last as f32;
        // Before the first update the frequency is 0, and so is the power.
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
        // Points on a nearly straight line are left out, as each point costs time to draw. Where the slope changes
        // by `bend` over `run` points, the error of a straight line is an eighth of their product.
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

/// The mark of a band that is muted by edits.
pub fn paint_cross(painter: &Painter, centre: Pos2, radius: f32) {
    let stroke = Stroke::new(1.0, theme::DIM);
    for y in [-radius, radius] {
        painter.line_segment([centre - vec2(radius, y), centre + vec2(radius, y)], stroke);
    }
}

/// Paints a ring for a note that is not played, a disc for one that sounds, a triangle for one that is held back.
/// `presence` is its opacity, 0..1.
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
