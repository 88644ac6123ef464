//! Small CLAP host without a user interface.
//!
//! `cargo xtask demo` plays music through this host, and tests use it to compare the built plugin with the library. Methods
//! return an error if the plugin refuses a call, and panic if the plugin violates CLAP.

mod callbacks;
mod gui;
mod parameters;
mod presets;
mod processor;

use crate::locked;
use anyhow::{Context, Result, ensure};
use callbacks::{AudioThread, Callbacks, Draft, MainThread, Requests};
use clack_extensions::{audio_ports::*, audio_ports_config::*, latency::*, state::*};
use clack_host::{extensions::prelude::*, plugin::PluginDescriptor, prelude::*};
use std::{ffi::CStr, path::Path, sync::atomic::Ordering, thread};

pub use callbacks::{Call, Extensions, Track};
pub use clack_host::{entry::EntryDescriptor, prelude::ProcessStatus};
pub use gui::GuiStep;
pub use parameters::{Parameter, parameter_id};
pub use processor::{
    Change, Midi, Processor, Sent, at_frame, random_transport, transport_at, transport_that,
};

/// Loaded CLAP file: a library with a plugin factory.
pub struct Library {
    entry: PluginEntry,
}

/// Instance of a plugin, for use on the main thread. Dropping it after its [`Processor`] deactivates the plugin.
pub struct Instance {
    plugin: PluginInstance<Callbacks>,
}

impl Library {
    /// Loads a `.clap` bundle, or the shared library inside a bundle. Loading runs the library's code.
    pub fn load(path: &Path) -> Result<Self> {
        // SAFETY: loading a library runs its code, and clack relies on that code to keep CLAP's rules. The only library loaded
        // here is our own, built from safe Rust by nice-plug.
        let entry = unsafe { PluginEntry::load(path) }
            .with_context(|| format!("{} is not a CLAP plugin", path.display()))?;
        Ok(Self { entry })
    }

    /// Creates a library from the plugin that is linked into this program.
    pub fn linked(entry: &'static EntryDescriptor) -> Result<Self> {
        // SAFETY: clack relies on the code behind the entry to keep CLAP's rules. The only such code is our own.
        let entry = unsafe { PluginEntry::load_from_raw(entry, c"") }?;
        Ok(Self { entry })
    }

    /// Returns the descriptor of the file's only plugin. Another number of plugins is an error.
    pub fn plugin(&self) -> Result<&PluginDescriptor> {
        let factory = self.entry.get_plugin_factory().context("no plugin factory")?;
        let count = factory.plugin_count();
        ensure!(count == 1, "{count} plugins in the file");
        factory.plugin_descriptor(0).context("no descriptor")
    }

    /// Creates an instance of the file's plugin.
    pub fn instance(&self) -> Result<Instance> {
        self.instance_in(Extensions::All)
    }

    /// Creates an instance of the file's plugin, in a host that offers these extensions.
    pub fn instance_in(&self, extensions: Extensions) -> Result<Instance> {
        self.instantiate(self.plugin()?.id().context("a plugin without an id")?, extensions)
    }

    /// Creates an instance of the plugin with the id `id`, in a host that offers these extensions.
    pub fn instantiate(&self, id: &CStr, extensions: Extensions) -> Result<Instance> {
        let plugin = PluginInstance::new(
            |_| Requests::new(extensions),
            |requests| MainThread(requests),
            &self.entry,
            id,
            &host_info(),
        )
        .with_context(|| format!("cannot start {id:?}"))?;
        Ok(Instance { plugin })
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.check_calls();
        }
    }
}

fn host_info() -> HostInfo {
    let version = env!("CARGO_PKG_VERSION");
    HostInfo::new("Tone Filter testkit", "", "", version).expect("texts without zeros")
}

impl Instance {
    /// Returns the available layouts, the default first. A layout is an audio port configuration: its id, and the numbers of
    /// channels of the main input and of the main output.
    pub fn layouts(&mut self) -> Result<Vec<(ClapId, [u32; 2])>> {
        let ports: PluginAudioPortsConfig = self.extension()?;
        let handle = self.plugin.plugin_handle();
        (0..ports.count(&handle))
            .map(|index| {
                let mut buffer = AudioPortsConfigBuffer::new();
                let layout = ports.get(&handle, index, &mut buffer).context("no such layout")?;
                let ports = [layout.main_input, layout.main_output];
                Ok((layout.id, ports.map(|port| port.map_or(0, |port| port.channel_count))))
            })
            .collect()
    }

    /// Selects the layout with `channels` input and output channels. The plugin must not be active.
    pub fn select(&mut self, channels: usize) -> Result<()> {
        let mut layouts = self.layouts()?.into_iter();
        let layout = layouts.find(|(_, both)| *both == [channels as u32; 2]);
        let (id, _) = layout.context("no such layout")?;
        let configs: PluginAudioPortsConfig = self.extension()?;
        configs.select(&self.plugin.plugin_handle(), id)?;
        let ports: PluginAudioPorts = self.extension()?;
        for is_input in [true, false] {
            let mut buffer = AudioPortInfoBuffer::new();
            let port = ports.get(&self.plugin.plugin_handle(), 0, is_input, &mut buffer);
            let count = port.context("no main port")?.channel_count as usize;
            ensure!(count == channels, "{count} channels after {channels} were selected");
        }
        Ok(())
    }

    /// Activates the plugin for `sample_rate` Hz and buffers of at most `max_block` samples, and starts processing.
    pub fn activate(&mut self, sample_rate: f64, max_block: usize) -> Result<Processor> {
        let mut processor = self.activate_only(sample_rate, max_block)?;
        processor.start()?;
        Ok(processor)
    }

    /// Like [`Instance::activate`], without starting to process.
    pub fn activate_only(&mut self, sample_rate: f64, max_block: usize) -> Result<Processor> {
        let configuration = PluginAudioConfiguration {
            sample_rate,
            min_frames_count: 1,
            max_frames_count: max_block as u32,
        };
        self.requests().activating.store(true, Ordering::Relaxed);
        let stopped = self.plugin.activate(|requests, _| AudioThread(requests), configuration);
        self.requests().activating.store(false, Ordering::Relaxed);
        self.check_calls();
        Ok(Processor::new(stopped?.into(), max_block))
    }

    /// Stops processing and deactivates the plugin.
    pub fn deactivate(&mut self, processor: Processor) {
        self.plugin.deactivate(processor.audio.into_stopped());
        self.check_calls();
    }

    fn requests(&self) -> &Requests {
        self.plugin.access_shared_handler(|requests| requests)
    }

    /// Panics if the plugin has called the host in a way that CLAP forbids.
    fn check_calls(&self) {
        assert!(
            !self.requests().misplaced.load(Ordering::Relaxed),
            "a call on the wrong thread, or a latency reported outside `activate`"
        );
    }

    /// Returns the number of the plugin's calls of this kind since the last call of this function.
    pub fn take(&self, call: Call) -> usize {
        self.requests().counts[call as usize].swap(0, Ordering::Relaxed)
    }

    /// Returns the plugin's calls since the last call of this function, in the order of [`Call`]. Leaves out [`Call::Flush`].
    pub fn take_calls(&self) -> Vec<Call> {
        let calls = Call::ALL.into_iter().flat_map(|call| vec![call; self.take(call)]);
        calls.filter(|call| *call != Call::Flush).collect()
    }

    /// Returns the plugin's calls about presets, context menus and its state since the last call of this function, as text.
    pub fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut *locked(&self.requests().log))
    }

    /// Returns the plugin's latency in samples.
    pub fn latency(&mut self) -> Result<u32> {
        let latency: PluginLatency = self.extension()?;
        Ok(latency.get(&self.plugin.plugin_handle()))
    }

    /// Makes the plugin save its state, and returns the saved bytes.
    pub fn save(&mut self) -> Result<Vec<u8>> {
        let state: PluginState = self.extension()?;
        let mut bytes = Vec::new();
        state.save(&self.plugin.plugin_handle(), &mut bytes)?;
        Ok(bytes)
    }

    /// Loads a state from [`Instance::save`].
    pub fn load(&mut self, mut state: &[u8]) -> Result<()> {
        let extension: PluginState = self.extension()?;
        Ok(extension.load(&self.plugin.plugin_handle(), &mut state)?)
    }

    /// Calls the plugin's `on_main_thread`, if the plugin has requested this callback.
    pub fn idle(&mut self) {
        if self.requests().callback.swap(false, Ordering::Relaxed) {
            self.plugin.call_on_main_thread_callback();
        }
        self.check_calls();
    }

    fn extension<E>(&mut self) -> Result<E>
    where
        E: Extension<ExtensionSide = PluginExtensionSide>,
    {
        let extension = self.plugin.plugin_handle().get_extension();
        extension.with_context(|| format!("the plugin lacks {:?}", E::IDENTIFIERS[0]))
    }

    /// Returns an extension that has a draft id. In a host with [`Extensions::Draft`], looks it up under this id alone.
    fn extension_or_draft<E>(&mut self) -> Result<E>
    where
        E: Extension<ExtensionSide = PluginExtensionSide>,
    {
        match self.requests().extensions {
            Extensions::Draft => self.extension().map(|Draft(extension)| extension),
            _ => self.extension(),
        }
    }
}

/// Converts a string from CLAP, which promises UTF-8.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
