//! Writer of this version's states and presets, which all later versions must load.

use anyhow::{Context, Result, ensure};
use std::fs;
use tone_filter_presets::{Preset, ids};
use tone_filter_testkit::{
    plugin::{library, new, set},
    root,
};

/// Writes the plugin's state and the preset file of every factory preset into `tests/corpus/VERSION/`. The folder must not exist:
/// files of released versions are never changed.
pub fn write() -> Result<()> {
    let (library, plugin) = library();
    let folder = root().join("tests/corpus").join(&plugin.version);
    ensure!(!folder.exists(), "{} exists already", folder.display());
    fs::create_dir_all(&folder)?;
    for id in ids() {
        let preset = Preset::factory(id).context("every id has a preset")?;
        let mut instance = new(&library);
        set(&mut instance, &preset.settings);
        fs::write(folder.join(format!("{id}.state")), instance.save()?)?;
        preset.write(&folder.join(format!("{id}.json")))?;
    }
    println!("Wrote {}", folder.display());
    Ok(())
}
