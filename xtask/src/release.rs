//! `cargo xtask test-release`: the crates as they would be published, and the bill of materials.
//!
//! The command is not on crates.io, as its feature `app` contains the plugin, whose dependencies are replaced by `patches`, and
//! a published crate cannot replace any.

use crate::{metadata, python, run, sbom, suite::step, target};
use anyhow::{Result, ensure};
use serde_json::Value;
use std::{fs, path::Path, process::Command};

/// Content of every published crate.
const PAGES: [&str; 4] = ["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Reads the file that is named, and prints what is wrong with it.
const VALIDATE: &str = "
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())
sys.exit(str(error) if error else 0)
";

/// Packs, builds and checks what is for the registry, and checks the bill of materials.
pub fn test() -> Result<()> {
    step("bill of materials", bill)?;
    let folder = target()?.join("publish");
    step("crates as they are published", || publish(&folder))?;
    step("what is in them", || contents(&folder.join("package")))
}

/// Everything but the upload, with what is not committed, in `folder`.
fn publish(folder: &Path) -> Result<()> {
    // Cargo takes a crate of an earlier run for this one's, as it has the same version.
    let _ = fs::remove_dir_all(folder);
    let publish = ["publish", "--workspace", "--dry-run", "--locked", "--allow-dirty", "--quiet"];
    run(Command::new("cargo").args(publish).arg("--target-dir").arg(folder))
}

fn contents(folder: &Path) -> Result<()> {
    let metadata = metadata(&["--no-deps"])?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let is_empty = |list: &Value| list.as_array().is_none_or(Vec::is_empty);
    // Those that are for the registry.
    for package in packages.filter(|package| package["publish"].is_null()) {
        let [name, version] = ["name", "version"].map(|key| package[key].as_str().unwrap_or("?"));
        let name = format!("{name}-{version}");
        // Where cargo has unpacked it to build it.
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
