//! Running of cargo and other programs, and of the steps of a verb.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::{
    borrow::BorrowMut,
    fmt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

pub fn metadata(options: &[&str]) -> Result<Value> {
    Ok(serde_json::from_str(&output(cargo("metadata --format-version=1").args(options))?)?)
}

pub fn target() -> Result<PathBuf> {
    let metadata = metadata(&["--no-deps"])?;
    Ok(metadata["target_directory"].as_str().context("no target folder")?.into())
}

/// Returns the version of the plugin, which the downloads have, too.
pub fn version() -> Result<String> {
    version_of("tone-filter")
}

pub fn version_of(name: &str) -> Result<String> {
    let metadata = metadata(&["--no-deps"])?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let package = packages.into_iter().find(|package| package["name"] == name);
    Ok(package.context("no package")?["version"].as_str().context("no version")?.to_owned())
}

/// Returns the command `cargo` with the arguments in `line`, split at white space.
pub fn cargo(line: &str) -> Command {
    let mut command = Command::new("cargo");
    command.args(line.split_whitespace());
    command
}

/// Returns a command that runs `verb` of the testkit's program `kit`.
pub fn kit(verb: &str) -> Command {
    let mut cargo = cargo("run --package=tone-filter-testkit --features=kit --bin=kit --");
    cargo.arg(verb);
    cargo
}

pub fn manual() -> Command {
    cargo("run --package=tone-filter-manual --bin=tone-filter-manual --")
}

/// Builds the program `tone-filter` with `options` of `cargo build`. Returns its path.
pub fn command(options: &[&str]) -> Result<PathBuf> {
    run(cargo("build --locked --package=tone-filter-cli").args(options))?;
    let windows =
        value(options, "--target").map_or(cfg!(windows), |triple| triple.contains("windows"));
    let name = if windows { "tone-filter.exe" } else { "tone-filter" };
    Ok(built(options)?.join(name))
}

/// Returns the folder into which `cargo build` with `options` writes programs and libraries.
pub fn built(options: &[impl AsRef<str>]) -> Result<PathBuf> {
    Ok(target()?.join(value(options, "--target").unwrap_or_default()).join(profile(options)))
}

/// Returns the value of the option `flag`, written as `FLAG VALUE` or `FLAG=VALUE`.
pub fn value<'a>(options: &'a [impl AsRef<str>], flag: &str) -> Option<&'a str> {
    let mut words = options.iter().map(AsRef::as_ref);
    words
        .clone()
        .skip_while(|word| *word != flag)
        .nth(1)
        .or_else(|| words.find_map(|word| word.strip_prefix(flag)?.strip_prefix('=')))
}

pub fn is_release(options: &[impl AsRef<str>]) -> bool {
    options.iter().any(|word| word.as_ref() == "--release")
}

/// Returns the name of the output folder of `cargo build` with `options`, such as `debug`.
pub fn profile(options: &[impl AsRef<str>]) -> &str {
    if is_release(options) { "release" } else { value(options, "--profile").unwrap_or("debug") }
}

/// Runs a command in the repository's root.
pub fn run(mut command: impl BorrowMut<Command>) -> Result<()> {
    finish(command.borrow_mut()).map(drop)
}

/// Runs a command in the repository's root. Returns its output, without white space at the ends.
pub fn output(mut command: impl BorrowMut<Command>) -> Result<String> {
    let output = finish(command.borrow_mut().stdout(Stdio::piped()))?;
    Ok(String::from_utf8(output)?.trim().to_owned())
}

/// Runs a command in the repository's root. Returns its output, if that is piped.
fn finish(command: &mut Command) -> Result<Vec<u8>> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let line = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let child = command.current_dir(root()).spawn();
    let output = child.with_context(|| format!("cannot start `{line}`"))?.wait_with_output()?;
    ensure!(output.status.success(), "`{line}` failed");
    Ok(output.stdout)
}

/// Runs a step of a verb, and prints its name and duration.
pub fn step(name: &str, action: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("\n=== {name}");
    let started = Instant::now();
    action().with_context(|| format!("step failed: {name}"))?;
    println!("=== {name}: passed in {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// Error: the verb cannot run on this computer. The exit status is [`Unavailable::STATUS`].
#[derive(Debug)]
pub struct Unavailable(pub String);

impl Unavailable {
    /// Exit status of `cargo xtask` for this error.
    pub const STATUS: u8 = 3;
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unavailable {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_options_value_follows_a_blank_or_a_sign() {
        let options = ["--profile=fast", "--target", "a-b"];
        assert_eq!(value(&options, "--profile"), Some("fast"));
        assert_eq!(value(&options, "--target"), Some("a-b"));
        assert_eq!(value(&options, "--package"), None);
        assert_eq!([profile(&options), profile(&["--release"])], ["fast", "release"]);
    }
}
