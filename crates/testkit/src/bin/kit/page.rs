//! Songs of the web page: the demo tune, and two songs whose MIDI files and soundfont are in Debian's packages.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::{fs, path::Path, process::Command};
use tone_filter_testkit::{
    Signal,
    programs::run,
    root,
    songs::{self, RATE},
    wav,
};

/// Licences of the songs and of the soundfont: path of the text, and name of its copy on the page.
const LICENCES: [(&str, &str); 2] = [
    ("/usr/share/common-licenses/GPL-2", "GPL-2.txt"),
    ("/usr/share/doc/fluid-soundfont-gm/copyright", "FluidR3.txt"),
];

/// Length in seconds to which longer songs are shortened.
const SECONDS: f32 = 45.0;
/// Duration of the fade at the end of a shortened song, in seconds.
const FADE: f32 = 2.0;

/// Target loudness in LUFS.
const LOUDNESS: f64 = -18.0;
/// Maximum peak; full scale is 1. It has priority over the loudness, which some songs then do not reach.
const LIMIT: f32 = 0.9;

struct Song {
    /// File name without extension.
    file: &'static str,
    title: &'static str,
    description: &'static str,
    /// Factory preset that the page suggests.
    preset: &'static str,
}

const SONGS: [Song; 2] = [
    Song {
        file: "linns_basket",
        title: "Linn's basket of treats",
        description: "an orchestra, hacked",
        preset: "hacking",
    },
    Song {
        file: "midnight_snow_run",
        title: "Midnight snow run",
        description: "a band, on a sound chip",
        preset: "sound-chip",
    },
];

/// Writes the songs and their list `page.json` into the folder `page`. `has_programs` says whether FluidSynth and ffmpeg are
/// there. Without them, the demo tune is the only song.
pub fn write(page: &Path, has_programs: bool) -> Result<()> {
    let folder = page.join("songs");
    fs::create_dir_all(&folder)?;
    let tune = root().join("assets/demo.wav");
    let mut listed = vec![json!({
        "name": "Demo tune",
        "about": "pluck, pad, bass and drums",
        "file": "songs/demo.mp3",
        "preset": "tone-filter",
        "credit": "by this project, under its licence.",
    })];
    if has_programs {
        encode(wav::read(&tune)?.0, &folder.join("demo.mp3"))?;
        for (from, name) in LICENCES {
            fs::copy(from, folder.join(name)).with_context(|| format!("cannot copy {from}"))?;
        }
        for song in &SONGS {
            listed.push(make(song, &folder)?);
        }
    } else {
        fs::copy(tune, folder.join("demo.wav"))?;
        listed[0]["file"] = "songs/demo.wav".into();
    }
    let manual = page.join("manual/index.html").exists();
    let about = json!({ "songs": listed, "source": source(), "manual": manual });
    fs::write(page.join("page.json"), serde_json::to_string_pretty(&about)?)?;
    Ok(())
}

/// Returns the address of this repository on the forge that builds the page; `None` if no forge does.
fn source() -> Option<String> {
    let variable = |name| std::env::var(name).ok();
    Some(format!("{}/{}", variable("GITHUB_SERVER_URL")?, variable("GITHUB_REPOSITORY")?))
}

/// Renders a song as MP3, and copies its MIDI file beside it. Returns its entry in the list.
fn make(song: &Song, folder: &Path) -> Result<Value> {
    let midi = Path::new(songs::SONGS).join(song.file).with_extension("mid");
    let mp3 = folder.join(song.file).with_extension("mp3");
    encode(songs::play(&midi)?, &mp3)?;
    fs::copy(&midi, folder.join(song.file).with_extension("mid"))?;
    Ok(json!({
        "name": song.title,
        "about": song.description,
        "file": format!("songs/{}.mp3", song.file),
        "preset": song.preset,
        "credit": "from OpenMSX, © 2010–2021 the OpenMSX authors, GPL-2.0; played with the soundfont FluidR3 GM, © Frank Wen, MIT.",
        "score": format!("songs/{}.mid", song.file),
    }))
}

/// Writes the first [`SECONDS`] of `signal` as MP3, which every browser plays: at [`LOUDNESS`], or quieter at the peak [`LIMIT`].
fn encode(mut signal: Signal, mp3: &Path) -> Result<()> {
    let (length, fade) = ((SECONDS * RATE as f32) as usize, FADE * RATE as f32);
    for channel in &mut signal {
        if channel.len() > length {
            channel.truncate(length);
            for (index, sample) in channel.iter_mut().enumerate() {
                *sample *= ((length - index) as f32 / fade).min(1.0);
            }
        }
    }
    let loud = 10f64.powf((LOUDNESS - songs::loudness(&signal)?.integrated) / 20.0) as f32;
    let gain = loud.min(LIMIT / songs::peak(&signal));
    songs::scale(&mut signal, gain);
    let folder = tempfile::tempdir()?;
    let song = folder.path().join("song.wav");
    wav::write(&song, &signal, RATE)?;
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-y", "-loglevel", "error", "-i"]).arg(song);
    run(ffmpeg.args(["-map_metadata", "-1", "-b:a", "112k"]).arg(mp3))
}
