//! Bar at the top: presets, A and B, undo and redo, zoom and theme, and the output level.

use super::{
    controls::{button, menu, toggle},
    preset_browser::PresetBrowser,
    preset_files::PresetFiles,
    size,
    theme::{self, Scale},
};
use crate::{params::Keep, session::Edits};
use egui::{
    Align2, Color32, Context, CornerRadius, Key, Modifiers, Rect, Role, Sense, Shape, Stroke, Ui,
    Vec2, WidgetInfo, pos2, text::LayoutJob, vec2,
};
use plugin_guard::Track;
use tone_filter_dsp::Bands;

const ZOOMS: [f32; 6] = [0.75, 1.0, 1.25, 1.5, 1.75, 2.0];

/// Space between two buttons of a group, in points.
const GAP: f32 = 2.0;

/// Power at and below which the input counts as silence, and the gains are hidden: -110 dB relative to full scale.
const SILENCE: f32 = 1e-11;

#[derive(Debug, Clone, Copy, Default)]
pub struct OutputMeter {
    /// Peaks of the left and the right channel; 1 is full scale.
    pub peaks: [f32; 2],
    /// Processing time as a fraction of a buffer's duration; 1 is the deadline.
    pub load: f32,
}

pub fn height(scale: Scale) -> f32 {
    scale.line(12.0) + scale.length(10.0).max(5.0)
}

struct Row {
    rest: Rect,
    scale: Scale,
}

impl Row {
    fn left(&mut self, width: f32) -> Rect {
        let (place, rest) = self.rest.split_left_right_at_x(self.rest.left() + width);
        self.rest = rest;
        place
    }

    fn right(&mut self, width: f32) -> Rect {
        let (rest, place) = self.rest.split_left_right_at_x(self.rest.right() - width);
        self.rest = rest;
        place
    }

    /// Returns the width in points of a button with `chars` characters.
    fn width(&self, chars: f32) -> f32 {
        chars * 0.55 * self.scale.font(12.0).size + self.scale.length(14.0).max(6.0)
    }

    fn space(&self) -> f32 {
        self.scale.length(14.0).max(4.0)
    }
}

#[derive(Default)]
pub struct PresetBar {
    pub(super) browser: PresetBrowser,
    pub(super) files: PresetFiles,
}

impl PresetBar {
    /// Shows the bar. `bands` supplies the gains of Auto level, `output` the level and the load.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        area: Rect,
        scale: Scale,
        bands: &Bands,
        output: &OutputMeter,
        edits: &mut Edits,
    ) {
        let mut row = Row { rest: area, scale };
        // A narrow window has no room for the track, the load and the gains. The meter's tooltip always has load and gains.
        let unit = scale.length(1.0).max(0.75);
        let roomy = area.width() > 800.0 * unit;
        if area.width() > 1050.0 * unit {
            let (at, anchor, font) = (area.left_center(), Align2::LEFT_CENTER, scale.font(14.0));
            let title = theme::text(ui.painter(), at, anchor, "TONE FILTER", font, theme::TEXT);
            row.left(title.width() + row.space());
        }
        if let Some(track) = edits.host.track().filter(|_| roomy) {
            let width = show_track(ui, row.rest, scale, &track);
            row.left(width + row.space());
        }
        let auto = edits.params.chosen().settings.auto && bands.total_power > SILENCE;
        let gains = auto.then(|| gains(bands));
        show_meter(ui, &mut row, output, gains.as_deref());
        if roomy {
            // The gains keep their room in silence and while Auto level is off, so that nothing moves.
            let place = row.right(row.width(33.0));
            if let Some(gains) = &gains {
                note(ui, place, scale, gains);
                let tip = "Auto level. Input: what brings the music to the level that the resonators are made for. \
                           Effect: what makes their sound as loud as the music.";
                label(ui, place, Role::Label, "Gains of Auto level", tip);
            }
            let load = format!("CPU {:.1} %", 100.0 * output.load);
            note(ui, row.right(row.width(8.0)), scale, &load);
        }
        // All areas are computed first, as the Tab key follows the order in which buttons are shown: from left to right.
        let widths = [row.width(4.5), 2.0 * row.width(4.0) + GAP, 3.0 * row.width(1.6) + 2.0 * GAP];
        let [zoomed, steps, sounds] = widths.map(|width| {
            let place = row.right(width);
            row.right(row.space());
            place
        });
        self.presets(ui, row, edits);
        compare(ui, Row { rest: sounds, scale }, edits);
        history(ui, Row { rest: steps, scale }, edits);
        zoom(ui, zoomed, scale, edits);
    }

    fn presets(&mut self, ui: &mut Ui, mut row: Row, edits: &mut Edits) {
        let file = row.right(row.width(4.0));
        row.right(GAP);
        let side = row.rest.height();
        let (previous, next) = (row.left(side), row.right(side));
        let keep = edits.params.keep.load();
        if keep != Keep::default() {
            show_lock(ui, row.right(0.7 * side), keep);
        }
        let name = edits.preset();
        let mark = if edits.is_changed() { " *" } else { "" };
        step(ui, previous, row.scale, ("Previous preset", -1), &name, edits);
        let response = button(ui, row.rest, row.scale, "Preset", &format!("{name}{mark}"), true);
        self.browser.button = Some(response.id);
        if response.clicked() {
            self.browser.toggle(&name, edits);
        }
        step(ui, next, row.scale, ("Next preset", 1), &name, edits);
        let response = button(ui, file, row.scale, "Save and load presets", "File", true);
        if self.files.show(ui, &response, &name, edits) && !self.browser.is_open() {
            self.browser.toggle(&name, edits);
        }
    }
}

/// Paints an arrow in the middle of `place`. `size` is relative to `place`. The arrow points to the right, or with a negative
/// `size` to the left.
fn arrow(ui: &Ui, place: Rect, size: f32) {
    let size = 0.18 * place.height() * size;
    let corners = [vec2(size, 0.0), vec2(-size, -1.6 * size), vec2(-size, 1.6 * size)];
    let points = corners.map(|corner| place.center() + corner).to_vec();
    ui.painter().add(Shape::convex_polygon(points, *theme::TEXT, Stroke::NONE));
}

/// Shows a button that loads the preset `steps` places after the preset called `name`.
fn step(
    ui: &mut Ui,
    place: Rect,
    scale: Scale,
    (label, steps): (&str, isize),
    name: &str,
    edits: &mut Edits,
) {
    let response = button(ui, place, scale, label, "", true);
    arrow(ui, place, steps as f32);
    if response.clicked()
        && let Some(next) = edits.state.presets.neighbour(name, steps)
    {
        edits.load(&next);
    }
}

/// Shows a padlock, whose tooltip names the settings that loading a preset keeps.
fn show_lock(ui: &Ui, place: Rect, keep: Keep) {
    let side = 0.55 * place.width();
    let centre = place.center() + vec2(0.0, 0.25 * side);
    let body = Rect::from_center_size(centre, vec2(side, 0.7 * side));
    ui.painter().rect_filled(body, 1.0, theme::ACCENT);
    let arc = (0..=8).map(|step| {
        let (sine, cosine) = (std::f32::consts::PI * step as f32 / 8.0).sin_cos();
        body.center_top() + 0.3 * side * vec2(cosine, -1.5 * sine)
    });
    ui.painter().line(arc.collect(), Stroke::new((0.12 * side).max(1.0), theme::ACCENT));
    let kept = match keep {
        Keep { scale: true, tuning: true } => "scale and tuning",
        Keep { scale: true, .. } => "scale",
        _ => "tuning",
    };
    let text = format!("Presets do not change the {kept}");
    label(ui, place, Role::Label, &text, &text);
}

/// Shows a disc in the track's colour, and its name. Returns the width of both in points.
fn show_track(ui: &Ui, area: Rect, scale: Scale, track: &Track) -> f32 {
    let font = scale.font(12.0);
    let disc = 0.7 * font.size;
    let mut job =
        LayoutJob::simple_singleline(track.name.clone(), font.clone(), Color32::PLACEHOLDER);
    // A longer name is cut off.
    job.wrap.max_width = 6.5 * font.size;
    job.wrap.max_rows = 1;
    job.wrap.break_anywhere = true;
    let galley = ui.painter().layout_job(job);
    let mut at = area.left_center();
    if let Some(colour) = track.colour {
        let centre = at + Vec2::X * 0.5 * disc;
        ui.painter().circle_filled(centre, 0.5 * disc, theme::legible(colour));
        at.x += 1.6 * disc;
    }
    let name = Align2::LEFT_CENTER.anchor_size(at, galley.size());
    ui.painter().galley(name.min, galley, *theme::TEXT);
    let place = area.with_max_x(name.right());
    let (name, tip) = (format!("Track: {}", track.name), format!("The track: {}", track.name));
    label(ui, place, Role::Label, &name, &tip);
    place.width()
}

/// Makes `place`, which is only painted, known to screen readers as `label`, with the tooltip `tip`.
fn label(ui: &Ui, place: Rect, role: Role, label: &str, tip: &str) {
    let response = ui.interact(place, ui.scope_id().with((label, "label")), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(role, true, label));
    response.on_hover_text(tip);
}

/// Shows the switch between the sounds A and B, and between them a button that copies the current sound to the other slot.
fn compare(ui: &mut Ui, mut row: Row, edits: &mut Edits) {
    let [first, copy, second] = [(); 3].map(|()| {
        let place = row.left(row.width(1.6));
        row.left(GAP);
        place
    });
    let slot = edits.state.slot;
    let sound = |ui: &mut Ui, edits: &mut Edits, target, place, texts| {
        let id = ui.scope_id().with(("sound", target));
        let response = toggle(ui, place, row.scale, id, texts, slot == target, false);
        if response.on_hover_text(texts.0).clicked() && slot != target {
            edits.swap();
        }
    };
    sound(ui, edits, 0, first, ("First sound: A", "A"));
    let label = ["Copy A to B", "Copy B to A"][slot];
    if button(ui, copy, row.scale, label, "", true).clicked() {
        edits.copy_to_other();
    }
    arrow(ui, copy, [0.8, -0.8][slot]);
    sound(ui, edits, 1, second, ("Second sound: B", "B"));
}

fn history(ui: &mut Ui, mut row: Row, edits: &mut Edits) {
    let (can_undo, can_redo) = (edits.state.history.can_undo(), edits.state.history.can_redo());
    let place = row.left(0.5 * (row.rest.width() - GAP));
    if button(ui, place, row.scale, "Undo", "Undo", can_undo).clicked() {
        edits.undo();
    }
    row.left(GAP);
    if button(ui, row.rest, row.scale, "Redo", "Redo", can_redo).clicked() {
        edits.redo();
    }
}

/// Shows a button that opens a menu of the zoom and the theme. A zoom also resizes the window.
fn zoom(ui: &mut Ui, place: Rect, scale: Scale, edits: &mut Edits) {
    let now = edits.params.editor_zoom.load();
    let percent = |zoom: f32| format!("{:.0} %", 100.0 * zoom);
    let response = button(ui, place, scale, "Zoom", &percent(now), true);
    // Opened by the keyboard, the menu starts at the current zoom.
    let starts = response.clicked() && response.has_focus();
    menu(&response, |ui| {
        let contrast = &edits.params.editor_contrast;
        let mut on = contrast.load();
        ui.scope(|ui| {
            theme::outline(ui);
            if ui.checkbox(&mut on, "High contrast").clicked() {
                contrast.store(on);
            }
        });
        ui.separator();
        for zoom in ZOOMS {
            let entry = ui.selectable_label(zoom == now, percent(zoom));
            if zoom == now && starts {
                entry.request_focus();
            }
            if entry.clicked() {
                size::zoom(ui.ctx(), zoom, edits.host);
            }
        }
    });
}

/// Changes the zoom by a step for Ctrl (on macOS Command) with Plus or Minus.
pub fn zoom_by_keys(ctx: &Context, edits: &Edits) {
    let now = edits.params.editor_zoom.load();
    let presses = |key| ctx.input_mut(|input| input.consume_key(Modifiers::COMMAND, key));
    let next = match (presses(Key::Plus) || presses(Key::Equals), presses(Key::Minus)) {
        (true, _) => ZOOMS.into_iter().find(|zoom| *zoom > now),
        (_, true) => ZOOMS.into_iter().rfind(|zoom| *zoom < now),
        _ => None,
    };
    if let Some(zoom) = next {
        size::zoom(ctx, zoom, edits.host);
    }
}

/// Shows the output level. The tooltip also has the load, and the text `gains` about Auto level.
fn show_meter(ui: &Ui, row: &mut Row, output: &OutputMeter, gains: Option<&str>) {
    let bars = row.right(row.scale.length(90.0).max(36.0));
    let height = (0.16 * bars.height()).max(2.0);
    let levels = output.peaks.map(|peak| 20.0 * peak.max(1e-6).log10());
    for (channel, db) in levels.into_iter().enumerate() {
        let y = bars.center().y + (channel as f32 - 0.5) * 1.6 * height;
        let bar = Rect::from_center_size(pos2(bars.center().x, y), vec2(bars.width(), height));
        ui.painter().rect_filled(bar, CornerRadius::same(1), theme::LINE);
        let filled = ((db + 60.0) / 60.0).clamp(0.0, 1.0);
        let colour = if db > 0.0 { theme::ALARM } else { theme::ACCENT };
        let filled = Rect::from_min_size(bar.min, bar.size() * vec2(filled, 1.0));
        ui.painter().rect_filled(filled, CornerRadius::same(1), colour);
    }
    let [left, right] = levels;
    let gains = gains.map(|gains| format!("\n{gains}")).unwrap_or_default();
    let load = 100.0 * output.load;
    let tip = format!("Output {left:.1} and {right:.1} dB full scale{gains}\nCPU {load:.1} %");
    label(ui, bars, Role::Meter, "Output level", &tip);
    row.right(row.scale.length(8.0));
}

fn gains(bands: &Bands) -> String {
    let [input, wet] = [bands.gain, bands.makeup].map(|gain| 20.0 * gain.log10());
    format!("Auto level: input {input:+.1} dB, effect {wet:+.1} dB")
}

/// Paints a line of text at the right of `place`.
fn note(ui: &Ui, place: Rect, scale: Scale, text: &str) {
    let (at, font) = (place.right_center(), scale.font(11.0));
    theme::text(ui.painter(), at, Align2::RIGHT_CENTER, text, font, theme::DIM);
}
