//! With lookahead, no preset raises the true peak of loud music above full scale.

use ebur128::{EbuR128, Mode};
use tone_filter_dsp::{Settings, ToneFilter};
use tone_filter_presets::Preset;
use tone_filter_testkit::{Draws, Music};

const RATE: u32 = 44_100;
const SECONDS: f64 = 6.0;

/// Returns loud music: the greatest sample is at -0.3 dB full scale.
fn loud(seed: u64) -> Vec<Vec<f32>> {
    let draws = &mut Draws::seeded(seed);
    let mut music = Music::draw(draws, SECONDS);
    while music.notes.len() < 20 {
        music = Music::draw(draws, SECONDS);
    }
    music.gains.clear();
    let mut signal = music.render(RATE.into(), SECONDS);
    let peak = signal.iter().flatten().fold(0f32, |peak, x| peak.max(x.abs()));
    let gain = 10f32.powf(-0.3 / 20.0) / peak;
    signal.iter_mut().flatten().for_each(|x| *x *= gain);
    signal
}

/// Returns the true peak of all channels.
fn true_peak(signal: &[Vec<f32>]) -> f64 {
    let count = signal.len() as u32;
    let mut meter = EbuR128::new(count, RATE, Mode::TRUE_PEAK).unwrap();
    let channels: Vec<&[f32]> = signal.iter().map(Vec::as_slice).collect();
    meter.add_frames_planar_f32(&channels).unwrap();
    (0..count).map(|channel| meter.true_peak(channel).unwrap()).fold(0.0, f64::max)
}

fn decibels(factor: f64) -> f64 {
    20.0 * factor.log10()
}

#[test]
fn true_peaks_stay_below_full_scale_or_the_inputs_own() {
    let mut wrong = Vec::new();
    for (seed, id) in (0..).zip(tone_filter_presets::ids().filter(|id| *id != "reference")) {
        let preset = Preset::factory(id).unwrap().settings;
        for (mix, seed) in [(preset.mix, seed), (100.0, seed + 100)] {
            let settings = Settings { mix, lookahead: true, ..preset };
            let mut signal = loud(seed);
            let before = true_peak(&signal);
            let mut filter = ToneFilter::new(RATE.into(), &settings).unwrap();
            let mut channels: Vec<&mut [f32]> = signal.iter_mut().map(|x| &mut x[..]).collect();
            filter.process(&mut channels);
            let after = true_peak(&signal);
            let most = before.max(10f64.powf(-0.1 / 20.0));
            let [from, to] = [before, after].map(decibels);
            println!("{id}, mix {mix} %: {from:+.2} dBTP before, {to:+.2} dBTP after");
            if after > most {
                wrong.push(format!("{id}, mix {mix} %: {from:+.2} dBTP before, {to:+.2} after"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
