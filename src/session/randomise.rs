//! Random sounds: slight variations of the current sound, or new sounds.

use crate::params::{Control, Keep, ToneFilterParams};
use fastrand::Rng;
use tone_filter_dsp::{Controls, Group, Scale, Setting, Taper};

/// Maximum distance of a random sound from the current sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Numbers move by at most a tenth of their range, and are then rounded if they are whole. Choices stay.
    Slight,
    /// Numbers and choices are random over their whole range.
    Full,
}

/// Returns the ids of the settings that a random sound changes. With `keep.scale`, the group Scale is left out.
fn random_ids(keep: Keep) -> impl Iterator<Item = &'static str> {
    let kept = move |setting: &Setting| keep.scale && setting.group() == Some(Group::Scale);
    Setting::all().filter(move |setting| setting.is_random() && !kept(setting)).map(Setting::id)
}

/// Returns `now` with random values for the settings of [`random_ids`].
pub fn randomised(
    params: &ToneFilterParams,
    now: &Controls,
    amount: Amount,
    keep: Keep,
    random: &mut Rng,
) -> Controls {
    let mut controls = *now;
    for id in random_ids(keep) {
        let Some(control) = params.control(id) else { continue };
        let value = match amount {
            Amount::Full => random.f32(),
            Amount::Slight if matches!(control, Control::Choice(_)) => continue,
            Amount::Slight => {
                let step = 0.1 * (2.0 * random.f32() - 1.0);
                (control.normalized(now) + step).clamp(0.0, 1.0)
            }
        };
        control.put(&mut controls, value);
        let settings = &mut controls.settings;
        if let Control::Number(spec, _) = control
            && spec.taper == Taper::Whole
        {
            spec.set(settings, spec.get(settings).round());
        }
    }
    // A custom scale is never chosen, as its notes are the user's.
    if controls.settings.scale == Scale::Custom {
        controls.settings.scale = now.settings.scale;
    }
    controls
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::presets::loaded;
    use tone_filter_dsp::SPECS;

    /// Returns the default sound and 200 random variations.
    fn sounds(amount: Amount, keep: Keep) -> (Controls, Vec<Controls>) {
        let (params, now) = (ToneFilterParams::default(), Controls::default());
        let random = |seed| randomised(&params, &now, amount, keep, &mut Rng::with_seed(seed));
        (now, (0..200).map(random).collect())
    }

    #[test]
    fn only_the_sound_is_random() {
        use Amount::{Full, Slight};
        for (amount, scale) in [(Full, false), (Full, true), (Slight, false)] {
            let keep = Keep { scale, tuning: false };
            let (now, sounds) = sounds(amount, keep);
            let is_random = |id: &str| random_ids(keep).any(|random| random == id);
            for random in &sounds {
                assert_eq!(random.settings.validate(), Ok(()));
                assert_eq!(random.routing, now.routing);
                for spec in SPECS.iter().filter(|spec| !is_random(spec.id)) {
                    assert_eq!(spec.get(&random.settings), spec.get(&now.settings), "{}", spec.id);
                }
                let (was, is) = (&now.settings, &random.settings);
                assert_eq!((is.auto, is.lookahead, is.keys), (was.auto, was.lookahead, was.keys));
                assert_eq!((is.bands, is.custom, is.targets), (was.bands, was.custom, was.targets));
                assert!(!scale || loaded(is, was, keep) == *is, "the scale is kept");
            }
        }
    }

    #[test]
    fn full_sounds_span_the_ranges_and_slight_ones_stay_near() {
        let (now, full) = sounds(Amount::Full, Keep::default());
        let voices = full.iter().map(|sound| sound.settings.voice as usize);
        assert_eq!(voices.collect::<std::collections::BTreeSet<_>>().len(), 9);
        let params = ToneFilterParams::default();
        let (_, slight) = sounds(Amount::Slight, Keep::default());
        for id in random_ids(Keep { scale: true, ..Keep::default() }) {
            let control = params.control(id).unwrap();
            let range = |sounds: &[Controls]| {
                let values = sounds.iter().map(|sound| control.normalized(sound));
                values.fold([1f32, 0.0], |[min, max], x| [min.min(x), max.max(x)])
            };
            let [min, max] = range(&full);
            assert!(min < 0.1 && max > 0.9, "{id}: {min} to {max}");
            let ([min, max], at) = (range(&slight), control.normalized(&now));
            // At most a tenth of the range, and half a step of Octave, which has the fewest steps (4).
            assert!(at - min < 0.23 && max - at < 0.23, "{id}: {min} to {max}");
        }
        let voice = now.settings.voice;
        assert!(slight.iter().all(|sound| *sound != now && sound.settings.voice == voice));
    }
}
