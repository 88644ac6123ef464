//! Stress test of the filter: settings that change a thousand times per second, and extreme signals, for hours.

use crate::signals::noise;
use anyhow::{Result, ensure};
use std::fmt;
use tone_filter_dsp::{
    BandMask, CHOICES, Controls, PitchClasses, Routing, SPECS, Settings, ToneFilter,
};

const RATE: f64 = 44_100.0;
/// Samples between two changes of the settings: about 1000 changes per second.
const CHANGE: usize = 44;
/// The setting Ring between disturbances, in seconds.
const RING: f32 = 0.4;

/// Results of the stress test.
pub struct Endured {
    /// Duration of the audio in seconds.
    pub seconds: f64,
    /// Largest output relative to its bound, which is the dry signal's peak plus 1.
    pub peak: f64,
    /// Largest difference from an undisturbed filter. The comparison begins 2.5 ring times after a disturbance.
    pub rest: f64,
}

impl fmt::Display for Endured {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { seconds, peak, rest } = self;
        write!(
            f,
            "endurance: {seconds:.0} s; output at most {:.1} % of the bound; 2.5 ring times after a \
             disturbance {rest:.1e} from the undisturbed output",
            100.0 * peak
        )
    }
}

/// Runs `seconds` of audio: rounds of a disturbance and a rest. Random numbers come from `seed`.
///
/// # Errors
/// If the output is not finite, exceeds its bound, or does not return to the output of an undisturbed filter.
pub fn endure(seconds: f64, seed: u64) -> Result<Endured> {
    let mut noise = noise(seed);
    let calm = Settings { ring: RING, release: 48.0, ..Settings::REFERENCE };
    let mut disturbed = ToneFilter::new(RATE, &calm)?;
    let mut undisturbed = ToneFilter::new(RATE, &calm)?;
    let mut endured = Endured { seconds: 0.0, peak: 0.0, rest: 0.0 };
    let mut time = 0;
    for round in 0.. {
        if endured.seconds >= seconds {
            break;
        }
        // Auto level remembers loud signals, and lookahead delays them. So the two may be on in every second round only.
        let with_memory = round % 2 == 1;
        let mut input_peak = 0.0;
        for disturbance in DISTURBANCES {
            let frames = (RATE * (0.5 + 0.25 * noise())) as usize;
            if !with_memory {
                input_peak = 0.0;
            }
            disturb(
                &mut disturbed,
                disturbance,
                frames,
                with_memory,
                &mut input_peak,
                &mut noise,
                &mut endured,
            )?;
            undisturbed.process(&mut music(time, frames).each_mut().map(Vec::as_mut_slice));
            time += frames;
            endured.seconds += frames as f64 / RATE;
        }
        disturbed.set_settings(&calm)?;
        disturbed.set_routing(Routing::default());
        let way_back = (2.5 * f64::from(RING) * RATE) as usize;
        for (frames, compared) in [(way_back, false), ((0.25 * RATE) as usize, true)] {
            let (mut own, mut truth) = (music(time, frames), music(time, frames));
            disturbed.process(&mut own.each_mut().map(Vec::as_mut_slice));
            undisturbed.process(&mut truth.each_mut().map(Vec::as_mut_slice));
            time += frames;
            endured.seconds += frames as f64 / RATE;
            for (own, truth) in own.iter().flatten().zip(truth.iter().flatten()) {
                // When lookahead is switched off, the crossfade still includes the delayed signal.
                let bound = if with_memory && !compared { input_peak + 1.0 } else { 2.0 };
                ensure!(f64::from(own.abs()) <= bound, "{own} at rest");
                if compared {
                    endured.rest = endured.rest.max(f64::from((own - truth).abs()));
                }
            }
        }
        ensure!(endured.rest < 2e-4, "{} from the undisturbed output", endured.rest);
    }
    Ok(endured)
}

/// Signal of a disturbance: returns a sample from its index and a noise sample.
type Disturbance = fn(usize, f64) -> f32;

const DISTURBANCES: [Disturbance; 10] = [
    |_, noise| noise as f32,
    |t, _| if t / 50 % 2 == 0 { 1.0 } else { -1.0 },
    |t, _| if t % 2 == 0 { 1e-30 } else { -1e-30 },
    |_, noise| 1e30 * noise.signum() as f32,
    |t, noise| if t % 997 < 10 { f32::NAN } else { noise as f32 },
    |t, noise| match t % 499 {
        0..5 => f32::INFINITY,
        5..9 => f32::NEG_INFINITY,
        _ => noise as f32,
    },
    |_, _| 1.0,
    |_, _| 0.0,
    |t, noise| if t / 1000 % 2 == 0 { 0.0 } else { noise as f32 },
    |_, noise| f32::MAX * noise as f32,
];

fn disturb(
    filter: &mut ToneFilter,
    disturbance: Disturbance,
    frames: usize,
    with_memory: bool,
    // Peak of the input so far, for the bound. Non-finite samples do not count.
    input_peak: &mut f64,
    noise: &mut impl FnMut() -> f64,
    endured: &mut Endured,
) -> Result<()> {
    for start in (0..frames).step_by(CHANGE) {
        let Controls { settings, routing } = any_controls(noise);
        let (auto, lookahead) = (with_memory && settings.auto, with_memory && settings.lookahead);
        filter.set_settings(&Settings { auto, lookahead, ..settings })?;
        filter.set_routing(routing);
        let mut block: [Vec<f32>; 2] =
            [0; 2].map(|_| (start..start + CHANGE).map(|t| disturbance(t, noise())).collect());
        for sample in block.iter().flatten().filter(|sample| sample.is_finite()) {
            *input_peak = input_peak.max(f64::from(sample.abs()));
        }
        filter.process(&mut block.each_mut().map(Vec::as_mut_slice));
        for sample in block.iter().flatten() {
            ensure!(sample.is_finite(), "{sample}");
            endured.peak = endured.peak.max(f64::from(sample.abs()) / (*input_peak + 1.0));
        }
        ensure!(endured.peak <= 1.000_001, "{} times the bound", endured.peak);
    }
    Ok(())
}

/// Returns random values for all controls but the targets and the output gain, which the bound does not include.
fn any_controls(noise: &mut impl FnMut() -> f64) -> Controls {
    let mut any = |count: usize| (((noise() + 1.0) / 2.0 * count as f64) as usize).min(count - 1);
    let mut controls = Controls::from(Settings {
        bands: (0..8).fold(BandMask::ALL, |mask, _| mask.with(any(48), false)),
        custom: (0..4).fold(PitchClasses::ALL, |classes, _| classes.with(any(12), false)),
        ..Settings::REFERENCE
    });
    for choice in &CHOICES {
        choice.set(&mut controls, any(choice.entries.len()));
    }
    controls.routing.bypass &= any(5) == 0;
    for spec in SPECS.iter().filter(|spec| spec.id != "output") {
        let share = any(10_001) as f32 / 10_000.0;
        spec.set(
            &mut controls.settings,
            (spec.min + share * (spec.max - spec.min)).clamp(spec.min, spec.max),
        );
    }
    controls
}

/// Returns music from the sample `start` on: a different chord in each channel.
fn music(start: usize, frames: usize) -> [Vec<f32>; 2] {
    let chord = |notes: [f64; 3]| {
        (start..start + frames)
            .map(|t| {
                let phase = std::f64::consts::TAU * t as f64 / RATE;
                notes.iter().map(|hertz| 0.2 * (hertz * phase).sin()).sum::<f64>() as f32
            })
            .collect()
    };
    [chord([220.0, 277.18, 329.63]), chord([261.63, 440.0, 659.26])]
}
