//! Beats of a whole file.

use tone_filter_dsp::{
    ToneFilter,
    listener::beats::{BeatFinder, Beats},
};

/// Beat finder that follows the listener of a filter with lookahead.
#[derive(Debug, Clone, Default)]
pub struct BeatRecorder {
    /// `None` until the length of a frame is known.
    finder: Option<BeatFinder>,
    frames: u64,
    /// Start of the finder's first frame in seconds.
    start: f64,
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

    /// Returns the beats before `seconds`, the length of the file. `None` if there are too few notes.
    pub fn beats(&self, seconds: f64) -> Option<Beats> {
        let mut beats = self.finder.as_ref()?.beats()?;
        beats.beats.iter_mut().for_each(|beat| beat.time += self.start);
        beats.beats.retain(|beat| beat.time < seconds);
        Some(beats)
    }

    /// Allocates memory for `seconds` more, once the first decision is recorded.
    pub fn reserve(&mut self, seconds: f64) {
        self.finder.iter_mut().for_each(|finder| finder.reserve(seconds));
    }

    /// Forgets the decisions before `seconds`. Times stay the same.
    pub fn forget(&mut self, seconds: f64) {
        if let Some(finder) = &mut self.finder {
            self.start += finder.forget(seconds - self.start);
        }
    }
}
