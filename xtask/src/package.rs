//! `cargo xtask package`: what users download, for the system that cargo builds for.

use crate::{bundle, install, macos, root, run, target};
use anyhow::{Context, Result};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The pages that all packages have.
const PAGES: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// A system that packages are made for.
#[derive(Clone, Copy, PartialEq)]
enum System {
    Linux,
    MacOs,
    Windows,
}

/// Builds with the options of `cargo build` in `args`, and packs bundles and program. Gives the packages, which lie in
/// `target/package`.
///
/// # Errors
/// When something does not build, or a tool for packing is missing.
pub fn package(args: &[String]) -> Result<Vec<PathBuf>> {
    let triple = args.iter().position(|arg| arg == "--target").and_then(|at| args.get(at + 1));
    let system = match triple {
        Some(triple) if triple.contains("windows") => System::Windows,
        Some(triple) if triple.contains("apple") => System::MacOs,
        None if cfg!(windows) => System::Windows,
        None if cfg!(target_os = "macos") => System::MacOs,
        _ => System::Linux,
    };
    let cpu = match (system, triple) {
        (System::MacOs, _) => "universal",
        (_, Some(triple)) => triple.split('-').next().context("a target has a CPU")?,
        _ => std::env::consts::ARCH,
    };
    let label = match system {
        System::Linux => format!("linux-{cpu}"),
        System::MacOs => format!("macos-{cpu}"),
        System::Windows => format!("windows-{cpu}"),
    };
    let folder = target()?.join("package");
    let version = version()?;
    let name = format!("tone-filter-{version}-{label}");
    let files = folder.join(&name);
    install::remove(&files)?;
    fs::create_dir_all(&files)?;

    let program = if system == System::MacOs {
        bundle::bundle_universal(args.iter().cloned())?;
        universal_program(args)?
    } else {
        bundle::bundle(args.iter().cloned())?;
        program(args, triple.map(String::as_str), system)?
    };
    for bundle in [bundle::clap()?, bundle::vst3()?, program] {
        copy(&bundle, &files)?;
    }
    if system == System::MacOs {
        copy(&bundle::audio_unit()?, &files)?;
    }
    for page in PAGES {
        copy(&root().join(page), &files)?;
    }
    let out = |extension: &str| folder.join(format!("{name}{extension}"));
    let packages = match system {
        System::Windows => {
            vec![zip(&files, out(".zip"))?, installer(&files, released(args), out("-setup.exe"))?]
        }
        System::Linux => {
            copy(&root().join("xtask/package/install.sh"), &files)?;
            let deb = format!("tone-filter_{version}_{}.deb", debian_name(cpu));
            vec![tar(&files, out(".tar.gz"))?, debian(&files, cpu, folder.join(deb))?]
        }
        System::MacOs => {
            copy(&root().join("xtask/package/install.sh"), &files)?;
            vec![tar(&files, out(".tar.gz"))?, mac_installer(&files, out(".pkg"))?]
        }
    };
    for package in &packages {
        println!("{}", package.display());
    }
    Ok(packages)
}

fn released(args: &[String]) -> bool {
    args.iter().any(|arg| arg == "--release")
}

/// The version of what is packed.
pub(crate) fn version() -> Result<String> {
    let mut command = cargo_metadata::MetadataCommand::new();
    let metadata = command.manifest_path(root().join("Cargo.toml")).no_deps().exec()?;
    Ok(metadata.root_package().context("the workspace has a package")?.version.to_string())
}

/// Builds the command with all that it can do, for `triple` or for this system.
fn program(args: &[String], triple: Option<&str>, system: System) -> Result<PathBuf> {
    let build =
        ["build", "--locked", "--bin=tone-filter", "--no-default-features", "--features=app"];
    run(Command::new("cargo").args(build).args(args))?;
    let profile = if released(args) { "release" } else { "debug" };
    let folder = triple.map_or_else(target, |triple| Ok(target()?.join(triple)))?;
    let name = if system == System::Windows { "tone-filter.exe" } else { "tone-filter" };
    Ok(folder.join(profile).join(name))
}

/// The same for both CPU types of Macs, in one file.
fn universal_program(args: &[String]) -> Result<PathBuf> {
    let out = target()?.join("package/tone-filter");
    let mut lipo = Command::new("lipo");
    lipo.arg("-create").arg("-output").arg(&out);
    for triple in macos::TARGETS {
        let args = [args, &["--target".to_owned(), triple.to_owned()]].concat();
        lipo.arg(program(&args, Some(triple), System::MacOs)?);
    }
    run(&mut lipo)?;
    Ok(out)
}

/// Copies a file or a folder into the folder `to`.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let name = from.file_name().context("a file has a name")?;
    install::copy(from, &to.join(name)).with_context(|| format!("cannot copy {}", from.display()))
}

fn tar(files: &Path, out: PathBuf) -> Result<PathBuf> {
    let (folder, name) = (files.parent().context("a folder")?, files.file_name().context("named")?);
    run(Command::new("tar").arg("-czf").arg(&out).arg("-C").arg(folder).arg(name))?;
    Ok(out)
}

fn zip(files: &Path, out: PathBuf) -> Result<PathBuf> {
    let python = if cfg!(windows) { "python" } else { "python3" };
    run(Command::new(python).args(["-m", "zipfile", "-c"]).arg(&out).arg(files))?;
    Ok(out)
}

/// An installer by NSIS. Debian's makes it for 64 bits, others for 32, which every Windows runs.
fn installer(files: &Path, release: bool, out: PathBuf) -> Result<PathBuf> {
    let define = |name: &str, value: &Path| format!("-D{name}={}", value.display());
    run(Command::new("makensis")
        .args(cfg!(target_os = "linux").then_some("-XTarget amd64-unicode"))
        .arg("-V2")
        // The best compression takes minutes.
        .arg(format!("-DCOMPRESSOR={}", if release { "lzma" } else { "zlib" }))
        .arg(format!("-DVERSION={}", version()?))
        .arg(define("FILES", files))
        .arg(define("OUT", &out))
        .arg(root().join("xtask/package/installer.nsi")))?;
    Ok(out)
}

/// Debian's word for a CPU.
fn debian_name(cpu: &str) -> &str {
    match cpu {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn debian(files: &Path, cpu: &str, out: PathBuf) -> Result<PathBuf> {
    let tree = target()?.join("package/deb");
    install::remove(&tree)?;
    let put = |name: &str, folder: &str| -> Result<()> {
        let folder = tree.join(folder);
        fs::create_dir_all(&folder)?;
        copy(&files.join(name), &folder)
    };
    put("tone-filter", "usr/bin")?;
    put("Tone Filter.clap", "usr/lib/clap")?;
    put("Tone Filter.vst3", "usr/lib/vst3")?;
    for page in PAGES {
        put(page, "usr/share/doc/tone-filter")?;
    }
    run(Command::new(files.join("tone-filter")).arg("man").arg(tree.join("usr/share/man/man1")))?;
    let control = fs::read_to_string(root().join("xtask/package/control"))?
        .replace("{version}", &version()?)
        .replace("{architecture}", debian_name(cpu))
        .replace("{kilobytes}", &(size(&tree)? / 1024).to_string());
    fs::create_dir_all(tree.join("DEBIAN"))?;
    fs::write(tree.join("DEBIAN/control"), control)?;
    run(Command::new("dpkg-deb").args(["--build", "--root-owner-group"]).arg(&tree).arg(&out))?;
    Ok(out)
}

/// Bytes of all files in `folder`.
fn size(folder: &Path) -> Result<u64> {
    fs::read_dir(folder)?.try_fold(0, |sum, entry| {
        let entry = entry?;
        let metadata = entry.metadata()?;
        Ok(sum + if metadata.is_dir() { size(&entry.path())? } else { metadata.len() })
    })
}

/// An installer by Apple's tools, which is not signed.
fn mac_installer(files: &Path, out: PathBuf) -> Result<PathBuf> {
    let tree = target()?.join("package/pkg");
    install::remove(&tree)?;
    for (name, folder) in [
        ("Tone Filter.clap", "Library/Audio/Plug-Ins/CLAP"),
        ("Tone Filter.component", "Library/Audio/Plug-Ins/Components"),
        ("Tone Filter.vst3", "Library/Audio/Plug-Ins/VST3"),
        ("tone-filter", "usr/local/bin"),
    ] {
        fs::create_dir_all(tree.join(folder))?;
        copy(&files.join(name), &tree.join(folder))?;
    }
    run(Command::new("pkgbuild")
        .args(["--identifier", "tone-filter", "--version", &version()?, "--root"])
        .arg(&tree)
        .arg(&out))?;
    Ok(out)
}
