//! Downloads: archives and installers made from a build.

use crate::{install, metadata, root, run};
use anyhow::{Context, Result};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Documents in every download.
const PAGES: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// System of a download.
#[derive(Clone, Copy, PartialEq)]
pub enum System {
    Linux,
    MacOs,
    Windows,
}

impl System {
    /// Returns the system of the Rust target `triple`; without a triple, this system.
    pub fn of(triple: Option<&str>) -> Self {
        let is = |name: &str, here: bool| triple.map_or(here, |triple| triple.contains(name));
        match () {
            () if is("windows", cfg!(windows)) => Self::Windows,
            () if is("apple", cfg!(target_os = "macos")) => Self::MacOs,
            () => Self::Linux,
        }
    }

    /// Returns the system's name in the downloads' file names.
    fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::MacOs => "macos",
            Self::Windows => "windows",
        }
    }
}

/// Build to be packed.
pub struct Build {
    pub system: System,
    /// Rust's name of the CPU type.
    pub cpu: String,
    /// Whether this is a release build, which gets the best compression.
    pub released: bool,
    /// Paths of the bundles and of the program `tone-filter`.
    pub parts: Vec<PathBuf>,
}

impl Build {
    /// Returns the beginning of the downloads' file names.
    pub fn name(&self) -> Result<String> {
        Ok(format!("tone-filter-{}-{}-{}", version()?, self.system.name(), self.cpu))
    }

    /// Packs the build with the documents into `folder`. Returns the paths of the downloads.
    pub fn pack(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let Self { system, cpu, released, parts } = self;
        let name = self.name()?;
        let files = folder.join(&name);
        install::remove(&files)?;
        fs::create_dir_all(&files)?;
        for part in parts {
            copy(part, &files)?;
        }
        for page in PAGES {
            copy(&root().join(page), &files)?;
        }
        let out = |extension: &str| folder.join(format!("{name}{extension}"));
        let packages = match system {
            System::Windows => {
                vec![zip(&files, out(".zip"))?, installer(&files, *released, out("-setup.exe"))?]
            }
            System::Linux => {
                copy(&root().join("xtask/package/install.sh"), &files)?;
                copy(&root().join("examples/pipewire/tone-filter.conf"), &files)?;
                let deb = format!("tone-filter_{}_{}.deb", version()?, debian_name(cpu));
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
}

/// Returns the version of the plugin and of the downloads.
pub fn version() -> Result<String> {
    let metadata = metadata(&["--no-deps"])?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let own = packages.into_iter().find(|package| package["name"] == "tone-filter");
    Ok(own.context("no package")?["version"].as_str().context("no version")?.to_owned())
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

/// Makes a Windows installer by NSIS: for 64 bits with Debian's NSIS, otherwise for 32 bits, which every Windows runs.
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

/// Returns Debian's name of a CPU type.
fn debian_name(cpu: &str) -> &str {
    match cpu {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn debian(files: &Path, cpu: &str, out: PathBuf) -> Result<PathBuf> {
    let tree = out.with_file_name("deb");
    install::remove(&tree)?;
    let put = |name: &str, folder: &str| -> Result<()> {
        let folder = tree.join(folder);
        fs::create_dir_all(&folder)?;
        copy(&files.join(name), &folder)
    };
    put("tone-filter", "usr/bin")?;
    put("Tone Filter.clap", "usr/lib/clap")?;
    put("Tone Filter.vst3", "usr/lib/vst3")?;
    put("tone-filter.lv2", "usr/lib/lv2")?;
    for page in PAGES.into_iter().chain(["tone-filter.conf"]) {
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

/// Returns the total size of all files in `folder` in bytes.
fn size(folder: &Path) -> Result<u64> {
    fs::read_dir(folder)?.try_fold(0, |sum, entry| {
        let entry = entry?;
        let metadata = entry.metadata()?;
        Ok(sum + if metadata.is_dir() { size(&entry.path())? } else { metadata.len() })
    })
}

/// Makes a macOS installer with Apple's tools. The installer is not signed.
fn mac_installer(files: &Path, out: PathBuf) -> Result<PathBuf> {
    let tree = out.with_file_name("pkg");
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
