//! A plugin's parameters as its host sees them.

use super::{Change, Instance, text};
use anyhow::{Context, Result};
use clack_extensions::params::{ParamInfoBuffer, ParamInfoFlags, PluginParams};
use clack_host::prelude::*;
use std::ffi::CString;

/// What a plugin says of one parameter. Values are in the plugin's CLAP units, which for nice-plug are
/// the place in the range, 0..1, or the number of the step.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Stable id.
    pub id: u32,
    /// Name for people.
    pub name: String,
    /// Path of the group it belongs to.
    pub group: String,
    /// Least value.
    pub min: f64,
    /// Greatest value.
    pub max: f64,
    /// Value of a new instance.
    pub default: f64,
    /// May follow an envelope of the host's.
    pub automatable: bool,
    /// Takes whole values only.
    pub stepped: bool,
    /// The host's own bypass button may stand for it.
    pub bypass: bool,
}

/// The CLAP id that nice-plug gives to the parameter called `id`: Java's string hash in 31 bits.
///
/// Projects of users remember it, so it must stay what it is.
pub fn parameter_id(id: &str) -> u32 {
    id.bytes().fold(0u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into())) & !(1 << 31)
}

impl Instance {
    /// All parameters.
    ///
    /// # Errors
    /// When the plugin does not describe one that it counts.
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

    /// The value of parameter `id` now.
    ///
    /// # Errors
    /// When there is no such parameter.
    pub fn value(&mut self, id: u32) -> Result<f64> {
        let params: PluginParams = self.extension()?;
        let value = params.get_value(&self.plugin.plugin_handle(), clap_id(id)?);
        value.with_context(|| format!("no parameter {id}"))
    }

    /// `value` of parameter `id` as people read it.
    ///
    /// # Errors
    /// When the plugin has no words for it.
    pub fn value_to_text(&mut self, id: u32, value: f64) -> Result<String> {
        let params: PluginParams = self.extension()?;
        let mut buffer = [0; 256];
        let handle = self.plugin.plugin_handle();
        Ok(text(params.value_to_text(&handle, clap_id(id)?, value, &mut buffer)?))
    }

    /// The value of parameter `id` that people mean by `text`; `None` if it means nothing.
    ///
    /// # Errors
    /// When the text holds a NUL or the plugin takes no text at all.
    pub fn text_to_value(&mut self, id: u32, text: &str) -> Result<Option<f64>> {
        let params: PluginParams = self.extension()?;
        let handle = self.plugin.plugin_handle();
        Ok(params.text_to_value(&handle, clap_id(id)?, &CString::new(text)?))
    }

    /// Sets parameters while no audio is running.
    ///
    /// # Errors
    /// When the plugin is active: then changes go with the audio.
    pub fn set(&mut self, changes: &[Change]) -> Result<()> {
        let params: PluginParams = self.extension()?;
        let events = changes.iter().map(Change::event).collect::<Result<Vec<_>>>()?;
        let mut handle = self.plugin.inactive_plugin_handle().context("the plugin is active")?;
        params.flush(&mut handle, &InputEvents::from_buffer(&events), &mut OutputEvents::void());
        Ok(())
    }
}

pub(super) fn clap_id(id: u32) -> Result<ClapId> {
    ClapId::from_raw(id).with_context(|| format!("{id} is no id"))
}
