//! Test music: melody, chords, bass and drums, different in its two channels.

use std::f64::consts::TAU;
use tone_filter_testkit::signals::noise;

/// Duration of a chord in seconds.
pub const CHORD: f64 = 1.6;

/// MIDI notes of the chords' roots. The chords are minor, major, major, major.
const ROOTS: [f64; 4] = [45.0, 41.0, 48.0, 43.0];

struct Mix {
    rate: f64,
    channels: [Vec<f32>; 2],
}

impl Mix {
    /// Adds `seconds` of a sound from `start` s on. `place` is the stereo position from left, 1, to right, -1.
    fn add(&mut self, start: f64, seconds: f64, place: f64, mut sound: impl FnMut(f64) -> f64) {
        let gains = [(1.0 + place) / 2.0, (1.0 - place) / 2.0];
        let first = (start * self.rate) as usize;
        let end = self.channels[0].len().min(first + (seconds * self.rate) as usize);
        for t in first..end {
            let sample = sound((t - first) as f64 / self.rate);
            for (channel, gain) in self.channels.iter_mut().zip(gains) {
                channel[t] += (gain * sample) as f32;
            }
        }
    }

    /// Adds a MIDI `note` with overtones, which decays with a time constant of `fade` s.
    fn note(&mut self, start: f64, seconds: f64, place: f64, note: f64, level: f64, fade: f64) {
        let f = 440.0 * ((note - 69.0) / 12.0).exp2();
        let overtones = 6.0f64.min((0.4 * self.rate / f).floor()) as u32;
        self.add(start, seconds, place, |t| {
            let envelope = (t / 0.005).min(1.0) * (-t / fade).exp();
            let release = ((seconds - t) / 0.02).min(1.0);
            let (sin, cos) = (TAU * f * t).sin_cos();
            // The sine of each multiple of the angle comes from the two before.
            let (mut last, mut own, mut sum) = (0.0, sin, 0.0);
            for n in 1..=overtones {
                sum += own / f64::from(n * n).powf(0.7);
                (last, own) = (own, 2.0 * cos * own - last);
            }
            level * envelope * release * sum
        });
    }
}

/// Returns `seconds` of the music at `rate` Hz. From 8 to 9.6 s there are drums alone; from 12.8 s on, everything is louder.
pub fn song(seconds: f64, rate: f64) -> [Vec<f32>; 2] {
    let silence = vec![0.0; (seconds * rate) as usize];
    let mut mix = Mix { rate, channels: [silence.clone(), silence] };
    let mut random = noise(40);
    for bar in 0..(seconds / CHORD).ceil() as usize {
        let start = bar as f64 * CHORD;
        let gain = if bar < 8 { 0.7 } else { 1.4 };
        let root = ROOTS[bar % 4];
        let third = if bar.is_multiple_of(4) { 3.0 } else { 4.0 };
        let beat = CHORD / 4.0;
        for (index, step) in (0..4).map(f64::from).enumerate() {
            let at = start + step * beat;
            let mut hiss = noise((bar * 4 + index) as u64);
            mix.add(at, 0.15, 0.0, |t| gain * 0.35 * (-t / 0.05).exp() * (TAU * 55.0 * t).sin());
            mix.add(at + beat / 2.0, 0.2, -0.3, |t| gain * 0.12 * (-t / 0.03).exp() * hiss());
        }
        if bar == 5 {
            continue;
        }
        mix.note(start, CHORD / 2.0, 0.0, root - 12.0, gain * 0.2, 0.6);
        mix.note(start + CHORD / 2.0, CHORD / 2.0, 0.0, root - 5.0, gain * 0.2, 0.6);
        for (above, place) in [(12.0, 0.7), (12.0 + third, -0.2), (19.0, -0.8)] {
            mix.note(start, CHORD, place, root + above, gain * 0.1, 2.0);
        }
        for step in 0..8 {
            let scale = [0.0, third, 7.0, 12.0, 7.0 + 12.0];
            let above = scale[((random() + 1.0) * 2.5) as usize % 5];
            if step % 4 != 3 {
                let at = start + f64::from(step) * beat / 2.0;
                mix.note(at, beat / 2.0, 0.3, root + 24.0 + above, gain * 0.15, 0.3);
            }
        }
    }
    mix.channels
}
