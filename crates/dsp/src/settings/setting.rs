//! [`Setting`]: uniform access to numbers, choices and texts.

use super::{CHOICES, Choice, Controls, Entry, Group, SPECS, Spec, TEXTS, Text};

/// A setting, by its kind.
#[derive(Debug, Clone, Copy)]
pub enum Setting {
    /// Number in a range.
    Number(&'static Spec),
    /// Entry of a list; switches are lists, too.
    Choice(&'static Choice),
    /// Digits for switches, or names of notes.
    Text(&'static Text),
}

impl Setting {
    /// Returns all settings: the numbers, the choices, then the texts, each in the order of declaration.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        let numbers = SPECS.iter().map(Self::Number);
        numbers.chain(CHOICES.iter().map(Self::Choice)).chain(TEXTS.iter().map(Self::Text))
    }

    /// Returns the setting called `id`, if there is one.
    pub fn find(id: &str) -> Option<Self> {
        Self::all().find(|setting| setting.id() == id)
    }

    /// Returns the stable id: preset key and flag, and for numbers and choices the parameter id.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Number(spec) => spec.id,
            Self::Choice(choice) => choice.id,
            Self::Text(text) => text.id,
        }
    }

    /// Returns the display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Number(spec) => spec.name,
            Self::Choice(choice) => choice.name,
            Self::Text(text) => text.name,
        }
    }

    /// Returns the display name of a number's unit; otherwise an empty text.
    pub const fn unit(self) -> &'static str {
        if let Self::Number(spec) = self { spec.unit } else { "" }
    }

    /// Returns the entries of a choice; otherwise none.
    pub const fn entries(self) -> &'static [Entry] {
        if let Self::Choice(choice) = self { choice.entries } else { &[] }
    }

    /// Returns minimum and maximum: of a number's value, or of the index of a choice's entry. Both are 0 for texts.
    pub const fn range(self) -> [f32; 2] {
        match self {
            Self::Number(spec) => [spec.min, spec.max],
            Self::Choice(choice) => [0.0, (choice.entries.len() - 1) as f32],
            Self::Text(_) => [0.0; 2],
        }
    }

    /// Returns the value of a number, or the index of a choice's entry, in `controls`; 0 for texts.
    pub fn value(self, controls: &Controls) -> f32 {
        match self {
            Self::Number(spec) => spec.get(&controls.settings),
            Self::Choice(choice) => choice.get(controls) as f32,
            Self::Text(_) => 0.0,
        }
    }

    /// Sets a number, or the index of a choice's entry, to the valid value nearest to `value`. Leaves texts unchanged.
    pub fn set_value(self, controls: &mut Controls, value: f32) {
        match self {
            Self::Number(spec) => spec.set(&mut controls.settings, value.clamp(spec.min, spec.max)),
            Self::Choice(choice) => choice.set(controls, value.round() as usize),
            Self::Text(_) => {}
        }
    }

    /// Returns the effect on the sound, in one sentence.
    pub const fn help(self) -> &'static str {
        match self {
            Self::Number(spec) => spec.help,
            Self::Choice(choice) => choice.help,
            Self::Text(text) => text.help,
        }
    }

    /// Returns the group in the editor and in hosts; `None` for texts.
    pub const fn group(self) -> Option<Group> {
        match self {
            Self::Number(spec) => Some(spec.group),
            Self::Choice(choice) => Some(choice.group),
            Self::Text(_) => None,
        }
    }

    /// Whether random sounds change the setting.
    pub const fn is_random(self) -> bool {
        match self {
            Self::Number(spec) => spec.random,
            Self::Choice(choice) => choice.random,
            Self::Text(_) => false,
        }
    }

    /// Whether the setting is a field of [`Routing`](super::Routing), not a part of the sound.
    pub const fn is_routing(self) -> bool {
        matches!(self, Self::Choice(choice) if choice.is_routing())
    }

    /// Returns the value in `controls` as text: a number with its unit, the id of an entry, or the text itself.
    pub fn text(self, controls: &Controls) -> String {
        match self {
            Self::Number(spec) => spec.format(spec.get(&controls.settings)),
            Self::Choice(choice) => choice.entries[choice.get(controls)].0.to_owned(),
            Self::Text(text) => text.get(&controls.settings),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Taper;

    /// Texts that users type for each setting, and the entries that they mean; `-`: invalid.
    const TYPED: &str = "
        voice | SQUARE = square; pulse 12,5 % = pulse12; soft_clean = soft-clean; of the future = -
        root | A = A; g# = G#; Bb = A#; bb = A#; E♭ = D#; f♯ = F#; C = C; Cb = B; Ab = G#; E# = F
        root | H = -; # = -; A## = -; A4 = -; Abb = -; AB = -; ♭ = -; = -
        scale | minor = natural-minor; MAJ = major; MinorPentatonic = minor-pentatonic
        sync | 1/8d = 1/8d; 1/8 Dotted = 1/8d; 1/3 = -
        duty | 50% = 50; 12,5 = 12.5
        auto | ON = on; false = off; perhaps = -
        mix | 50% = 50 %; 33,5 = 33.5 %; 1 Hz = -
        tone | 8,5 kHz = 8500 Hz; 4.9k = 4900 Hz; 20,000 Hz = -; 0,125 kHz = 125 Hz; -inf = -
        ring | 500ms = 0.5 s
        release | 0,2 s = 200 ms
        transpose | -50 cents = -0.5 st
        output | -6,5 = -6.5 dB; \u{2212}3 DB = -3 dB; +3 = 3 dB; -INF dB = -24 dB; inf = -; dB = -
        floor | 1,000.5 = -; 1e999 = -; nan = -; -infinity = -90 dB
        threshold | -inf = -60 dB; \u{2212}\u{221e} = -60 dB";

    /// Numbers for each setting, and their texts.
    const SHOWN: &str = "
        output | -0.001 = 0 dB
        mix | 33.3 = 33 %
        threshold | -36.9897 = -37 dB
        ceiling | -13.97 = -14 dB
        floor | -46.26 = -46.3 dB
        drive | 40 = 40 x; 1.5 = 1.5 x; 123.4 = 123 x
        ring | 0.053 = 0.053 s; 0.2 = 0.2 s; 9.996 = 10 s
        release | 20 = 20 ms; 99.97 = 100 ms; 1000 = 1000 ms
        tone | 4865 = 4865 Hz
        tuning | 442.5 = 442.5 Hz
        transpose | -0.07 = -0.07 st
        octave | -1 = -1 oct; 1 = 1 oct
        voices | 1 = 1 note; 3 = 3 notes
        decay | 1 = 1 tick";

    /// Returns the setting, left and right side of each case in a table.
    fn cases(table: &str) -> impl Iterator<Item = (Setting, &str, &str)> {
        table.trim().lines().flat_map(|row| {
            let (id, cases) = row.split_once('|').unwrap();
            let sides = cases.split(';').map(|case| case.split_once('=').unwrap());
            sides.map(|(left, right)| (Setting::find(id.trim()).unwrap(), left, right.trim()))
        })
    }

    #[test]
    fn the_ends_of_a_range_are_values() {
        let mut controls = Controls::default();
        for setting in Setting::all() {
            for end in setting.range() {
                setting.set_value(&mut controls, end);
                assert_eq!(setting.value(&controls), end, "{}", setting.id());
            }
        }
    }

    #[test]
    fn every_entry_is_read_by_id_and_name() {
        for choice in &CHOICES {
            for (index, (id, name)) in choice.entries.iter().enumerate() {
                let read = [id, name].map(|text| choice.parse(text));
                assert_eq!(read, [Some(index); 2], "{} {id}", choice.id);
            }
        }
    }

    #[test]
    fn numbers_are_read_as_they_are_shown() {
        for spec in &SPECS {
            for step in 0..=100 {
                let value = spec.min + (spec.max - spec.min) * step as f32 / 100.0;
                let text = spec.format(value);
                let back = spec.parse(&text).unwrap();
                assert_eq!(spec.format(back), text, "{}", spec.id);
                let half_digit = 0.500_1 * 10f32.powi(-(spec.decimals as i32));
                // Allows an error of half the third significant digit.
                let wide = spec.taper == Taper::Logarithmic && spec.max >= 10.0 * spec.min;
                let half_digit = half_digit.max(if wide { 0.005 * value } else { 0.0 });
                let error = (back - value).abs() - value.abs() * 1e-6;
                assert!(error <= half_digit, "{} {text}", spec.id);
            }
        }
    }

    #[test]
    fn typed_texts_are_read() {
        for (setting, typed, meant) in cases(TYPED) {
            let read = match setting {
                Setting::Choice(list) => list.parse(typed).map(|at| list.entries[at].0.into()),
                Setting::Number(spec) => spec.parse(typed).map(|x| format!("{x} {}", spec.unit)),
                Setting::Text(_) => None,
            };
            assert_eq!(read.as_deref().unwrap_or("-"), meant, "{} {typed}", setting.id());
        }
    }

    #[test]
    fn numbers_are_shown_with_useful_digits() {
        for (setting, number, text) in cases(SHOWN) {
            let Setting::Number(spec) = setting else { unreachable!() };
            assert_eq!(spec.format(number.trim().parse().unwrap()), text);
        }
    }
}
