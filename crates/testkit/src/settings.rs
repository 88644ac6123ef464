//! Values of settings, of one and of all.

use crate::Draws;
use tone_filter_dsp::{Controls, Setting, Settings, Spec, TEXTS, Taper, TextOf};

/// Values of a setting to test with.
pub trait Values {
    /// `controls` with this setting at each of its entries, or at both ends and the default of its range.
    fn ends(self, controls: &Controls) -> Vec<Controls>;

    /// Sets it in `controls` to a value at random: of choices every entry, of numbers both ends, the defaults and any other.
    fn draw(self, draws: &mut Draws, controls: &mut Controls);
}

impl Values for Setting {
    fn ends(self, controls: &Controls) -> Vec<Controls> {
        let with = |change: &dyn Fn(&mut Controls)| {
            let mut own = *controls;
            change(&mut own);
            own
        };
        match self {
            Self::Number(spec) => [spec.min, spec.default(), spec.max]
                .map(|value| with(&|own| spec.set(&mut own.settings, value)))
                .into(),
            Self::Choice(choice) => {
                (0..choice.entries.len()).map(|entry| with(&|own| choice.set(own, entry))).collect()
            }
            Self::Text(text) => {
                let default = text.bits(&Settings::default());
                let ends = match text.of {
                    // No switch, every second one, and all.
                    TextOf::Switches(_) => vec![[0; 2], [u64::MAX / 3; 2], default],
                    // Every note at A, and at itself.
                    TextOf::Notes(_) => vec![[0; 2], default],
                };
                let put = |bits| with(&|own| text.set_bits(&mut own.settings, bits));
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
                    // All notes at one, and each at any.
                    (TextOf::Notes(count), 1) => notes([draws.below(12)].repeat(count)),
                    (TextOf::Notes(count), _) => notes((0..count).map(|_| draws.below(12))),
                };
                text.set_bits(settings, bits);
            }
        }
    }
}

/// The bits of notes by their pitch classes.
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

/// Controls that start from the default as often as from [`Settings::REFERENCE`]. A tenth, a half or all of the settings are drawn.
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

/// Controls of which every setting differs from the default.
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

/// Resets the texts to the default, for hosts of plugins, where these are no parameters.
pub fn parameters_alone(settings: &Settings) -> Settings {
    let (mut own, default) = (*settings, Settings::default());
    TEXTS.iter().for_each(|text| text.set_bits(&mut own, text.bits(&default)));
    own
}
