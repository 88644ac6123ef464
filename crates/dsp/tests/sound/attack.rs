//! Time: with lookahead, the wet sound begins and ends with the dry one.

use std::f64::consts::TAU;
use tone_filter_dsp::{Settings, ToneFilter, Voice};
use tone_filter_testkit::sweep;

const RATE: f64 = 44_100.0;
/// Silence before and after a note, in seconds.
const SILENCE: f64 = 0.5;
const NOTE: f64 = 1.0;
/// Duration of a note's attack and release in seconds.
const ATTACK: f64 = 0.003;
/// MIDI notes from E1 to C7.
const NOTES: [i32; 11] = [28, 33, 40, 45, 52, 57, 64, 69, 76, 84, 96];

/// Returns a note of six partials for the MIDI `key`. It begins `late` seconds after the silence.
fn note(key: i32, late: f64) -> Vec<f32> {
    let hertz = frequency(key);
    let sample = |t: usize| {
        let time = t as f64 / RATE - SILENCE - late;
        let gain = (time / ATTACK).min((NOTE - time) / ATTACK).clamp(0.0, 1.0);
        let partials = (1..=6).map(f64::from);
        let wave: f64 = partials.map(|n| (TAU * n * hertz * time).sin() / n).sum();
        (0.1 * gain * wave) as f32
    };
    (0..((2.0 * SILENCE + NOTE) * RATE) as usize).map(sample).collect()
}

fn frequency(key: i32) -> f64 {
    440.0 * (f64::from(key - 69) / 12.0).exp2()
}

/// Returns the wet signal for `input`, without the latency.
fn wet(settings: &Settings, input: &[f32]) -> Vec<f32> {
    let mut filter = ToneFilter::new(RATE, settings).unwrap();
    let mut signal = input.to_vec();
    signal.resize(input.len() + filter.latency(), 0.0);
    filter.process(&mut [&mut signal]);
    signal.split_off(filter.latency())
}

/// Mean powers of a signal in windows of equal length, one centred on each sample.
struct Powers {
    sums: Vec<f64>,
    /// Half of a window in samples.
    half: usize,
}

impl Powers {
    fn new(signal: &[f32], seconds: f64) -> Self {
        let mut sums = vec![0.0];
        for x in signal {
            sums.push(sums[sums.len() - 1] + f64::from(*x).powi(2));
        }
        Self { sums, half: (0.5 * seconds * RATE) as usize }
    }

    fn at(&self, sample: usize) -> f64 {
        let end = (sample + self.half).min(self.sums.len() - 1);
        let start = sample.saturating_sub(self.half);
        (self.sums[end] - self.sums[start]) / (2 * self.half) as f64
    }

    /// Returns the mean power in the middle of a note.
    fn steady(&self) -> f64 {
        let [start, end] = [0.3, 0.8].map(|share| ((SILENCE + share * NOTE) * RATE) as usize);
        (self.sums[end] - self.sums[start]) / (end - start) as f64
    }

    /// Returns the seconds at which the power first reaches -6 dB of the steady one.
    fn begins(&self) -> f64 {
        let least = self.steady() * 10f64.powf(-0.6);
        let at = (0..self.sums.len()).find(|t| self.at(*t) >= least).unwrap();
        at as f64 / RATE
    }

    /// Returns the seconds at which the power last leaves -12 dB of the steady one.
    fn ends(&self) -> f64 {
        let least = self.steady() * 10f64.powf(-1.2);
        let at = (0..self.sums.len()).rfind(|t| self.at(*t) >= least).unwrap();
        at as f64 / RATE
    }
}

#[test]
fn wet_notes_begin_and_end_with_the_dry_ones() {
    let mut wrong = Vec::new();
    for voice in [Voice::Soft, Voice::Square] {
        let settings = Settings { voice, lookahead: true, mix: 100.0, ..Settings::default() };
        for key in sweep::part(4, NOTES) {
            // Windows of a whole number of periods.
            let period = 1.0 / frequency(key);
            let window = period * (0.005 / period).ceil();
            // The listener detects the lowest notes late.
            let limits = match key {
                ..40 => [30.0, 16.0],
                40..45 => [12.0; 2],
                _ => [6.0; 2],
            };
            let mut late = [[0.0; 2]; 4];
            // Four offsets within a frame of the listener, which has 11.6 ms.
            for (quarter, late) in late.iter_mut().enumerate() {
                let shift = 0.0029 * quarter as f64;
                let input = note(key, shift);
                let output = wet(&settings, &input);
                let [dry, wet] = [&input, &output].map(|signal| Powers::new(signal, window));
                *late = [wet.begins() - dry.begins(), wet.ends() - dry.ends()].map(|s| 1000.0 * s);
                let early = &output[..((SILENCE + shift - 0.006) * RATE) as usize];
                let peak = early.iter().fold(0f32, |peak, x| peak.max(x.abs()));
                let least = (0.0001 * wet.steady()).sqrt();
                if f64::from(peak) > 2f64.sqrt() * least {
                    let db = 20.0 * (f64::from(peak) / least).log10() - 43.0;
                    wrong.push(format!("{voice:?} {key}: {db:.1} dB too early"));
                }
            }
            println!("{voice:?} {key}: begins and ends {late:.1?} ms late");
            if late.iter().any(|late| [0, 1].iter().any(|edge| late[*edge].abs() > limits[*edge])) {
                wrong.push(format!("{voice:?} {key}: {late:.1?} ms late"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
