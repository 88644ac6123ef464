//! Verb `presets`: lists, prints and exports presets.

use clap::{Subcommand, ValueHint};
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};
use tone_filter_offline::{Fault, Output};
use tone_filter_presets::{self as presets, Folder, Loaded, Preset};

/// List, show and export the sounds that come with the program
#[derive(clap::Args)]
#[command(after_help = "Examples:
  tone-filter presets list
  tone-filter presets export chord-pad my-pad.json
  tone-filter render song.wav -o pad.wav --preset my-pad.json")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Print the names for --preset and what each is for, your own included
    List,
    /// Print a preset as JSON
    Show {
        /// A name from the list, or a path to a .json file
        #[arg(value_name = "NAME|FILE")]
        preset: String,
    },
    /// Write a preset to a file, to make another one of it
    Export {
        /// A name from the list, or a path to a .json file
        #[arg(value_name = "NAME|FILE")]
        preset: String,
        /// The file to write
        #[arg(value_name = "OUT.json", value_hint = ValueHint::FilePath)]
        out: PathBuf,
        /// Overwrite the file if it exists
        #[arg(long)]
        force: bool,
    },
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    match &args.verb {
        Verb::List => {
            let mut stdout = io::stdout().lock();
            for (id, preset) in presets::ids().filter_map(|id| Some((id, Preset::factory(id)?))) {
                writeln!(stdout, "{id:16} {}", preset.description)?;
            }
            let Some(folder) = Folder::of_user() else { return Ok(()) };
            for name in folder.names() {
                let description = match folder.load(&name) {
                    Ok(loaded) => {
                        loaded.map(|loaded| loaded.preset.description).unwrap_or_default()
                    }
                    Err(error) => error.to_string(),
                };
                let name = crate::messages::escaped(&name);
                writeln!(stdout, "{name:16} {}", crate::messages::escaped(&description))?;
            }
        }
        Verb::Show { preset } => write!(io::stdout(), "{}", find(preset, false)?.to_json())?,
        Verb::Export { preset, out, force } => {
            let json = find(preset, false)?.to_json();
            let output = Output::create(out, Path::new(preset), *force)?;
            let written = output.file().write_all(json.as_bytes());
            written.map_err(|error| Fault::Write(error).at(out))?;
            output.commit()?;
        }
    }
    Ok(())
}

/// Returns the preset `name`. If it has a warning, prints this to standard error unless `quiet`.
///
/// # Errors
/// Errors of [`Preset::find`].
pub fn find(name: &str, quiet: bool) -> Result<Preset, presets::Error> {
    let Loaded { preset, warning } = Preset::find(name)?;
    if let Some(warning) = warning.filter(|_| !quiet) {
        message!("warning: {name}: {warning}");
    }
    Ok(preset)
}
