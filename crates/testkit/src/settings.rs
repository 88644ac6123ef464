//! Test values: of a single setting, and of all settings together.

use crate::Draws;
use tone_filter_dsp::{Controls, Setting, Settings, Spec, TEXTS, Taper, TextOf};

/// Test values of a setting.
pub trait Values {
    /// Returns copies of `controls` with the values of this setting to test: each entry of a choice; minimum, default and
    /// maximum of a number; extremes and default of a text.
    fn ends(self, controls: &Controls) -> Vec<Controls>;

    /// Sets this setting in `controls` to a random value. For a number, this is often its minimum, maximum, default or
    /// reference value.
    fn draw(self, draws: &mut Draws, controls: &mut Controls);
}

impl Values for Setting {
    fn ends(self, controls: &Controls) -> Vec<Controls> {
        let with = |change: &dyn Fn(&mut Controls)| {
            let mut changed = *controls;
            change(&mut changed);
            changed
        };
        match self {
            Self::Number(spec) => [spec.min, spec.default(), spec.max]
                .map(|value| with(&|controls| spec.set(&mut controls.settings, value)))
                .into(),
            Self::Choice(choice) => (0..choice.entries.len())
                .map(|entry| with(&|controls| choice.set(controls, entry)))
                .collect(),
            Self::Text(text) => {
                let default = text.bits(&Settings::default());
                let ends = match text.of {
                    // Bits of switches: all off, every second one on, and the default, all on.
                    TextOf::Switches(_) => vec![[0; 2], [u64::MAX / 3; 2], default],
                    // Bits of notes: each note mapped to A, and the default, each note mapped to itself.
                    TextOf::Notes(_) => vec![[0; 2], default],
                };
                let put = |bits| with(&|controls| text.set_bits(&mut controls.settings, bits));
                ends.into_iter().map(put).collect()
            }
        }
    }

    fn draw(self, draws: &mut Draws, controls: &mut Controls) {
        let settings = &mut controls.settings;
        match self {
            Self::Number(spec) => spec.set(settings, number(spec, draws)),
            Self::Choice(choice) => choice.set(controls, draws.below(choice.entries.len())),
            Self::Text(text) => {
                let default = text.bits(&Settings::default());
                let bits = match (text.of, draws.below(4)) {
                    (TextOf::Switches(_), 0) => [0; 2],
                    (TextOf::Switches(_), 1) | (TextOf::Notes(_), 0) => default,
                    (TextOf::Switches(count), _) => {
                        [draws.bits(), if count > 64 { draws.bits() } else { 0 }]
                    }
                    // Maps all notes to one random note. In the other cases, maps each note to a random note of its own.
                    (TextOf::Notes(count), 1) => notes([draws.below(12)].repeat(count)),
                    (TextOf::Notes(count), _) => notes((0..count).map(|_| draws.below(12))),
                };
                text.set_bits(settings, bits);
            }
        }
    }
}

/// Packs pitch classes, one for each note, into the bits of a text setting: four bits each.
fn notes(classes: impl IntoIterator<Item = usize>) -> [u64; 2] {
    let bits = classes.into_iter().enumerate();
    [bits.fold(0, |bits, (index, class)| bits | (class as u64) << (4 * index)), 0]
}

fn number(spec: &Spec, draws: &mut Draws) -> f32 {
    match draws.below(8) {
        0 => spec.min,
        1 => spec.max,
        2 => spec.default(),
        3 => spec.reference(),
        _ => {
            let (min, max) = (f64::from(spec.min), f64::from(spec.max));
            let value = match spec.taper {
                Taper::Linear => draws.between(min, max),
                Taper::Logarithmic => min * (max / min).powf(draws.share()),
                Taper::Whole => draws.between(min, max).round(),
            };
            (value as f32).clamp(spec.min, spec.max)
        }
    }
}

/// Draws about a tenth, about half or all of the settings. The other settings have either their defaults or the values of
/// [`Settings::REFERENCE`].
pub fn controls(draws: &mut Draws) -> Controls {
    let mut controls = match draws.chance(0.5) {
        true => Controls::default(),
        false => Settings::REFERENCE.into(),
    };
    let share = draws.pick(&[0.1, 0.1, 0.5, 1.0]);
    for setting in Setting::all() {
        if draws.chance(share) {
            setting.draw(draws, &mut controls);
        }
    }
    controls
}

/// Draws controls in which every setting differs from the default.
pub fn unlike_default(draws: &mut Draws) -> Controls {
    let default = Controls::default();
    let mut controls = default;
    for setting in Setting::all() {
        while setting.text(&controls) == setting.text(&default) {
            setting.draw(draws, &mut controls);
        }
    }
    controls
}

/// Returns `settings` with default values for all text settings, for which plugins have no parameters.
pub fn parameters_alone(settings: &Settings) -> Settings {
    let (mut settings, default) = (*settings, Settings::default());
    TEXTS.iter().for_each(|text| text.set_bits(&mut settings, text.bits(&default)));
    settings
}
