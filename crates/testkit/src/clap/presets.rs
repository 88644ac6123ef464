//! Preset discovery and loading.

use super::{
    Instance, Library,
    callbacks::{describe, text},
    host_info,
};
use anyhow::{Context, Result, ensure};
use clack_extensions::preset_discovery::{PluginPresetLoad, prelude::*};
use clack_host::{factory::Factory, host::HostError};
use std::ffi::{CStr, CString};

/// Log of the calls that a preset provider makes to the host, as text.
#[derive(Default)]
struct Lines(Vec<String>);

impl IndexerImpl for Lines {
    fn declare_filetype(&mut self, kind: FileType) -> Result<(), HostError> {
        self.0.push(format!("type {}", text(kind.file_extension)));
        Ok(())
    }
    fn declare_location(&mut self, at: LocationInfo) -> Result<(), HostError> {
        let (flags, name) = (at.flags.bits(), text(Some(at.name)));
        self.0.push(format!("location {flags} {name} {}", describe(at.location)));
        Ok(())
    }
    fn declare_soundpack(&mut self, _: Soundpack) -> Result<(), HostError> {
        Err(HostError::Message("no sound packs"))
    }
}

impl MetadataReceiverImpl for Lines {
    fn on_error(&mut self, code: i32, message: Option<&CStr>) {
        self.0.push(format!("error {code} {}", text(message)));
    }
    fn begin_preset(&mut self, name: Option<&CStr>, key: Option<&CStr>) -> Result<(), HostError> {
        self.0.push(format!("preset {} {}", text(name), text(key)));
        Ok(())
    }
    fn add_plugin_id(&mut self, plugin: UniversalPluginId) {
        self.0.push(format!("for {} {}", text(Some(plugin.abi)), text(Some(plugin.id))));
    }
    fn set_soundpack_id(&mut self, _: &CStr) {}
    fn set_flags(&mut self, flags: Flags) {
        self.0.push(format!("flags {}", flags.bits()));
    }
    fn add_creator(&mut self, creator: &CStr) {
        self.0.push(format!("by {}", text(Some(creator))));
    }
    fn set_description(&mut self, description: &CStr) {
        self.0.push(format!("is {}", text(Some(description))));
    }
    fn set_timestamps(&mut self, _: Option<Timestamp>, _: Option<Timestamp>) {}
    fn add_feature(&mut self, feature: &CStr) {
        self.0.push(format!("tag {}", text(Some(feature))));
    }
    fn add_extra_info(&mut self, _: &CStr, _: &CStr) {}
}

/// Converts a path to CLAP's location; `None` stands for the plugin itself.
fn location(path: Option<&CString>) -> Location<'_> {
    path.map_or(Location::Plugin, |path| Location::File { path })
}

impl Library {
    /// Runs the only preset provider. Returns the file types and locations that it declares, and for each of `paths` its
    /// metadata. A path of `None` stands for the plugin itself.
    pub fn discover(&self, paths: &[Option<&str>]) -> Result<(Vec<String>, Vec<Vec<String>>)> {
        let factory: PresetDiscoveryFactory =
            self.entry.get_factory().context("no preset discovery")?;
        // SAFETY: the entry is initialised, and the id is a C string.
        let draft = unsafe {
            let get = self.entry.raw_entry().get_factory.context("no factories")?;
            get(PresetDiscoveryFactory::IDENTIFIERS[1].as_ptr())
        };
        ensure!(draft.cast() == factory.raw().as_ptr(), "no preset discovery under the draft id");
        ensure!(factory.provider_count() == 1 && factory.get_provider_descriptor(1).is_none());
        let descriptor = factory.get_provider_descriptor(0).context("no descriptor")?;
        let create = |id| Provider::instantiate(Lines::default(), &self.entry, id, &host_info());
        ensure!(create(c"other").is_err(), "an unknown provider");
        let mut provider = create(descriptor.id().context("no id")?)?;
        let metadata = |path: &Option<&str>| {
            let (path, mut lines) = (path.map(CString::new).transpose()?, Lines::default());
            provider.get_metadata(location(path.as_ref()), &mut lines);
            Ok(lines.0)
        };
        let found = paths.iter().map(metadata).collect::<Result<_>>()?;
        Ok((std::mem::take(&mut provider.indexer_mut().0), found))
    }
}

impl Instance {
    /// Loads the preset file at `path`. Without a path, loads the preset `key` that is in the plugin itself. Returns whether
    /// the plugin accepts it.
    pub fn load_preset(&mut self, path: Option<&str>, key: Option<&str>) -> Result<bool> {
        let [path, key] = [path, key].map(|text| text.map(CString::new).transpose());
        let (path, key) = (path?, key?);
        let extension: PluginPresetLoad = self.extension_or_draft()?;
        let handle = self.plugin.plugin_handle();
        Ok(extension.load_from_location(&handle, location(path.as_ref()), key.as_deref()).is_ok())
    }
}
