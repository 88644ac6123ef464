//! Screen readers. egui's tree of controls goes to the system through AccessKit; a screen reader's actions come back as egui
//! events.
//!
//! The system calls in from threads of its own. A call only sets a flag or puts a request into a queue of fixed length, and
//! asks for a repaint. The next frame does the rest.
//!
//! A plugin of egui's context sends the tree to AccessKit's adapter for the system, at most ten times a second. While no screen
//! reader is active, egui builds no tree. baseview takes no part: the adapter replaces the window's procedure on Windows, and
//! methods of the window's view on macOS.

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
    Context, Event, FullOutput, Id, Plugin, RawInput, Response, Ui,
    accesskit::{
        Action, ActionData, ActionHandler, ActionRequest, ActivationHandler, DeactivationHandler,
        Live, Role, TreeUpdate,
    },
    accesskit_root_id,
};
use nice_plug::prelude::{FloatParam, Param};
use nice_plug_egui::RepaintNotifier;
use platform::Adapter;
use raw_window_handle::HasWindowHandle;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use tone_filter_dsp::Spec;

/// Length of the request queue. A user makes fewer requests per frame.
const WAITING: usize = 256;

/// Minimum time in seconds between two trees that are sent. During playback, the tree changes in every frame.
const PAUSE: f64 = 0.1;

/// Plugin of a window's egui context that connects it to the system's screen readers.
pub struct ScreenReader {
    adapter: Adapter,
    link: Link,
    /// Time of the last sent tree, in seconds.
    sent: f64,
}

/// State that a window shares with the system's threads.
#[derive(Clone)]
pub struct Link(Arc<Shared>);

struct Shared {
    active: AtomicBool,
    focused: AtomicBool,
    requests: ArrayQueue<ActionRequest>,
    repaint: RepaintNotifier,
}

impl Link {
    pub fn new(repaint: RepaintNotifier) -> Self {
        Self(Arc::new(Shared {
            active: AtomicBool::new(false),
            focused: AtomicBool::new(false),
            requests: ArrayQueue::new(WAITING),
            repaint,
        }))
    }

    /// Connects `window` to the system's screen readers, if the system supports them. The window must not be visible yet; `ctx`
    /// is its egui context.
    pub fn connect(&self, ctx: &Context, window: &impl HasWindowHandle) {
        let handle = window.window_handle().ok();
        if let Some(adapter) = handle.and_then(|handle| Adapter::new(handle, self)) {
            let link = self.clone();
            ctx.add_plugin(ScreenReader { adapter, link, sent: f64::NEG_INFINITY });
        }
    }

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
        let remaining = self.sent + PAUSE - now;
        if remaining > 0.0 {
            ctx.request_repaint_after_secs(remaining as f32);
        } else {
            self.sent = now;
            self.adapter.update(tree, self.link.0.focused.load(Ordering::Relaxed));
        }
    }
}

/// Describes the slider `response` to screen readers. `plain` is its value in the unit of `spec`; `step` is an arrow key's step
/// as a fraction of the range.
pub fn slider(response: &Response, spec: &Spec, param: &FloatParam, plain: f32, step: f32) {
    response.ctx.accesskit_node_builder(response.id, |node| {
        let now = param.preview_normalized(plain);
        let next = param.preview_plain(if now + step <= 1.0 { now + step } else { now - step });
        node.set_min_numeric_value(f64::from(spec.min));
        node.set_max_numeric_value(f64::from(spec.max));
        node.set_numeric_value_step(f64::from((next - plain).abs()));
        node.set_value(spec.format(plain));
        for action in [Action::SetValue, Action::Increment, Action::Decrement] {
            node.add_action(action);
        }
    });
}

/// Returns a screen reader's requests for the slider `response`: steps to move, and a value to set, in the slider's unit.
pub fn wanted(ui: &Ui, response: &Response) -> (f32, Option<f32>) {
    ui.input(|input| {
        let count = |action| input.num_accesskit_action_requests(response.id, action) as f32;
        let values = input.accesskit_action_requests(response.id, Action::SetValue);
        let values = values.filter_map(|request| match &request.data {
            Some(ActionData::NumericValue(value)) => Some(*value as f32),
            _ => None,
        });
        let value = values.filter(|value| value.is_finite()).last();
        (count(Action::Increment) - count(Action::Decrement), value)
    })
}

/// Makes screen readers announce the label `response` when it appears or changes, without interrupting speech.
pub fn announce_label(response: &Response) {
    response.ctx.accesskit_node_builder(response.id, |node| node.set_live(Live::Polite));
}

/// Names the window for screen readers, and makes them announce `text` when it changes.
pub fn announce(ctx: &Context, text: impl FnOnce() -> String) {
    ctx.accesskit_node_builder(accesskit_root_id(), |node| node.set_label("Tone Filter"));
    ctx.accesskit_node_builder(Id::unique("announcement"), |node| {
        node.set_role(Role::Status);
        node.set_live(Live::Polite);
        node.set_label(text());
    });
}
