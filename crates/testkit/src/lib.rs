//! Shared parts of tests.
//!
//! Runs drawn at random from the tables of settings: [`Values`] are those of any setting, [`controls`] draws all, [`Scene`] is a run:
//! controls that change, music, sidechain, keys and a score at some sample rate. [`Automation`] is music during which settings change, for
//! every way into the filter. Everything follows from the numbers of one [`Draws`], which are those of a seed or of a fuzzer. A new setting
//! is drawn without a line here.
//!
//! Plain [`signals`], and [`heap`], which counts allocations.
//!
//! By features: hosts of `clap` and `vst3` and the built `plugin` in them, a `display`, `songs`, other `programs`, the `soak`, a
//! `spectrum`, the `reference` by settings, and `traps`.

mod automation;
#[cfg(any(feature = "clap", feature = "vst3"))]
pub mod bundle;
#[cfg(feature = "clap")]
pub mod clap;
#[cfg(all(feature = "display", target_os = "linux"))]
pub mod display;
mod draws;
pub mod heap;
mod music;
#[cfg(feature = "hosts")]
pub mod plugin;
#[cfg(feature = "programs")]
pub mod programs;
#[cfg(feature = "reference")]
pub mod reference;
mod scene;
mod settings;
pub mod signals;
#[cfg(feature = "soak")]
pub mod soak;
#[cfg(feature = "songs")]
pub mod songs;
#[cfg(feature = "spectrum")]
pub mod spectrum;
#[cfg(all(feature = "traps", target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
pub mod traps;
#[cfg(feature = "wav")]
pub mod tune;
#[cfg(feature = "vst3")]
pub mod vst3;
#[cfg(feature = "wav")]
pub mod wav;

pub use automation::{Automation, assert_same_bits};
pub use draws::Draws;
pub use music::{Music, Note, Signal, channels, events, music, rate};
pub use scene::Scene;
pub use settings::{Values, controls, parameters_alone, unlike_default};

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// The repository's root.
///
/// # Panics
/// Never: this crate is two folders below it.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a crate of the workspace")
}

/// Cargo's target folder, by the user's configuration.
///
/// # Panics
/// When cargo cannot tell.
pub fn target() -> PathBuf {
    // Where tests run in an emulated system, there is no cargo to ask.
    if let Some(folder) = std::env::var_os("CARGO_TARGET_DIR") {
        return root().join(folder);
    }
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version=1"]).current_dir(root());
    let output = cargo.output().expect("cargo starts").stdout;
    let metadata = String::from_utf8(output).expect("cargo writes UTF-8");
    let (_, rest) = metadata.split_once("\"target_directory\":\"").expect("cargo knows the folder");
    let (folder, _) = rest.split_once('"').expect("a string ends");
    // JSON doubles the backslashes of Windows.
    folder.replace("\\\\", "\\").into()
}
