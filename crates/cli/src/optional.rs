//! Verb `app`, and stubs for `play` and `app` in builds without their features.

/// Open the plugin's window as a program of its own, with the system's audio and MIDI devices
#[cfg(feature = "app")]
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct App {
    /// Devices, sample rate and the like: `tone-filter app --help` lists them
    #[arg(value_name = "OPTIONS", trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<String>,
}

#[cfg(feature = "app")]
impl App {
    /// Runs until the window is closed. Returns whether the window could be opened.
    pub fn run(self) -> bool {
        let name = "tone-filter app".to_owned();
        tone_filter::run_standalone(std::iter::once(name).chain(self.options))
    }
}

/// Not in this build
#[cfg(not(feature = "app"))]
#[derive(clap::Args)]
#[command(hide = true, disable_help_flag = true)]
pub struct Missing {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _all: Vec<std::ffi::OsString>,
}

/// Returns an error: the verb `name` is not in this build. The message has the command that installs it.
#[cfg(not(feature = "app"))]
pub fn refused(name: &str) -> anyhow::Error {
    let headers = match name {
        _ if !cfg!(target_os = "linux") => "",
        "app" => {
            ", which takes the headers of JACK and ALSA (libjack-jackd2-dev, libasound2-dev, pkg-config)"
        }
        _ => ", which takes the headers of ALSA (libasound2-dev, pkg-config)",
    };
    let line = format!(
        "{name} is not in this build; install it with `cargo install --locked --path crates/cli --features {name}`{headers}"
    );
    crate::Usage(line).into()
}
