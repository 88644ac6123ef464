//! `cargo xtask demo`: the plugin plays the demo tune in a CLAP host of our own.

use crate::{run, target};
use anyhow::Result;
use std::{
    env::consts::{DLL_PREFIX, DLL_SUFFIX, EXE_SUFFIX},
    process::Command,
};

/// Arguments of cargo for plugin and host. Neither the window nor an optimised build is needed to hear the tune, and both take
/// minutes. The tests share what is built here.
const BUILD: &str = "build --package=tone-filter --lib --no-default-features \
                     --package=tone-filter-testkit --features=tone-filter-testkit/demo --bin=demo";

/// Builds the plugin, plays the tune through it, and writes audio files and a picture of the bands.
pub fn demo() -> Result<()> {
    println!(
        "Building the plugin without its window, and a CLAP host. The first time, this takes some\n\
         3 minutes. Then the host plays assets/demo.wav, and says what it found and wrote.\n"
    );
    run(Command::new("cargo").args(BUILD.split_whitespace()))?;
    let folder = target()?.join("debug");
    let plugin = folder.join(format!("{DLL_PREFIX}tone_filter{DLL_SUFFIX}"));
    println!("\nPlaying assets/demo.wav.");
    run(Command::new(folder.join(format!("demo{EXE_SUFFIX}")))
        .arg(plugin)
        .arg(target()?.join("demo")))
}
