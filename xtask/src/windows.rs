//! `cargo xtask test-windows`: the tests for Windows, cross-compiled with Debian's compiler and run under wine.

use crate::{
    bundles::System,
    commands::{Unavailable, cargo, command, kit, output, run, step, target},
    debian, foreign,
    package::Build,
    programs::APP,
};
use anyhow::{Context, Result, ensure};
use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Debian packages: linker with the C library, NSIS, wine, and a display for wine.
const PACKAGES: &str = "gcc-mingw-w64-x86-64 nsis wine wine64 xvfb libgl1-mesa-dri";

/// Arguments that skip tests with the plugin, and with ffmpeg and fluidsynth, which Debian lacks for Windows.
const WITHOUT: [&str; 3] = ["--skip=ffmpeg_plays", "--skip=songs::", "--skip=plugin::"];

const PATIENCE: Duration = Duration::from_secs(60);

const TARGET: &str = "x86_64-pc-windows-gnu";

/// C compiler from Debian's package, which is also Rust's linker.
const COMPILER: &str = "x86_64-w64-mingw32-gcc";

/// C source of `bcryptprimitives.dll`, Rust's source of random numbers. Wine lacks this library before version 9.
const RANDOM: &str = "
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) {
    return SystemFunction036(data, (ULONG)size);
}
";

/// Wine with its own prefix, on a virtual display. Dropping it ends the display's server.
struct Wine {
    x_server: Child,
    /// Value of `$DISPLAY` for programs on the display.
    display: String,
    prefix: PathBuf,
    /// Cargo's target folder for Windows builds.
    target: PathBuf,
    /// Folder with the libraries of the C compiler, as a Windows path.
    libraries: String,
    /// Command line that starts a Windows program.
    loader: &'static [&'static str],
}

/// Runs all steps, also after a failure, and lists those that have failed.
pub fn test() -> Result<()> {
    ensure!(cfg!(target_arch = "x86_64"), Unavailable("this verb needs Debian on x86-64".into()));
    debian::need(&[foreign::PACKAGES, PACKAGES].join(" "))?;
    let wine = Wine::start()?;
    let tests =
        |package, names: &'static [&str]| move |wine: &Wine| wine.tests(package, names, &[]);
    const CLI: &str = "tone-filter-cli";
    type Step<'a> = &'a dyn Fn(&Wine) -> Result<()>;
    let steps: [(&str, Step); 9] = [
        ("bundles", &Wine::bundle),
        ("library", &|wine| {
            wine.tests("tone-filter-dsp", &["--lib"], &[])?;
            wine.tests("tone-filter-dsp", &["--test=sound"], &["accuracy::", "properties::"])
        }),
        ("plugin", &tests("tone-filter", &["--lib"])),
        ("files that are written", &|wine| {
            wine.tests("tone-filter-offline", &["--test=files"], &["written::"])
        }),
        ("command line, but for the tests with sox and ffmpeg", &|wine| {
            wine.tests(CLI, &["--features=app", "--test=cli"], &WITHOUT)
        }),
        ("the plugin in hosts, but for those in Python", &|wine| {
            wine.tests("tone-filter-hosts", &["--test=hosts"], &["--skip=juce::"])
        }),
        ("the same bits as here", &|wine| {
            let here = command(&[])?;
            let mut bits = kit("bits");
            run(wine.environment(bits.arg(here).arg("--")).args(wine.loader).arg(wine.program()))
        }),
        ("installer", &Wine::install),
        ("the editor's window", &Wine::open_editor),
    ];
    let mut failed = Vec::new();
    for (name, action) in steps {
        if let Err(error) = step(name, || action(&wine)) {
            failed.push(format!("{error:#}"));
        }
    }
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

impl Wine {
    /// Starts wine on a virtual display. Creates the prefix if it is missing.
    fn start() -> Result<Self> {
        let target = target()?.join("windows");
        let library = output(Command::new(COMPILER).arg("-print-libgcc-file-name"))?;
        let library = PathBuf::from(library);
        let libraries = library.parent().context("a library lies in a folder")?;
        // Switches address space randomisation off (`setarch -R`, which some containers forbid). With randomisation, one program
        // in some thousands fails to start: Linux has put the heap where wine 8 needs a shared page.
        let steady = Command::new("setarch").args(["-R", "true"]).status()?.success();
        // Xvfb chooses a free display number, and prints it once the server is ready.
        let mut xvfb = Command::new("Xvfb");
        xvfb.args(["-displayfd", "1", "-screen", "0", "1280x800x24"]);
        let mut x_server = xvfb.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut number = String::new();
        let output = x_server.stdout.take().context("Xvfb has an output")?;
        BufReader::new(output).read_line(&mut number)?;
        ensure!(!number.is_empty(), "Xvfb has ended");
        let wine = Self {
            x_server,
            display: format!(":{}", number.trim()),
            loader: if steady { &["setarch", "-R", "wine"] } else { &["wine"] },
            prefix: target.join("wine"),
            libraries: format!("Z:{}", libraries.display()).replace('/', "\\"),
            target,
        };
        fs::create_dir_all(&wine.prefix)?;
        // By default, the wine server exits with the last program, and a program that starts at this moment fails. `-p60` makes
        // the server wait for a minute.
        run(wine.environment(&mut Command::new("wineserver")).arg("-p60"))?;
        run(wine.environment(&mut Command::new("wineboot")).arg("--init"))?;
        let system = wine.prefix.join("drive_c/windows/system32");
        let (random, source) = (system.join("bcryptprimitives.dll"), wine.target.join("random.c"));
        if !random.exists() {
            fs::write(&source, RANDOM)?;
            run(Command::new(COMPILER)
                .arg("-shared")
                .arg(&source)
                .arg("-o")
                .arg(&random)
                .arg("-ladvapi32"))?;
        }
        Ok(wine)
    }

    /// Sets wine's environment variables for `command`.
    fn environment<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("DISPLAY", &self.display)
            .env("WINEPREFIX", &self.prefix)
            .env("WINEPATH", &self.libraries)
            // Prevents offers to install .NET or a browser.
            .env("WINEDLLOVERRIDES", "mscoree,mshtml=")
            .env("WINEDEBUG", "-all")
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(self.loader[0]);
        self.environment(&mut command).args(&self.loader[1..]).arg(program);
        command
    }

    /// Sets the environment of `command` so that cargo builds for Windows and runs programs under wine.
    fn cargo<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let command = self.environment(command);
        foreign::from_source(command, TARGET, "panic_unwind", &self.target)
            // Debug information would cost minutes in linker and installer.
            .env("CARGO_PROFILE_DEV_DEBUG", "none")
            .env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER", COMPILER)
            .env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", self.loader.join(" "))
    }

    fn tests(&self, package: &str, names: &[&str], options: &[&str]) -> Result<()> {
        let mut test = cargo("test --locked --no-fail-fast --package");
        run(self.cargo(test.arg(package).args(names).arg("--").args(options)))
    }

    /// Builds the bundles in debug mode.
    fn bundle(&self) -> Result<()> {
        let mut this = Command::new(env::current_exe()?);
        run(self.cargo(&mut this).args(["bundle", "--target", TARGET]))
    }

    /// Returns the path of `tone-filter.exe`, which the tests of the command have built.
    fn program(&self) -> PathBuf {
        self.target.join(TARGET).join("debug/tone-filter.exe")
    }

    /// Packs the files that the other steps have tested. Runs installer and uninstaller silently, and checks the results.
    fn install(&self) -> Result<()> {
        let bundled = |name: &str| self.target.join("bundled").join(name);
        let parts = vec![bundled("Tone Filter.clap"), bundled("Tone Filter.vst3"), self.program()];
        let build =
            Build { system: System::Windows, cpu: "x86_64".to_owned(), released: false, parts };
        let packages = build.pack(&self.target.join("package"))?;
        let setup = packages.iter().find(|path| path.to_string_lossy().ends_with("-setup.exe"));
        run(self.command(setup.context("there is no installer")?).arg("/S"))?;
        let programs = self.prefix.join("drive_c/Program Files");
        let library = "Tone Filter.vst3/Contents/x86_64-win/Tone Filter.vst3";
        let installed = [
            (bundled("Tone Filter.clap"), programs.join("Common Files/CLAP/Tone Filter.clap")),
            (bundled(library), programs.join("Common Files/VST3").join(library)),
            (self.program(), programs.join("Tone Filter/tone-filter.exe")),
        ];
        for (original, path) in &installed {
            let read = |path: &Path| {
                fs::read(path).with_context(|| format!("{} is missing", path.display()))
            };
            ensure!(read(original)? == read(path)?, "{} is another one", path.display());
        }
        run(self.command(&installed[2].1).arg("--version"))?;
        run(self.command(&programs.join("Tone Filter/uninstall.exe")).arg("/S"))?;
        // The uninstaller continues in a copy of itself after its process ends.
        let start = Instant::now();
        while programs.join("Tone Filter").exists() {
            ensure!(start.elapsed() < PATIENCE, "the uninstaller leaves the program's folder");
            thread::sleep(Duration::from_millis(200));
        }
        for (_, path) in &installed {
            ensure!(!path.exists(), "the uninstaller leaves {}", path.display());
        }
        Ok(())
    }

    /// Runs `tone-filter app` until the editor is visible, and saves a screenshot.
    fn open_editor(&self) -> Result<()> {
        let mut window = kit("window");
        window.arg(self.target.join("editor.png")).args([&self.display, "--"]);
        run(self.environment(&mut window).args(self.loader).arg(self.program()).args(APP))
    }
}

impl Drop for Wine {
    fn drop(&mut self) {
        // Errors mean that the X server has ended already.
        let _ = self.x_server.kill();
        let _ = self.x_server.wait();
    }
}
