//! The tone filter in f64, one sample at a time, written to be read. Tests compare the real filter with it.
//!
//! The crate imports nothing, least of all from the crates that it judges. The formulas are from `docs/dsp.md` and
//! `docs/listening.md`; the crate has its own constants, filter designs and series. It is slow, allocates, and lacks the
//! safeguards of a real-time filter: its input must be finite.
//!
//! # The filter
//!
//! ```text
//! input --> resonators --> power, gate --> drive --> sum --> low-pass, clip --> mix --> limiter --> output
//! ```
//!
//! * [`Sound`] has the settings, in engineering units.
//! * [`Filter`] is the whole chain (`filter.rs`), block by block, with settings that may change (`smoothing.rs`). [`process`]
//!   filters a recording.
//! * A [`Resonator`] has zeros at DC and Nyquist and a pole pair at the note. It passes the note with a gain of 1 and rings for
//!   the set time.
//! * A [`Bank`] has a resonator for each of the 77 notes; 48 of them are in the published filter. It tracks the power of the
//!   input and of each note. A note below the gate fades away; the power of a note is limited to the ceiling. Each note is
//!   driven into a soft clip in proportion to its RMS. The sum of all notes goes through a low-pass and a second soft clip: the
//!   wet signal of [`Voice::Soft`].
//! * With another [`Voice`], each note has an oscillator that is phase-locked to its resonator (`oscillators.rs`), as loud as the
//!   tracked power (`voice.rs`), at its own pitch or at another one (`pitch.rs`). [`Voice::Chip`] gives the notes to the parts of
//!   a console's sound chip (`chip.rs`, `arrange.rs`).
//! * The weights of the notes come from the scale (`scale.rs`), the given decisions (`focus.rs`), the keys (`keys.rs`) and the
//!   limit of notes (`polyphony.rs`); the gains come from the level (`level.rs`). With lookahead, `focus.rs` and
//!   `early_bank.rs` begin and end notes on time. The limiter is in `output.rs`.
//!
//! The caller gives the decisions on notes, and the key and the tuning found in the music. So a decision that depends on the last
//! bit of an f32 cannot make two filters differ.
//!
//! # The listener
//!
//! ```text
//! input --> low-pass, every Dth sample --> 3 x 87 detectors --> features, each frame --> network --> 80 decisions
//! ```
//!
//! A [`Listener`] decides every 11.6 ms which notes are played. The caller gives the fitted [`Weights`]. [`Found`] finds key and
//! tuning from the listener's notes and tones.

mod arrange;
mod bank;
mod chip;
mod early_bank;
mod filter;
mod focus;
mod found;
mod keys;
mod level;
mod listener;
mod network;
mod oscillators;
mod output;
mod pitch;
mod polyphony;
mod scale;
mod smoothing;
mod sound;
mod timbre;
mod voice;
mod waveform;

pub use bank::{Band, Bank, Resonator};
pub use filter::Filter;
pub use focus::{Decision, Early};
pub use found::{Found, Key, Mode};
pub use keys::Event;
pub use listener::{Decisions, Listener};
pub use network::{Cell, Layer, Matrix, NOTES, Weights};
pub use sound::{Keys, Map, Sound, Stereo, Voice};

/// Length of a block in samples, the interval of updates of settings, levels and phases.
pub const BLOCK: usize = 64;

/// Number of notes: the 48 semitones from A3 up, then the 29 from E1 to G#3.
pub const TONES: usize = 77;

/// Returns the semitones from A3 up to a note.
fn semitone(tone: usize) -> f64 {
    if tone < 48 { tone as f64 } else { tone as f64 - 77.0 }
}

/// Returns the MIDI note of a tone in a bank that is transposed by `transpose` semitones, rounded to whole ones.
fn midi_note(tone: usize, transpose: f64) -> f64 {
    57.0 + semitone(tone) + transpose.round()
}

/// Filters a whole recording without a listener. `channels` have equal lengths, and so have the outputs. `sample_rate` is in Hz.
pub fn process(sound: &Sound, sample_rate: f64, channels: &[&[f32]]) -> Vec<Vec<f64>> {
    let mut filter = Filter::new(sound, sample_rate, channels.len());
    let mut outputs = vec![Vec::new(); channels.len()];
    let frames = channels.first().map_or(0, |channel| channel.len());
    for start in (0..frames).step_by(BLOCK) {
        let end = frames.min(start + BLOCK);
        let block: Vec<&[f32]> = channels.iter().map(|channel| &channel[start..end]).collect();
        let output = filter.block(&block, &[], None);
        outputs.iter_mut().zip(output).for_each(|(all, block)| all.extend(block));
    }
    outputs
}

/// Returns a power of `db` dB as a ratio. For a ratio of amplitudes, pass half the dB.
fn decibels(db: f64) -> f64 {
    10f64.powf(db / 10.0)
}

/// Returns the coefficient of the one-pole `y += step (x - y)` with a time constant of `seconds`, at `rate` Hz.
fn step(seconds: f64, rate: f64) -> f64 {
    1.0 - (-1.0 / (seconds * rate)).exp()
}

/// Returns the coefficient of the one-pole low-pass `y += step (x - y)` with its cutoff at `hertz`, at `rate` Hz.
fn low_pass_step(hertz: f64, rate: f64) -> f64 {
    step(1.0 / (std::f64::consts::TAU * hertz), rate)
}

/// Returns the value before the sample `frame` of a block, on the line from `from` at its start to `to` at its end.
fn between([from, to]: [f64; 2], frame: usize) -> f64 {
    from + (to - from) * frame as f64 / BLOCK as f64
}

/// Moves `value` towards `target` by `step` at most.
fn approach(value: &mut f64, target: f64, step: f64) {
    *value += (target - *value).clamp(-step, step);
}

/// Second-order filter as a difference equation. `b` are the factors of the inputs, `a` of the outputs, both newest first.
#[derive(Debug, Clone, Copy)]
struct Biquad {
    b: [f64; 3],
    a: [f64; 3],
    x: [f64; 2],
    y: [f64; 2],
}

impl Biquad {
    fn new(b: [f64; 3], a: [f64; 3]) -> Self {
        Self { b, a, x: [0.0; 2], y: [0.0; 2] }
    }

    fn next(&mut self, x: f64) -> f64 {
        let Self { b, a, x: [x1, x2], y: [y1, y2] } = *self;
        let y = (b[0] * x + b[1] * x1 + b[2] * x2 - a[1] * y1 - a[2] * y2) / a[0];
        (self.x, self.y) = ([x, x1], [y, y1]);
        y
    }
}
