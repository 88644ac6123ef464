//! `cargo xtask test-python`: tests of the Python package's wheel in a separate environment, of the Python example, and of
//! `tools/judge`.

use crate::{
    install::copy,
    kit::kit,
    python::{in_environment, install, make},
    root, run,
    suite::{self, on_path, step},
    target,
};
use anyhow::{Context, Result, ensure};
use std::{
    env::consts::EXE_SUFFIX,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Debian packages for the step "tools".
const PYTHON: [&str; 2] = ["python3", "python3-venv"];

/// Folders that the workspace's manifest refers to, and that maturin leaves out of the source distribution.
const BESIDE: [&str; 1] = ["patches"];

/// Builds the source distribution, from it the wheel, and the command, and tests the wheel.
pub fn test() -> Result<()> {
    let folder = target()?.join("python");
    let (tools, clean, dist) = (folder.join("tools"), folder.join("clean"), folder.join("dist"));
    step("tools", || set_up(&tools))?;
    step("clippy", || {
        let clippy = "clippy -p tone-filter-python --all-targets -- -D warnings";
        run(Command::new("cargo").args(clippy.split(' ')))
    })?;
    step("wheel, from the source distribution", || build(&tools, &dist))?;
    let wheel = the_only(&dist, "whl")?;
    step("installation", || {
        make(&clean)?;
        // Alone, so that a dependency missing from the wheel's metadata is noticed.
        install(&clean, [wheel.as_path()])?;
        let python = in_environment(&clean, "python");
        run(Command::new(python).args(["-c", "import tone_filter; tone_filter.presets()"]))?;
        install(&clean, ["-r".as_ref(), requirements().as_path()])
    })?;
    step("command", || {
        run(Command::new("cargo").args(["build", "--locked", "--package=tone-filter-cli"]))
    })?;
    let command = target()?.join("debug").join(format!("tone-filter{EXE_SUFFIX}"));
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
        make(&environment)?;
        install(&environment, ["-r".as_ref(), tool.join("requirements.txt").as_path()])?;
        let mut python = Command::new(in_environment(&environment, "python"));
        python.env("PYTHONDONTWRITEBYTECODE", "1").env("TONE_FILTER_COMMAND", &command);
        run(python.args(["-m", "unittest", "discover", "-s"]).arg(tool))
    })?;
    step("examples/dask, with a worker killed midway", || {
        let (example, environment) = (root().join("examples/dask"), folder.join("dask"));
        make(&environment)?;
        install(&environment, ["-r".as_ref(), example.join("requirements.txt").as_path()])?;
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
    set_up(&tools)?;
    build(&tools, &dist)?;
    the_only(&dist, "whl")
}

/// Makes an environment with maturin and the packages that the tests need.
fn set_up(tools: &Path) -> Result<()> {
    if cfg!(target_os = "linux") && on_path("dpkg-query") {
        suite::install(&PYTHON)?;
    }
    make(tools)?;
    install(tools, ["-r".as_ref(), requirements().as_path()])
}

/// Builds both distributions into `dist`: the wheel from the source distribution, which proves the latter complete.
fn build(tools: &Path, dist: &Path) -> Result<()> {
    let _ = fs::remove_dir_all(dist);
    let maturin = || Command::new(in_environment(tools, "maturin"));
    let manifest = |folder: &Path| folder.join("bindings/python/Cargo.toml");
    run(maturin().args(["sdist", "--out"]).arg(dist).arg("-m").arg(manifest(root())))?;
    let archive = the_only(dist, "gz")?;
    let name = archive.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let source = dist.join(name.trim_end_matches(".tar.gz"));
    // Files in the archive are dated 2006, but cargo rebuilds only newer files: `-m` gives the files the current time.
    run(Command::new("tar").arg("-xmzf").arg(&archive).arg("-C").arg(dist))?;
    for folder in BESIDE {
        copy(&root().join(folder), &source.join(folder))?;
    }
    let packed = source.file_name().context("a name")?;
    run(Command::new("tar").arg("-czf").arg(&archive).arg("-C").arg(dist).arg(packed))?;
    let mut wheel = maturin();
    wheel.args(["build", "--release", "--compatibility", "pypi", "--out"]).arg(dist);
    // In the workspace's target folder, cargo would mistake these crates for the workspace's.
    let builds = dist.with_file_name("build");
    wheel.arg("-m").arg(manifest(&source)).env("CARGO_TARGET_DIR", builds);
    run(&mut wheel)
}

/// Returns the only file in `folder` with the extension `extension`.
fn the_only(folder: &Path, extension: &str) -> Result<PathBuf> {
    let files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut files = files.collect::<Result<Vec<_>>>()?;
    files.retain(|path| path.extension().is_some_and(|end| end == extension));
    ensure!(files.len() == 1, "{} files end in .{extension} in {}", files.len(), folder.display());
    files.pop().context("one file")
}

fn requirements() -> PathBuf {
    root().join("bindings/python/tests/requirements.txt")
}
