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

    /// Creates a rig in which `tone` sounds at a level of 1.
    fn sounding(tone: usize) -> Self {
        let mut rig = Self::new(0.2);
        rig.amplitudes.0[tone] = 1.0;
        rig.play(tone, 1.0);
        rig.blocks(300);
        rig
    }

    /// Creates a rig in which `tone` sounds at a level of 1, and counts as ending from the next block on.
    fn ending(tone: usize) -> Self {
        let mut rig = Self::sounding(tone);
        rig.amplitudes.0[tone] = 0.5;
        rig
    }

    fn play(&mut self, tone: usize, power: f32) {
        self.gains.0[tone] = power.sqrt();
    }

    fn blocks(&mut self, count: usize) {
        for _ in 0..count {
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
    }

    /// Returns the semitones between a note and its band in the current block.
    fn shift(&self, tone: usize) -> f32 {
        12.0 * self.pitch.ratio(tone).log2()
    }

    /// Begins `tone` with a `power`. Returns whether it starts at the pitch of the note `below`.
    fn glides(&mut self, below: usize, tone: usize, power: f32) -> bool {
        self.play(tone, power);
        self.blocks(1);
        self.shift(tone) < below as f32 - tone as f32 + 0.1
    }
}

/// Description of a threshold, a value beyond it, a value within it, and the check.
type Threshold = (&'static str, [f32; 2], fn(f32) -> bool);

const THRESHOLDS: [Threshold; 9] = [
    ("a note begins above -30 dB of the greatest power", [0.995e-3, 1.005e-3], |power| {
        Rig::ending(A4).glides(A4, C5, power)
    }),
    ("a note sounds above -40 dB of the greatest power", [0.995e-4, 1.005e-4], |power| {
        let mut rig = Rig::ending(A4);
        rig.play(A4, power);
        // No glide can begin at a note that ended so long ago.
        rig.blocks(300);
        rig.glides(A4, C5, 1.0)
    }),
    ("a glide begins up to 50 ms after the end of a note", [201.0, 200.0], |blocks| {
        let mut rig = Rig::ending(A4);
        rig.play(A4, 0.0);
        rig.blocks(blocks as usize);
        rig.glides(A4, C5, 1.0)
    }),
    ("a note can glide until 25 ms after its beginning", [101.0, 100.0], |blocks| {
        let mut rig = Rig::sounding(A4);
        rig.play(C5, 1.0);
        rig.blocks(blocks as usize);
        assert_eq!(rig.shift(C5), 0.0);
        // Now A4 is ending.
        rig.weights.0[A4] = 0.5;
        rig.glides(A4, C5, 1.0)
    }),
    ("a note is ending 3 dB below its peak", [0.5025, 0.4975], |power| {
        // The note itself goes on, as at the ceiling.
        let mut rig = Rig::sounding(A4);
        rig.amplitudes.0[A4] = power.sqrt();
        rig.blocks(1);
        rig.glides(A4, C5, 1.0)
    }),
    ("the peak falls by 30 dB in a second", [1.01, 0.99], |factor| {
        let mut rig = Rig { high: 1e-6, ..Rig::sounding(A4) };
        // After 2 s, the peak is at a millionth. It falls by 0.2 % a block.
        rig.amplitudes.0[A4] = (factor * 0.5e-6).sqrt();
        rig.play(A4, factor * 0.5e-6);
        rig.blocks((2.0 * BLOCKS) as usize);
        rig.glides(A4, C5, 1.0)
    }),
    ("a glide goes no farther than an octave", [2.0, 0.0], |blocks| {
        let mut rig = Rig::ending(A3);
        // A3 moves down by 1/40 of a semitone a block.
        rig.offsets[A3] = if blocks > 0.0 { -1 } else { 0 };
        rig.blocks(blocks as usize);
        rig.play(A4, 1.0);
        rig.blocks(1);
        rig.shift(A4) < -11.0
    }),
    ("a band leads where it is 3 dB stronger", [1.99, 2.01], |power| {
        let mut rig = Rig::new(0.0);
        rig.offsets[E5] = -4;
        rig.play(C5, 1.0);
        rig.blocks(10);
        rig.play(E5, power);
        rig.blocks(1);
        let gains = &rig.before.0;
        let leads = gains[C5] == 0.0;
        assert_eq!(gains[E5] == 0.0, !leads);
        assert!((gains[C5] + gains[E5] - (1.0 + power).sqrt()).abs() < 1e-6, "the power of both");
        leads
    }),
    ("the first of two equal bands leads", [1.0005, 1.0015], |power| {
        let mut rig = Rig::new(0.0);
        rig.offsets[E5] = -4;
        rig.play(C5, 1.0);
        rig.play(E5, power);
        rig.blocks(1);
        rig.before.0[E5] > 0.0
    }),
];

#[test]
fn thresholds_are_exact_to_1_percent() {
    for (what, values, holds) in THRESHOLDS {
        assert_eq!(values.map(holds), [false, true], "{what}: {values:?}");
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
