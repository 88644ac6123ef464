//! The flags that make a sound: a preset, and one flag for every setting, which wins over it.

use super::Usage;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use std::str::FromStr;
use tone_filter::{
    dsp::{BandMask, PitchClass, PitchClasses, SPECS, Scale, Settings, Spec, Stereo},
    presets::{self, Preset},
};

const STEREO: [(&str, Stereo); 2] = [("mono", Stereo::Mono), ("stereo", Stereo::Stereo)];
const BYPASS: [(&str, bool); 2] = [("on", true), ("off", false)];

/// What was given of the sound.
pub struct Sound {
    preset: Option<String>,
    /// One a row of [`SPECS`].
    values: [Option<f32>; SPECS.len()],
    stereo: Option<Stereo>,
    bypass: Option<bool>,
    bands: Option<BandMask>,
    root: Option<PitchClass>,
    scale: Option<Scale>,
    custom: Option<PitchClasses>,
}

impl Sound {
    /// The preset, or else the reference sound, with every flag applied.
    ///
    /// # Errors
    /// When there is no such preset, or when a scale of one's own and its notes are not there together.
    pub fn settings(&self) -> anyhow::Result<Settings> {
        let mut settings = match &self.preset {
            Some(name) => Preset::find(name)?.settings,
            None => Settings::default(),
        };
        for (spec, value) in SPECS.iter().zip(self.values) {
            if let Some(value) = value {
                spec.set(&mut settings, value);
            }
        }
        settings.stereo = self.stereo.unwrap_or(settings.stereo);
        settings.bypass = self.bypass.unwrap_or(settings.bypass);
        settings.bands = self.bands.unwrap_or(settings.bands);
        settings.root = self.root.unwrap_or(settings.root);
        settings.scale = self.scale.unwrap_or(settings.scale);
        settings.custom = self.custom.unwrap_or(settings.custom);
        let wrong = match (settings.scale == Scale::Custom, self.custom) {
            (false, Some(_)) => "custom has no effect; add --scale custom",
            // Of a preset, or none.
            (true, None) if settings.custom == PitchClasses::ALL => {
                "scale = custom lets all notes sound; name yours with --custom"
            }
            _ => return Ok(settings),
        };
        Err(Usage(wrong.into()).into())
    }
}

impl Args for Sound {
    fn augment_args(command: Command) -> Command {
        let presets = presets::ids().collect::<Vec<_>>().join(", ");
        command
            .next_help_heading("Sound")
            .arg(Arg::new("preset").long("preset").value_name("NAME|FILE").help(format!(
                "Where the settings start from: {presets}, or a path to a .json file"
            )))
            .args(SPECS.iter().map(flag))
            .arg(
                Arg::new("stereo")
                    .long("stereo")
                    .value_name("BANKS")
                    .value_parser(choice("stereo", STEREO))
                    .help(
                        "Listen to the mean of all channels, or to left and right apart \
                         [mono or stereo, default mono]",
                    ),
            )
            .arg(
                Arg::new("bypass")
                    .long("bypass")
                    .value_name("STATE")
                    .num_args(0..=1)
                    .require_equals(true)
                    .default_missing_value("on")
                    .value_parser(choice("bypass", BYPASS))
                    .help("Let the input through untouched [on or off, default off]"),
            )
            .arg(Arg::new("scale").long("scale").value_name("SCALE").value_parser(scale).help(
                format!(
                    "Let only the notes of a scale sound [{}, default chromatic]",
                    Scale::ALL.map(scale_name).join(", ")
                ),
            ))
            .arg(
                Arg::new("root")
                    .long("root")
                    .value_name("NOTE")
                    .value_parser(parsed::<PitchClass>("root"))
                    .help("The note that the scale starts from [A, A# or Bb, B ... G#, default A]"),
            )
            .arg(
                Arg::new("custom")
                    .long("custom")
                    .value_name("SWITCHES")
                    .value_parser(parsed::<PitchClasses>("custom"))
                    .help("The notes of --scale custom: 1 or 0 for each of the 12 from A to G#"),
            )
            .arg(
                Arg::new("bands")
                    .long("bands")
                    .value_name("SWITCHES")
                    .value_parser(parsed::<BandMask>("bands"))
                    .help("The bands that may sound: 1 or 0 for each of the 48 from A3 to G#7"),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Reads one of two words.
fn choice<T: Copy>(
    id: &'static str,
    choices: [(&'static str, T); 2],
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| match choices.iter().find(|(word, _)| *word == text) {
        Some((_, value)) => Ok(*value),
        None => {
            let [(one, _), (other, _)] = choices;
            Err(format!("{id} = {text:?} is unknown; use {one} or {other}"))
        }
    }
}

/// Reads what says itself what is wrong with it.
fn parsed<T: FromStr<Err: ToString>>(
    id: &'static str,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| text.parse().map_err(|error: T::Err| format!("{id} = {}", error.to_string()))
}

/// The name that a scale has in presets.
fn scale_name(scale: Scale) -> String {
    match serde_json::to_value(scale) {
        Ok(serde_json::Value::String(name)) => name,
        other => unreachable!("a scale is written as its name, not as {other:?}"),
    }
}

/// Reads the name of a scale, also with blanks and capitals, as the plugin has it.
fn scale(text: &str) -> Result<Scale, String> {
    let wanted = text.to_lowercase().replace(' ', "-");
    let found = Scale::ALL.into_iter().find(|scale| scale_name(*scale) == wanted);
    found.ok_or_else(|| {
        let names = Scale::ALL.map(scale_name);
        let near: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| name.contains(&wanted)).collect();
        match &near[..] {
            [first @ .., last] if !wanted.is_empty() && !first.is_empty() => {
                format!("scale = {text:?} is several; use {} or {last}", first.join(", "))
            }
            [only] if !wanted.is_empty() => {
                format!("scale = {text:?} is unknown; did you mean {only}?")
            }
            _ => format!("scale = {text:?} is unknown; use one of {}", names.join(", ")),
        }
    })
}

/// The flag of one setting, from the table that all settings come from.
fn flag(spec: &'static Spec) -> Arg {
    let range = format!("{} to {} {}", spec.min, spec.max, spec.unit);
    let help = format!("{} [{range}, default {}]", spec.help, spec.format(spec.default));
    let parse = move |text: &str| {
        let value = spec.parse(text).ok_or_else(|| {
            format!("{} = {text:?} is not a number in {}; use {range}", spec.id, spec.unit)
        })?;
        spec.check(value).map_err(|error| error.to_string())?;
        Ok::<f32, String>(value)
    };
    Arg::new(spec.id)
        .long(spec.id)
        .value_name(spec.unit)
        .allow_hyphen_values(true)
        .value_parser(parse)
        .help(help)
}

impl FromArgMatches for Sound {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self {
            preset: matches.get_one("preset").cloned(),
            values: std::array::from_fn(|index| matches.get_one(SPECS[index].id).copied()),
            stereo: matches.get_one("stereo").copied(),
            bypass: matches.get_one("bypass").copied(),
            bands: matches.get_one("bands").copied(),
            root: matches.get_one("root").copied(),
            scale: matches.get_one("scale").copied(),
            custom: matches.get_one("custom").copied(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
