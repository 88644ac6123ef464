//! `cargo xtask test-play`: `tone-filter play` on a device that writes a file, and the window of `tone-filter app`.

use crate::{
    display::{Display, Picture},
    run, suite, target,
};
use anyhow::{Result, ensure};
use std::{
    collections::BTreeSet,
    path::Path,
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

/// Headers of ALSA and JACK, and a display.
const PACKAGES: [&str; 6] =
    ["libasound2-dev", "libjack-jackd2-dev", "pkg-config", "xvfb", "libgl1", "libgl1-mesa-dri"];

/// The size of the screen.
const SIZE: [u16; 2] = [1000, 640];

/// How long the window may take to show the editor.
const PATIENCE: Duration = Duration::from_secs(60);

/// More colours than this are a picture of the editor.
const COLOURS: usize = 200;

/// Builds and runs both.
///
/// # Errors
/// When something is missing and cannot be installed, or fails.
pub fn test() -> Result<()> {
    if suite::on_path("dpkg-query") {
        suite::install(&PACKAGES)?;
    }
    let cargo = |verb: &str, arguments: &[&str]| {
        let package = [verb, "--locked", "--package=tone-filter-cli", "--features=app"];
        run(Command::new("cargo").args(package).args(arguments))
    };
    cargo("clippy", &["--all-targets", "--", "-Dwarnings"])?;
    cargo("test", &["--bin=tone-filter", "--test=speakers"])?;
    cargo("build", &[])?;
    let app = Command::new(target()?.join("debug/tone-filter"));
    open_editor(app, &Display::start(SIZE)?, &target()?.join("app.png"))
}

/// Opens the editor on `display` with `program app`, and writes a picture as soon as it shows something.
///
/// # Errors
/// When it ends by itself, or shows nothing.
pub(crate) fn open_editor(mut program: Command, display: &Display, path: &Path) -> Result<()> {
    program.args(["app", "--backend=dummy"]);
    await_picture(program, display, SIZE, path, |picture| {
        picture.pixels.iter().collect::<BTreeSet<_>>().len() > COLOURS
    })
}

/// Runs `program` on `display` until the top left `size` pixels are as they shall be, and writes a picture of them.
///
/// # Errors
/// When it ends by itself, or never shows them.
pub(crate) fn await_picture(
    mut program: Command,
    display: &Display,
    size: [u16; 2],
    path: &Path,
    shown: impl Fn(&Picture) -> bool,
) -> Result<()> {
    let start = Instant::now();
    let mut program = Program(program.env("DISPLAY", display.name()).spawn()?);
    loop {
        let picture = display.picture(size.map(u32::from))?;
        let shown = shown(&picture);
        if shown || start.elapsed() > PATIENCE {
            picture.save(path)?;
            ensure!(shown, "the editor is not to be seen: {}", path.display());
            println!("the editor is to be seen: {}", path.display());
            return Ok(());
        }
        ensure!(program.0.try_wait()?.is_none(), "the program has ended by itself");
        thread::sleep(Duration::from_millis(200));
    }
}

/// A program that ends with this.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
