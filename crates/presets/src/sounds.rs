//! Tests of the factory presets with sound: level of drums, true peaks, and for some the effect that the name promises.

use super::{Preset, ids};
use ebur128::{EbuR128, Mode};
use std::ops::Range;
use tone_filter_dsp::{Settings, ToneFilter, notes};
use tone_filter_testkit::{Draws, Music, Signal, root, signals::noise, sweep::tenth, wav};

/// Sample rate of the demo tune in Hz.
const RATE: f64 = 44_100.0;

/// Length of a bar of the demo tune in seconds. The first bar has only drums, the sixth has no drums.
const BAR: f64 = 4.0 * 60.0 / 132.0;

fn demo() -> Signal {
    wav::read(&root().join("assets/demo.wav")).unwrap().0
}

fn settings(id: &str) -> Settings {
    Preset::factory(id).unwrap().settings
}

fn play(settings: &Settings, input: &Signal) -> Signal {
    let mut output = input.clone();
    let mut channels: Vec<_> = output.iter_mut().map(Vec::as_mut_slice).collect();
    ToneFilter::new(RATE, settings).unwrap().process(&mut channels);
    output
}

/// Returns the RMS of all channels in dB full scale, within a range of frames.
fn rms(signal: &[Vec<f32>], frames: Range<usize>) -> f64 {
    let power = |sample: &f32| f64::from(*sample).powi(2);
    let sum: f64 = signal.iter().flat_map(|channel| &channel[frames.clone()]).map(power).sum();
    10.0 * f64::log10(sum / (signal.len() * frames.len()) as f64)
}

#[test]
fn drums_alone_keep_their_level_with_every_preset_of_the_levelled_chain() {
    // Drum hits: white noise, four hits per second. The listener finds no note in them.
    let mut noise = noise(1);
    let stroke = |t: usize| 0.5 * (-((t % 11_025) as f32) / 1500.0).exp();
    let drums: Vec<f32> = (0..8 * 44_100).map(|t| stroke(t) * noise() as f32).collect();
    let drums = vec![drums.clone(), drums];
    let after = |signal: &Signal| rms(signal, 2 * 44_100..8 * 44_100);
    for id in ids().filter(|id| settings(id).auto) {
        let change = after(&play(&settings(id), &drums)) - after(&drums);
        assert!(change.abs() < 3.0, "{id} is {change:.1} dB louder");
    }
}

#[test]
fn drums_are_tamed() {
    let dry = demo();
    let bar = |signal: &Signal, index: usize| {
        let [start, end] = [index, index + 1].map(|bar| (bar as f64 * BAR * RATE) as usize);
        rms(signal, start..end)
    };
    let drums = |signal: &Signal| bar(signal, 0) - bar(signal, 5);
    let [tamed, reference] =
        ["drums-tamed", "reference"].map(|id| drums(&play(&settings(id), &dry)));
    // A mix of 50 % alone halves the drums; the preset must lower them by more.
    let change = [tamed - drums(&dry), tamed - reference];
    assert!(change[0] < -8.0 && change[1] < -4.0, "{change:?} dB against the notes");
}

/// Returns the frequencies in Hz of the bands that a preset does not mute, without its setting `octave`.
fn sounding(id: &str) -> Vec<f64> {
    let settings = settings(id);
    let (tuning, transpose) = (f64::from(settings.tuning), f64::from(settings.transpose));
    let sounding = settings.sounding_bands();
    let tones = (0..notes::TONES).filter(|tone| sounding.contains(*tone));
    tones.map(|tone| notes::frequency(tone, tuning, transpose)).collect()
}

#[test]
fn presets_for_a_range_or_a_scale_keep_to_it() {
    let lead = sounding("lead-only");
    // From C5 upwards, the range of most melodies.
    assert!(lead.iter().all(|hertz| *hertz > 520.0) && lead.len() > 30, "{lead:?}");
    assert!(settings("lead-only").mix >= 80.0, "the dry signal must be quiet");
    let bass = sounding("bass-octave");
    // The input from A3 to below A5 sounds two octaves lower.
    let below = |hertz: &f64| (54.9..219.0).contains(&(hertz / 4.0));
    assert!(bass.iter().all(below) && bass.len() == 24, "{bass:?}");
    assert_eq!(settings("bass-octave").octave, -2.0);
    let pentatonic = sounding("pentatonic");
    // The notes A, C, D, E and G have 20 bands in the four octaves from A3 on, and 12 of the 29 bands from E1 to G#3.
    assert_eq!(pentatonic.len(), 5 * 4 + 12);
    for hertz in pentatonic {
        let semitones = (12.0 * (hertz / 440.0).log2()).round() as i32;
        assert!([0, 3, 5, 7, 10].contains(&semitones.rem_euclid(12)), "{hertz} Hz");
    }
}

#[test]
fn pads_end_their_notes_later() {
    let [pad, default] = ["chord-pad", "tone-filter"].map(|id| ToneFilter::tail(&settings(id)));
    assert!(pad > 5.0 * default, "{default} {pad} s");
}

#[test]
fn stereo_wide_keeps_left_and_right_apart() {
    let mut left_only = demo();
    left_only[1].fill(0.0);
    let sides = |id| {
        let sides = play(&Settings { mix: 100.0, ..settings(id) }, &left_only);
        let [left, right] = [0, 1].map(|side| rms(&sides[side..=side], 0..sides[side].len()));
        left - right
    };
    let [wide, reference] = ["stereo-wide", "reference"].map(sides);
    assert!(wide > 40.0 && reference.abs() < 1e-3, "{wide} and {reference} dB");
}

#[test]
fn edges_are_subtle_or_extreme() {
    let dry = demo();
    // Correlation of the output with the input.
    let correlation = |id| {
        let wet = play(&settings(id), &dry);
        let dot = |a: &Signal, b: &Signal| -> f64 {
            let pairs = a.iter().flatten().zip(b.iter().flatten());
            pairs.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
        };
        dot(&wet, &dry) / (dot(&wet, &wet) * dot(&dry, &dry)).sqrt()
    };
    let [subtle, reference, extreme] =
        ["subtle-edge", "reference", "extreme-8-bit"].map(correlation);
    assert!(
        subtle > 0.9 && subtle > reference && reference > extreme && extreme < 0.75,
        "{subtle} {reference} {extreme}"
    );
}

const SECONDS: f64 = 6.0;

/// Returns music with a sample peak of -0.3 dB full scale.
fn loud(seed: u64) -> Signal {
    let draws = &mut Draws::seeded(seed);
    let mut music = Music::draw(draws, SECONDS);
    while music.notes.len() < 20 {
        music = Music::draw(draws, SECONDS);
    }
    music.gains.clear();
    let mut signal = music.render(RATE, SECONDS);
    let peak = signal.iter().flatten().fold(0f32, |peak, x| peak.max(x.abs()));
    let gain = 10f32.powf(-0.3 / 20.0) / peak;
    signal.iter_mut().flatten().for_each(|x| *x *= gain);
    signal
}

/// Returns the highest true peak of all channels, 1 at full scale.
fn true_peak(signal: &[Vec<f32>]) -> f64 {
    let count = signal.len() as u32;
    let mut meter = EbuR128::new(count, RATE as u32, Mode::TRUE_PEAK).unwrap();
    let channels: Vec<&[f32]> = signal.iter().map(Vec::as_slice).collect();
    meter.add_frames_planar_f32(&channels).unwrap();
    (0..count).map(|channel| meter.true_peak(channel).unwrap()).fold(0.0, f64::max)
}

#[test]
fn with_lookahead_true_peaks_stay_below_full_scale_or_the_inputs_own() {
    let mut wrong = Vec::new();
    for (seed, id) in tenth((0..).zip(ids().filter(|id| *id != "reference"))) {
        let preset = settings(id);
        for (mix, seed) in [(preset.mix, seed), (100.0, seed + 100)] {
            let settings = Settings { mix, lookahead: true, ..preset };
            let signal = loud(seed);
            let [before, after] = [true_peak(&signal), true_peak(&play(&settings, &signal))];
            let limit = before.max(10f64.powf(-0.1 / 20.0));
            if after > limit {
                let [from, to] = [before, after].map(|peak| 20.0 * peak.log10());
                wrong.push(format!("{id}, mix {mix} %: {from:+.2} dBTP before, {to:+.2} after"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
