//! Tests of the C library: its header, and programs in C and C++ that use it.

mod expected;

use anyhow::{Context, Result, ensure};
use expected::RATE;
use hound::{SampleFormat, WavReader, WavSpec, WavWriter};
use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tone_filter_manual::pages::Page;
use tone_filter_presets as presets;
use tone_filter_testkit::{
    programs::{run, step},
    root, target,
};

const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-pedantic"];

/// Builds of the programs: name, C standard, C++ standard, other flags.
const BUILDS: [(&str, &str, &str, &str); 4] = [
    ("c99", "-std=c99", "-std=c++17", "-O2"),
    ("c11", "-std=c11", "-std=c++17", "-O2"),
    ("static", "-std=c99", "-std=c++17", "-O2"),
    (
        "sanitizers",
        "-std=c99",
        "-std=c++17",
        "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all",
    ),
];

fn main() -> Result<()> {
    let folder = target().join("engines");
    let c = C { prefix: folder.join("prefix"), folder };
    step("installation", || {
        run(Command::new("cargo").args(["xtask", "install-c"]).arg(&c.prefix))
    })?;
    step("the header as C99, C11, C++11 and C++17", || c.header())?;
    step("build", || c.build())?;
    for page in ["docs/manual/games.md", "examples/c/README.md"] {
        step(&format!("the lines of {page}"), || c.page(page))?;
    }
    step("the lines of shell in docs/manual/games.md", || c.shell())?;
    step("NULL and garbage", || c.null())?;
    step("tone_filter.c against the library in Rust", || c.render())?;
    step("tone_filter.c with wrong files and names", || c.faults())?;
    step("game.cpp against the library in Rust", || c.game())
}

/// The installed library and the programs that are built with it.
struct C {
    prefix: PathBuf,
    /// Folder with a folder for each of [`BUILDS`] and with the programs' files.
    folder: PathBuf,
}

impl C {
    /// Compiles the header alone.
    fn header(&self) -> Result<()> {
        let header = self.prefix.join("include/tone_filter.h");
        for (compiler, language, standards) in
            [("gcc", "c", ["c99", "c11"]), ("g++", "c++", ["c++11", "c++17"])]
        {
            for standard in standards {
                let mut command = Command::new(compiler);
                let command = command.args(WARNINGS).arg(format!("-std={standard}"));
                run(command.args(["-fsyntax-only", "-x", language]).arg(&header))?;
            }
        }
        Ok(())
    }

    /// Builds the examples and `null.c` with the examples' Makefile.
    fn build(&self) -> Result<()> {
        for (name, c, cpp, flags) in BUILDS {
            let folder = self.folder.join(name);
            fs::create_dir_all(&folder)?;
            run(Command::new("make")
                .args(["--directory=examples/c", "VPATH=../../bindings/c/tests", "all"])
                .arg(folder.join("null"))
                .env("PKG_CONFIG_PATH", self.prefix.join("lib/pkgconfig"))
                .arg(format!("BUILD={}", folder.display()))
                .arg(format!("CFLAGS={c} {flags}"))
                .arg(format!("CXXFLAGS={cpp} {flags}"))
                .args((name == "static").then_some("STATIC=1")))?;
        }
        Ok(())
    }

    /// Runs the shell commands in the manual, which install the library and build the examples and the page's program.
    fn shell(&self) -> Result<()> {
        let page = Page::read("docs/manual/games.md".as_ref())?;
        let mut blocks = page.blocks.iter();
        let lines = blocks.find(|(language, text)| language == "sh" && text.contains("install-c"));
        let (_, lines) = lines.context("no lines of shell")?;
        let folder = self.folder.join("manual");
        let example = folder.join("examples/c");
        fs::create_dir_all(&example)?;
        for entry in fs::read_dir(root().join("examples/c"))? {
            let path = entry?.path();
            // Copies only sources and the Makefile, not programs that were built in the folder.
            if path.extension().is_some() || path.ends_with("Makefile") {
                fs::copy(&path, example.join(path.file_name().context("a file has a name")?))?;
            }
        }
        fs::write(folder.join("game.c"), program("docs/manual/games.md")?)?;
        // The commands install into the home folder; cargo and rustup keep their own folders.
        let mut shell = command("bash");
        shell.args(["-euc", lines]).current_dir(&folder).env("HOME", &folder);
        for (variable, name) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            if let (None, Some(home)) = (env::var_os(variable), env::var_os("HOME")) {
                shell.env(variable, Path::new(&home).join(name));
            }
        }
        ensure!(shell.status()?.success(), "the lines of shell fail");
        run(&mut command(folder.join("game")))
    }

    /// Builds and runs the C code of a page.
    fn page(&self, page: &str) -> Result<()> {
        let (source, program) = (self.folder.join("page.c"), self.folder.join("page"));
        fs::write(&source, self::program(page)?)?;
        let link =
            |flag: &str, folder: &str| format!("{flag}{}", self.prefix.join(folder).display());
        run(Command::new("gcc")
            .args(WARNINGS)
            .args(["-std=c99", &link("-I", "include")])
            .arg(&source)
            .arg("-o")
            .arg(&program)
            .args([&link("-L", "lib"), "-ltone_filter", &link("-Wl,-rpath,", "lib")]))?;
        run(&mut command(program))
    }

    /// Returns every way to run the program `name`: the name of the build, or "valgrind", and the command.
    fn ways(&self, name: &str) -> Vec<(&'static str, Command)> {
        let program = |build: &str| self.folder.join(build).join(name);
        let mut ways: Vec<_> =
            BUILDS.iter().map(|(build, ..)| (*build, command(program(build)))).collect();
        let mut valgrind = command("valgrind");
        valgrind
            .args(["--quiet", "--error-exitcode=99", "--leak-check=full"])
            .arg("--errors-for-leak-kinds=definite,indirect,possible")
            .arg(program("c99"));
        ways.push(("valgrind", valgrind));
        ways
    }

    fn null(&self) -> Result<()> {
        let header = fs::read_to_string(self.prefix.join("include/tone_filter.h"))?;
        let source = fs::read_to_string(root().join("bindings/c/tests/null.c"))?;
        let functions = functions(&header);
        ensure!(functions.len() > 20, "no functions found in the header");
        for function in functions {
            ensure!(source.contains(&format!("{function}(")), "null.c does not call {function}");
        }
        for (way, mut command) in self.ways("null") {
            run(&mut command).context(way)?;
        }
        Ok(())
    }

    /// Compares the output of `tone_filter.c` with the library, for all presets and files of one to six channels.
    fn render(&self) -> Result<()> {
        let mut demo = WavReader::open(root().join("assets/demo.wav"))?;
        let tune: Vec<f32> = demo
            .samples::<i16>()
            .map(|sample| Ok(f32::from(sample?) / 32_768.0))
            .collect::<hound::Result<_>>()?;
        let mut compared = 0;
        // Channels and frames of the files; 1000 frames are fewer than the latency.
        for (channels, frames) in [(1, 20_000), (2, 1000), (2, 20_000), (6, 5000)] {
            let input = &tune[160_000..][..channels * frames];
            let path = self.folder.join("in.wav");
            write(&path, channels, input)?;
            for preset in presets::ids() {
                let expected = bits(&expected::rendered(preset, channels, input)?);
                // One build is enough for the other presets: they differ from these two only in the values of settings.
                let every_way = ["tone-filter", "sound-chip"].contains(&preset);
                let ways = self.ways("tone_filter").into_iter();
                for (way, mut command) in ways.filter(|(way, _)| every_way || *way == "c99") {
                    let out = self.folder.join("out.wav");
                    let _ = fs::remove_file(&out);
                    run(command.arg(preset).args([&path, &out])).context(way)?;
                    let output = bits(&read(&out)?);
                    let place = || format!("{preset}, {channels} channels, {way}");
                    ensure!(output.len() == expected.len(), "{}: another length", place());
                    // Valgrind's CPU has other vector units and no flush-to-zero.
                    if way != "valgrind" {
                        ensure!(output == expected, "{}: other bits", place());
                        compared += 1;
                    }
                }
            }
        }
        println!("{compared} files are equal, bit for bit");
        Ok(())
    }

    /// Checks the errors of `tone_filter.c` for wrong files and names.
    fn faults(&self) -> Result<()> {
        let (good, bad) = (self.folder.join("in.wav"), self.folder.join("bad.wav"));
        fs::write(&bad, &fs::read(&good)?[..1000])?;
        let out = self.folder.join("none.wav");
        for (preset, path, reason) in [
            ("nonsense", &good, "no factory preset has the id \"nonsense\""),
            ("organ", &self.folder.join("missing.wav"), "cannot be read"),
            ("organ", &bad, "ends too early"),
        ] {
            for (way, mut command) in self.ways("tone_filter") {
                let output = command.arg(preset).args([path, &out]).output()?;
                let printed = String::from_utf8_lossy(&output.stderr);
                ensure!(
                    output.status.code() == Some(1) && printed.contains(reason),
                    "{way}: {printed}"
                );
                ensure!(!out.exists(), "{way}: a file of an error");
            }
        }
        Ok(())
    }

    /// Compares the game's sound and meter with the library's.
    fn game(&self) -> Result<()> {
        let (expected, meter) = expected::game()?;
        let path = self.folder.join("game.raw");
        for (way, mut command) in self.ways("game") {
            let output = command.arg(&path).output()?;
            let printed = String::from_utf8_lossy(&output.stdout);
            ensure!(
                output.status.success() && printed == meter,
                "{way}: the meter is\n{printed}and not\n{meter}{}",
                String::from_utf8_lossy(&output.stderr)
            );
            let sound = fs::read(&path)?;
            ensure!(way == "valgrind" || sound == expected, "{way}: other bits");
        }
        println!("{meter}");
        Ok(())
    }
}

/// Returns a C program of the first C code in a page.
fn program(page: &str) -> Result<String> {
    let page = Page::read(page.as_ref())?;
    let lines = page.blocks.iter().find(|(language, _)| language == "c");
    let lines = lines.and_then(|(_, text)| text.split_once("\n\n"));
    let (includes, body) = lines.context("no C")?;
    Ok(format!("{includes}\nint main(void) {{\n{body}\nreturn 0;\n}}\n"))
}

fn functions(header: &str) -> Vec<&str> {
    let declarations = header.lines().filter(|line| !line.trim_start().starts_with('*'));
    let names = declarations.filter_map(|line| {
        let start = line.find("tf_").filter(|_| line.contains('('))?;
        let name = line[start..].split('(').next()?;
        name.rsplit([' ', '*']).next().filter(|name| name.starts_with("tf_"))
    });
    names.collect()
}

fn write(path: &Path, channels: usize, samples: &[f32]) -> Result<()> {
    let spec = WavSpec {
        channels: channels as u16,
        sample_rate: RATE,
        bits_per_sample: 32,
        sample_format: SampleFormat::Float,
    };
    let mut file = WavWriter::create(path, spec)?;
    samples.iter().try_for_each(|sample| file.write_sample(*sample))?;
    Ok(file.finalize()?)
}

fn read(path: &Path) -> Result<Vec<f32>> {
    let mut file = WavReader::open(path)?;
    ensure!(file.spec().sample_rate == RATE, "{}: another sample rate", path.display());
    Ok(file.samples().collect::<hound::Result<_>>()?)
}

fn bits(samples: &[f32]) -> Vec<u32> {
    samples.iter().map(|sample| sample.to_bits()).collect()
}

/// Returns a command that finds the installed library, but not cargo's folders, where the plugin's library has the same name.
fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_remove("LD_LIBRARY_PATH");
    command
}
