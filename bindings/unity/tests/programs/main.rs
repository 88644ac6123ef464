//! Tests that need no Unity: of the package, of the library under valgrind, and of the script `ToneFilter.cs`.

use anyhow::{Context, Result, ensure};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tone_filter_testkit::{
    programs::{run, step},
    root, target,
};

const PAGES: [&str; 2] = ["bindings/unity/README.md", "docs/manual/unity.md"];

fn main() -> Result<()> {
    let folder = target().join("engines/unity");
    fs::create_dir_all(&folder)?;
    let library = step("Unity: the package", || package(&folder))?;
    step("Unity: the effect under valgrind", valgrind)?;
    step("Unity: ToneFilter.cs and the lines of the pages, in C#", || in_csharp(&folder, &library))
}

/// Builds the package as users get it, unpacks it and checks its files. Returns the path of its library.
fn package(folder: &Path) -> Result<PathBuf> {
    run(Command::new("cargo").args(["xtask", "unity-package", "--release"]))?;
    let name = format!("tone-filter-unity-{}-linux.tgz", env!("CARGO_PKG_VERSION"));
    let package = target().join("package").join(name);
    run(Command::new("tar").arg("-xzf").arg(package).arg("-C").arg(folder))?;
    let top = folder.join("package");
    let manifest: serde_json::Value = serde_json::from_slice(&fs::read(top.join("package.json"))?)?;
    ensure!(manifest["version"] == env!("CARGO_PKG_VERSION"), "{manifest}");
    let mut ids = BTreeSet::new();
    let mut files = files(&top)?;
    files.retain(|path| path.extension().is_none_or(|end| end != "meta"));
    ensure!(files.len() > 10, "only {} files", files.len());
    for file in &files {
        let meta = PathBuf::from(format!("{}.meta", file.display()));
        let text = fs::read_to_string(&meta).with_context(|| format!("{}", meta.display()))?;
        let id = text.lines().find_map(|line| line.strip_prefix("guid: ")).context("an id")?;
        ensure!(ids.insert(id.to_owned()), "{id} twice");
    }
    let script = fs::read(top.join("Runtime/ToneFilter.cs"))?;
    ensure!(script == fs::read(root().join("bindings/unity/ToneFilter.cs"))?, "another script");
    let python = "import sys, yaml; [yaml.safe_load(open(path)) for path in sys.argv[1:]]";
    let metas = files.iter().map(|file| format!("{}.meta", file.display()));
    run(Command::new("python3").args(["-c", python]).args(metas))?;
    Ok(top.join("Plugins/x86_64/libAudioPluginToneFilter.so"))
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        }
        found.push(path);
    }
    Ok(found)
}

/// Runs a test of the effect under valgrind: in place, and with fewer and with more outputs than inputs.
fn valgrind() -> Result<()> {
    let valgrind = r#"["valgrind", "--quiet", "--error-exitcode=99", "--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]"#;
    run(Command::new("cargo")
        .args(["test", "--package=tone-filter-unity", "--test=unity", "--config"])
        .arg(format!("target.'cfg(unix)'.runner = {valgrind}"))
        .args(["--", "--exact", "sound::outputs_of_another_number_of_channels_are_filled"]))
}

/// Compiles the script, a host and the programs of the pages in C#, and runs the host.
fn in_csharp(folder: &Path, library: &Path) -> Result<()> {
    let tests = root().join("bindings/unity/tests");
    let scripts = ["ToneFilter.cs", "ToneFilterLists.cs"];
    let scripts = scripts.map(|name| folder.join("package/Runtime").join(name));
    let compile = |out: &str, sources: &[PathBuf]| {
        let mut mcs = Command::new("mcs");
        let kind = if out.ends_with("dll") { "-t:library" } else { "-t:exe" };
        mcs.args(["-warnaserror", "-warn:4", kind]);
        mcs.arg(format!("-out:{}", folder.join(out).display()));
        run(mcs.args(&scripts).arg(tests.join("UnityEngine.cs")).args(sources))
    };
    compile("host.exe", &[tests.join("Host.cs")])?;
    let libraries = library.parent().context("a library lies in a folder")?;
    run(Command::new("mono").arg(folder.join("host.exe")).env("LD_LIBRARY_PATH", libraries))?;
    for (number, page) in PAGES.into_iter().enumerate() {
        let text = fs::read_to_string(root().join(page))?;
        let programs: Vec<_> = text.split("```csharp\n").skip(1).collect();
        ensure!(!programs.is_empty(), "{page} has no C#");
        for (index, program) in programs.into_iter().enumerate() {
            let program = program.split("```").next().context("it ends")?;
            let path = folder.join(format!("page-{number}-{index}.cs"));
            fs::write(&path, program)?;
            compile("page.dll", &[path]).with_context(|| format!("{page}: program {index}"))?;
        }
    }
    Ok(())
}
