//! Tracks beats while the music plays: [`Paths`] in steps of two frames. The result comes from the pattern that was more likely
//! over the last minute.

use super::{
    FEWEST,
    onsets::{self, DELAY, Onsets, PATTERNS, Row},
    paths::Paths,
};
use crate::Decisions;
use std::mem;
use tone_filter_simd::Kernel;

/// Number of frames in a step.
const STEP: u64 = 2;
/// Length of a beat in steps from which on lengths are whole steps.
const COARSE: f64 = 28.0;
/// Lowest class of an onset that counts for [`BeatTracker::tempo`].
const ONSET: u8 = 3;
/// Maximum difference between the log likelihoods of both patterns.
const LEAD: f32 = 200.0;
/// Minimum distance of two reported beats, in lengths of a beat.
const APART: f64 = 0.6;

/// Tracks the beats of music that is still playing, from the listener's decisions frame by frame.
///
/// The time for a frame is bounded. Only [`BeatTracker::new`] allocates. The result does not depend on the kernel.
#[derive(Debug, Clone)]
pub struct BeatTracker {
    /// Length of a frame in seconds.
    frame: f64,
    onsets: Onsets,
    paths: [Paths; PATTERNS],
    state: State,
}

#[derive(Debug, Clone, Default)]
struct State {
    /// Number of frames so far.
    frames: u64,
    /// For each pattern, log likelihood of the onsets since its last step.
    rows: [Row; PATTERNS],
    /// Log likelihood of the second pattern, relative to the first.
    lead: f32,
    /// Time of each pattern's last beat, and mean length of its last beats, in frames.
    best: [Option<(f64, f64)>; PATTERNS],
    /// Number of onsets so far; successive frames with an onset count once.
    onset_count: usize,
    /// Whether the last frame has an onset.
    has_onset: bool,
    /// Time of the last reported beat in frames.
    reported: f64,
}

impl BeatTracker {
    /// Creates the tracker at the start of the music, for decisions every `frame` seconds.
    pub fn new(frame: f64) -> Self {
        let paths = Paths::new(STEP as f64 * frame, COARSE);
        let paths = [paths.clone(), paths];
        Self { frame, onsets: Onsets::new(frame), paths, state: State::default() }
    }

    /// Resets to the start of the music.
    pub fn reset(&mut self) {
        if self.state.frames > 0 {
            self.onsets = Onsets::new(self.frame);
            self.paths.iter_mut().for_each(Paths::reset);
            self.state = State::default();
        }
    }

    /// Evaluates the next frame's decisions, made with or without `lookahead`. If a beat is due in this frame, returns its time in
    /// seconds from the start. The beat is predicted from the beats so far, because its onset is known only later.
    pub fn push(&mut self, kernel: Kernel, decisions: &Decisions, lookahead: bool) -> Option<f64> {
        let (_, classes) = self.onsets.push(decisions, lookahead);
        let state = &mut self.state;
        state.frames += 1;
        let has_onset = classes.iter().any(|class| *class >= ONSET);
        state.onset_count += usize::from(has_onset && !state.has_onset);
        state.has_onset = has_onset;
        let moment = state.frames.checked_sub(DELAY[usize::from(lookahead)] as u64)?;
        for (pattern, row) in state.rows.iter_mut().enumerate() {
            onsets::add(row, pattern, &classes);
        }
        // The patterns take turns, which halves the work of a frame.
        let pattern = (state.frames % STEP) as usize;
        let (paths, row) = (&mut self.paths[pattern], mem::take(&mut state.rows[pattern]));
        let mut advanced = None;
        kernel.vectorize(
            #[inline(always)]
            || advanced = Some((paths.advance(&row, |_| ()), paths.best())),
        );
        let (rise, best) = advanced?;
        state.lead = (state.lead + if pattern == 0 { -rise } else { rise }).clamp(-LEAD, LEAD);
        let step = STEP as f64;
        // The middle of a step lies between its two frames.
        let beat = moment as f64 - 0.5 - step * best.since as f64;
        state.best[pattern] = Some((beat, step * f64::from(best.length)));
        let ((beat, length), now) = (state.best()?, state.frames as f64);
        let beat = beat + ((now - beat) / length).floor() * length;
        let due = beat > now - 2.0 * step && beat - state.reported > APART * length;
        due.then(|| {
            state.reported = beat;
            beat * self.frame
        })
    }

    /// Returns the tempo in beats per minute; `None` before the eighth onset.
    pub fn tempo(&self) -> Option<f64> {
        let (_, length) = self.state.best().filter(|_| self.state.onset_count >= FEWEST)?;
        Some(60.0 / (length * self.frame))
    }
}

impl State {
    /// Returns the last beat and the mean length of the more likely pattern.
    fn best(&self) -> Option<(f64, f64)> {
        self.best[usize::from(self.lead > 0.0)]
    }
}
