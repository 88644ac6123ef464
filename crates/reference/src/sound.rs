//! Settings, with the ids and units of the real filter.

use crate::{TONES, semitone};

/// Values of all settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Sound {
    /// Share of the wet signal in the mix, %.
    pub mix: f64,
    /// Gain after the mix in dB.
    pub output: f64,
    /// Gain of each note into its soft clip, as a factor.
    pub drive: f64,
    /// Power below which a note fades away, in dB relative to the input's power.
    pub threshold: f64,
    /// Maximum power of a note, in dB relative to the input's power.
    pub ceiling: f64,
    /// Power below which a note fades away, in dB full scale.
    pub floor: f64,
    /// Time in which a resonator from A3 up falls by 60 dB, in s.
    pub ring: f64,
    /// Time constant of the notes' powers in ms.
    pub release: f64,
    /// Cutoff of the low-pass after the sum in Hz.
    pub tone: f64,
    /// Frequency of A4 in Hz.
    pub tuning: f64,
    /// Transposition of all notes in semitones.
    pub transpose: f64,
    /// Attenuation of notes that are not played, in %.
    pub focus: f64,
    /// Sensitivity of the listener in %. No effect here, as the decisions are given.
    pub sensitivity: f64,
    /// Octaves from a note up to its oscillator, a whole number. No effect on [`Voice::Soft`].
    pub octave: f64,
    /// Maximum number of notes at a time, a whole number; 48 for no limit.
    pub voices: f64,
    /// Number of ticks in which a note of the chip reaches its volume, a whole number.
    pub attack: f64,
    /// Number of ticks in which the volume then falls to a quarter, a whole number; 0 for a constant volume.
    pub decay: f64,
    /// Position between the untouched sound (0 %) and the full effect of the other settings (100 %).
    pub morph: f64,
    /// Duration of a glide from one note's pitch to the next in ms.
    pub glide: f64,
    /// Share of a note's deviation from its nominal pitch that remains, in %.
    pub vibrato: f64,
    /// Use of two channels: one bank or two, and stereo positions of the notes.
    pub stereo: Stereo,
    /// Whether the input replaces the effect.
    pub bypass: bool,
    /// Semitones from A up to the root of the scale.
    pub root: usize,
    /// Semitones of the scale above its root; `None` for the custom scale.
    pub scale: Option<&'static [usize]>,
    /// Pitch classes of a custom scale, A first.
    pub custom: [bool; 12],
    /// Effect of the scale, the held keys or the custom map on the notes.
    pub map: Map,
    /// Target of each pitch class with [`Map::Custom`], A first.
    pub targets: [usize; 12],
    /// Whether auto level is on.
    pub auto: bool,
    /// Whether the sound is delayed, so that decisions are made ahead of it.
    pub lookahead: bool,
    /// Whether the listener has the network `light`.
    pub light: bool,
    /// Whether there are notes below A3.
    pub low_range: bool,
    /// Waveform of the notes.
    pub voice: Voice,
    /// Number of ticks of each note of the chip's arpeggio; `None` without an arpeggio.
    pub arpeggio_ticks: Option<usize>,
    /// Duty of the chip's lead, 0..1.
    pub duty: f64,
    /// Effect of the keys.
    pub keys: Keys,
    /// Whether key, tuning or tempo follow the music. If so, the listener runs even at a focus of 0. The caller sets the detected
    /// key and tuning as `root`, `scale` and `tuning`.
    pub follows: bool,
    /// Whether the resonators ring forever.
    pub freeze: bool,
    /// Whether the sidechain drives the bands.
    pub sidechain: bool,
    /// Notes that may sound.
    pub bands: [bool; TONES],
}

/// Use of two channels: one bank or two, and stereo positions of the notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stereo {
    /// One bank for the mean of the channels.
    Mono,
    /// A bank for each channel.
    Stereo,
    /// One bank, whose notes have stereo positions.
    Place,
}

/// Effect of the scale, the held keys or the custom map on the notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Map {
    /// Notes outside the scale are silent.
    Mute,
    /// Notes outside the scale move to the nearest note of the scale; with [`Keys::Add`], also to held keys. With [`Keys::Hold`]
    /// and [`Keys::HoldAny`], all notes move to the nearest held key.
    Snap,
    /// All notes move to the nearest octave of their target.
    Custom,
}

/// Effect of the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// No effect.
    Off,
    /// A note sounds only while its key is held.
    Hold,
    /// A note sounds only while its key is held, in this or another octave.
    HoldAny,
    /// A note sounds while its key is held, and otherwise as with [`Keys::Off`].
    Add,
}

/// Waveform of the notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    /// The resonator's own oscillation, driven into a soft clip. All other voices are oscillators.
    Soft,
    /// A sine.
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
    /// The waveform that the soft clip makes of a sine.
    SoftClean,
}

/// Id of a number, whether it ramps by equal ratios (otherwise by equal differences), and its field.
pub(crate) type Number = (&'static str, bool, fn(&mut Sound) -> &mut f64);

pub(crate) const NUMBERS: [Number; 20] = [
    ("mix", false, |s| &mut s.mix),
    ("output", false, |s| &mut s.output),
    ("drive", true, |s| &mut s.drive),
    ("threshold", false, |s| &mut s.threshold),
    ("ceiling", false, |s| &mut s.ceiling),
    ("floor", false, |s| &mut s.floor),
    ("ring", true, |s| &mut s.ring),
    ("release", true, |s| &mut s.release),
    ("tone", true, |s| &mut s.tone),
    ("tuning", true, |s| &mut s.tuning),
    ("transpose", false, |s| &mut s.transpose),
    ("focus", false, |s| &mut s.focus),
    ("sensitivity", false, |s| &mut s.sensitivity),
    ("octave", false, |s| &mut s.octave),
    ("voices", false, |s| &mut s.voices),
    ("attack", false, |s| &mut s.attack),
    ("decay", false, |s| &mut s.decay),
    ("morph", false, |s| &mut s.morph),
    ("glide", false, |s| &mut s.glide),
    ("vibrato", false, |s| &mut s.vibrato),
];

/// Names of the pitch classes, A first.
const CLASSES: [&str; 12] = ["A", "A#", "B", "C", "C#", "D", "D#", "E", "F", "F#", "G", "G#"];

const CHROMATIC: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

/// Returns the semitones from A up to the note called `name`.
fn pitch_class(name: &str) -> usize {
    CLASSES.iter().position(|class| *class == name).expect("a pitch class")
}

/// Returns the semitones of the scale called `name` above its root; `None` for the custom scale.
fn steps(name: &str) -> Option<&'static [usize]> {
    Some(match name {
        // With `auto`, the caller sets the scale of the detected key. Until a key is detected, all notes are in the scale.
        "chromatic" | "auto" => CHROMATIC,
        "major" => &[0, 2, 4, 5, 7, 9, 11],
        "dorian" => &[0, 2, 3, 5, 7, 9, 10],
        "phrygian" => &[0, 1, 3, 5, 7, 8, 10],
        "lydian" => &[0, 2, 4, 6, 7, 9, 11],
        "mixolydian" => &[0, 2, 4, 5, 7, 9, 10],
        "natural-minor" => &[0, 2, 3, 5, 7, 8, 10],
        "locrian" => &[0, 1, 3, 5, 6, 8, 10],
        "harmonic-minor" => &[0, 2, 3, 5, 7, 8, 11],
        "major-pentatonic" => &[0, 2, 4, 7, 9],
        "minor-pentatonic" => &[0, 3, 5, 7, 10],
        "blues" => &[0, 3, 5, 6, 7, 10],
        "whole-tone" => &[0, 2, 4, 6, 8, 10],
        "custom" => return None,
        _ => panic!("the reference has no scale '{name}'"),
    })
}

impl Sound {
    /// Returns the settings of the published filter.
    pub fn published() -> Self {
        Self {
            mix: 50.0,
            output: 0.0,
            drive: 40.0,
            threshold: 10.0 * 2e-4f64.log10(),
            ceiling: -10.0,
            floor: 10.0 * 1e-11f64.log10() / 3.0,
            ring: -3.0 / (44_100.0 * 0.9999f64.log10()),
            release: -1000.0 / 0.00503f64.ln(),
            tone: 2f64.ln() * 44_100.0 / std::f64::consts::TAU,
            tuning: 440.0,
            transpose: 0.0,
            focus: 0.0,
            sensitivity: 50.0,
            octave: 0.0,
            voices: 48.0,
            attack: 0.0,
            decay: 0.0,
            morph: 100.0,
            glide: 0.0,
            vibrato: 100.0,
            stereo: Stereo::Mono,
            bypass: false,
            root: 0,
            scale: Some(CHROMATIC),
            custom: [true; 12],
            map: Map::Mute,
            targets: std::array::from_fn(|class| class),
            auto: false,
            lookahead: false,
            light: false,
            low_range: false,
            voice: Voice::Soft,
            arpeggio_ticks: None,
            duty: 0.25,
            keys: Keys::Off,
            follows: false,
            freeze: false,
            sidechain: false,
            bands: [true; TONES],
        }
    }

    /// Sets the number called `id`.
    ///
    /// # Panics
    /// If the number is unknown: the real filter has a setting that the reference lacks.
    pub fn set(&mut self, id: &str, value: f64) {
        let number = NUMBERS.iter().find(|(known, ..)| *known == id);
        let (_, _, field) = number.unwrap_or_else(|| panic!("the reference has no number '{id}'"));
        *field(self) = value;
    }

    /// Sets the choice called `id` to the entry called `entry`.
    ///
    /// # Panics
    /// If the choice or the entry is unknown: the real filter has one that the reference lacks.
    pub fn choose(&mut self, id: &str, entry: &str) {
        let on = entry == "on";
        match (id, entry) {
            ("stereo", "mono") => self.stereo = Stereo::Mono,
            ("stereo", "stereo") => self.stereo = Stereo::Stereo,
            ("stereo", "place") => self.stereo = Stereo::Place,
            ("bypass", _) => self.bypass = on,
            ("root", name) => self.root = pitch_class(name),
            ("scale", name) => self.scale = steps(name),
            ("map", "mute") => self.map = Map::Mute,
            ("map", "snap") => self.map = Map::Snap,
            ("map", "custom") => self.map = Map::Custom,
            ("auto", _) => self.auto = on,
            ("lookahead", _) => self.lookahead = on,
            ("listener", name) => self.light = name == "light",
            ("range", name) => self.low_range = name == "whole",
            ("voice", "soft") => self.voice = Voice::Soft,
            ("voice", "sine") => self.voice = Voice::Sine,
            ("voice", "square") => self.voice = Voice::Square,
            ("voice", "pulse25") => self.voice = Voice::Pulse25,
            ("voice", "pulse12") => self.voice = Voice::Pulse12,
            ("voice", "triangle") => self.voice = Voice::Triangle,
            ("voice", "saw") => self.voice = Voice::Saw,
            ("voice", "chip") => self.voice = Voice::Chip,
            ("voice", "soft-clean") => self.voice = Voice::SoftClean,
            ("arp", "off") => self.arpeggio_ticks = None,
            ("arp", "up") => self.arpeggio_ticks = Some(4),
            ("arp", "fast") => self.arpeggio_ticks = Some(1),
            ("duty", percent) => self.duty = percent.parse::<f64>().expect("a number") / 100.0,
            ("keys", "off") => self.keys = Keys::Off,
            ("keys", "hold") => self.keys = Keys::Hold,
            ("keys", "hold-any") => self.keys = Keys::HoldAny,
            ("keys", "add") => self.keys = Keys::Add,
            ("freeze", _) => self.freeze = on,
            ("listen", name) => self.sidechain = name == "sidechain",
            // Choices that act outside the filter, or on the decisions and the tuning, which the caller sets.
            ("sync" | "sync-to" | "midi-out" | "mpe" | "auto-tuning", _) => {}
            _ => panic!("the reference has no choice '{id}' with an entry '{entry}'"),
        }
    }

    /// Returns the settings at `morph` % between the untouched sound (0 %) and the set sound (100 %).
    pub(crate) fn morphed(&self) -> Self {
        let share = self.morph / 100.0;
        let tone =
            if share < 1.0 { (self.tone * 4f64.powf(share - 1.0)).max(500.0) } else { self.tone };
        Self {
            mix: share * self.mix,
            output: share * self.output,
            drive: self.drive.powf(share),
            tone,
            ..self.clone()
        }
    }

    /// Returns the frequency of a note in Hz: equal temperament, with A4 twelve semitones above A3.
    pub(crate) fn frequency(&self, tone: usize) -> f64 {
        self.frequency_above_a3(semitone(tone))
    }

    /// Returns the frequency in Hz of a pitch `semitones` above A3.
    pub(crate) fn frequency_above_a3(&self, semitones: f64) -> f64 {
        self.tuning * ((semitones - 12.0 + self.transpose) / 12.0).exp2()
    }

    /// Returns the time in s in which a note's resonator falls by 60 dB. Below A3, it is inversely proportional to the frequency.
    pub(crate) fn ring(&self, tone: usize) -> f64 {
        let ring = if self.freeze { f64::INFINITY } else { self.ring };
        ring * (-semitone(tone).min(0.0) / 12.0).exp2()
    }

    /// Returns the map in effect: the setting, but Mute if the voice is [`Voice::Soft`], because a resonator keeps its own pitch.
    pub(crate) fn map(&self) -> Map {
        if self.voice == Voice::Soft { Map::Mute } else { self.map }
    }

    /// Whether the notes move to held keys.
    pub(crate) fn snaps_to_keys(&self) -> bool {
        self.map() == Map::Snap && matches!(self.keys, Keys::Hold | Keys::HoldAny)
    }

    /// Returns the maximum number of notes at a time. With an arpeggio, the chip has its own limit.
    pub(crate) fn most_notes(&self) -> usize {
        let arpeggio = self.voice == Voice::Chip && self.arpeggio_ticks.is_some();
        if arpeggio || self.voices >= 48.0 { TONES } else { self.voices as usize }
    }
}
