//! Everything a user can set, in engineering units, and the table that says what each number means.
//!
//! [`Settings`] is what the DSP, the plugin, the presets and the command line share. The ids of
//! [`SPECS`] are stable for ever: they are plugin parameter ids, preset keys and flag names.

use super::{
    mask::{BandMask, PitchClass, PitchClasses, Scale},
    notes::TONES,
};
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

/// One sound. `Default` is the sound of the reference implementation at any sample rate.
///
/// Deserialising fills what is missing with defaults, and refuses unknown names and values out of
/// range.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields)]
pub struct Settings {
    /// Dry against wet, 0..100 %.
    pub mix: f32,
    /// Gain after the mix, -24..12 dB.
    pub output: f32,
    /// How hard each resonator is driven into the soft clip, 1..400.
    pub drive: f32,
    /// Relative gate: the power, in dB of the total power, below which a band fades away. -60..-10.
    pub threshold: f32,
    /// Relative limit: the power, in dB of the total power, above which a band stops growing. -30..0.
    pub ceiling: f32,
    /// Absolute gate: the power, in dB full scale, below which a band fades away. -90..-20.
    pub floor: f32,
    /// T60 of a resonator, 0.05..10 s.
    pub ring: f32,
    /// Time constant of the band power trackers, 10..1000 ms.
    pub release: f32,
    /// Cutoff of the low-pass after the bands, 500..20000 Hz.
    pub tone: f32,
    /// Frequency of A4, 400..480 Hz.
    pub tuning: f32,
    /// Moves all 48 tones, -24..24 semitones.
    pub transpose: f32,
    /// One bank for the mean of the channels, or one for each of two channels.
    pub stereo: Stereo,
    /// Lets the input through untouched.
    pub bypass: bool,
    /// The bands that may sound.
    pub bands: BandMask,
    /// The note that `scale` starts from.
    pub root: PitchClass,
    /// The notes that may sound, by the bands' names (whatever `tuning` and `transpose` make of them).
    pub scale: Scale,
    /// The notes of [`Scale::Custom`].
    pub custom: PitchClasses,
}

/// Which signal the resonators listen to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stereo {
    /// One bank listens to the mean of all channels and is added to every channel.
    #[default]
    Mono,
    /// Left and right have a bank each. Signals of one channel, or of more than two, are treated as
    /// [`Stereo::Mono`].
    Stereo,
}

/// How a setting's range is spread over a control, and how it glides from one value to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taper {
    /// Equal differences are equal distances.
    Linear,
    /// Equal ratios are equal distances. The range is positive.
    Logarithmic,
}

/// What one numeric setting means.
#[derive(Debug)]
pub struct Spec {
    /// Stable id: field name, preset key, parameter id and flag.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// Least value.
    pub min: f32,
    /// Greatest value.
    pub max: f32,
    /// The reference sound's value.
    pub default: f32,
    /// Unit as it is displayed.
    pub unit: &'static str,
    /// Digits after the decimal point when displayed.
    pub decimals: usize,
    /// Distribution over a control.
    pub taper: Taper,
    /// What it does to the sound, in one sentence.
    pub help: &'static str,
    field: fn(&mut Settings) -> &mut f32,
}

/// The numeric settings, in the order of the fields of [`Settings`].
///
/// The defaults restate the reference's constants, which hold at 44.1 kHz only, in units that hold at
/// every rate; `docs/dsp.md` derives them.
#[rustfmt::skip]
pub static SPECS: [Spec; 11] = [
    Spec { id: "mix", name: "Mix", min: 0.0, max: 100.0, default: 50.0, unit: "%", decimals: 1, taper: Taper::Linear,
        help: "Blend of the untouched sound (0 %) and the resonators (100 %).", field: |s| &mut s.mix },
    Spec { id: "output", name: "Output", min: -24.0, max: 12.0, default: 0.0, unit: "dB", decimals: 2, taper: Taper::Linear,
        help: "Level of the result.", field: |s| &mut s.output },
    Spec { id: "drive", name: "Drive", min: 1.0, max: 400.0, default: 40.0, unit: "x", decimals: 1, taper: Taper::Logarithmic,
        help: "Turns each note from a sine (low) into a square wave (high).", field: |s| &mut s.drive },
    Spec { id: "threshold", name: "Threshold", min: -60.0, max: -10.0, default: -36.989_7, unit: "dB", decimals: 2, taper: Taper::Linear,
        help: "Notes weaker than this, against the whole sound, fade away.", field: |s| &mut s.threshold },
    Spec { id: "ceiling", name: "Ceiling", min: -30.0, max: 0.0, default: -10.0, unit: "dB", decimals: 2, taper: Taper::Linear,
        help: "Notes stronger than this, against the whole sound, are held back.", field: |s| &mut s.ceiling },
    Spec { id: "floor", name: "Floor", min: -90.0, max: -20.0, default: -36.666_668, unit: "dB", decimals: 2, taper: Taper::Linear,
        help: "Notes weaker than this fade away, however quiet the whole sound is. Lower it for quiet music.", field: |s| &mut s.floor },
    Spec { id: "ring", name: "Ring", min: 0.05, max: 10.0, default: 1.566_306, unit: "s", decimals: 3, taper: Taper::Logarithmic,
        help: "How long a resonator rings: longer picks notes more sharply, shorter follows faster.", field: |s| &mut s.ring },
    Spec { id: "release", name: "Release", min: 10.0, max: 1000.0, default: 188.952_5, unit: "ms", decimals: 1, taper: Taper::Logarithmic,
        help: "How slowly the level of a note follows what it hears.", field: |s| &mut s.release },
    Spec { id: "tone", name: "Tone", min: 500.0, max: 20_000.0, default: 4_865.015, unit: "Hz", decimals: 0, taper: Taper::Logarithmic,
        help: "Softens the top end of the square waves.", field: |s| &mut s.tone },
    Spec { id: "tuning", name: "Tuning", min: 400.0, max: 480.0, default: 440.0, unit: "Hz", decimals: 2, taper: Taper::Logarithmic,
        help: "The pitch of A4 that the music is tuned to.", field: |s| &mut s.tuning },
    Spec { id: "transpose", name: "Transpose", min: -24.0, max: 24.0, default: 0.0, unit: "st", decimals: 2, taper: Taper::Linear,
        help: "Moves all 48 notes up or down.", field: |s| &mut s.transpose },
];

/// The spec of the numeric setting called `id`, if there is one.
pub fn spec(id: &str) -> Option<&'static Spec> {
    SPECS.iter().find(|spec| spec.id == id)
}

/// A value that a setting cannot take.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error("{id} = {value} is out of range; use {min} to {max} {unit}")]
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

impl Spec {
    /// This setting's value in `settings`.
    pub fn get(&self, settings: &Settings) -> f32 {
        *(self.field)(&mut settings.clone())
    }

    /// Puts `value` into `settings` unchecked; [`Settings::validate`] tells whether it is allowed.
    pub fn set(&self, settings: &mut Settings, value: f32) {
        *(self.field)(settings) = value;
    }

    /// `Ok` if `value` is a number within the range.
    pub fn check(&self, value: f32) -> Result<(), OutOfRange> {
        if (self.min..=self.max).contains(&value) {
            return Ok(());
        }
        let &Spec { id, min, max, unit, .. } = self;
        Err(OutOfRange { id, value, min, max, unit })
    }

    /// `value` as people read it: `-36.99 dB`.
    pub fn format(&self, value: f32) -> String {
        let digits = self.decimals;
        let text = format!("{value:.digits$}");
        // No reader expects a sign on zero.
        let text = match text.strip_prefix('-') {
            Some(zero) if zero.bytes().all(|byte| matches!(byte, b'0' | b'.')) => zero,
            _ => &text,
        };
        format!("{text} {}", self.unit)
    }

    /// Reads what [`Spec::format`] writes and what people type: the unit may be missing, in any case,
    /// or scaled (`1.5 kHz`, `0.2 s` for milliseconds, `500 ms` for seconds, `50 cents`).
    /// `None` if it is not a number with a fitting unit. The range is not checked.
    pub fn parse(&self, text: &str) -> Option<f32> {
        let text = text.trim().replace('\u{2212}', "-").to_ascii_lowercase();
        let split = text.rfind(|c: char| c.is_ascii_digit() || c == '.').map_or(0, |last| last + 1);
        let (number, unit) = text.split_at(split);
        let scale = match (self.unit, unit.trim()) {
            (_, "") => 1.0,
            (own, unit) if unit == own.to_ascii_lowercase() => 1.0,
            ("Hz", "k" | "khz") | ("ms", "s") => 1000.0,
            ("s", "ms") => 0.001,
            ("st", "semitone" | "semitones") => 1.0,
            ("st", "ct" | "cent" | "cents") => 0.01,
            _ => return None,
        };
        let value: f64 = number.trim().parse().ok()?;
        value.is_finite().then_some((value * scale) as f32)
    }
}

impl Default for Settings {
    fn default() -> Self {
        let mut settings = Self {
            mix: 0.0,
            output: 0.0,
            drive: 0.0,
            threshold: 0.0,
            ceiling: 0.0,
            floor: 0.0,
            ring: 0.0,
            release: 0.0,
            tone: 0.0,
            tuning: 0.0,
            transpose: 0.0,
            stereo: Stereo::default(),
            bypass: false,
            bands: BandMask::default(),
            root: PitchClass::default(),
            scale: Scale::default(),
            custom: PitchClasses::default(),
        };
        for spec in &SPECS {
            spec.set(&mut settings, spec.default);
        }
        settings
    }
}

impl Settings {
    /// The first setting that is out of range, as an error.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        SPECS.iter().try_for_each(|spec| spec.check(spec.get(self)))
    }

    /// The bands that may sound, by `bands` and by the scale.
    pub fn sounding_bands(&self) -> BandMask {
        let classes = self.scale.pitch_classes(self.root, self.custom);
        let kept =
            (0..TONES).filter(|&tone| self.bands.contains(tone) && classes.contains(tone % 12));
        kept.fold(BandMask::NONE, |mask, tone| mask.with(tone, true))
    }
}

impl Serialize for Settings {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Settings::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let settings = Settings::deserialize(deserializer)?;
        settings.validate().map_err(serde::de::Error::custom)?;
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_restate_the_reference_constants() {
        let near = |id: &str, value: f64| {
            let default = f64::from(spec(id).unwrap().default);
            assert!((default / value - 1.0).abs() < 1e-7, "{id}: {default} is not {value}");
        };
        near("threshold", 10.0 * 2e-4f64.log10());
        near("ceiling", 10.0 * 0.1f64.log10());
        near("floor", 10.0 * 1e-11f64.cbrt().log10());
        near("ring", 1000f64.ln() / (44_100.0 * -0.9999f64.ln()));
        near("release", -1000.0 / 0.00503f64.ln());
        near("tone", 2f64.ln() * 44_100.0 / std::f64::consts::TAU);
        near("drive", 40.0);
    }

    #[test]
    fn every_spec_names_its_own_field_and_holds_its_default() {
        let mut settings = Settings::default();
        for (index, spec) in SPECS.iter().enumerate() {
            assert_eq!(spec.get(&settings), spec.default, "{}", spec.id);
            assert_eq!(spec.check(spec.default), Ok(()));
            spec.set(&mut settings, 1000.0 + index as f32);
        }
        // `Debug` names the fields as serde does, and needs no format.
        let text = format!("{settings:?}");
        for (index, spec) in SPECS.iter().enumerate() {
            let expected = format!("{}: {}.0,", spec.id, 1000 + index);
            assert!(text.contains(&expected), "{expected} is missing in {text}");
        }
    }

    #[test]
    fn out_of_range_names_the_setting_and_the_remedy() {
        for bad in [f32::NAN, f32::INFINITY, -0.1, 100.1] {
            let settings = Settings { mix: bad, ..Settings::default() };
            assert!(settings.validate().is_err(), "{bad}");
        }
        let settings = Settings { mix: 150.0, ..Settings::default() };
        let error = settings.validate().unwrap_err();
        assert_eq!(error.to_string(), "mix = 150 is out of range; use 0 to 100 %");
    }

    #[test]
    fn text_round_trips_and_takes_the_units_people_type() {
        for spec in &SPECS {
            for step in 0..=100 {
                let value = spec.min + (spec.max - spec.min) * step as f32 / 100.0;
                let text = spec.format(value);
                let back = spec.parse(&text).unwrap();
                assert_eq!(spec.format(back), text, "{}", spec.id);
                let half_digit = 0.500_1 * 10f32.powi(-(spec.decimals as i32));
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
        assert_eq!(spec("output").unwrap().format(-0.001), "0.00 dB");
    }
}
