//! Random music for tests: notes with overtones and vibrato, drums, and changes of gain, pauses included. Also the music's
//! notes as a score, random sample rates and key events.

use crate::Draws;
use std::{f64::consts::TAU, iter::repeat_with, ops::Range};
use tone_filter_dsp::{KeyEvent, Score, ScoreNote, notes::of_listener};

/// Planar samples: one vector per channel.
pub type Signal = Vec<Vec<f32>>;

/// Number of samples between two updates of a note's pitch.
const STEP: usize = 64;

/// Synthesised note with overtones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Note {
    /// Start in seconds.
    pub start: f64,
    /// End in seconds.
    pub end: f64,
    /// Fractional MIDI note number.
    pub pitch: f64,
    /// Amplitude of the fundamental.
    pub amplitude: f64,
    /// Exponent of the spectrum: partial `n` has the amplitude of the fundamental divided by `n` to the power of `slope`.
    pub slope: f64,
    /// Number of partials; 0 is silent.
    pub partials: u32,
    /// Time constant in seconds with which all partials decay; infinite for a constant amplitude.
    pub decay: f64,
    /// Depth of the vibrato, which has 5.5 Hz: maximum deviation from `pitch` in semitones.
    pub vibrato: f64,
    /// Stereo position, from -1 (right) to 1 (left).
    pub pan: f64,
}

impl Default for Note {
    /// Returns one second of A4 in the centre, with four partials.
    fn default() -> Self {
        Self {
            start: 0.0,
            end: 1.0,
            pitch: 69.0,
            amplitude: 0.1,
            slope: 1.0,
            partials: 4,
            decay: f64::INFINITY,
            vibrato: 0.0,
            pan: 0.0,
        }
    }
}

/// Piece of music: notes, drums and changes of gain.
#[derive(Debug, Clone, Default)]
pub struct Music {
    /// Notes in any order.
    pub notes: Vec<Note>,
    /// Drum hits, which are bursts of noise: start in seconds, and amplitude.
    pub drum_hits: Vec<(f64, f64)>,
    /// Changes of gain, sorted: time in seconds, and linear gain from then to the next change (0 is silence). The gain before
    /// the first change is 1.
    pub gains: Vec<(f64, f64)>,
}

impl Music {
    /// Draws music that lasts about `seconds`.
    pub fn draw(draws: &mut Draws, seconds: f64) -> Self {
        let beat = draws.pick(&[0.12, 0.25, 0.4]);
        let density = draws.pick(&[0.3, 0.8, 2.0]);
        let (vibrato, drums) = (draws.chance(0.3), draws.chance(0.4));
        let mut music = Self::default();
        for turn in 0..(seconds / beat).ceil() as usize {
            let start = beat * turn as f64;
            for _ in 0..4 {
                if draws.chance(density / 4.0) {
                    music.notes.push(Note {
                        start,
                        end: start + beat * draws.between(0.5, 4.0),
                        pitch: (28 + draws.below(77)) as f64 + 0.1 * draws.between(-1.0, 1.0),
                        amplitude: 0.2 * draws.share(),
                        slope: draws.between(0.5, 2.5),
                        partials: 1 + draws.below(6) as u32,
                        decay: f64::INFINITY,
                        vibrato: if vibrato { draws.between(0.0, 0.5) } else { 0.0 },
                        pan: draws.between(-1.0, 1.0),
                    });
                }
            }
            if drums && draws.chance(0.5) {
                music.drum_hits.push((start, 0.5 * draws.share()));
            }
        }
        if draws.chance(0.5) {
            for _ in 0..3 {
                let gain = draws.pick(&[0.0, 0.001, 0.1, 0.5, 1.0, 4.0]);
                music.gains.push((draws.between(0.0, seconds), gain));
            }
            music.gains.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        music
    }

    /// Renders `seconds` of the music: left and right at `rate` Hz.
    pub fn render(&self, rate: f64, seconds: f64) -> Signal {
        let frames = (seconds * rate).ceil() as usize;
        let mut signal = vec![vec![0.0; frames]; 2];
        self.notes.iter().for_each(|note| add_note(&mut signal, note, rate));
        let mut noise = Draws::seeded(1);
        for (start, amplitude) in &self.drum_hits {
            let range = span(*start, start + 0.15, rate, frames);
            let fall = (-30.0 / rate).exp();
            let mut amplitude = *amplitude;
            for frame in range {
                let sample = (amplitude * noise.between(-1.0, 1.0)) as f32;
                signal.iter_mut().for_each(|channel| channel[frame] += sample);
                amplitude *= fall;
            }
        }
        let ends = self.gains.iter().skip(1).map(|(start, _)| *start).chain([seconds]);
        for ((start, gain), end) in self.gains.iter().zip(ends) {
            for channel in &mut signal {
                let range = span(*start, end, rate, frames);
                channel[range].iter_mut().for_each(|sample| *sample *= *gain as f32);
            }
        }
        signal
    }

    /// Converts the notes to a score. Leaves out notes whose pitch has no band.
    pub fn score(&self) -> Score {
        let note = |note: &Note| {
            let tone =
                usize::try_from(note.pitch.round() as i64 - 28).ok().and_then(of_listener)?;
            let velocity = (1.0 + 126.0 * note.amplitude.min(1.0)) as u8;
            let (start, end, place) = (note.start, note.end, note.pan as f32);
            Some(ScoreNote { tone, start, end, velocity, place })
        };
        Score::new(self.notes.iter().filter_map(note))
    }
}

/// Returns the frames from `start` to `end` seconds, within a signal of `frames` frames.
fn span(start: f64, end: f64, rate: f64, frames: usize) -> Range<usize> {
    let [start, end] = [start, end].map(|seconds| ((seconds * rate) as usize).min(frames));
    start..end.max(start)
}

/// Adds a note with 5 ms of attack and release. A partial ends when its frequency exceeds 0.45 times the sample rate.
fn add_note(signal: &mut Signal, note: &Note, rate: f64) {
    let range = span(note.start, note.end, rate, signal[0].len());
    let (count, ramp) = (range.len(), 0.005 * rate);
    let gains = [1.0 + note.pan, 1.0 - note.pan].map(|gain| gain.min(1.0));
    let fall = (-1.0 / (note.decay * rate)).exp();
    for partial in (1..=note.partials).map(f64::from) {
        let mut amplitude = note.amplitude / partial.powf(note.slope);
        let (mut sin, mut cos) = (0.0, 1.0);
        let mut turn = (0.0, 1.0);
        for (index, frame) in range.clone().enumerate() {
            if index % STEP == 0 {
                let time = index as f64 / rate;
                let pitch = note.pitch + note.vibrato * (TAU * 5.5 * time).sin();
                let hertz = partial * 440.0 * ((pitch - 69.0) / 12.0).exp2();
                if hertz > 0.45 * rate {
                    break;
                }
                turn = (TAU * hertz / rate).sin_cos();
            }
            (sin, cos) = (sin * turn.1 + cos * turn.0, cos * turn.1 - sin * turn.0);
            let fade = (index as f64 / ramp).min((count - index) as f64 / ramp).min(1.0);
            let sample = amplitude * fade * sin;
            amplitude *= fall;
            for (channel, gain) in signal.iter_mut().zip(gains) {
                channel[frame] += (gain * sample) as f32;
            }
        }
    }
}

/// Draws music, and renders it. It mostly has two different channels, and sometimes two equal ones, one or three.
pub fn music(draws: &mut Draws, rate: f64, seconds: f64) -> (Music, Signal) {
    let music = Music::draw(draws, seconds);
    let mut signal = music.render(rate, seconds);
    match draws.below(8) {
        0 => signal.truncate(1),
        1 => signal.push(signal[0].iter().map(|sample| -0.5 * sample).collect()),
        2 => signal[1] = signal[0].clone(),
        _ => {}
    }
    (music, signal)
}

/// Draws music of `frames` frames with `count` different channels. One note of each channel lasts from the start to the end.
pub fn channels(draws: &mut Draws, count: usize, rate: f64, frames: usize) -> Signal {
    let seconds = frames as f64 / rate;
    let pair = || {
        let mut music = Music::draw(draws, seconds);
        music.gains.clear();
        let pitch = (45 + draws.below(36)) as f64;
        let pan = draws.between(-0.5, 0.5);
        music.notes.push(Note { end: seconds, pitch, pan, ..Note::default() });
        music.render(rate, seconds)
    };
    let mut signal: Signal =
        repeat_with(pair).take(count.div_ceil(2)).flatten().take(count).collect();
    signal.iter_mut().for_each(|channel| channel.resize(frames, 0.0));
    signal
}

/// Draws a sample rate in Hz, from 8 to 192 kHz: in nine of ten cases a common one.
pub fn rate(draws: &mut Draws) -> f64 {
    match draws.below(10) {
        0..4 => 44_100.0,
        4..7 => 48_000.0,
        7 | 8 => draws.pick(&[8000.0, 16_000.0, 22_050.0, 32_000.0, 88_200.0, 96_000.0, 192_000.0]),
        _ => (8000.0 * 24f64.powf(draws.share())).round(),
    }
}

/// Draws key events for a signal of `frames` frames, sorted by frame.
pub fn events(draws: &mut Draws, frames: usize) -> Vec<(usize, KeyEvent)> {
    let event = |draws: &mut Draws| {
        let key = 28 + draws.below(77) as u8;
        let any = draws.share() as f32;
        let value = draws.pick(&[0.0, 0.5, 1.0, any]);
        match draws.below(12) {
            0 => KeyEvent::Pressure(key, value),
            1 => KeyEvent::Gain(key, 4.0 * value),
            2 => KeyEvent::Bend(96.0 * value - 48.0),
            3 => KeyEvent::Wheel(2.0 * value - 1.0),
            4 => KeyEvent::Sustain(value > 0.5),
            5 => KeyEvent::ReleaseAll,
            _ => KeyEvent::Key(key, value),
        }
    };
    let count = draws.below(12);
    let mut events: Vec<_> =
        (0..count).map(|_| (draws.below(frames.max(1)), event(draws))).collect();
    events.sort_by_key(|(frame, _)| *frame);
    events
}
