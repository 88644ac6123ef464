//! The tone filter in f64, one sample at a time, written to be read. Tests compare the real filter with it.
//!
//! It imports nothing, least of all from the crates that it judges: all formulas are those of `docs/dsp.md` and
//! `docs/listening.md`, with constants, filter designs and series of its own. It is slow, allocates, and lacks the
//! safeguards of a real-time filter: its input is finite and its settings do not move.
//!
//! # The filter
//!
//! ```text
//! input --> resonators --> power, gate --> drive --> sum --> low-pass, clip --> mix --> output
//! ```
//!
//! * [`Sound`] is what is set, in engineering units.
//! * [`process`] filters a recording: one bank for the mean of all channels or one each for left and right, and the
//!   mix of dry and wet.
//! * A [`Resonator`] has zeros at DC and Nyquist and a pole pair at the note. It passes the note with a gain of 1 and
//!   rings for the set time.
//! * A [`Bank`] has one for each of the 77 notes, of which 48 are those of the published filter. It tracks the power of the input and of each note. A note below the
//!   gate fades away, one above the ceiling is held there. Each is driven into a soft clip in proportion to its
//!   effective value, and their sum goes through a low-pass and a second soft clip: the wet signal of [`Voice::Soft`].
//! * With another [`Voice`], each note has an oscillator that is phase-locked to its resonator, as loud as the tracked
//!   power (`voice.rs`). [`Voice::Chip`] gives the notes to the parts of a console's sound chip (`chip.rs`, `arrange.rs`).
//!
//! Auto level, focus, lookahead, keys, freeze, morph, the limit of notes and the limiter are left out.
//!
//! # The listener
//!
//! ```text
//! input --> low-pass, every Dth sample --> 3 x 87 detectors --> features, each frame --> network --> 80 decisions
//! ```
//!
//! A [`Listener`] decides every 11.6 ms which notes are played. The fitted [`Weights`] are data, which the caller has.

mod arrange;
mod bank;
mod chip;
mod listener;
mod network;
mod voice;

pub use bank::{Band, Bank, Resonator};
pub use listener::{Decisions, Listener, NOTES};
pub use network::{Cell, Layer, Matrix, Weights};

/// The number of notes: 48 semitones from A3 on, then the 29 from E1 to G#3.
pub const TONES: usize = 77;

/// Semitones from A3 to a note.
fn semitone(tone: usize) -> f64 {
    if tone < 48 { tone as f64 } else { tone as f64 - 77.0 }
}

/// What is set, in the units of the real filter's settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Sound {
    /// Balance of dry (0 %) and wet (100 %).
    pub mix: f64,
    /// Gain after the mix, dB.
    pub output: f64,
    /// Gain of each note into its soft clip, a factor.
    pub drive: f64,
    /// Power below which a note fades away, dB of the input's power.
    pub threshold: f64,
    /// Power above which a note grows no more, dB of the input's power.
    pub ceiling: f64,
    /// Power below which a note fades away, dB full scale.
    pub floor: f64,
    /// Time in which a resonator falls by 60 dB, from A3 up, s.
    pub ring: f64,
    /// Time constant of the notes' powers, ms.
    pub release: f64,
    /// Cutoff of the low-pass after the sum, Hz.
    pub tone: f64,
    /// Frequency of A4, Hz.
    pub tuning: f64,
    /// Moves all notes, semitones.
    pub transpose: f64,
    /// Octaves from a note to what the oscillator plays for it, a whole number. No effect on [`Voice::Soft`].
    pub octave: f64,
    /// Whether each of two channels has a bank of its own.
    pub stereo: bool,
    /// What plays the notes.
    pub voice: Voice,
    /// Duty of the chip's lead, 0..1.
    pub duty: f64,
    /// Ticks in which a note of the chip reaches its volume, and in which it then falls to a quarter; 0 for a volume that stays.
    pub attack: f64,
    /// See `attack`.
    pub decay: f64,
    /// Ticks that a note of the chip's arpeggio lasts, and how many voices there are then; without, every note has one.
    pub turn: Option<usize>,
    /// See `turn`.
    pub voices: usize,
    /// Whether each note may sound.
    pub sounding: [bool; TONES],
}

/// What plays the notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    /// The resonator itself, driven into a soft clip.
    Soft,
    /// An oscillator: a sine.
    Sine,
    /// A square.
    Square,
    /// A pulse that is high for a quarter of its period.
    Pulse25,
    /// A pulse that is high for an eighth of its period.
    Pulse12,
    /// A triangle.
    Triangle,
    /// A saw.
    Saw,
    /// The 2A03: pulses, a triangle of 32 steps, and noise.
    Chip,
    /// An oscillator: what the soft clip makes of a sine.
    SoftClean,
}

impl Sound {
    /// The frequency of a note in Hz: equal temperament, 440 Hz for the twelfth semitone above A3.
    fn frequency(&self, tone: usize) -> f64 {
        self.tuning * ((semitone(tone) - 12.0 + self.transpose) / 12.0).exp2()
    }

    /// The time in s in which a note's resonator falls by 60 dB. Below A3 it is in inverse proportion to the frequency.
    fn ring(&self, tone: usize) -> f64 {
        self.ring * (-semitone(tone).min(0.0) / 12.0).exp2()
    }
}

/// Filters a whole recording: `channels` of equal length in, the same out. `sample_rate` is in Hz.
pub fn process(sound: &Sound, sample_rate: f64, channels: &[&[f32]]) -> Vec<Vec<f64>> {
    let wide = |channel: &&[f32]| channel.iter().copied().map(f64::from).collect();
    let channels: Vec<Vec<f64>> = channels.iter().map(wide).collect();
    let frames = channels.first().map_or(0, Vec::len);
    let mean = |t| channels.iter().map(|channel| channel[t]).sum::<f64>() / channels.len() as f64;
    let inputs = if sound.stereo && channels.len() == 2 {
        channels.clone()
    } else {
        vec![(0..frames).map(mean).collect()]
    };
    let wets: Vec<Vec<f64>> = inputs.iter().map(|input| wet(sound, sample_rate, input)).collect();

    let output = decibels(sound.output / 2.0);
    let [dry_gain, wet_gain] = [1.0 - sound.mix / 100.0, sound.mix / 100.0].map(|x| x * output);
    let mixed = |(dry, wet): (&Vec<f64>, &Vec<f64>)| {
        dry.iter().zip(wet).map(|(x, w)| dry_gain * x + wet_gain * w).collect()
    };
    channels.iter().zip(wets.iter().cycle()).map(mixed).collect()
}

/// The wet signal of one bank.
fn wet(sound: &Sound, sample_rate: f64, input: &[f64]) -> Vec<f64> {
    if sound.voice != Voice::Soft {
        return voice::process(sound, sample_rate, input);
    }
    let mut bank = Bank::new(sound, sample_rate);
    input.iter().map(|x| bank.next(*x)).collect()
}

/// A power of `db` dB as a ratio; an amplitude's is that of half as many.
fn decibels(db: f64) -> f64 {
    10f64.powf(db / 10.0)
}

/// The step of the one-pole `y += step (x - y)` with a time constant of `seconds`, at a rate in Hz.
fn step(seconds: f64, rate: f64) -> f64 {
    1.0 - (-1.0 / (seconds * rate)).exp()
}

/// The step of the one-pole low-pass `y += step (x - y)` with its cutoff at `hertz`, at a rate in Hz.
fn low_pass_step(hertz: f64, rate: f64) -> f64 {
    step(1.0 / (std::f64::consts::TAU * hertz), rate)
}
