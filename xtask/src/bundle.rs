//! `cargo xtask bundle`: builds the plugin as CLAP and VST3 bundles.

use crate::{audio_unit, install, macos, pack::System, root, run, target};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    env::consts::{ARCH, DLL_EXTENSION},
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::SystemTime,
};

const PACKAGE: &str = "tone-filter";

/// Property list, which macOS reads before it loads a bundle.
const PROPERTIES: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
    <key>CFBundleExecutable</key><string>{name}</string>
    <key>CFBundleIdentifier</key><string>com.nice-plug.tone-filter</string>
    <key>CFBundleName</key><string>{name}</string>
    <key>CFBundleDisplayName</key><string>{name}</string>
    <key>CFBundlePackageType</key><string>BNDL</string>
    <key>CFBundleSignature</key><string>????</string>
    <key>CFBundleShortVersionString</key><string>1.0.0</string>
    <key>CFBundleVersion</key><string>1.0.0</string>
    <key>NSHighResolutionCapable</key><true/>
</dict>
</plist>
"#;

/// Builds the plugin with `args`, the options of `cargo build`, and bundles it. The options may begin with the package.
pub fn bundle(args: impl IntoIterator<Item = String>) -> Result<()> {
    let args = options(args);
    make(&args, &[value(&args, "--target")], &[])
}

/// Bundles a universal binary for both CPU types of Macs, and the AU. On macOS only; both targets must be installed.
pub fn bundle_universal(args: impl IntoIterator<Item = String>) -> Result<()> {
    make(&options(args), &macos::TARGETS.map(Some), &["--features=au"])?;
    audio_unit::make(&built("clap")?).map(drop)
}

/// Makes a release build of the plugin and bundles it.
pub fn bundle_release() -> Result<()> {
    bundle_with(&[])
}

/// Makes a release build of the plugin and bundles it; `more` are further options of `cargo build`.
pub fn bundle_with(more: &[&str]) -> Result<()> {
    make(&["--release".to_owned()], &[None], more)
}

/// Builds all tests by cargo with `args`, and bundles the plugin from the same build, so that both share compiled crates.
pub fn bundle_tests(args: &[&str]) -> Result<()> {
    let started = SystemTime::now();
    let mut cargo = Command::new("cargo");
    cargo.args(args).args(["--no-run", "--message-format=json-render-diagnostics"]);
    let output = cargo.current_dir(root()).stdout(Stdio::piped()).spawn()?.wait_with_output()?;
    ensure!(output.status.success(), "`cargo {}` failed", args.join(" "));
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let messages = lines.map(serde_json::from_slice).collect::<Result<Vec<Value>, _>>()?;
    let mut library = None;
    let mut sources = BTreeSet::new();
    // Only crates with sources in this repository: other crates change only with the lock file.
    let is_here = |message: &&Value| {
        let id = message["package_id"].as_str().unwrap_or_default();
        message["reason"] == "compiler-artifact" && id.starts_with("path+")
    };
    for message in messages.iter().filter(is_here) {
        let files = message["filenames"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let files: Vec<_> = files.map(Path::new).collect();
        let is_plugin = message["target"]["name"] == "tone_filter";
        let end = |path: &&&Path, end: &str| path.extension().is_some_and(|own| own == end);
        if is_plugin && let Some(own) = files.iter().find(|path| end(path, DLL_EXTENSION)) {
            library = Some(own.to_path_buf());
        }
        // Sources of the plugin, and of some crates that it does not need.
        for rlib in files.iter().filter(|path| end(path, "rlib")) {
            let stem = rlib.file_stem().unwrap_or_default().to_string_lossy();
            let list = rlib.with_file_name(format!("{}.d", stem.trim_start_matches("lib")));
            let listed = fs::read_to_string(&list).with_context(|| list.display().to_string())?;
            sources.extend(inputs(&listed, root()));
        }
    }
    let library = library.context("cargo has built no plugin")?;
    assemble(&[library], System::of(None), None)?;
    let stamped = stamp(&target()?.join("bundled/.bundled"), &sources, started);
    stamped.context("cannot write to target/bundled")
}

/// Returns the path of the bundle with the extension `clap`, `vst3`, or `component` for AU.
pub fn built(extension: &str) -> Result<PathBuf> {
    Ok(target()?.join("bundled").join(name()?).with_extension(extension))
}

/// Returns the bundles' name, from `bundler.toml`.
fn name() -> Result<String> {
    let config = fs::read_to_string(root().join("bundler.toml"))?;
    let line = config.lines().find_map(|line| line.strip_prefix("name = "));
    Ok(line.context("bundler.toml has no name")?.trim_matches('"').to_owned())
}

/// Returns the options in `args`, without the package.
fn options(args: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut args = args.into_iter().peekable();
    args.next_if(|first| first == "-p");
    args.next_if(|first| first == PACKAGE);
    args.collect()
}

/// Returns the value of the option `flag`, written as `FLAG VALUE` or `FLAG=VALUE`.
fn value<'a>(options: &'a [String], flag: &str) -> Option<&'a str> {
    let separate = options.iter().skip_while(|arg| *arg != flag).nth(1).map(String::as_str);
    separate.or_else(|| options.iter().find_map(|arg| arg.strip_prefix(flag)?.strip_prefix('=')))
}

/// Builds the plugin for each of `triples`, and bundles all builds in one. `None` is the default target.
fn make(options: &[String], triples: &[Option<&str>], more: &[&str]) -> Result<()> {
    let started = SystemTime::now();
    let system = System::of(triples[0]);
    let release = options.iter().any(|arg| arg == "--release").then_some("release");
    let profile = release.or_else(|| value(options, "--profile")).unwrap_or("debug");
    let mut folders = Vec::new();
    for triple in triples {
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--lib", "-p", PACKAGE]).args(options).args(more);
        if triples.len() > 1 {
            cargo.args(triple.map(|triple| format!("--target={triple}")));
        }
        run(&mut cargo)?;
        folders.push(target()?.join(triple.unwrap_or("")).join(profile));
    }
    let (library, list) = match system {
        System::Linux => ("libtone_filter.so", "libtone_filter.d"),
        System::MacOs => ("libtone_filter.dylib", "libtone_filter.d"),
        System::Windows => ("tone_filter.dll", "tone_filter.d"),
    };
    let libraries: Vec<_> = folders.iter().map(|folder| folder.join(library)).collect();
    assemble(&libraries, system, triples[0])?;
    let dep_info = fs::read_to_string(folders[folders.len() - 1].join(list));
    let dep_info = dep_info.context("cargo has left no list of the sources")?;
    let stamped = stamp(&target()?.join("bundled/.bundled"), &inputs(&dep_info, root()), started);
    stamped.context("cannot write to target/bundled")
}

/// Makes the bundles from `libraries`, which are built for `triple`. On macOS, there may be one library for each CPU type.
fn assemble(libraries: &[PathBuf], system: System, triple: Option<&str>) -> Result<()> {
    let cpu = triple.and_then(|triple| triple.split('-').next()).unwrap_or(ARCH);
    let name = name()?;
    let (clap, vst3) = match system {
        System::Linux => (String::new(), format!("Contents/{cpu}-linux/{name}.so")),
        System::MacOs => (format!("Contents/MacOS/{name}"), format!("Contents/MacOS/{name}")),
        System::Windows => {
            let cpu = if cpu == "aarch64" { "arm_64" } else { cpu };
            (String::new(), format!("Contents/{cpu}-win/{name}.vst3"))
        }
    };
    for (extension, inside) in [("clap", clap), ("vst3", vst3)] {
        let bundle = built(extension)?;
        install::remove(&bundle)?;
        let path = if inside.is_empty() { bundle.clone() } else { bundle.join(inside) };
        fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
        match libraries {
            [library] => drop(fs::copy(library, &path)?),
            all => run(Command::new("lipo").arg("-create").arg("-output").arg(&path).args(all))?,
        }
        if system == System::MacOs {
            fs::write(bundle.join("Contents/PkgInfo"), "BNDL????")?;
            let properties = PROPERTIES.replace("{name}", &name);
            fs::write(bundle.join("Contents/Info.plist"), properties)?;
            // Macs with ARM load only signed code. Cross-builds do not have this program.
            if let Err(error) = run(Command::new("codesign").args(["-f", "-s", "-"]).arg(&bundle)) {
                println!("not signed: {error:#}");
            }
        }
        println!("{}", bundle.display());
    }
    Ok(())
}

/// Returns the files that decide what is built: the sources in the list `dep_info` from cargo or the compiler, and below `root`
/// the manifests of their packages, the lock file and cargo's configuration. The compiler's paths are relative to `root`.
fn inputs(dep_info: &str, root: &Path) -> BTreeSet<PathBuf> {
    let sources = dep_info.lines().next().and_then(|line| line.split_once(": "));
    let sources = sources.map_or("", |(_, sources)| sources).replace("\\ ", "\0");
    let mut inputs: BTreeSet<_> =
        sources.split_whitespace().map(|path| root.join(path.replace('\0', " "))).collect();
    let folders = inputs.iter().flat_map(|path| path.ancestors());
    let folders = folders.filter(|folder| folder.starts_with(root));
    let manifests: Vec<_> = folders.map(|folder| folder.join("Cargo.toml")).collect();
    let others = ["Cargo.lock", ".cargo/config.toml"].map(|name| root.join(name));
    inputs.extend(manifests.into_iter().chain(others).filter(|path| path.exists()));
    inputs
}

/// Writes the list `inputs`, dated to the start of the build: files that have changed during the build count as newer.
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
        let parsed = |args: &[&str]| options(args.iter().map(|arg| (*arg).to_owned()));
        for args in
            [&["--release"][..], &["tone-filter", "--release"], &["-p", "tone-filter", "--release"]]
        {
            assert_eq!(parsed(args), ["--release"]);
        }
        let options = parsed(&["--profile=fast", "--target", "a-b"]);
        assert_eq!(
            (value(&options, "--profile"), value(&options, "--target")),
            (Some("fast"), Some("a-b"))
        );
        assert_eq!(name().unwrap(), "Tone Filter");
    }

    #[test]
    fn the_stamp_lists_all_inputs_and_has_the_start_of_the_build() {
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
        let mut listed: Vec<_> = all[..sources.len()].iter().map(escaped).collect();
        // The compiler writes paths of this repository's sources relative to the root.
        listed[2] = sources[2].to_owned();
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
