//! `cargo xtask test-release`: checks the crates as they would be published, and the bill of materials.
//!
//! The command `tone-filter` is not on crates.io. Its feature `app` contains the plugin, some of whose dependencies are replaced
//! by `patches`, and a published crate cannot replace dependencies.

use crate::{
    commands::{cargo, metadata, run, step, target},
    python, sbom,
};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Files that every published crate must have.
const PAGES: [&str; 4] = ["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Python program that validates a CycloneDX file and prints the error.
const VALIDATE: &str = "
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())
sys.exit(str(error) if error else 0)
";

pub fn test() -> Result<()> {
    step("bill of materials", bill)?;
    let folder = target()?.join("publish");
    step("crates as they are published", || publish(&folder))?;
    step("what is in them", || contents(&folder.join("package")))
}

/// Prepares all crates for publishing in `folder`, uncommitted changes included, and builds them. Uploads nothing.
fn publish(folder: &Path) -> Result<()> {
    // Otherwise cargo would use crates of an earlier run with the same version: packed ones, and those that it has unpacked
    // below a name that begins with "-", as their registry is a folder.
    let _ = fs::remove_dir_all(folder);
    let own = || Some(env::home_dir()?.join(".cargo"));
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(own).context("no home")?;
    for unpacked in fs::read_dir(home.join("registry/src")).into_iter().flatten().flatten() {
        if unpacked.file_name().as_encoded_bytes().starts_with(b"-") {
            fs::remove_dir_all(unpacked.path())?;
        }
    }
    let publish = "publish --workspace --dry-run --locked --allow-dirty --quiet --target-dir";
    run(cargo(publish).arg(folder))
}

fn contents(folder: &Path) -> Result<()> {
    let metadata = metadata(&["--no-deps"])?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let is_empty = |list: &Value| list.as_array().is_none_or(Vec::is_empty);
    // Only crates that may be published.
    for package in packages.filter(|package| package["publish"].is_null()) {
        let [name, version] = ["name", "version"].map(|key| package[key].as_str().unwrap_or("?"));
        let name = format!("{name}-{version}");
        // Folder into which cargo has unpacked the crate to build it.
        let unpacked = folder.join(&name);
        for page in PAGES {
            ensure!(unpacked.join(page).is_file(), "{name} has no {page}");
        }
        let is_described = !is_empty(&package["keywords"]) && !is_empty(&package["categories"]);
        ensure!(is_described, "{name} lacks keywords or categories");
        println!("{name}");
    }
    Ok(())
}

fn bill() -> Result<()> {
    python::set_up()?;
    let path = target()?.join("package/bill.cdx.json");
    for triple in ["x86_64-unknown-linux-gnu", "x86_64-pc-windows-msvc", "aarch64-apple-darwin"] {
        sbom::write(triple, path.clone())?;
        run(Command::new(python::interpreter()?).args(["-c", VALIDATE]).arg(&path))?;
    }
    Ok(())
}
