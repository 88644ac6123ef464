//! Presets that the host loads, with or without a window.

use super::{Session, Silent};
use std::{io, path::Path};
use tone_filter_presets::{Error, Folder, Loaded, Preset};

/// The host loads presets as the editor does: as one undo step, and except for what the user keeps.
impl Session {
    /// Loads the factory preset with this id. The host must then read all parameters again.
    ///
    /// # Errors
    /// When there is no such preset.
    pub fn load_factory(&self, id: &str) -> Result<(), Error> {
        let preset = Preset::factory(id).ok_or_else(|| Error::Unknown { name: id.to_owned() })?;
        self.load(preset.into());
        Ok(())
    }

    /// Loads the preset in the file at `path`; the window shows a warning of it, now or when it opens. The host must
    /// then read all parameters again.
    ///
    /// # Errors
    /// When it cannot be read or is not a valid preset.
    pub fn load_file(&self, path: &Path) -> Result<(), Error> {
        self.load(read_preset(path)?);
        Ok(())
    }

    fn load(&self, loaded: Loaded) {
        self.edit(&Silent, f64::INFINITY, |edits| {
            let presets = &mut edits.state.presets;
            presets.refresh();
            presets.message.clear();
            let name = loaded.preset.name.clone();
            let preset = presets.warn(&name, loaded);
            presets.remember(&preset);
            edits.use_preset(name, &preset.settings);
        });
        self.host.repaint();
    }
}

/// The preset in the file at `path`, under the name that the editor shows for it: in the user's folder, that of the file.
///
/// # Errors
/// When it cannot be read or is not a valid preset.
pub fn read_preset(path: &Path) -> Result<Loaded, Error> {
    if path.exists() && !path.is_file() {
        // Opening a pipe would block.
        let source = io::Error::other("it is not a file");
        return Err(Error::Read { path: path.into(), source });
    }
    let mut loaded = Preset::read(path)?;
    let folder = Folder::of_user();
    if folder.is_some_and(|folder| path.parent() == Some(folder.location()))
        && let Some(name) = path.file_stem().and_then(|stem| stem.to_str())
    {
        loaded.preset.name = name.to_owned();
    }
    Ok(loaded)
}
