//! A host with an open editor, playing.

use crate::hosting::{instance, set, settle, threads};
use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread::{scope, sleep},
    time::{Duration, Instant},
};
use tone_filter::dsp::Settings;
use xtask::{
    display::{Display, Picture},
    host::{Instance, Processor},
    target,
};

pub const RATE: f64 = 48_000.0;
pub const BLOCK: usize = 480;

/// A software renderer on a busy machine is slow, but not as slow as that.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A display for everything: Xlib ends the process of whom it leaves behind.
pub fn display() -> Display {
    let display = Display::start([3840, 2160]).unwrap_or_else(|error| panic!("{error:#}"));
    // SAFETY: this is the only test in its process, and no other thread of it reads or writes the
    // environment meanwhile: the harness just waits for this one.
    unsafe {
        std::env::set_var("DISPLAY", display.name());
        // No graphics card draws for a server without a screen.
        std::env::set_var("LIBGL_ALWAYS_SOFTWARE", "1");
    }
    display
}

/// Ends a player, even when the window's side panics.
pub struct Stop<'a>(pub &'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// An open editor on a display.
pub struct Window<'a> {
    pub instance: Instance,
    display: &'a Display,
    pub size: [u32; 2],
    /// Threads of this process while no editor is open.
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

    /// Gives the editor time until `check` likes what there is to see; the last picture, and what was
    /// wrong with it.
    pub fn wait(
        &mut self,
        check: impl Fn(&Picture) -> Result<(), String>,
    ) -> (Picture, Option<String>) {
        let begun = Instant::now();
        loop {
            self.instance.idle();
            let picture = self.picture();
            let complaint = check(&picture).err();
            if complaint.is_none() || begun.elapsed() > PATIENCE {
                return (picture, complaint);
            }
            sleep(Duration::from_millis(10));
        }
    }

    pub fn close(&mut self) {
        self.instance.close_editor().unwrap();
        settle(self.threads);
    }
}

/// An open editor, and what it is played.
pub struct Stage<'a> {
    processor: Processor,
    pub window: Window<'a>,
}

impl<'a> Stage<'a> {
    /// With the reference sound.
    pub fn open(display: &'a Display) -> Self {
        let mut instance = instance();
        set(&mut instance, &Settings::REFERENCE);
        let processor = instance.activate(RATE, BLOCK).unwrap();
        Self { processor, window: Window::open(instance, display) }
    }

    /// Plays `sound` (the sample at a time in seconds) from a fresh start, until `check` likes what there
    /// is to see; the picture.
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
        let (picture, complaint) = scope(|scope| {
            let _stop = Stop(&done);
            // On a thread of its own, because to take a picture takes a while.
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    play(processor, sound, &mut time, BLOCK as f64 / RATE);
                    blocks.fetch_add(1, Ordering::Relaxed);
                    // In no more than real time, which is what the display keeps up with.
                    sleep(Duration::from_millis(10));
                }
            });
            window.wait(|picture| match blocks.load(Ordering::Relaxed) {
                // Half a second fills the spectrum.
                50.. => check(picture),
                blocks => Err(format!("only {blocks} blocks were played")),
            })
        });
        let path = pictures().join(format!("{title}.png"));
        picture.save(&path).unwrap();
        if let Some(complaint) = complaint {
            panic!("{title}: {complaint}; see {}", path.display());
        }
        picture
    }

    /// Gives it another sound while it plays.
    pub fn load(&mut self, settings: &Settings) {
        let mut other = instance();
        set(&mut other, settings);
        self.window.instance.load(&other.save().unwrap()).unwrap();
    }

    pub fn close(mut self) {
        self.window.close();
        self.window.instance.deactivate(self.processor);
    }
}

/// Plays the next `seconds` after `time`, as fast as it goes.
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

fn pictures() -> PathBuf {
    let folder = target().unwrap().join("pictures");
    fs::create_dir_all(&folder).unwrap();
    folder
}
