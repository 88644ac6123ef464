//! `tone-filter completions` and `tone-filter man`: what shells and `man` want to know.

use clap::{CommandFactory, ValueHint};
use clap_complete::Shell;
use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
};
use tone_filter::offline::Error;

/// Print the completions for a shell
#[derive(clap::Args)]
#[command(after_help = "Examples:
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

/// Prints completions.
pub fn completions<C: CommandFactory>(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut C::command(), "tone-filter", &mut text);
    io::stdout().write_all(&text)?;
    Ok(())
}

/// Writes man pages.
pub fn man<C: CommandFactory>(args: &ManArgs) -> anyhow::Result<()> {
    let folder = &args.folder;
    fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(C::command(), folder))
        .map_err(|source| Error::Write { path: folder.clone(), source })?;
    Ok(())
}
