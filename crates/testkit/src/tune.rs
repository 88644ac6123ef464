//! Synthesiser of the demo tune: eight bars in A minor. Between machines, the tune differs only by rounding.
//!
//! The tune is arranged to show the filter. The first bar has only percussion, which must not switch bands on. Then come a
//! plucked melody, chords, a bass and an arpeggio up to A6. They switch on the bands of their notes, all in equal temperament
//! at 440 Hz. One bar has no percussion, and the last chord rings out.

use anyhow::{Context, Result};
use std::{f64::consts::TAU, path::Path};

/// Sample rate in Hz.
pub const RATE: u32 = 44_100;

/// Tempo in beats per minute.
pub const BEATS_PER_MINUTE: f64 = 132.0;
/// Length of a bar in seconds.
pub const BAR: f64 = 4.0 * 60.0 / BEATS_PER_MINUTE;
/// Length of a sixteenth in seconds.
const STEP: f64 = BAR / 16.0;
/// Length in seconds of the time after the last bar, in which the last chord fades out.
const END: f64 = 1.2;
/// Peak of the tune: -3 dB full scale.
const PEAK: f64 = 0.708;

/// Melody. As in the parts below, each string is a bar. It has notes, each followed by its length in eighths. `-` is a rest,
/// and `+` joins the notes of a chord.
#[rustfmt::skip]
const MELODY: [&str; 8] = [
    "- 8",
    "E5 2 A5 1 B5 1 C6 2 B5 1 A5 1",
    "G5 2 A5 1 E5 1 C5 2 D5 1 E5 1",
    "F5 2 A5 1 D6 1 C6 2 A5 1 F5 1",
    "E5 2 G#5 1 B5 1 D6 2 C6 1 B5 1",
    "C6 3 B5 1 A5 2 E5 2",
    "D6 2 C6 1 A5 1 B5 2 G#5 2",
    "A5 8",
];
#[rustfmt::skip]
const CHORDS: [&str; 8] = [
    "- 8",
    "A3+C4+E4+B4 8",
    "A3+C4+F4+G4 8",
    "A3+D4+F4+C5 8",
    "B3+D4+E4+G#4 8",
    "A3+C4+E4+B4 4 A3+C4+F4+A4 4",
    "A3+D4+F4+C5 4 B3+D4+E4+G#4 4",
    "A3+C#4+E4+B4 8",
];
#[rustfmt::skip]
const BASS: [&str; 8] = [
    "- 8",
    "A2 3 A2 1 E2 2 A2 2",
    "F2 3 F2 1 C3 2 F2 2",
    "D2 3 D2 1 A2 2 D3 2",
    "E2 3 E2 1 B2 2 G#2 2",
    "A2 4 F2 4",
    "D2 3 D2 1 E2 2 E2 2",
    "A2 8",
];
/// Arpeggio: a figure of sixteenths for each bar, which is repeated up to the end of the bar.
#[rustfmt::skip]
const ARPEGGIO: [&str; 8] = [
    "", "", "",
    "A5 D6 F6 A6",
    "G#5 B5 E6 G#6",
    "",
    "A5 D6 F6 A6",
    "",
];
/// Kick drum. As in the drums below, each string is a bar of sixteenths, and `x` is a hit.
#[rustfmt::skip]
const KICK: [&str; 8] = [
    "x.....x.x.......", "x.....x.x.......", "x.....x.x.....x.", "x.....x.x.......", "x.....x.x...x...",
    "................", "x.....x.x...x.x.", "x...............",
];
#[rustfmt::skip]
const SNARE: [&str; 8] = [
    "....x.......x.xx", "....x.......x...", "....x.......x...", "....x.......x..x", "....x.......x.x.",
    "................", "....x.......xxxx", "................",
];
#[rustfmt::skip]
const HAT: [&str; 8] = [
    "x.x.x.x.x.x.x.x.", "x.x.x.x.x.x.x.x.", "x.x.x.x.x.x.x.x.", "x.xxx.x.x.xxx.x.", "x.xxx.x.x.xxx.x.",
    "................", "xxx.xxx.xxx.x.x.", "x...............",
];

/// Synthesises the tune: left and right, 16 bits.
pub fn generate() -> Vec<[i16; 2]> {
    let mut mix = Mix::new(8.0 * BAR + END);
    // The melody has two echoes. The first is on the left, a dotted eighth later; the second is on the right, another dotted
    // eighth later.
    for (delay, gain, pan) in [(0.0, 0.34, 0.1), (3.0, 0.12, -0.7), (6.0, 0.06, 0.7)] {
        for note in notes(&MELODY) {
            mix.add(note.start + delay * STEP, gain, pan, note.length + 0.9, |t| pluck(&note, t));
        }
    }
    for note in notes(&CHORDS) {
        let pan = if note.voice.is_multiple_of(2) { -0.5 } else { 0.5 };
        mix.add(note.start, 0.085, pan, note.length + 1.6, |t| pad(&note, t));
    }
    for note in notes(&BASS) {
        mix.add(note.start, 0.2, 0.0, note.length + 0.25, |t| bass(&note, t));
    }
    for note in arpeggio() {
        let pan = if note.voice.is_multiple_of(2) { 0.6 } else { -0.6 };
        mix.add(note.start, 0.07, pan, 1.0, |t| pluck(&note, t));
    }
    for (pattern, gain, pan, drum) in [
        (&KICK, 0.8, 0.0, kick as fn(f64, f64) -> f64),
        (&SNARE, 0.5, -0.1, snare),
        (&HAT, 0.17, 0.3, hat),
    ] {
        for start in hits(pattern) {
            let mut noise = noise((start / STEP).round() as u64 + 1);
            mix.add(start, gain, pan, 0.9, |t| drum(t, noise()));
        }
    }
    mix.master()
}

/// Note of the tune, A3 or higher.
pub struct Written {
    /// Index of the band: 0 is A3.
    pub tone: usize,
    /// Start and end in seconds.
    pub seconds: [f64; 2],
}

/// Returns the notes of melody, chords and arpeggio, without the echoes. Leaves out the bass: it lies below A3, where the
/// published range of bands begins.
pub fn score() -> Vec<Written> {
    let all = [notes(&MELODY), notes(&CHORDS), arpeggio()].into_iter().flatten();
    let written = all.map(|note| Written {
        tone: (12.0 + 12.0 * (note.frequency / 440.0).log2()).round() as usize,
        seconds: [note.start, note.start + note.length],
    });
    written.collect()
}

/// Writes the tune to `path` as WAV.
pub fn write(path: &Path) -> Result<()> {
    let spec = hound::WavSpec {
        channels: 2,
        sample_rate: RATE,
        bits_per_sample: 16,
        sample_format: hound::SampleFormat::Int,
    };
    let write = || -> hound::Result<()> {
        let mut file = hound::WavWriter::create(path, spec)?;
        for sample in generate().into_iter().flatten() {
            file.write_sample(sample)?;
        }
        file.finalize()
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

struct Note {
    /// Start in seconds.
    start: f64,
    /// Length in seconds.
    length: f64,
    /// Frequency in Hz.
    frequency: f64,
    /// Index of the note in its chord, or in a bar of the arpeggio. Odd and even ones are on different sides.
    voice: usize,
}

fn notes(bars: &[&str]) -> Vec<Note> {
    let mut notes = Vec::new();
    for (bar, line) in bars.iter().enumerate() {
        let mut start = bar as f64 * BAR;
        let words: Vec<&str> = line.split_whitespace().collect();
        for word in words.chunks_exact(2) {
            let length = word[1].parse::<f64>().expect("a number of eighths") * 2.0 * STEP;
            for (voice, name) in word[0].split('+').filter(|&name| name != "-").enumerate() {
                notes.push(Note { start, length, frequency: frequency(name), voice });
            }
            start += length;
        }
    }
    notes
}

fn arpeggio() -> Vec<Note> {
    let mut notes = Vec::new();
    for (bar, line) in ARPEGGIO.iter().enumerate() {
        let names = line.split_whitespace().cycle().take(16);
        for (voice, name) in names.enumerate() {
            let start = bar as f64 * BAR + voice as f64 * STEP;
            notes.push(Note { start, length: STEP, frequency: frequency(name), voice });
        }
    }
    notes
}

fn hits(bars: &[&str]) -> Vec<f64> {
    let steps = bars.iter().flat_map(|line| line.bytes()).enumerate();
    steps.filter(|&(_, hit)| hit == b'x').map(|(step, _)| step as f64 * STEP).collect()
}

/// Returns the frequency in Hz of a note such as `G#5`.
fn frequency(name: &str) -> f64 {
    let (class, octave) = name.split_at(name.len() - 1);
    let classes = ["C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B"];
    let class = classes.iter().position(|&c| c == class).expect("a pitch class") as f64;
    let octave: f64 = octave.parse().expect("an octave");
    440.0 * ((class - 9.0) / 12.0 + octave - 4.0).exp2()
}

/// Returns the sum of `count` harmonics of `frequency` Hz at the time `t` in seconds. `level` maps the number of a harmonic to
/// its amplitude.
fn harmonics(count: u32, frequency: f64, t: f64, level: impl Fn(f64) -> f64) -> f64 {
    (1..=count).map(f64::from).map(|n| level(n) * (TAU * n * frequency * t).sin()).sum()
}

/// Returns the envelope at the time `t`: a linear attack to 1, and from `length` on a decay with the time constant `release`.
/// All times are in seconds.
fn envelope(t: f64, attack: f64, length: f64, release: f64) -> f64 {
    (t / attack).min(1.0) * (-(t - length).max(0.0) / release).exp()
}

fn pluck(note: &Note, t: f64) -> f64 {
    let ring = |n: f64| (-t * (1.6 + 1.4 * n)).exp() / n;
    envelope(t, 0.003, note.length, 0.12) * harmonics(6, note.frequency, t, ring)
}

fn pad(note: &Note, t: f64) -> f64 {
    let level = |n: f64| n.powf(-1.6);
    envelope(t, 0.09, note.length, 0.22) * harmonics(5, note.frequency, t, level)
}

fn bass(note: &Note, t: f64) -> f64 {
    let level = |n: f64| n.powf(-1.3) * (-t * n).exp();
    envelope(t, 0.006, note.length - 0.03, 0.03) * harmonics(5, note.frequency, t, level)
}

fn kick(t: f64, noise: f64) -> f64 {
    // The pitch falls from 170 to 45 Hz. The phase is the integral of the frequency.
    let phase = 45.0 * t + 125.0 * 0.03 * (1.0 - (-t / 0.03).exp());
    (-t / 0.09).exp() * (TAU * phase).sin() + 0.2 * noise * (-t / 0.003).exp()
}

fn snare(t: f64, noise: f64) -> f64 {
    noise * (-t / 0.055).exp() + 0.5 * (TAU * 185.0 * t).sin() * (-t / 0.03).exp()
}

fn hat(t: f64, noise: f64) -> f64 {
    noise * (-t / 0.018).exp()
}

/// Returns a generator of white noise, uniform in -1..1.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

struct Mix {
    frames: Vec<[f64; 2]>,
}

impl Mix {
    fn new(seconds: f64) -> Self {
        Self { frames: vec![[0.0; 2]; (seconds * f64::from(RATE)) as usize] }
    }

    /// Adds `sound` for `length` seconds, from the time `start` in seconds on. `sound` maps the time since `start` to a sample.
    /// `pan` is -1 (left) to 1 (right).
    fn add(
        &mut self,
        start: f64,
        gain: f64,
        pan: f64,
        length: f64,
        mut sound: impl FnMut(f64) -> f64,
    ) {
        let rate = f64::from(RATE);
        let angle = (pan + 1.0) * TAU / 8.0;
        let gains = [gain * angle.cos(), gain * angle.sin()];
        let frames = self.frames.iter_mut().skip((start * rate) as usize);
        for (t, frame) in frames.take((length * rate) as usize).enumerate() {
            let sound = sound(t as f64 / rate);
            for (sample, gain) in frame.iter_mut().zip(gains) {
                *sample += gain * sound;
            }
        }
    }

    /// Soft-clips the peaks, fades the end, and scales the tune to the peak [`PEAK`].
    fn master(mut self) -> Vec<[i16; 2]> {
        let count = self.frames.len();
        let fade = 0.25 * f64::from(RATE);
        for (index, frame) in self.frames.iter_mut().enumerate() {
            let level = ((count - index) as f64 / fade).min(1.0);
            *frame = frame.map(|sample| level * (1.1 * sample).tanh());
        }
        let peak = self.frames.iter().flatten().fold(0f64, |peak, sample| peak.max(sample.abs()));
        let scale = PEAK * f64::from(i16::MAX) / peak;
        self.frames.iter().map(|frame| frame.map(|s| (scale * s).round() as i16)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{root, wav};

    #[test]
    fn the_committed_tune_is_what_the_generator_makes() {
        let (committed, rate) = wav::read(&root().join("assets/demo.wav")).unwrap();
        let generated = generate();
        assert_eq!((rate, committed.len(), committed[0].len()), (RATE, 2, generated.len()));
        for (index, frame) in generated.iter().enumerate() {
            for (channel, sample) in committed.iter().zip(frame) {
                // The last digit of a sine depends on the platform.
                let difference = 32_768.0 * channel[index] - f32::from(*sample);
                assert!(difference.abs() <= 1.0, "sample {index}");
            }
        }
    }
}
