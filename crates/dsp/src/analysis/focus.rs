//! Focus: attenuates the bands whose notes are not played, by the listener's decisions.

use crate::{
    bank::{LOUDEST, kernel::Kernel},
    lanes::{BLOCK, Lanes},
    listener::Listener,
    notes::TONES,
    output::mix::mean,
    settings::{BandMask, Settings, smoother::SmoothedSettings},
};
use std::ops::Range;

/// Seconds in which a band's weight follows a decision.
const TIME: f64 = 0.005;

/// The greatest shift of the decision threshold by the sensitivity, in log odds.
const MOST_SHIFT: f32 = 3.0;

/// The notes that are played, and the smoothed weights of the bands that follow from them.
#[derive(Debug, Clone)]
pub(crate) struct Focus {
    listener: Listener,
    /// The listener's input in the current block.
    heard: [f32; BLOCK],
    /// Whether the listener is running.
    listening: bool,
    /// Whether it also runs at a focus of 0 %.
    reporting: bool,
    played: BandMask,
    /// Power at each note's frequency at the time of the last decision.
    levels: [f32; TONES],
    shares: Lanes,
    /// The greatest change of a weight within a block.
    step: f32,
}

impl Focus {
    /// At rest, for `sample_rate` in Hz.
    pub fn new(sample_rate: f64) -> Self {
        Self {
            listener: Listener::new(sample_rate, false),
            heard: [0.0; BLOCK],
            listening: false,
            reporting: false,
            played: BandMask::NONE,
            levels: [0.0; TONES],
            shares: Lanes([1.0; TONES]),
            step: (BLOCK as f64 / (TIME * sample_rate)).min(1.0) as f32,
        }
    }

    /// Whether its decisions leave as notes.
    pub fn reporting(&self) -> bool {
        self.reporting
    }

    /// Resets the listener, and sets the weights for the settings, smoothed and set, without smoothing.
    pub fn reset(&mut self, smoothed: &SmoothedSettings, settings: &Settings) {
        self.listening = false;
        (self.played, self.levels) = (BandMask::NONE, [0.0; TONES]);
        self.tune(smoothed, settings);
        self.shares = self.target(smoothed.settings.focus);
    }

    /// Passes the settings, smoothed and set, to the listener, and resets it when it is switched on.
    pub fn tune(&mut self, smoothed: &SmoothedSettings, settings: &Settings) {
        let Settings { tuning, transpose, sensitivity, focus, .. } = smoothed.settings;
        self.listener.set_lookahead(settings.lookahead);
        self.listener.set_tuning(f64::from(tuning), f64::from(transpose));
        self.listener.set_sensitivity(MOST_SHIFT * (sensitivity / 50.0 - 1.0));
        let listened = self.listening;
        self.reporting = settings.midi_out;
        self.listening = self.reporting || focus > 0.0;
        if self.listening && !listened {
            self.listener.reset();
            (self.played, self.levels) = (BandMask::NONE, [0.0; TONES]);
        }
    }

    /// The notes that are played; `None` while the listener is off.
    pub fn played(&self) -> Option<BandMask> {
        self.listening.then_some(self.played)
    }

    /// Power at each note's frequency at the time that the decisions refer to; `None` without focus.
    pub fn levels(&self, percent: f32) -> Option<&[f32; TONES]> {
        (self.listening && percent > 0.0).then_some(&self.levels)
    }

    /// The listener.
    pub fn listener(&self) -> &Listener {
        &self.listener
    }

    /// Appends the mean of the samples `range` of all channels to the listener's input, at `position` in the current
    /// block.
    pub fn push(&mut self, channels: &[impl AsRef<[f32]>], range: Range<usize>, position: usize) {
        if self.listening {
            let heard = &mut self.heard[position..position + range.len()];
            mean(channels, range, heard);
            heard.iter_mut().for_each(|sample| *sample = sample.clamp(-LOUDEST, LOUDEST));
        }
    }

    /// Runs the listener at the end of a block. While the bands are `frozen`, so are the decisions.
    pub fn decide(&mut self, kernel: Kernel, frozen: bool) {
        if self.listening
            && let Some(decisions) = self.listener.push(kernel, &self.heard)
            && !frozen
        {
            self.levels = decisions.level;
            let on = (0..TONES).filter(|&tone| decisions.on[tone]);
            self.played = on.fold(BandMask::NONE, |played, tone| played.with(tone, true));
        }
    }

    /// Moves the weights by one block towards those for the played notes, at a focus of 0..100 %.
    pub fn follow(&mut self, percent: f32) {
        let target = self.target(percent);
        self.shares.approach(&target, self.step);
    }

    /// The bands' weights in the sum, 0..1.
    pub fn shares(&self) -> &Lanes {
        &self.shares
    }

    /// The weights for the played notes: 1, or `(1 - focus)^4` for a note that is not played (1 at 0 %, -24 dB at 50
    /// %, 0 at 100 %).
    fn target(&self, percent: f32) -> Lanes {
        let residue = (1.0 - percent / 100.0).powi(4);
        Lanes(std::array::from_fn(|tone| if self.played.contains(tone) { 1.0 } else { residue }))
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
            let shares = focus.shares().0;
            assert_eq!(shares[12], 1.0);
            let reached = 20.0 * shares[13].log10();
            assert!(reached == db || (reached - db).abs() < 0.01, "{percent} %: {reached} dB");
            focus.played = BandMask::ALL;
            focus.follow(percent);
            assert!(percent == 0.0 || focus.shares().0[13] < 1.0, "not immediately");
        }
    }
}
