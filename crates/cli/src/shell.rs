//! `tone-filter completions` and `tone-filter man`: shell completions and man pages.

use clap::{Arg, Command, CommandFactory, ValueHint, builder::PossibleValuesParser};
use clap_complete::Shell;
use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
};
use tone_filter_dsp::{CHOICES, Kernel};
use tone_filter_offline::{Fault, tracker::Chip};
use tone_filter_presets as presets;

/// Print the completions for a shell
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mkdir -p ~/.local/share/bash-completion/completions ~/.zfunc ~/.config/fish/completions
  tone-filter completions bash > ~/.local/share/bash-completion/completions/tone-filter
  tone-filter completions zsh > ~/.zfunc/_tone-filter
  tone-filter completions fish > ~/.config/fish/completions/tone-filter.fish")]
pub struct CompletionsArgs {
    shell: Shell,
}

/// Write the man pages of the command and its verbs into a folder
#[derive(clap::Args)]
#[command(after_help = "Example:
  tone-filter man ~/.local/share/man/man1")]
pub struct ManArgs {
    /// The folder, made if it is missing
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    folder: PathBuf,
}

pub fn completions<C: CommandFactory>(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut offering(C::command()), "tone-filter", &mut text);
    let mut text = String::from_utf8(text)?;
    if args.shell == Shell::Bash {
        // clap_complete 4.6.11 uses two different names for a program with a hyphen. Without this, bash never finds the flags
        // of its verbs.
        text = text.replace("tone__subcmd__filter", "tone__filter");
    }
    io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

/// Adds to `command` the values that shells may offer. Some flags accept others, too: `--preset` also takes a path.
fn offering(command: Command) -> Command {
    let offering_values = |arg: Arg| {
        let values: Vec<&'static str> = match arg.get_id().as_str() {
            "preset" => presets::ids().collect(),
            "kernel" | "kernels" => Kernel::NAMES.to_vec(),
            "chip" => Chip::ALL.map(Chip::id).to_vec(),
            id => match CHOICES.iter().find(|choice| choice.id == id) {
                Some(choice) => choice.entries.iter().map(|entry| entry.0).collect(),
                None => return arg,
            },
        };
        arg.value_parser(PossibleValuesParser::new(values))
    };
    command.mut_args(offering_values).mut_subcommands(offering)
}

pub fn man<C: CommandFactory>(args: &ManArgs) -> anyhow::Result<()> {
    let folder = &args.folder;
    fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(C::command(), folder))
        .map_err(|error| Fault::Write(error).at(folder))?;
    Ok(())
}
