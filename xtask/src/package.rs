//! `cargo xtask package`: makes all downloads of a release for the system that cargo builds for.

#[cfg(target_os = "linux")]
use crate::lv2;
use crate::{
    bundle, macos,
    pack::{Build, System},
    run, sbom, target, unity, web, wheel,
};
use anyhow::{Context, Result};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Builds with `args`, the options of `cargo build`, and packs bundles and program, with a bill of materials and with checksums
/// of all files. On x86-64, the package for Unity is added. A release build for this system adds the Python wheel, and on Linux
/// on x86-64 also the npm package. Returns the paths of the downloads, which are in `target/package`.
pub fn package(args: &[String]) -> Result<Vec<PathBuf>> {
    let triple = args.iter().position(|arg| arg == "--target").and_then(|at| args.get(at + 1));
    let system = System::of(triple.map(String::as_str));
    let cpu = match (system, triple) {
        (System::MacOs, _) => "universal",
        (_, Some(triple)) => triple.split('-').next().context("a target has a CPU")?,
        _ => std::env::consts::ARCH,
    };
    let program = if system == System::MacOs {
        bundle::bundle_universal(args.iter().cloned())?;
        universal_program(args)?
    } else {
        bundle::bundle(args.iter().cloned())?;
        program(args, triple.map(String::as_str), system)?
    };
    let mut parts = vec![bundle::built("clap")?, bundle::built("vst3")?, program];
    if system == System::MacOs {
        parts.push(bundle::built("component")?);
    }
    #[cfg(target_os = "linux")]
    if system == System::Linux {
        parts.push(lv2::bundle(args)?);
    }
    let build = Build { system, cpu: cpu.to_owned(), released: released(args), parts };
    let folder = target()?.join("package");
    let mut packages = build.pack(&folder)?;
    if cpu == "x86_64" {
        packages.push(unity::package(args)?);
    }
    if released(args) && triple.is_none() {
        packages.push(beside(&folder, wheel::package()?)?);
        if system == System::Linux && cpu == "x86_64" {
            packages.push(beside(&folder, web::package()?)?);
        }
    }
    let built_for = match triple {
        Some(triple) => triple.clone(),
        None if system == System::MacOs => macos::TARGETS[0].to_owned(),
        None => host()?,
    };
    packages.push(sbom::write(&built_for, folder.join(build.name()? + ".cdx.json"))?);
    sbom::write_sums(&folder, &packages)?;
    Ok(packages)
}

/// Copies `file` into `folder` and returns the copy's path.
fn beside(folder: &Path, file: PathBuf) -> Result<PathBuf> {
    let copy = folder.join(file.file_name().context("a package has a name")?);
    fs::copy(file, &copy)?;
    Ok(copy)
}

/// Returns the target that cargo builds for by default.
fn host() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("cannot start rustc")?;
    let text = String::from_utf8(output.stdout)?;
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(line.context("rustc names no host")?.to_owned())
}

fn released(args: &[String]) -> bool {
    args.iter().any(|arg| arg == "--release")
}

/// Builds the command `tone-filter` with all its features, for `triple` or for this system. Returns its path.
fn program(args: &[String], triple: Option<&str>, system: System) -> Result<PathBuf> {
    let build = ["build", "--locked", "--package=tone-filter-cli", "--features=app"];
    run(Command::new("cargo").args(build).args(args))?;
    let profile = if released(args) { "release" } else { "debug" };
    let folder = triple.map_or_else(target, |triple| Ok(target()?.join(triple)))?;
    let name = if system == System::Windows { "tone-filter.exe" } else { "tone-filter" };
    Ok(folder.join(profile).join(name))
}

/// Builds the command for both CPU types of Macs, and joins both in one file. Returns its path.
fn universal_program(args: &[String]) -> Result<PathBuf> {
    let folder = target()?.join("package");
    fs::create_dir_all(&folder)?;
    let out = folder.join("tone-filter");
    let mut lipo = Command::new("lipo");
    lipo.arg("-create").arg("-output").arg(&out);
    for triple in macos::TARGETS {
        let args = [args, &["--target".to_owned(), triple.to_owned()]].concat();
        lipo.arg(program(&args, Some(triple), System::MacOs)?);
    }
    run(&mut lipo)?;
    Ok(out)
}
