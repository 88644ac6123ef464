//! Fuzz target: any bytes as a sequence of operations on a filter: settings, events, scores, resets and sound.

use std::sync::Arc;
use tone_filter_dsp::{Controls, Kernel, KeyEvent, SPECS, Setting, ToneFilter};
use tone_filter_testkit::{Draws, Music, Signal, Values, controls, events, music, rate};

/// Maximum number of frames of all buffers together, to limit the time for an input of the fuzzer.
const LONGEST: usize = 1 << 13;

/// Samples and states of bands below this magnitude (-400 dB), except 0, may make bands and phases depend on the division into
/// buffers.
const FAINT: f32 = 1e-20;

/// Maximum sample rate in Hz of the drawn music. The filter may run at a higher rate.
const HIGHEST: f64 = 192_000.0;

/// Plays two filters with the same operations, drawn by `bytes`, but different buffer lengths. Checks that the outputs are
/// equal, finite and bounded, and that invalid settings change nothing.
pub fn check(bytes: &[u8]) {
    let draws = &mut Draws::of(bytes);
    let any_rate = f64::from_bits(draws.bits());
    let usual = rate(draws);
    let rate = draws.pick(&[usual, usual, usual, 1000.0, 768_000.0, 1e9, any_rate]);
    let mut controls = controls(draws);
    let Ok(filter) = ToneFilter::new(rate, &controls.settings) else {
        assert!(!(1000.0..=1e9).contains(&rate), "{rate} Hz is a rate");
        return;
    };
    let kernels: Vec<Kernel> = Kernel::available().collect();
    let mut filter = filter.with_kernel(draws.pick(&kernels));
    filter.set_routing(controls.routing);
    let mut filters = [filter.clone(), filter];
    let mut bounds = Bounds::new(&controls);
    let seed = draws.bits();
    let (_, sound) = music(&mut Draws::seeded(seed), rate.min(HIGHEST), 0.5);
    // Half of the inputs have no faint sounds, so that all their outputs are compared.
    let least = if seed.is_multiple_of(2) { 1e-30 } else { 1.0 };
    let settings: Vec<Setting> = Setting::all().collect();
    let mut remaining = LONGEST;
    while remaining > 0 && !draws.is_over() {
        match draws.below(16) {
            0 => refuse(&mut filters, draws),
            1 => {
                filters.iter_mut().for_each(ToneFilter::reset);
                bounds = Bounds::new(&controls);
            }
            2 => {
                let score = draws.chance(0.5).then(|| Arc::new(Music::draw(draws, 1.0).score()));
                filters.iter_mut().for_each(|filter| drop(filter.set_score(score.clone())));
            }
            3 => {
                let event = any_event(draws);
                filters.iter_mut().for_each(|filter| filter.play(event));
            }
            4..8 => {
                draws.pick(&settings).draw(draws, &mut controls);
                for filter in &mut filters {
                    filter.set_controls(&controls).unwrap();
                }
                bounds.include(&controls);
            }
            _ => {
                let frames = draws.below(2048).min(remaining);
                remaining -= frames;
                play(&mut filters, &mut bounds, draws, (&sound, least), frames);
            }
        }
    }
}

/// Draws a numeric setting and a value with random bits. If the value is out of range, checks that the filters refuse it and
/// keep their settings; otherwise does nothing.
fn refuse(filters: &mut [ToneFilter; 2], draws: &mut Draws) {
    let value = f32::from_bits(draws.bits() as u32);
    let spec = &SPECS[draws.below(SPECS.len())];
    let before = *filters[0].settings();
    let mut odd = before;
    spec.set(&mut odd, value);
    if spec.check(value).is_err() {
        for filter in filters {
            filter.set_settings(&odd).unwrap_err();
            assert_eq!(*filter.settings(), before);
        }
    }
}

/// Draws an event whose key may be above 127, and whose value has random bits.
fn any_event(draws: &mut Draws) -> KeyEvent {
    let (key, any) = (draws.below(256) as u8, f32::from_bits(draws.bits() as u32));
    draws.pick(&[
        KeyEvent::Key(key, any),
        KeyEvent::Pressure(key, any),
        KeyEvent::Gain(key, any),
        KeyEvent::Bend(any),
        KeyEvent::Wheel(any),
    ])
}

/// Draws `frames` frames from anywhere in `sound`, in none to three channels, with a gain of 1, `least` or 1e30. Sometimes
/// replaces all samples of a section by one value with random bits, which may be NaN or infinite.
fn part(draws: &mut Draws, (sound, least): (&Signal, f32), frames: usize) -> Signal {
    let start = draws.below(sound[0].len());
    let gain = draws.pick(&[1.0, 1.0, 1.0, least, 1e30]);
    let mut part: Signal = (0..draws.below(4))
        .map(|channel| {
            let samples = sound[channel % sound.len()].iter().cycle().skip(start).take(frames);
            samples.map(|sample| gain * sample).collect()
        })
        .collect();
    if frames > 0 && draws.chance(0.3) {
        let fault = f32::from_bits(draws.bits() as u32);
        let start = draws.below(frames);
        let end = frames.min(start + draws.pick(&[1, 100, frames]));
        part.iter_mut().for_each(|channel| channel[start..end].fill(fault));
    }
    part
}

fn play(
    filters: &mut [ToneFilter; 2],
    bounds: &mut Bounds,
    draws: &mut Draws,
    sound: (&Signal, f32),
    frames: usize,
) {
    let (input, sidechain) = (part(draws, sound, frames), part(draws, sound, frames));
    let (events, cut) = (events(draws, frames), draws.below(frames + 1));
    let run = |filter: &mut ToneFilter, output: &mut Signal, start: usize, end: usize| {
        let mut main: Vec<_> = output.iter_mut().map(|c| &mut c[start..end]).collect();
        let sidechain: Vec<_> = sidechain.iter().map(|c| &c[start..end]).collect();
        let due = events.iter().filter(|(at, _)| (start..end).contains(at));
        filter.process_events(
            &mut main,
            &sidechain,
            due.map(|(at, event)| (at - start, *event)),
            |_, _| (),
        );
    };
    let [mut whole, mut divided] = [input.clone(), input.clone()];
    run(&mut filters[0], &mut whole, 0, frames);
    run(&mut filters[1], &mut divided, 0, cut);
    run(&mut filters[1], &mut divided, cut, frames);
    let [bands, other] = filters.each_ref().map(ToneFilter::bands);
    let faint = |sample: &f32| *sample != 0.0 && sample.abs() < FAINT;
    bounds.faint |= input.iter().chain(&sidechain).flatten().any(faint);
    for bands in [&bands, &other] {
        let phasors = bands.bands.iter().flat_map(|band| &band.phasor);
        bounds.faint |= phasors.chain([&bands.total_power]).any(faint);
    }
    assert!(bounds.faint || whole == divided && bands == other);

    let magnitude = |x: &f32| if x.is_finite() { f64::from(x.abs()) } else { 0.0 };
    bounds.peak = input.iter().flatten().map(magnitude).fold(bounds.peak, f64::max);
    for output in whole.iter().flatten() {
        assert!(f64::from(output.abs()) <= bounds.output(), "{output}, {bounds:?}");
    }
    assert!(bands.total_power.is_finite());
    for band in bands.bands {
        let [sine, cosine] = band.phasor;
        let finite =
            [band.power, band.ratio, band.angular_frequency, sine, cosine, band.wave(1e-3)];
        assert!(finite.iter().all(|number| number.is_finite()), "{band:?}");
    }
}

/// Bounds of the output: extremes of gain and input since the last reset.
#[derive(Debug, Default)]
struct Bounds {
    /// Maximum output gain of all settings so far. A gain that ramps stays between its old and its new value.
    gain: f64,
    /// Maximum magnitude of a finite input sample.
    peak: f64,
    /// Whether input, sidechain or bands were closer to 0 than [`FAINT`], but not 0.
    faint: bool,
}

impl Bounds {
    fn new(controls: &Controls) -> Self {
        let mut bounds = Self::default();
        bounds.include(controls);
        bounds
    }

    fn include(&mut self, Controls { settings, routing }: &Controls) {
        let morph = f64::from(settings.morph) / 100.0;
        let output = 10f64.powf(morph * f64::from(settings.output) / 20.0);
        self.gain = self.gain.max(if routing.bypass { output.max(1.0) } else { output });
    }

    /// Returns the maximum magnitude of an output sample. The wet signal is at most 1, and auto level follows the peak.
    fn output(&self) -> f64 {
        // Tolerance for `f32` arithmetic.
        self.gain * (self.peak + 1.0) * (1.0 + 1e-5)
    }
}
