//! What becomes of a note that is not played: its band's share in the sum.

use super::{
    lanes::{BLOCK, Lanes},
    notes::TONES,
    settings::BandMask,
};

/// Seconds in which a band's share follows a decision.
const TIME: f64 = 0.005;

/// The shares of the bands in the sum, on their way to what was decided.
#[derive(Debug, Clone)]
pub(super) struct Focus {
    shares: Lanes,
    /// The most that a share moves within a block.
    step: f32,
}

impl Focus {
    /// All bands whole; `sample_rate` is in Hz.
    pub fn new(sample_rate: f64) -> Self {
        let step = (BLOCK as f64 / (TIME * sample_rate)).min(1.0) as f32;
        Self { shares: Lanes([1.0; TONES]), step }
    }

    /// Jumps to the shares of `played` notes, at a focus of 0..100 %.
    pub fn arrive(&mut self, played: BandMask, percent: f32) {
        self.shares = Self::target(played, percent);
    }

    /// Moves towards the shares of `played` notes, at a focus of 0..100 %, by one block.
    pub fn follow(&mut self, played: BandMask, percent: f32) {
        let target = Self::target(played, percent);
        for (share, target) in self.shares.0.iter_mut().zip(target.0) {
            *share += (target - *share).clamp(-self.step, self.step);
        }
    }

    /// The bands' shares in the sum, 0..1.
    pub fn shares(&self) -> &Lanes {
        &self.shares
    }

    /// A note that is not played keeps `(1 - focus)^4`: all at 0 %, -24 dB at 50 %, nothing at 100 %.
    fn target(played: BandMask, percent: f32) -> Lanes {
        let residue = (1.0 - percent / 100.0).powi(4);
        Lanes(std::array::from_fn(|tone| if played.contains(tone) { 1.0 } else { residue }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_that_is_not_played_is_held_back_by_what_the_focus_says_within_5_ms() {
        for (percent, db) in [(0.0, 0.0), (50.0, -24.08), (100.0, f32::NEG_INFINITY)] {
            let mut focus = Focus::new(48_000.0);
            for _ in 0..4 {
                focus.follow(BandMask::NONE.with(12, true), percent);
            }
            let shares = focus.shares().0;
            assert_eq!(shares[12], 1.0);
            let reached = 20.0 * shares[13].log10();
            assert!(reached == db || (reached - db).abs() < 0.01, "{percent} %: {reached} dB");
            focus.follow(BandMask::ALL, percent);
            assert!(percent == 0.0 || focus.shares().0[13] < 1.0, "not at once");
        }
    }
}
