//! Verbs that this build does not have.

use super::Usage;
use std::ffi::OsString;

/// Not in this build
#[derive(clap::Args)]
#[command(hide = true, disable_help_flag = true)]
pub struct Args {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _all: Vec<OsString>,
}

/// Returns the error that the verb `name` is not in this build, with the command that installs it.
pub fn refused(name: &str) -> anyhow::Error {
    let headers = match name {
        _ if !cfg!(target_os = "linux") => "",
        "app" => ", which takes the headers of JACK and ALSA (libjack-jackd2-dev, libasound2-dev)",
        _ => ", which takes the headers of ALSA (libasound2-dev)",
    };
    let line = format!(
        "{name} is not in this build; install it with `cargo install --locked --path crates/cli --features {name}`{headers}"
    );
    Usage(line).into()
}
