//! Thresholds and times of glides and of notes at one pitch: each is tested from both sides, within 1 %.

use super::*;

/// Blocks per second: 100.3 in 25 ms and 200.6 in 50 ms, so that 1 % more or less is another whole number of blocks.
const BLOCKS: f64 = 100.3 / 0.025;

const A3: usize = 0;
const A4: usize = 12;
const C5: usize = 15;
const E5: usize = 19;

struct Rig {
    pitch: Pitch,
    offsets: [i8; TONES],
    glide: f32,
    amplitudes: Lanes,
    /// Amplitudes at the end of the previous block, in one band for each pitch.
    before: Lanes,
    /// Amplitudes set by the test.
    gains: Lanes,
    weights: Lanes,
    /// Maximum power of a note.
    high: f32,
}

impl Rig {
    fn new(glide: f32) -> Self {
        Self {
            pitch: Pitch::new(BLOCKS * BLOCK as f64),
            offsets: [0; TONES],
            glide,
            amplitudes: Lanes::ZERO,
            before: Lanes::ZERO,
            gains: Lanes::ZERO,
            weights: Lanes::of(|_| 1.0),
            high: 1.0,
        }
    }

    fn play(&mut self, tone: usize, power: f32) {
        self.gains.0[tone] = power.sqrt();
    }

    fn block(&mut self) {
        let mut gains = self.gains;
        let bands = Bands {
            phases: &[0; LANES],
            steps: &[1 << 20; LANES],
            angles: &[0.01; TONES],
            amplitudes: &self.amplitudes,
            before: &self.before,
            gains: &mut gains,
            weights: &self.weights,
            high: self.high,
        };
        let moves = Moves { offsets: &self.offsets, glide: self.glide, vibrato: 1.0 };
        self.pitch.update(moves, bands);
        self.before = gains;
    }

    fn blocks(&mut self, count: usize) {
        (0..count).for_each(|_| self.block());
    }

    /// Returns the semitones between a note and its band in the current block.
    fn shift(&self, tone: usize) -> f32 {
        12.0 * self.pitch.ratio(tone).log2()
    }

    /// Begins C5. Returns whether it starts near A4.
    fn glides(&mut self) -> bool {
        self.play(C5, 1.0);
        self.block();
        self.shift(C5) < -2.9
    }

    /// Creates a rig in which A4 sounds and is ending, as the power of its band is far greater.
    fn ending() -> Self {
        let mut rig = Self::new(0.2);
        rig.play(A4, 1.0);
        rig.amplitudes.0[A4] = 10.0;
        rig.blocks(300);
        rig
    }
}

#[test]
fn a_note_begins_above_30_db_below_the_greatest_power() {
    for (power, begins) in [(0.995e-3, false), (1.005e-3, true)] {
        let mut rig = Rig::ending();
        rig.play(C5, power);
        rig.block();
        assert_eq!(rig.shift(C5) < -2.9, begins, "{power}");
    }
}

#[test]
fn a_note_ends_40_db_below_the_greatest_power() {
    for (power, sounds) in [(0.995e-4, false), (1.005e-4, true)] {
        let mut rig = Rig::ending();
        rig.play(A4, power);
        // No glide can begin at a note that ended so long ago.
        rig.blocks(300);
        assert_eq!(rig.glides(), sounds, "{power}");
    }
}

#[test]
fn a_glide_begins_up_to_50_ms_after_the_end_of_a_note() {
    for (blocks, expected) in [(200, true), (201, false)] {
        let mut rig = Rig::ending();
        rig.play(A4, 0.0);
        rig.blocks(blocks);
        assert_eq!(rig.glides(), expected, "{blocks} blocks");
    }
}

#[test]
fn a_note_can_glide_until_25_ms_after_its_beginning() {
    for (blocks, expected) in [(100, true), (101, false)] {
        let mut rig = Rig::new(0.2);
        // A4 sounds at its full level, which is no end.
        rig.amplitudes.0[A4] = 1.0;
        rig.play(A4, 1.0);
        rig.blocks(300);
        rig.play(C5, 1.0);
        rig.blocks(blocks);
        assert_eq!(rig.shift(C5), 0.0);
        // Now A4 is ending.
        rig.weights.0[A4] = 0.5;
        rig.block();
        assert_eq!(rig.shift(C5) < -2.9, expected, "{blocks} blocks");
    }
}

#[test]
fn a_note_is_ending_3_db_below_its_peak() {
    for (power, ends) in [(0.4975, true), (0.5025, false)] {
        let mut rig = Rig::new(0.2);
        rig.amplitudes.0[A4] = 1.0;
        rig.play(A4, 1.0);
        rig.blocks(300);
        rig.play(A4, power);
        rig.block();
        assert_eq!(rig.glides(), ends, "{power}");
    }
}

#[test]
fn the_peak_falls_by_30_db_in_a_second() {
    for (factor, ends) in [(0.99, true), (1.01, false)] {
        let mut rig = Rig { high: 1e-6, ..Rig::new(0.2) };
        rig.amplitudes.0[A4] = 1.0;
        rig.play(A4, 1.0);
        rig.blocks(300);
        // After 2 s, the peak is at a millionth. It falls by 0.2 % a block.
        rig.amplitudes.0[A4] = 0.0;
        rig.play(A4, factor * 0.5e-6);
        rig.blocks((2.0 * BLOCKS) as usize);
        assert_eq!(rig.glides(), ends, "{factor}");
    }
}

#[test]
fn a_glide_goes_no_farther_than_an_octave() {
    for (blocks, expected) in [(0, true), (2, false)] {
        let mut rig = Rig::new(0.2);
        // The power of the band is far greater, so its note is ending.
        rig.amplitudes.0[A3] = 10.0;
        rig.play(A3, 1.0);
        rig.blocks(300);
        // A3 moves down by 1/40 of a semitone a block.
        rig.offsets[A3] = if blocks > 0 { -1 } else { 0 };
        rig.blocks(blocks);
        rig.play(A4, 1.0);
        rig.block();
        assert_eq!(rig.shift(A4) < -11.0, expected, "{blocks} blocks");
    }
}

#[test]
fn a_note_follows_its_map_in_10_ms() {
    let mut rig = Rig::new(0.0);
    rig.play(C5, 1.0);
    rig.blocks(10);
    rig.offsets[C5] = 2;
    rig.blocks(21);
    // In the middle of the block.
    let expected = 2.0 * 20.5 / BLOCKS / 0.01;
    assert!((f64::from(rig.shift(C5)) / expected - 1.0).abs() < 1e-3, "{}", rig.shift(C5));
    rig.blocks(25);
    assert!((rig.shift(C5) - 2.0).abs() < 1e-5);
}

#[test]
fn a_band_leads_where_it_is_3_db_stronger() {
    for (power, leads) in [(1.99, false), (2.01, true)] {
        let mut rig = Rig::new(0.0);
        rig.offsets[E5] = -4;
        rig.play(C5, 1.0);
        rig.blocks(10);
        rig.play(E5, power);
        rig.block();
        let [leader, other] = if leads { [E5, C5] } else { [C5, E5] };
        let gains = &rig.before.0;
        assert_eq!(gains[other], 0.0, "{power}");
        assert!((gains[leader] - (1.0 + power).sqrt()).abs() < 1e-6, "the power of both");
    }
}
