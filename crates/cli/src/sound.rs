//! Flags for the sound: a preset, and one flag per setting. A flag has priority over the preset.

use super::{
    Usage,
    entries::{entry, flag_name, or},
    presets::find,
};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueHint, value_parser};
use std::{
    ffi::OsString,
    ops::RangeInclusive,
    path::{Path, PathBuf},
    sync::Arc,
};
use tone_filter_dsp::{
    CHOICES, Choice, Controls, DEFAULT_TEMPO, Keys, Map, NoteValue, PitchClasses, SPECS, Scale,
    Settings, Spec, SyncTo, TEXTS, Taper, Text, TextOf, quantity,
};
use tone_filter_offline::score::{Drums, MidiFile, read_midi};
use tone_filter_presets as presets;

#[derive(Clone)]
pub struct Sound {
    /// Name of a preset, or path of its file.
    pub preset: Option<String>,
    /// Values of the flags for [`SPECS`]; `None` for flags that are not given.
    values: [Option<f32>; SPECS.len()],
    /// Indices of the entries that the flags for [`CHOICES`] name; `None` for flags that are not given.
    entries: [Option<usize>; CHOICES.len()],
    /// Texts of the flags for [`TEXTS`]; `None` for flags that are not given.
    texts: [Option<String>; TEXTS.len()],
    /// MIDI file that plays the keys (`--keys`).
    pub keys: Option<PathBuf>,
    /// Whether channel 10 of MIDI files, the drums, is played or left out.
    pub drums: Drums,
    pub tempo: Option<Tempo>,
}

/// Purpose for which a verb uses the sound flags. It decides which flags have an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Anything else, such as filtering, or a song of the voice Chip's register values.
    Filter,
    /// Plays a score, which may be a MIDI file with drums.
    PlayScore,
    /// Writes a MIDI file, which has a tempo.
    WriteMidi,
    /// Arranges the notes as a song in rows, which has a tempo.
    Arrange,
}

impl Task {
    /// Returns why the setting `id` has no effect on a song that [`Self::Arrange`] makes. Returns `None` if it has an effect,
    /// and for other tasks.
    fn idle(self, id: &str) -> Option<&'static str> {
        match (self, id) {
            (Self::Arrange, "voices") => Some("each part plays one note or chord at a time"),
            (Self::Arrange, "glide" | "vibrato") => Some("their pitches are exact"),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tempo {
    /// Beats per minute.
    Set(f64),
    /// Tempo that is detected in the music.
    Auto,
}

impl Tempo {
    /// Returns the beats per minute; `None` for [`Self::Auto`].
    pub fn set(self) -> Option<f64> {
        match self {
            Self::Set(tempo) => Some(tempo),
            Self::Auto => None,
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let tempo = number("tempo", text, "BPM", 10.0..=1000.0);
        tempo.map(Self::Set).map_err(|error| error + " or auto")
    }
}

impl Sound {
    /// Returns the settings for `task`, and the keys of the MIDI file. Starts from the preset, or else from `default`, and
    /// applies the flags for numbers. Then `adapt` adapts the settings to the verb. All other flags come later, so
    /// `--lookahead` has priority over `adapt`. Prints warnings unless `quiet`.
    ///
    /// # Errors
    /// If the preset or the MIDI file cannot be read, or a flag has no effect without another one.
    pub fn read(
        &self,
        task: Task,
        default: Controls,
        adapt: fn(Settings) -> Settings,
        quiet: bool,
    ) -> anyhow::Result<(Controls, Option<Arc<MidiFile>>)> {
        let preset = self.preset.as_ref().map(|name| find(name, quiet)).transpose()?;
        let mut controls = preset.map_or(default, |preset| preset.settings.into());
        let settings = &mut controls.settings;
        for (spec, value) in SPECS.iter().zip(self.values) {
            if let Some(value) = value {
                spec.set(settings, value);
            }
        }
        *settings = adapt(*settings);
        if self.keys.is_some() && settings.keys == Keys::Off {
            settings.keys = Keys::Hold;
        }
        for (choice, entry) in CHOICES.iter().zip(self.entries) {
            if let Some(entry) = entry {
                choice.set(&mut controls, entry);
            }
        }
        let settings = &mut controls.settings;
        for (text, value) in TEXTS.iter().zip(&self.texts) {
            if let Some(value) = value {
                text.set(settings, value).map_err(Usage)?;
            }
        }
        let given =
            |id| TEXTS.iter().zip(&self.texts).any(|(row, text)| row.id == id && text.is_some());
        let has_scale = settings.scale == Scale::Custom;
        let wrong = if given("custom") && !has_scale {
            "custom has no effect; add --scale custom"
        } else if has_scale && settings.custom == PitchClasses::ALL && !given("custom") {
            // Passes if the preset has chosen the notes, because `custom` is not `ALL` then.
            "scale = custom lets all notes sound; name yours with --custom"
        } else if given("targets") && settings.map != Map::Custom {
            "targets has no effect; add --map custom"
        } else if self.keys.is_some() && settings.keys == Keys::Off {
            "keys has no effect; leave out --key-mode off"
        } else if self.keys.is_none() && settings.keys != Keys::Off {
            "nothing plays the keys; name a MIDI file with --keys, or add --key-mode off"
        } else if self.drums == Drums::Kept && self.keys.is_none() && task != Task::PlayScore {
            "drums has no effect; name a MIDI file with --keys"
        } else if self.tempo.is_some()
            && settings.sync == NoteValue::OFF
            && !matches!(task, Task::WriteMidi | Task::Arrange)
        {
            "tempo has no effect; add --sync, like --sync 1/8"
        } else {
            let keys = self.keys.as_deref().map(|path| read_midi(path, self.drums)).transpose()?;
            if let (Some(path), Some(keys), false) = (&self.keys, &keys, quiet) {
                note_left_out(path, keys.left_out());
            }
            if !quiet {
                self.warn_of_idle(task, settings, adapt(*settings).lookahead);
            }
            match self.tempo {
                Some(Tempo::Auto) => settings.sync_to = SyncTo::Music,
                Some(Tempo::Set(tempo)) => {
                    *settings = Settings { sync_to: SyncTo::Host, ..*settings }.at_tempo(tempo);
                }
                None => {
                    let tempo = keys.as_ref().and_then(MidiFile::tempo);
                    *settings = settings.at_tempo(tempo.unwrap_or(DEFAULT_TEMPO));
                }
            }
            return Ok((controls, keys.map(Arc::new)));
        };
        Err(Usage(wrong.into()).into())
    }

    /// Warns of flags that have no effect with `settings`. `looks_ahead` says whether the verb uses lookahead. If so, flags of
    /// the listener have an effect at any focus, because `bands` outputs the detected notes. In an arrangement, `--arp` always
    /// has an effect.
    fn warn_of_idle(&self, task: Task, settings: &Settings, looks_ahead: bool) {
        let numbers = SPECS.iter().zip(self.values).filter(|(_, value)| value.is_some());
        let choices = CHOICES.iter().zip(self.entries).filter(|(_, entry)| entry.is_some());
        let ids = numbers.map(|(spec, _)| spec.id).chain(choices.map(|(choice, _)| choice.id));
        let is_heard = |id| match id {
            "sensitivity" | "lookahead" | "listener" => looks_ahead,
            "arp" => task == Task::Arrange,
            _ => false,
        };
        for id in ids {
            if let Some(reason) = task.idle(id) {
                message!("warning: --{id} has no effect on the notes of the song: {reason}");
            } else if let Some(reason) = settings.idle(id).filter(|_| !is_heard(id)) {
                message!("warning: --{id} has no effect: {reason}");
            }
        }
    }

    /// Adds the flags to `command`, except for the settings in `left_out`. The help texts show the values of `default`.
    pub fn add_flags(command: Command, default: &Controls, left_out: &[&str]) -> Command {
        let presets = presets::ids().collect::<Vec<_>>().join(", ");
        command
            .next_help_heading("Sound")
            .arg(Arg::new("preset").long("preset").value_name("NAME|FILE").help(format!(
                "Preset to start from: {presets}, or a path to a .json file; for render, several with commas"
            )))
            .args(SPECS.iter().filter(|spec| !left_out.contains(&spec.id)).map(|spec| flag(spec, default)))
            .args(
                CHOICES
                    .iter()
                    .filter(|choice| has_flag(choice) && !left_out.contains(&choice.id))
                    .map(|choice| choice_flag(choice, default)),
            )
            .arg(
                Arg::new("keys-file")
                    .long("keys")
                    .value_name("FILE.mid")
                    .value_hint(ValueHint::FilePath)
                    .value_parser(value_parser!(PathBuf))
                    .help("A MIDI file whose notes choose the bands while they are held, by --key-mode"),
            )
            .arg(
                Arg::new("drums")
                    .long("drums")
                    .action(ArgAction::SetTrue)
                    .help("Keeps channel 10 of MIDI files, which has drums, not pitches"),
            )
            .arg(
                Arg::new("tempo")
                    .long("tempo")
                    .value_name("BPM")
                    .value_parser(Tempo::parse)
                    .help("The tempo that --sync counts by, or auto, which finds it in the music [10 to 1000 BPM, default that of --keys, or 120]"),
            )
            .args(TEXTS.iter().map(text_flag))
    }
}

impl Args for Sound {
    fn augment_args(command: Command) -> Command {
        Self::add_flags(command, &Controls::default(), &[])
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Prints which content of the MIDI file `path` is left out, if any.
pub fn note_left_out(path: &Path, left_out: Option<&str>) {
    if let Some(part) = left_out {
        message!("note: {}: left out {part}", path.display());
    }
}

/// Parses a number in `unit` for the flag `id`, and checks its range.
pub fn number(id: &str, text: &str, unit: &str, range: RangeInclusive<f64>) -> Result<f64, String> {
    let number = quantity(text, unit);
    number.filter(|number| range.contains(number)).ok_or_else(|| {
        let wrong = match number {
            Some(_) => "out of range".into(),
            None => format!("not a number in {unit}"),
        };
        let (min, max) = range.into_inner();
        format!("{id} = {text:?} is {wrong}; use {min} to {max} {unit}")
    })
}

/// Returns whether `choice` has a flag. Choices about a host or a sidechain have none; the bypass is an exception.
fn has_flag(choice: &&Choice) -> bool {
    // `sync-to` has no flag, because `--tempo auto` sets it.
    !choice.is_routing() && choice.id != "sync-to" || choice.id == "bypass"
}

/// Returns `settings` with lookahead, the default for files. At a focus of 0 %, lookahead would change nothing, and is off.
pub fn ahead_in_files(settings: Settings) -> Settings {
    Settings { lookahead: settings.focus > 0.0, ..settings }
}

/// Returns `settings` without lookahead, for sound that plays live.
pub fn live(settings: Settings) -> Settings {
    Settings { lookahead: false, ..settings }
}

/// Returns a hint if a switch is followed by its state without `=`, as in `--auto off`. The parser would take the state for an
/// input file.
pub fn hint_for_loose_state(args: &[OsString]) -> Option<String> {
    args.windows(2).find_map(|pair| {
        let (flag, state) = (pair[0].to_str()?, pair[1].to_str()?);
        let id = flag.strip_prefix("--")?;
        let switch = CHOICES.iter().find(|choice| choice.is_switch() && choice.id == id)?;
        let is_state = entry(switch, state).is_ok() && !Path::new(state).exists();
        is_state
            .then(|| format!("{flag} {state} names a file called {state}; write {flag}={state}"))
    })
}

fn choice_flag(choice: &'static Choice, default: &Controls) -> Arg {
    let ids: Vec<&str> = choice.entries.iter().map(|entry| entry.0).collect();
    let default = match choice.id {
        "lookahead" => "on",
        "keys" => "hold with --keys",
        _ => ids[choice.get(default)],
    };
    let flag = Arg::new(choice.id)
        .long(flag_name(choice))
        .value_parser(move |text: &str| entry(choice, text))
        .help(format!("{} [{}, default {default}]", choice.help, or(&ids)));
    if choice.is_switch() {
        flag.value_name("STATE").num_args(0..=1).require_equals(true).default_missing_value("on")
    } else {
        flag.value_name(choice.name)
    }
}

fn flag(spec: &'static Spec, default: &Controls) -> Arg {
    let range = format!("{} to {} {}", spec.min, spec.max, spec.unit);
    let whole = if spec.taper == Taper::Whole { "whole numbers, " } else { "" };
    let default = spec.format(spec.get(&default.settings));
    let help = format!("{} [{whole}{range}, default {default}]", spec.help);
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

fn text_flag(text: &'static Text) -> Arg {
    let value_name = match text.of {
        TextOf::Switches(_) => "SWITCHES",
        TextOf::Notes(_) => "NOTES",
    };
    let parse = move |value: &str| {
        let checked = text.set(&mut Settings::default(), value);
        checked.map(|()| value.to_owned()).map_err(|error| format!("{} = {error}", text.id))
    };
    let help = format!("{} [{}]", text.help, text.of);
    Arg::new(text.id).long(text.id).value_name(value_name).value_parser(parse).help(help)
}

/// Returns the value of the flag `id`; `None` if it was not given or does not exist.
fn given<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, id: &str) -> Option<T> {
    matches.try_get_one(id).ok().flatten().cloned()
}

impl FromArgMatches for Sound {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self {
            preset: matches.get_one("preset").cloned(),
            // Some flags may be missing, because the verb does not have them.
            values: SPECS.each_ref().map(|spec| given(matches, spec.id)),
            entries: CHOICES.each_ref().map(|choice| given(matches, choice.id)),
            texts: TEXTS.each_ref().map(|text| given(matches, text.id)),
            keys: matches.get_one("keys-file").cloned(),
            drums: if matches.get_flag("drums") { Drums::Kept } else { Drums::LeftOut },
            tempo: matches.get_one("tempo").copied(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the controls that `flags` set.
    fn controls(flags: &[&str]) -> Controls {
        let command = Sound::augment_args(Command::new("").no_binary_name(true));
        let sound = Sound::from_arg_matches(&command.get_matches_from(flags)).unwrap();
        sound.read(Task::Filter, Controls::default(), |settings| settings, true).unwrap().0
    }

    #[test]
    fn every_flag_sets_its_setting() {
        for (spec, place) in SPECS.iter().flat_map(|spec| [(spec, 0.15), (spec, 0.7)]) {
            let mut expected = Controls::default();
            let value = spec.min + place * (spec.max - spec.min);
            spec.set(&mut expected.settings, value);
            expected.settings = expected.settings.at_tempo(DEFAULT_TEMPO);
            assert_eq!(controls(&[&format!("--{}={value}", spec.id)]), expected);
        }
        // Leaves out `--key-mode`, which needs a MIDI file. A custom scale needs `--custom`, too.
        for choice in CHOICES.iter().filter(|choice| has_flag(choice) && choice.id != "keys") {
            for (index, (entry, ..)) in choice.entries.iter().enumerate() {
                let flag = format!("--{}={entry}", flag_name(choice));
                let mut flags = vec![flag.as_str()];
                let mut expected = Controls::default();
                choice.set(&mut expected, index);
                if flag == "--scale=custom" {
                    flags.push("--custom=100000010000");
                    expected.settings.custom = "100000010000".parse().unwrap();
                }
                expected.settings = expected.settings.at_tempo(DEFAULT_TEMPO);
                assert_eq!(controls(&flags), expected, "{flags:?}");
            }
        }
        let synced = Settings { sync: "1/4".to_owned().try_into().unwrap(), ..Settings::default() };
        for (tempo, expected) in [
            ("90.5BPM", Settings { sync_to: SyncTo::Host, ..synced }.at_tempo(90.5)),
            ("auto", Settings { sync_to: SyncTo::Music, ..synced }),
        ] {
            assert_eq!(controls(&["--sync=1/4", "--tempo", tempo]).settings, expected);
        }
        for (id, text, choice) in [
            ("bands", "000000000000100000000000000000000000000000000000", "--auto"),
            ("custom", "100000010000", "--scale=custom"),
            ("targets", "C C C C C C E E E E E A#", "--map=custom"),
        ] {
            let row = TEXTS.iter().find(|row| row.id == id).unwrap();
            let set = controls(&[choice, &format!("--{id}={text}")]).settings;
            let mut expected = set;
            row.set(&mut expected, text).unwrap();
            assert_eq!(set, expected, "{id}");
            assert_ne!(set, controls(&["--auto"]).settings, "{id}");
        }
    }
}
