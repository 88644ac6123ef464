//! Plugin bundles: build, contents and installation.

use crate::{
    commands::{built, cargo, is_release, profile, root, run, target, value},
    files,
};
use anyhow::{Context, Result, ensure};
use std::{
    collections::BTreeSet,
    env::{
        self,
        consts::{ARCH, OS},
    },
    fs, io,
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum System {
    Linux,
    MacOs,
    Windows,
}

impl System {
    /// Returns the system of the Rust target `triple`; `None` is this system.
    pub fn of(triple: Option<&str>) -> Self {
        let name = triple.unwrap_or(OS);
        if name.contains("windows") {
            Self::Windows
        } else if name.contains("apple") || name == "macos" {
            Self::MacOs
        } else {
            Self::Linux
        }
    }
}

pub struct Bundle {
    pub name: &'static str,
    /// Name of the folder in which hosts look for plugins of this format. On Linux, the name is in lower case.
    pub folder: &'static str,
    systems: &'static [System],
}

const CLAP: Bundle = Bundle {
    name: "Tone Filter.clap",
    folder: "CLAP",
    systems: &[System::Linux, System::MacOs, System::Windows],
};
const VST3: Bundle = Bundle { name: "Tone Filter.vst3", folder: "VST3", systems: CLAP.systems };
const LV2: Bundle = Bundle { name: "tone-filter.lv2", folder: "LV2", systems: &[System::Linux] };

/// Returns the bundles of a release for `system`.
pub fn all(system: System) -> impl Iterator<Item = Bundle> {
    [CLAP, VST3, LV2].into_iter().filter(move |bundle| bundle.systems.contains(&system))
}

impl Bundle {
    pub fn built(&self) -> Result<PathBuf> {
        Ok(target()?.join("bundled").join(self.name))
    }

    /// Returns the bundle's path on Linux. `prefix` comes right before the folder of the format: `usr/lib/` gives
    /// `usr/lib/clap/Tone Filter.clap`, and `.` gives `.clap/Tone Filter.clap`.
    pub fn below(&self, prefix: &str) -> PathBuf {
        format!("{prefix}{}/{}", self.folder.to_lowercase(), self.name).into()
    }

    /// Returns the path of the bundle in this user's plugin folder.
    fn installed(&self) -> Result<PathBuf> {
        let home = |name| env::var_os(name).with_context(|| format!("${name} is not set"));
        Ok(match System::of(None) {
            System::Linux => Path::new(&home("HOME")?).join(self.below(".")),
            System::MacOs => Path::new(&home("HOME")?)
                .join("Library/Audio/Plug-Ins")
                .join(self.folder)
                .join(self.name),
            System::Windows => Path::new(&home("LOCALAPPDATA")?)
                .join("Programs/Common")
                .join(self.folder)
                .join(self.name),
        })
    }

    /// Returns the path of the plugin's library in the bundle; an empty path if the bundle is the library itself.
    fn library(&self, system: System, cpu: &str) -> String {
        match system {
            System::MacOs => "Contents/MacOS/Tone Filter".to_owned(),
            _ if self.name == CLAP.name => String::new(),
            System::Linux => format!("Contents/{cpu}-linux/Tone Filter.so"),
            System::Windows => {
                let cpu = if cpu == "aarch64" { "arm_64" } else { cpu };
                format!("Contents/{cpu}-win/Tone Filter.vst3")
            }
        }
    }

    /// Writes the metadata files of a macOS bundle.
    fn describe(&self, bundle: &Path) -> Result<()> {
        fs::write(bundle.join("Contents/PkgInfo"), "BNDL????")?;
        Ok(fs::write(bundle.join("Contents/Info.plist"), PROPERTIES)?)
    }
}

const PACKAGE: &str = "tone-filter";

/// Rust targets of a universal binary for Macs.
pub const MACS: [&str; 2] = ["aarch64-apple-darwin", "x86_64-apple-darwin"];

const PROPERTIES: &str = include_str!("../package/Info.plist");

/// Builds the plugin, and bundles it as CLAP and VST3. `args` are options of `cargo build`, after an optional package.
pub fn bundle(args: &[String]) -> Result<()> {
    let args = options(args);
    make(args, &[value(args, "--target")], &[CLAP, VST3])
}

/// Builds and bundles universal binaries for Macs. Needs macOS with both targets of [`MACS`].
pub fn bundle_universal(args: &[String]) -> Result<()> {
    make(options(args), &MACS.map(Some), &[CLAP, VST3])
}

pub fn bundle_release() -> Result<()> {
    bundle(&["--release".to_owned()])
}

/// Builds and bundles the LV2 plugin. `args` are options of `cargo build`. Returns the bundle's path.
pub fn bundle_lv2(args: &[String]) -> Result<PathBuf> {
    ensure!(cfg!(target_os = "linux"), "the LV2 bundle is for Linux, and is made there");
    run(cargo("build --package=tone-filter-lv2 --lib").args(args))?;
    let (library, bundle) = (built(args)?.join("libtone_filter_lv2.so"), LV2.built()?);
    files::remove(&bundle)?;
    fs::create_dir_all(&bundle)?;
    // The program that writes the description runs on this system, so it is built without `--target`.
    let release = is_release(args).then_some("--release");
    let mut describe = cargo("run --package=tone-filter-lv2 --example=describe");
    run(describe.args(release).arg("--").args([&library, &bundle]))?;
    println!("{}", bundle.display());
    Ok(bundle)
}

pub fn install() -> Result<()> {
    bundle_release()?;
    if cfg!(target_os = "linux") {
        bundle_lv2(&["--release".to_owned()])?;
    }
    for bundle in all(System::of(None)) {
        let installed = bundle.installed()?;
        replace(&bundle.built()?, &installed)?;
        println!("Installed {}", installed.display());
    }
    println!("Now let your host scan for plugins; the effect is called \"Tone Filter\".");
    Ok(())
}

/// Installs `bundle` at `installed`. Copies it under another name first, so that two renames replace an older bundle. If the
/// second one fails, the older bundle comes back.
fn replace(bundle: &Path, installed: &Path) -> Result<()> {
    let aside = |suffix: &str| {
        let mut name = installed.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let (new, old) = (aside(".new"), aside(".old"));
    let install = || -> Result<()> {
        files::remove(&new)?;
        files::remove(&old)?;
        files::copy(bundle, &new)?;
        if installed.exists() {
            fs::rename(installed, &old)?;
        }
        fs::rename(&new, installed).inspect_err(|_| drop(fs::rename(&old, installed)))?;
        Ok(files::remove(&old)?)
    };
    install().with_context(|| format!("cannot install {}", installed.display()))
}

/// Builds the libraries, programs, tests and examples of `packages`, which are options of cargo. Bundles the plugin from the same
/// build, so that the tests and the plugin share compiled crates.
pub fn bundle_tests(packages: &str) -> Result<()> {
    let started = SystemTime::now();
    run(cargo("build --lib --bins --tests --examples").args(packages.split_whitespace()))?;
    bundle_built(started, &[target()?.join("debug")], None, &[CLAP, VST3])
}

/// Returns the options in `args`, without the package.
fn options(args: &[String]) -> &[String] {
    let words: Vec<_> = args.iter().map(String::as_str).collect();
    match words[..] {
        ["-p", PACKAGE, ..] => &args[2..],
        [PACKAGE, ..] => &args[1..],
        _ => args,
    }
}

/// Builds the plugin for each of `triples` (`None`: default target), and assembles `bundles` that contain all builds.
fn make(options: &[String], triples: &[Option<&str>], bundles: &[Bundle]) -> Result<()> {
    let started = SystemTime::now();
    let mut folders = Vec::new();
    for triple in triples {
        let mut build = cargo("build --lib");
        build.args(["--package", PACKAGE]).args(options);
        if triples.len() > 1 {
            build.args(triple.map(|triple| format!("--target={triple}")));
        }
        run(build)?;
        folders.push(target()?.join(triple.unwrap_or("")).join(profile(options)));
    }
    bundle_built(started, &folders, triples[0], bundles)
}

/// Assembles `bundles` from the plugin's libraries, which cargo has written into `folders`: for Macs a folder for each CPU,
/// otherwise a single one. `triple` is the target of the first folder. Stamps the bundles with their sources, and with the time
/// `started` at which the builds began.
fn bundle_built(
    started: SystemTime,
    folders: &[PathBuf],
    triple: Option<&str>,
    bundles: &[Bundle],
) -> Result<()> {
    let library = match System::of(triple) {
        System::Linux => "libtone_filter.so",
        System::MacOs => "libtone_filter.dylib",
        System::Windows => "tone_filter.dll",
    };
    let libraries: Vec<_> = folders.iter().map(|folder| folder.join(library)).collect();
    let bundled = target()?.join("bundled");
    assemble(&bundled, &libraries, triple, bundles)?;
    let dep_info = fs::read_to_string(libraries[libraries.len() - 1].with_extension("d"));
    let inputs = inputs(&dep_info.context("cargo has left no list of the sources")?, root());
    stamp(&bundled.join(".bundled"), &inputs, started).context("cannot write to target/bundled")
}

/// Assembles `bundles` in `folder` from `libraries`. On macOS, there may be one library per CPU architecture.
fn assemble(
    folder: &Path,
    libraries: &[PathBuf],
    triple: Option<&str>,
    bundles: &[Bundle],
) -> Result<()> {
    let system = System::of(triple);
    let cpu = triple.and_then(|triple| triple.split('-').next()).unwrap_or(ARCH);
    for bundle in bundles {
        let path = folder.join(bundle.name);
        files::remove(&path)?;
        let inside = bundle.library(system, cpu);
        let library = if inside.is_empty() { path.clone() } else { path.join(inside) };
        match libraries {
            [only] => files::copy(only, &library)?,
            all => {
                fs::create_dir_all(library.parent().context("a file is in a folder")?)?;
                run(Command::new("lipo").arg("-create").arg("-output").arg(&library).args(all))?;
            }
        }
        if system == System::MacOs {
            bundle.describe(&path)?;
            // ARM Macs load only signed code. Cross-builds lack this program.
            if let Err(error) = run(Command::new("codesign").args(["-f", "-s", "-"]).arg(&path)) {
                println!("not signed: {error:#}");
            }
        }
        println!("{}", path.display());
    }
    Ok(())
}

/// Returns the inputs of a build: the sources that cargo's `dep_info` lists, the manifests of their packages, the lock file and
/// cargo's configuration.
fn inputs(dep_info: &str, root: &Path) -> BTreeSet<PathBuf> {
    let sources = dep_info.lines().next().and_then(|line| line.split_once(": "));
    let sources = sources.map_or("", |(_, sources)| sources).replace("\\ ", "\0");
    let mut inputs: BTreeSet<_> =
        sources.split_whitespace().map(|path| PathBuf::from(path.replace('\0', " "))).collect();
    let folders = inputs.iter().flat_map(|path| path.ancestors());
    let folders = folders.filter(|folder| folder.starts_with(root));
    let manifests: Vec<_> = folders.map(|folder| folder.join("Cargo.toml")).collect();
    let others = ["Cargo.lock", ".cargo/config.toml"].map(|name| root.join(name));
    inputs.extend(manifests.into_iter().chain(others).filter(|path| path.exists()));
    inputs
}

/// Writes the list `inputs`, with the start of the build as modification time, so that files changed during the build are newer.
fn stamp(path: &Path, inputs: &BTreeSet<PathBuf>, started: SystemTime) -> io::Result<()> {
    let lines = inputs.iter().map(|path| format!("{}\n", path.display()));
    fs::write(path, lines.collect::<String>())?;
    fs::File::options().write(true).open(path)?.set_modified(started)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_package_may_be_named() {
        for line in ["--release", "tone-filter --release", "-p tone-filter --release"] {
            let args: Vec<_> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(options(&args), ["--release"]);
        }
    }

    #[test]
    fn bundler_toml_has_the_same_name() {
        let config = fs::read_to_string(root().join("bundler.toml")).unwrap();
        let name = CLAP.name.strip_suffix(".clap").unwrap();
        assert_eq!(config, format!("[tone-filter]\nname = \"{name}\"\n"));
    }

    #[test]
    fn bundles_have_the_library_at_each_systems_path() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::write(at("library"), "code").unwrap();
        let mac = "Contents/MacOS/Tone Filter";
        for (triple, bundle, inside) in [
            ("x86_64-unknown-linux-gnu", CLAP, ""),
            ("aarch64-unknown-linux-gnu", VST3, "Contents/aarch64-linux/Tone Filter.so"),
            ("x86_64-pc-windows-msvc", CLAP, ""),
            ("aarch64-pc-windows-msvc", VST3, "Contents/arm_64-win/Tone Filter.vst3"),
            ("aarch64-apple-darwin", CLAP, mac),
            ("aarch64-apple-darwin", VST3, mac),
        ] {
            let path = at(bundle.name);
            assemble(folder.path(), &[at("library")], Some(triple), &[bundle]).unwrap();
            let library = if inside.is_empty() { path } else { path.join(inside) };
            assert_eq!(fs::read_to_string(&library).unwrap(), "code", "{}", library.display());
        }
    }

    #[test]
    fn a_bundle_replaces_the_older_one() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for file in
            ["A.vst3/Contents/new", "plugins/A.vst3/stale", "plugins/A.vst3.new/interrupted"]
        {
            fs::create_dir_all(at(file).parent().unwrap()).unwrap();
            fs::write(at(file), "").unwrap();
        }
        fs::write(at("plugins/A.vst3.old"), "").unwrap();
        let installed = at("plugins/A.vst3");
        replace(&at("A.vst3"), &installed).unwrap();
        assert!(installed.join("Contents/new").exists() && !installed.join("stale").exists());
        assert_eq!(fs::read_dir(at("plugins")).unwrap().count(), 1);
        // A missing bundle leaves the installed one unchanged.
        let error = replace(&at("elsewhere"), &installed).unwrap_err();
        assert!(error.to_string().contains("cannot install"), "{error}");
        assert!(installed.join("Contents/new").exists());
    }

    #[test]
    fn the_stamp_lists_all_inputs_and_the_build_start() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("with blank");
        let sources = ["src/lib.rs", "build.rs", "crates/a/src/lib.rs", "crates/a/weights.bin"];
        let others = ["Cargo.lock", "Cargo.toml", "crates/a/Cargo.toml"];
        let all: Vec<_> = sources.iter().chain(&others).map(|name| root.join(name)).collect();
        for path in &all {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let escaped = |path: &PathBuf| path.display().to_string().replace(' ', "\\ ");
        let listed: Vec<_> = all[..sources.len()].iter().map(escaped).collect();
        let dep_info = format!("/x/libtone_filter.so: {}\n", listed.join(" "));
        let inputs = inputs(&dep_info, &root);
        assert_eq!(inputs, all.iter().cloned().collect());

        let path = folder.path().join("stamp");
        let started = SystemTime::now() + Duration::from_secs(10);
        stamp(&path, &inputs, started).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), started);
        let listed = fs::read_to_string(&path).unwrap();
        assert_eq!(listed.lines().map(PathBuf::from).collect::<BTreeSet<_>>(), inputs);
    }
}
