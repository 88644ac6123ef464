//! npm package: `bindings/web/package`, and files that `bindings/web/examples/tables.rs` makes from the library's tables.

use crate::{install, root, run};
use anyhow::{Context, Result, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Name of the package in npm's registry.
pub(super) const NAME: &str = "tone-filter";

/// Writes the package into `folder`; `module` is the path of the WebAssembly module.
pub(super) fn write(folder: &Path, module: &Path) -> Result<()> {
    install::copy(&root().join("bindings/web/package"), folder)?;
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        install::copy(&root().join(licence), &folder.join(licence))?;
    }
    install::copy(module, &folder.join("tone_filter.wasm"))
        .with_context(|| format!("cannot copy {}", module.display()))?;
    let tables = ["run", "--package=tone-filter-web", "--example=tables", "--"];
    run(Command::new("cargo").args(tables).arg(folder))
}

/// Packs the package in `folder` as the registry gets it, and unpacks the archive into `results/package`.
pub(super) fn pack(folder: &Path, results: &Path) -> Result<()> {
    let archive = archive(folder, results)?;
    run(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(results))
}

/// Packs the package in `folder` into the only archive in `results`, and returns the archive's path.
pub(super) fn archive(folder: &Path, results: &Path) -> Result<PathBuf> {
    let mut npm = Command::new("npm");
    run(npm.arg("pack").arg(folder).arg("--pack-destination").arg(results))?;
    let mut archives = fs::read_dir(results)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "tgz"));
    let archive = archives.next().context("npm pack has written no archive")?;
    ensure!(archives.next().is_none(), "{} has several archives", results.display());
    Ok(archive)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack;

    #[test]
    fn the_package_has_the_name_and_the_version_of_the_project() {
        let manifest = fs::read(root().join("bindings/web/package/package.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
        assert_eq!(manifest["name"], NAME);
        assert_eq!(manifest["version"], pack::version().unwrap());
    }
}
