//! Host that plays while the editor is open, and checks of the editor's screenshots.

use crate::SetOnDrop;
use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread::{scope, sleep},
    time::{Duration, Instant},
};
use tone_filter_dsp::Settings;
use tone_filter_testkit::{
    clap::{GuiStep, Instance, Processor},
    display::{Display, Picture},
    plugin::{instance, saved, set, settle, state, threads},
    target,
};

const RATE: f64 = 48_000.0;
const BLOCK: usize = 480;

/// Timeout that suffices for software rendering on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Window<'a> {
    pub instance: Instance,
    pub display: &'a Display,
    pub size: [u32; 2],
    /// Number of threads of this process before the editor was opened.
    threads: usize,
}

impl<'a> Window<'a> {
    pub fn open(instance: Instance, display: &'a Display) -> Self {
        let mut window = Self { instance, display, size: [0; 2], threads: threads() };
        window.reopen();
        window
    }

    pub fn reopen(&mut self) {
        self.size = self.instance.open_editor(self.display.window()).unwrap();
        self.display.resize(self.size).unwrap();
    }

    pub fn resize(&mut self, size: [u32; 2]) {
        self.size = self.instance.resize_editor(size).unwrap();
        assert_eq!(self.size, size);
        self.display.resize(size).unwrap();
    }

    pub fn picture(&self) -> Picture {
        self.display.picture(self.size).unwrap()
    }

    /// Takes screenshots until `check` accepts one, and returns it. After [`PATIENCE`], saves the last screenshot as `title` and
    /// panics.
    pub fn wait(
        &mut self,
        title: &str,
        mut check: impl FnMut(&Picture) -> Result<(), String>,
    ) -> Picture {
        let begun = Instant::now();
        loop {
            self.instance.idle();
            let picture = self.picture();
            let Err(complaint) = check(&picture) else { return picture };
            if begun.elapsed() > PATIENCE {
                panic!("{title}: {complaint}; see {}", save(&picture, title).display());
            }
            sleep(Duration::from_millis(10));
        }
    }

    pub fn close(&mut self) {
        self.instance.close_editor().unwrap();
        settle(self.threads);
    }
}

pub struct Stage<'a> {
    processor: Processor,
    pub window: Window<'a>,
}

impl<'a> Stage<'a> {
    /// Opens an editor with the reference sound.
    pub fn open(display: &'a Display) -> Self {
        let mut instance = instance();
        set(&mut instance, &Settings::REFERENCE);
        let processor = instance.activate(RATE, BLOCK).unwrap();
        Self { processor, window: Window::open(instance, display) }
    }

    /// Resets the plugin, and plays `sound` (a function of the time in seconds) until `check` accepts a screenshot. Saves the
    /// screenshot as `title`, and returns it.
    pub fn show(
        &mut self,
        title: &str,
        sound: &(dyn Fn(f64) -> f64 + Sync),
        check: impl Fn(&Picture) -> Result<(), String>,
    ) -> Picture {
        let Self { processor, window } = self;
        processor.reset();
        // The slowest resonator needs some seconds to settle.
        let mut time = 0.0;
        play(processor, sound, &mut time, 6.0);
        let (done, blocks) = (AtomicBool::new(false), AtomicUsize::new(0));
        let picture = scope(|scope| {
            // Stops the player, also if a check panics.
            let _stop = SetOnDrop(&done);
            // Plays on a separate thread, because a screenshot takes a while.
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    play(processor, sound, &mut time, BLOCK as f64 / RATE);
                    blocks.fetch_add(1, Ordering::Relaxed);
                    // Plays in real time, as the display is designed for it.
                    sleep(Duration::from_millis(10));
                }
            });
            let (mut last, mut frames) = (window.picture(), 0);
            window.wait(title, |picture| {
                if last != *picture {
                    last = picture.clone();
                    frames += 1;
                }
                match (blocks.load(Ordering::Relaxed), frames) {
                    // Half a second of sound fills the spectrum. The first frame may have begun before the last change of the state,
                    // and may show another page.
                    (50.., 3..) => check(picture),
                    (blocks, frames) => Err(format!("only {blocks} blocks, {frames} frames")),
                }
            })
        });
        save(&picture, title);
        picture
    }

    /// Reopens the editor as a busy host does: while playing, and with a long delay between creating and showing the window.
    pub fn reopen_late(&mut self) {
        let Self { processor, window } = self;
        let parent = GuiStep::Parent(window.display.window());
        for step in [GuiStep::Create, GuiStep::Scale(1.0), parent] {
            window.instance.gui(step).unwrap();
        }
        // Now the editor has something to draw.
        play(processor, &|_| 0.0, &mut 0.0, 0.1);
        sleep(Duration::from_millis(200));
        window.instance.gui(GuiStep::Show).unwrap();
    }

    /// Loads other settings while the plugin plays.
    pub fn load(&mut self, settings: &Settings) {
        let mut other = instance();
        set(&mut other, settings);
        self.window.instance.load(&other.save().unwrap()).unwrap();
    }

    /// Saves the state, sets a field in it, for instance whether More is open, and loads it.
    pub fn set(&mut self, field: &str, value: &str) {
        let mut state = state(&self.window.instance.save().unwrap());
        state["fields"][field] = value.into();
        self.window.instance.load(&saved(&state)).unwrap();
    }
}

/// Plays `sound` for `seconds` from `time` on, faster than real time, and advances `time`.
fn play(
    processor: &mut Processor,
    sound: &(dyn Fn(f64) -> f64 + Sync),
    time: &mut f64,
    seconds: f64,
) {
    let frames = 0..(seconds * RATE).round() as usize;
    let channel: Vec<f32> = frames.map(|frame| sound(*time + frame as f64 / RATE) as f32).collect();
    let mut signal = [channel.clone(), channel];
    processor.run(&mut signal, true, &mut std::iter::repeat(BLOCK), &[]).unwrap();
    *time += seconds;
}

/// Saves `picture` as `title` in the folder `target/pictures`. Returns its path.
pub fn save(picture: &Picture, title: &str) -> PathBuf {
    let folder = target().join("pictures");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{title}.png"));
    picture.save(&path).unwrap();
    path
}

/// Returns the pixels that do not move while the plugin plays: main settings, left edge.
pub fn fixed(picture: &Picture) -> Vec<[u8; 3]> {
    let (width, height) = (picture.width, picture.pixels.len() / picture.width);
    let is_fixed = |x, y| (height / 9..height / 7).contains(&y) || x < width / 33 && y < height / 2;
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    places.filter(|&(x, y)| is_fixed(x, y)).map(|(x, y)| picture.pixel(x, y)).collect()
}

/// Checks that the editor is drawn: many pixels differ from the background.
pub fn is_drawn(picture: &Picture) -> Result<(), String> {
    let background = picture.pixel(2, 2);
    let drawn = picture.pixels.iter().filter(|&&pixel| pixel != background).count();
    if drawn * 20 > picture.pixels.len() { Ok(()) } else { Err(format!("{drawn} pixels drawn")) }
}

/// Checks that some notes are shown as sounding, in green.
pub fn is_lit(picture: &Picture) -> Result<(), String> {
    is_drawn(picture)?;
    // Only the upper half: below, the legend is green as well.
    let grid = &picture.pixels[..picture.pixels.len() / 2];
    let is_green = |[red, green, blue]: &[u8; 3]| *green > red.saturating_add(60) && green > blue;
    let count = grid.iter().filter(|pixel| is_green(pixel)).count();
    if count > 50 { Ok(()) } else { Err(format!("{count} green pixels")) }
}
