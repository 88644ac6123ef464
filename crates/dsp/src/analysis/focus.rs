//! Focus: attenuates the bands whose notes are not played, by the listener's decisions.

use super::follower::Follower;
use crate::{
    bank::LOUDEST,
    downmix::channel,
    lanes::{BLOCK, Lanes},
    notes::{TONES, to_listener},
    score::Score,
    settings::{BandMask, Settings, smoother::SmoothedSettings},
};
use std::{collections::VecDeque, ops::Range, sync::Arc};
use tone_filter_listener::{Decisions, Listener, Model};
use tone_filter_simd::Kernel;

/// Seconds in which a band's weight follows a decision.
const TIME: f64 = 0.005;

/// Seconds for which a note that begins anew while it is held counts as not played, so that its new beginning sounds.
const GAP: f64 = 0.02;

/// Time constant in seconds of a note's place between left and right.
const PLACE: f64 = 0.03;

/// Frames after the listener is switched on, in which all notes count as played, or after a change of the network, in which
/// the notes of before do: it decides well after some 100 ms.
const WARM_UP: u32 = 9;

/// The greatest shift of the decision threshold by the sensitivity, in log odds.
const MOST_SHIFT: f32 = 3.0;

/// The notes that are played, and the smoothed weights of the bands that follow from them.
#[derive(Debug, Clone)]
pub struct Focus {
    listener: Listener,
    /// What a scout has decided in the blocks to come; `None` without one.
    ahead: Option<VecDeque<Option<Box<Decisions>>>>,
    /// With a score, it decides in place of the listener.
    follower: Follower,
    /// The listener's input in the current block: left and right, which are equal unless it is `stereo`.
    input: [[f32; BLOCK]; 2],
    stereo: bool,
    /// Whether the listener runs at a focus of 0 %, too.
    detecting: bool,
    /// Whether scale or tuning follow what it detects.
    following: bool,
    /// Whether the listener is running.
    listening: bool,
    /// Frames whose decisions are still left out.
    warming_up: u32,
    /// Whether there are levels of a decision.
    decided: bool,
    model: Model,
    played: BandMask,
    /// The notes that began within the last frames of the listener.
    begun: BandMask,
    /// Blocks until a note that has begun anew counts as played again, and until all do.
    gaps: [u32; TONES],
    longest_gap: u32,
    /// Blocks of a gap.
    gap: u32,
    /// Power at each note's frequency at the time of the last decision.
    levels: Lanes,
    /// Where each note is at that time, 1 for left and -1 for right, and where it sounds.
    places: [Lanes; 2],
    place_step: f32,
    weights: Lanes,
    /// What they move to, and the notes that sound and the focus from which it follows.
    aims: Lanes,
    aim: Option<(BandMask, f32)>,
    /// Whether the weights still move.
    moving: bool,
    /// The greatest change of a weight within a block.
    step: f32,
}

impl Focus {
    /// At rest, for `sample_rate` in Hz.
    pub fn new(sample_rate: f64) -> Self {
        Self {
            listener: Listener::new(sample_rate, false, Model::Full),
            ahead: None,
            follower: Follower::new(sample_rate),
            input: [[0.0; BLOCK]; 2],
            stereo: false,
            detecting: false,
            following: false,
            listening: false,
            warming_up: 0,
            decided: true,
            model: Model::Full,
            played: BandMask::NONE,
            begun: BandMask::NONE,
            gaps: [0; TONES],
            longest_gap: 0,
            gap: (GAP * sample_rate / BLOCK as f64).round().max(1.0) as u32,
            levels: Lanes::ZERO,
            places: [Lanes::ZERO; 2],
            place_step: -libm::expm1(-(BLOCK as f64) / (PLACE * sample_rate)) as f32,
            weights: Lanes::of(|_| 1.0),
            aims: Lanes::ZERO,
            aim: None,
            moving: false,
            step: (BLOCK as f64 / (TIME * sample_rate)).min(1.0) as f32,
        }
    }

    /// Returns to the state after silence, in which no note is played, and sets the weights for `settings` without
    /// smoothing.
    pub fn reset(&mut self, settings: &SmoothedSettings) {
        (self.listening, self.stereo) = (false, false);
        self.follower.reset();
        self.tune(settings);
        (self.played, self.warming_up, self.decided) = (BandMask::NONE, 0, true);
        (self.begun, self.gaps, self.longest_gap) = (BandMask::NONE, [0; TONES], 0);
        self.places = [Lanes::ZERO; 2];
        (self.weights, self.aim) = (self.target(settings.settings.focus), None);
    }

    /// Sets whether the listener runs because scale or tuning follow what it detects, from the next [`Focus::tune`] on.
    pub fn follow_music(&mut self, following: bool) {
        self.following = following;
    }

    /// Passes the settings to the listener, which is activated when they need it.
    pub fn tune(&mut self, settings: &SmoothedSettings) {
        let Settings { tuning, transpose, sensitivity, focus, lookahead, listener, .. } =
            settings.settings;
        self.listener.set_lookahead(lookahead);
        self.listener.set_model(listener);
        self.listener.set_tuning(f64::from(tuning), f64::from(transpose));
        self.listener.set_sensitivity(MOST_SHIFT * (sensitivity / 50.0 - 1.0));
        let listened = self.listening;
        self.listening = self.detecting || focus > 0.0 || self.following;
        if self.listening && !listened {
            self.warm_up(BandMask::ALL);
        } else if listener != self.model {
            self.warming_up = WARM_UP;
        }
        self.model = listener;
    }

    /// Lets the listener start anew, while the notes `played` count as played.
    fn warm_up(&mut self, played: BandMask) {
        self.listener.reset();
        (self.played, self.levels) = (played, Lanes::ZERO);
        (self.warming_up, self.decided) = (WARM_UP, false);
    }

    /// Lets `score` decide from the next block on, or the listener again. Returns the score before.
    pub fn set_score(&mut self, score: Option<Arc<Score>>) -> Option<Arc<Score>> {
        let (is_set, before) = (score.is_some(), self.follower.set_score(score));
        if before.is_some() && !is_set {
            self.warm_up(self.played);
        }
        before
    }

    /// The score that decides, and its place in time.
    pub fn follower(&mut self) -> &mut Follower {
        &mut self.follower
    }

    /// The score that decides.
    pub fn score(&self) -> Option<&Arc<Score>> {
        self.follower.score()
    }

    /// The last decisions, those of a score if there is one.
    pub fn decisions(&self) -> &Decisions {
        self.follower.decisions().unwrap_or(self.listener.decisions())
    }

    /// Sets whether the listener runs at a focus of 0 %, too, from the next [`Focus::tune`] on. False if it was so before.
    pub fn detect_notes(&mut self, detect: bool) -> bool {
        std::mem::replace(&mut self.detecting, detect) != detect
    }

    /// Whether the listener is running.
    pub fn is_listening(&self) -> bool {
        self.listening
    }

    /// The notes that are played; `None` while the listener is off.
    pub fn played(&self) -> Option<BandMask> {
        self.listening.then_some(self.played)
    }

    /// Power at each note's frequency at the time that the decisions refer to; `None` without decisions or focus.
    pub fn levels(&self, percent: f32) -> Option<&Lanes> {
        let measured = self.listening && self.decided && self.score().is_none();
        (measured && percent > 0.0).then_some(&self.levels)
    }

    /// Runs the listener alone on the whole block that was pushed. Gives its new decisions, if there are any.
    pub fn listen(&mut self, kernel: Kernel) -> Option<&Decisions> {
        let [left, right] = &self.input;
        let right = std::mem::take(&mut self.stereo).then_some(right);
        self.listener.push(kernel, left, right)
    }

    /// Takes what a scout has decided in the next blocks, in place of the listener from now on.
    pub fn follow_scout(&mut self, decided: impl IntoIterator<Item = Option<Box<Decisions>>>) {
        self.ahead.get_or_insert_default().extend(decided);
    }

    /// The listener.
    pub fn listener(&self) -> &Listener {
        &self.listener
    }

    /// Takes the samples `range` of the `channels` to `position` in the current block: left and right, or the mean of one
    /// or of more than two.
    pub fn push(&mut self, position: usize, channels: &[impl AsRef<[f32]>], range: Range<usize>) {
        if !self.listening || self.score().is_some() || self.ahead.is_some() {
            return;
        }
        let [left, right] =
            self.input.each_mut().map(|row| &mut row[position..position + range.len()]);
        channel(2, channels, 0, range.clone(), left);
        if channels.len() == 2 {
            channel(2, channels, 1, range, right);
            self.stereo = true;
        } else {
            right.copy_from_slice(left);
        }
        // Row by row, which vectors can do.
        for row in [left, right] {
            row.iter_mut().for_each(|sample| *sample = sample.clamp(-LOUDEST, LOUDEST));
        }
    }

    /// Takes the decisions of the score for the block that begins, if there is one. While the bands are `frozen`, so are the
    /// decisions.
    pub fn follow_score(&mut self, frozen: bool) {
        let (latency, frame) = (self.listener.lookahead(), self.listener.frame());
        if self.listening
            && !frozen
            && let Some(decisions) = self.follower.decide(latency, frame)
        {
            let decided = Decided::of(decisions);
            self.places[0] = decided.places;
            (self.begun, self.played) = (decided.begun, decided.played);
        }
    }

    /// Ends a block: runs the listener, or goes on in the score. While the bands are `frozen`, so are the decisions. Returns whether
    /// the listener has new ones.
    pub fn end_block(&mut self, kernel: Kernel, frozen: bool) -> bool {
        self.follower.advance();
        let [left, right] = &self.input;
        let right = std::mem::take(&mut self.stereo).then_some(right);
        if self.listening
            && self.score().is_none()
            && let Some(decisions) = match &mut self.ahead {
                Some(ahead) => {
                    let decisions = ahead.pop_front().flatten();
                    decisions.map(|decisions| self.listener.assume(*decisions))
                }
                None => self.listener.push(kernel, left, right),
            }
            && !frozen
        {
            if self.warming_up > 0 {
                self.warming_up -= 1;
                return false;
            }
            self.decided = true;
            self.levels = Lanes::of(|tone| decisions.level[to_listener(tone)]);
            let Decided { played, begun, places } = Decided::of(decisions);
            for (tone, gap) in self.gaps.iter_mut().enumerate() {
                if begun.contains(tone) && !self.begun.contains(tone) && self.played.contains(tone)
                {
                    (*gap, self.longest_gap) = (self.gap, self.gap);
                }
            }
            self.places[0] = places;
            (self.begun, self.played) = (begun, played);
            return true;
        }
        false
    }

    /// Moves the weights by one block towards those for the played notes, at a focus of 0..100 %. Returns whether one has moved.
    pub fn follow(&mut self, percent: f32) -> bool {
        let aim = (self.sounding(), percent);
        if self.aim != Some(aim) {
            (self.aim, self.aims, self.moving) = (Some(aim), self.target(percent), true);
        }
        self.moving = self.moving && self.weights.approach(&self.aims, self.step);
        if self.longest_gap > 0 {
            self.longest_gap -= 1;
            self.gaps.iter_mut().for_each(|gap| *gap = gap.saturating_sub(1));
        }
        self.moving
    }

    /// The notes that are played, but those in a gap.
    fn sounding(&self) -> BandMask {
        if self.longest_gap == 0 {
            return self.played;
        }
        let silent = (0..TONES).filter(|&tone| self.gaps[tone] > 0);
        silent.fold(self.played, |mask, tone| mask.with(tone, false))
    }

    /// Moves the notes by one block towards their places, at which those that are silent are at once. Returns where they are,
    /// 1 for left and -1 for right.
    pub fn place(&mut self) -> &Lanes {
        let [aims, places] = &mut self.places;
        let aims = aims.0.iter().zip(&self.weights.0);
        for (place, (aim, weight)) in places.0.iter_mut().zip(aims) {
            *place += if *weight == 0.0 { 1.0 } else { self.place_step } * (aim - *place);
        }
        places
    }

    /// The bands' weights in the sum, 0..1.
    pub fn weights(&self) -> &Lanes {
        &self.weights
    }

    /// The weights for the played notes: 1, or `(1 - focus)^4` for a note that is not played (1 at 0 %, -24 dB at 50
    /// %, 0 at 100 %).
    fn target(&self, percent: f32) -> Lanes {
        let residue = (1.0 - percent / 100.0).powi(4);
        let sounding = self.sounding();
        Lanes::of(|tone| if sounding.contains(tone) { 1.0 } else { residue })
    }
}

/// Decisions about the tones of the filter.
struct Decided {
    played: BandMask,
    begun: BandMask,
    places: Lanes,
}

impl Decided {
    fn of(decisions: &Decisions) -> Self {
        let mask = |notes: &[bool]| {
            let set = (0..TONES).filter(|&tone| notes[to_listener(tone)]);
            set.fold(BandMask::NONE, |mask, tone| mask.with(tone, true))
        };
        Self {
            played: mask(&decisions.on),
            begun: mask(&decisions.begun),
            places: Lanes::of(|tone| decisions.place[to_listener(tone)]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_that_is_not_played_is_held_back_by_what_the_focus_says_within_5_ms() {
        for (percent, db) in [(0.0, 0.0), (50.0, -24.08), (100.0, f32::NEG_INFINITY)] {
            let mut focus = Focus::new(48_000.0);
            focus.played = BandMask::NONE.with(12, true);
            for _ in 0..4 {
                focus.follow(percent);
            }
            let weights = focus.weights().0;
            assert_eq!(weights[12], 1.0);
            let reached = 20.0 * weights[13].log10();
            assert!(reached == db || (reached - db).abs() < 0.01, "{percent} %: {reached} dB");
            focus.played = BandMask::ALL;
            focus.follow(percent);
            assert!(percent == 0.0 || focus.weights().0[13] < 1.0, "not immediately");
        }
    }

    #[test]
    fn a_note_that_begins_anew_is_silent_for_20_ms() {
        let mut focus = Focus::new(48_000.0);
        focus.played = BandMask::NONE.with(12, true);
        focus.weights = focus.target(100.0);
        (focus.gaps[12], focus.longest_gap) = (focus.gap, focus.gap);
        let weights: Vec<_> = (0..30)
            .map(|_| {
                focus.follow(100.0);
                focus.weights().0[12]
            })
            .collect();
        // 15 blocks of 64 samples, the first and the last four of which are fades of 5 ms.
        let silent = weights.iter().filter(|weight| **weight == 0.0).count();
        assert_eq!(silent, 15 - 4 + 1, "{weights:?}");
        assert_eq!(weights[18..], [1.0; 12], "{weights:?}");
    }
}
