//! The command `tone-filter`, with one file per verb.

/// Prints a line to standard error, with control characters escaped, and without the system's numbers of errors.
macro_rules! message {
    ($($words:tt)*) => {
        eprintln!("{}", crate::escaped(&crate::without_codes(&crate::closed::in_words(&format!($($words)*)))))
    };
}

#[cfg(not(feature = "app"))]
mod absent;
#[cfg(feature = "app")]
mod app;
mod bands;
mod bench;
mod chip;
mod closed;
mod entries;
mod inputs;
mod outputs;
#[cfg(all(test, unix))]
mod pages;
#[cfg(feature = "play")]
mod play;
mod presets;
mod progress;
#[cfg(test)]
mod reference;
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
use tone_filter_offline::{Error, STDIO, batch, is_decoding};

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
    Play(absent::Args),
    #[cfg(feature = "app")]
    App(app::Args),
    #[cfg(not(feature = "app"))]
    App(absent::Args),
    Bench(bench::Args),
    Presets(presets::Args),
    Completions(shell::CompletionsArgs),
    Man(shell::ManArgs),
}

/// Usage error: flags that contradict each other.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

/// Refuses to write binary data to a terminal.
fn refuse_terminal(out: &Path) -> Result<(), Usage> {
    if out == Path::new(STDIO) && io::stdout().is_terminal() {
        let line = "- is the terminal, and the output is binary; name a file, or pipe it on";
        return Err(Usage(line.into()));
    }
    Ok(())
}

/// Returns `text` without the system's numbers of errors, like ` (os error 2)`, which stand behind their descriptions.
fn without_codes(text: &str) -> String {
    const START: &str = " (os error ";
    let mut parts = text.split(START);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_once(')') {
        Some((code, rest)) if code.parse::<i32>().is_ok() => text + rest,
        _ => text + START + part,
    })
}

/// Returns `text` with control characters escaped, like `\u{1b}`.
fn escaped(text: &str) -> String {
    let one = |letter: char| match letter.is_control() {
        true => letter.escape_unicode().to_string(),
        false => letter.into(),
    };
    text.chars().map(one).collect()
}

const FILE_FAILED: u8 = 1;
const WRONG_USAGE: u8 = 2;

/// Returns the kernel named by a flag, else by the environment, else the fastest one.
fn kernel(named: Option<Kernel>) -> Kernel {
    named.or_else(|| Kernel::from_environment().ok()).unwrap_or_else(Kernel::best)
}

/// Hides the messages of panics in decoders: such a panic becomes an error, which is printed.
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
        Verb::Play(_) => Err(absent::refused("play")),
        #[cfg(feature = "app")]
        Verb::App(args) => Ok(app::run(&args)),
        #[cfg(not(feature = "app"))]
        Verb::App(_) => Err(absent::refused("app")),
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
                || matches!(error.downcast_ref(), Some(Error::OverInput(_)));
            ExitCode::from(if wrong_usage { WRONG_USAGE } else { FILE_FAILED })
        }
    }
}

fn is_broken_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

/// Returns a hint if one of `args` is an output name that begins like a flag, as in `-o -x.wav`.
fn hyphenated_output(args: &[OsString]) -> Option<String> {
    args.windows(2).find_map(|pair| {
        let (flag, name) = (pair[0].to_str()?, pair[1].to_str()?);
        let is_name = matches!(flag, "-o" | "--out") && name.starts_with('-') && name.contains('.');
        is_name.then(|| format!("{flag} {name}: {name} looks like a flag; write ./{name}"))
    })
}

/// Prints help, or the error of the command line: for an invalid value, only the reason. Returns the exit code.
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

#[cfg(test)]
mod tests {
    use super::without_codes;

    #[test]
    fn only_codes_of_the_system_are_left_out() {
        assert_eq!(without_codes("a: gone (os error 2); b (os error -1)"), "a: gone; b");
        for text in ["", "a (os error x).wav: gone", "a (os error 2"] {
            assert_eq!(without_codes(text), text);
        }
    }
}
