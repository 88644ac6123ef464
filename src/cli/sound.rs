//! The flags that make a sound: a preset, and one flag for every setting, which wins over it.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, builder::PossibleValuesParser};
use tone_filter::{
    dsp::{SPECS, Settings, Spec, Stereo},
    presets::{self, Preset},
};

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
                    .value_parser(PossibleValuesParser::new(["mono", "stereo"]))
                    .hide_possible_values(true)
                    .help(
                        "Listen to the mean of all channels, or to left and right apart \
                         [mono or stereo, default mono]",
                    ),
            )
            .arg(
                Arg::new("bypass")
                    .long("bypass")
                    .value_name("ON|OFF")
                    .num_args(0..=1)
                    .require_equals(true)
                    .default_missing_value("on")
                    .value_parser(PossibleValuesParser::new(["on", "off"]))
                    .hide_possible_values(true)
                    .help("Let the input through untouched [default off]"),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
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
        let text = |id: &str| matches.get_one::<String>(id).map(String::as_str);
        Ok(Self {
            preset: text("preset").map(str::to_owned),
            values: std::array::from_fn(|index| matches.get_one(SPECS[index].id).copied()),
            stereo: text("stereo").map(|banks| match banks {
                "stereo" => Stereo::Stereo,
                _ => Stereo::Mono,
            }),
            bypass: text("bypass").map(|state| state == "on"),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
