//! `cargo xtask`: the project's own commands. This crate has few dependencies, so that it builds within seconds. Verbs that need
//! more run programs and tests of other crates with cargo.

mod arm;
mod audio_unit;
mod bundle;
mod c_library;
mod demo;
mod engines;
mod foreign;
mod install;
mod kit;
#[cfg(target_os = "linux")]
mod lv2;
mod macos;
mod npm;
mod pack;
mod package;
mod python;
mod release;
mod sbom;
#[cfg(target_os = "linux")]
mod speakers;
mod suite;
mod unity;
#[cfg(target_os = "linux")]
mod unpack;
mod web;
mod wheel;
#[cfg(target_os = "linux")]
mod windows;
#[cfg(target_os = "linux")]
mod xvfb;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

const USAGE: &str = "\
Usage: cargo xtask VERB

  demo              build the plugin and play the demo tune through it in a small CLAP host
  install           build the plugin and install it for this user
  install-c FOLDER  build the C library and install it, its header and its pkg-config file, below a
                    folder such as /usr/local
  test [--quick]    run the tests, the plugin in real hosts included; --quick: unit tests, and the
                    filter against its reference
  lint              check format, lints and docs
  packages          print the Debian packages that `test` needs
  test-arm          run the DSP's tests on an emulated 64-bit ARM CPU
  test-engines      check the C library, what there is for kira, firewheel, Godot and Unity, and the
                    examples: warnings, sanitizers, valgrind, bits
  test-hosts [HOST ...]
                    build the plugin, and scan, load, show, play, save and resize it in Debian's
                    Qtractor, Ardour, Audacity and jalv, and in mod-host and Carla, which must be on
                    the PATH; write the table into docs/hosts.md
  test-lv2          try the LV2 bundle in ffmpeg and PipeWire
  test-package      make the packages for Linux, install and load what is in them; run the plugin's
                    tests with the release bundle
  test-play         run the tests of `tone-filter play` and `tone-filter app`
  test-python       build the Python package and test its wheel
  test-release      check the crates as they would be published, and the bill of materials
  test-tracker [SONG.fur ...]
                    play songs for trackers in Furnace, which must be on the PATH as `furnace`
  test-web          run the tests of the npm package and of the web page in Chromium
  test-windows      run the tests for Windows under wine
  check-macos       check the types for Macs of both CPU types
  web               build the npm package into target/npm and the web page into target/web
  soak              run the long tests and print their figures: an hour of random settings and signals,
                    a session of two hours, a million blocks; the computer should be idle
  songs [FLAGS]     print how well notes are detected in real songs, and the loudness of the output;
                    FLAGS are those of `tone-filter render`
  wild FOLDER ...   print which sound files are read otherwise than ffmpeg reads them, which it needs
  deny              check licences and sources of all dependencies; needs cargo-deny
  corpus            write the states and presets of a new version into tests/corpus
  bundle [OPTIONS]  build CLAP and VST3 bundles into target/bundled; OPTIONS are those of
                    `cargo build`, such as --release
  bundle-lv2 [OPTIONS]
                    the same as an LV2 bundle, for Linux
  bundle-universal [OPTIONS]
                    the same for both CPU types of Macs
  package [OPTIONS] build and pack all that a release has for this system, or for that of
                    --target, into target/package, with checksums and a bill of materials
  unity-package [OPTIONS]
                    build and pack the effect for Unity into target/package; with several --target
                    for several systems
  manual            write the pages of the manual that are made of the tables
  media             write the pictures and sounds of the README and the manual; needs a bundle
  tune              generate assets/demo.wav";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let verb = args.next().unwrap_or_default();
    let result = match verb.as_str() {
        "bundle" => bundle::bundle(args),
        #[cfg(target_os = "linux")]
        "bundle-lv2" => lv2::bundle(&args.collect::<Vec<_>>()).map(drop),
        "bundle-universal" => bundle::bundle_universal(args),
        "install-c" => match (args.next(), args.next()) {
            (Some(folder), None) => c_library::install(folder.as_ref()),
            _ => return usage(),
        },
        "package" => package::package(&args.collect::<Vec<_>>()).map(drop),
        "test" => match (args.next().as_deref(), args.next()) {
            (None, _) => suite::test(),
            (Some("--quick"), None) => suite::quick(),
            _ => return usage(),
        },
        "unity-package" => unity::package(&args.collect::<Vec<_>>()).map(drop),
        "songs" => kit::songs(&args.collect::<Vec<_>>()),
        #[cfg(target_os = "linux")]
        "test-hosts" => kit::hosts(&args.collect::<Vec<_>>()),
        "test-tracker" => kit::tracker(&args.collect::<Vec<_>>()),
        "wild" => kit::wild(&args.collect::<Vec<_>>()),
        _ if args.next().is_some() => return usage(),
        "demo" => demo::demo(),
        "check-macos" => macos::check(),
        "corpus" => kit::corpus(),
        "deny" => suite::deny(),
        "install" => install::install(),
        "lint" => suite::lint(),
        "manual" => kit::write_manual(),
        "packages" => {
            println!("{}", suite::packages());
            Ok(())
        }
        "soak" => kit::soak(),
        "test-arm" => arm::test(),
        "test-engines" => engines::test(),
        #[cfg(target_os = "linux")]
        "test-lv2" => lv2::test(),
        #[cfg(target_os = "linux")]
        "media" => kit::media(),
        #[cfg(target_os = "linux")]
        "test-package" => unpack::test(),
        #[cfg(target_os = "linux")]
        "test-play" => speakers::test(),
        #[cfg(target_os = "linux")]
        "test-windows" => windows::test(),
        "test-python" => wheel::test(),
        "test-release" => release::test(),
        "test-web" => web::test(),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(())
        }
        "tune" => kit::tune(),
        "web" => web::web(),
        _ => return usage(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

/// Returns the repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// Returns the workspace as `cargo metadata` with `options` describes it.
pub fn metadata(options: &[&str]) -> Result<Value> {
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--format-version=1"]).args(options).current_dir(root());
    let output = cargo.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    ensure!(output.status.success(), "`cargo metadata` failed");
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Returns cargo's target folder, as the user has configured it.
pub fn target() -> Result<PathBuf> {
    let metadata = metadata(&["--no-deps"])?;
    Ok(metadata["target_directory"].as_str().context("no target folder")?.into())
}

/// Runs a command in the repository's root.
pub fn run(command: &mut Command) -> Result<()> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let line = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let status = command.current_dir(root()).status();
    if !status.with_context(|| format!("cannot start `{line}`"))?.success() {
        bail!("`{line}` failed");
    }
    Ok(())
}
