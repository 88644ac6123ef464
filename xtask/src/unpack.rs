//! `cargo xtask test-package`: unpacks, installs and loads the packages for Linux as users would, and tests the release build in
//! plugin hosts.

use crate::{bundle, kit::kit, lv2, package, run};
use anyhow::{Context, Result, ensure};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// Makes the packages of the debug build and tests them, then runs the plugin's tests with the release bundle.
pub fn test() -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "this verb tries packages for Linux, on Linux");
    let packages = package::package(&[])?;
    let find = |extension: &str| -> Result<PathBuf> {
        let name = |path: &&PathBuf| path.to_string_lossy().ends_with(extension);
        packages.iter().find(name).cloned().with_context(|| format!("no {extension} was made"))
    };
    checksums(&packages)?;
    debian(&find(".deb")?)?;
    archive(&find(".tar.gz")?)?;
    println!("both packages install what loads and plays");
    bundle::bundle_release()?;
    run(Command::new("cargo").args(["test", "--package=tone-filter-hosts", "--no-fail-fast"]))
}

/// Verifies the checksums with the system's own program. They must cover all packages.
fn checksums(packages: &[PathBuf]) -> Result<()> {
    let folder = packages[0].parent().context("packages lie in a folder")?;
    let mut check = Command::new("sha256sum");
    let output = check.args(["--check", "SHA256SUMS"]).current_dir(folder).output()?;
    let lines = String::from_utf8(output.stdout)?;
    ensure!(output.status.success(), "checksums are wrong: {lines}");
    ensure!(lines.lines().count() == packages.len(), "of {} packages: {lines}", packages.len());
    Ok(())
}

fn debian(deb: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let at = |path: &str| folder.path().join(path);
    run(Command::new("dpkg-deb").arg("--extract").arg(deb).arg(folder.path()))?;
    check_installed(&at("usr/lib/clap"), &at("usr/lib/vst3"), &at("usr/bin"))?;
    lv2::loads(&at("usr/lib/lv2"))?;
    for page in [
        "man/man1/tone-filter.1",
        "doc/tone-filter/LICENSE-MIT",
        "doc/tone-filter/tone-filter.conf",
    ] {
        ensure!(at("usr/share").join(page).is_file(), "{page} is missing");
    }
    Ok(())
}

fn archive(tar: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    run(Command::new("tar").arg("-xzf").arg(tar).arg("-C").arg(folder.path()))?;
    let top = folder.path().read_dir()?.next().context("the archive is empty")??.path();
    let home = tempfile::tempdir()?;
    let at = |path: &str| home.path().join(path);
    let script = |flags: &[&str]| {
        run(Command::new(top.join("install.sh")).args(flags).env("HOME", home.path()))
    };
    // Twice, as users do for an update.
    script(&[])?;
    script(&[])?;
    check_installed(&at(".clap"), &at(".vst3"), &at(".local/bin"))?;
    lv2::loads(&at(".lv2"))?;
    script(&["--uninstall"])?;
    for folder in [".clap", ".lv2", ".vst3", ".local/bin"] {
        ensure!(at(folder).read_dir()?.next().is_none(), "{folder} is not empty afterwards");
    }
    Ok(())
}

/// Loads the plugin from these folders in both formats, and renders with the program in `bin`.
fn check_installed(clap: &Path, vst3: &Path, bin: &Path) -> Result<()> {
    let (clap, vst3) = (clap.join("Tone Filter.clap"), vst3.join("Tone Filter.vst3"));
    run(kit("loads").args([clap, vst3]))?;
    let folder = tempfile::tempdir()?;
    let mut program = Command::new(bin.join("tone-filter"));
    run(program.args(["render", "assets/demo.wav", "-o"]).arg(folder.path().join("out.wav")))
}
