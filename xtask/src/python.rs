//! Python virtual environments under `target/`, and `cargo xtask test-python`: tests of the Python package's wheel in a separate
//! environment, of the Python example, and of `tools/judge`.

use crate::{
    commands::{cargo, command, kit, root, run, step, target},
    debian,
    files::{copy, tar, the_only, untar},
};
use anyhow::{Result, ensure};
use std::{
    env::consts::EXE_EXTENSION,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Name of the system's Python interpreter.
pub const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

pub const PACKAGES: &str = "python3 python3-venv";

/// Returns the Python interpreter of the environment of [`set_up`].
pub fn interpreter() -> Result<PathBuf> {
    let path = in_environment(&target()?.join("venv"), "python");
    ensure!(
        path.exists(),
        "{} is missing: run `cargo xtask test` once, which sets it up",
        path.display()
    );
    Ok(path)
}

/// Makes the virtual environment if it is missing, and installs the packages of `tests/requirements.txt`.
pub fn set_up() -> Result<()> {
    let folder = target()?.join("venv");
    if !in_environment(&folder, "python").exists() {
        make(&folder)?;
    }
    install(&folder, ["-r".as_ref(), root().join("tests/requirements.txt").as_path()])
}

/// Makes an environment in `folder` with the packages of the file `requirements`, replacing an earlier one.
fn make_with(folder: &Path, requirements: &Path) -> Result<()> {
    make(folder)?;
    install(folder, ["-r".as_ref(), requirements])
}

/// Makes an empty environment in `folder`, replacing an earlier one.
fn make(folder: &Path) -> Result<()> {
    run(Command::new(PYTHON).args(["-m", "venv", "--clear"]).arg(folder))
}

/// Installs packages into the environment in `folder`. `what` are arguments of `pip install`.
pub fn install<'a>(folder: &Path, what: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(in_environment(folder, "python")).args(install).args(what))
}

fn in_environment(folder: &Path, program: &str) -> PathBuf {
    let programs = if cfg!(windows) { "Scripts" } else { "bin" };
    folder.join(programs).join(program).with_extension(EXE_EXTENSION)
}

/// Builds the source distribution, the wheel from it, and the command. Tests the wheel, `tools/judge` and `examples/dask`.
pub fn test() -> Result<()> {
    let folder = target()?.join("python");
    let (tools, clean, dist) = (folder.join("tools"), folder.join("clean"), folder.join("dist"));
    step("tools", || set_up_tools(&tools))?;
    step("clippy", || run(cargo("clippy -p tone-filter-python --all-targets -- -D warnings")))?;
    step("wheel, from the source distribution", || build(&tools, &dist))?;
    let wheel = the_only(&dist, "whl")?;
    step("installation", || {
        make(&clean)?;
        // Only the wheel, so that a dependency missing from its metadata is noticed.
        install(&clean, [wheel.as_path()])?;
        let python = in_environment(&clean, "python");
        run(Command::new(python).args(["-c", "import tone_filter; tone_filter.presets()"]))?;
        install(&clean, ["-r".as_ref(), requirements().as_path()])
    })?;
    let command = command(&[])?;
    step("tests", || {
        let automation = folder.join("automation");
        run(kit("automation").arg(&automation))?;
        let mut pytest = Command::new(in_environment(&clean, "python"));
        pytest.args(["-m", "pytest", "-p", "no:cacheprovider"]).arg(root().join("bindings/python"));
        pytest.env("TONE_FILTER_COMMAND", &command).env("TONE_FILTER_DIST", &dist);
        run(pytest.env("TONE_FILTER_AUTOMATION", automation))
    })?;
    step("tools/judge", || {
        let (tool, environment) = (root().join("tools/judge"), folder.join("judge"));
        make_with(&environment, &tool.join("requirements.txt"))?;
        let mut python = Command::new(in_environment(&environment, "python"));
        python.env("PYTHONDONTWRITEBYTECODE", "1").env("TONE_FILTER_COMMAND", &command);
        run(python.args(["-m", "unittest", "discover", "-s"]).arg(tool))
    })?;
    step("examples/dask, with a worker killed midway", || {
        let (example, environment) = (root().join("examples/dask"), folder.join("dask"));
        make_with(&environment, &example.join("requirements.txt"))?;
        let files = tempfile::tempdir()?;
        let mut python = Command::new(in_environment(&environment, "python"));
        python.env("PYTHONDONTWRITEBYTECODE", "1").arg(example.join("test_render_folder.py"));
        run(python.arg(&command).arg(files.path()))
    })
}

/// Builds the wheel for this system and returns its path.
pub fn package() -> Result<PathBuf> {
    let folder = target()?.join("python");
    let (tools, dist) = (folder.join("tools"), folder.join("dist"));
    set_up_tools(&tools)?;
    build(&tools, &dist)?;
    the_only(&dist, "whl")
}

/// Makes an environment with maturin and the Python packages for the tests.
fn set_up_tools(tools: &Path) -> Result<()> {
    if debian::is_here() {
        debian::install(PACKAGES)?;
    }
    make_with(tools, &requirements())
}

/// Builds both distributions into `dist`. The wheel is built from the source distribution, to test that this is complete.
fn build(tools: &Path, dist: &Path) -> Result<()> {
    let _ = fs::remove_dir_all(dist);
    let maturin = || Command::new(in_environment(tools, "maturin"));
    let manifest = |folder: &Path| folder.join("bindings/python/Cargo.toml");
    run(maturin().args(["sdist", "--out"]).arg(dist).arg("-m").arg(manifest(root())))?;
    let archive = the_only(dist, "gz")?;
    let name = archive.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let source = dist.join(name.trim_end_matches(".tar.gz"));
    untar(&archive, dist)?;
    // The workspace's manifest names this folder, but maturin omits it from the source distribution.
    copy(&root().join("patches"), &source.join("patches"))?;
    tar(&source, &archive)?;
    let mut wheel = maturin();
    wheel.args(["build", "--release", "--compatibility", "pypi", "--out"]).arg(dist);
    // A target folder of its own: in the workspace's, cargo would mistake these crates for the workspace's.
    let builds = dist.with_file_name("build");
    wheel.arg("-m").arg(manifest(&source)).env("CARGO_TARGET_DIR", builds);
    run(&mut wheel)
}

fn requirements() -> PathBuf {
    root().join("bindings/python/tests/requirements.txt")
}
