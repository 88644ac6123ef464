//! The example that renders on a Dask cluster, with a worker killed midway.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Runs a command that must succeed.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| {
        panic!(
            "{command:?}: {error}; this test needs Python 3 with venv, and `pip install` of dask"
        )
    });
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}:\n{said}");
    said
}

/// A Python virtual environment with the example's requirements.
fn python(example: &Path) -> PathBuf {
    let venv = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dask-venv");
    let (python, done) = (venv.join("bin/python"), venv.join("requirements.txt"));
    let wanted = fs::read(example.join("requirements.txt")).unwrap();
    // Written last, so that it marks a complete environment.
    if fs::read(&done).ok().as_ref() != Some(&wanted) {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv));
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"];
        run(Command::new(&python).args(install).arg(example.join("requirements.txt")));
        fs::write(&done, wanted).unwrap();
    }
    python
}

#[test]
fn a_cluster_that_loses_a_worker_renders_the_same_files_as_one_computer() {
    let example = tone_filter_testkit::root().join("examples/dask");
    let folder = tempfile::tempdir().unwrap();
    let said = run(Command::new(python(&example))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(example.join("test_render_folder.py"))
        .arg(env!("CARGO_BIN_EXE_tone-filter"))
        .arg(folder.path()));
    assert!(said.contains("40 files on two workers, one of them killed after 10"), "{said}");
}
