//! Presets that the host loads, with or without a window.

use super::{Edits, Session};
use crate::params::ToneFilterParams;
use plugin_guard::HostLink;
use std::{
    io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};
use tone_filter_presets::{Error, Folder, Loaded, Preset};

/// Loads presets as the editor does: as one undo step, and without the bypass.
#[derive(Clone)]
pub struct PresetLoader {
    /// The parameters that it sets.
    pub params: Arc<ToneFilterParams>,
    session: Arc<Mutex<Session>>,
    /// The link between editor and host.
    pub host: HostLink,
}

impl PresetLoader {
    /// A loader for the plugin with `params` and the editor with `session`.
    pub fn new(
        params: Arc<ToneFilterParams>,
        session: Arc<Mutex<Session>>,
        host: HostLink,
    ) -> Self {
        Self { params, session, host }
    }

    /// Loads the factory preset with this id. The host must then read all parameters again.
    ///
    /// # Errors
    /// When there is no such preset.
    pub fn factory(&self, id: &str) -> Result<(), Error> {
        let preset = Preset::factory(id).ok_or_else(|| Error::Unknown { name: id.to_owned() })?;
        self.use_preset(preset.into());
        Ok(())
    }

    /// Loads the preset in the file at `path`; the window shows a warning of it, now or when it opens. The host must
    /// then read all parameters again.
    ///
    /// # Errors
    /// When it cannot be read or is not a valid preset.
    pub fn file(&self, path: &Path) -> Result<(), Error> {
        self.use_preset(read_preset(path)?);
        Ok(())
    }

    fn use_preset(&self, loaded: Loaded) {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.presets.refresh();
        session.presets.message.clear();
        let name = loaded.preset.name.clone();
        let preset = session.presets.warn(&name, loaded);
        session.presets.remember(&preset);
        let mut edits = Edits::new(&self.params, None, &self.host, &mut session, f64::INFINITY);
        edits.use_preset(name, &preset.settings);
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
