//! Test that a program shows the editor's window.

use anyhow::{Result, ensure};
use std::{
    collections::BTreeSet,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};
use tone_filter_testkit::display::{Display, Killed};

const SCREEN: [u16; 2] = [1000, 640];

/// Maximum time until the editor must be visible.
const PATIENCE: Duration = Duration::from_secs(60);

/// A picture with more colours than this shows the editor.
const COLOURS: usize = 200;

/// Runs `program` until the editor is visible, and writes a picture of the display to `path`. `display` names a running
/// display; if it is `None`, starts one.
pub fn open_editor(mut program: Command, display: Option<String>, path: &Path) -> Result<()> {
    let display = match display {
        Some(name) => Display::of(name)?,
        None => Display::start(SCREEN)?,
    };
    let start = Instant::now();
    let mut program = Killed(program.env("DISPLAY", display.name()).spawn()?);
    loop {
        let picture = display.picture(SCREEN.map(u32::from))?;
        let shown = picture.pixels.iter().collect::<BTreeSet<_>>().len() > COLOURS;
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
