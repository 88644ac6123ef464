//! Recorder of the beats of a file.

use tone_filter_dsp::{
    ToneFilter,
    listener::beats::{BeatFinder, Beats},
};

/// Finds beats by the decisions of a filter with lookahead.
#[derive(Debug, Clone, Default)]
pub struct BeatRecorder {
    /// `None` until the length of a frame is known.
    finder: Option<BeatFinder>,
    frames: u64,
    /// Time of the finder's first frame in seconds; 0 unless earlier frames were forgotten.
    start: f64,
}

impl BeatRecorder {
    /// Records the filter's last decisions. Must be called after each of the filter's blocks.
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

    /// Returns the beats of a file of `seconds`. `None` if there are too few beats or notes.
    pub fn beats(&self, seconds: f64) -> Option<Beats> {
        let mut beats = self.finder.as_ref()?.beats()?;
        beats.beats.iter_mut().for_each(|beat| beat.time += self.start);
        beats.beats.retain(|beat| beat.time < seconds);
        Some(beats)
    }

    /// Allocates memory for `seconds` more. Does nothing before the first decision.
    pub fn reserve(&mut self, seconds: f64) {
        self.finder.iter_mut().for_each(|finder| finder.reserve(seconds));
    }

    /// Forgets the decisions before `seconds`. Times still count from the start of the file.
    pub fn forget(&mut self, seconds: f64) {
        if let Some(finder) = &mut self.finder {
            self.start += finder.forget(seconds - self.start);
        }
    }
}
