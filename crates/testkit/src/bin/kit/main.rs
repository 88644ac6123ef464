//! `kit VERB ARGUMENTS`: programs for verbs of `cargo xtask` that need the testkit.

mod automation;
mod bits;
mod page;
mod songs;
mod wild;
#[cfg(target_os = "linux")]
mod window;

use anyhow::{Context, Result, bail, ensure};
use std::{env, fs, path::Path};
use tone_filter_presets::{Preset, ids};
use tone_filter_testkit::{
    clap::Library,
    plugin::{instance, library, set},
    root, tune,
    vst3::Factory,
};

fn main() -> Result<()> {
    let args: Vec<_> = env::args().skip(1).collect();
    let words: Vec<_> = args.iter().map(String::as_str).collect();
    match words[..] {
        ["automation", folder] => automation::write(Path::new(folder)),
        ["bits", program, "--", ..] => {
            let files = bits::compare(Path::new(program), &args[3..])?;
            println!("{files} files are the same as here");
            Ok(())
        }
        ["corpus"] => write_corpus(),
        #[cfg(target_os = "linux")]
        ["loads", clap, vst3] => loads(Path::new(clap), Path::new(vst3)),
        ["page", folder, programs] => page::write(Path::new(folder), programs == "with-programs"),
        ["songs", program, ..] => songs::report(program, &args[2..]),
        ["starts", folder] => automation::write_starts(Path::new(folder)),
        ["tune"] => tune::write(&root().join("assets/demo.wav")),
        ["wild", program, ..] => wild::report(program, &args[2..]),
        // An empty `display` stands for a new display.
        #[cfg(target_os = "linux")]
        ["window", picture, display, "--", program, ..] => {
            let mut command = std::process::Command::new(program);
            command.args(&args[5..]);
            let display = (!display.is_empty()).then(|| display.to_owned());
            window::open_editor(command, display, Path::new(picture))
        }
        _ => bail!("{words:?}: no such verb"),
    }
}

/// Writes a corpus into `tests/corpus/VERSION/`: for every factory preset, the plugin's state and the preset's file. All later
/// versions must load them. The folder must not exist, because files of released versions are never changed.
fn write_corpus() -> Result<()> {
    let library = library();
    let version = library.plugin()?.version().context("a plugin without a version")?;
    let folder = root().join("tests/corpus").join(version.to_str()?);
    ensure!(!folder.exists(), "{} exists already", folder.display());
    fs::create_dir_all(&folder)?;
    for id in ids() {
        let preset = Preset::factory(id).context("every id has a preset")?;
        let mut instance = instance();
        set(&mut instance, &preset.settings);
        fs::write(folder.join(format!("{id}.state")), instance.save()?)?;
        preset.write(&folder.join(format!("{id}.json")))?;
    }
    println!("Wrote {}", folder.display());
    Ok(())
}

/// Checks that the CLAP and the VST3 bundle can be loaded.
#[cfg(target_os = "linux")]
fn loads(clap: &Path, vst3: &Path) -> Result<()> {
    Library::load(clap)?.plugin()?;
    let folder = format!("Contents/{}-linux", env::consts::ARCH);
    Factory::load(&vst3.join(folder).join("Tone Filter.so")).map(drop)
}
