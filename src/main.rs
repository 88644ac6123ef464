//! The command `tone-filter`.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
