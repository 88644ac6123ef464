//! Writes the pictures and sounds of the README and the manual. The film shows the editor of the built plugin. The sounds are
//! the demo tune, unprocessed, with the default settings, and with every preset.

mod manual;

use anyhow::Result;
use std::{
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};
use tone_filter_dsp::Settings;
use tone_filter_testkit::{bundle, clap::Library, display::Display, programs::run, root, wav};

/// Start and end of the film, in seconds of the demo tune.
const SCENE: [f64; 2] = [4.0, 12.0];

/// Frame rate of the film in Hz.
const RATE: u32 = 12;

/// Audio buffer length in frames.
const BLOCK: usize = 441;

const WIDTH: u32 = 720;

/// Writes the manual's pictures and sounds, and the README's `before.ogg`, `after.ogg` and `editor.webp` into `assets`.
fn main() -> Result<()> {
    let assets = root().join("assets");
    let (dry, rate) = wav::read(&assets.join("demo.wav"))?;
    manual::write()?;
    let settings = Settings { lookahead: true, ..Settings::default() };
    let wet = manual::through(&dry, rate, &settings)?;
    let folder = tempfile::tempdir()?;
    for (signal, name) in [(&dry, "before.ogg"), (&wet, "after.ogg")] {
        let wave = folder.path().join("sound.wav");
        wav::write(&wave, signal, rate)?;
        run(ffmpeg().arg("-i").arg(&wave).args(["-q:a", "4"]).arg(assets.join(name)))?;
    }
    film(&dry, rate, folder.path())?;
    run(ffmpeg()
        .args(["-framerate", &RATE.to_string(), "-i"])
        .arg(folder.path().join("%03d.png"))
        .args(["-vf", &format!("scale={WIDTH}:-1:flags=area"), "-loop", "0", "-quality", "70"])
        .arg(assets.join("editor.webp")))?;
    Ok(())
}

fn ffmpeg() -> Command {
    let mut command = Command::new("ffmpeg");
    command.args(["-y", "-loglevel", "error"]);
    command
}

/// Plays `dry` in real time with the editor open, and writes screenshots of [`SCENE`] into `folder`, numbered from `000.png`.
fn film(dry: &[Vec<f32>], rate: u32, folder: &Path) -> Result<()> {
    // The display is so large that the pointer, in the middle of the screen, lies outside the editor.
    let display = Display::start([2100, 640])?;
    // SAFETY: this program has not started any other thread yet that reads or writes the environment.
    unsafe { display.set_environment() };
    let mut instance = Library::load(&bundle::clap()?)?.instance()?;
    instance.select(dry.len())?;
    let mut processor = instance.activate(f64::from(rate), BLOCK)?;
    let size = instance.open_editor(display.window())?;
    let [from, to] = SCENE.map(|seconds| (seconds * f64::from(rate)) as usize);
    let pictures = thread::scope(|scope| -> Result<_> {
        let player = scope.spawn(|| -> Result<()> {
            let start = Instant::now();
            for at in (0..to).step_by(BLOCK) {
                let mut block: Vec<_> =
                    dry.iter().map(|channel| channel[at..at + BLOCK].to_vec()).collect();
                processor.run(&mut block, true, &mut std::iter::repeat(BLOCK), &[])?;
                let due = Duration::from_secs_f64((at + BLOCK) as f64 / f64::from(rate));
                thread::sleep(due.saturating_sub(start.elapsed()));
            }
            Ok(())
        });
        let start = Instant::now();
        let frames = (to - from) as u32 * RATE / rate;
        let mut pictures = Vec::new();
        for frame in 0..frames {
            let due = Duration::from_secs_f64(SCENE[0] + f64::from(frame) / f64::from(RATE));
            while start.elapsed() < due {
                instance.idle();
                thread::sleep(Duration::from_millis(5));
            }
            pictures.push(display.picture(size)?);
        }
        player.join().expect("the audio thread does not panic")?;
        Ok(pictures)
    })?;
    // Saved after the film, because saving a picture takes longer than a frame.
    for (frame, picture) in pictures.iter().enumerate() {
        picture.save(&folder.join(format!("{frame:03}.png")))?;
    }
    instance.close_editor()?;
    Ok(())
}
