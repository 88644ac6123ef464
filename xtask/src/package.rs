//! `cargo xtask package` and `test-package`: all downloads of a release for one system, and their test on Linux.

use crate::{
    bundles::{self, MACS, System},
    commands::{cargo, command, is_release, kit, output, root, run, target, value, version},
    debian, files, programs, python,
    python::PYTHON,
    sbom, unity, web,
};
use anyhow::{Context, Result, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Documents in the archive, the Windows installer and the Debian package.
const PAGES: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Builds the downloads with `args`, options of `cargo build`. Returns their paths, without the checksums.
///
/// The downloads are an archive and an installer of bundles and program, a bill of materials and checksums; on x86-64 also the
/// Unity package. A release build for this system adds the Python wheel, and on Linux on x86-64 the npm package.
pub fn package(args: &[String]) -> Result<Vec<PathBuf>> {
    let triple = value(args, "--target");
    let system = System::of(triple);
    let cpu = match (system, triple) {
        (System::MacOs, _) => "universal",
        (_, Some(triple)) => triple.split('-').next().context("a target has a CPU")?,
        _ => std::env::consts::ARCH,
    };
    if system == System::Linux && debian::is_here() {
        let packs = is_release(args) && triple.is_none();
        let npm = if packs { debian::missing_programs("npm") } else { Vec::new() };
        debian::install(&[&[programs::HEADERS], &npm[..]].concat().join(" "))?;
    }
    let program = if system == System::MacOs {
        bundles::bundle_universal(args)?;
        universal_program(args)?
    } else {
        bundles::bundle(args)?;
        program(args, &[])?
    };
    if system == System::Linux {
        bundles::bundle_lv2(args)?;
    }
    let mut parts =
        bundles::all(system).map(|bundle| bundle.built()).collect::<Result<Vec<_>>>()?;
    parts.push(program);
    let build = Build { system, cpu: cpu.to_owned(), released: is_release(args), parts };
    let folder = target()?.join("package");
    let mut packages = build.pack(&folder)?;
    if cpu == "x86_64" {
        packages.push(unity::package(args)?);
    }
    if is_release(args) && triple.is_none() {
        packages.push(files::copy_into(&python::package()?, &folder)?);
        if system == System::Linux && cpu == "x86_64" {
            packages.push(files::copy_into(&web::package()?, &folder)?);
        }
    }
    let built_for = match triple {
        Some(triple) => triple.to_owned(),
        None if system == System::MacOs => MACS[0].to_owned(),
        None => output(Command::new("rustc").args(["--print", "host-tuple"]))?,
    };
    packages.push(sbom::write(&built_for, folder.join(build.name()? + ".cdx.json"))?);
    sbom::write_sums(&folder, &packages)?;
    Ok(packages)
}

/// Builds the program `tone-filter` with all its features. `args` and `extra` are options of `cargo build`. Returns its path.
fn program(args: &[String], extra: &[&str]) -> Result<PathBuf> {
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    command(&[&args, extra, &["--features=app"]].concat())
}

/// Builds the program `tone-filter` as a universal binary for Macs. Returns its path.
fn universal_program(args: &[String]) -> Result<PathBuf> {
    let folder = target()?.join("package");
    fs::create_dir_all(&folder)?;
    let out = folder.join("tone-filter");
    let mut lipo = Command::new("lipo");
    lipo.arg("-create").arg("-output").arg(&out);
    for triple in MACS {
        lipo.arg(program(args, &["--target", triple])?);
    }
    run(lipo)?;
    Ok(out)
}

pub struct Build {
    pub system: System,
    /// CPU architecture as in Rust's target triples; `universal` for Macs.
    pub cpu: String,
    /// Whether this is a release build, which is compressed best.
    pub released: bool,
    /// Paths of the bundles and of the program `tone-filter`.
    pub parts: Vec<PathBuf>,
}

impl Build {
    /// Returns the common prefix of the downloads' file names.
    fn name(&self) -> Result<String> {
        let system = match self.system {
            System::Linux => "linux",
            System::MacOs => "macos",
            System::Windows => "windows",
        };
        Ok(format!("tone-filter-{}-{system}-{}", version()?, self.cpu))
    }

    /// Packs the build with the documents into `folder`. Returns the paths of the downloads.
    pub fn pack(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let name = self.name()?;
        let files = folder.join(&name);
        files::remove(&files)?;
        let mut content = self.parts.clone();
        content.extend(PAGES.map(|page| root().join(page)));
        if self.system != System::Windows {
            content.push(root().join("xtask/package/install.sh"));
        }
        if self.system == System::Linux {
            content.push(root().join("examples/pipewire/tone-filter.conf"));
        }
        for part in content {
            files::copy_into(&part, &files)?;
        }
        let out = |extension: &str| folder.join(format!("{name}{extension}"));
        let (archive, installer);
        if self.system == System::Windows {
            archive = out(".zip");
            let zip = ["-m", "zipfile", "-c"];
            run(Command::new(PYTHON).args(zip).arg(&archive).arg(&files))?;
        } else {
            archive = out(".tar.gz");
            files::tar(&files, &archive)?;
        }
        match self.system {
            System::Windows => {
                installer = out("-setup.exe");
                windows_installer(&files, self.released, &installer)?;
            }
            System::Linux => {
                let cpu = match &*self.cpu {
                    "x86_64" => "amd64",
                    "aarch64" => "arm64",
                    other => other,
                };
                installer = folder.join(format!("tone-filter_{}_{cpu}.deb", version()?));
                debian_package(&files, cpu, &installer)?;
            }
            System::MacOs => {
                installer = out(".pkg");
                mac_installer(&files, &installer)?;
            }
        }
        println!("{}\n{}", archive.display(), installer.display());
        Ok(vec![archive, installer])
    }
}

/// Makes a Windows installer with NSIS. It is a 64-bit program with Debian's NSIS, otherwise a 32-bit one, which runs on every
/// Windows.
fn windows_installer(files: &Path, release: bool, out: &Path) -> Result<()> {
    let define = |name: &str, value: &Path| format!("-D{name}={}", value.display());
    run(Command::new("makensis")
        .args(cfg!(target_os = "linux").then_some("-XTarget amd64-unicode"))
        .arg("-V2")
        // The best compression takes minutes.
        .arg(format!("-DCOMPRESSOR={}", if release { "lzma" } else { "zlib" }))
        .arg(format!("-DVERSION={}", version()?))
        .arg(define("FILES", files))
        .arg(define("OUT", out))
        .arg(root().join("xtask/package/installer.nsi")))
}

fn debian_package(files: &Path, cpu: &str, out: &Path) -> Result<()> {
    let tree = out.with_file_name("deb");
    files::remove(&tree)?;
    for bundle in bundles::all(System::Linux) {
        files::copy(&files.join(bundle.name), &tree.join(bundle.below("usr/lib/")))?;
    }
    files::copy_into(&files.join("tone-filter"), &tree.join("usr/bin"))?;
    for page in PAGES.into_iter().chain(["tone-filter.conf"]) {
        files::copy_into(&files.join(page), &tree.join("usr/share/doc/tone-filter"))?;
    }
    run(Command::new(files.join("tone-filter")).arg("man").arg(tree.join("usr/share/man/man1")))?;
    let kilobytes = output(Command::new("du").args(["--apparent-size", "-sk"]).arg(&tree))?;
    let control = fs::read_to_string(root().join("xtask/package/control"))?
        .replace("{version}", &version()?)
        .replace("{architecture}", cpu)
        .replace("{kilobytes}", kilobytes.split_whitespace().next().unwrap_or("0"));
    fs::create_dir_all(tree.join("DEBIAN"))?;
    fs::write(tree.join("DEBIAN/control"), control)?;
    run(Command::new("dpkg-deb").args(["--build", "--root-owner-group"]).arg(&tree).arg(out))
}

/// Makes a macOS installer with Apple's tools. The installer is not signed.
fn mac_installer(files: &Path, out: &Path) -> Result<()> {
    let tree = out.with_file_name("pkg");
    files::remove(&tree)?;
    for bundle in bundles::all(System::MacOs) {
        let folder = tree.join("Library/Audio/Plug-Ins").join(bundle.folder);
        files::copy_into(&files.join(bundle.name), &folder)?;
    }
    files::copy_into(&files.join("tone-filter"), &tree.join("usr/local/bin"))?;
    run(Command::new("pkgbuild")
        .args(["--identifier", "tone-filter", "--version", &version()?, "--root"])
        .arg(&tree)
        .arg(out))
}

/// Makes the downloads of a debug build, and unpacks, installs and loads them as users would. Then runs the plugin's tests on the
/// release bundle.
pub fn test() -> Result<()> {
    debian::need("ffmpeg")?;
    let packages = package(&[])?;
    let find = |extension: &str| {
        let name = |path: &&PathBuf| path.to_string_lossy().ends_with(extension);
        packages.iter().find(name).with_context(|| format!("no {extension} was made"))
    };
    checksums(&packages)?;
    test_debian(find(".deb")?)?;
    test_archive(find(".tar.gz")?)?;
    println!("both packages install what loads and plays");
    bundles::bundle_release()?;
    run(cargo("test --package=tone-filter-hosts --no-fail-fast"))
}

/// Verifies the checksums with `sha256sum`. They must cover all packages.
fn checksums(packages: &[PathBuf]) -> Result<()> {
    let folder = packages[0].parent().context("packages lie in a folder")?;
    let mut check = Command::new("sha256sum");
    let checked = check.args(["--check", "SHA256SUMS"]).current_dir(folder).output()?;
    let lines = String::from_utf8(checked.stdout)?;
    ensure!(checked.status.success(), "checksums are wrong: {lines}");
    ensure!(lines.lines().count() == packages.len(), "of {} packages: {lines}", packages.len());
    Ok(())
}

fn test_debian(deb: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let at = |path: &str| folder.path().join(path);
    run(Command::new("dpkg-deb").arg("--extract").arg(deb).arg(folder.path()))?;
    loads(folder.path(), "usr/lib/", "usr/bin")?;
    for page in [
        "man/man1/tone-filter.1",
        "doc/tone-filter/LICENSE-MIT",
        "doc/tone-filter/tone-filter.conf",
    ] {
        ensure!(at("usr/share").join(page).is_file(), "{page} is missing");
    }
    Ok(())
}

fn test_archive(archive: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    files::untar(archive, folder.path())?;
    let top = folder.path().read_dir()?.next().context("the archive is empty")??.path();
    let home = tempfile::tempdir()?;
    let script = |flags: &[&str]| {
        run(Command::new(top.join("install.sh")).args(flags).env("HOME", home.path()))
    };
    // The second run is an update.
    script(&[])?;
    script(&[])?;
    loads(home.path(), ".", ".local/bin")?;
    script(&["--uninstall"])?;
    for folder in [".clap", ".lv2", ".vst3", ".local/bin"] {
        let remaining = home.path().join(folder).read_dir()?.next();
        ensure!(remaining.is_none(), "{folder} is not empty afterwards");
    }
    Ok(())
}

/// Loads the bundles below `root`, and renders with the program in `bin`. `prefix` is the argument of
/// [`Bundle::below`](bundles::Bundle::below).
fn loads(root: &Path, prefix: &str, bin: &str) -> Result<()> {
    let mut bundles = bundles::all(System::Linux).map(|bundle| root.join(bundle.below(prefix)));
    run(kit("loads").args(bundles.by_ref().take(2)))?;
    let lv2 = bundles.next().context("the LV2 bundle comes last")?;
    // ffmpeg finds the bundle by this variable, as all hosts do.
    let path = format!("{}:/usr/lib/lv2", lv2.parent().context("a folder")?.display());
    run(Command::new("ffmpeg")
        .args(["-v", "error", "-f", "lavfi", "-i", "sine=duration=1", "-af"])
        .arg("aformat=channel_layouts=stereo,lv2=urn\\\\:tone-filter\\\\:stereo")
        .args(["-f", "null", "-"])
        .env("LV2_PATH", path))?;
    let out = tempfile::tempdir()?;
    let mut program = Command::new(root.join(bin).join("tone-filter"));
    run(program.args(["render", "assets/demo.wav", "-o"]).arg(out.path().join("out.wav")))
}
