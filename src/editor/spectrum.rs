//! Spectra of input and output, from below the lowest band to above the highest.

use super::theme::{self, Scale};
use egui::{Align2, Color32, Mesh, Rect, Shape, Stroke, Ui, epaint::WHITE_UV, pos2, vec2};
use std::{f32::consts::TAU, sync::Arc};
use tone_filter_dsp::{
    Settings,
    notes::{self, PUBLISHED},
};
use tone_filter_fourier::{Complex64, RealToComplex, plan};

const POINTS: usize = 256;
/// Level at the bottom of the plot, in dB relative to a full-scale sine.
const QUIETEST: f32 = -90.0;
/// Level at the top of the plot, in dB relative to a full-scale sine.
const LOUDEST: f32 = 0.0;
/// Time constant of a rising curve, in seconds.
const RISE: f32 = 0.03;
/// Time constant of a falling curve, in seconds.
const FALL: f32 = 0.2;
/// Half width of a point's frequency window, as a fraction of the point's frequency: a semitone.
const REACH: f32 = 0.059_463;
/// Minimum half width of a point's frequency window, in bins.
const BINS: f32 = 1.5;
/// Minimum length of the transformed signal in seconds: enough to separate the lowest notes.
const LENGTH: f32 = 0.15;

#[derive(Default)]
pub struct Spectrum {
    transform: Option<Transform>,
    smoothing: Option<Smoothing>,
    /// Curves of the input and of the output.
    curves: [Curve; 2],
}

/// Weights that turn the bins' powers into the points of a curve.
struct Smoothing {
    /// Frequencies at the left and the right end of the plot, in Hz.
    range: [f32; 2],
    /// Distance between bins, in Hz.
    width: f32,
    /// Range of bins for each point: the first bin, and the one after the last.
    bins: Vec<[usize; 2]>,
    /// Weights of the bins of all points, one point after the other.
    weights: Vec<f32>,
}

struct Transform {
    sample_rate: f32,
    fft: Arc<dyn RealToComplex<f64>>,
    window: Vec<f32>,
    input: Vec<f64>,
    output: Vec<Complex64>,
}

/// Input or output signal with its spectrum.
#[derive(Default)]
struct Curve {
    /// Latest samples, the newest last.
    samples: Vec<f32>,
    /// Power of each bin. For a full-scale sine, the sum is 1.
    bins: Vec<f32>,
    /// Displayed heights, 0..1.
    heights: Vec<f32>,
    /// Heights of the last spectrum, to which the displayed heights move.
    targets: Vec<f32>,
}

impl Spectrum {
    /// Appends the samples `sound` of the input and of the output at `sample_rate` Hz, and transforms both signals.
    pub fn push(&mut self, sound: &[Vec<f32>; 2], sample_rate: f32) {
        let transform = match &mut self.transform {
            Some(transform) if transform.sample_rate == sample_rate => transform,
            transform => transform.insert(Transform::new(sample_rate)),
        };
        for (curve, samples) in self.curves.iter_mut().zip(sound) {
            curve.samples.extend(samples);
            let excess = curve.samples.len().saturating_sub(transform.window.len());
            curve.samples.drain(..excess);
            transform.run(curve);
        }
    }

    pub fn clear(&mut self) {
        for curve in &mut self.curves {
            curve.samples.clear();
            curve.bins.clear();
        }
    }

    /// Advances the animation by `seconds`. Returns whether it is still moving.
    pub fn advance(&mut self, seconds: f32) -> bool {
        let [rise, fall] = [RISE, FALL].map(|time| (-seconds / time).exp());
        let mut moving = false;
        for curve in &mut self.curves {
            if curve.bins.is_empty() {
                curve.targets.fill(0.0);
            }
            for (height, target) in curve.heights.iter_mut().zip(&curve.targets) {
                let keep = if *height > *target { fall } else { rise };
                *height = target + (*height - target) * keep;
                if (*height - target).abs() < 1e-3 {
                    *height = *target;
                }
                moving |= *height != *target;
            }
        }
        moving
    }

    /// Shows both curves, marks at the frequencies that the bands have with `settings`, and a line at the band `hovered`.
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
        // The plot begins an octave below the lowest band, and ends about an octave and a half above the highest.
        let lowest = settings.range.by_pitch().next().unwrap_or(0);
        let range = [hertz(lowest) / 2.0, hertz(PUBLISHED - 1) * 3.0];
        self.set_targets(range);

        let painter = ui.painter();
        let font = scale.font(9.0);
        // The labels of notes and levels are in a margin outside the plot.
        let margin = vec2(3.4 * font.size, 1.4 * font.size);
        let plot = Rect::from_min_max(area.min, area.max - margin);
        painter.rect_filled(plot, scale.length(4.0).max(2.0), theme::SURFACE.gamma_multiply(0.5));
        let x = |hertz: f32| {
            egui::lerp(plot.x_range(), (hertz / range[0]).ln() / (range[1] / range[0]).ln())
        };
        let low = plot.height() < 5.0 * font.size;
        for (label, db) in [("-24 dB", -24.0), ("-48 dB", -48.0), ("-72 dB", -72.0)] {
            let y = egui::remap(db, QUIETEST..=LOUDEST, plot.bottom()..=plot.top());
            painter.hline(plot.x_range(), y, Stroke::new(1.0, theme::LINE.gamma_multiply(0.6)));
            // A low plot has room for the middle label only.
            if db == -48.0 || !low {
                let at = pos2(area.right(), y);
                theme::text(painter, at, Align2::RIGHT_CENTER, label, font.clone(), theme::DIM);
            }
        }
        self.curves[0].fill(ui, plot, theme::DIM.gamma_multiply(0.45));
        self.curves[1].line(ui, plot, *theme::ACCENT);
        for tone in settings.range.tones() {
            let octave = notes::pitch_class(tone) == 0;
            let length = if octave { 0.14 } else { 0.06 } * plot.height();
            let colour = if octave { theme::DIM } else { theme::LINE };
            let y = plot.bottom() - length..=plot.bottom();
            painter.vline(x(hertz(tone)), y, Stroke::new(1.0, colour));
            if octave {
                let at = pos2(x(hertz(tone)), area.bottom());
                let name = notes::name(tone);
                theme::text(painter, at, Align2::CENTER_BOTTOM, name, font.clone(), theme::DIM);
            }
        }
        if let Some(tone) = hovered {
            let stroke = Stroke::new(1.0, theme::TEXT.gamma_multiply(0.7));
            painter.vline(x(hertz(tone)), plot.y_range(), stroke);
        }
        let at = plot.left_top() + vec2(6.0, 3.0);
        let dry = theme::text(painter, at, Align2::LEFT_TOP, "dry", font.clone(), theme::DIM);
        let at = dry.right_top() + vec2(8.0, 0.0);
        theme::text(painter, at, Align2::LEFT_TOP, "output", font, theme::ACCENT);
    }

    /// Sets the target heights of both curves for a plot over `range` in Hz.
    fn set_targets(&mut self, range: [f32; 2]) {
        let Some(transform) = &self.transform else { return };
        let width = transform.sample_rate / transform.window.len() as f32;
        let smoothing = match &mut self.smoothing {
            Some(known) if (known.range, known.width) == (range, width) => known,
            other => other.insert(Smoothing::new(range, width, transform.output.len())),
        };
        self.curves.iter_mut().for_each(|curve| curve.set_targets(smoothing));
    }
}

impl Smoothing {
    /// Computes the weights for points at logarithmic distances over `range` in Hz. A spectrum has `count` bins, `width` Hz
    /// apart.
    fn new(range: [f32; 2], width: f32, count: usize) -> Self {
        let (mut bins, mut weights) = (Vec::with_capacity(POINTS), Vec::new());
        for point in 0..POINTS {
            let share = (point as f32 + 0.5) / POINTS as f32;
            let centre = range[0] * (range[1] / range[0]).powf(share) / width;
            let reach = (REACH * centre).max(BINS);
            let first = ((centre - reach).max(0.0).ceil() as usize).min(count);
            let last = ((centre + reach).floor() as usize + 1).clamp(first, count);
            bins.push([first, last]);
            let weight = |bin| (0.25 * TAU * (bin as f32 - centre) / reach).cos().powi(2);
            weights.extend((first..last).map(weight));
        }
        Self { range, width, bins, weights }
    }
}

impl Transform {
    fn new(sample_rate: f32) -> Self {
        let length = ((LENGTH * sample_rate) as usize).next_power_of_two();
        let turn = TAU / length as f32;
        let window: Vec<f32> =
            (0..length).map(|index| 0.5 - 0.5 * (turn * index as f32).cos()).collect();
        let fft = plan(length);
        let (input, output) = (fft.make_input_vec(), fft.make_output_vec());
        Self { sample_rate, fft, window, input, output }
    }

    fn run(&mut self, curve: &mut Curve) {
        // Missing samples count as silence.
        let start = self.window.len() - curve.samples.len();
        self.input[..start].fill(0.0);
        let samples = curve.samples.iter().zip(&self.window[start..]);
        for (input, (sample, window)) in self.input[start..].iter_mut().zip(samples) {
            *input = f64::from(sample * window);
        }
        // The transform fails only for buffers of a wrong length.
        if self.fft.process(&mut self.input, &mut self.output).is_ok() {
            // The mean of the Hann window is 1/2, and half of a sine's amplitude is at negative frequencies. The window spreads
            // the power over several bins, whose powers add up to 1.5 times the power of the middle bin.
            let gain = (4.0 / self.window.len() as f32).powi(2) / 1.5;
            curve.bins.clear();
            curve.bins.extend(self.output.iter().map(|bin| gain * bin.norm_sqr() as f32));
        }
    }
}

impl Curve {
    fn set_targets(&mut self, smoothing: &Smoothing) {
        self.heights.resize(POINTS, 0.0);
        self.targets.resize(POINTS, 0.0);
        if self.bins.is_empty() {
            return;
        }
        let mut weights = &smoothing.weights[..];
        for (target, &[first, last]) in self.targets.iter_mut().zip(&smoothing.bins) {
            let (point_weights, rest) = weights.split_at(last - first);
            weights = rest;
            let pairs = point_weights.iter().zip(&self.bins[first..last]);
            let power: f32 = pairs.map(|(weight, bin)| weight * bin).sum();
            let db = 10.0 * power.max(1e-12).log10();
            *target = ((db - QUIETEST) / (LOUDEST - QUIETEST)).clamp(0.0, 1.0);
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
            ui.painter().line(self.points(area).collect(), Stroke::new(1.2, colour));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the curve of a signal that fills the transform, at `rate` Hz, in a plot from 110 Hz to 10 kHz. Also returns the
    /// distance between the transform's bins in Hz.
    fn curve(rate: f32, mut sample: impl FnMut(usize) -> f32) -> (Curve, f32) {
        let mut transform = Transform::new(rate);
        let samples = (0..transform.window.len()).map(&mut sample).collect();
        let mut curve = Curve { samples, ..Curve::default() };
        transform.run(&mut curve);
        let width = rate / transform.window.len() as f32;
        curve.set_targets(&Smoothing::new([110.0, 10_000.0], width, transform.output.len()));
        (curve, width)
    }

    #[test]
    fn a_sine_peaks_at_its_frequency_and_at_its_level() {
        for rate in [44_100.0, 48_000.0, 192_000.0] {
            for (hertz, db) in [(220.0, -6.0), (3322.0, -30.0)] {
                let amplitude = 10f64.powf(db / 20.0);
                let turn = std::f64::consts::TAU * hertz / f64::from(rate);
                let sample = |frame| (amplitude * (turn * frame as f64).sin()) as f32;
                let (curve, width) = curve(rate, sample);
                let point = |hertz: f64| {
                    (hertz / 110.0).ln() / (10_000f64 / 110.0).ln() * POINTS as f64 - 0.5
                };
                let peak =
                    (0..POINTS).max_by(|a, b| curve.targets[*a].total_cmp(&curve.targets[*b]));
                let peak = peak.unwrap() as f64;
                // At the lowest notes, a bin of the transform is wider than a point of the curve.
                let bin = point(hertz + f64::from(width)) - point(hertz);
                assert!((peak - point(hertz)).abs() <= bin + 1.0, "{hertz} Hz at {peak}");
                // At the lowest notes, a sine's main lobe (bin powers 1/4, 1 and 1/4) is as wide as a point's window, which
                // weights the outer bins by at least cos^2 60 degrees = 1/4.
                let lobe = 10.0 * ((1.0 + 2.0 * 0.25 * 0.25) / 1.5f64).log10();
                let level =
                    f64::from(QUIETEST + curve.targets[peak as usize] * (LOUDEST - QUIETEST));
                assert!((lobe - 0.2..0.01).contains(&(level - db)), "{level} dB for {db}");
                // Two octaves away, the curve is near 0.
                let away = curve.targets[point(880.0) as usize];
                assert!(away < 0.15, "{away}");
            }
        }
    }

    #[test]
    fn a_curve_of_noise_is_smooth() {
        let mut noise = 1u32;
        let sample = |_| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            noise as f32 / u32::MAX as f32 - 0.5
        };
        let (curve, _) = curve(48_000.0, sample);
        // Neighbouring points share most of their bins. Adjacent bins of noise differ by a median of 5.6 dB.
        let steps =
            curve.targets.windows(2).map(|pair| (pair[1] - pair[0]).abs() * (LOUDEST - QUIETEST));
        let mean = steps.sum::<f32>() / (POINTS - 1) as f32;
        assert!(mean < 1.0, "{mean} dB from point to point");
    }

    #[test]
    fn curves_fall_to_zero_in_silence() {
        let mut spectrum = Spectrum::default();
        spectrum.curves[0].heights = vec![1.0; POINTS];
        spectrum.curves[0].targets = vec![1.0; POINTS];
        spectrum.clear();
        let frames = (0..1000).take_while(|_| spectrum.advance(0.02)).count();
        assert!((20..200).contains(&frames), "{frames}");
        assert!(spectrum.curves[0].heights.iter().all(|height| *height == 0.0));
    }
}
