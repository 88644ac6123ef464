//! [`Spec`], the description of a numeric setting; checks, formats and parses its values.

use super::{Group, SPECS, Settings};
use std::{error::Error, fmt};

/// Scale of a setting: a control spreads the setting's range over it, and changes are smoothed on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taper {
    /// Equal differences are equal distances on the control.
    Linear,
    /// Equal ratios are equal distances on the control. The range is positive.
    Logarithmic,
    /// Whole numbers at equal distances; values in between are rounded.
    Whole,
}

/// Description of a numeric setting.
#[derive(Debug)]
pub struct Spec {
    /// Stable id: field name, preset key, parameter id and flag.
    pub id: &'static str,
    /// Display name.
    pub name: &'static str,
    /// Lowest valid value, in [`Spec::unit`].
    pub min: f32,
    /// Highest valid value, in [`Spec::unit`].
    pub max: f32,
    /// Display name of the unit.
    pub unit: &'static str,
    /// Maximum number of decimals when displayed, enough to tell useful values apart; see [`Spec::number`].
    pub decimals: usize,
    /// Distribution over a control.
    pub taper: Taper,
    /// Effect on the sound, in one sentence.
    pub help: &'static str,
    /// Group in the editor and in hosts.
    pub group: Group,
    /// Whether random sounds change the setting. False for settings that adapt the filter to the music and the mix, and for
    /// settings that concern playing.
    pub random: bool,
    /// Position of the setting in its group.
    pub(super) place: u8,
    pub(super) field: fn(&mut Settings) -> &mut f32,
}

/// Returns the spec of the numeric setting called `id`, if there is one.
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

/// Error: a value outside the range of its setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutOfRange {
    /// The setting's id.
    pub id: &'static str,
    /// Value that was given.
    pub value: f32,
    /// Lowest valid value.
    pub min: f32,
    /// Highest valid value.
    pub max: f32,
    /// Unit of `value`, `min` and `max`.
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
    /// Returns the setting's value in `settings`.
    pub fn get(&self, settings: &Settings) -> f32 {
        *(self.field)(&mut settings.clone())
    }

    /// Sets the value in `settings`, unchecked; [`Settings::validate`] checks it.
    pub fn set(&self, settings: &mut Settings, value: f32) {
        *(self.field)(settings) = value;
    }

    /// Returns the value in a new instance.
    pub fn default(&self) -> f32 {
        self.get(&Settings::default())
    }

    /// Returns the value for states and presets that lack the setting.
    pub fn reference(&self) -> f32 {
        self.get(&Settings::REFERENCE)
    }

    /// Returns an error unless `value` is a number within the range.
    pub fn check(&self, value: f32) -> Result<(), OutOfRange> {
        if (self.min..=self.max).contains(&value) {
            return Ok(());
        }
        let &Spec { id, min, max, unit, .. } = self;
        Err(OutOfRange { id, value, min, max, unit })
    }

    /// Formats `value` with its unit: `-37 dB`, `1 note`.
    pub fn format(&self, value: f32) -> String {
        let number = self.number(value, self.decimals);
        let one = number == "1" && self.taper == Taper::Whole;
        let unit = if one { self.unit.trim_end_matches('s') } else { self.unit };
        format!("{number} {unit}")
    }

    /// Formats `value` without its unit, with at most `digits` decimals and without trailing zeros. A logarithmic setting whose
    /// range spans a decade or more gets decimals for three significant digits only: `0.053`, `1.25`, `12.5`, `125`.
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

    /// Parses text from [`Spec::format`] or from users, as [`quantity`] does; `-inf` means the minimum. Does not check the range.
    pub fn parse(&self, text: &str) -> Option<f32> {
        let value = quantity(text, self.unit)?;
        Some(if value == f64::NEG_INFINITY { self.min } else { value as f32 })
    }
}

/// Parses a number in `unit`. The text may leave out the unit, write it in upper or lower case, or use a related unit: `1.5 kHz`,
/// `0.2 s` for milliseconds, `500 ms` for seconds, `50 cents` for semitones. The number may have a decimal comma. In dB, `-inf`
/// is a number, too. Returns `None` if the text is not a finite number with a fitting unit, or if its comma may divide thousands
/// (`20,000`).
pub fn quantity(text: &str, unit: &str) -> Option<f64> {
    let thousands = |(whole, rest): (&str, &str)| {
        let digits = rest.chars().take_while(char::is_ascii_digit).count();
        digits == 3 && !matches!(whole.trim(), "0" | "-0" | "")
    };
    if text.split_once(',').is_some_and(thousands) {
        return None;
    }
    let text = text.trim().replace('\u{2212}', "-").replace(',', ".").to_ascii_lowercase();
    let level = text.trim_end_matches("db").trim_end();
    if unit == "dB" && ["-inf", "-infinity", "-∞"].contains(&level) {
        return Some(f64::NEG_INFINITY);
    }
    let split = text.rfind(|c: char| c.is_ascii_digit() || c == '.').map_or(0, |last| last + 1);
    let (number, written) = text.split_at(split);
    let scale = match (unit, written.trim()) {
        (_, "") => 1.0,
        (unit, written) if written == unit.to_ascii_lowercase() => 1.0,
        ("Hz", "k" | "khz") | ("ms", "s") => 1000.0,
        ("s", "ms") => 0.001,
        ("st", "semitone" | "semitones") | ("notes", "note") | ("ticks", "tick") => 1.0,
        ("st", "ct" | "cent" | "cents") => 0.01,
        _ => return None,
    };
    let value: f64 = number.trim().parse().ok()?;
    value.is_finite().then_some(value * scale)
}
