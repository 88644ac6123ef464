//! The command `tone-filter`.

mod cli;
mod xorshift;

fn main() -> std::process::ExitCode {
    cli::run()
}
