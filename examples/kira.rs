//! Renders a sound file through a track of kira's mixer, without an audio device:
//! `cargo run -p tone-filter-kira --example kira -- in.wav out.wav`.
//!
//! The output equals the filter's, bit for bit, except that kira clips it at full scale.

pub mod common;

use common::{FRAMES, Result, Sound};
use kira::{
    AudioManager, AudioManagerSettings, Frame,
    backend::{Backend, Renderer},
    sound::static_sound::{StaticSoundData, StaticSoundSettings},
    track::TrackBuilder,
};
use std::convert::Infallible;
use tone_filter_kira::ToneFilterBuilder;

fn main() -> Result<()> {
    common::run(render)
}

/// Renders `input` at `rate` Hz. The game changes the filter before each buffer.
pub fn render(rate: u32, input: &Sound) -> Result<Sound> {
    let mut manager = AudioManager::<Offline>::new(AudioManagerSettings {
        backend_settings: rate,
        ..AudioManagerSettings::default()
    })?;
    let mut track = TrackBuilder::new();
    let mut filter = track.add_effect(ToneFilterBuilder::new(&common::state(0).0)?);
    let mut track = manager.add_sub_track(track)?;
    let frames = input.iter().map(|[left, right]| Frame::new(*left, *right)).collect();
    let settings = StaticSoundSettings::default();
    track.play(StaticSoundData { sample_rate: rate, frames, settings, slice: None })?;

    let mut output = vec![[0.0; 2]; input.len()];
    for (count, block) in output.chunks_mut(FRAMES).enumerate() {
        let (settings, keyboard) = common::state(count);
        filter.set_settings(&settings)?;
        filter.set_keyboard(&keyboard);
        manager.backend_mut().render(block);
        if count % 100 == 99 {
            common::print(&filter.bands());
        }
    }
    Ok(output)
}

/// Backend that renders on demand, without an audio device.
#[derive(Default)]
pub struct Offline {
    renderer: Option<Renderer>,
}

impl Offline {
    /// Renders the next frames through kira.
    pub fn render(&mut self, block: &mut [[f32; 2]]) {
        if let Some(renderer) = &mut self.renderer {
            renderer.on_start_processing();
            renderer.process(block.as_flattened_mut(), 2);
        }
    }
}

impl Backend for Offline {
    /// Sample rate in Hz.
    type Settings = u32;
    type Error = Infallible;

    fn setup(rate: u32, _: usize) -> std::result::Result<(Self, u32), Infallible> {
        Ok((Self::default(), rate))
    }

    fn start(&mut self, renderer: Renderer) -> std::result::Result<(), Infallible> {
        self.renderer = Some(renderer);
        Ok(())
    }
}
