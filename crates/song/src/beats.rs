//! Beats of a whole file.

use tone_filter_dsp::{
    ToneFilter,
    listener::beats::{BeatFinder, Beats},
};

/// Recorder of the decisions of a filter with lookahead, from which the beats follow.
#[derive(Debug, Clone, Default)]
pub struct BeatRecorder {
    /// Finder; `None` until the length of a frame is known.
    finder: Option<BeatFinder>,
    frames: u64,
}

impl BeatRecorder {
    /// Records the filter's decisions. Must be called after each of the filter's blocks.
    pub fn push(&mut self, filter: &ToneFilter) {
        let listener = filter.listener();
        let decisions = listener.decisions();
        if decisions.frames == self.frames {
            return;
        }
        self.frames = decisions.frames;
        let frame = listener.frame() as f64 / filter.sample_rate();
        self.finder.get_or_insert_with(|| BeatFinder::new(frame)).push(decisions);
    }

    /// Returns the beats of a file of `seconds`. `None` if it has too few notes.
    pub fn beats(&self, seconds: f64) -> Option<Beats> {
        let mut beats = self.finder.as_ref()?.beats()?;
        beats.beats.retain(|beat| beat.time < seconds);
        Some(beats)
    }
}
