//! Any setting, and all of them.

use crate::Draws;
use tone_filter_dsp::{
    BandMask, CHOICES, Choice, Controls, PitchClass, PitchClasses, SPECS, Settings, Spec, Taper,
    Targets,
};

/// One setting of the tables, or one of the three that are neither a number nor a choice.
#[derive(Debug, Clone, Copy)]
pub enum Setting {
    /// A row of `SPECS`.
    Number(&'static Spec),
    /// A row of `CHOICES`.
    Choice(&'static Choice),
    /// The mask of bands.
    Bands,
    /// The notes of the custom scale.
    Custom,
    /// The targets of the custom map.
    Targets,
}

impl Setting {
    /// All settings, routing included.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        let (numbers, choices) = (SPECS.iter().map(Self::Number), CHOICES.iter().map(Self::Choice));
        numbers.chain(choices).chain([Self::Bands, Self::Custom, Self::Targets])
    }

    /// The setting called `id`.
    ///
    /// # Panics
    /// When there is none.
    pub fn of(id: &str) -> Self {
        Self::all().find(|own| own.id() == id).unwrap_or_else(|| panic!("no setting {id}"))
    }

    /// Its id.
    pub fn id(self) -> &'static str {
        match self {
            Self::Number(spec) => spec.id,
            Self::Choice(choice) => choice.id,
            Self::Bands => "bands",
            Self::Custom => "custom",
            Self::Targets => "targets",
        }
    }

    /// Whether it is part of the sound, not of the routing.
    pub fn is_sound(self) -> bool {
        let Self::Choice(choice) = self else { return true };
        let mut other = Controls::default();
        let entry = (choice.get(&other) + 1) % choice.entries.len();
        choice.set(&mut other, entry);
        other.routing == Controls::default().routing
    }

    /// Its value in `controls` as text.
    pub fn text(self, controls: &Controls) -> String {
        let settings = &controls.settings;
        match self {
            Self::Number(spec) => spec.format(spec.get(settings)),
            Self::Choice(choice) => choice.entries[choice.get(controls)].0.to_owned(),
            Self::Bands => settings.bands.to_string(),
            Self::Custom => settings.custom.to_string(),
            Self::Targets => settings.targets.to_string(),
        }
    }

    /// `controls` with this setting at each of its entries, or at both ends and the default of its range.
    pub fn ends(self, controls: &Controls) -> Vec<Controls> {
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
            Self::Bands => [BandMask::NONE, every_other(), BandMask::ALL]
                .map(|bands| with(&|own| own.settings.bands = bands))
                .into(),
            Self::Custom => [PitchClasses::NONE, every_other(), PitchClasses::ALL]
                .map(|custom| with(&|own| own.settings.custom = custom))
                .into(),
            Self::Targets => [same_targets(PitchClass::new(0)), Targets::IDENTITY]
                .map(|targets| with(&|own| own.settings.targets = targets))
                .into(),
        }
    }

    /// Sets it in `controls` to a value at random: of choices every entry, of numbers both ends, the defaults and any other.
    pub fn draw(self, draws: &mut Draws, controls: &mut Controls) {
        let settings = &mut controls.settings;
        match self {
            Self::Number(spec) => spec.set(settings, number(spec, draws)),
            Self::Choice(choice) => choice.set(controls, draws.below(choice.entries.len())),
            Self::Bands => {
                settings.bands = match draws.below(4) {
                    0 => BandMask::NONE,
                    1 => BandMask::ALL,
                    _ => BandMask::from_bits([draws.bits(), draws.bits()]),
                }
            }
            Self::Custom => {
                settings.custom = match draws.below(4) {
                    0 => PitchClasses::NONE,
                    1 => PitchClasses::ALL,
                    _ => PitchClasses::from_bits([draws.bits(), 0]),
                }
            }
            Self::Targets => {
                settings.targets = match draws.below(4) {
                    0 => Targets::IDENTITY,
                    1 => same_targets(PitchClass::new(draws.below(12))),
                    _ => (0..12).fold(Targets::IDENTITY, |targets, class| {
                        targets.with(class, PitchClass::new(draws.below(12)))
                    }),
                }
            }
        }
    }
}

/// The first of each two switches.
fn every_other<const N: usize>() -> tone_filter_dsp::Switches<N> {
    (0..N).step_by(2).fold(tone_filter_dsp::Switches::NONE, |all, index| all.with(index, true))
}

fn same_targets(target: PitchClass) -> Targets {
    (0..12).fold(Targets::IDENTITY, |targets, class| targets.with(class, target))
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

/// The same settings with bands, custom scale and targets by default, for hosts of plugins, where these are no parameters.
pub fn parameters_alone(settings: &Settings) -> Settings {
    let Settings { bands, custom, targets, .. } = Settings::default();
    Settings { bands, custom, targets, ..*settings }
}
