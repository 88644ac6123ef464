//! Ownership of the scores that a game's or host's thread sends to the audio thread.

use crate::Score;
use std::sync::Arc;

/// Scores that an audio thread may still use. The thread that sends scores keeps a reference to each here, so that the audio
/// thread never frees one. The audio thread gets clones of the [`Arc`], by any channel, and passes them to
/// [`ToneFilter::set_score`](crate::ToneFilter::set_score).
///
/// ```
/// use std::sync::Arc;
/// use tone_filter_dsp::{Score, SharedScores};
///
/// let (mut scores, score) = (SharedScores::default(), Arc::new(Score::default()));
/// scores.keep(Some(&score));
/// let audio_thread = score;
/// scores.keep(None);
/// assert_eq!(Arc::strong_count(&audio_thread), 2, "the audio thread has it");
/// let freed = Arc::downgrade(&audio_thread);
/// drop(audio_thread);
/// scores.keep(None);
/// assert!(freed.upgrade().is_none());
/// ```
#[derive(Debug, Default)]
pub struct SharedScores(Vec<Arc<Score>>);

impl SharedScores {
    /// Keeps a score that is about to be sent, and frees those to which no other reference is left. Not for the audio thread.
    pub fn keep(&mut self, score: Option<&Arc<Score>>) {
        self.0.retain(|kept| Arc::strong_count(kept) > 1);
        let is_new = |score: &&Arc<Score>| !self.0.iter().any(|kept| Arc::ptr_eq(kept, score));
        let new = score.filter(is_new).cloned();
        self.0.extend(new);
    }
}
