//! The demo tune through the filter, for the manual: a picture of every setting whose effect is visible, and a picture and a
//! sound of every preset.

use super::ffmpeg;
use anyhow::{Context, Result};
use rayon::prelude::*;
use serde_json::{Map, Value};
use std::{f32::consts::TAU, fs, path::Path};
use tone_filter_dsp::{Controls, KeyEvent, Keyboard, Setting, Settings, ToneFilter};
use tone_filter_manual::{
    FOLDER,
    shown::{Act, SHOWN, Scene, Shown},
};
use tone_filter_presets::{Preset, ids, settings};
use tone_filter_testkit::{Signal, programs::run, root, signals::noise, tune, wav};

/// Excerpt of the demo tune for presets: first bar and end bar (exclusive).
const BARS: [f64; 2] = [2.0, 5.0];
const WIDTH: f64 = 640.0;
/// Silence between the parts of a picture, in seconds.
const GAP: f64 = 0.06;
/// Height of a picture in pixels: 25 per octave, from E1 up.
const HEIGHT: u32 = 216;
/// Gain of [`Act::Quieter`]: -30 dB.
const QUIETER: f32 = 0.031_622_8;
/// Modulated delay for [`Act::Vibrato`], 40 cents: depth in seconds and rate in Hz.
const VIBRATO: [f32; 2] = [0.000_62, 6.0];

pub fn write() -> Result<()> {
    let (dry, rate) = wav::read(&root().join("assets/demo.wav"))?;
    let [pictures, sounds] = ["pictures", "sounds"].map(|name| root().join(FOLDER).join(name));
    for folder in [&pictures, &sounds] {
        fs::create_dir_all(folder)?;
    }
    let shown: Vec<_> = SHOWN.iter().flat_map(|(_, group)| *group).collect();
    shown.par_iter().filter(|shown| !shown.values.is_empty()).try_for_each(|shown| {
        let parts = shown.values.iter().map(|value| {
            let played = play(&dry, rate, &controls(shown, value)?, shown)?;
            Ok(excerpt(&played, shown.scene.bars, rate))
        });
        let path = pictures.join(shown.id).with_extension("webp");
        picture(&parts.collect::<Result<Vec<_>>>()?, rate, &path).context(shown.id)
    })?;
    let before = excerpt(&dry, BARS, rate);
    sound(&before, rate, &sounds.join("before.ogg"))?;
    ids().collect::<Vec<_>>().into_par_iter().try_for_each(|id| {
        let preset = Preset::factory(id).context("a factory preset")?;
        let settings = Settings { lookahead: preset.settings.focus > 0.0, ..preset.settings };
        let tune = excerpt(&dry, [0.0, BARS[1]], rate);
        let after = excerpt(&through(&tune, rate, &settings)?, BARS, rate);
        sound(&after, rate, &sounds.join(id).with_extension("ogg"))?;
        let path = pictures.join(format!("preset-{id}.webp"));
        picture(&[before.clone(), after], rate, &path).context(id)
    })
}

/// Returns the default sound at a mix of 100 %, changed by `shown.with` and by `value` for the setting `shown.id`.
fn controls(shown: &Shown, value: &str) -> Result<Controls> {
    let default = Settings { mix: 100.0, ..Settings::default() };
    let mut all: Map<String, Value> = serde_json::from_str(&settings::to_json(&default.into()))?;
    all.extend(serde_json::from_str::<Map<String, Value>>(shown.with)?);
    let mut controls = settings::from_json(&Value::Object(all).to_string())?;
    let setting = Setting::find(shown.id).context("a setting")?;
    let value = match setting {
        Setting::Number(spec) => spec.parse(value),
        Setting::Choice(choice) => choice.parse(value).map(|entry| entry as f32),
        Setting::Text(_) => None,
    };
    setting.set_value(&mut controls, value.context("a value")?);
    controls.settings = controls.settings.at_tempo(tune::BEATS_PER_MINUTE);
    Ok(controls)
}

/// Renders the tune with `controls` and the act of `shown`, up to the end of its scene. Compensates the filter's latency.
fn play(dry: &Signal, rate: u32, controls: &Controls, shown: &Shown) -> Result<Signal> {
    let Scene { bars, act } = shown.scene;
    let dry = &excerpt(dry, [0.0, bars[1]], rate);
    let middle = at((bars[0] + bars[1]) / 2.0, rate);
    let start = match act {
        // Freeze is set halfway, below.
        Act::Halfway => Settings { freeze: false, ..controls.settings },
        _ => controls.settings,
    };
    if controls.routing.bypass {
        return Ok(dry.clone());
    }
    let mut input = match act {
        Act::Quieter => scaled(dry, QUIETER),
        Act::Vibrato => with_vibrato(dry, rate as f32),
        Act::Sidechain => drum_track(dry[0].len(), rate),
        Act::Play | Act::HoldKeys | Act::Halfway => dry.clone(),
    };
    let mut filter = ToneFilter::new(f64::from(rate), &start)?;
    filter.set_routing(controls.routing);
    if act == Act::HoldKeys {
        let mut keyboard = Keyboard::default();
        [69, 76].into_iter().for_each(|key| keyboard.play(KeyEvent::Key(key, 1.0)));
        filter.set_keyboard(&keyboard);
    }
    let latency = filter.latency();
    input = padded(input, latency);
    let sidechain = padded(dry.clone(), latency);
    for part in [0..middle, middle..input[0].len()] {
        if part.start > 0 {
            filter.set_settings(&controls.settings)?;
        }
        let mut channels: Vec<_> =
            input.iter_mut().map(|channel| &mut channel[part.clone()]).collect();
        let sidechain: Vec<_> = sidechain.iter().map(|channel| &channel[part.clone()]).collect();
        filter.process_events(&mut channels, &sidechain, [], |_, _| ());
    }
    input.iter_mut().for_each(|channel| drop(channel.drain(..latency)));
    Ok(if act == Act::Quieter { scaled(&input, 1.0 / QUIETER) } else { input })
}

/// Renders `dry` through a filter with `settings`. Compensates the filter's latency.
pub fn through(dry: &Signal, rate: u32, settings: &Settings) -> Result<Signal> {
    let mut filter = ToneFilter::new(f64::from(rate), settings)?;
    let latency = filter.latency();
    let mut wet = padded(dry.clone(), latency);
    filter.process(&mut wet.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
    wet.iter_mut().for_each(|channel| drop(channel.drain(..latency)));
    Ok(wet)
}

/// Appends `frames` of silence.
fn padded(mut signal: Signal, frames: usize) -> Signal {
    signal.iter_mut().for_each(|channel| channel.resize(channel.len() + frames, 0.0));
    signal
}

fn scaled(signal: &Signal, gain: f32) -> Signal {
    signal.iter().map(|channel| channel.iter().map(|sample| gain * sample).collect()).collect()
}

/// Adds a vibrato to `signal` by a modulated delay.
fn with_vibrato(signal: &Signal, rate: f32) -> Signal {
    let [depth, pace] = VIBRATO;
    let one = |channel: &Vec<f32>| {
        let sample = |frame: usize| {
            let delay = depth * rate * (1.0 + (TAU * pace * frame as f32 / rate).sin());
            let (whole, part) = (delay as usize, delay.fract());
            let at = |back: usize| frame.checked_sub(back).map_or(0.0, |frame| channel[frame]);
            at(whole) * (1.0 - part) + at(whole + 1) * part
        };
        (0..channel.len()).map(sample).collect()
    };
    signal.iter().map(one).collect()
}

/// Returns a drum track: a burst of noise on every eighth.
fn drum_track(frames: usize, rate: u32) -> Signal {
    let mut noise = noise(1);
    let eighth = at(1.0 / 8.0, rate);
    let one = (0..frames).map(|frame| {
        0.2 * noise() as f32 * (-((frame % eighth) as f32) / (0.03 * rate as f32)).exp()
    });
    let one: Vec<f32> = one.collect();
    vec![one.clone(), one]
}

/// Returns the frame at which `bar` begins. A fraction is a part of the bar.
fn at(bar: f64, rate: u32) -> usize {
    (bar * tune::BAR * f64::from(rate)) as usize
}

fn excerpt(signal: &Signal, bars: [f64; 2], rate: u32) -> Signal {
    let [from, to] = bars.map(|bar| at(bar, rate));
    signal.iter().map(|channel| channel[from..to].to_vec()).collect()
}

/// Writes a picture with the spectrograms of `parts` side by side.
fn picture(parts: &[Signal], rate: u32, path: &Path) -> Result<()> {
    let gap = vec![0.0; (GAP * f64::from(rate)) as usize];
    let row = |channel: usize| {
        parts.iter().map(|part| part[channel].clone()).collect::<Vec<_>>().join(&gap[..])
    };
    let signal = vec![row(0), row(1)];
    let seconds = signal[0].len() as f64 / f64::from(rate);
    let folder = tempfile::tempdir()?;
    let [wave, last] = ["sound.wav", "last.png"].map(|name| folder.path().join(name));
    wav::write(&wave, &signal, rate)?;
    // Each video frame adds a row, so the last frame has the whole spectrogram. The rotation makes time go to the right.
    let filter = format!(
        "showcqt=s={HEIGHT}x{WIDTH}:fps={}:count=1:bar_h=0:axis_h=0:sono_h={WIDTH}:tc=0.1\
         :basefreq=41.2:endfreq=16478:sono_g=3:sono_v=16*a_weighting(f),transpose=3,format=rgb24",
        WIDTH / seconds
    );
    run(ffmpeg().arg("-i").arg(&wave).args(["-lavfi", &filter, "-update", "1"]).arg(&last))?;
    run(ffmpeg().arg("-i").arg(&last).args(["-quality", "70"]).arg(path))
}

fn sound(signal: &Signal, rate: u32, path: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let wave = folder.path().join("sound.wav");
    wav::write(&wave, signal, rate)?;
    // Makes the output reproducible. Without `+`, these flags would replace the flag that `-q:a` sets.
    let exact = ["-flags", "+bitexact", "-fflags", "+bitexact", "-map_metadata", "-1"];
    run(ffmpeg().arg("-i").arg(&wave).args(["-q:a", "1"]).args(exact).arg(path))
}
