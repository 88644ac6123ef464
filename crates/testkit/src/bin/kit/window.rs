//! The editor's window of a program.

use anyhow::{Result, ensure};
use std::{
    collections::BTreeSet,
    path::Path,
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};
use tone_filter_testkit::display::{Display, Picture};

/// The size of the screen.
const SIZE: [u16; 2] = [1000, 640];

/// Longest time until the window shows the editor.
const PATIENCE: Duration = Duration::from_secs(60);

/// More colours than this are a picture of the editor.
const COLOURS: usize = 200;

/// Runs a program until it shows the editor on a display, of which a picture is written. Without `display`, it gets one of its own.
///
/// # Errors
/// When it ends by itself, or shows nothing.
pub fn open_editor(mut program: Command, display: Option<String>, path: &Path) -> Result<()> {
    let display = match display {
        Some(name) => Display::of(name)?,
        None => Display::start(SIZE)?,
    };
    await_picture(program.env("DISPLAY", display.name()), &display, SIZE, path, |picture| {
        picture.pixels.iter().collect::<BTreeSet<_>>().len() > COLOURS
    })
}

/// Runs `program` on `display` until the top left `size` pixels are as they shall be, and writes a picture of them.
///
/// # Errors
/// When it ends by itself, or never shows them.
pub fn await_picture(
    program: &mut Command,
    display: &Display,
    size: [u16; 2],
    path: &Path,
    shown: impl Fn(&Picture) -> bool,
) -> Result<()> {
    let start = Instant::now();
    let mut program = Program(program.spawn()?);
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
        // The program may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
