//! Focus: which notes are played, and what becomes of the bands of all others.

use super::{
    bank::{LOUDEST, kernel::Kernel},
    lanes::{BLOCK, Lanes},
    listener::Listener,
    mix::mean,
    notes::TONES,
    settings::{BandMask, Settings, smoother::SmoothedSettings},
};
use std::ops::Range;

/// Seconds in which a band's share follows a decision.
const TIME: f64 = 0.005;

/// The most by which the sensitivity shifts the threshold of a decision, in log odds.
const MOST_SHIFT: f32 = 3.0;

/// What is played, and the shares of the bands in the sum on their way there.
#[derive(Debug, Clone)]
pub(super) struct Focus {
    listener: Listener,
    /// What it hears in the current block.
    heard: [f32; BLOCK],
    /// Whether it hears; and whether it does so at a focus of 0 %, too.
    listening: bool,
    always: bool,
    played: BandMask,
    shares: Lanes,
    /// The most that a share moves within a block.
    step: f32,
}

impl Focus {
    /// At rest, for `sample_rate` in Hz.
    pub fn new(sample_rate: f64) -> Self {
        Self {
            listener: Listener::new(sample_rate, false),
            heard: [0.0; BLOCK],
            listening: false,
            always: false,
            played: BandMask::NONE,
            shares: Lanes([1.0; TONES]),
            step: (BLOCK as f64 / (TIME * sample_rate)).min(1.0) as f32,
        }
    }

    /// From now on, the listener hears at any focus.
    pub fn listen_always(&mut self) {
        self.always = true;
    }

    /// Forgets what was heard and arrives at `settings`.
    pub fn reset(&mut self, settings: &SmoothedSettings, lookahead: bool) {
        self.listening = false;
        self.played = BandMask::NONE;
        self.tune(settings, lookahead);
        self.shares = self.target(settings.settings.focus);
    }

    /// Lets the listener follow the settings, and start from silence when it is needed again.
    pub fn tune(&mut self, settings: &SmoothedSettings, lookahead: bool) {
        let Settings { tuning, transpose, sensitivity, focus, .. } = settings.settings;
        self.listener.set_lookahead(lookahead);
        self.listener.set_tuning(f64::from(tuning), f64::from(transpose));
        self.listener.set_sensitivity(MOST_SHIFT * (sensitivity / 50.0 - 1.0));
        let listened = self.listening;
        self.listening = self.always || focus > 0.0;
        if self.listening && !listened {
            self.listener.reset();
            self.played = BandMask::NONE;
        }
    }

    /// The notes that are played; `None` while nobody listens for them.
    pub fn played(&self) -> Option<BandMask> {
        self.listening.then_some(self.played)
    }

    /// Power at each note's frequency at the moment that the decisions are about; `None` without focus.
    pub fn levels(&self, percent: f32) -> Option<&[f32; TONES]> {
        (self.listening && percent > 0.0).then(|| &self.listener.decisions().level)
    }

    /// What decides.
    pub fn listener(&self) -> &Listener {
        &self.listener
    }

    /// Hears the samples `range` of all channels, from `position` on in the current block.
    pub fn hear(&mut self, channels: &[&mut [f32]], range: Range<usize>, position: usize) {
        if self.listening {
            let heard = &mut self.heard[position..position + range.len()];
            mean(channels, range, heard);
            heard.iter_mut().for_each(|sample| *sample = sample.clamp(-LOUDEST, LOUDEST));
        }
    }

    /// Decides, at the end of a block.
    pub fn decide(&mut self, kernel: Kernel) {
        if self.listening
            && let Some(decisions) = self.listener.push(kernel, &self.heard)
        {
            let on = (0..TONES).filter(|&tone| decisions.on[tone]);
            self.played = on.fold(BandMask::NONE, |played, tone| played.with(tone, true));
        }
    }

    /// Moves the shares by one block towards those of what is played, at a focus of 0..100 %.
    pub fn follow(&mut self, percent: f32) {
        let target = self.target(percent);
        self.shares.approach(&target, self.step);
    }

    /// The bands' shares in the sum, 0..1.
    pub fn shares(&self) -> &Lanes {
        &self.shares
    }

    /// A note that is not played keeps `(1 - focus)^4`: all at 0 %, -24 dB at 50 %, nothing at 100 %.
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
            assert!(percent == 0.0 || focus.shares().0[13] < 1.0, "not at once");
        }
    }
}
