//! Test of the VST3 plugin in Debian's Ardour without its window: its output against pedalboard's for the same input.

use anyhow::{Context, Result, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tone_filter_testkit::{bundle, plugin::python, programs::run, root, wav};

/// Folder of Ardour's libraries, and of the program by which Ardour scans plugins.
const LIBRARIES: &str = "/usr/lib/ardour7";

/// Parameters: name, value in its unit for Ardour, and value from 0 to 1 for VST3. Mix, the first, later jumps to [`JUMP`].
/// Focus is off, as the listener works in frames, so that its output would depend on when the plugin was started.
const SETTINGS: [(&str, f32, f32); 7] = [
    ("Mix", 80.0, 0.8),
    ("Focus", 0.0, 0.0),
    // Drive goes from 1 to 400 and Release from 10 to 1000, both logarithmic.
    ("Drive", 20.0, 0.5),
    ("Release", 100.0, 0.5),
    // Output goes from -24 to 12.
    ("Output", -6.0, 0.5),
    // Stereo has the second of its three entries.
    ("Stereo", 1.0, 0.5),
    // Lookahead gives the plugin a latency, which both hosts compensate.
    ("Lookahead", 1.0, 1.0),
];

/// Value to which Mix jumps: in percent, and from 0 to 1.
const JUMP: (f32, f32) = (20.0, 0.2);

/// Frame at which Mix jumps, inside one of Ardour's buffers. The plugin takes new settings every 64 frames: if a host sent the
/// jump one frame late, it would sound 64 frames late.
const AT: usize = 4_689 * 64;

/// Total silence around the tune, in frames: half a second before and half a second after it.
const SILENCE: u32 = 44_100;

/// Largest allowed difference; full scale is 1. Both hosts round parameters to 32 bits, but on different scales, so values
/// differ by up to 2^-24 of their ranges. For the 50 dB of Threshold, that is 4e-7 of an amplitude. The steep gates and the
/// drive behind them amplify this error about ten times, to some 1e-5. An error in the last displayed digit of a value, or a
/// jump one frame late, gives more than 1e-4.
const BOUND: f32 = 1e-4;

/// Ardour with its own home folder, so that it neither reads nor writes a user's settings.
struct Ardour {
    home: PathBuf,
    plugin: PathBuf,
}

/// Makes a session with the plugin in Ardour in `home`, loads it again, and compares the export with pedalboard's output. Prints a
/// line for each step that has passed.
pub fn test(home: &Path) -> Result<()> {
    let ardour = Ardour { home: home.to_owned(), plugin: bundle::vst3()? };
    let at = |name: &str| home.join(name);

    run(ardour
        .tool(&Path::new(LIBRARIES).join("ardour-vst3-scanner"))
        .arg("--quiet")
        .arg(&ardour.plugin))?;
    println!("scan:");
    let tune = at("tune.wav");
    fs::copy(root().join("assets/demo.wav"), &tune)?;
    let frames = hound::WavReader::open(&tune)?.duration() + SILENCE;
    run(ardour
        .tool(Path::new("ardour7-lua"))
        .arg(root().join("crates/testkit/daw/session.lua"))
        .args([&at("session"), &tune])
        .args([frames.to_string(), AT.to_string(), JUMP.0.to_string()])
        .args(SETTINGS.map(|(name, value, _)| format!("{name}={value}"))))?;
    let wet = ardour.export("wet")?;
    // The track's input, padded. Ardour 7.3 cannot export it: for a track without plugins, the export corrupts memory.
    let silence = [0.0; SILENCE as usize / 2];
    let (channels, rate) = wav::read(&tune)?;
    let padded = channels.iter().map(|channel| [&silence, &channel[..], &silence].concat());
    let dry = padded.collect();
    wav::write(&at("dry.wav"), &dry, rate)?;
    let reference = at("reference");
    run(Command::new(python())
        .arg(root().join("crates/testkit/daw/reference.py"))
        .args([&ardour.plugin, &at("dry.wav"), &reference])
        .args([AT.to_string(), JUMP.1.to_string()])
        .args(SETTINGS.map(|(name, _, value)| format!("{name}={value}"))))?;

    let reference = fs::read(reference)?;
    let reference: Vec<f32> =
        reference.as_chunks().0.iter().copied().map(f32::from_le_bytes).collect();
    let wet = wav::read(&wet)?.0.concat();
    ensure!(wet.len() == 2 * frames as usize, "Ardour has exported {} samples", wet.len());
    ensure!(greatest_difference(&wet, &dry.concat())? > 0.1, "the plugin does nothing in Ardour");
    let difference = greatest_difference(&wet, &reference)?;
    ensure!(difference <= BOUND, "Ardour and pedalboard differ by {difference:e}");
    println!("sound: {difference:.1e}");
    Ok(())
}

impl Ardour {
    /// Returns a command for a program of Ardour that ends by itself. It has a time limit, as one run was seen to wait forever.
    fn tool(&self, program: &Path) -> Command {
        let mut command = self.command("timeout");
        command.arg("120").arg(program);
        command
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for variable in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"] {
            command.env_remove(variable);
        }
        command
            .env("HOME", &self.home)
            .env("VST3_PATH", self.plugin.parent().unwrap_or(Path::new("/")))
            .env("LD_LIBRARY_PATH", LIBRARIES);
        command
    }

    /// Loads the session's state called `name` and exports it.
    fn export(&self, name: &str) -> Result<PathBuf> {
        let path = self.home.join(name).with_extension("wav");
        run(self
            .tool(Path::new("ardour7-export"))
            .args(["--bitdepth", "float", "--output"])
            .args([&path, &self.home.join("session"), Path::new(name)]))?;
        Ok(path)
    }
}

/// Returns the largest absolute difference of two signals.
fn greatest_difference(a: &[f32], b: &[f32]) -> Result<f32> {
    ensure!(a.len() == b.len(), "{} samples are not {}", a.len(), b.len());
    // `total_cmp` sorts NaN as the largest.
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.max_by(f32::total_cmp).context("there is no sound")
}
