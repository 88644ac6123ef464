//! Tests of the C library: its header, and programs in C and C++ that use it.

use anyhow::{Context, Result, ensure};
use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tone_filter_dsp::{Settings, ToneFilter};
use tone_filter_manual::pages::Page;
use tone_filter_presets::Preset;
use tone_filter_testkit::{
    Signal,
    programs::{run, step},
    root, target, wav,
};

const RATE: u32 = 44_100;

const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-pedantic"];

/// Builds of the programs: name and compiler flags.
const BUILDS: [(&str, &str); 3] = [
    ("c99", "-O2"),
    ("static", "-O2"),
    ("sanitizers", "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"),
];

/// Programs made of the C code of pages: name and page.
const PAGES: [(&str, &str); 2] =
    [("page-games", "docs/manual/games.md"), ("page-readme", "examples/c/README.md")];

fn main() -> Result<()> {
    let folder = target().join("engines");
    let c = C { prefix: folder.join("prefix"), folder };
    step("installation", || {
        run(Command::new("cargo").args(["xtask", "install-c"]).arg(&c.prefix))
    })?;
    step("the header as C99, C11, C++11 and C++17", || c.header())?;
    step("build", || c.build())?;
    for (name, page) in PAGES {
        step(&format!("the lines of {page}"), || c.run(name))?;
    }
    step("the lines of shell in docs/manual/games.md", || c.shell())?;
    step("NULL and garbage", || c.null())?;
    step("tone_filter.c against the library in Rust", || c.render())?;
    step("tone_filter.c with wrong files and names", || c.faults())?;
    step("game.cpp", || c.game())
}

/// The installed library and the programs that are built with it.
struct C {
    prefix: PathBuf,
    /// Folder for the programs' input and output. In it, each of [`BUILDS`] has a folder with its programs.
    folder: PathBuf,
}

impl C {
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

    /// Builds the examples, `null.c` and the programs of [`PAGES`] with the examples' Makefile.
    fn build(&self) -> Result<()> {
        for (name, page) in PAGES {
            fs::write(self.folder.join(name).with_extension("c"), program(page)?)?;
        }
        for (name, flags) in BUILDS {
            let folder = self.folder.join(name);
            fs::create_dir_all(&folder)?;
            run(Command::new("make")
                .args(["--directory=examples/c", "all"])
                .arg(format!("VPATH=../../bindings/c/tests:{}", self.folder.display()))
                .args(["null", PAGES[0].0, PAGES[1].0].map(|name| folder.join(name)))
                .env("PKG_CONFIG_PATH", self.prefix.join("lib/pkgconfig"))
                .arg(format!("BUILD={}", folder.display()))
                .arg(format!("CFLAGS=-std=c99 {flags}"))
                .arg(format!("CXXFLAGS=-std=c++17 {flags}"))
                .args((name == "static").then_some("STATIC=1")))?;
        }
        Ok(())
    }

    /// Runs the shell commands of the manual: they install the library, and build the examples and the program on the page.
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

    /// Returns all commands that run the program `name`, each with a label: the name of its build, or "valgrind".
    fn ways(&self, name: &str) -> Vec<(&'static str, Command)> {
        let program = |build: &str| self.folder.join(build).join(name);
        let mut ways = Vec::from(BUILDS.map(|(build, _)| (build, command(program(build)))));
        let mut valgrind = command("valgrind");
        valgrind
            .args(["--quiet", "--error-exitcode=99", "--leak-check=full"])
            .arg("--errors-for-leak-kinds=definite,indirect,possible")
            .arg(program("c99"));
        ways.push(("valgrind", valgrind));
        ways
    }

    /// Runs the program `name` in all ways.
    fn run(&self, name: &str) -> Result<()> {
        self.ways(name)
            .into_iter()
            .try_for_each(|(way, mut command)| run(&mut command).context(way))
    }

    fn null(&self) -> Result<()> {
        let header = fs::read_to_string(self.prefix.join("include/tone_filter.h"))?;
        let source = fs::read_to_string(root().join("bindings/c/tests/null.c"))?;
        let functions = functions(&header);
        ensure!(functions.len() > 20, "no functions found in the header");
        for function in functions {
            ensure!(source.contains(&format!("{function}(")), "null.c does not call {function}");
        }
        self.run("null")
    }

    /// Compares the output of `tone_filter.c` with the library, for files of one to six channels.
    fn render(&self) -> Result<()> {
        let (tune, _) = wav::read(&root().join("assets/demo.wav"))?;
        // Channels and frames of the files; 1000 frames are fewer than the latency.
        for (channels, frames) in [(1, 20_000), (2, 1000), (2, 20_000), (6, 5000)] {
            let channel = |c: usize| tune[c % 2][80_000 + 100 * c..][..frames].to_vec();
            let input: Signal = (0..channels).map(channel).collect();
            let [path, out] = ["in.wav", "out.wav"].map(|name| self.folder.join(name));
            wav::write(&path, &input, RATE)?;
            for preset in ["tone-filter", "sound-chip"] {
                let expected = rendered(preset, &input)?;
                for (way, mut command) in self.ways("tone_filter") {
                    let _ = fs::remove_file(&out);
                    run(command.arg(preset).args([&path, &out])).context(way)?;
                    let (output, rate) = wav::read(&out)?;
                    let place = || format!("{preset}, {channels} channels, {way}");
                    ensure!(rate == RATE && output[0].len() == frames, "{}: length", place());
                    // Valgrind's CPU has other vector units and no flush-to-zero.
                    let same = way == "valgrind" || bits(&output) == bits(&expected);
                    ensure!(same, "{}: other bits", place());
                }
            }
        }
        Ok(())
    }

    /// Checks that `tone_filter.c` fails with a message for invalid files and unknown presets.
    fn faults(&self) -> Result<()> {
        let (good, bad) = (self.folder.join("in.wav"), self.folder.join("bad.wav"));
        fs::write(&bad, &fs::read(&good)?[..1000])?;
        let out = self.folder.join("none.wav");
        for (preset, path, reason) in [
            ("nonsense", &good, "no factory preset has the id \"nonsense\""),
            ("organ", &self.folder.join("missing.wav"), "cannot be read"),
            ("organ", &bad, "ends too early"),
        ] {
            let mut program = command(self.folder.join("sanitizers/tone_filter"));
            let output = program.arg(preset).args([path, &out]).output()?;
            let printed = String::from_utf8_lossy(&output.stderr);
            ensure!(output.status.code() == Some(1) && printed.contains(reason), "{printed}");
            ensure!(!out.exists(), "a file of an error");
        }
        Ok(())
    }

    /// Runs the game. All builds must have the same sound and print the same meter, and the meter must show sounding bands.
    fn game(&self) -> Result<()> {
        let path = self.folder.join("game.raw");
        let mut first = None;
        for (way, mut command) in self.ways("game") {
            let output = command.arg(&path).output()?;
            let meter = String::from_utf8_lossy(&output.stdout).into_owned();
            ensure!(output.status.success() && meter.contains(['o', '#']), "{way}: {meter}");
            // Valgrind's CPU has other vector units and no flush-to-zero.
            if way != "valgrind" {
                let result = (meter, fs::read(&path)?);
                ensure!(
                    *first.get_or_insert_with(|| result.clone()) == result,
                    "{way}: another sound"
                );
            }
        }
        Ok(())
    }
}

/// Returns the expected output of `tone_filter.c`: filtered with lookahead, with the latency removed, as long as the input.
fn rendered(preset: &str, input: &Signal) -> Result<Signal> {
    let settings = Preset::factory(preset).context("a factory preset")?.settings;
    let settings = Settings { lookahead: true, ..settings };
    let mut filter = ToneFilter::new(RATE.into(), &settings)?.with_channels(input.len());
    let latency = filter.latency();
    let mut sound = input.clone();
    sound.iter_mut().for_each(|channel| channel.resize(channel.len() + latency, 0.0));
    filter.process(&mut sound.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
    Ok(sound.into_iter().map(|mut channel| channel.split_off(latency)).collect())
}

/// Returns the first C program of a page.
fn program(page: &str) -> Result<String> {
    let page = Page::read(page.as_ref())?;
    let program = page.blocks.into_iter().find(|(language, _)| language == "c");
    Ok(program.context("no C")?.1)
}

fn functions(header: &str) -> Vec<&str> {
    let lines = header.lines().filter(|line| !line.trim_start().starts_with('*'));
    let names = lines.filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next());
    names.filter(|name| name.starts_with("tf_")).collect()
}

fn bits(signal: &Signal) -> Vec<u32> {
    signal.iter().flatten().map(|sample| sample.to_bits()).collect()
}

/// Returns a command without cargo's search path for libraries, because the plugin's library has the same name as C's.
fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_remove("LD_LIBRARY_PATH");
    command
}
