//! `cargo xtask test-daw`: the VST3 plugin in Debian's Ardour, compared with what pedalboard makes of the same sound.

use crate::{bundle, foreign, python, root, run, suite};
use anyhow::{Context, Result, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const PACKAGES: [&str; 3] = ["ardour", "python3", "python3-venv"];

/// Where Debian has Ardour's libraries, and a program that loads plugins before Ardour does.
const LIBRARIES: &str = "/usr/lib/ardour7";

/// The parameters that are set: name, value in its own unit, as in Ardour, and from 0 to 1, as in VST3 itself. Those of
/// the first one, which is automated, are followed by others.
///
/// With Focus, the output depends on when the plugin has been started, as notes are looked for in steps.
const SETTINGS: [(&str, f32, f32); 6] = [
    ("Mix", 80.0, 0.8),
    ("Focus", 0.0, 0.0),
    // From 1 to 400, and from 10 to 1000, logarithmic.
    ("Drive", 20.0, 0.5),
    ("Release", 100.0, 0.5),
    // From -24 to 12.
    ("Output", -6.0, 0.5),
    ("Stereo", 1.0, 1.0),
];

/// What Mix jumps to, in both scales.
const JUMP: (f32, f32) = (20.0, 0.2);

/// The frame where it jumps: amid a block of any size.
const AT: usize = 300_001;

/// Half a second after the end of the tune, in frames.
const TAIL: u32 = 22_050;

/// The greatest difference, of full scale 1. Both hosts round the values of all parameters to 32 bits, but on different
/// scales, so that these differ by up to 2^-24 of their ranges. 50 dB of Threshold make that 4e-7 of a level, and the
/// steep gates and the drive behind it amplify it some ten times, for about 1e-5. A jump that is one sample off, or a
/// value that is a displayed digit off, makes more than 1e-4.
const BOUND: f32 = 1e-4;

/// Ardour with a home of its own, so that it never reads nor writes a user's settings.
struct Ardour {
    home: tempfile::TempDir,
    plugin: PathBuf,
}

/// Makes a session with the plugin, loads it again, and compares the exports.
///
/// # Errors
/// When something is missing and cannot be installed, settings are lost, or the sound is another one.
pub fn test() -> Result<()> {
    ensure!(suite::on_path("dpkg-query"), "this verb needs Debian, for its Ardour");
    foreign::install(&PACKAGES)?;
    python::set_up()?;
    let ardour = Ardour { home: tempfile::tempdir()?, plugin: bundle::vst3()? };
    let at = |name: &str| ardour.home.path().join(name);

    run(ardour
        .command(&Path::new(LIBRARIES).join("ardour-vst3-scanner"))
        .arg("--quiet")
        .arg(&ardour.plugin))?;
    let tune = root().join("assets/demo.wav");
    let frames = hound::WavReader::open(&tune)?.duration() + TAIL;
    run(ardour
        .command(Path::new("ardour7-lua"))
        .arg(root().join("xtask/daw/session.lua"))
        .args([at("session"), tune])
        .args([frames.to_string(), AT.to_string(), JUMP.0.to_string()])
        .args(SETTINGS.map(|(name, value, _)| format!("{name}={value}"))))?;
    let [dry, wet] = ["dry", "wet"].map(|name| ardour.export(name));
    let (dry, wet) = (dry?, wet?);
    let reference = at("reference");
    run(Command::new(python::interpreter()?)
        .arg(root().join("xtask/daw/reference.py"))
        .args([&ardour.plugin, &dry, &reference])
        .args([AT.to_string(), JUMP.1.to_string()])
        .args(SETTINGS.map(|(name, _, value)| format!("{name}={value}"))))?;

    let reference = fs::read(reference)?;
    let reference: Vec<f32> =
        reference.as_chunks().0.iter().copied().map(f32::from_le_bytes).collect();
    let (dry, wet) = (planar(&dry)?, planar(&wet)?);
    ensure!(wet.len() == 2 * frames as usize, "Ardour has exported {} samples", wet.len());
    ensure!(greatest_difference(&wet, &dry)? > 0.1, "the plugin does nothing in Ardour");
    let difference = greatest_difference(&wet, &reference)?;
    println!("Ardour and pedalboard differ by up to {difference:e}");
    ensure!(difference <= BOUND, "that is more than {BOUND:e}");
    Ok(())
}

impl Ardour {
    /// One of Ardour's programs.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("timeout");
        // It has been seen to wait forever.
        command.arg("120").arg(program);
        for variable in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"] {
            command.env_remove(variable);
        }
        command
            .env("HOME", self.home.path())
            .env("VST3_PATH", self.plugin.parent().unwrap_or(Path::new("/")))
            .env("LD_LIBRARY_PATH", LIBRARIES);
        command
    }

    /// Loads a state of the session and exports it.
    fn export(&self, name: &str) -> Result<PathBuf> {
        let path = self.home.path().join(name).with_extension("wav");
        run(self
            .command(Path::new("ardour7-export"))
            .args(["--bitdepth", "float", "--output"])
            .args([&path, &self.home.path().join("session"), Path::new(name)]))?;
        Ok(path)
    }
}

/// The samples of a stereo file, left and then right.
fn planar(path: &Path) -> Result<Vec<f32>> {
    let file = hound::WavReader::open(path).with_context(|| path.display().to_string())?;
    let samples = file.into_samples().collect::<Result<Vec<f32>, _>>()?;
    Ok([0, 1]
        .iter()
        .flat_map(|&channel| samples.iter().copied().skip(channel).step_by(2))
        .collect())
}

fn greatest_difference(a: &[f32], b: &[f32]) -> Result<f32> {
    ensure!(a.len() == b.len(), "{} samples are not {}", a.len(), b.len());
    // In this order, what is not a number is the greatest.
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.max_by(f32::total_cmp).context("there is no sound")
}
