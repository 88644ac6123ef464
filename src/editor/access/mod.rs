//! Screen readers. egui's tree of controls goes to the system through AccessKit; a screen reader's actions come back as egui
//! events.
//!
//! The system calls in from threads of its own. Such calls only put a request into a queue of fixed length and ask for a repaint;
//! the next frame handles the request.
//!
//! A plugin of egui's context passes the tree of a frame to AccessKit's adapter for the system, at most ten times a second.
//! baseview takes no part: on Windows and macOS the adapter replaces the window's procedure or methods. While no screen reader
//! asks, egui makes no tree. On Linux, a few threads for all windows talk to D-Bus until the process ends. The sentences of the
//! bands change at most once a second, as each change is a message on D-Bus.

mod nodes;
#[cfg(target_os = "linux")]
#[path = "unix.rs"]
mod platform;
#[cfg(target_os = "macos")]
#[path = "macos.rs"]
mod platform;
#[cfg(target_os = "windows")]
#[path = "windows.rs"]
mod platform;

use crossbeam::queue::ArrayQueue;
use egui::{
    Context, Event, FullOutput, Plugin, RawInput,
    accesskit::{ActionHandler, ActionRequest, ActivationHandler, DeactivationHandler, TreeUpdate},
};
use nice_plug_egui::RepaintNotifier;
pub use nodes::{announce, announce_label, slider, wanted};
use platform::Adapter;
use raw_window_handle::HasWindowHandle;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Maximum number of requests that wait for a frame. A user makes fewer per frame.
const WAITING: usize = 256;

/// Minimum time in seconds between two trees. During playback the tree changes in every frame.
const PAUSE: f64 = 0.1;

/// Plugin of a window's egui context that connects it to the system's screen readers. egui makes a tree only while one is active.
pub struct ScreenReader {
    adapter: Adapter,
    link: Link,
    /// egui's time in seconds at which the last tree was sent.
    sent: f64,
}

/// State that a window shares with the system's threads.
#[derive(Clone)]
pub struct Link(Arc<Shared>);

struct Shared {
    /// Whether a screen reader wants the tree.
    active: AtomicBool,
    /// Whether the window has the keyboard focus.
    focused: AtomicBool,
    requests: ArrayQueue<ActionRequest>,
    repaint: RepaintNotifier,
}

impl Link {
    /// Creates the link of a window; `repaint` asks for its next frame.
    pub fn new(repaint: RepaintNotifier) -> Self {
        Self(Arc::new(Shared {
            active: AtomicBool::new(false),
            focused: AtomicBool::new(false),
            requests: ArrayQueue::new(WAITING),
            repaint,
        }))
    }

    /// Connects `window`, which shows `ctx`, to the screen readers. The window must exist and must not be visible yet. Does
    /// nothing where the system has no interface for screen readers.
    pub fn connect(&self, ctx: &Context, window: &impl HasWindowHandle) {
        let handle = window.window_handle().ok();
        if let Some(adapter) = handle.and_then(|handle| Adapter::new(handle, self)) {
            let link = self.clone();
            ctx.add_plugin(ScreenReader { adapter, link, sent: f64::NEG_INFINITY });
        }
    }

    /// Sets whether the window has the keyboard focus. Called in each frame.
    pub fn set_focused(&self, focused: bool) {
        self.0.focused.store(focused, Ordering::Relaxed);
    }

    fn set_active(&self, active: bool) {
        self.0.active.store(active, Ordering::Relaxed);
        self.0.repaint.request_repaint();
    }
}

impl ActivationHandler for Link {
    /// Returns `None`: the tree follows with the next frame.
    fn request_initial_tree(&mut self) -> Option<TreeUpdate> {
        self.set_active(true);
        None
    }
}

impl DeactivationHandler for Link {
    fn deactivate_accessibility(&mut self) {
        self.set_active(false);
    }
}

impl ActionHandler for Link {
    /// Queues the request, or drops it if the queue is full.
    fn do_action(&mut self, request: ActionRequest) {
        let _ = self.0.requests.push(request);
        self.0.repaint.request_repaint();
    }
}

impl Plugin for ScreenReader {
    fn debug_name(&self) -> &'static str {
        "screen reader"
    }

    fn input_hook(&mut self, ctx: &Context, input: &mut RawInput) {
        if self.link.0.active.load(Ordering::Relaxed) {
            ctx.enable_accesskit();
        } else {
            ctx.disable_accesskit();
        }
        let requests = std::iter::from_fn(|| self.link.0.requests.pop()).take(WAITING);
        input.events.extend(requests.map(Event::AccessKitActionRequest));
    }

    fn output_hook(&mut self, ctx: &Context, output: &mut FullOutput) {
        let Some(tree) = output.platform_output.accesskit_update.take() else { return };
        let now = ctx.input(|input| input.time);
        let rest = self.sent + PAUSE - now;
        if rest > 0.0 {
            ctx.request_repaint_after_secs(rest as f32);
        } else {
            self.sent = now;
            self.adapter.update(tree, self.link.0.focused.load(Ordering::Relaxed));
        }
    }
}
