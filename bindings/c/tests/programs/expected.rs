//! Expected output of the example programs, from the library in Rust.

use anyhow::{Context, Result};
use tone_filter_dsp::{BandState, KeyEvent, Keys, Settings, ToneFilter, spec};
use tone_filter_presets::Preset;

/// Sample rate of the files for `tone_filter.c` in Hz.
pub const RATE: u32 = 44_100;

/// Returns the output of `tone_filter.c`: with lookahead, the latency removed, as long as the input. Samples are interleaved.
pub fn rendered(preset: &str, channels: usize, input: &[f32]) -> Result<Vec<f32>> {
    let settings = Preset::factory(preset).context("a factory preset")?.settings;
    let settings = Settings { lookahead: true, ..settings };
    let mut filter = ToneFilter::new(RATE.into(), &settings)?.with_channels(channels);
    let latency = filter.latency();
    let channel = |c| {
        let samples = input.iter().skip(c).step_by(channels).copied();
        samples.chain(std::iter::repeat_n(0.0, latency)).collect()
    };
    let mut sound: Vec<Vec<f32>> = (0..channels).map(channel).collect();
    let mut slices: Vec<&mut [f32]> = sound.iter_mut().map(Vec::as_mut_slice).collect();
    filter.process(&mut slices);
    Ok((0..input.len()).map(|i| sound[i % channels][latency + i / channels]).collect())
}

/// Returns the output of `game.cpp`: the left channel as bytes, and the text of its meter.
pub fn game() -> Result<(Vec<u8>, String)> {
    let mut settings = Preset::factory("sound-chip").context("a factory preset")?.settings;
    let mut filter = ToneFilter::new(48_000.0, &settings)?;
    let morph = spec("morph").context("a setting")?;
    let (mut bytes, mut meter) = (Vec::new(), String::new());
    for count in 0..300_usize {
        morph.set(&mut settings, count.min(100) as f32);
        if count == 200 {
            settings.keys = Keys::Hold;
            filter.play(KeyEvent::Key(69, 0.75));
        }
        filter.set_settings(&settings)?;
        let square = |frame: usize, frequency: usize| {
            if frame * frequency % 48_000 < 24_000 { 0.125 } else { -0.125 }
        };
        let music =
            (count * 480..).map(|frame| [440, 523, 659].map(|f| square(frame, f)).iter().sum());
        let mut left: Vec<f32> = music.take(480).collect();
        let mut right = left.clone();
        filter.process(&mut [&mut left, &mut right]);
        bytes.extend(left.iter().flat_map(|sample| sample.to_le_bytes()));
        if count % 100 == 99 {
            for (tone, band) in filter.bands().bands.iter().enumerate() {
                meter.push(match band.state {
                    BandState::Sounding => 'o',
                    BandState::Saturated => '#',
                    _ => '.',
                });
                meter.push(if tone % 12 == 11 { '\n' } else { ' ' });
            }
            meter.push('\n');
        }
    }
    Ok((bytes, meter))
}
