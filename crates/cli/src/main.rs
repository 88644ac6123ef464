//! Program `tone-filter`. Each verb has a module of its name, but `app` is in `optional`, `completions` and `man` in `shell`.

#[macro_use]
mod messages;

mod bands;
mod bench;
mod chip;
#[cfg(test)]
mod cli_page;
mod entries;
mod inputs;
mod optional;
mod outputs;
#[cfg(feature = "play")]
mod play;
mod presets;
mod progress;
mod render;
mod report;
mod shell;
mod sound;

use clap::{
    Parser, Subcommand,
    error::{ContextKind, ContextValue, ErrorKind},
};
use std::{
    error::Error as _,
    ffi::OsString,
    io::{self, IsTerminal},
    panic,
    path::Path,
    process::ExitCode,
};
use tone_filter_dsp::Kernel;
use tone_filter_offline::{Error, Fault, STDIO, batch, is_decoding};

/// Picks the notes out of any music and gives them an 8-bit edge.
#[derive(Parser)]
#[command(
    name = "tone-filter",
    version,
    after_help = "Exit codes: 0 all fine, 1 a file failed, 2 wrong usage, 130 interrupted."
)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Render(render::Args),
    Bands(bands::Args),
    Chip(chip::Args),
    #[cfg(feature = "play")]
    Play(play::Args),
    #[cfg(not(feature = "play"))]
    Play(optional::Missing),
    #[cfg(feature = "app")]
    App(optional::App),
    #[cfg(not(feature = "app"))]
    App(optional::Missing),
    Bench(bench::Args),
    Presets(presets::Args),
    Completions(shell::CompletionsArgs),
    Man(shell::ManArgs),
}

const FILE_FAILED: u8 = 1;
const WRONG_USAGE: u8 = 2;

/// Error in the command line, with its message; the exit code is 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// Returns an error if `out` is standard output, and this is a terminal: the output is binary.
pub fn refuse_terminal(out: &Path) -> Result<(), Usage> {
    if out == Path::new(STDIO) && io::stdout().is_terminal() {
        let line = "- is the terminal, and the output is binary; name a file, or pipe it on";
        return Err(Usage(line.into()));
    }
    Ok(())
}

/// Returns the kernel that a flag has `named`, or else the one in the environment, or else the fastest one.
pub fn kernel(named: Option<Kernel>) -> Kernel {
    named.or_else(|| Kernel::from_environment().ok()).unwrap_or_else(Kernel::best)
}

/// Suppresses the messages of panics in decoders. The library turns such a panic into an error, which is printed.
fn silence_decoders() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if !is_decoding() {
            print(panic);
        }
    }));
}

fn main() -> ExitCode {
    silence_decoders();
    let args: Vec<OsString> = std::env::args_os().collect();
    let hint = sound::hint_for_loose_state(&args)
        .or_else(|| hyphenated_output(&args))
        .or_else(|| chip::hint_for_left_out(&args));
    if let Some(hint) = hint {
        message!("error: {hint}");
        return ExitCode::from(WRONG_USAGE);
    }
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    if let Err(error) = Kernel::from_environment() {
        message!("error: {}: {error}", Kernel::VARIABLE);
        return ExitCode::from(WRONG_USAGE);
    }
    let done = match cli.verb {
        Verb::Render(args) => render::run(&args),
        Verb::Bands(args) => bands::run(&args),
        Verb::Chip(args) => chip::run(&args).map(|()| true),
        #[cfg(feature = "play")]
        Verb::Play(args) => play::run(&args).map(|()| true),
        #[cfg(not(feature = "play"))]
        Verb::Play(_) => Err(optional::refused("play")),
        #[cfg(feature = "app")]
        Verb::App(args) => Ok(args.run()),
        #[cfg(not(feature = "app"))]
        Verb::App(_) => Err(optional::refused("app")),
        Verb::Bench(args) => bench::run(&args).map(|()| true),
        Verb::Presets(args) => presets::run(&args).map(|()| true),
        Verb::Completions(args) => shell::completions::<Cli>(&args).map(|()| true),
        Verb::Man(args) => shell::man::<Cli>(&args).map(|()| true),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(FILE_FAILED),
        // The reader of standard output has closed the pipe.
        Err(error) if error.downcast_ref().is_some_and(is_broken_pipe) => ExitCode::SUCCESS,
        Err(error) => {
            message!("error: {error}");
            let wrong_usage = error.is::<Usage>()
                || error.is::<tone_filter_presets::Error>()
                || error.is::<batch::Refused>()
                || matches!(error.downcast_ref(), Some(Error { fault: Fault::OverInput, .. }));
            ExitCode::from(if wrong_usage { WRONG_USAGE } else { FILE_FAILED })
        }
    }
}

fn is_broken_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

/// Returns a hint if `-o` or `--out` is followed by a file name that begins with a hyphen, as in `-o -x.wav`.
fn hyphenated_output(args: &[OsString]) -> Option<String> {
    args.windows(2).find_map(|pair| {
        let (flag, name) = (pair[0].to_str()?, pair[1].to_str()?);
        let is_name = matches!(flag, "-o" | "--out") && name.starts_with('-') && name.contains('.');
        is_name.then(|| format!("{flag} {name}: {name} looks like a flag; write ./{name}"))
    })
}

/// Prints the parser's help or error, and returns the exit code. For an invalid value, prints only the reason. For a file in
/// place of a verb, prints a hint.
fn refuse(error: &clap::Error) -> ExitCode {
    if let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand)
        && Path::new(name).exists()
    {
        message!("error: {name}: a verb comes first; to filter a file, write render {name} -o OUT");
        return ExitCode::from(WRONG_USAGE);
    }
    match error.source() {
        Some(reason) if error.kind() == ErrorKind::ValueValidation => message!("error: {reason}"),
        _ => match error.print() {
            Err(unprinted) if !is_broken_pipe(&unprinted) => {
                message!("error: {unprinted}");
                return ExitCode::from(FILE_FAILED);
            }
            _ => {}
        },
    }
    ExitCode::from(error.exit_code() as u8)
}
