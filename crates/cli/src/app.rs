//! `tone-filter app`.

use tone_filter::run_standalone;

/// Open the plugin's window as a program of its own, with the system's audio and MIDI devices
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// Devices, sample rate and the like: `tone-filter app --help` lists them
    #[arg(value_name = "OPTIONS", trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<String>,
}

/// Runs until the window is closed. Returns whether the window could be opened.
pub fn run(args: &Args) -> bool {
    let name = "tone-filter app".to_owned();
    run_standalone(std::iter::once(name).chain(args.options.iter().cloned()))
}
