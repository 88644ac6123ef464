//! The settings, by the ids and in the units of the real filter.

use crate::{TONES, scale, semitone};

/// Values of all settings.
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
    /// Attenuation of notes that are not played, %.
    pub focus: f64,
    /// Readiness of the listener to count a note as played, %. The decisions are given, so it has no effect here.
    pub sensitivity: f64,
    /// Octaves from a note to its oscillator, a whole number. No effect on [`Voice::Soft`].
    pub octave: f64,
    /// Most notes at a time, a whole number; 48 for any number.
    pub voices: f64,
    /// Ticks in which a note of the chip reaches its volume, a whole number.
    pub attack: f64,
    /// Ticks in which the volume then falls to a quarter, a whole number; 0 for a volume that stays.
    pub decay: f64,
    /// Way from the untouched sound to the other settings, %.
    pub morph: f64,
    /// Time from the pitch of one note to the next, ms.
    pub glide: f64,
    /// Share of a note's deviation from its nominal pitch that remains, %.
    pub vibrato: f64,
    /// Banks and places of two channels.
    pub stereo: Stereo,
    /// Whether the input replaces the effect.
    pub bypass: bool,
    /// Semitones from A to the root of the scale.
    pub root: usize,
    /// Semitones of the scale above its root; `None` for `custom`.
    pub scale: Option<&'static [usize]>,
    /// Pitch classes of a custom scale, A first.
    pub custom: [bool; 12],
    /// Pitch of notes outside the scale.
    pub map: Map,
    /// Target of each pitch class with [`Map::Custom`], A first.
    pub targets: [usize; 12],
    /// Whether the level is adapted.
    pub auto: bool,
    /// Whether the sound is delayed, so that decisions refer to sound that is still to come.
    pub lookahead: bool,
    /// Whether the listener's network is the light one.
    pub light: bool,
    /// Whether there are notes below A3.
    pub whole: bool,
    /// Waveform of the notes.
    pub voice: Voice,
    /// Ticks of each note of the chip's arpeggio; `None` without one.
    pub turn: Option<usize>,
    /// Duty of the chip's lead, 0..1.
    pub duty: f64,
    /// Effect of the keys.
    pub keys: Keys,
    /// Whether key or tuning follow the music: then the listener runs at a focus of 0, too. The key and the tuning that are found are
    /// given, as `root`, `scale` and `tuning`.
    pub follows: bool,
    /// Whether the resonators ring on for ever.
    pub freeze: bool,
    /// Whether the second input drives the bands.
    pub sidechain: bool,
    /// Notes that may sound.
    pub bands: [bool; TONES],
}

/// Banks and places of two channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stereo {
    /// One bank in the middle.
    Mono,
    /// A bank for each channel.
    Stereo,
    /// One bank, whose notes have places.
    Place,
}

/// Pitch of notes outside the scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Map {
    /// They are silent.
    Mute,
    /// The nearest note of the scale, or the nearest key.
    Snap,
    /// The nearest octave of the target, for all notes.
    Custom,
}

/// Effect of the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// None.
    Off,
    /// Only notes whose keys are held sound.
    Hold,
    /// Only notes whose keys are held in some octave sound.
    HoldAny,
    /// Notes whose keys are held sound, too.
    Add,
}

/// Waveform of the notes.
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
    /// An oscillator: the soft clip's waveform for a sine.
    SoftClean,
}

/// A number among the settings.
pub(crate) struct Number {
    id: &'static str,
    /// Whether it moves at equal ratios; otherwise in a straight line.
    pub by_ratio: bool,
    pub field: fn(&mut Sound) -> &mut f64,
}

impl Number {
    const fn line(id: &'static str, field: fn(&mut Sound) -> &mut f64) -> Self {
        Self { id, by_ratio: false, field }
    }

    const fn ratio(id: &'static str, field: fn(&mut Sound) -> &mut f64) -> Self {
        Self { id, by_ratio: true, field }
    }
}

/// All numbers.
pub(crate) const NUMBERS: [Number; 20] = [
    Number::line("mix", |s| &mut s.mix),
    Number::line("output", |s| &mut s.output),
    Number::ratio("drive", |s| &mut s.drive),
    Number::line("threshold", |s| &mut s.threshold),
    Number::line("ceiling", |s| &mut s.ceiling),
    Number::line("floor", |s| &mut s.floor),
    Number::ratio("ring", |s| &mut s.ring),
    Number::ratio("release", |s| &mut s.release),
    Number::ratio("tone", |s| &mut s.tone),
    Number::ratio("tuning", |s| &mut s.tuning),
    Number::line("transpose", |s| &mut s.transpose),
    Number::line("focus", |s| &mut s.focus),
    Number::line("sensitivity", |s| &mut s.sensitivity),
    Number::line("octave", |s| &mut s.octave),
    Number::line("voices", |s| &mut s.voices),
    Number::line("attack", |s| &mut s.attack),
    Number::line("decay", |s| &mut s.decay),
    Number::line("morph", |s| &mut s.morph),
    Number::line("glide", |s| &mut s.glide),
    Number::line("vibrato", |s| &mut s.vibrato),
];

impl Sound {
    /// The published sound.
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
            scale: Some(scale::CHROMATIC),
            custom: [true; 12],
            map: Map::Mute,
            targets: std::array::from_fn(|class| class),
            auto: false,
            lookahead: false,
            light: false,
            whole: false,
            voice: Voice::Soft,
            turn: None,
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
    /// When there is no such number: the real filter has a setting that this one lacks.
    pub fn set(&mut self, id: &str, value: f64) {
        let number = NUMBERS.iter().find(|number| number.id == id);
        *(number.unwrap_or_else(|| panic!("the reference has no number '{id}'")).field)(self) =
            value;
    }

    /// Sets the choice called `id` to the entry called `entry`.
    ///
    /// # Panics
    /// When there is no such choice or entry: the real filter has one that this one lacks.
    pub fn choose(&mut self, id: &str, entry: &str) {
        let on = entry == "on";
        match (id, entry) {
            ("stereo", "mono") => self.stereo = Stereo::Mono,
            ("stereo", "stereo") => self.stereo = Stereo::Stereo,
            ("stereo", "place") => self.stereo = Stereo::Place,
            ("bypass", _) => self.bypass = on,
            ("root", name) => self.root = scale::pitch_class(name),
            ("scale", name) => self.scale = scale::steps(name),
            ("map", "mute") => self.map = Map::Mute,
            ("map", "snap") => self.map = Map::Snap,
            ("map", "custom") => self.map = Map::Custom,
            ("auto", _) => self.auto = on,
            ("lookahead", _) => self.lookahead = on,
            ("listener", name) => self.light = name == "light",
            ("range", name) => self.whole = name == "whole",
            ("voice", "soft") => self.voice = Voice::Soft,
            ("voice", "sine") => self.voice = Voice::Sine,
            ("voice", "square") => self.voice = Voice::Square,
            ("voice", "pulse25") => self.voice = Voice::Pulse25,
            ("voice", "pulse12") => self.voice = Voice::Pulse12,
            ("voice", "triangle") => self.voice = Voice::Triangle,
            ("voice", "saw") => self.voice = Voice::Saw,
            ("voice", "chip") => self.voice = Voice::Chip,
            ("voice", "soft-clean") => self.voice = Voice::SoftClean,
            ("arp", "off") => self.turn = None,
            ("arp", "up") => self.turn = Some(4),
            ("arp", "fast") => self.turn = Some(1),
            ("duty", percent) => self.duty = percent.parse::<f64>().expect("a number") / 100.0,
            ("keys", "off") => self.keys = Keys::Off,
            ("keys", "hold") => self.keys = Keys::Hold,
            ("keys", "hold-any") => self.keys = Keys::HoldAny,
            ("keys", "add") => self.keys = Keys::Add,
            ("freeze", _) => self.freeze = on,
            ("listen", name) => self.sidechain = name == "sidechain",
            // Effects outside the filter, and what the given decisions and the given tuning have by now.
            ("sync" | "midi-out" | "auto-tuning", _) => {}
            _ => panic!("the reference has no choice '{id}' with an entry '{entry}'"),
        }
    }

    /// The settings on the way from the untouched sound.
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

    /// Frequency of a note in Hz: equal temperament, with A4 the twelfth semitone above A3.
    pub(crate) fn frequency(&self, tone: usize) -> f64 {
        self.frequency_above_a3(semitone(tone))
    }

    /// Frequency of a pitch `semitones` above A3 in Hz.
    pub(crate) fn frequency_above_a3(&self, semitones: f64) -> f64 {
        self.tuning * ((semitones - 12.0 + self.transpose) / 12.0).exp2()
    }

    /// Time in s in which a note's resonator falls by 60 dB. Below A3 it is in inverse proportion to the frequency.
    pub(crate) fn ring(&self, tone: usize) -> f64 {
        let ring = if self.freeze { f64::INFINITY } else { self.ring };
        ring * (-semitone(tone).min(0.0) / 12.0).exp2()
    }

    /// The map as far as the voice has one: the resonator itself stays at its pitch.
    pub(crate) fn map(&self) -> Map {
        if self.voice == Voice::Soft { Map::Mute } else { self.map }
    }

    /// Most notes at a time. With an arpeggio, the chip limits them itself.
    pub(crate) fn most_notes(&self) -> usize {
        let arpeggio = self.voice == Voice::Chip && self.turn.is_some();
        if arpeggio || self.voices >= 48.0 { TONES } else { self.voices as usize }
    }
}
