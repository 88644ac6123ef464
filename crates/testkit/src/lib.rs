//! Test utilities that several crates share.
//!
//! Random runs are drawn from the tables of settings, so a new setting needs no code here. [`Values`] draws a value of one
//! setting, [`controls`] draws all settings, and [`Scene`] is a whole run: sample rate, music, sidechain, keys, score and
//! changes of controls. All random numbers come from a [`Draws`], which is seeded or reads the input of a fuzzer.
//! [`Automation`] is a run in which settings change; library, plugin and bindings all play it.
//! [`signals`] has simple test signals, [`heap`] counts allocations, and [`sweep`] draws some of a test's cases.
//!
//! Features add more: hosts (`clap`, `vst3`), the built plugin in them (`hosts`), a virtual `display`, `songs` with known notes,
//! `wav` files and the demo tune, runners for other `programs`, and the `reference` with a conversion of settings.
//!
//! Functions return an error if the plugin, a file or another program fails, and panic if the caller violates their contract.

mod automation;
#[cfg(any(feature = "clap", feature = "vst3"))]
pub mod bundle;
#[cfg(feature = "clap")]
pub mod clap;
#[cfg(all(feature = "display", target_os = "linux"))]
pub mod display;
pub mod heap;
mod music;
#[cfg(feature = "hosts")]
pub mod plugin;
#[cfg(feature = "programs")]
pub mod programs;
mod random;
#[cfg(feature = "reference")]
pub mod reference;
mod scene;
mod settings;
pub mod signals;
#[cfg(feature = "songs")]
pub mod songs;
pub mod sweep;
#[cfg(feature = "wav")]
pub mod tune;
#[cfg(feature = "vst3")]
pub mod vst3;
#[cfg(feature = "wav")]
pub mod wav;

pub use automation::{Automation, assert_same_bits};
pub use music::{Music, Note, Signal, channels, events, music, rate};
pub use random::Draws;
pub use scene::Scene;
pub use settings::{Values, controls, parameters_alone, unlike_default};

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

/// Returns the repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a crate of the workspace")
}

/// Returns cargo's target folder, which the user may have configured.
pub fn target() -> PathBuf {
    static TARGET: LazyLock<PathBuf> = LazyLock::new(find_target);
    TARGET.clone()
}

/// Locks `mutex`, even if a thread has panicked while it was locked.
#[cfg(any(feature = "clap", feature = "vst3"))]
fn locked<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn find_target() -> PathBuf {
    // Tests in an emulated system cannot run cargo, so this variable tells them the folder.
    if let Some(folder) = std::env::var_os("CARGO_TARGET_DIR") {
        return root().join(folder);
    }
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version=1"]).current_dir(root());
    let output = cargo.output().expect("cargo starts").stdout;
    let metadata = String::from_utf8(output).expect("cargo writes UTF-8");
    let (_, rest) = metadata.split_once("\"target_directory\":\"").expect("cargo knows the folder");
    let (folder, _) = rest.split_once('"').expect("a string ends");
    // JSON escapes the backslashes of Windows paths.
    folder.replace("\\\\", "\\").into()
}
