//! Callbacks of the host, which the plugin calls.

use clack_extensions::{
    audio_ports::{AudioPortRescanFlags, HostAudioPorts, HostAudioPortsImpl},
    gui::{GuiSize, HostGui, HostGuiImpl},
    latency::{HostLatency, HostLatencyImpl},
    note_name::{HostNoteName, HostNoteNameImpl},
    params::{
        HostParams, HostParamsImplMainThread, HostParamsImplShared, ParamClearFlags,
        ParamRescanFlags,
    },
    state::{HostState, HostStateImpl},
    tail::{HostTail, HostTailImpl},
};
use clack_host::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Marker type that names the handler types for clack.
pub struct Callbacks;

/// Requests and reports of the plugin, from any thread.
#[derive(Default)]
pub struct Requests {
    /// Whether the host has no extensions.
    pub bare: bool,
    /// Whether the plugin has requested a call on the main thread.
    pub callback: AtomicBool,
    /// Whether the plugin has requested to be deactivated and activated again.
    pub restart: AtomicBool,
    /// Whether the plugin has requested a flush of its parameters.
    pub flush: AtomicBool,
    /// Whether activation is in progress.
    pub activating: AtomicBool,
    /// Whether the plugin has reported a change of its latency.
    pub latency: AtomicBool,
    /// Whether the plugin has reported a change of its latency outside activation, which CLAP forbids.
    pub misplaced: AtomicBool,
    /// Whether the plugin has reported a change of its tail.
    pub tail: AtomicBool,
}

/// Callbacks on the main thread. All but those of the latency are ignored, as this host caches nothing.
pub struct MainThread<'a>(pub &'a Requests);

/// Callbacks on the audio thread.
pub struct AudioThread<'a>(pub &'a Requests);

impl HostHandlers for Callbacks {
    type Shared<'a> = Requests;
    type MainThread<'a> = MainThread<'a>;
    type AudioProcessor<'a> = AudioThread<'a>;

    fn declare_extensions(builder: &mut HostExtensions<Self>, requests: &Requests) {
        if requests.bare {
            return;
        }
        builder
            .register::<HostAudioPorts>()
            .register::<HostGui>()
            .register::<HostLatency>()
            .register::<HostNoteName>()
            .register::<HostParams>()
            .register::<HostState>()
            .register::<HostTail>();
    }
}

impl SharedHandler<'_> for Requests {
    fn request_restart(&self) {
        self.restart.store(true, Ordering::Relaxed);
    }
    fn request_process(&self) {}
    fn request_callback(&self) {
        self.callback.store(true, Ordering::Relaxed);
    }
}

impl HostParamsImplShared for Requests {
    fn request_flush(&self) {
        self.flush.store(true, Ordering::Relaxed);
    }
}

impl HostGuiImpl for Requests {
    fn resize_hints_changed(&self) {}
    fn request_resize(&self, _: GuiSize) -> Result<(), HostError> {
        Ok(())
    }
    fn request_show(&self) -> Result<(), HostError> {
        Ok(())
    }
    fn request_hide(&self) -> Result<(), HostError> {
        Ok(())
    }
    fn closed(&self, _: bool) {}
}

impl<'a> MainThreadHandler<'a> for MainThread<'a> {}

impl HostAudioPortsImpl for MainThread<'_> {
    fn is_rescan_flag_supported(&self, _: AudioPortRescanFlags) -> bool {
        false
    }
    fn rescan(&self, _: AudioPortRescanFlags) {}
}

impl HostLatencyImpl for MainThread<'_> {
    fn changed(&self) {
        self.0.latency.store(true, Ordering::Relaxed);
        if !self.0.activating.load(Ordering::Relaxed) {
            self.0.misplaced.store(true, Ordering::Relaxed);
        }
    }
}

impl HostParamsImplMainThread for MainThread<'_> {
    fn rescan(&self, _: ParamRescanFlags) {}
    fn clear(&self, _: ClapId, _: ParamClearFlags) {}
}

impl<'a> AudioProcessorHandler<'a> for AudioThread<'a> {}

impl HostTailImpl for AudioThread<'_> {
    fn changed(&mut self) {
        self.0.tail.store(true, Ordering::Relaxed);
    }
}

impl HostNoteNameImpl for MainThread<'_> {
    fn changed(&self) {}
}

impl HostStateImpl for MainThread<'_> {
    fn mark_dirty(&self) {}
}
