//! Note source: decides which notes are played, by listener, scout or score.

use super::{gates::Gates, score_time::ScoreTime};
use crate::{
    bank::LOUDEST,
    downmix::channel,
    lanes::{BLOCK, Lanes},
    notes::{TONES, to_listener},
    score::Score,
    settings::{BandMask, Settings, smoother::SmoothedSettings},
};
use std::{collections::VecDeque, mem, ops::Range, sync::Arc};
use tone_filter_listener::{Decisions, Listener};
use tone_filter_simd::Kernel;

/// Frames that are ignored after a start of the listener or a change of its network, which settles within some 100 ms.
const WARM_UP: u32 = 9;
/// Maximum shift of the decision threshold by `sensitivity`, in log odds.
const MOST_SHIFT: f32 = 3.0;

#[derive(Debug, Clone, Copy)]
pub struct Notes {
    pub played: BandMask,
    /// Notes that began within the last frames of the listener.
    pub begun: BandMask,
    /// Stereo position of each note, 1 for left and -1 for right.
    pub pans: Lanes,
}

impl Notes {
    /// Creates notes in the centre, none of which has just begun.
    const fn centred(played: BandMask) -> Self {
        Self { played, begun: BandMask::NONE, pans: Lanes::ZERO }
    }

    fn of(decisions: &Decisions) -> Self {
        let mask =
            |notes: &[bool]| BandMask::of((0..TONES).filter(|&tone| notes[to_listener(tone)]));
        Self {
            played: mask(&decisions.on),
            begun: mask(&decisions.begun),
            pans: Lanes::of(|tone| decisions.place[to_listener(tone)]),
        }
    }
}

/// State of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hearing {
    Off,
    /// Warm-up, with the number of frames left. The played notes are held.
    WarmingUp(u32),
    On,
}

/// Origin of the decisions.
#[derive(Debug, Clone)]
enum Origin {
    Listener,
    /// A scout's decisions in advance: one item for each of the next blocks.
    Scout(VecDeque<Option<Box<Decisions>>>),
    Score(Arc<Score>),
}

/// Source of the notes that are played: listener, scout or score.
#[derive(Debug, Clone)]
pub struct NoteSource {
    pub listener: Listener,
    origin: Origin,
    hearing: Hearing,
    /// Time in the score, which advances even without one.
    pub score_time: ScoreTime,
    /// Input of the listener in the current block: left and right, equal unless `stereo`.
    input: [[f32; BLOCK]; 2],
    stereo: bool,
    /// Whether decisions are requested even at a focus of 0 %. A change takes effect with the next [`NoteSource::tune`].
    pub wanted: bool,
    /// Last notes; meaningless while the source is off.
    pub notes: Notes,
    /// Delay of the sound with lookahead, in samples.
    latency: usize,
    gates: Gates,
    /// With lookahead, unless a score decides, the notes with open gates; otherwise the played notes.
    sounding: BandMask,
    /// Power at the frequency of each note, measured at the time of the last decision, or with lookahead a little later, to
    /// compensate for the rise time of the note's detector.
    levels: Option<Lanes>,
}

impl NoteSource {
    /// Creates a source that is off. `latency` is the delay of the sound with lookahead, in samples.
    pub fn new(sample_rate: f64, latency: usize) -> Self {
        Self {
            listener: Listener::new(sample_rate, false, Default::default()),
            origin: Origin::Listener,
            hearing: Hearing::Off,
            score_time: ScoreTime::new(sample_rate),
            input: [[0.0; BLOCK]; 2],
            stereo: false,
            wanted: false,
            notes: Notes::centred(BandMask::NONE),
            latency,
            gates: Gates::new(sample_rate, latency),
            sounding: BandMask::NONE,
            levels: None,
        }
    }

    /// Resets to the state after silence, in which no note is played; arguments as in [`NoteSource::tune`].
    pub fn reset(&mut self, settings: &SmoothedSettings, follows: bool) {
        (self.hearing, self.stereo) = (Hearing::Off, false);
        self.score_time.reset();
        self.tune(settings, follows);
        self.notes = Notes::centred(BandMask::NONE);
        self.set_sounding(BandMask::NONE);
        if self.hearing != Hearing::Off {
            (self.hearing, self.levels) = (Hearing::On, Some(Lanes::ZERO));
        }
    }

    /// Passes the settings to the listener. It runs with a focus above 0 %, if decisions are [`NoteSource::wanted`], or if a
    /// setting `follows` the music.
    pub fn tune(&mut self, settings: &SmoothedSettings, follows: bool) {
        let Settings { tuning, transpose, sensitivity, focus, lookahead, listener, .. } =
            settings.settings;
        let changes = listener != self.listener.model();
        self.listener.set_lookahead(lookahead);
        self.listener.set_model(listener);
        self.listener.set_tuning(f64::from(tuning), f64::from(transpose));
        self.listener.set_sensitivity(MOST_SHIFT * (sensitivity / 50.0 - 1.0));
        if !(self.wanted || focus > 0.0 || follows) {
            self.hearing = Hearing::Off;
        } else if self.hearing == Hearing::Off {
            self.hearing = Hearing::On;
            self.notes.played = BandMask::ALL;
            self.warm_up();
        } else if changes {
            self.hearing = Hearing::WarmingUp(WARM_UP);
        }
    }

    /// Resets the listener. The notes are held until it has warmed up.
    fn warm_up(&mut self) {
        self.listener.reset();
        self.set_sounding(self.notes.played);
        self.levels = None;
        if self.hearing != Hearing::Off {
            self.hearing = Hearing::WarmingUp(WARM_UP);
        }
    }

    /// Sets the sounding notes and their gates at once.
    fn set_sounding(&mut self, played: BandMask) {
        self.gates.set(played);
        self.sounding = played;
    }

    /// Sets a score, which decides from the next block on; with `None`, the listener decides again. Returns the previous score.
    pub fn set_score(&mut self, score: Option<Arc<Score>>) -> Option<Arc<Score>> {
        let origin = match (score, &self.origin) {
            (Some(score), _) => Origin::Score(score),
            (None, Origin::Score(_)) => {
                self.warm_up();
                Origin::Listener
            }
            (None, _) => return None,
        };
        match mem::replace(&mut self.origin, origin) {
            Origin::Score(before) => Some(before),
            Origin::Listener | Origin::Scout(_) => None,
        }
    }

    pub fn score(&self) -> Option<&Arc<Score>> {
        match &self.origin {
            Origin::Score(score) => Some(score),
            Origin::Listener | Origin::Scout(_) => None,
        }
    }

    pub fn decisions(&self) -> &Decisions {
        match self.origin {
            Origin::Score(_) => &self.score_time.decisions,
            Origin::Listener | Origin::Scout(_) => self.listener.decisions(),
        }
    }

    /// Returns the measured pitch in semitones above `tone`; see [`Listener::pitch`].
    pub fn pitch(&self, tone: usize) -> Option<f64> {
        let listens = self.is_on() && matches!(self.origin, Origin::Listener);
        self.listener.pitch(to_listener(tone)).filter(|_| listens)
    }

    pub fn is_on(&self) -> bool {
        self.hearing != Hearing::Off
    }

    /// Returns the power at the frequency of each note, as of the last decision; `None` while a score decides, or without a
    /// decision.
    pub fn levels(&self) -> Option<&Lanes> {
        self.levels.as_ref().filter(|_| self.is_on() && self.score().is_none())
    }

    /// Queues a scout's decisions for the next blocks. They replace the listener's decisions.
    pub fn follow_scout(&mut self, decided: impl IntoIterator<Item = Option<Box<Decisions>>>) {
        match &mut self.origin {
            Origin::Scout(ahead) => ahead.extend(decided),
            origin => *origin = Origin::Scout(decided.into_iter().collect()),
        }
    }

    /// Copies `range` of `channels` to `position` in the listener's input block. Any number of channels but two is mixed to mono.
    pub fn push(&mut self, position: usize, channels: &[impl AsRef<[f32]>], range: Range<usize>) {
        if !self.is_on() || !matches!(self.origin, Origin::Listener) {
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
        // Rows separately, so that the loop vectorises.
        for row in [left, right] {
            row.iter_mut().for_each(|sample| *sample = sample.clamp(-LOUDEST, LOUDEST));
        }
    }

    /// Runs the listener on the pushed block. Returns new decisions, if there are any.
    pub fn listen(&mut self, kernel: Kernel) -> Option<&Decisions> {
        let [left, right] = &self.input;
        let right = mem::take(&mut self.stereo).then_some(right);
        self.listener.push(kernel, left, right)
    }

    /// Begins a block: updates the notes from the score, or turns the gates. Holds the notes while the bands are `frozen`.
    /// Returns the sounding notes.
    pub fn begin_block(&mut self, frozen: bool) -> BandMask {
        if self.hearing == Hearing::Off || frozen {
            return self.sounding;
        }
        if let Origin::Score(score) = &self.origin {
            let latency = if self.listener.lookahead() > 0 { self.latency } else { 0 };
            let frame = self.listener.frame();
            self.notes = Notes::of(self.score_time.decide(score, latency, frame));
            self.sounding = self.notes.played;
        } else {
            self.sounding = self.gates.step();
        }
        self.sounding
    }

    /// Ends a block: runs the listener, and advances the time in the score. Holds the notes while the bands are `frozen`. Returns
    /// the held notes that restart; `None` in warm-up, or without new decisions of listener or scout.
    pub fn end_block(&mut self, kernel: Kernel, frozen: bool) -> Option<BandMask> {
        self.score_time.advance();
        if self.hearing == Hearing::Off {
            return None;
        }
        let decisions = match &mut self.origin {
            Origin::Score(_) => None,
            Origin::Listener => self.listen(kernel),
            Origin::Scout(ahead) => ahead
                .pop_front()
                .flatten()
                .map(|decisions| self.listener.replace_decisions(*decisions)),
        };
        let decisions = decisions.filter(|_| !frozen)?;
        let levels = Lanes::of(|tone| decisions.ahead[to_listener(tone)]);
        let notes = Notes::of(decisions);
        if let Hearing::WarmingUp(frames) = self.hearing {
            self.hearing = if frames > 1 { Hearing::WarmingUp(frames - 1) } else { Hearing::On };
            return None;
        }
        if self.listener.lookahead() > 0 {
            self.gates.decide(self.listener.decisions());
        } else {
            self.set_sounding(notes.played);
        }
        let begun = notes.begun.without(self.notes.begun).intersection(self.notes.played);
        (self.levels, self.notes) = (Some(levels), notes);
        Some(begun)
    }
}
