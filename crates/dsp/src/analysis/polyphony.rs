//! Polyphony: limits the number of notes that sound at a time to the strongest ones.

use crate::{lanes::Lanes, notes::TONES, ramp::Approach, settings::BandMask};

/// Fade time in seconds when a note replaces another.
const FADE: f64 = 0.005;

/// Factor on the power of notes that sound: a new note must be 3 dB stronger to replace one.
const ADVANTAGE: f32 = 1.995_262_3;

/// Notes that may sound, and their weights.
#[derive(Debug, Clone)]
pub(super) struct Polyphony {
    weights: Approach,
    /// Notes that were chosen last; `None` while all notes sound with their full weight.
    chosen: Option<BandMask>,
}

impl Polyphony {
    /// Creates the state in which all notes sound; `sample_rate` is in Hz.
    pub fn new(sample_rate: f64) -> Self {
        Self { weights: Approach::new(Lanes::of(|_| 1.0), FADE, sample_rate), chosen: None }
    }

    /// Resets to a limit of this number of notes. Below 77, no note sounds yet.
    pub fn reset(&mut self, limit: usize) {
        let all = limit >= TONES;
        self.chosen = (!all).then_some(BandMask::NONE);
        self.weights.reset(Lanes::of(|_| if all { 1.0 } else { 0.0 }));
    }

    /// Whether `limit` is below the number of tones, or an earlier limit is still fading out.
    pub fn limits(&self, limit: usize) -> bool {
        limit < TONES || self.chosen.is_some()
    }

    /// Advances by a block: of the bands' `powers`, the `limit` strongest may sound. Returns whether a weight has moved.
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
            // Among equal notes, the lower index.
            notes.select_nth_unstable_by(limit, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            notes = &mut notes[..limit];
        }
        let chosen = notes.iter().fold(BandMask::NONE, |mask, (_, tone)| mask.with(*tone, true));
        if self.chosen != Some(chosen) {
            self.weights.aim(Lanes::of(|tone| f32::from(u8::from(chosen.contains(tone)))));
        }
        let moved = self.weights.step();
        self.chosen = (chosen != BandMask::ALL || self.weights.moves()).then_some(chosen);
        moved
    }

    /// Returns the weights of the notes in the sum, 0..1.
    pub fn weights(&self) -> &Lanes {
        self.weights.now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn powers(notes: &[(usize, f32)]) -> Lanes {
        let mut powers = Lanes::ZERO;
        notes.iter().for_each(|&(tone, power)| powers.0[tone] = power);
        powers
    }

    #[test]
    fn the_strongest_notes_sound_and_equal_ones_do_not_take_turns() {
        let mut polyphony = Polyphony::new(48_000.0);
        polyphony.reset(2);
        let sounding = |polyphony: &Polyphony| -> Vec<usize> {
            (0..TONES).filter(|&tone| polyphony.weights().0[tone] == 1.0).collect()
        };
        for _ in 0..4 {
            polyphony.follow(2, &powers(&[(3, 0.1), (9, 0.2), (20, 0.05)]));
        }
        assert_eq!(sounding(&polyphony), [3, 9]);
        for _ in 0..10 {
            polyphony.follow(2, &powers(&[(3, 0.1), (9, 0.2), (20, 0.19)]));
        }
        assert_eq!(sounding(&polyphony), [3, 9], "2.8 dB do not displace a note");
        for block in 0..4 {
            polyphony.follow(2, &powers(&[(3, 0.1), (9, 0.2), (20, 0.21)]));
            assert_eq!(polyphony.weights().0[3] == 0.0, block == 3, "3.2 dB do, in 5 ms");
        }
        assert_eq!(sounding(&polyphony), [9, 20]);
        for _ in 0..4 {
            polyphony.follow(TONES, &powers(&[]));
        }
        assert!(!polyphony.limits(TONES) && polyphony.limits(TONES - 1));
    }
}
