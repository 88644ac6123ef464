//! Host callbacks: the host's functions that the plugin calls.

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
use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread::{self, ThreadId},
};

/// Type that tells `clack` the types of the host's handlers.
pub struct Callbacks;

/// Kind of call from the plugin to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Request of a restart: deactivation and activation.
    Restart,
    /// Request to flush the parameters.
    Flush,
    /// Notification of changed parameters.
    Rescan,
    /// Notification of a changed latency.
    Latency,
    /// Notification of a changed tail.
    Tail,
    /// Notification of changed key names.
    Names,
}

impl Call {
    const ALL: [Self; 6] =
        [Self::Restart, Self::Flush, Self::Rescan, Self::Latency, Self::Tail, Self::Names];
}

/// Record of the calls from the plugin. Any thread may write to it.
pub struct Requests {
    /// Whether the host offers no extensions.
    bare: bool,
    main: ThreadId,
    /// Whether the plugin has requested a call on the main thread.
    pub callback: AtomicBool,
    /// Whether activation is in progress.
    pub activating: AtomicBool,
    /// Whether a call came on the wrong thread, or a latency was reported outside of `activate`.
    pub misplaced: AtomicBool,
    counts: [AtomicUsize; Call::ALL.len()],
}

impl Requests {
    /// Creates an empty record. This thread becomes the host's main thread.
    pub fn new(bare: bool) -> Self {
        Self {
            bare,
            main: thread::current().id(),
            callback: AtomicBool::new(false),
            activating: AtomicBool::new(false),
            misplaced: AtomicBool::new(false),
            counts: Default::default(),
        }
    }

    fn count(&self, call: Call) {
        self.counts[call as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a call that CLAP allows only on the main thread.
    fn count_on_main(&self, call: Call) {
        if thread::current().id() != self.main {
            self.misplaced.store(true, Ordering::Relaxed);
        }
        self.count(call);
    }

    /// Returns the number of calls of this kind, and resets it.
    pub fn take(&self, call: Call) -> usize {
        self.counts[call as usize].swap(0, Ordering::Relaxed)
    }

    /// Returns all calls except [`Call::Flush`], in the order of [`Call`], and resets the record.
    pub fn take_all(&self) -> Vec<Call> {
        let calls = Call::ALL.into_iter().flat_map(|call| vec![call; self.take(call)]);
        calls.filter(|call| *call != Call::Flush).collect()
    }
}

/// Callbacks on the main thread.
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
        self.count(Call::Restart);
    }
    fn request_process(&self) {}
    fn request_callback(&self) {
        self.callback.store(true, Ordering::Relaxed);
    }
}

impl HostParamsImplShared for Requests {
    fn request_flush(&self) {
        self.count(Call::Flush);
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
        self.0.count_on_main(Call::Latency);
        if !self.0.activating.load(Ordering::Relaxed) {
            self.0.misplaced.store(true, Ordering::Relaxed);
        }
    }
}

impl HostParamsImplMainThread for MainThread<'_> {
    fn rescan(&self, _: ParamRescanFlags) {
        self.0.count_on_main(Call::Rescan);
    }
    fn clear(&self, _: ClapId, _: ParamClearFlags) {}
}

impl<'a> AudioProcessorHandler<'a> for AudioThread<'a> {}

impl HostTailImpl for AudioThread<'_> {
    fn changed(&mut self) {
        self.0.count(Call::Tail);
    }
}

impl HostNoteNameImpl for MainThread<'_> {
    fn changed(&self) {
        self.0.count_on_main(Call::Names);
    }
}

impl HostStateImpl for MainThread<'_> {
    fn mark_dirty(&self) {}
}
