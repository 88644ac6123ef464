//! Conversion of the filter's settings to those of the reference. Ids tell which settings correspond.

pub use tone_filter_reference::*;

use tone_filter_dsp::{CHOICES, Controls, SPECS, Settings, notes::PITCH_CLASSES};

/// Returns the reference's settings that correspond to `settings`.
pub fn sound(settings: &Settings) -> Sound {
    controlled(&Controls::from(*settings))
}

/// Returns the reference's settings that correspond to the settings and choices of `controls`.
pub fn controlled(controls: &Controls) -> Sound {
    let settings = &controls.settings;
    let mut sound = Sound::published();
    for spec in &SPECS {
        sound.set(spec.id, spec.get(settings).into());
    }
    for choice in &CHOICES {
        sound.choose(choice.id, choice.entries[choice.get(controls)].0);
    }
    sound.bands = std::array::from_fn(|tone| settings.bands.contains(tone));
    for class in 0..PITCH_CLASSES.len() {
        sound.custom[class] = settings.custom.contains(class);
        sound.targets[class] = settings.targets.of(class).index();
    }
    sound.follows = settings.follows() || settings.follows_tempo();
    sound
}
