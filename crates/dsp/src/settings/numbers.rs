//! The numeric settings, and the table that describes them.

use super::Settings;
use std::{error::Error, fmt};

/// How a setting's range is spread over a control, and how the setting is smoothed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taper {
    /// Equal differences are equal distances.
    Linear,
    /// Equal ratios are equal distances. The range is positive.
    Logarithmic,
    /// Whole numbers at equal distances; values in between are rounded.
    Whole,
}

/// The description of one numeric setting.
#[derive(Debug)]
pub struct Spec {
    /// Stable id: field name, preset key, parameter id and flag.
    pub id: &'static str,
    /// Display name.
    pub name: &'static str,
    /// Least value.
    pub min: f32,
    /// Greatest value.
    pub max: f32,
    /// Unit as it is displayed.
    pub unit: &'static str,
    /// The most digits after the decimal point when displayed, as many as tell useful values apart; see [`Spec::number`].
    pub decimals: usize,
    /// Distribution over a control.
    pub taper: Taper,
    /// What it does to the sound, in one sentence.
    pub help: &'static str,
    field: fn(&mut Settings) -> &mut f32,
}

/// The numeric settings, in the order of the fields of [`Settings`].
///
/// Their values in a new instance are those of [`Settings::default`]. Where a state or preset lacks them, they are
/// those of [`Settings::REFERENCE`].
#[rustfmt::skip]
pub static SPECS: [Spec; 20] = [
    Spec { id: "mix", name: "Mix", min: 0.0, max: 100.0, unit: "%", decimals: 0, taper: Taper::Linear,
        help: "Blend of the untouched sound (0 %) and the resonators (100 %).", field: |s| &mut s.mix },
    Spec { id: "output", name: "Output", min: -24.0, max: 12.0, unit: "dB", decimals: 1, taper: Taper::Linear,
        help: "Level of the result.", field: |s| &mut s.output },
    Spec { id: "drive", name: "Drive", min: 1.0, max: 400.0, unit: "x", decimals: 2, taper: Taper::Logarithmic,
        help: "Turns each note from a sine (low) into a square wave (high).", field: |s| &mut s.drive },
    Spec { id: "threshold", name: "Threshold", min: -60.0, max: -10.0, unit: "dB", decimals: 1, taper: Taper::Linear,
        help: "Notes weaker than this, against the whole sound, fade away.", field: |s| &mut s.threshold },
    Spec { id: "ceiling", name: "Ceiling", min: -30.0, max: 0.0, unit: "dB", decimals: 1, taper: Taper::Linear,
        help: "Notes stronger than this, against the whole sound, grow no louder.", field: |s| &mut s.ceiling },
    Spec { id: "floor", name: "Floor", min: -90.0, max: -20.0, unit: "dB", decimals: 1, taper: Taper::Linear,
        help: "Notes weaker than this fade away, however quiet the whole sound is. Lower it for quiet music.", field: |s| &mut s.floor },
    Spec { id: "ring", name: "Ring", min: 0.05, max: 10.0, unit: "s", decimals: 3, taper: Taper::Logarithmic,
        help: "How long a resonator rings: longer picks notes more sharply, shorter follows faster.", field: |s| &mut s.ring },
    Spec { id: "release", name: "Release", min: 10.0, max: 1000.0, unit: "ms", decimals: 1, taper: Taper::Logarithmic,
        help: "How slowly the level of a note follows the input.", field: |s| &mut s.release },
    Spec { id: "tone", name: "Tone", min: 500.0, max: 20_000.0, unit: "Hz", decimals: 0, taper: Taper::Logarithmic,
        help: "Softens the top end of the square waves.", field: |s| &mut s.tone },
    Spec { id: "tuning", name: "Tuning", min: 400.0, max: 480.0, unit: "Hz", decimals: 1, taper: Taper::Logarithmic,
        help: "The pitch of A4 that the music is tuned to.", field: |s| &mut s.tuning },
    Spec { id: "transpose", name: "Transpose", min: -24.0, max: 24.0, unit: "st", decimals: 2, taper: Taper::Linear,
        help: "Moves the bands, and so the notes that are found, up or down; what sounds keeps its pitch.", field: |s| &mut s.transpose },
    Spec { id: "focus", name: "Focus", min: 0.0, max: 100.0, unit: "%", decimals: 0, taper: Taper::Linear,
        help: "How much notes that are not played are attenuated: 0 % not at all, 50 % by 24 dB, 100 % entirely.", field: |s| &mut s.focus },
    Spec { id: "sensitivity", name: "Sensitivity", min: 0.0, max: 100.0, unit: "%", decimals: 0, taper: Taper::Linear,
        help: "How readily Focus counts a note as played: less for clean lines, more for dense music.", field: |s| &mut s.sensitivity },
    Spec { id: "octave", name: "Octave", min: -2.0, max: 2.0, unit: "oct", decimals: 0, taper: Taper::Whole,
        help: "Octaves between the detected note and the one that sounds; the voice Soft alone has none.", field: |s| &mut s.octave },
    Spec { id: "voices", name: "Voices", min: 1.0, max: 48.0, unit: "notes", decimals: 0, taper: Taper::Whole,
        help: "How many notes sound at a time: the strongest ones.", field: |s| &mut s.voices },
    Spec { id: "attack", name: "Attack", min: 0.0, max: 30.0, unit: "ticks", decimals: 0, taper: Taper::Whole,
        help: "In how many ticks of 1/60 s a note of the voice Chip reaches its volume.", field: |s| &mut s.attack },
    Spec { id: "decay", name: "Decay", min: 0.0, max: 120.0, unit: "ticks", decimals: 0, taper: Taper::Whole,
        help: "In how many ticks of 1/60 s a note of the voice Chip then falls to a quarter of its volume; 0: never.", field: |s| &mut s.decay },
    Spec { id: "morph", name: "Morph", min: 0.0, max: 100.0, unit: "%", decimals: 0, taper: Taper::Linear,
        help: "From the untouched sound (0 %) to that of all other settings (100 %), in one gesture.", field: |s| &mut s.morph },
    Spec { id: "glide", name: "Glide", min: 0.0, max: 500.0, unit: "ms", decimals: 0, taper: Taper::Linear,
        help: "How long a note slides from the pitch of a near one that ends to its own; the voice Soft does not.", field: |s| &mut s.glide },
    Spec { id: "vibrato", name: "Vibrato", min: 0.0, max: 100.0, unit: "%", decimals: 0, taper: Taper::Linear,
        help: "How much of the deviation from a note's exact pitch remains; all of it with the voice Soft.", field: |s| &mut s.vibrato },
];

/// The spec of the numeric setting called `id`, if there is one.
///
/// ```
/// use tone_filter_dsp::{Settings, spec};
///
/// let ring = spec("ring").ok_or("no such setting")?;
/// let mut settings = Settings::default();
/// ring.set(&mut settings, ring.parse("500 ms").ok_or("no time")?);
/// assert_eq!(settings.ring, 0.5);
/// assert_eq!(ring.format(settings.ring), "0.5 s");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn spec(id: &str) -> Option<&'static Spec> {
    SPECS.iter().find(|spec| spec.id == id)
}

/// A value that a setting cannot take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutOfRange {
    /// The setting's id.
    pub id: &'static str,
    /// The value it was given.
    pub value: f32,
    /// Least value allowed.
    pub min: f32,
    /// Greatest value allowed.
    pub max: f32,
    /// Unit of the three numbers.
    pub unit: &'static str,
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { id, value, min, max, unit } = self;
        write!(f, "{id} = {value} is out of range; use {min} to {max} {unit}")
    }
}

impl Error for OutOfRange {}

impl Spec {
    /// This setting's value in `settings`.
    pub fn get(&self, settings: &Settings) -> f32 {
        *(self.field)(&mut settings.clone())
    }

    /// Puts `value` into `settings` unchecked; [`Settings::validate`] checks it.
    pub fn set(&self, settings: &mut Settings, value: f32) {
        *(self.field)(settings) = value;
    }

    /// Its value in a new instance.
    pub fn default(&self) -> f32 {
        self.get(&Settings::default())
    }

    /// Its value where a state or preset lacks it.
    pub fn reference(&self) -> f32 {
        self.get(&Settings::REFERENCE)
    }

    /// `Ok` if `value` is a number within the range.
    pub fn check(&self, value: f32) -> Result<(), OutOfRange> {
        if (self.min..=self.max).contains(&value) {
            return Ok(());
        }
        let &Spec { id, min, max, unit, .. } = self;
        Err(OutOfRange { id, value, min, max, unit })
    }

    /// `value` as text with its unit: `-37 dB`.
    pub fn format(&self, value: f32) -> String {
        format!("{} {}", self.number(value, self.decimals), self.unit)
    }

    /// `value` without its unit, as people write it: with no more than `digits` after the decimal point, of which zeros
    /// at the end are left out. A setting whose range spans a decade or more on a logarithmic scale has three
    /// significant digits: `0.053`, `1.25`, `12.5`, `125`.
    pub fn number(&self, value: f32, digits: usize) -> String {
        let significant = match self.taper {
            Taper::Logarithmic if self.max >= 10.0 * self.min => {
                3 - [1.0, 10.0, 100.0].into_iter().filter(|power| value >= *power).count()
            }
            _ => self.decimals,
        };
        let digits = digits.min(self.decimals).min(significant);
        let text = format!("{value:.digits$}");
        let text = match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.'),
            false => &text,
        };
        // A zero is shown without a sign.
        if text == "-0" { "0".to_owned() } else { text.to_owned() }
    }

    /// Reads what [`Spec::format`] writes and what people type, as [`quantity`] does. The range is not checked.
    pub fn parse(&self, text: &str) -> Option<f32> {
        quantity(text, self.unit).map(|value| value as f32)
    }
}

/// Reads a number in `unit`, which may be missing, in any case, or scaled (`1.5 kHz`, `0.2 s` for milliseconds, `500 ms`
/// for seconds, `50 cents` for semitones). `None` if it is not a number with a fitting unit.
pub fn quantity(text: &str, unit: &str) -> Option<f64> {
    let text = text.trim().replace('\u{2212}', "-").to_ascii_lowercase();
    let split = text.rfind(|c: char| c.is_ascii_digit() || c == '.').map_or(0, |last| last + 1);
    let (number, own) = text.split_at(split);
    let scale = match (unit, own.trim()) {
        (_, "") => 1.0,
        (unit, own) if own == unit.to_ascii_lowercase() => 1.0,
        ("Hz", "k" | "khz") | ("ms", "s") => 1000.0,
        ("s", "ms") => 0.001,
        ("st", "semitone" | "semitones") => 1.0,
        ("st", "ct" | "cent" | "cents") => 0.01,
        _ => return None,
    };
    let value: f64 = number.trim().parse().ok()?;
    value.is_finite().then_some(value * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips_and_common_units_are_accepted() {
        for spec in &SPECS {
            for step in 0..=100 {
                let value = spec.min + (spec.max - spec.min) * step as f32 / 100.0;
                let text = spec.format(value);
                let back = spec.parse(&text).unwrap();
                assert_eq!(spec.format(back), text, "{}", spec.id);
                let half_digit = 0.500_1 * 10f32.powi(-(spec.decimals as i32));
                // Half a unit of the third significant digit.
                let wide = spec.taper == Taper::Logarithmic && spec.max >= 10.0 * spec.min;
                let half_digit = half_digit.max(if wide { 0.005 * value } else { 0.0 });
                assert!(
                    (back - value).abs() <= half_digit + value.abs() * 1e-6,
                    "{} {text}",
                    spec.id
                );
            }
        }
        let parse = |id: &str, text: &str| spec(id).unwrap().parse(text);
        assert_eq!(parse("tone", "4.9 kHz"), Some(4900.0));
        assert_eq!(parse("tone", "4.9k"), Some(4900.0));
        assert_eq!(parse("ring", "500ms"), Some(0.5));
        assert_eq!(parse("release", "0.2 s"), Some(200.0));
        assert_eq!(parse("transpose", "-50 cents"), Some(-0.5));
        assert_eq!(parse("output", "\u{2212}3 DB"), Some(-3.0));
        assert_eq!(parse("mix", " 50"), Some(50.0));
        assert_eq!(parse("output", "+3"), Some(3.0));
        for nonsense in ["", "dB", "three", "1 Hz", "nan", "inf", "1e999"] {
            assert_eq!(parse("output", nonsense), None, "{nonsense:?}");
        }
        for (id, value, text) in [
            ("output", -0.001, "0 dB"),
            ("mix", 33.3, "33 %"),
            ("threshold", -36.9897, "-37 dB"),
            ("ceiling", -13.97, "-14 dB"),
            ("floor", -46.26, "-46.3 dB"),
            ("drive", 40.0, "40 x"),
            ("drive", 1.5, "1.5 x"),
            ("drive", 123.4, "123 x"),
            ("ring", 0.053, "0.053 s"),
            ("ring", 0.2, "0.2 s"),
            ("ring", 9.996, "10 s"),
            ("release", 20.0, "20 ms"),
            ("release", 99.97, "100 ms"),
            ("release", 1000.0, "1000 ms"),
            ("tone", 4865.0, "4865 Hz"),
            ("tuning", 442.5, "442.5 Hz"),
            ("transpose", -0.07, "-0.07 st"),
            ("octave", -1.0, "-1 oct"),
        ] {
            assert_eq!(spec(id).unwrap().format(value), text);
        }
    }
}
