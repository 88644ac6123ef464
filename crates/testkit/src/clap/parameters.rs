//! Host calls to the plugin's parameters, controller pages and note names.

use super::{Change, Instance, text};
use anyhow::{Context, Result};
use clack_extensions::{note_name::*, params::*, remote_controls::*};
use clack_host::prelude::*;
use std::ffi::CString;

/// Description of a parameter. Values are in the plugin's CLAP units: with nice-plug, the normalised value (0..1), or for
/// stepped parameters the index of the step.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Stable id, from [`parameter_id`].
    pub id: u32,
    /// Display name.
    pub name: String,
    /// Path of the group that a host shows the parameter in.
    pub group: String,
    /// Minimum value.
    pub min: f64,
    /// Maximum value.
    pub max: f64,
    /// Value in a new instance.
    pub default: f64,
    /// Whether the host may automate the parameter.
    pub automatable: bool,
    /// Whether only whole values are allowed.
    pub stepped: bool,
    /// Whether this is the bypass parameter, which the host's bypass button controls.
    pub bypass: bool,
}

impl Parameter {
    /// Returns the normalised value, 0..1, of `value`, rounded to the precision with which plugin formats pass it.
    pub fn share(&self, value: f64) -> f32 {
        ((value - self.min) / (self.max - self.min)) as f32
    }

    /// Returns the value whose normalised value is `share`.
    pub fn value(&self, share: f64) -> f64 {
        self.min + share * (self.max - self.min)
    }
}

/// Returns the CLAP id that nice-plug gives to the parameter with the string id `id`: Java's string hash, cut to 31 bits.
///
/// Users' projects store these ids, so the formula must not change.
pub fn parameter_id(id: &str) -> u32 {
    id.bytes().fold(0u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into())) & !(1 << 31)
}

impl Instance {
    /// Returns the descriptions of all parameters.
    pub fn parameters(&mut self) -> Result<Vec<Parameter>> {
        let params: PluginParams = self.extension()?;
        let handle = self.plugin.plugin_handle();
        (0..params.count(&handle))
            .map(|index| {
                let mut buffer = ParamInfoBuffer::new();
                let info = params.get_info(&handle, index, &mut buffer);
                let info = info.with_context(|| format!("no parameter {index}"))?;
                Ok(Parameter {
                    id: info.id.get(),
                    name: text(info.name),
                    group: text(info.module),
                    min: info.min_value,
                    max: info.max_value,
                    default: info.default_value,
                    automatable: info.flags.contains(ParamInfoFlags::IS_AUTOMATABLE),
                    stepped: info.flags.contains(ParamInfoFlags::IS_STEPPED),
                    bypass: info.flags.contains(ParamInfoFlags::IS_BYPASS),
                })
            })
            .collect()
    }

    /// Returns the pages for hardware controllers. A page has a name and the ids of its parameters.
    pub fn pages(&mut self) -> Result<Vec<(String, Vec<u32>)>> {
        let controls: PluginRemoteControls = self.extension()?;
        let handle = self.plugin.plugin_handle();
        (0..controls.count(&handle))
            .map(|index| {
                let mut buffer = RemoteControlsPageBuffer::new();
                let page = controls.get(&handle, index, &mut buffer);
                let page = page.with_context(|| format!("no page {index}"))?;
                let ids = page.param_ids.into_iter().flatten().map(|id| id.get()).collect();
                Ok((text(page.page_name), ids))
            })
            .collect()
    }

    /// Returns each MIDI key that has a name, with this name.
    pub fn note_names(&mut self) -> Result<Vec<(u16, String)>> {
        let names: PluginNoteName = self.extension()?;
        let handle = self.plugin.plugin_handle();
        (0..names.count(&handle) as u32)
            .map(|index| {
                let mut buffer = NoteNameBuffer::new();
                let name = names.get(&handle, index, &mut buffer);
                let name = name.with_context(|| format!("no name {index}"))?;
                let key = name.key.into_specific().context("a name of all keys")?;
                Ok((key, text(name.name)))
            })
            .collect()
    }

    /// Returns the current value of the parameter `id`.
    pub fn value(&mut self, id: u32) -> Result<f64> {
        let params: PluginParams = self.extension()?;
        let value = params.get_value(&self.plugin.plugin_handle(), clap_id(id)?);
        value.with_context(|| format!("no parameter {id}"))
    }

    /// Returns the plugin's text for a `value` of the parameter `id`.
    pub fn value_to_text(&mut self, id: u32, value: f64) -> Result<String> {
        let params: PluginParams = self.extension()?;
        let mut buffer = [0; 256];
        let handle = self.plugin.plugin_handle();
        Ok(text(params.value_to_text(&handle, clap_id(id)?, value, &mut buffer)?))
    }

    /// Returns the value that the plugin parses from `text` for the parameter `id`; `None` if the text is invalid.
    pub fn text_to_value(&mut self, id: u32, text: &str) -> Result<Option<f64>> {
        let params: PluginParams = self.extension()?;
        let handle = self.plugin.plugin_handle();
        Ok(params.text_to_value(&handle, clap_id(id)?, &CString::new(text)?))
    }

    /// Sets parameters of an inactive plugin, by a flush (`clap_plugin_params.flush`).
    pub fn set(&mut self, changes: &[Change]) -> Result<()> {
        let params: PluginParams = self.extension()?;
        let events = changes.iter().map(|change| change.event(0)).collect::<Result<Vec<_>>>()?;
        let mut handle = self.plugin.inactive_plugin_handle().context("the plugin is active")?;
        params.flush(&mut handle, &InputEvents::from_buffer(&events), &mut OutputEvents::void());
        Ok(())
    }
}

pub(super) fn clap_id(id: u32) -> Result<ClapId> {
    ClapId::from_raw(id).with_context(|| format!("{id} is no id"))
}
