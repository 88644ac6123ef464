//! `cargo xtask test` and `cargo xtask lint`: all checks that a change must pass.

use crate::{bundle, python, run};
use anyhow::{Context, Result, bail};
use std::{env, panic::resume_unwind, path::Path, process::Command, thread, time::Instant};

/// Debian packages for the tests: a virtual display and OpenGL for the editor's window, the message buses of screen readers and a
/// client for them, programs for tests of file exchange, and songs with a synthesiser.
const PACKAGES: [&str; 18] = [
    "xvfb",
    "libgl1",
    "libgl1-mesa-dri",
    "libx11-6",
    "libx11-xcb1",
    "libxcursor1",
    "dbus-daemon",
    "at-spi2-core",
    "python3-pyatspi",
    "sox",
    "ffmpeg",
    "fluidsynth",
    "fluid-soundfont-gm",
    "openttd-openmsx",
    "flac",
    "fish",
    "strace",
    "zsh",
];

/// Debian packages for the tests in Python, on any system.
const PYTHON: [&str; 2] = ["python3", "python3-venv"];

/// All packages of the workspace except the bindings for Rust game engines, which `test-engines` tests.
const PACKAGES_HERE: &str =
    "--workspace --exclude tone-filter-kira --exclude tone-filter-firewheel";

/// Features for verbs on Linux, so that clippy and the documentation cover their code.
const FEATURES: &str = "--features tone-filter-testkit/kit,tone-filter-testkit/demo,\
                        tone-filter-manual/media,tone-filter-capi/programs,tone-filter-lv2/programs,\
                        tone-filter-unity/programs";

/// Targets whose documentation is built: libraries and all programs with names of their own. With examples, cargo takes the
/// features that clippy has taken, so that no dependency is checked twice.
const DOCUMENTED: &str = if cfg!(target_os = "linux") {
    "--lib --bin demo --bin kit --bin media --bin xtask --examples"
} else {
    "--lib --bin xtask --examples"
};

/// Packages whose tests build within seconds.
const QUICK: &str = "-p tone-filter-simd -p tone-filter-listener -p tone-filter-dsp \
                     -p tone-filter-presets -p tone-filter-midi -p tone-filter-song \
                     -p tone-filter-offline -p tone-filter-testkit -p xtask";

/// Runs all tests. Missing tools come first.
pub fn test() -> Result<()> {
    step("tools", tools)?;
    let tests = format!("test {PACKAGES_HERE} --no-fail-fast");
    // Packages for Python come over the network meanwhile.
    let python = thread::spawn(python::set_up);
    // Hosts load this debug build; `test-package` tests the release build.
    step("tests and bundle, built", || {
        bundle::bundle_tests(&tests.split(' ').collect::<Vec<_>>())
    })?;
    step("packages for Python", || python.join().unwrap_or_else(|panic| resume_unwind(panic)))?;
    step("tests, real hosts included", || cargo(&tests))
}

/// Checks formatting, then compiles everything with warnings as errors, documentation included.
pub fn lint() -> Result<()> {
    let all = match cfg!(target_os = "linux") {
        true => format!("{PACKAGES_HERE} {FEATURES}"),
        false => PACKAGES_HERE.to_owned(),
    };
    step("format", || cargo("fmt --all --check"))?;
    step("clippy", || cargo(&format!("clippy {all} --all-targets -- -D warnings")))?;
    step("clippy without the window", || {
        cargo("clippy -p tone-filter --no-default-features -- -D warnings")
    })?;
    step("documentation", || {
        let documentation = format!("doc {all} {DOCUMENTED} --no-deps");
        let mut doc = Command::new("cargo");
        run(doc.args(documentation.split(' ')).env("RUSTDOCFLAGS", "-D warnings"))
    })
}

/// Runs the tests that need no hosts and no other programs: unit tests, and the filter against its reference.
pub fn quick() -> Result<()> {
    step("unit tests, the filter against its reference", || {
        cargo(&format!(
            "test {QUICK} --lib --bin xtask --test accuracy --test kernels --test transitions"
        ))
    })
}

/// Returns the Debian packages that [`test()`] needs, for systems that install them beforehand.
pub fn packages() -> String {
    PACKAGES.iter().chain(&PYTHON).copied().collect::<Vec<_>>().join(" ")
}

/// Checks licences, sources and bans by `deny.toml`, then known vulnerabilities, which needs the network. This is not part of
/// [`test()`], as new advisories would fail unrelated changes.
pub fn deny() -> Result<()> {
    if !on_path("cargo-deny") {
        bail!("cargo-deny is missing: install it with `cargo install --locked cargo-deny@0.20.2`");
    }
    cargo("deny check bans licenses sources")?;
    cargo("deny check advisories")
}

pub fn step(name: &str, action: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("\n=== {name}");
    let started = Instant::now();
    action().with_context(|| format!("step failed: {name}"))?;
    println!("=== {name}: passed in {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}

fn cargo(arguments: &str) -> Result<()> {
    run(Command::new("cargo").args(arguments.split(' ')))
}

/// Installs missing tools, if this user may.
fn tools() -> Result<()> {
    let mut missing = Vec::new();
    if cfg!(target_os = "linux") {
        if on_path("dpkg-query") {
            missing.extend(PACKAGES.into_iter().filter(|package| !is_installed(package)));
        } else if !on_path("Xvfb") {
            bail!("the editor's test needs Xvfb and OpenGL (Mesa): install them and try again");
        }
    }
    let python = |code| succeeds(Command::new("python3").args(["-c", code]));
    if cfg!(unix) && !python("import ensurepip, venv") {
        missing.extend(PYTHON);
    }
    if !missing.is_empty() {
        apt_install(&missing)?;
    }
    Ok(())
}

/// Installs the `packages` that are missing.
pub fn install(packages: &[&str]) -> Result<()> {
    let missing: Vec<_> =
        packages.iter().copied().filter(|package| !is_installed(package)).collect();
    if missing.is_empty() { Ok(()) } else { apt_install(&missing) }
}

pub fn apt_install(packages: &[&str]) -> Result<()> {
    let names = packages.join(", ");
    if !on_path("apt-get") {
        bail!("missing: {names}. Install this system's packages of these, and try again");
    }
    if !is_root() {
        let packages = packages.join(" ");
        bail!("missing: {names}. Install with\n\n    sudo apt-get install -y {packages}\n");
    }
    let apt_get = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        run(command.env("DEBIAN_FRONTEND", "noninteractive").arg("-qq").args(arguments))
    };
    apt_get(&["update"])?;
    apt_get(&[&["install", "-y", "--no-install-recommends"], packages].concat())
}

pub fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n")
}

pub fn is_installed(package: &str) -> bool {
    let mut query = Command::new("dpkg-query");
    let query = query.args(["--show", "--showformat=${db:Status-Status}", package]);
    query.output().is_ok_and(|output| output.stdout == b"installed")
}

pub fn on_path(program: &str) -> bool {
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders).any(|folder| Path::new(&folder).join(program).is_file())
}

fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

#[cfg(test)]
mod tests {
    use crate::root;
    use std::{collections::BTreeSet, process::Command};

    #[test]
    fn the_list_of_dependencies_is_that_of_the_manifests() {
        let mut command = cargo_metadata::MetadataCommand::new();
        let command = command.manifest_path(root().join("Cargo.toml"));
        let metadata = command.features(cargo_metadata::CargoOpt::AllFeatures).exec().unwrap();
        let direct = metadata.workspace_packages();
        let direct = direct.iter().flat_map(|package| &package.dependencies);
        let expected: BTreeSet<String> = direct
            .filter(|dependency| dependency.path.is_none())
            .map(|dependency| {
                let (name, version) = (&dependency.name, &dependency.req);
                let fits = |package: &&cargo_metadata::Package| {
                    package.name.as_str() == name && version.matches(&package.version)
                };
                let package = metadata.packages.iter().find(fits).unwrap();
                let licence = package.license.as_deref().unwrap();
                let version = version.to_string();
                format!("| `{name}` | {} | {licence}", version.trim_start_matches('^'))
            })
            .collect();
        let page = std::fs::read_to_string(root().join("docs/dependencies.md")).unwrap();
        let rows = page.lines().filter(|line| line.starts_with("| `"));
        let listed: BTreeSet<String> =
            rows.map(|row| row.split(" | ").take(3).collect::<Vec<_>>().join(" | ")).collect();
        assert_eq!(listed, expected);
    }

    #[test]
    fn the_filter_needs_at_most_eleven_crates() {
        let mut tree = Command::new("cargo");
        tree.args(["tree", "--locked", "--package=tone-filter-dsp"]);
        let tree = tree.args(["--edges=normal,build", "--prefix=none", "--format={p}"]);
        let output = tree.current_dir(root()).output().unwrap();
        let rows = str::from_utf8(&output.stdout).unwrap().lines();
        let mut names: BTreeSet<_> = rows.filter_map(|row| row.split(' ').next()).collect();
        assert!(names.remove("tone-filter-dsp"));
        assert!(names.len() <= 11, "{names:?}");
    }
}
