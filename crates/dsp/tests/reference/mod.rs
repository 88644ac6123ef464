//! The filter's settings as the reference takes them.

pub use tone_filter_reference::*;

use tone_filter_dsp::{Settings, Stereo};

/// The sound of `settings`, for which all that the reference leaves out is off.
pub fn sound(settings: &Settings) -> Sound {
    let bands = settings.sounding_bands();
    Sound {
        mix: settings.mix.into(),
        output: settings.output.into(),
        drive: settings.drive.into(),
        threshold: settings.threshold.into(),
        ceiling: settings.ceiling.into(),
        floor: settings.floor.into(),
        ring: settings.ring.into(),
        release: settings.release.into(),
        tone: settings.tone.into(),
        tuning: settings.tuning.into(),
        transpose: settings.transpose.into(),
        octave: settings.octave.into(),
        stereo: settings.stereo == Stereo::Stereo,
        voice: voice(settings.voice),
        duty: settings.duty.share(),
        attack: settings.attack.into(),
        decay: settings.decay.into(),
        turn: settings.arp.ticks().map(|ticks| ticks as usize),
        voices: settings.voices as usize,
        sounding: std::array::from_fn(|tone| bands.contains(tone)),
    }
}

fn voice(voice: tone_filter_dsp::Voice) -> Voice {
    match voice {
        tone_filter_dsp::Voice::Soft => Voice::Soft,
        tone_filter_dsp::Voice::Sine => Voice::Sine,
        tone_filter_dsp::Voice::Square => Voice::Square,
        tone_filter_dsp::Voice::Pulse25 => Voice::Pulse25,
        tone_filter_dsp::Voice::Pulse12 => Voice::Pulse12,
        tone_filter_dsp::Voice::Triangle => Voice::Triangle,
        tone_filter_dsp::Voice::Saw => Voice::Saw,
        tone_filter_dsp::Voice::Chip => Voice::Chip,
        tone_filter_dsp::Voice::SoftClean => Voice::SoftClean,
    }
}
