//! Tests without Unity: the library in hosts in C and C#, its script, and the package.

use anyhow::{Context, Result, ensure};
use hound::WavReader;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tone_filter_dsp::{Settings, ToneFilter};
use tone_filter_presets::{self as presets, Preset};
use tone_filter_testkit::{
    programs::{run, step},
    root, target,
};

/// Pages whose C# is compiled.
const PAGES: [&str; 2] = ["bindings/unity/README.md", "docs/manual/unity.md"];

/// Sample rate of the files in Hz.
const RATE: u32 = 44_100;

fn main() -> Result<()> {
    let folder = target().join("engines/unity");
    fs::create_dir_all(&folder)?;
    step("Unity: sizes and offsets by a compiler of C", || layout(&folder))?;
    let library = step("Unity: the package", || package(&folder))?;
    step("Unity: a host in C", || in_c(&folder, &library))?;
    step("Unity: ToneFilter.cs and the lines of the pages, in C#", || in_csharp(&folder, &library))
}

/// Compiles a C program of this crate's tests.
fn compile(folder: &Path, name: &str, flags: &[&str]) -> Result<PathBuf> {
    let program = folder.join(name);
    let source = root().join("bindings/unity/tests/c").join(format!("{name}.c"));
    run(Command::new("gcc")
        .args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-std=c11"])
        .args(flags)
        .arg(source)
        .arg("-o")
        .arg(&program)
        .args(["-ldl", "-lpthread"]))?;
    Ok(program)
}

fn layout(folder: &Path) -> Result<()> {
    let printed = Command::new(compile(folder, "layout", &[])?).output()?.stdout;
    let committed = fs::read(root().join("bindings/unity/tests/c/layout.txt"))?;
    ensure!(printed == committed, "another layout:\n{}", String::from_utf8_lossy(&printed));
    Ok(())
}

/// Builds the package as users get it, unpacks it and returns the path of its library.
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

/// Compares the demo tune, filtered with every preset by a host in C, with the library's.
fn in_c(folder: &Path, library: &Path) -> Result<()> {
    let mut demo = WavReader::open(root().join("assets/demo.wav"))?;
    ensure!(demo.spec().sample_rate == RATE && demo.spec().channels == 2, "another demo tune");
    let samples = demo.samples::<i16>().skip(160_000).take(60_000);
    let input: Vec<f32> =
        samples.map(|sample| Ok(f32::from(sample?) / 32_768.0)).collect::<hound::Result<_>>()?;
    let (from, to) = (folder.join("in.raw"), folder.join("out.raw"));
    fs::write(&from, bytes(&input))?;
    let builds: [(&str, &[&str]); 2] = [
        ("plain", &["-O2"]),
        ("sanitizers", &["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]),
    ];
    let mut programs = Vec::new();
    for (build, flags) in builds {
        let folder = folder.join(build);
        fs::create_dir_all(&folder)?;
        programs.push((build, Command::new(compile(&folder, "host", flags)?)));
    }
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--quiet", "--error-exitcode=99", "--leak-check=full"])
        .arg("--errors-for-leak-kinds=definite,indirect")
        .arg(folder.join("plain/host"));
    programs.push(("valgrind", valgrind));
    let mut compared = 0;
    let numbers = preset_numbers()?;
    for id in presets::ids() {
        let number = numbers.iter().position(|known| known == id).context("its number")?;
        let wanted = bytes(&filtered(id, &input)?);
        for (build, program) in &programs {
            if *build != "plain" && id != "sound-chip" {
                continue;
            }
            let mut command = Command::new(program.get_program());
            command.args(program.get_args()).arg(library).args([&from, &to]);
            run(command.args(["Preset", &number.to_string()])).context(*build)?;
            // Valgrind's CPU has other vector units and no flush-to-zero.
            if *build != "valgrind" {
                ensure!(fs::read(&to)? == wanted, "{id}, {build}: other bits");
                compared += 1;
            }
        }
    }
    println!("{compared} files are equal, bit for bit");
    Ok(())
}

/// Returns the expected output with the parameter Preset: the filter of a new instance moves to the preset at its first block.
fn filtered(preset: &str, input: &[f32]) -> Result<Vec<f32>> {
    let settings = Preset::factory(preset).context("a factory preset")?.settings;
    let mut filter = ToneFilter::new(RATE.into(), &Settings::default())?;
    filter.set_settings(&settings)?;
    let [mut left, mut right] =
        [0, 1].map(|channel| input.iter().skip(channel).step_by(2).copied().collect::<Vec<_>>());
    filter.process(&mut [&mut left, &mut right]);
    Ok(left.into_iter().zip(right).flat_map(|(left, right)| [left, right]).collect())
}

/// Returns the entries of the parameter Preset, as scripts see them.
fn preset_numbers() -> Result<Vec<String>> {
    let script = fs::read_to_string(root().join("bindings/unity/ToneFilter.cs"))?;
    let line = script.lines().find_map(|line| line.trim().strip_prefix("{ \"Preset\", new[] { "));
    let entries = line.context("no list of presets")?.split('"').skip(1).step_by(2);
    Ok(entries.map(str::to_owned).collect())
}

fn bytes(samples: &[f32]) -> Vec<u8> {
    samples.iter().flat_map(|sample| sample.to_le_bytes()).collect()
}

/// Compiles the script, a host and the programs of the pages in C#, and runs the host.
fn in_csharp(folder: &Path, library: &Path) -> Result<()> {
    let tests = root().join("bindings/unity/tests/csharp");
    let script = root().join("bindings/unity/ToneFilter.cs");
    let compile = |out: &str, sources: &[PathBuf]| {
        let mut mcs = Command::new("mcs");
        mcs.args([
            "-warnaserror",
            "-warn:4",
            if out.ends_with("dll") { "-t:library" } else { "-t:exe" },
        ]);
        mcs.arg(format!("-out:{}", folder.join(out).display()));
        run(mcs.arg(&script).arg(tests.join("UnityEngine.cs")).args(sources))
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
