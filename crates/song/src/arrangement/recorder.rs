//! Recorder of all that an arrangement is made of.

use super::{Arrangement, Sound};
use crate::{beats::BeatRecorder, console::Recorder, timeline::Timeline, transcribe::Transcriber};
use tone_filter_dsp::{DEFAULT_TEMPO, Settings, ToneFilter, listener::beats::Beats};

/// Recorder of notes, beats and noise of a filter with lookahead and the voice Chip.
#[derive(Debug)]
pub struct Arranger {
    notes: Transcriber,
    beats: BeatRecorder,
    ticks: Recorder,
}

impl Default for Arranger {
    fn default() -> Self {
        let (beats, ticks) = Default::default();
        Self { notes: Transcriber::new(false), beats, ticks }
    }
}

impl Arranger {
    /// Records the filter's last block. Must be called after each of the filter's blocks.
    pub fn push(&mut self, filter: &ToneFilter) {
        self.notes.push(filter);
        self.beats.push(filter);
        self.ticks.push(filter);
    }

    /// Returns the arrangement of a file of `seconds`, with the sound of `settings`. The grid follows `tempo` in beats per minute, otherwise the
    /// beats that were found, otherwise 120 beats per minute.
    pub fn finish(self, seconds: f64, settings: &Settings, tempo: Option<f64>) -> Arrangement {
        let beats: Option<Beats> = self.beats.beats(seconds);
        let timeline = match (tempo, beats.as_ref().and_then(Timeline::of)) {
            (None, Some(timeline)) => timeline,
            (tempo, _) => Timeline::fixed(tempo.unwrap_or(DEFAULT_TEMPO)),
        };
        let (notes, ticks) = (self.notes.finish(seconds), self.ticks.finish(seconds));
        let (shift, sound) = (settings.pitch_shift(), Sound::of(settings));
        Arrangement::new(&notes, shift, &ticks, seconds, timeline, sound)
    }
}
