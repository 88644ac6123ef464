//! The spectrum of what goes in and of what comes out, over the bands' frequencies.

use super::theme::{self, Scale};
use crate::{
    dsp::{
        Settings,
        notes::{self, TONES},
    },
    meters::MeterViewer,
};
use egui::{Align2, Color32, Mesh, Rect, Shape, Stroke, Ui, epaint::WHITE_UV, pos2};
use realfft::{RealFftPlanner, RealToComplex, num_complex::Complex32};
use std::{f32::consts::TAU, sync::Arc};

/// Points of a curve.
const POINTS: usize = 256;

/// The levels at the bottom and at the top, in dB of a sine at full scale.
const QUIETEST: f32 = -90.0;
const LOUDEST: f32 = 0.0;

/// Time constant, in seconds, of a curve that falls.
const FALL: f32 = 0.15;

/// Seconds of sound in a spectrum, at least: enough to tell the lowest notes apart.
const LENGTH: f32 = 0.15;

/// Dry and wet.
#[derive(Default)]
pub struct Spectrum {
    transform: Option<Transform>,
    curves: [Curve; 2],
}

/// What depends on the sample rate.
struct Transform {
    sample_rate: f32,
    fft: Arc<dyn RealToComplex<f32>>,
    window: Vec<f32>,
    input: Vec<f32>,
    output: Vec<Complex32>,
}

/// The sound of one of the two, and its spectrum.
#[derive(Default)]
struct Curve {
    /// The latest samples, the newest last.
    samples: Vec<f32>,
    /// The amplitude of every bin, 1 for a sine at full scale.
    bins: Vec<f32>,
    /// Heights, 0..1, on their way to what was last heard.
    heights: Vec<f32>,
    targets: Vec<f32>,
}

impl Spectrum {
    /// Takes over what `viewer` has heard at `sample_rate` Hz.
    pub fn listen(&mut self, viewer: &mut MeterViewer, sample_rate: f32) {
        let transform = match &mut self.transform {
            Some(transform) if transform.sample_rate == sample_rate => transform,
            transform => transform.insert(Transform::new(sample_rate)),
        };
        for (curve, samples) in self.curves.iter_mut().zip(viewer.samples()) {
            curve.samples.extend(samples);
            let excess = curve.samples.len().saturating_sub(transform.window.len());
            curve.samples.drain(..excess);
            transform.run(curve);
        }
    }

    /// Forgets what was heard.
    pub fn clear(&mut self) {
        for curve in &mut self.curves {
            curve.samples.clear();
            curve.bins.clear();
        }
    }

    /// Moves the curves `seconds` on; true while they move.
    pub fn advance(&mut self, seconds: f32) -> bool {
        let keep = (-seconds / FALL).exp();
        let mut moving = false;
        for curve in &mut self.curves {
            if curve.bins.is_empty() {
                curve.targets.fill(0.0);
            }
            for (height, target) in curve.heights.iter_mut().zip(&curve.targets) {
                let fallen = target + (*height - target) * keep;
                *height = if fallen - target < 1e-3 { *target } else { fallen };
                moving |= *height != *target;
            }
        }
        moving
    }

    /// Shows both curves in `area`, the bands' frequencies for `settings`, and that of `hovered`.
    pub fn show(
        &mut self,
        ui: &Ui,
        area: Rect,
        scale: Scale,
        settings: &Settings,
        hovered: Option<usize>,
    ) {
        let (tuning, transpose) = (f64::from(settings.tuning), f64::from(settings.transpose));
        let hertz = |tone| notes::frequency(tone, tuning, transpose) as f32;
        // An octave below the lowest band, and one and a half above the highest.
        let range = [hertz(0) / 2.0, hertz(TONES - 1) * 3.0];
        if let Some(transform) = &self.transform {
            let width = transform.sample_rate / transform.window.len() as f32;
            self.curves.iter_mut().for_each(|curve| curve.aim(range, width));
        }

        let painter = ui.painter();
        painter.rect_filled(area, scale.length(4.0).max(2.0), theme::SURFACE.gamma_multiply(0.5));
        let x = |hertz: f32| {
            let share = (hertz / range[0]).ln() / (range[1] / range[0]).ln();
            egui::lerp(area.x_range(), share)
        };
        let font = scale.font(9.0);
        for db in [-72.0, -48.0, -24.0] {
            let y = egui::remap(db, QUIETEST..=LOUDEST, area.bottom()..=area.top());
            painter.hline(area.x_range(), y, Stroke::new(1.0, theme::LINE.gamma_multiply(0.6)));
            if area.height() > 5.0 * font.size {
                let at = pos2(area.right() - 3.0, y);
                let text = format!("{db:.0} dB");
                painter.text(at, Align2::RIGHT_BOTTOM, text, font.clone(), theme::DIM);
            }
        }
        self.curves[0].fill(ui, area, theme::DIM.gamma_multiply(0.45));
        self.curves[1].line(ui, area, theme::ACCENT);
        for tone in 0..TONES {
            let octave = tone % 12 == 0;
            let length = if octave { 0.14 } else { 0.06 } * area.height();
            let colour = if octave { theme::DIM } else { theme::LINE };
            let y = area.bottom() - length..=area.bottom();
            painter.vline(x(hertz(tone)), y, Stroke::new(1.0, colour));
            if octave {
                let at = pos2(x(hertz(tone)) + 3.0, area.bottom() - 1.0);
                let name = notes::name(tone);
                painter.text(at, Align2::LEFT_BOTTOM, name, font.clone(), theme::DIM);
            }
        }
        if let Some(tone) = hovered {
            let stroke = Stroke::new(1.0, theme::TEXT.gamma_multiply(0.7));
            painter.vline(x(hertz(tone)), area.y_range(), stroke);
        }
        let at = area.left_top() + egui::vec2(6.0, 3.0);
        let dry = painter.text(at, Align2::LEFT_TOP, "dry", font.clone(), theme::DIM);
        let at = dry.right_top() + egui::vec2(8.0, 0.0);
        painter.text(at, Align2::LEFT_TOP, "output", font, theme::ACCENT);
    }
}

impl Transform {
    fn new(sample_rate: f32) -> Self {
        let length = ((LENGTH * sample_rate) as usize).next_power_of_two();
        let turn = TAU / length as f32;
        let window: Vec<f32> =
            (0..length).map(|index| 0.5 - 0.5 * (turn * index as f32).cos()).collect();
        let fft = RealFftPlanner::new().plan_fft_forward(length);
        let (input, output) = (fft.make_input_vec(), fft.make_output_vec());
        Self { sample_rate, fft, window, input, output }
    }

    fn run(&mut self, curve: &mut Curve) {
        // Before there is enough, it is as if there had been silence.
        let start = self.window.len() - curve.samples.len();
        self.input[..start].fill(0.0);
        let heard = curve.samples.iter().zip(&self.window[start..]);
        for (input, (sample, window)) in self.input[start..].iter_mut().zip(heard) {
            *input = sample * window;
        }
        // It fails only for buffers of another length.
        if self.fft.process(&mut self.input, &mut self.output).is_ok() {
            // The mean of the window is a half, and a sine is half in the negative frequencies.
            let gain = 4.0 / self.window.len() as f32;
            curve.bins.clear();
            curve.bins.extend(self.output.iter().map(|bin| gain * bin.norm()));
        }
    }
}

impl Curve {
    /// Sets out for the bins, `width` Hz each, over the `range` in Hz; up at once, down slowly.
    fn aim(&mut self, range: [f32; 2], width: f32) {
        self.heights.resize(POINTS, 0.0);
        self.targets.resize(POINTS, 0.0);
        if self.bins.is_empty() {
            return;
        }
        let ratio = (range[1] / range[0]).powf(1.0 / POINTS as f32);
        let mut place = range[0] / width;
        for (height, target) in self.heights.iter_mut().zip(&mut self.targets) {
            let next = place * ratio;
            let first = (place.round() as usize).min(self.bins.len() - 1);
            let last = (next.round() as usize).clamp(first + 1, self.bins.len().max(first + 1));
            let loudest = self.bins[first..last].iter().fold(0.0, |max: f32, bin| max.max(*bin));
            let db = 20.0 * loudest.max(1e-9).log10();
            *target = ((db - QUIETEST) / (LOUDEST - QUIETEST)).clamp(0.0, 1.0);
            *height = height.max(*target);
            place = next;
        }
    }

    fn points(&self, area: Rect) -> impl Iterator<Item = egui::Pos2> {
        self.heights.iter().enumerate().map(move |(index, height)| {
            let x = egui::lerp(area.x_range(), (index as f32 + 0.5) / POINTS as f32);
            pos2(x, area.bottom() - height * area.height())
        })
    }

    fn fill(&self, ui: &Ui, area: Rect, colour: Color32) {
        let mut mesh = Mesh::default();
        for (index, point) in self.points(area).enumerate() {
            for pos in [point, pos2(point.x, area.bottom())] {
                mesh.vertices.push(egui::epaint::Vertex { pos, uv: WHITE_UV, color: colour });
            }
            if let Some(from) = (2 * index as u32).checked_sub(2) {
                mesh.add_triangle(from, from + 1, from + 2);
                mesh.add_triangle(from + 1, from + 2, from + 3);
            }
        }
        ui.painter().add(Shape::mesh(mesh));
    }

    fn line(&self, ui: &Ui, area: Rect, colour: Color32) {
        if self.heights.iter().any(|height| *height > 0.0) {
            ui.painter().line(self.points(area).collect(), Stroke::new(1.0, colour));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sine_stands_at_its_frequency_and_at_its_level() {
        for rate in [44_100.0, 48_000.0, 192_000.0] {
            for (hertz, db) in [(220.0, -6.0), (3322.0, -30.0)] {
                let mut transform = Transform::new(rate);
                let amplitude = 10f64.powf(db / 20.0);
                let turn = std::f64::consts::TAU * hertz / f64::from(rate);
                let sample = |frame| (amplitude * (turn * f64::from(frame)).sin()) as f32;
                let samples = (0..transform.window.len() as u32).map(sample).collect();
                let mut curve = Curve { samples, ..Curve::default() };
                transform.run(&mut curve);
                let width = rate / transform.window.len() as f32;
                curve.aim([110.0, 10_000.0], width);

                let point = |hertz: f64| {
                    (hertz / 110.0).ln() / (10_000f64 / 110.0).ln() * POINTS as f64 - 0.5
                };
                let peak =
                    (0..POINTS).max_by(|a, b| curve.heights[*a].total_cmp(&curve.heights[*b]));
                let peak = peak.unwrap() as f64;
                // A bin of the transform is wider than a point of the curve at the lowest notes.
                let bin = point(hertz + f64::from(width)) - point(hertz);
                assert!((peak - point(hertz)).abs() <= bin + 1.0, "{hertz} Hz at {peak}");
                // The Hann window loses at most 1.42 dB between two bins.
                let height = curve.heights[peak as usize];
                let level = f64::from(QUIETEST + height * (LOUDEST - QUIETEST));
                assert!((-1.43..0.01).contains(&(level - db)), "{level} dB for {db}");
                // Two octaves away there is nothing.
                let away = curve.heights[point(880.0) as usize];
                assert!(away < 0.15, "{away}");
            }
        }
    }

    #[test]
    fn curves_fall_to_rest() {
        let mut spectrum = Spectrum::default();
        spectrum.curves[0].heights = vec![1.0; POINTS];
        spectrum.curves[0].targets = vec![1.0; POINTS];
        spectrum.clear();
        let frames = (0..1000).take_while(|_| spectrum.advance(0.02)).count();
        assert!((20..200).contains(&frames), "{frames}");
        assert!(spectrum.curves[0].heights.iter().all(|height| *height == 0.0));
    }
}
