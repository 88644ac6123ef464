//! Names of the outputs of `render`, made from the names of inputs and presets.

use super::Usage;
use clap::ValueHint;
use std::{
    borrow::Cow,
    path::{MAIN_SEPARATOR, Path, PathBuf},
};
use tone_filter_offline::{batch::EXT, container::Container};
use tone_filter_presets::file_name;

/// Placeholder for the preset's name in `--out` and `--suffix`.
const PRESET: &str = "{preset}";
/// Placeholder for the input's name, without its extension, in `--out`.
const NAME: &str = "{name}";

/// Flags that name the outputs.
#[derive(Clone, clap::Args)]
pub struct Outputs {
    /// The WAV or FLAC file to write, or the folder for all of them, or - for WAV on standard output; {name}, {ext} and
    /// {preset} stand for the input's name, its extension and the preset's name
    #[arg(short, long = "out", value_name = "OUT", value_hint = ValueHint::AnyPath)]
    pub out: Option<PathBuf>,
    /// Text to add to the names of outputs; without --out, they are written beside their inputs
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = suffix)]
    pub suffix: Option<String>,
    /// Container that the pattern in `--out` names by its extension; `None` if `--out` is no pattern.
    #[arg(skip)]
    container: Option<Container>,
    /// Whether `--out` or `--suffix` contained [`PRESET`], which the preset's name has replaced.
    #[arg(skip)]
    pub named_after_preset: bool,
}

fn suffix(text: &str) -> Result<String, String> {
    match text {
        "" => Err("suffix is empty; give some letters".into()),
        _ if text.contains(std::path::is_separator) => {
            Err(format!("suffix = {text:?} has a path separator; use --out for folders"))
        }
        _ => Ok(text.into()),
    }
}

impl Outputs {
    pub fn are_missing(&self) -> bool {
        self.out.is_none() && self.suffix.is_none()
    }

    pub fn container(&self) -> Container {
        let named = || Container::of(self.out.as_deref()?);
        self.container.or_else(named).unwrap_or_default()
    }

    /// Checks that the outputs of each preset have names of their own.
    ///
    /// # Errors
    /// If several presets would have the same outputs.
    pub fn check_for_several_presets(&self, presets: &[&str]) -> Result<(), Usage> {
        let mut labels: Vec<String> =
            presets.iter().map(|preset| label(preset).to_lowercase()).collect();
        labels.sort_unstable();
        if let Some(same) = labels.windows(2).find(|pair| pair[0] == pair[1]) {
            let line = format!("two presets are called {}; give one of them alone", same[0]);
            return Err(Usage(line));
        }
        if self.have_preset() {
            return Ok(());
        }
        let line =
            "several presets need {preset} in --out or --suffix, like -o 'out/{name}-{preset}.wav'";
        Err(Usage(line.into()))
    }

    fn have_preset(&self) -> bool {
        let out = self.out.as_deref().map(Path::to_string_lossy).unwrap_or_default();
        [&out, self.suffix.as_deref().unwrap_or_default()].iter().any(|text| text.contains(PRESET))
    }

    /// Returns the outputs for `preset`: its name replaces [`PRESET`]. Splits a pattern in `--out` into folder and suffix.
    ///
    /// # Errors
    /// If `--out` contains [`NAME`], but not at the start of a WAV or FLAC file's name, or together with a `--suffix`; and if it
    /// contains [`EXT`] elsewhere than after [`NAME`].
    pub fn named_after(&self, preset: &str) -> Result<Self, Usage> {
        let mut named = self.clone();
        let label = label(preset);
        named.named_after_preset = self.have_preset();
        named.suffix = named.suffix.map(|suffix| suffix.replace(PRESET, &label));
        let Some(out) = named.out.as_ref().and_then(|out| out.to_str()) else { return Ok(named) };
        let out = out.replace(PRESET, &label);
        let (folder, file) = out.rsplit_once(['/', MAIN_SEPARATOR]).unwrap_or((".", &out));
        if !out.contains(NAME) && !out.contains(EXT) {
            named.out = Some(out.into());
            return Ok(named);
        }
        named.container = Container::of(Path::new(file));
        let end = named.container.map_or("", |container| container.extensions()[0]);
        let rest = file.strip_prefix(NAME).and_then(|rest| rest.strip_suffix(end));
        let suffix = rest.and_then(|rest| rest.strip_suffix('.'));
        let in_folder = folder.contains(NAME) || folder.contains(EXT);
        let suffix = suffix.filter(|suffix| !suffix.contains(NAME) && !in_folder);
        let (Some(suffix), None) = (suffix, &named.suffix) else {
            let line = format!(
                "--out {out}: {NAME} begins the name of a file that ends in .wav or .flac, without --suffix, like 'out/{NAME}-8bit.wav'; {EXT} comes after it"
            );
            return Err(Usage(line));
        };
        named.suffix = Some(suffix.to_owned());
        // A trailing separator marks the path as a folder, even for one file.
        named.out = Some(Path::new(folder).join(""));
        Ok(named)
    }
}

/// Returns the text that replaces [`PRESET`]: the preset's name, as that of a file. A path is reduced to the name of the file,
/// without its extension.
fn label(preset: &str) -> Cow<'_, str> {
    match preset {
        "" => "tone-filter".into(),
        path if path.ends_with(".json") => {
            Path::new(path).file_stem().unwrap_or_default().to_string_lossy()
        }
        name => file_name(name).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(out: &str, suffix: Option<&str>) -> Outputs {
        let suffix = suffix.map(Into::into);
        Outputs { out: Some(out.into()), suffix, container: None, named_after_preset: false }
    }

    #[test]
    fn placeholders_become_folder_and_suffix() {
        for (out, preset, folder, suffix, container) in [
            ("{name}-{preset}.wav", "", "./", Some("-tone-filter"), Container::Wav),
            ("{name}-{preset}.wav", "organ", "./", Some("-organ"), Container::Wav),
            ("{name}-{preset}.wav", "AC/DC", "./", Some("-AC_DC"), Container::Wav),
            ("{name}-{preset}.wav", "my/own.json", "./", Some("-own"), Container::Wav),
            ("out/{name}.flac", "organ", "out/", Some(""), Container::Flac),
            ("by/{preset}", "organ", "by/organ", None, Container::Wav),
            ("plain.flac", "organ", "plain.flac", None, Container::Flac),
        ] {
            let named = outputs(out, None).named_after(preset).unwrap();
            let made = (named.out.as_deref(), named.suffix.as_deref(), named.container());
            assert_eq!(made, (Some(Path::new(folder)), suffix, container));
            assert_eq!(named.named_after_preset, out.contains(PRESET));
        }
    }

    #[test]
    fn names_that_contradict_themselves_are_refused() {
        for (out, suffix) in [
            ("x-{name}.wav", None),
            ("{name}/x.wav", None),
            ("{name}.mp3", None),
            ("{name}.wav", Some("x")),
            ("{ext}/{name}.wav", None),
            ("{ext}/", None),
        ] {
            let error = outputs(out, suffix).named_after("organ").err().unwrap().to_string();
            let reason = "{name} begins the name of a file that ends in .wav or .flac";
            assert!(error.contains(reason), "{error}");
        }
        let refused = |out, presets: &[&str]| {
            let checked = outputs(out, None).check_for_several_presets(presets);
            checked.unwrap_err().to_string()
        };
        let error = refused("{preset}.wav", &["organ", "Organ"]);
        assert_eq!(error, "two presets are called organ; give one of them alone");
        let error = refused("out.wav", &["organ", "arcade"]);
        assert!(error.starts_with("several presets need {preset} in --out or --suffix"), "{error}");
    }
}
