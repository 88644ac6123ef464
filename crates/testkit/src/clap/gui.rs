//! Host calls to the plugin's editor.

use super::{Instance, Track, callbacks::opaque, parameters::clap_id};
use crate::locked;
use anyhow::{Context, Result, ensure};
use clack_extensions::{gui::*, param_indication::*, track_info::PluginTrackInfo};
use std::sync::atomic::Ordering;

/// Host call to an editor: a function of CLAP's extension `clap.gui`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GuiStep {
    /// `create`: creates an embedded editor. It needs a parent window later.
    Create,
    /// `set_scale`: physical pixels per logical pixel.
    Scale(f64),
    /// `set_parent`: id of an X11 window.
    Parent(u32),
    /// `show`: makes the window visible.
    Show,
    /// `hide`: makes the window invisible and keeps the editor.
    Hide,
    /// `set_size`: width and height in pixels.
    Resize([u32; 2]),
    /// `destroy`: closes the window and frees the editor.
    Destroy,
}

const X11: GuiConfiguration = GuiConfiguration { api_type: GuiApiType::X11, is_floating: false };

impl Instance {
    /// Makes a call to the editor. Returns an error if the plugin refuses it.
    pub fn gui(&mut self, step: GuiStep) -> Result<()> {
        let gui: PluginGui = self.extension()?;
        let handle = self.plugin.plugin_handle();
        match step {
            GuiStep::Create => gui.create(&handle, X11)?,
            GuiStep::Scale(scale) => gui.set_scale(&handle, scale)?,
            GuiStep::Parent(window) => {
                let window = Window::from_x11_handle(window.into());
                // SAFETY: the caller's window outlives the editor. If it were closed earlier, its id would only cause an X11
                // error, not an invalid memory access.
                unsafe { gui.set_parent(&handle, window) }?;
            }
            GuiStep::Show => gui.show(&handle)?,
            GuiStep::Hide => gui.hide(&handle)?,
            GuiStep::Resize([width, height]) => gui.set_size(&handle, GuiSize { width, height })?,
            GuiStep::Destroy => gui.destroy(&handle),
        }
        Ok(())
    }

    /// Opens the editor in the X11 window `parent` and returns its width and height in pixels.
    pub fn open_editor(&mut self, parent: u32) -> Result<[u32; 2]> {
        let gui: PluginGui = self.extension()?;
        let supported = gui.is_api_supported(&self.plugin.plugin_handle(), X11);
        ensure!(supported, "the editor does not support X11");
        self.gui(GuiStep::Create)?;
        self.gui(GuiStep::Scale(1.0))?;
        let size = self.editor_size()?;
        self.gui(GuiStep::Parent(parent))?;
        self.gui(GuiStep::Show)?;
        Ok(size)
    }

    /// Resizes the open editor. Of the sizes that it allows, takes the one nearest to `width` and `height` in pixels, and
    /// returns it.
    pub fn resize_editor(&mut self, [width, height]: [u32; 2]) -> Result<[u32; 2]> {
        let gui: PluginGui = self.extension()?;
        let handle = self.plugin.plugin_handle();
        ensure!(gui.can_resize(&handle), "the editor cannot be resized");
        let size = gui.adjust_size(&handle, GuiSize { width, height }).context("no size fits")?;
        self.gui(GuiStep::Resize([size.width, size.height]))?;
        Ok([size.width, size.height])
    }

    /// Returns the open editor's width and height in pixels.
    pub fn editor_size(&mut self) -> Result<[u32; 2]> {
        let gui: PluginGui = self.extension()?;
        let size = gui.get_size(&self.plugin.plugin_handle()).context("the editor has no size")?;
        Ok([size.width, size.height])
    }

    /// Moves the plugin to `track`; `None` stands for a track that has neither name nor colour.
    pub fn set_track(&mut self, track: Option<Track>) -> Result<()> {
        *locked(&self.requests().track) = track;
        let extension: PluginTrackInfo = self.extension_or_draft()?;
        extension.changed(&self.plugin.plugin_handle());
        Ok(())
    }

    /// From now on, the host shows context menus itself when the plugin asks for it.
    pub fn pop_up_menus(&self) {
        self.requests().pops_up.store(true, Ordering::Relaxed);
    }

    /// Tells the plugin whether a hardware control is mapped to the parameter `id`, and which colour the control has.
    pub fn map(&mut self, id: u32, is_mapped: bool, colour: Option<[u8; 3]>) -> Result<()> {
        let (extension, id) = (self.extension_or_draft::<PluginParamIndication>()?, clap_id(id)?);
        let label = colour.map(|_| c"K1");
        let handle = self.plugin.plugin_handle();
        extension.set_mapping(&handle, id, is_mapped, colour.map(opaque), label, label);
        Ok(())
    }

    /// Tells the plugin whether automation of the parameter `id` plays, and which colour the host shows for it.
    pub fn automate(&mut self, id: u32, plays: bool, colour: Option<[u8; 3]>) -> Result<()> {
        let (extension, id) = (self.extension_or_draft::<PluginParamIndication>()?, clap_id(id)?);
        let state = match plays {
            true => ParamIndicationAutomation::Playing,
            false => ParamIndicationAutomation::None,
        };
        extension.set_automation(&self.plugin.plugin_handle(), id, state, colour.map(opaque));
        Ok(())
    }

    /// Destroys the open editor.
    pub fn close_editor(&mut self) -> Result<()> {
        self.gui(GuiStep::Destroy)
    }
}
