//! The flags that make a sound: a preset, and one flag for every setting, which wins over it.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use tone_filter::{
    dsp::{SPECS, Settings, Spec, Stereo},
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
}

impl Sound {
    /// The preset, or else the reference sound, with every flag applied.
    ///
    /// # Errors
    /// When there is no such preset.
    pub fn settings(&self) -> Result<Settings, presets::Error> {
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
        Ok(settings)
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
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
