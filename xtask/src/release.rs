//! `cargo xtask test-release`: the crates as they would be published, and the bill of materials.

use crate::{python, root, run, sbom, suite::step, target};
use anyhow::{Result, ensure};
use cargo_metadata::{MetadataCommand, Package};
use std::{fs, path::Path, process::Command};

/// What every published crate has.
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
///
/// # Errors
/// At the first step that fails.
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

/// The packages of the workspace that are for the registry.
fn public() -> Result<Vec<Package>> {
    let mut command = MetadataCommand::new();
    let metadata = command.manifest_path(root().join("Cargo.toml")).no_deps().exec()?;
    Ok(metadata.packages.into_iter().filter(|package| package.publish.is_none()).collect())
}

fn contents(folder: &Path) -> Result<()> {
    for package in public()? {
        let name = format!("{}-{}", package.name, package.version);
        // Where cargo has unpacked it to build it.
        let unpacked = folder.join(&name);
        for page in PAGES {
            ensure!(unpacked.join(page).is_file(), "{name} has no {page}");
        }
        let is_described = !package.keywords.is_empty() && !package.categories.is_empty();
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
