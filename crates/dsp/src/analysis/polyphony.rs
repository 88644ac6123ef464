//! Polyphony: limits the number of notes that sound at a time to the strongest ones.

use crate::{lanes::Lanes, notes::TONES, ramp::Approach, settings::BandMask};

/// Fade time in seconds when a note replaces another.
const FADE: f64 = 0.005;
/// Factor on the power of a sounding note, so that a new note replaces it only if it is 3 dB stronger. No test fixes the
/// value to 1 %, which is 0.04 dB.
const ADVANTAGE: f32 = 1.995_262_3;

#[derive(Debug, Clone)]
pub(super) struct Polyphony {
    pub weights: Approach,
    /// Notes that were chosen last; `None` while all notes have their full weight.
    chosen: Option<BandMask>,
}

impl Polyphony {
    pub fn new(sample_rate: f64) -> Self {
        Self { weights: Approach::new(Lanes::of(|_| 1.0), FADE, sample_rate), chosen: None }
    }

    /// Resets to a limit. With a limit below 77, no note sounds at first.
    pub fn reset(&mut self, limit: usize) {
        let all = limit >= TONES;
        self.chosen = (!all).then_some(BandMask::NONE);
        self.weights.reset(Lanes::of(|_| if all { 1.0 } else { 0.0 }));
    }

    /// Whether there is a limit, or the notes that an earlier limit muted are still fading in.
    pub fn limits(&self, limit: usize) -> bool {
        limit < TONES || self.chosen.is_some()
    }

    /// Advances by a block, in which only the `limit` strongest of `powers` may sound. Returns whether a weight has moved.
    pub fn follow(&mut self, limit: usize, powers: &Lanes) -> bool {
        let before = self.chosen.unwrap_or(BandMask::ALL);
        let mut notes = [(0.0, 0); TONES];
        let mut count = 0;
        for (tone, power) in powers.0.into_iter().take(TONES).enumerate() {
            if power > 0.0 || limit >= TONES {
                let advantage = if before.contains(tone) { ADVANTAGE } else { 1.0 };
                notes[count] = (advantage * power, tone);
                count += 1;
            }
        }
        let mut notes = &mut notes[..count];
        if count > limit {
            // Ties go to the lower index.
            notes.select_nth_unstable_by(limit, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            notes = &mut notes[..limit];
        }
        let chosen = BandMask::of(notes.iter().map(|(_, tone)| *tone));
        if self.chosen != Some(chosen) {
            self.weights.aim(Lanes::of(|tone| f32::from(u8::from(chosen.contains(tone)))));
        }
        let moved = self.weights.step();
        self.chosen = (chosen != BandMask::ALL || self.weights.moves()).then_some(chosen);
        moved
    }
}
