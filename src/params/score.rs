//! Score of a plugin instance. While the host plays, the score decides which notes are played.

use plugin_guard::lock;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};
use tone_filter_dsp::{Score, SharedScores};
use triple_buffer::{Input, Output, triple_buffer};

type Shared = Option<Arc<Score>>;

/// Audio thread's end of a [`ScoreSlot`].
pub type ScoreOutput = Output<Shared>;

/// Score as all threads except the audio thread see it. The audio thread has the [`ScoreOutput`].
pub struct ScoreSlot(Mutex<Slot>);

struct Slot {
    name: String,
    score: Shared,
    /// Message about an invalid score, or invalid parts of it, in the last loaded state; empty if there are none, or once taken.
    unread: String,
    input: Input<Shared>,
    /// `None` once the audio thread has taken it.
    output: Option<ScoreOutput>,
    /// Scores that the audio thread may still use.
    sent: SharedScores,
}

/// Score in a saved state.
#[derive(Serialize, Deserialize)]
pub struct SavedScore {
    name: String,
    text: String,
}

impl Default for ScoreSlot {
    fn default() -> Self {
        let (input, output) = triple_buffer(&None);
        let (name, score, unread, sent) = Default::default();
        Self(Mutex::new(Slot { name, score, unread, input, output: Some(output), sent }))
    }
}

impl ScoreSlot {
    /// Takes the audio thread's end; `None` if it has been taken already.
    pub fn take_output(&self) -> Option<ScoreOutput> {
        lock(&self.0).output.take()
    }

    /// Sets the score and its displayed name; `None` removes both.
    pub fn set(&self, score: Option<(String, Score)>) {
        let mut slot = lock(&self.0);
        let (name, score) = score.map(|(name, score)| (name, Arc::new(score))).unzip();
        slot.sent.keep(score.as_ref());
        slot.input.write(score.clone());
        slot.name = name.unwrap_or_default();
        slot.score = score;
    }

    pub fn name(&self) -> Option<String> {
        let slot = lock(&self.0);
        slot.score.is_some().then(|| slot.name.clone())
    }

    pub fn save(&self) -> Option<SavedScore> {
        let slot = lock(&self.0);
        let score = slot.score.as_ref()?;
        Some(SavedScore { name: slot.name.clone(), text: score.to_string() })
    }

    /// Replaces the score by the one of a saved state. Invalid lines are left out; a missing or invalid score removes the
    /// current one.
    pub fn load(&self, saved: Option<SavedScore>) {
        let read = saved.map(|SavedScore { name, text }| match Score::read(&text) {
            Ok((score, bad)) => {
                let left_out = bad.map(|bad| format!("The score {name} is loaded without {bad}"));
                (Some((name, score)), left_out)
            }
            Err(error) => (None, Some(format!("The score {name} cannot be read: {error}"))),
        });
        let (score, unread) = read.unwrap_or_default();
        self.set(score);
        lock(&self.0).unread = unread.unwrap_or_default();
    }

    /// Removes and returns the message about an invalid score, or invalid parts of it, in the last loaded state; may be empty.
    pub fn take_unread(&self) -> String {
        std::mem::take(&mut lock(&self.0).unread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_freed_once_the_audio_thread_has_moved_on() {
        let slot = ScoreSlot::default();
        let mut output = slot.take_output().unwrap();
        for _ in 0..10 {
            slot.set(Some((String::new(), Score::default())));
            let kept = Arc::downgrade(output.read().as_ref().unwrap());
            slot.set(None);
            assert!(kept.upgrade().is_some(), "the audio thread has it");
            // Three writes replace the score in the three buffers; one more write frees it.
            (0..4).for_each(|_| {
                slot.set(None);
                assert!(output.read().is_none());
            });
            assert!(kept.upgrade().is_none());
        }
    }
}
