//! Focus: attenuates the bands whose notes are not played.

use crate::{
    lanes::{BLOCK, Lanes},
    notes::TONES,
    ramp::Approach,
    settings::BandMask,
};

/// Seconds in which a band's weight moves from 0 to 1, or back, after a decision.
const TIME: f64 = 0.005;
/// Duration in seconds of the silent gap before a held note restarts.
const GAP: f64 = 0.02;
/// Time constant in seconds of the stereo position of a note.
const PAN: f64 = 0.03;

/// Computes the weights of the bands from the notes that are played, and smooths the stereo positions of the notes.
#[derive(Debug, Clone)]
pub struct Focus {
    /// Restarting notes: silent until their gap is over.
    pausing: BandMask,
    /// Number of blocks left of each gap.
    gap_left: [u32; TONES],
    /// Number of blocks in a gap.
    gap_length: u32,
    /// Smoothed stereo positions of the notes, 1 for left and -1 for right.
    pans: Lanes,
    pan_step: f32,
    pub weights: Approach,
    /// Inputs of the current target weights: sounding notes, and focus in %.
    aim: Option<(BandMask, f32)>,
}

impl Focus {
    pub fn new(sample_rate: f64) -> Self {
        Self {
            pausing: BandMask::NONE,
            gap_left: [0; TONES],
            gap_length: (GAP * sample_rate / BLOCK as f64).round().max(1.0) as u32,
            pans: Lanes::ZERO,
            pan_step: -libm::expm1(-(BLOCK as f64) / (PAN * sample_rate)) as f32,
            weights: Approach::new(Lanes::of(|_| 1.0), TIME, sample_rate),
            aim: None,
        }
    }

    /// Jumps to the weights for the notes `played` at a focus of `percent`.
    pub fn reset(&mut self, played: BandMask, percent: f32) {
        (self.pausing, self.gap_left) = (BandMask::NONE, [0; TONES]);
        (self.pans, self.aim) = (Lanes::ZERO, None);
        self.weights.reset(target(played, percent));
    }

    /// Restarts the held notes `begun`, each after a silent gap.
    pub fn restart(&mut self, begun: BandMask) {
        for tone in (0..TONES).filter(|&tone| begun.contains(tone)) {
            self.pausing = self.pausing.with(tone, true);
            self.gap_left[tone] = self.gap_length;
        }
    }

    /// Moves the weights by one block towards the weights for the notes `played` at a focus of `percent`. Returns whether a
    /// weight has moved.
    pub fn follow(&mut self, played: BandMask, percent: f32) -> bool {
        let sounding = played.without(self.pausing);
        if self.aim.replace((sounding, percent)) != Some((sounding, percent)) {
            self.weights.aim(target(sounding, percent));
        }
        if self.pausing != BandMask::NONE {
            for (tone, gap_left) in self.gap_left.iter_mut().enumerate() {
                *gap_left = gap_left.saturating_sub(1);
                self.pausing = self.pausing.with(tone, *gap_left > 0);
            }
        }
        self.weights.step()
    }

    /// Moves the stereo positions by one block towards `targets`, and returns them. Silent notes jump.
    pub fn pan(&mut self, targets: &Lanes) -> &Lanes {
        let aims = targets.0.iter().zip(&self.weights.now.0);
        for (pan, (aim, weight)) in self.pans.0.iter_mut().zip(aims) {
            *pan += if *weight == 0.0 { 1.0 } else { self.pan_step } * (aim - *pan);
        }
        &self.pans
    }
}

/// Returns the weights at a focus of `percent`: 1 for the notes that are `sounding`, `(1 - focus)^4` for all others (1 at 0 %,
/// -24 dB at 50 %, 0 at 100 %).
fn target(sounding: BandMask, percent: f32) -> Lanes {
    let residue = (1.0 - percent / 100.0).powi(4);
    Lanes::of(|tone| if sounding.contains(tone) { 1.0 } else { residue })
}
