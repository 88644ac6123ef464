//! `render` with several presets, and outputs that are named after presets and inputs.

use super::{Usage, render::Args};
use std::path::Path;
use tone_filter_offline::container::Container;
use tone_filter_presets::Preset;

/// What stands for the preset's name in `--out` and `--suffix`.
const PRESET: &str = "{preset}";
/// What stands for the input's name, without its extension, in `--out`.
const NAME: &str = "{name}";

/// `args` for each of its presets, with the names in its outputs replaced.
///
/// # Errors
/// When one of several presets does not exist, when they would have the same outputs, or when a name stands where it cannot.
pub fn of(args: &Args) -> anyhow::Result<Vec<Args>> {
    let given = args.sound.preset.clone().unwrap_or_default();
    // A preset of the user's may have a comma in its name.
    let presets: Vec<&str> = match given.contains(',') && Preset::find(&given).is_err() {
        true => given.split(',').map(str::trim).collect(),
        false => vec![&given],
    };
    let out = args.out.as_deref().map(Path::to_string_lossy).unwrap_or_default();
    let suffix = args.suffix.as_deref().unwrap_or_default();
    if presets.len() > 1 && ![&out, suffix].iter().any(|text| text.contains(PRESET)) {
        let line =
            "several presets need {preset} in --out or --suffix, like -o 'out/{name}-{preset}.wav'";
        return Err(Usage(line.into()).into());
    }
    if presets.len() > 1 {
        presets.iter().try_for_each(|preset| Preset::find(preset).map(drop))?;
    }
    Ok(presets.iter().map(|preset| with_preset(args, preset)).collect::<Result<_, _>>()?)
}

fn with_preset(args: &Args, preset: &str) -> Result<Args, Usage> {
    let mut own = args.clone();
    own.sound.preset = args.sound.preset.as_ref().map(|_| preset.to_owned());
    let label = match preset {
        "" => "tone-filter".into(),
        path if path.ends_with(".json") => {
            Path::new(path).file_stem().unwrap_or_default().to_string_lossy()
        }
        name => name.into(),
    };
    own.suffix = own.suffix.map(|suffix| suffix.replace(PRESET, &label));
    let Some(out) = own.out.as_ref().and_then(|out| out.to_str()) else { return Ok(own) };
    let out = out.replace(PRESET, &label);
    let (folder, file) = out.rsplit_once(['/', std::path::MAIN_SEPARATOR]).unwrap_or((".", &out));
    if !out.contains(NAME) {
        own.out = Some(out.into());
        return Ok(own);
    }
    own.container = Container::of(Path::new(file));
    let end = own.container.map_or("", |container| container.extensions()[0]);
    let rest = file.strip_prefix(NAME).and_then(|rest| rest.strip_suffix(end));
    let suffix = rest.and_then(|rest| rest.strip_suffix('.'));
    let suffix = suffix.filter(|suffix| !suffix.contains(NAME) && !folder.contains(NAME));
    let (Some(suffix), None) = (suffix, &own.suffix) else {
        let line = format!(
            "--out {out}: {NAME} begins the name of a file that ends in .wav or .flac, without --suffix, like 'out/{NAME}-8bit.wav'"
        );
        return Err(Usage(line));
    };
    own.suffix = Some(suffix.to_owned());
    // With a separator at its end, it is a folder even for one file.
    own.out = Some(Path::new(folder).join(""));
    Ok(own)
}
