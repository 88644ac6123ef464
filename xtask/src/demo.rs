//! `cargo xtask demo`: the plugin plays the demo tune in a CLAP host of our own.

use crate::{bundle, run, target};
use anyhow::Result;
use std::{env::consts::EXE_SUFFIX, process::Command};

/// Arguments of cargo for the host, which is built together with the plugin.
const HOST: [&str; 3] =
    ["--package=tone-filter-testkit", "--features=tone-filter-testkit/demo", "--bin=demo"];

/// Builds the plugin, plays the tune through it, and writes audio files and a picture of the bands.
pub fn demo() -> Result<()> {
    println!("Building the plugin, and a host to play it. The first time takes minutes.");
    bundle::bundle_with(&HOST)?;
    let host = target()?.join("release").join(format!("demo{EXE_SUFFIX}"));
    println!("Playing assets/demo.wav.");
    run(Command::new(host).arg(bundle::built("clap")?).arg(target()?.join("demo")))
}
